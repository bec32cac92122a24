#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

/// Positioned bytes in files. Every transfer is complete or an Error: partial transfers and EINTR are dealt with here.
/// Errors are base::system_error (unreadable, or no_space) at the file and byte.
namespace octavo::file {

/// An open file; closed by the destructor, silently: call close() where a failure must be heard.
class File {
 public:
  File() = default;
  File(int descriptor, std::filesystem::path path) noexcept : descriptor_(descriptor), path_(std::move(path)) {}
  ~File();
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;

  bool is_open() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }
  const std::filesystem::path& path() const noexcept { return path_; }
  void close();

 private:
  int descriptor_ = -1;
  std::filesystem::path path_;
};

/// Opens a regular file for reading. Error(unreadable) also for a directory, a pipe or a device.
File open_read(const std::filesystem::path& path);
/// Makes a file that must not exist yet, for reading and writing. An existing file is never truncated: Error(usage).
File create(const std::filesystem::path& path);
/// Opens for reading and writing, made if missing, contents kept.
File open_write(const std::filesystem::path& path);

/// Opens an existing file for transfers that go past the page cache: memory, offset and size must be multiples of
/// direct_alignment. Nothing where the file system has no such thing (memory file systems).
std::optional<File> open_direct(const std::filesystem::path& path);
constexpr std::size_t direct_alignment = 4096;

std::uint64_t size(const File& file);
/// Whether some directory still has the file: it has not been removed.
bool has_name(const File& file);
/// Fills `out` from `offset` on. Error(corrupt) with expected and found sizes where the file ends before.
void pread_all(const File& file, std::uint64_t offset, std::span<std::byte> out);
/// As much as the file has from `offset` on, up to `out.size()`; returns how much.
std::size_t pread_some(const File& file, std::uint64_t offset, std::span<std::byte> out);
void pwrite_all(const File& file, std::uint64_t offset, std::span<const std::byte> bytes);
/// Writes pieces one behind another, in few system calls and without a copy.
void pwrite_pieces(const File& file, std::uint64_t offset, std::span<const std::span<const std::byte>> pieces);
/// Makes the file at least this long and reserves disk space for the new bytes, where the file system can (in memory
/// that would do the work twice). Error(no_space) on a full disk.
void preallocate(const File& file, std::uint64_t bytes);
/// Sets the file's length; what lay past it is gone.
void resize(const File& file, std::uint64_t bytes);
/// fdatasync: contents, and the length needed to read them, are on disk afterwards.
void sync(const File& file);
/// Takes an advisory exclusive lock (flock) on an open file or directory; closing the handle releases it. Returns false
/// if another handle has the lock, and nothing if the file system refuses such locks (ENOSYS, ENOTSUP, ENOLCK; EBADF or
/// EINVAL for a directory).
std::optional<bool> flock_if_there_is(const File& file);
/// The same, but returns true if the file system refuses such locks.
bool try_lock(const File& file);
/// Opens an existing directory, in order to lock it.
File open_directory(const std::filesystem::path& directory);

/// Makes a file's creation, renaming or removal in this directory durable.
void sync_directory(const std::filesystem::path& directory);
/// Replaces `to` atomically. (Call it file::rename, as std::filesystem has one too; so with remove.)
void rename(const std::filesystem::path& from, const std::filesystem::path& to);
void remove(const std::filesystem::path& path);
/// Removes a directory and its contents, as far as it can. The rest costs space; others try again to remove it.
void remove_all(const std::filesystem::path& directory) noexcept;
/// Syncs the name of a file or directory, in the directory above it; once in this process. The process that made the
/// file may have died before it had synced the name.
void sync_name(const std::filesystem::path& path);
/// Makes the directory and the missing ones above it, and syncs their names. It also syncs the names of existing
/// directories above, up to the first whose parent this user cannot write (or to the current directory).
void make_directories(const std::filesystem::path& path);

/// Counts of this process's calls to the system so far, all threads and files together.
struct Counts {
  std::uint64_t writes = 0;         ///< calls
  std::uint64_t bytes_written = 0;  ///< by those
  std::uint64_t syncs = 0;          ///< of files
};
Counts counts() noexcept;

// ---------------------------------------------------------------------------------------------- observing, for tests

enum class Operation : std::uint8_t {
  open,
  open_direct,  ///< with the error EINVAL: as a file system without direct I/O
  create,
  read,
  lock,
  write,
  preallocate,
  resize,
  sync,
  sync_directory,
  rename,
  remove,
  make_directory
};

/// An operation that is about to be done.
struct Event {
  Operation operation{};
  std::filesystem::path path;
  std::filesystem::path target;      ///< rename: the new name
  std::uint64_t offset = 0;          ///< read, write
  std::uint64_t size = 0;            ///< read: bytes wanted; write: bytes; preallocate, resize: the new length
  std::span<const std::byte> bytes;  ///< write: the bytes; valid during the call
};

/// How it shall go. Default: as asked. With an `error` (ENOSPC, EIO ...) the operation fails so; a write first puts
/// `limit` of its bytes in the file, as a disk that fills up does.
struct Verdict {
  int error = 0;
  std::uint64_t limit = 0;
};

/// Called before every operation of this process on files, from the thread that does it, one at a time. Empty: nobody.
/// For tests only: not to be changed while other threads are in this room.
void set_observer(std::function<Verdict(const Event&)> observer);

}  // namespace octavo::file
