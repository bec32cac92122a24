#include "octavo/file/posix.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <mutex>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/imitated.hpp"
#include "octavo/file/observed.hpp"
#include "octavo/file/whole.hpp"

namespace octavo::file {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// Linux moves at most 0x7ffff000 bytes a call. We use smaller pieces, so that EINTR and the observer's limit cost
// little.
constexpr std::size_t largest_transfer = std::size_t{1} << 30;

std::atomic<std::uint64_t> writes{0}, bytes_written{0}, syncs{0};

// sync_name() remembers the names that it has synced. We clear the set when it gets large; then names are synced once
// more.
constexpr std::size_t most_synced_names = 10000;
std::mutex names_mutex;
std::set<std::tuple<int, std::string, ino_t>> synced_names;
thread_local int imitated_process = 0;

std::atomic<bool> observed{false};
std::mutex observer_mutex;
std::function<Verdict(const Event&)> observer;

Verdict announce(Operation operation, const fs::path& path, std::uint64_t offset = 0, std::uint64_t size = 0,
                 std::span<const std::byte> bytes = {}, const fs::path& target = {}) {
  if (!observed.load(std::memory_order_relaxed)) return {};
  const std::scoped_lock lock(observer_mutex);
  return observer ? observer(Event{operation, path, target, offset, size, bytes}) : Verdict{};
}

Error failed(std::string_view action, int error, const fs::path& path) {
  return base::system_error(action, error).at(path.string());
}

Error failed(std::string_view action, int error, const fs::path& path, std::uint64_t byte) {
  return base::system_error(action, error).at(path.string() + ", byte " + std::to_string(byte));
}

// Announces an operation; throws if the observer wants it to fail.
void permit(std::string_view action, Operation operation, const fs::path& path, std::uint64_t size = 0) {
  if (const Verdict verdict = announce(operation, path, 0, size); verdict.error != 0)
    throw failed(action, verdict.error, path);
}

int open_retrying(const fs::path& path, int flags) {
  int descriptor = -1;
  do descriptor = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  while (descriptor < 0 && errno == EINTR);
  return descriptor;
}

void require_regular(const File& file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) throw failed("look at the file", errno, file.path());
  if (S_ISDIR(status.st_mode)) throw failed("open for reading", EISDIR, file.path());
  if (!S_ISREG(status.st_mode)) throw Error(Kind::unreadable, "not a regular file").at(file.path().string());
}

// Repeats pwrite until everything is written; EINTR and short writes are normal.
void write_pieces(const File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto written =
        ::pwrite(file.descriptor(), bytes.data(), std::min(bytes.size(), largest_transfer), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw failed("write", errno, file.path(), offset);
    // Nothing was written and there is no error: to go on would be to wait for ever.
    if (written == 0) throw failed("write", EIO, file.path(), offset);
    count_write(static_cast<std::uint64_t>(written));
    offset += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

}  // namespace

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File::File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

File& File::operator=(File&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

void File::close() {
  // After EINTR Linux has closed the descriptor anyway.
  if (descriptor_ >= 0 && ::close(std::exchange(descriptor_, -1)) != 0 && errno != EINTR)
    throw failed("close", errno, path_);
}

File open_read(const fs::path& path) {
  permit("open for reading", Operation::open, path);
  // O_NONBLOCK: if the path is a pipe by mistake, we must not wait for its writer.
  const int descriptor = open_retrying(path, O_RDONLY | O_NONBLOCK);
  if (descriptor < 0) throw failed("open for reading", errno, path);
  File file(descriptor, path);
  require_regular(file);
  return file;
}

File create(const fs::path& path) {
  permit("create", Operation::create, path);
  const int descriptor = open_retrying(path, O_RDWR | O_CREAT | O_EXCL);
  if (descriptor < 0 && errno == EEXIST) throw Error(Kind::usage, "the file exists already").at(path.string());
  if (descriptor < 0) throw failed("create", errno, path);
  return {descriptor, path};
}

File open_write(const fs::path& path) {
  // Two calls, because an observer must hear whether the file is new.
  const int existing = open_retrying(path, O_RDWR);
  if (existing >= 0) {
    File file(existing, path);
    permit("open for writing", Operation::open, path);
    return file;
  }
  if (errno != ENOENT) throw failed("open for writing", errno, path);
  permit("create", Operation::create, path);
  const int descriptor = open_retrying(path, O_RDWR | O_CREAT);
  if (descriptor < 0) throw failed("create", errno, path);
  return {descriptor, path};
}

std::optional<File> open_direct(const fs::path& path) {
#ifdef O_DIRECT
  if (const Verdict verdict = announce(Operation::open_direct, path); verdict.error == EINVAL) return {};
  const int descriptor = open_retrying(path, O_RDWR | O_DIRECT);
  if (descriptor >= 0) return File(descriptor, path);
  if (errno != EINVAL && errno != EOPNOTSUPP) throw failed("open for writing", errno, path);
#endif
  return {};
}

std::uint64_t size(const File& file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) throw failed("look at the file", errno, file.path());
  return static_cast<std::uint64_t>(status.st_size);
}

bool has_name(const File& file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) throw failed("look at the file", errno, file.path());
  return status.st_nlink > 0;
}

std::size_t pread_some(const File& file, std::uint64_t offset, std::span<std::byte> out) {
  if (const Verdict verdict = announce(Operation::read, file.path(), offset, out.size()); verdict.error != 0)
    throw failed("read", verdict.error, file.path(), offset);
  std::size_t done = 0;
  while (done < out.size()) {
    const auto got = ::pread(file.descriptor(), out.data() + done, std::min(out.size() - done, largest_transfer),
                             static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failed("read", errno, file.path(), offset + done);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

void pread_all(const File& file, std::uint64_t offset, std::span<std::byte> out) {
  const std::size_t got = pread_some(file, offset, out);
  if (got == out.size()) return;
  throw Error(Kind::corrupt,
              "the file ends early: expected " + std::to_string(out.size()) + " bytes, found " + std::to_string(got))
      .at(file.path().string() + ", byte " + std::to_string(offset));
}

void pwrite_all(const File& file, std::uint64_t offset, std::span<const std::byte> bytes) {
  const Verdict verdict = announce(Operation::write, file.path(), offset, bytes.size(), bytes);
  if (verdict.error == 0) return write_pieces(file, offset, bytes);
  const std::size_t before = std::min<std::size_t>(bytes.size(), static_cast<std::size_t>(verdict.limit));
  write_pieces(file, offset, bytes.first(before));
  throw failed("write", verdict.error, file.path(), offset + before);
}

void pwrite_pieces(const File& file, std::uint64_t offset, std::span<const std::span<const std::byte>> pieces) {
  if (observed.load(std::memory_order_relaxed)) {
    for (const auto piece : pieces) {
      pwrite_all(file, offset, piece);
      offset += piece.size();
    }
    return;
  }
  std::array<iovec, 256> vectors{};
  while (!pieces.empty()) {
    const std::size_t count = std::min(pieces.size(), vectors.size());
    for (std::size_t i = 0; i < count; ++i) {
      vectors[i] = {const_cast<std::byte*>(pieces[i].data()), pieces[i].size()};
    }
    const auto written =
        ::pwritev(file.descriptor(), vectors.data(), static_cast<int>(count), static_cast<off_t>(offset));
    if (written < 0 && errno != EINTR) throw failed("write", errno, file.path(), offset);
    count_write(static_cast<std::uint64_t>(std::max<ssize_t>(written, 0)));
    auto done = static_cast<std::uint64_t>(std::max<ssize_t>(written, 0));
    // After a short write we continue piece by piece, so that a full disk gives its error.
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t of_piece = std::min<std::uint64_t>(done, pieces[i].size());
      done -= of_piece;
      if (of_piece < pieces[i].size()) write_pieces(file, offset + of_piece, pieces[i].subspan(of_piece));
      offset += pieces[i].size();
    }
    pieces = pieces.subspan(count);
  }
}

void preallocate(const File& file, std::uint64_t bytes) {
  permit("reserve space", Operation::preallocate, file.path(), bytes);
  const std::uint64_t now = size(file);
  if (bytes <= now) return;
  struct statfs system {};
  const bool in_memory = ::fstatfs(file.descriptor(), &system) == 0 && system.f_type == TMPFS_MAGIC;
  int result = -1;
  if (!in_memory) {
    do result = ::fallocate(file.descriptor(), 0, static_cast<off_t>(now), static_cast<off_t>(bytes - now));
    while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EOPNOTSUPP && errno != ENOSYS) throw failed("reserve space", errno, file.path());
  }
  if (result != 0 && ::ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0)
    throw failed("reserve space", errno, file.path());
}

void resize(const File& file, std::uint64_t bytes) {
  permit("resize", Operation::resize, file.path(), bytes);
  if (::ftruncate(file.descriptor(), static_cast<off_t>(bytes)) != 0) throw failed("resize", errno, file.path());
}

void sync(const File& file) {
  permit("sync", Operation::sync, file.path());
  // fdatasync() also writes the file's size, without which new bytes could not be read. It does not write the name: see
  // sync_name().
  if (::fdatasync(file.descriptor()) != 0) throw failed("sync", errno, file.path());
  syncs.fetch_add(1, std::memory_order_relaxed);
}

void sync_all(std::span<const fs::path> files) {
  if (files.empty()) return;
  for (const fs::path& path : files) permit("sync", Operation::sync, path);
  const File folder = open_directory(files[0].has_parent_path() ? files[0].parent_path() : fs::path("."));
  if (::syncfs(folder.descriptor()) != 0) throw failed("sync the file system", errno, folder.path());
  syncs.fetch_add(1, std::memory_order_relaxed);
}

std::optional<bool> flock_if_there_is(const File& file) {
  int error = announce(Operation::lock, file.path()).error;
  if (error == 0 && ::flock(file.descriptor(), LOCK_EX | LOCK_NB) != 0) error = errno;
  if (error == 0) return true;
  if (error == EWOULDBLOCK) return false;
  // EBADF: NFS does not lock files that are opened for reading only, so it locks no directory.
  if (error == ENOSYS || error == ENOTSUP || error == ENOLCK || error == EBADF || error == EINVAL) return {};
  throw failed("lock", error, file.path());
}

bool try_lock(const File& file) { return flock_if_there_is(file).value_or(true); }

File open_directory(const fs::path& directory) {
  permit("open the directory", Operation::open, directory);
  File handle(open_retrying(directory, O_RDONLY | O_DIRECTORY), directory);
  if (!handle.is_open()) throw failed("open the directory", errno, directory);
  return handle;
}

void sync_directory(const fs::path& directory) {
  permit("sync the directory", Operation::sync_directory, directory);
  const fs::path& name = directory.empty() ? fs::path(".") : directory;
  const File handle(open_retrying(name, O_RDONLY | O_DIRECTORY), name);
  if (!handle.is_open()) throw failed("open the directory", errno, name);
  // Some network file systems cannot sync a directory and return EINVAL. There is nothing more that we can do.
  if (::fsync(handle.descriptor()) != 0 && errno != EINVAL) throw failed("sync the directory", errno, name);
}

void rename(const fs::path& from, const fs::path& to) {
  if (const Verdict verdict = announce(Operation::rename, from, 0, 0, {}, to); verdict.error != 0)
    throw failed("rename to " + to.string(), verdict.error, from);
  if (::rename(from.c_str(), to.c_str()) != 0) throw failed("rename to " + to.string(), errno, from);
}

void rename_new(const fs::path& from, const fs::path& to) {
  if (const Verdict verdict = announce(Operation::rename, from, 0, 0, {}, to); verdict.error != 0)
    throw failed("rename to " + to.string(), verdict.error, from);
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return;
  if (errno == EEXIST) throw Error(Kind::usage, "exists already").at(to.string());
  if (errno != EINVAL && errno != ENOSYS) throw failed("rename to " + to.string(), errno, from);
  // The file system has no such call. Between the next two lines another process can still make the file.
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(to, ignored))) throw Error(Kind::usage, "exists already").at(to.string());
  if (::rename(from.c_str(), to.c_str()) != 0) throw failed("rename to " + to.string(), errno, from);
}

void remove(const fs::path& path) {
  permit("remove", Operation::remove, path);
  if (::unlink(path.c_str()) != 0) throw failed("remove", errno, path);
}

void remove_all(const fs::path& directory) noexcept try {
  permit("remove", Operation::remove, directory);
  std::error_code ignored;
  fs::remove_all(directory, ignored);
} catch (const std::exception&) {
}

void sync_all(const fs::path& path) {
  if (!fs::is_directory(path)) return sync(open_write(path));
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_directory()) sync_directory(entry.path());
    if (entry.is_regular_file()) sync(open_write(entry.path()));
  }
  sync_directory(path);
}

void sync_name(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw failed("look at the file", errno, path);
  const std::tuple<int, std::string, ino_t> name{imitated_process, path.string(), status.st_ino};
  {
    const std::scoped_lock lock(names_mutex);
    if (synced_names.contains(name)) return;
  }
  sync_directory(path.parent_path());
  const std::scoped_lock lock(names_mutex);
  if (synced_names.size() >= most_synced_names && imitated_process == 0) synced_names.clear();
  synced_names.insert(name);
}

namespace {

void make_missing(const fs::path& given, bool sync) {
  const fs::path path = given.has_filename() ? given : given.parent_path();
  if (path.empty() || path == path.root_path()) return;
  struct stat status {};
  const bool found = ::stat(path.c_str(), &status) == 0;
  if (found && !S_ISDIR(status.st_mode)) throw failed("make the directory", ENOTDIR, path);
  const fs::path above = path.has_parent_path() ? path.parent_path() : fs::path(".");
  // If this user cannot write to the parent, somebody else has made the directory, and we need not sync its name.
  if (found && (!sync || ::access(above.c_str(), R_OK | W_OK) != 0)) return;
  make_missing(path.parent_path(), sync);
  if (!found) {
    permit("make the directory", Operation::make_directory, path);
    if (::mkdir(path.c_str(), 0777) != 0 && errno != EEXIST) throw failed("make the directory", errno, path);
  }
  if (sync) sync_name(path);
}

}  // namespace

void make_directories(const fs::path& path) { make_missing(path, true); }
void make_unsynced_directories(const fs::path& path) { make_missing(path, false); }

void imitate_process(int number) { imitated_process = number; }
int imitated() { return imitated_process; }

bool is_observed() noexcept { return observed.load(std::memory_order_relaxed); }

void count_write(std::uint64_t bytes) noexcept {
  writes.fetch_add(1, std::memory_order_relaxed);
  bytes_written.fetch_add(bytes, std::memory_order_relaxed);
}

Counts counts() noexcept { return {writes.load(), bytes_written.load(), syncs.load()}; }

void set_observer(std::function<Verdict(const Event&)> new_observer) {
  const std::scoped_lock lock(observer_mutex);
  observer = std::move(new_observer);
  observed.store(static_cast<bool>(observer), std::memory_order_relaxed);
}

}  // namespace octavo::file
