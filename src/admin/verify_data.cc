#include "admin/verify.h"
#include "base/text.h"
#include "manifest/stream_json.h"
#include "tgb/data_object.h"
#include "tgb/slice_frame.h"

namespace lakestream {
namespace {

constexpr char kDataAdvice[] =
    "restore the object from a copy of the store, or write its steps anew";

class ObjectCheck {
 public:
  ObjectCheck(const LedgerContext& context, const ExpectedObject& expected, Findings& findings,
              const Deadline& deadline)
      : context_(context),
        expected_(expected),
        key_(DataKey(context.branch(), expected.entry.session, expected.entry.object)),
        findings_(findings),
        deadline_(deadline) {}

  Result<bool> Run(bool read_data, const std::function<Result<bool>()>& still_needed) {
    auto head = context_.store.Head(key_, deadline_);
    if (!head.ok() && head.status().code() != Code::kNotFound) return head.status();
    if (!head.ok()) {
      LS_ASSIGN_OR_RETURN(const bool needed, still_needed());
      if (needed) Bad("missing_object", expected_.first_step, "is missing");
      return !needed;
    }
    ++findings_.report().objects;
    if (head->size != expected_.entry.object_bytes) {
      Bad("bad_checksum", expected_.first_step,
          Str("has ", head->size, " bytes, the manifest says ", expected_.entry.object_bytes));
      return false;
    }
    if (!read_data) return true;
    LS_RETURN_IF_ERROR(CheckEnds());
    const Mesh& mesh = context_.info.spec.mesh;
    for (uint32_t cp = 0; cp < mesh.cp; ++cp) {
      for (uint32_t dp = 0; dp < mesh.dp; ++dp) LS_RETURN_IF_ERROR(CheckRank(dp, cp));
    }
    return true;
  }

 private:
  void Bad(const char* kind, std::optional<Step> step, const std::string& what) {
    findings_.Error(kind, key_, step, Str(what, "; ", kDataAdvice));
  }

  Result<Buffer> Read(ByteRange range) {
    LS_ASSIGN_OR_RETURN(GetResult read, context_.store.Get(key_, {.range = range}, deadline_));
    findings_.report().bytes_checked += read.data.size();
    return std::move(read.data);
  }

  // Header, footer and state agree with the entry.
  Status CheckEnds() {
    const Entry& entry = expected_.entry;
    LS_ASSIGN_OR_RETURN(const Buffer head, Read({0, kObjectHeaderBytes}));
    auto header = DecodeObjectHeader(head.bytes());
    if (!header.ok())
      return Bad("bad_checksum", expected_.first_step, Str("header: ", header.status().message())),
             OkStatus();
    const ObjectHeader wanted{UuidBytes(context_.info), entry.session, entry.object,
                              context_.info.spec.mesh, entry.tgb_count()};
    if (*header != wanted)
      return Bad("bad_checksum", expected_.first_step, "its header is that of another object"),
             OkStatus();
    const uint64_t frames_end = kObjectHeaderBytes + entry.layout.FrameBytes();
    LS_ASSIGN_OR_RETURN(const Buffer end, Read({frames_end, entry.object_bytes - frames_end}));
    CheckFooter(end, frames_end, *header);
    return OkStatus();
  }

  void CheckFooter(const Buffer& end, uint64_t frames_end, const ObjectHeader& header) {
    const Entry& entry = expected_.entry;
    if (end.size() < kFooterTailBytes)
      return Bad("bad_checksum", expected_.first_step, "its footer is cut short");
    auto tail = DecodeFooterTail(end.bytes().last(kFooterTailBytes), entry.object_bytes);
    if (!tail.ok())
      return Bad("bad_checksum", expected_.first_step, Str("footer: ", tail.status().message()));
    if (tail->body.offset < frames_end || tail->body.end() > entry.object_bytes) {
      return Bad("bad_checksum", expected_.first_step, "its footer lies among its slices");
    }
    auto footer = DecodeFooterBody(
        end.bytes().subspan(tail->body.offset - frames_end, tail->body.size), *tail, header);
    if (!footer.ok())
      return Bad("bad_checksum", expected_.first_step, Str("footer: ", footer.status().message()));
    const bool producer_known = !expected_.producer.empty();
    if (footer->layout != entry.layout || footer->first_sequence != entry.first_sequence ||
        footer->state != entry.state ||
        (producer_known && footer->producer != expected_.producer)) {
      return Bad("bad_checksum", expected_.first_step, "its footer contradicts the manifest");
    }
    if (entry.state.kind != StateRef::Kind::kExtent) return;
    const ByteRange range = entry.state.range();
    const bool inside = range.offset >= frames_end && range.end() <= entry.object_bytes;
    if (!inside ||
        !CheckStateBytes(entry.state, end.bytes().subspan(range.offset - frames_end, range.size))
             .ok()) {
      Bad("bad_checksum", expected_.first_step, "the producer state in it is damaged");
    }
  }

  // Every slice of one position.
  Status CheckRank(uint32_t dp, uint32_t cp) {
    const Entry& entry = expected_.entry;
    const FrameTable table(entry.layout, context_.info.spec.mesh);
    for (uint32_t g = 0; g < entry.tgb_count(); ++g) {
      LS_ASSIGN_OR_RETURN(const Buffer frame, Read(table.FrameRange(g, dp, cp)));
      Status intact;
      auto payload = OpenSliceFrame(frame, {entry.session, entry.object, g, dp, cp});
      intact = payload.ok() ? DecodeSlice(*std::move(payload)).status() : payload.status();
      if (!intact.ok()) Bad("bad_checksum", expected_.first_step + g, intact.message());
    }
    return OkStatus();
  }

  const LedgerContext& context_;
  const ExpectedObject& expected_;
  const std::string key_;
  Findings& findings_;
  const Deadline& deadline_;
};

}  // namespace

Result<bool> VerifyObject(const LedgerContext& context, const ExpectedObject& expected,
                          bool read_data, const std::function<Result<bool>()>& still_needed,
                          Findings& findings, const Deadline& deadline) {
  return ObjectCheck(context, expected, findings, deadline).Run(read_data, still_needed);
}

}  // namespace lakestream
