// One libFuzzer program: LS_FUZZ_TARGET names the target.
#include "fuzz/target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const lakestream::fuzz::Target target = lakestream::fuzz::FindTarget(LS_FUZZ_TARGET);
  target.run({data, size});
  return 0;
}
