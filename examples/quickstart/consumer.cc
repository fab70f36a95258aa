// The smallest consumer: one rank that prints its number of each step, from step START on.
//
//   quickstart_consumer URI RANK [START]
#include "lakestream/consumer.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "lakestream/object_store.h"
#include "lakestream/runtime.h"
#include "lakestream/stream.h"

namespace {

using namespace lakestream;

void Print(const ConsumedStep& next) {
  int64_t number = -1;
  if (const TensorView* tensor = next.slice().Find("number")) {
    std::memcpy(&number, tensor->data.data(), sizeof number);
  }
  std::printf("step %ju: %jd\n", static_cast<uintmax_t>(next.step), static_cast<intmax_t>(number));
}

Status Consume(const std::string& uri, uint32_t rank, Step start) {
  auto runtime = RealRuntime();
  const Deadline deadline = After(*runtime, std::chrono::minutes(1));
  // [consumer]
  LS_ASSIGN_OR_RETURN(auto store, OpenStore(uri, {}, runtime));
  LS_ASSIGN_OR_RETURN(auto stream, Stream::Open(store, runtime, deadline));
  ConsumerOptions options;
  options.dp_index = rank;
  options.start_step = start;  // what position() said when the training state was saved
  LS_ASSIGN_OR_RETURN(auto consumer, Consumer::Open(stream, options, deadline));
  while (true) {
    LS_ASSIGN_OR_RETURN(std::optional<ConsumedStep> next, consumer->Next(deadline));
    if (!next) return OkStatus();  // the stream is sealed and was read to its end
    Print(*next);                  // next->step, next->slice().Find("number"): checked, no copy
  }
  // [/consumer]
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || argc > 4) {
    std::fprintf(stderr, "usage: quickstart_consumer URI RANK [START]\n");
    return 2;
  }
  const auto rank = static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10));
  const Step start = argc == 4 ? std::strtoull(argv[3], nullptr, 10) : 0;
  const Status status = Consume(argv[1], rank, start);
  if (!status.ok()) std::fprintf(stderr, "quickstart_consumer: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
