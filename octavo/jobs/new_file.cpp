#include "octavo/jobs/new_file.hpp"

#include <unistd.h>

#include <atomic>

#include "octavo/base/error.hpp"

namespace octavo::jobs {
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

}  // namespace

std::string partial_suffix() {
  static std::atomic<int> count{0};
  return "." + std::to_string(::getpid()) + "-" + std::to_string(++count) + ".partial";
}

NewFile::NewFile(std::filesystem::path path, bool overwrite) : path_(std::move(path)) {
  if (!overwrite && std::filesystem::exists(path_))
    throw base::Error(base::Kind::usage, path_.string() + " exists already").hint("-f replaces it");
  partial_ = path_.string() + partial_suffix();
  file_ = empty_file(partial_);
}

NewFile::~NewFile() {
  if (!file_.is_open()) return;
  remove_silently(partial_);
}

void NewFile::finish() {
  // Whoever wrote it may have made it anew.
  file_ = file::open_write(partial_);
  file::sync(file_);
  file_.close();
  file::rename(partial_, path_);
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

void NewFiles::publish(const base::Ranks& ranks) {
  base::agree(ranks, [&] {
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
}

}  // namespace octavo::jobs
