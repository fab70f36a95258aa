// KillProcess: the only way for a test to end a process.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdio>
#include <cstdlib>

namespace lakestream {

// SIGKILL to `pid`, which must be a child that this process started and has not waited for. kill()
// takes 0 and -1 for "my group" and "every process there is", so a stale -1 would end the whole
// machine's work: that is a defect of the test, which stops here.
inline void KillProcess(pid_t pid) {
  if (pid <= 1) {
    std::fprintf(stderr, "KillProcess(%d): this is no child of the test\n", static_cast<int>(pid));
    std::abort();
  }
  kill(pid, SIGKILL);
}

}  // namespace lakestream
