#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <unordered_map>
#include <vector>

namespace octavo::simulated {

/// Runs many functions in turn on one stack. A function that waits has its part of the stack copied away, as far as it
/// differs from that of another: so it costs a kilobyte or two, not pages.
class Fibers {
 public:
  Fibers();
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Called whenever another one runs; -1: none.
  std::function<void(int)> switched;
  /// Runs work(0) ... work(count - 1) until all have returned. Rethrows the first exception. Throws std::logic_error if
  /// all that are left wait.
  void run(int count, const std::function<void(int)>& work);
  /// The one that runs; -1: none.
  int current() const { return current_; }
  /// Waits until wake(). Call it in one of the functions only.
  void wait();
  void wake(int fiber);
  /// Lets the others run first.
  void pass();

  /// Memory allocated now and the most so far, by fiber; and the most stack.
  struct Memory {
    std::int64_t now = 0, most = 0, stack = 0;
  };
  std::vector<Memory> memory;

 private:
  struct Saved;
  void start(int fiber);
  void resume(int fiber);
  void leave();
  int next();
  std::size_t block_of(int fiber) const;
  void copy_away(Saved& saved, std::size_t words);
  void put_back(const Saved& saved);
  static void enter();

  std::vector<Saved> saved_;
  // Which one runs next decides what is still in the cache: a machine's ranks are gigabytes. One that was waked from
  // far off goes before those that have not begun, since its partners have just run. Those that were waked by a
  // neighbour wait until these are through; then a block of neighbours goes on alone as far as it can. Those that let
  // others run first come last.
  std::deque<int> ready_, passing_;
  std::vector<std::vector<int>> near_;  // by block; the next one last
  std::size_t block_ = 0, near_count_ = 0;
  const std::function<void(int)>* work_ = nullptr;
  std::exception_ptr failure_;
  std::byte* stack_ = nullptr;
  std::unordered_map<std::size_t, std::vector<std::uint64_t>> references_;  // stacks, by size in words
  std::vector<std::uint64_t> differences_;                                  // of the stack that is copied away
  int current_ = -1, left_ = 0;
};

/// The one set of fibers that runs; null: none, or this is another thread.
Fibers*& running();

}  // namespace octavo::simulated
