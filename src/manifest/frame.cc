#include "manifest/frame.h"

#include "base/text.h"
#include "codec/byte_reader.h"
#include "codec/byte_writer.h"
#include "codec/checksum.h"

namespace lakestream {
namespace {

// "LSLOG001" -> "LSLOG": the kind without the format's number.
std::string_view KindOf(std::string_view magic) {
  return magic.substr(0, magic.find_last_not_of("0123456789") + 1);
}

}  // namespace

std::vector<uint8_t> SealFrame(std::string_view magic, ConstBytes body) {
  ByteWriter writer;
  writer.Raw(AsBytes(magic));
  writer.U32(static_cast<uint32_t>(body.size()));
  writer.Raw(body);
  writer.U64(Checksum64(writer.bytes()));
  return writer.Take();
}

Result<ConstBytes> OpenFrame(std::string_view magic, ConstBytes framed) {
  ByteReader reader(framed);
  const std::string_view found = AsText(reader.Raw(magic.size()));
  const uint32_t size = reader.U32();
  const ConstBytes body = reader.Raw(size);
  const ConstBytes sealed = reader.ok() ? framed.first(magic.size() + 4 + size) : ConstBytes();
  const uint64_t checksum = reader.U64();
  if (!reader.AtEnd() || checksum != Checksum64(sealed)) {
    return DataLossError(Str("the bytes are truncated or changed (", framed.size(), " bytes)"),
                         Reason::kChecksum);
  }
  if (found == magic) return body;
  if (KindOf(found) == KindOf(magic)) {
    return FailedPreconditionError(
        Str("written in format ", found, " by a newer Lakestream, this one reads ", magic,
            "; upgrade it"),
        Reason::kFormatTooNew);
  }
  return DataLossError(Str("is not a ", KindOf(magic), " object"));
}

}  // namespace lakestream
