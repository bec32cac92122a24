#pragma once
#include <filesystem>
#include <string>

#include "octavo/file/posix.hpp"

namespace octavo::file {

/// A lock file, for file systems without flock. It names the process that holds it, and stays if that process is
/// killed. Another process takes it over if the holder no longer runs. If the holder is on another host (or in another
/// PID namespace), the file must not have been touched for `seconds_until_stale`. The destructor removes the file.
class LockFile {
 public:
  static constexpr double seconds_until_stale = 60;

  LockFile() = default;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

  bool is_open() const noexcept { return file_.is_open(); }
  /// The other process that holds the lock; empty if no other process does.
  const std::string& holder() const noexcept { return holder_; }
  /// A message for the user: whether this file keeps a second writer away, and from whom it was taken over.
  const std::string& note() const noexcept { return note_; }
  /// Tells other processes that this one is alive. It does so at most every few seconds, however often it is called.
  void touch() noexcept;

 private:
  friend LockFile make_lock_file(const std::filesystem::path& path);
  File file_;
  std::string holder_, note_;
  double touched_ = 0;
};

/// Makes the file with O_EXCL. Throws nothing: if another process holds it, holder() names that process; if it cannot
/// be made, note() says so.
LockFile make_lock_file(const std::filesystem::path& path);

/// Keeps a second writer out of a directory until this object is destroyed or the process ends in any way.
///
/// The lock is a flock on the directory. If the file system refuses that (ENOSYS, ENOTSUP, ENOLCK, EBADF or EINVAL), it
/// is the LockFile `writer.lock` in the directory. If that file cannot be made either, there is no lock and no error,
/// and note() says so.
class DirectoryLock {
 public:
  /// False if another process holds the directory; holder() then names it, if known.
  bool is_open() const noexcept { return directory_.is_open(); }
  const std::string& holder() const noexcept { return holder_; }
  /// A message for the user: that the file system refuses flock, and what was done instead. Empty if the lock is a
  /// flock.
  const std::string& note() const noexcept { return note_; }
  /// Tells other processes that this one is alive. Costs nothing if the lock is a flock.
  void touch() noexcept { file_.touch(); }

 private:
  friend DirectoryLock lock_directory(const std::filesystem::path& directory);
  File directory_;
  LockFile file_;
  std::string holder_, note_;
};

/// Throws Error(unreadable) if the directory cannot be opened.
DirectoryLock lock_directory(const std::filesystem::path& directory);

}  // namespace octavo::file
