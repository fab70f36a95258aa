// Readers of the text packages: R's data files and SWORD modules, without R or SWORD.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lakestream/status.h"
#include "lakestream/types.h"

namespace multimodal {

struct Document {
  std::string name;  // "janeaustenr/emma", "mhcc/ot/12"
  std::string text;  // UTF-8
};

// Inflates a zlib or gzip stream; kDataLoss if it is damaged or larger than `size_max`.
lakestream::Result<std::string> Inflate(lakestream::ConstBytes bytes, size_t size_max);

// The character vectors of a lazy-load database (<folder>/Rdata.rdx and Rdata.rdb), each as one
// document: its lines, each with "\n" behind it.
lakestream::Result<std::vector<Document>> ReadRDatabase(const std::string& folder,
                                                        const std::string& prefix);

// One serialised R object (XDR, version 2 or 3) that is a character vector.
lakestream::Result<std::vector<std::string>> ReadRStrings(std::string_view bytes);

// The blocks of one testament of a compressed SWORD module, in order: <base>s holds 12 bytes a
// block (offset, stored bytes, raw bytes; little-endian), <base>z the zlib streams. Markup is
// removed by PlainText().
lakestream::Result<std::vector<Document>> ReadSwordModule(const std::string& base,
                                                          const std::string& prefix);

// OSIS markup to lines of plain text: notes are dropped; the end of a division, title, row or list
// item, and every <div>, <title>, <l> and <lb> ends a line; the five predefined entities are
// decoded; runs of white space become one space; empty lines vanish; each line ends with "\n".
std::string PlainText(std::string_view osis);

}  // namespace multimodal
