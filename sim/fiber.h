// Fiber: a stack of its own that runs on the caller's thread until it hands control back.
//
// Why not threads: a hand-over between threads costs some 12 microseconds, one between fibres well
// under one, and a run makes thousands. All fibres of a process live on one operating system
// thread; AddressSanitizer and ThreadSanitizer are told about each switch.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace lakestream::sim {

// Confined to one thread. A fibre that is destroyed before its body returned is *abandoned*: its
// stack is given to the next fibre, no destructor on it ever runs (that is what kill -9 does).
class Fiber {
 public:
  static constexpr size_t kStackBytes = 512 * 1024;

  explicit Fiber(std::function<void()> body);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs the fibre until it suspends or its body returns. Not from inside a fibre.
  void Resume();
  // Back to whoever resumed this fibre. From inside it only.
  void Suspend();
  bool done() const { return done_; }

 private:
  struct Context;
  static void Enter();
  void Switch(Context& from, Context& to);

  std::function<void()> body_;
  std::unique_ptr<Context> own_;
  std::unique_ptr<Context> resumer_;
  bool done_ = false;
};

}  // namespace lakestream::sim
