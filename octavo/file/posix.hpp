#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>

/// Positioned reads and writes. Every transfer is complete or throws an Error: we handle partial transfers and EINTR
/// here. Errors are those of base::system_error (unreadable, or no_space), with the file and byte.
namespace octavo::file {

/// An open file. The destructor closes it without reporting failures: call close() if you need to know.
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

/// Opens a regular file for reading. Throws Error(unreadable) for a directory, a pipe or a device, too.
File open_read(const std::filesystem::path& path);
/// Makes a new file for reading and writing. Throws Error(usage) if it exists; it is never truncated.
File create(const std::filesystem::path& path);
/// Opens a file for reading and writing. Makes it if it is missing; keeps its contents.
File open_write(const std::filesystem::path& path);

/// Opens an existing file for transfers that bypass the page cache. Memory, offset and size must be multiples of
/// direct_alignment. Returns nothing if the file system does not support that (memory file systems).
std::optional<File> open_direct(const std::filesystem::path& path);
constexpr std::size_t direct_alignment = 4096;

std::uint64_t size(const File& file);
/// Whether some directory still has the file: it has not been removed.
bool has_name(const File& file);
/// Fills `out` from `offset` on. Throws Error(corrupt) with expected and found sizes if the file ends before.
void pread_all(const File& file, std::uint64_t offset, std::span<std::byte> out);
/// Reads as much as the file has from `offset` on, up to `out.size()`; returns how many bytes.
std::size_t pread_some(const File& file, std::uint64_t offset, std::span<std::byte> out);
void pwrite_all(const File& file, std::uint64_t offset, std::span<const std::byte> bytes);
/// Writes pieces one after another, in few system calls and without a copy.
void pwrite_pieces(const File& file, std::uint64_t offset, std::span<const std::span<const std::byte>> pieces);
/// Makes the file at least this long, and reserves disk space for the new bytes if the file system can. (On tmpfs it
/// only sets the length: reserving would do the work twice.) Throws Error(no_space) if the disk is full.
void preallocate(const File& file, std::uint64_t bytes);
/// Sets the file's length; bytes past it are lost.
void resize(const File& file, std::uint64_t bytes);
/// Calls fdatasync: contents, and the length needed to read them, are on disk afterwards.
void sync(const File& file);
/// The same for closed files of one folder: one syncfs() for all, which may write bytes of other files, too.
void sync_all(std::span<const std::filesystem::path> files);
/// Takes an advisory exclusive lock (flock) on an open file or directory; closing the handle releases it. Returns false
/// if another handle has the lock, and nothing if the file system refuses such locks (ENOSYS, ENOTSUP, ENOLCK; EBADF or
/// EINVAL for a directory).
std::optional<bool> flock_if_there_is(const File& file);
/// The same, but returns true if the file system refuses such locks.
bool try_lock(const File& file);
/// Opens an existing directory in order to lock it.
File open_directory(const std::filesystem::path& directory);

/// Makes the creation, renaming or removal of files in this directory durable.
void sync_directory(const std::filesystem::path& directory);
/// Replaces `to` atomically. (Call it as file::rename, since std::filesystem has a function of this name, too; the same
/// goes for remove.)
void rename(const std::filesystem::path& from, const std::filesystem::path& to);
void remove(const std::filesystem::path& path);
/// Removes a directory and its contents as far as it can. A rest only costs space, and later calls try again.
void remove_all(const std::filesystem::path& directory) noexcept;
/// Syncs the name of a file or directory in its parent directory, once in this process. We sync existing names, too:
/// the process that made the file may have died before it synced the name.
void sync_name(const std::filesystem::path& path);
/// Makes the directory and its missing parents, and syncs their names. It also syncs the names of existing parents, up
/// to the first whose own parent this user cannot read and write (or up to the current directory).
void make_directories(const std::filesystem::path& path);
/// The same without syncing names, where somebody else does so.
void make_unsynced_directories(const std::filesystem::path& path);

/// This process's system calls so far, over all threads and files.
struct Counts {
  std::uint64_t writes = 0;         ///< calls
  std::uint64_t bytes_written = 0;  ///< by these calls
  std::uint64_t syncs = 0;          ///< of files
};
Counts counts() noexcept;

// ---------------------------------------------------------------------------------------------- observing, for tests

enum class Operation : std::uint8_t {
  open,
  open_direct,  ///< with error EINVAL: a file system without direct I/O
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
  std::uint64_t size = 0;            ///< read: bytes wanted; write: bytes given; preallocate, resize: the new length
  std::span<const std::byte> bytes;  ///< write: the bytes; valid during the call
};

/// The observer's decision. By default the operation goes on. With an `error` (ENOSPC, EIO ...) it fails so; a write
/// first puts `limit` of its bytes into the file, as on a disk that fills up.
struct Verdict {
  int error = 0;
  std::uint64_t limit = 0;
};

/// Sets a function that is called before every file operation of this process, in the thread that does it, one call at
/// a time. Empty: none. For tests only: do not change it while other threads use this room.
void set_observer(std::function<Verdict(const Event&)> observer);

}  // namespace octavo::file
