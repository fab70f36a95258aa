// The smallest producer: publishes the numbers 0..99, two to a step, and may be killed and started
// again at any moment: it goes on behind the last committed step.
//
//   quickstart_producer URI
#include "lakestream/producer.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "lakestream/object_store.h"
#include "lakestream/runtime.h"
#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace {

using namespace lakestream;

// One tensor "number" with one element. It borrows `number`.
std::vector<TensorView> NumberTensor(const int64_t& number) {
  return {{"number", DType::kI64, {1}, {reinterpret_cast<const uint8_t*>(&number), sizeof number}}};
}

// Where to go on: what was saved with the last committed step, or 0.
int64_t ParseCursor(const std::string& state) {
  int64_t cursor = 0;
  std::from_chars(state.data(), state.data() + state.size(), cursor);
  return cursor;
}

Status Produce(const std::string& uri) {
  auto runtime = RealRuntime();
  const Deadline deadline = After(*runtime, std::chrono::minutes(1));
  // [producer]
  LS_ASSIGN_OR_RETURN(auto store, OpenStore(uri, {}, runtime));
  const StreamSpec spec{.mesh = {.dp = 2, .cp = 1}, .producers = {"numbers"}};
  LS_ASSIGN_OR_RETURN(auto stream, Stream::OpenOrCreate(store, runtime, spec, deadline));
  LS_ASSIGN_OR_RETURN(auto producer, Producer::Open(stream, {.name = "numbers"}, deadline));
  for (int64_t n = ParseCursor(producer->recovered_state()); n < 100; n += 2) {
    Tgb tgb(spec.mesh);  // one step: a slice for each of the two ranks
    LS_RETURN_IF_ERROR(tgb.SetSlice(0, 0, NumberTensor(n)));
    LS_RETURN_IF_ERROR(tgb.SetSlice(1, 0, NumberTensor(n + 1)));
    LS_RETURN_IF_ERROR(producer->Write(std::move(tgb), std::to_string(n + 2), deadline));
  }
  return producer->Finish(deadline);  // all is committed; the only declared producer: this seals
  // [/producer]
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: quickstart_producer URI\n");
    return 2;
  }
  const Status status = Produce(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "quickstart_producer: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
