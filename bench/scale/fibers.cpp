// glibc's checked longjmp refuses to go to another stack.
#undef _FORTIFY_SOURCE
#include "fibers.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "counted.hpp"

namespace octavo::simulated {
namespace {

constexpr std::size_t stack_bytes = std::size_t{64} << 20;

// Where the functions return to when they wait, and the way in for new ones.
jmp_buf scheduler;
ucontext_t entrance;

// Exceptions that are being handled: two pointers of the C++ runtime (Itanium C++ ABI, section 2.2.2), which each
// function needs as its own.
using Handled = std::array<std::byte, 16>;

Handled take_handled() {
  Handled handled{};
  std::memcpy(handled.data(), static_cast<void*>(abi::__cxa_get_globals()), handled.size());
  return handled;
}
void put_handled(const Handled& handled) {
  std::memcpy(static_cast<void*>(abi::__cxa_get_globals()), handled.data(), handled.size());
}

}  // namespace

struct Fibers::Saved {
  jmp_buf at;
  Handled handled{};
  std::unique_ptr<std::byte[]> bytes;
  std::size_t size = 0, room = 0;
  bool started = false, waits = false, woken = false;
};

Fibers*& running() {
  static Fibers* fibers = nullptr;
  return fibers;
}

Fibers::Fibers() {
  void* mapped =
      ::mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) throw std::bad_alloc();
  stack_ = static_cast<std::byte*>(mapped);
}
Fibers::~Fibers() { ::munmap(stack_, stack_bytes); }

void Fibers::enter() {
  Fibers& fibers = *running();
  try {
    (*fibers.work_)(fibers.current_);
  } catch (...) {
    const Uncounted own;
    if (!fibers.failure_) fibers.failure_ = std::current_exception();
  }
  --fibers.left_;
  const Uncounted own;
  fibers.saved_[static_cast<std::size_t>(fibers.current_)].bytes.reset();
  _longjmp(scheduler, 1);
}

void Fibers::start(int fiber) {
  saved_[static_cast<std::size_t>(fiber)].started = true;
  ::getcontext(&entrance);
  entrance.uc_stack.ss_sp = stack_;
  entrance.uc_stack.ss_size = stack_bytes;
  entrance.uc_link = nullptr;
  ::makecontext(&entrance, &Fibers::enter, 0);
  put_handled({});
  ::setcontext(&entrance);
}

void Fibers::resume(int fiber) {
  Saved& saved = saved_[static_cast<std::size_t>(fiber)];
  std::memcpy(stack_ + stack_bytes - saved.size, saved.bytes.get(), saved.size);
  put_handled(saved.handled);
  _longjmp(saved.at, 1);
}

// Everything from the caller's frame up to the stack's top is copied away.
__attribute__((noinline)) void Fibers::leave() {
  Saved& saved = saved_[static_cast<std::size_t>(current_)];
  saved.handled = take_handled();
  if (_setjmp(saved.at) != 0) return;
  volatile std::byte here{};
  const auto* low = const_cast<const std::byte*>(&here) - 256;
  saved.size = static_cast<std::size_t>(stack_ + stack_bytes - low);
  if (saved.size > saved.room) {
    const Uncounted own;
    saved.room = (saved.size + 255) / 256 * 256;
    saved.bytes.reset(new std::byte[saved.room]);
  }
  Memory& used = memory[static_cast<std::size_t>(current_)];
  used.stack = std::max(used.stack, static_cast<std::int64_t>(saved.size));
  std::memcpy(saved.bytes.get(), low, saved.size);
  _longjmp(scheduler, 1);
}

void Fibers::wait() {
  Saved& saved = saved_[static_cast<std::size_t>(current_)];
  saved.waits = true;
  leave();
}

void Fibers::wake(int fiber) {
  const Uncounted own;
  Saved& saved = saved_[static_cast<std::size_t>(fiber)];
  if (!saved.waits) return;
  saved.waits = false;
  ready_.push_back(fiber);
}

void Fibers::pass() {
  {
    const Uncounted own;
    ready_.push_back(current_);
  }
  leave();
}

void Fibers::run(int count, const std::function<void(int)>& work) {
  const Handled mine = take_handled();
  const auto all = static_cast<std::size_t>(count);
  saved_ = std::vector<Saved>(all);
  memory.assign(all, {});
  ready_.clear();
  for (int fiber = 0; fiber < count; ++fiber) ready_.push_back(fiber);
  next_ready_ = 0;
  work_ = &work;
  left_ = count;
  failure_ = {};
  running() = this;
  // Functions that wait come back here.
  static_cast<void>(_setjmp(scheduler));
  Uncounted::end_all();
  Fibers& self = *running();
  self.current_ = -1;
  if (!self.failure_ && self.next_ready_ < self.ready_.size()) {
    const int fiber = self.ready_[self.next_ready_++];
    if (self.next_ready_ > 4096 && self.next_ready_ * 2 > self.ready_.size()) {
      self.ready_.erase(self.ready_.begin(), self.ready_.begin() + static_cast<std::ptrdiff_t>(self.next_ready_));
      self.next_ready_ = 0;
    }
    if (self.switched) self.switched(fiber);
    self.current_ = fiber;
    if (self.saved_[static_cast<std::size_t>(fiber)].started)
      self.resume(fiber);
    else
      self.start(fiber);
  }
  running() = nullptr;
  if (self.switched) self.switched(-1);
  put_handled(mine);
  if (self.failure_) std::rethrow_exception(self.failure_);
  if (self.left_ != 0) throw std::logic_error(std::to_string(self.left_) + " virtual ranks wait for each other");
}

}  // namespace octavo::simulated
