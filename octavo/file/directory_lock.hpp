#pragma once
#include <filesystem>
#include <string>

#include "octavo/file/posix.hpp"

namespace octavo::file {

/// A file that says who works on something, for where no flock does. Nobody removes it when its process is killed, so
/// it is taken over where that process is gone from this host, or where another host's has not touched it for
/// `seconds_until_stale`. Otherwise it goes with this object.
class LockFile {
 public:
  static constexpr double seconds_until_stale = 60;

  LockFile() = default;
  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&& other) noexcept;
  ~LockFile();

  bool is_open() const noexcept { return file_.is_open(); }
  /// Who has it, where another does; else empty.
  const std::string& holder() const noexcept { return holder_; }
  /// From whom it was taken over, and whether it could not be made; else empty.
  const std::string& note() const noexcept { return note_; }
  /// Says that the process is alive, at most every few seconds.
  void touch() noexcept;

 private:
  friend LockFile make_lock_file(const std::filesystem::path& path);
  File file_;
  std::string holder_, note_;
  double touched_ = 0;
};

/// Makes it with O_EXCL. Where that fails, but for a holder that is alive, the note says so: never an error.
LockFile make_lock_file(const std::filesystem::path& path);

/// Keeps a second writer out of a directory until it is closed or the process ends, however that comes.
///
/// It is a flock on the directory. Where the file system refuses those (ENOSYS, ENOTSUP, ENOLCK) it is the LockFile
/// `writer.lock` there. Where such a file cannot be made either there is no lock, and a note: never an error.
class DirectoryLock {
 public:
  /// False where another has the directory: then `holder` says who, as far as that is known.
  bool is_open() const noexcept { return directory_.is_open(); }
  const std::string& holder() const noexcept { return holder_; }
  /// What a user should know where this is no flock; else empty.
  const std::string& note() const noexcept { return note_; }
  /// Says that the process is alive. Costs nothing where the lock is a flock.
  void touch() noexcept { file_.touch(); }

 private:
  friend DirectoryLock lock_directory(const std::filesystem::path& directory);
  File directory_;
  LockFile file_;
  std::string holder_, note_;
};

/// Throws Error(unreadable) where the directory cannot be opened.
DirectoryLock lock_directory(const std::filesystem::path& directory);

}  // namespace octavo::file
