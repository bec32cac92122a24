// glibc's checked longjmp refuses to go to another stack.
#undef _FORTIFY_SOURCE
#include "fibers.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <bit>
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
// Neighbours whose stacks and heaps fit into a cache of some ten megabytes.
constexpr std::size_t most_of_block = 4096;

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

// Stacks consist of words. Those of functions that wait in the same place are much alike, so each is kept as its
// differences from the first one of its size: a bit a word, and the words that differ.
using Word = std::uint64_t;
using StackWord [[gnu::may_alias]] = Word;
constexpr std::size_t bits_a_word = 64;

struct Fibers::Saved {
  jmp_buf at;
  Handled handled{};
  std::unique_ptr<Word[]> differences;
  std::size_t words = 0, room = 0;  // of the stack; for differences
  bool started = false, waits = false, woken = false;
};

// Changes the stack's words into those of `reference` with these differences.
void Fibers::put_back(const Saved& saved) {
  const std::vector<Word>& reference = references_.at(saved.words);
  StackWord* stack = reinterpret_cast<StackWord*>(stack_ + stack_bytes) - saved.words;
  std::memcpy(stack, reference.data(), saved.words * sizeof(Word));
  const Word* next = saved.differences.get() + (saved.words + bits_a_word - 1) / bits_a_word;
  for (std::size_t first = 0; first < saved.words; first += bits_a_word)
    for (Word bits = saved.differences[first / bits_a_word]; bits != 0; bits &= bits - 1)
      stack[first + static_cast<std::size_t>(std::countr_zero(bits))] = *next++;
}

void Fibers::copy_away(Saved& saved, std::size_t words) {
  const StackWord* stack = reinterpret_cast<const StackWord*>(stack_ + stack_bytes) - words;
  saved.words = words;
  std::vector<Word>& reference = references_[words];
  if (reference.empty()) reference.assign(stack, stack + words);
  const std::size_t sets = (words + bits_a_word - 1) / bits_a_word;
  differences_.assign(sets, 0);
  for (std::size_t i = 0; i < words; ++i) {
    if (stack[i] == reference[i]) continue;
    differences_[i / bits_a_word] |= Word{1} << i % bits_a_word;
    differences_.push_back(stack[i]);
  }
  if (differences_.size() > saved.room || differences_.size() * 2 < saved.room) {
    saved.room = differences_.size();
    saved.differences.reset(new Word[saved.room]);
  }
  std::copy(differences_.begin(), differences_.end(), saved.differences.get());
}

Fibers*& running() {
  static thread_local Fibers* fibers = nullptr;
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
  fibers.saved_[static_cast<std::size_t>(fibers.current_)].differences.reset();
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
  put_back(saved);
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
  const std::size_t words = (static_cast<std::size_t>(stack_ + stack_bytes - low) + sizeof(Word) - 1) / sizeof(Word);
  Memory& used = memory[static_cast<std::size_t>(current_)];
  used.stack = std::max(used.stack, static_cast<std::int64_t>(words * sizeof(Word)));
  {
    const Uncounted own;
    copy_away(saved, words);
  }
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
  if (current_ < 0 || block_of(current_) != block_of(fiber)) return ready_.push_front(fiber);
  near_[block_of(fiber)].push_back(fiber);
  ++near_count_;
}

// The blocks are halves of halves of all, as the ranks are that exchange with each other (octavo/ranks/halves.hpp).
std::size_t Fibers::block_of(int fiber) const { return static_cast<std::size_t>(fiber) * near_.size() / saved_.size(); }

// -1: none.
int Fibers::next() {
  const auto take = [](auto& from, auto at) {
    const int fiber = *at;
    from.erase(at);
    return fiber;
  };
  if (!ready_.empty()) return take(ready_, ready_.begin());
  if (near_count_ == 0) return passing_.empty() ? -1 : take(passing_, passing_.begin());
  while (near_[block_].empty()) block_ = (block_ + 1) % near_.size();
  --near_count_;
  return take(near_[block_], near_[block_].end() - 1);
}

void Fibers::pass() {
  {
    const Uncounted own;
    passing_.push_back(current_);
  }
  leave();
}

void Fibers::run(int count, const std::function<void(int)>& work) {
  const Handled mine = take_handled();
  const auto all = static_cast<std::size_t>(count);
  saved_ = std::vector<Saved>(all);
  memory.assign(all, {});
  references_.clear();
  ready_.clear();
  passing_.clear();
  near_.assign(std::bit_ceil((all + most_of_block - 1) / most_of_block), {});
  block_ = near_count_ = 0;
  for (int fiber = 0; fiber < count; ++fiber) ready_.push_back(fiber);
  work_ = &work;
  left_ = count;
  failure_ = {};
  running() = this;
  // Functions that wait come back here.
  static_cast<void>(_setjmp(scheduler));
  Uncounted::end_all();
  Fibers& self = *running();
  self.current_ = -1;
  if (const int fiber = self.failure_ ? -1 : self.next(); fiber >= 0) {
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
