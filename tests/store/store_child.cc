// A process that writes to a local store, for process_test.cc.
//   ls_store_child race ROOT WRITER KEYS   put-if-absent on "race/0", ...; a line for each key it
//   won ls_store_child write ROOT WRITER       writes until it is killed; a line after each
//   acknowledged
//                                          put: the key, or "own/<writer>" for its own object
//   ls_store_child count ROOT WRITER N     N increments of its cell in "counters" by compare and
//   swap
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "store/local_store.h"
#include "tests/store/sample_object.h"

namespace lakestream {
namespace {

const Deadline kNever = Deadline::Never();

void Say(const std::string& line) {
  const std::string text = line + "\n";
  if (write(STDOUT_FILENO, text.data(), text.size()) < 0) _exit(3);
}

Status Race(LocalStore& store, uint64_t writer, uint64_t keys) {
  PutOptions options;
  options.if_absent = true;
  for (uint64_t i = 0; i < keys; ++i) {
    const std::string key = Str("race/", i);
    LS_ASSIGN_OR_RETURN(const PutResult put,
                        PutBytes(store, key, AsBytes(SampleObject(writer, i)), options, kNever));
    if (put.stored) Say(key);
  }
  return OkStatus();
}

Status Write(LocalStore& store, uint64_t writer) {
  for (uint64_t i = 0;; ++i) {
    const std::string sample = SampleObject(writer, i);
    const std::string fresh = Str("fresh/", writer, "/", i);
    const std::string own = Str("own/", writer);
    LS_RETURN_IF_ERROR(PutBytes(store, fresh, AsBytes(sample), {}, kNever).status());
    Say(fresh);
    LS_RETURN_IF_ERROR(PutBytes(store, own, AsBytes(sample), {}, kNever).status());
    Say(own);
    LS_RETURN_IF_ERROR(PutBytes(store, "shared", AsBytes(sample), {}, kNever).status());
    LS_ASSIGN_OR_RETURN(auto upload, store.StartUpload(fresh + "-upload", kNever));
    const ConstBytes half[] = {AsBytes(sample).first(50), AsBytes(sample).subspan(50)};
    LS_RETURN_IF_ERROR(upload->PutPart(1, {&half[0], 1}, kNever));
    LS_RETURN_IF_ERROR(upload->PutPart(2, {&half[1], 1}, kNever));
    LS_RETURN_IF_ERROR(upload->Complete(kNever).status());
    Say(fresh + "-upload");
  }
}

Status Count(LocalStore& store, uint64_t writer, uint64_t increments) {
  for (uint64_t done = 0; done < increments;) {
    LS_ASSIGN_OR_RETURN(const GetResult current, store.Get("counters", {}, kNever));
    std::string counters(current.data.text());
    ++counters[writer];
    PutOptions options;
    options.if_match = current.info.etag;
    LS_ASSIGN_OR_RETURN(const PutResult put,
                        PutBytes(store, "counters", AsBytes(counters), options, kNever));
    if (put.stored) ++done;
  }
  return OkStatus();
}

Status Run(int argc, char** argv) {
  if (argc < 4) return InvalidArgumentError("usage: race|write|count ROOT WRITER [N]");
  LS_ASSIGN_OR_RETURN(auto store, LocalStore::Open(argv[2], {}, RealRuntime()));
  const std::string command = argv[1];
  const uint64_t writer = std::strtoull(argv[3], nullptr, 10);
  const uint64_t number = argc > 4 ? std::strtoull(argv[4], nullptr, 10) : 0;
  if (command == "race") return Race(*store, writer, number);
  if (command == "write") return Write(*store, writer);
  if (command == "count") return Count(*store, writer, number);
  return InvalidArgumentError("no such command: " + command);
}

}  // namespace
}  // namespace lakestream

int main(int argc, char** argv) {
  const lakestream::Status status = lakestream::Run(argc, argv);
  if (status.ok()) return 0;
  lakestream::Say(status.ToString());
  return 1;
}
