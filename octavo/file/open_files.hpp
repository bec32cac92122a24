#pragma once
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <vector>

#include "octavo/file/posix.hpp"

namespace octavo::file {

/// Files that stay open for reading: those that were asked for last. Any thread may ask.
class OpenFiles {
 public:
  explicit OpenFiles(std::size_t most) : most_(most) {}
  /// The file, opened unless it is. It is open at least as long as the returned pointer lives.
  std::shared_ptr<const File> get(const std::filesystem::path& path) {
    const std::lock_guard lock(mutex_);
    auto found = std::find_if(files_.begin(), files_.end(), [&](const auto& file) { return file->path() == path; });
    if (found == files_.end()) {
      auto opened = std::make_shared<const File>(open_read(path));
      if (files_.size() == most_) files_.pop_back();
      found = files_.insert(files_.end(), std::move(opened));
    }
    std::rotate(files_.begin(), found, found + 1);
    return files_.front();
  }

 private:
  std::size_t most_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<const File>> files_;  // the last one that was asked for first
};

}  // namespace octavo::file
