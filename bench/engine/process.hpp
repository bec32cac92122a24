#pragma once
#include <cstddef>
#include <cstdint>

namespace octavo::bench {

/// Resources used by this process so far, all its threads together, as the kernel counts them.
struct Usage {
  double cpu = 0;             ///< [s] user + system
  std::uint64_t writes = 0;   ///< system calls
  std::uint64_t written = 0;  ///< bytes
  std::uint64_t reads = 0;
  std::uint64_t read = 0;
};
Usage usage();
Usage operator-(const Usage& after, const Usage& before);

/// Bytes a second that this process may write; 0: as fast as it goes. It sleeps size / rate before writes, 10 ms or
/// more at a time, in the thread that writes, one write after another: what a slow store looks like to a process.
/// Octavo's writes are met by the observer of the room file, those of the peers here call throttle().
void set_throttle(double bytes_per_second);
void throttle(std::uint64_t bytes);

/// While off, fsync and fdatasync of Octavo's files return at once, so that it can be compared with peers that leave
/// their bytes in the page cache.
void set_sync(bool on);

/// Takes `bytes` of memory, touches them and gives them back. A virtual machine hands free memory to its host after a
/// second or two and pays five times the price of a write to get it back: a file that is written next would measure
/// that, and not the way it is written.
void touch_free_memory(std::uint64_t bytes);

/// Sorts what the allocator was given back. A way that frees many small pieces leaves their sorting to the next one:
/// ten thousand data sets of HDF5 cost the way after them 10 ms.
void sort_free_pieces();

}  // namespace octavo::bench
