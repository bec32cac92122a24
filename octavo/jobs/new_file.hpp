#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "octavo/file/posix.hpp"

namespace octavo::jobs {

/// A file that bears its name only once it is whole: until finish() it is NAME.partial, and is gone if that is never
/// called.
class NewFile {
 public:
  /// Throws Error(usage) where the name is taken and `overwrite` is not set.
  NewFile(std::filesystem::path path, bool overwrite);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// Where it is until then, for libraries that open files themselves.
  const std::filesystem::path& partial() const { return partial_; }
  void put(std::uint64_t offset, std::span<const std::byte> bytes) { file::pwrite_all(file_, offset, bytes); }
  /// Syncs, closes and renames.
  void finish();

 private:
  std::filesystem::path path_, partial_;
  file::File file_;
};

}  // namespace octavo::jobs
