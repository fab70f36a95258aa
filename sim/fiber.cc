#include "sim/fiber.h"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cassert>
#include <vector>

#if defined(__SANITIZE_ADDRESS__)
#define LS_SIM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LS_SIM_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define LS_SIM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define LS_SIM_TSAN 1
#endif
#endif

#if LS_SIM_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if LS_SIM_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace lakestream::sim {
namespace {

constexpr size_t kGuardBytes = 4096;

// Stacks are reused: mapping and first touch cost more than a short fibre.
class StackPool {
 public:
  void* Take() {
    if (!free_.empty()) {
      void* stack = free_.back();
      free_.pop_back();
      return stack;
    }
    void* base = mmap(nullptr, kGuardBytes + Fiber::kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert(base != MAP_FAILED && "no memory for a fibre's stack");
    mprotect(base, kGuardBytes, PROT_NONE);
    return static_cast<char*>(base) + kGuardBytes;
  }
  void Give(void* stack) {
#if LS_SIM_ASAN
    ASAN_UNPOISON_MEMORY_REGION(stack, Fiber::kStackBytes);
#endif
    free_.push_back(stack);
  }

 private:
  std::vector<void*> free_;
};

StackPool& Stacks() {
  static StackPool pool;
  return pool;
}

Fiber* entering = nullptr;  // the fibre that Enter() is to run

}  // namespace

struct Fiber::Context {
  ucontext_t machine;
#if !LS_SIM_ASAN && !LS_SIM_TSAN
  jmp_buf jump;  // after the first entry: no signal-mask system call, so ten times faster
#endif
  bool started = false;
  void* stack = nullptr;
  size_t stack_bytes = 0;
#if LS_SIM_ASAN
  void* fake_stack = nullptr;
#endif
#if LS_SIM_TSAN
  void* tsan_fiber = nullptr;
#endif
};

Fiber::Fiber(std::function<void()> body)
    : body_(std::move(body)), own_(new Context), resumer_(new Context) {
  getcontext(&own_->machine);
  own_->stack = Stacks().Take();
  own_->stack_bytes = kStackBytes;
  own_->machine.uc_stack.ss_sp = own_->stack;
  own_->machine.uc_stack.ss_size = kStackBytes;
  own_->machine.uc_link = nullptr;
  makecontext(&own_->machine, &Fiber::Enter, 0);
  resumer_->started = true;
#if LS_SIM_TSAN
  own_->tsan_fiber = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if LS_SIM_TSAN
  __tsan_destroy_fiber(own_->tsan_fiber);
#endif
  Stacks().Give(own_->stack);
}

#if LS_SIM_ASAN || LS_SIM_TSAN

void Fiber::Switch(Context& from, Context& to) {
#if LS_SIM_ASAN
  const bool last = done_ && &from == own_.get();
  __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#endif
#if LS_SIM_TSAN
  if (from.tsan_fiber == nullptr) from.tsan_fiber = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.tsan_fiber, 0);
#endif
  swapcontext(&from.machine, &to.machine);
#if LS_SIM_ASAN
  const void* left = nullptr;
  size_t left_bytes = 0;
  __sanitizer_finish_switch_fiber(from.fake_stack, &left, &left_bytes);
#endif
}

#else

void Fiber::Switch(Context& from, Context& to) {
  if (_setjmp(from.jump) != 0) return;
  if (to.started) _longjmp(to.jump, 1);
  to.started = true;
  setcontext(&to.machine);
}

#endif

void Fiber::Enter() {
  Fiber* self = entering;
#if LS_SIM_ASAN
  const void* resumer_stack = nullptr;
  __sanitizer_finish_switch_fiber(nullptr, &resumer_stack, &self->resumer_->stack_bytes);
  self->resumer_->stack = const_cast<void*>(resumer_stack);
#endif
  self->body_();
  self->body_ = nullptr;
  self->done_ = true;
  self->Suspend();
}

void Fiber::Resume() {
  assert(!done_);
  entering = this;
  Switch(*resumer_, *own_);
}

void Fiber::Suspend() { Switch(*own_, *resumer_); }

}  // namespace lakestream::sim
