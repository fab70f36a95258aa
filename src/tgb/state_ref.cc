#include "tgb/state_ref.h"

#include <cassert>

#include "base/text.h"
#include "codec/checksum.h"
#include "tgb/object_layout.h"

namespace lakestream {
namespace {

bool IsCanonical(const StateRef& state) {
  switch (state.kind) {
    case StateRef::Kind::kNone:
      return true;
    case StateRef::Kind::kInline:
      return !state.inline_bytes.empty();
    case StateRef::Kind::kExtent:
      return state.size > kInlineStateBytesMax && state.size <= kStateBytesMax &&
             state.offset % kFrameUnit == 0 && state.offset > kObjectHeaderBytes &&
             state.offset < kObjectHeaderBytes + kFrameBytesLimit;
  }
  return false;
}

}  // namespace

StateRef StateRef::Of(std::string_view state, uint64_t offset) {
  assert(state.size() <= kStateBytesMax);
  StateRef ref;
  if (state.empty()) return ref;
  if (state.size() <= kInlineStateBytesMax) {
    ref.kind = Kind::kInline;
    ref.inline_bytes = state;
    return ref;
  }
  ref.kind = Kind::kExtent;
  ref.offset = offset;
  ref.size = state.size();
  ref.checksum = Checksum64(AsBytes(state));
  return ref;
}

void StateRef::Encode(ByteWriter& writer) const {
  writer.U8(static_cast<uint8_t>(kind));
  if (kind == Kind::kInline) writer.String(inline_bytes);
  if (kind == Kind::kExtent) {
    writer.Varint(offset);
    writer.Varint(size);
    writer.U64(checksum);
  }
}

std::optional<StateRef> StateRef::Decode(ByteReader& reader) {
  StateRef ref;
  ref.kind = static_cast<Kind>(reader.U8());
  if (ref.kind == Kind::kInline) ref.inline_bytes = reader.String(kInlineStateBytesMax);
  if (ref.kind == Kind::kExtent) {
    ref.offset = reader.Varint();
    ref.size = reader.Varint();
    ref.checksum = reader.U64();
  }
  if (!reader.ok() || !IsCanonical(ref)) {
    reader.Fail();
    return std::nullopt;
  }
  return ref;
}

Status CheckStateBytes(const StateRef& state, ConstBytes bytes) {
  if (bytes.size() != state.size) {
    return DataLossError(Str("producer state is ", bytes.size(), " bytes long, expected ",
                             state.size, "; read it again, then run verify"),
                         Reason::kChecksum);
  }
  if (Checksum64(bytes) != state.checksum) {
    return DataLossError(
        "producer state does not match its checksum; read it again, then run verify",
        Reason::kChecksum);
  }
  return OkStatus();
}

}  // namespace lakestream
