#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>
#include <span>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::file {

/// Writes past the page cache with several buffers: the disk works on some while the caller fills another one. It uses
/// the kernel's own asynchronous writes (io_submit), which need neither a thread nor a library. Where the kernel has
/// none, or an observer is set, each write is done at once.
class DirectQueue {
 public:
  /// `direct`: of open_direct(); it must outlive the queue. Each buffer has `bytes` bytes, a multiple of
  /// direct_alignment. One of the buffers is being filled, the others may be in flight.
  DirectQueue(const File& direct, std::size_t buffers, std::size_t bytes);
  ~DirectQueue();  ///< waits for the writes in flight, and reports no error
  DirectQueue(const DirectQueue&) = delete;
  DirectQueue& operator=(const DirectQueue&) = delete;

  /// The buffer to be filled.
  std::span<std::byte> buffer() noexcept;
  /// Starts to write the buffer's bytes [begin, end) at the file's byte `offset`: all three are multiples of
  /// direct_alignment. Then takes a free buffer; if there is none, waits for the oldest write. Throws the error of an
  /// earlier write, or of this one.
  void write(std::size_t begin, std::size_t end, std::uint64_t offset);
  /// Waits until all writes are done. Throws the error of the first that failed.
  void wait();
  /// Writes that have been started and not been waited for.
  std::size_t in_flight() const noexcept { return started_.size(); }

 private:
  struct FreeAligned {
    void operator()(std::byte* memory) const { ::operator delete (memory, std::align_val_t{direct_alignment}); }
  };
  struct Write {
    std::size_t buffer = 0, begin = 0, end = 0;
    std::uint64_t offset = 0;
    std::int64_t result = 0;  ///< bytes, or the negative error
    bool done = false;
  };
  void take_one();
  bool submit(Write& write);
  void collect_until_done(const Write& write);
  base::Error lose_all(int error);
  std::span<const std::byte> bytes_of(const Write& write) const;

  const File& direct_;
  std::size_t bytes_;
  unsigned long context_ = 0;  // of the kernel; 0: none
  std::vector<std::unique_ptr<std::byte, FreeAligned>> buffers_;
  std::vector<std::size_t> free_;
  std::size_t filling_ = 0;
  std::deque<Write> started_;  // in order; a deque leaves its elements in place
};

}  // namespace octavo::file
