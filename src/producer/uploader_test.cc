#include "producer/uploader.h"

#include <gtest/gtest.h>

#include "lakestream/producer.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

// A store that takes larger objects in parts only, and whose reclaimer ends the first upload.
class ImpatientStore final : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;
  StoreCapabilities capabilities() const override {
    StoreCapabilities capabilities = ForwardingStore::capabilities();
    capabilities.single_put_bytes_max = 100;
    return capabilities;
  }
  Result<std::unique_ptr<Upload>> StartUpload(const std::string& key,
                                              const Deadline& deadline) override {
    LS_ASSIGN_OR_RETURN(auto upload, ForwardingStore::StartUpload(key, deadline));
    if (++uploads > 1) return upload;
    class Ended final : public Upload {
     public:
      Ended(ObjectStore& store, std::unique_ptr<Upload> below)
          : store_(store), below_(std::move(below)) {}
      Status PutPart(uint32_t number, std::span<const ConstBytes> pieces,
                     const Deadline& deadline) override {
        return below_->PutPart(number, pieces, deadline);
      }
      Result<PutResult> Complete(const Deadline& deadline) override {
        EXPECT_EQ(store_.AbortStaleUploads({"", INT64_MAX}, deadline).value(), 1u);
        return below_->Complete(deadline);
      }
      Status Abort(const Deadline& deadline) override { return below_->Abort(deadline); }

     private:
      ObjectStore& store_;
      std::unique_ptr<Upload> below_;
    };
    return std::unique_ptr<Upload>(std::make_unique<Ended>(below(), std::move(upload)));
  }
  int uploads = 0;
};

TEST(UploaderTest, AnUploadThatReclamationEndedIsBegunAnew) {
  TinyStream tiny;
  const auto impatient = std::make_shared<ImpatientStore>(tiny.faults);
  auto stream = Stream::Open(impatient, tiny.runtime, tiny.Soon());
  ASSERT_TRUE(stream.ok()) << stream.status();
  auto producer = Producer::Open(*stream, {.name = "a"}, tiny.Soon());
  ASSERT_TRUE((*producer)->Write(tiny.MakeTgb(7), "", tiny.Soon()).ok());
  const Status closed = (*producer)->Close(tiny.Soon());
  EXPECT_TRUE(closed.ok()) << closed;
  EXPECT_EQ(impatient->uploads, 2);
  EXPECT_EQ(tiny.ItemsInOrder(), std::vector<int>{7});
}

}  // namespace
}  // namespace lakestream
