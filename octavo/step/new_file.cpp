#include "octavo/step/new_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/file/directory_lock.hpp"
#include "octavo/file/whole.hpp"
#include "octavo/step/replaceable.hpp"

namespace octavo::step {

namespace fs = std::filesystem;

namespace {

void remove_silently(const std::filesystem::path& path) {
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

file::File empty_file(const std::filesystem::path& path) {
  file::File file = file::open_write(path);
  file::resize(file, 0);
  return file;
}

base::Error is_being_written(const fs::path& out) {
  return base::Error(base::Kind::usage, "another process is writing this output").at(out.string());
}

}  // namespace

std::string partial_suffix() {
  static std::atomic<int> count{0};
  return "." + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".partial";
}

// Shows other hosts that the job is alive, however long it takes.
struct Claim::Touched {
  file::LockFile file;
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::jthread thread{[this](const std::stop_token& stop) {
    std::unique_lock lock(mutex);
    while (!stopped.wait_for(lock, stop, std::chrono::seconds(10), [&] { return stop.stop_requested(); })) file.touch();
  }};
  explicit Touched(file::LockFile made) : file(std::move(made)) {}
};

Claim::Claim(Claim&&) noexcept = default;

Claim::Claim(const fs::path& out) {
  const fs::path absolute = fs::absolute(out), folder = absolute.parent_path();
  file::make_directories(folder);
  const std::string hidden = "." + absolute.filename().string();
  const fs::path name = folder / (hidden + ".lock");
  for (;;) {
    file::File lock = file::open_write(name);
    const std::optional<bool> locked = file::flock_if_there_is(lock);
    if (!locked) {
      remove_silently(name);
      file::LockFile made = file::make_lock_file(folder / (hidden + ".writer"));
      if (!made.holder().empty()) throw is_being_written(out).hint("it is " + made.holder());
      file_ = std::make_unique<Touched>(std::move(made));
      return;
    }
    if (!*locked) throw is_being_written(out);
    // The job before may have removed the lock file after we opened it. A lock on a removed file keeps nobody out.
    struct stat ours {
    }, there{};
    if (::fstat(lock.descriptor(), &ours) == 0 && ::stat(name.c_str(), &there) == 0 && ours.st_ino == there.st_ino &&
        ours.st_dev == there.st_dev) {
      lock_ = std::move(lock);
      return;
    }
  }
}

Claim::~Claim() {
  if (lock_.is_open()) remove_silently(lock_.path());
}

NewFile::NewFile(fs::path path, bool overwrite, std::string_view kind)
    : path_(std::move(path)), partial_(path_.string() + ".partial"), overwrite_(overwrite), claim_(path_) {
  if (!overwrite && fs::exists(path_))
    throw base::Error(base::Kind::usage, path_.string() + " exists already").hint("-f replaces it");
  if (overwrite) require_replaceable(path_, kind);
  file_ = empty_file(partial_);
}

NewFile::~NewFile() {
  if (!file_.is_open()) return;
  remove_silently(partial_);
}

void NewFile::finish() {
  // A library that wrote the file may have replaced it by a new one.
  file_ = file::open_write(partial_);
  // First the bytes, then the name, then the folder: after a power cut the name stands for a whole file or is not
  // there.
  file::sync(file_);
  file_.close();
  overwrite_ ? file::rename(partial_, path_) : file::rename_new(partial_, path_);
  file::sync_directory(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

NewFiles::~NewFiles() {
  for (const auto* made : {&made_, &made_last_})
    for (const std::filesystem::path& path : *made) remove_silently(partial(path));
}

file::File NewFiles::make(const std::filesystem::path& path, bool last) {
  (last ? made_last_ : made_).push_back(path);
  return empty_file(partial(path));
}

// As finish() does for one file: first the bytes of all, then the names, then the folder.
void NewFiles::publish(const base::Ranks& ranks) {
  std::vector<std::filesystem::path> written;
  for (const auto* made : {&made_, &made_last_})
    for (const std::filesystem::path& path : *made) written.push_back(partial(path));
  base::agree(ranks, [&] { file::sync_all(written); });
  base::agree(ranks, [&] {
    // An index goes first and comes last: one that a reader finds belongs to the pieces that are there.
    for (const auto* made : {&made_last_, &made_})
      for (const std::filesystem::path& path : *made)
        if (std::filesystem::exists(path)) file::remove(path);
  });
  for (auto* made : {&made_, &made_last_}) {
    base::agree(ranks, [&] {
      for (const std::filesystem::path& path : *made) file::rename(partial(path), path);
    });
    made->clear();
  }
  base::agree(ranks, [&] {
    if (!written.empty()) file::sync_directory(written[0].parent_path());
  });
}

}  // namespace octavo::step
