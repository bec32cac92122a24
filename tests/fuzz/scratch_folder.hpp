#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

/// For fuzzers that need real files: a folder of this process's own, in memory where there is such a file system. It is
/// removed at the end.
struct ScratchFolder {
  std::filesystem::path path;
  explicit ScratchFolder(const std::string& name) {
    const std::filesystem::path memory = "/dev/shm";
    path = (std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path()) /
           ("octavo-fuzz-" + name + "-" + std::to_string(::getpid()));
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  /// Leaves it there and empty.
  void clear() const {
    std::filesystem::remove_all(path);
    std::filesystem::create_directories(path);
  }
};
