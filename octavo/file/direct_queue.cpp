#include "octavo/file/direct_queue.hpp"

#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/observed.hpp"

namespace octavo::file {

using base::Error;

DirectQueue::DirectQueue(const File& direct, std::size_t buffers, std::size_t bytes) : direct_(direct), bytes_(bytes) {
  for (std::size_t i = 0; i < buffers; ++i) {
    buffers_.emplace_back(static_cast<std::byte*>(::operator new (bytes, std::align_val_t{direct_alignment})));
    if (i > 0) free_.push_back(i);
  }
  // An observer sees each write before it happens, and may let it fail. The kernel asks nobody.
  if (is_observed() || buffers < 2) return;
  if (::syscall(SYS_io_setup, buffers, &context_) != 0) context_ = 0;
}

DirectQueue::~DirectQueue() {
  try {
    wait();
  } catch (const std::exception&) {
  }
  if (context_ != 0) ::syscall(SYS_io_destroy, context_);
}

std::span<std::byte> DirectQueue::buffer() noexcept { return {buffers_[filling_].get(), bytes_}; }

std::span<const std::byte> DirectQueue::bytes_of(const Write& write) const {
  return {buffers_[write.buffer].get() + write.begin, write.end - write.begin};
}

// Returns false if the kernel does not take it.
bool DirectQueue::submit(Write& write) {
  if (context_ == 0) return false;
  const auto bytes = bytes_of(write);
  iocb request;
  std::memset(&request, 0, sizeof request);
  // The event brings this pointer back. `write` is an element of a deque and stays in place.
  request.aio_data = reinterpret_cast<std::uintptr_t>(&write);
  request.aio_lio_opcode = IOCB_CMD_PWRITE;
  request.aio_fildes = static_cast<std::uint32_t>(direct_.descriptor());
  request.aio_buf = reinterpret_cast<std::uintptr_t>(bytes.data());
  request.aio_nbytes = bytes.size();
  request.aio_offset = static_cast<std::int64_t>(write.offset);
  iocb* list = &request;
  long taken = -1;
  do taken = ::syscall(SYS_io_submit, context_, 1L, &list);
  while (taken < 0 && errno == EINTR);
  if (taken == 1) count_write(bytes.size());
  return taken == 1;
}

void DirectQueue::write(std::size_t begin, std::size_t end, std::uint64_t offset) {
  if (begin < end) {
    started_.push_back({filling_, begin, end, offset, 0, false});
    if (!submit(started_.back())) {
      const Write now = started_.back();
      started_.pop_back();
      free_.push_back(now.buffer);
      pwrite_all(direct_, offset, bytes_of(now));
    }
  } else {
    free_.push_back(filling_);
  }
  while (free_.empty()) take_one();
  filling_ = free_.back();
  free_.pop_back();
}

// The kernel does not say what became of the writes. Destroying the context waits for them, so that the buffers are
// free.
Error DirectQueue::lose_all(int error) {
  ::syscall(SYS_io_destroy, std::exchange(context_, 0));
  for (const Write& write : started_) free_.push_back(write.buffer);
  started_.clear();
  return base::system_error("wait for a write", error).at(direct_.path().string());
}

void DirectQueue::collect_until_done(const Write& write) {
  std::array<io_event, 16> events{};
  while (!write.done) {
    long count = -1;
    do count = ::syscall(SYS_io_getevents, context_, 1L, static_cast<long>(events.size()), events.data(), nullptr);
    while (count < 0 && errno == EINTR);
    if (count < 0) throw lose_all(errno);
    for (long i = 0; i < count; ++i) {
      const io_event& event = events[static_cast<std::size_t>(i)];
      auto* of = reinterpret_cast<Write*>(static_cast<std::uintptr_t>(event.data));
      of->result = event.res;
      of->done = true;
    }
  }
}

// Waits for the oldest write. The rest of a short one is written at once, which gives the error of a full disk.
void DirectQueue::take_one() {
  collect_until_done(started_.front());
  const Write write = started_.front();
  started_.pop_front();
  free_.push_back(write.buffer);
  const auto bytes = bytes_of(write);
  if (write.result < 0)
    throw base::system_error("write", static_cast<int>(-write.result))
        .at(direct_.path().string() + ", byte " + std::to_string(write.offset));
  // Direct I/O needs an aligned offset, so a block that was written in part is written once more.
  const auto done = static_cast<std::size_t>(write.result) / direct_alignment * direct_alignment;
  if (done < bytes.size()) pwrite_all(direct_, write.offset + done, bytes.subspan(done));
}

void DirectQueue::wait() {
  std::optional<Error> failure;
  while (!started_.empty()) try {
      take_one();
    } catch (const Error& error) {
      if (!failure) failure = error;
    }
  if (failure) throw *failure;
}

}  // namespace octavo::file
