#include "octavo/file/directory_lock.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::file {
namespace {

namespace fs = std::filesystem;

constexpr const char* lock_name = "writer.lock";
// Far below LockFile::seconds_until_stale, so that a slow call or two does not cost the lock.
constexpr double seconds_between_touches = 5;

double now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

// ------------------------------------------------------------------ who holds it

// Describes a process so that another process can tell whether it still runs. The system reuses process numbers, so we
// keep the start time beside the number. Both have a meaning only on one host and in one PID namespace.
struct LockHolder {
  std::string host, space;
  long process = 0;
  unsigned long long started = 0;
};

std::string process_space() {
  std::array<char, 64> text{};
  const auto length = ::readlink("/proc/self/ns/pid", text.data(), text.size());
  return length > 0 ? std::string(text.data(), static_cast<std::size_t>(length)) : "unknown";
}

// Returns the clock ticks from boot to the start of the process; nothing if there is no such process, or if it has
// ended and its parent has not waited for it yet. The state, the number of threads and the start are items 3, 20 and 22
// of the line, the 1st, 18th and 20th behind the name. The name stands in parentheses and may hold any bytes.
std::optional<unsigned long long> start_of(long process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return {};
  std::istringstream items(line.substr(std::min(line.size(), line.rfind(')') + 1)));
  std::array<std::string, 20> item;
  for (std::string& each : item) items >> each;
  const bool has_ended = item[0] == "X" || (item[0] == "Z" && std::strtol(item[17].c_str(), nullptr, 10) < 2);
  if (has_ended) return {};
  return std::strtoull(item[19].c_str(), nullptr, 10);
}

LockHolder this_process() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const long process = ::getpid();
  return {name.data(), process_space(), process, start_of(process).value_or(0)};
}

std::string to_text(const LockHolder& holder) {
  return "host " + holder.host + " space " + holder.space + " process " + std::to_string(holder.process) + " started " +
         std::to_string(holder.started) + "\n";
}

// Returns nothing if the process that made the file has not filled it yet.
std::optional<LockHolder> read_holder(const File& file) try {
  std::string text(1024, '\0');
  text.resize(pread_some(file, 0, std::as_writable_bytes(std::span(text))));
  std::istringstream in(text);
  std::string host, space, process, started;
  LockHolder holder;
  in >> host >> holder.host >> space >> holder.space >> process >> holder.process >> started >> holder.started;
  if (!in || host != "host" || started != "started") return {};
  return holder;
} catch (const base::Error&) {
  return {};
}

double age_of(const File& file) {
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) return 0;
  const double touched =
      static_cast<double>(status.st_mtim.tv_sec) + 1e-9 * static_cast<double>(status.st_mtim.tv_nsec);
  return std::max(0.0, now() - touched);
}

std::string describe(const std::optional<LockHolder>& holder, double age) {
  const std::string seen = ", last seen " + std::to_string(static_cast<long long>(age)) + " s ago";
  if (!holder) return "an unknown process" + seen;
  return "process " + std::to_string(holder->process) + " on " + holder->host + seen;
}

bool is_alive(const std::optional<LockHolder>& holder, double age) {
  const LockHolder mine = this_process();
  // Nothing can be asked about a process elsewhere. A live holder touches its file.
  if (!holder || holder->host != mine.host || holder->space != mine.space) return age < LockFile::seconds_until_stale;
  const auto started = start_of(holder->process);
  return started && *started == holder->started;
}

// ------------------------------------------------------------------ the file

bool is_same(const File& file, const fs::path& path) {
  struct stat a {
  }, b{};
  return ::fstat(file.descriptor(), &a) == 0 && ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev &&
         a.st_ino == b.st_ino;
}

// Several processes may find the same stale lock. They remove it under a lock of its own, so that none of them removes
// the lock that another one has made in the meantime. Returns who is at it, if another process is.
std::string take_away(const File& stale, const fs::path& path) {
  fs::path aside = path;
  aside += ".stale";
  const LockFile alone = make_lock_file(aside);
  std::error_code ignored;
  if (alone.is_open() && is_same(stale, path)) fs::remove(path, ignored);
  return alone.holder();
}

// On a full disk the file stays empty. It is still a lock, and it becomes stale with age.
void fill(const File& file) try {
  const std::string text = to_text(this_process());
  pwrite_all(file, 0, std::as_bytes(std::span(text)));
} catch (const base::Error&) {
}

}  // namespace

LockFile::LockFile(LockFile&& other) noexcept { *this = std::move(other); }
LockFile& LockFile::operator=(LockFile&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(holder_, other.holder_);
  std::swap(note_, other.note_);
  std::swap(touched_, other.touched_);
  return *this;
}

LockFile::~LockFile() {
  std::error_code ignored;
  // Another process may have taken over the lock; then the file is no longer ours.
  if (file_.is_open() && is_same(file_, file_.path())) fs::remove(file_.path(), ignored);
}

void LockFile::touch() noexcept {
  if (!file_.is_open() || now() - touched_ < seconds_between_touches) return;
  touched_ = now();
  ::futimens(file_.descriptor(), nullptr);
}

LockFile make_lock_file(const fs::path& path) {
  LockFile lock;
  // Others may be taking the same stale lock away. Each try looks anew who has it.
  for (int attempt = 0; attempt < 3; ++attempt) try {
      const int made = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (made < 0 && errno != EEXIST) break;
      if (made >= 0) {
        lock.file_ = File(made, path);
        fill(lock.file_);
        lock.note_ += "the file " + path.string() + " keeps a second writer away";
        lock.touched_ = now();
        return lock;
      }
      const File other = open_read(path);
      const auto holder = read_holder(other);
      const double age = age_of(other);
      if (is_alive(holder, age)) {
        lock.holder_ = describe(holder, age) + ", which has the lock " + path.string();
        return lock;
      }
      lock.holder_ = take_away(other, path);
      if (!lock.holder_.empty()) return lock;
      lock.note_ += "that of " + describe(holder, age) + ", was taken over; ";
    } catch (const base::Error&) {  // another process took it away
    }
  lock.note_ += "nothing keeps a second writer away";
  return lock;
}

DirectoryLock lock_directory(const fs::path& directory) {
  DirectoryLock lock;
  File handle = open_directory(directory);
  const std::optional<bool> locked = flock_if_there_is(handle);
  if (!locked) {
    lock.file_ = make_lock_file(directory / lock_name);
    lock.holder_ = lock.file_.holder();
    lock.note_ = "the file system of " + directory.string() + " refuses locks (flock): " + lock.file_.note();
  } else if (!*locked) {
    lock.holder_ = "another process";
  }
  if (lock.holder_.empty()) lock.directory_ = std::move(handle);
  return lock;
}

}  // namespace octavo::file
