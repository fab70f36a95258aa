#include "store/metered_store.h"

#include "store/store_rules.h"

namespace lakestream {
class MeteredStore::MeteredUpload final : public Upload {
 public:
  MeteredUpload(std::unique_ptr<Upload> below, std::shared_ptr<Counters> counters)
      : below_(std::move(below)), counters_(std::move(counters)) {}

  Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                 const Deadline& deadline) override {
    ++counters_->upload_calls;
    counters_->bytes_written += TotalBytes(pieces);
    return below_->PutPart(number, pieces, deadline);
  }
  Result<PutResult> Complete(const Deadline& deadline) override {
    ++counters_->upload_calls;
    return below_->Complete(deadline);
  }
  Status Abort(const Deadline& deadline) override {
    ++counters_->upload_calls;
    return below_->Abort(deadline);
  }

 private:
  const std::unique_ptr<Upload> below_;
  const std::shared_ptr<Counters> counters_;
};

StoreCounts MeteredStore::counts() const {
  const Counters& c = *counters_;
  return {c.gets,  c.puts,    c.upload_calls, c.lists,
          c.heads, c.deletes, c.bytes_read,   c.bytes_written};
}

Result<GetResult> MeteredStore::Get(const std::string& key, const GetOptions& options,
                                    const Deadline& deadline) {
  ++counters_->gets;
  auto result = below_->Get(key, options, deadline);
  if (result.ok()) counters_->bytes_read += result->data.size();
  return result;
}

Result<PutResult> MeteredStore::Put(const std::string& key, std::span<const ConstBytes> pieces,
                                    const PutOptions& options, const Deadline& deadline) {
  ++counters_->puts;
  counters_->bytes_written += TotalBytes(pieces);
  return below_->Put(key, pieces, options, deadline);
}

Result<std::unique_ptr<Upload>> MeteredStore::StartUpload(const std::string& key,
                                                          const Deadline& deadline) {
  ++counters_->upload_calls;
  LS_ASSIGN_OR_RETURN(auto upload, below_->StartUpload(key, deadline));
  return std::unique_ptr<Upload>(std::make_unique<MeteredUpload>(std::move(upload), counters_));
}

Result<ListPage> MeteredStore::List(const ListOptions& options, const Deadline& deadline) {
  ++counters_->lists;
  return below_->List(options, deadline);
}

Result<ObjectInfo> MeteredStore::Head(const std::string& key, const Deadline& deadline) {
  ++counters_->heads;
  return below_->Head(key, deadline);
}

Status MeteredStore::Delete(std::span<const std::string> keys, const Deadline& deadline) {
  ++counters_->deletes;
  return below_->Delete(keys, deadline);
}

Result<uint64_t> MeteredStore::AbortStaleUploads(const StaleUploadOptions& options,
                                                 const Deadline& deadline) {
  ++counters_->upload_calls;
  return below_->AbortStaleUploads(options, deadline);
}

}  // namespace lakestream
