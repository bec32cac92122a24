#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::step {

/// The suffix of a file's name until the file is whole, ".<process>-<count>.partial". It differs each time, so that two
/// jobs that make the same file do not write to the same partial file.
std::string partial_suffix();

/// The right to write one output: while this object lives, no other job of this or another process gets it. It is a
/// lock on the hidden file .NAME.lock beside the output; the system releases it when the process dies. If the file
/// system refuses locks, the file .NAME.writer takes its place (file::LockFile).
class Claim {
 public:
  /// Makes the output's folder. Throws Error(usage) if another job writes this output.
  explicit Claim(const std::filesystem::path& out);
  ~Claim();
  Claim(Claim&&) noexcept;
  Claim& operator=(Claim&&) = delete;

 private:
  struct Touched;
  file::File lock_;
  std::unique_ptr<Touched> file_;
};

/// A file that gets its name only once it is whole. Until finish() it is NAME.partial; the destructor removes that if
/// finish() was never called. A NAME.partial of a killed job is replaced.
class NewFile {
 public:
  /// Throws Error(usage) if the name is taken and `overwrite` is not set, for what require_replaceable() keeps from a
  /// file of this kind, or if another job writes the file.
  NewFile(std::filesystem::path path, bool overwrite, std::string_view kind = {});
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  /// The file's path until finish(), for libraries that open files themselves.
  const std::filesystem::path& partial() const { return partial_; }
  void put(std::uint64_t offset, std::span<const std::byte> bytes) { file::pwrite_all(file_, offset, bytes); }
  /// Syncs, closes and renames.
  void finish();

 private:
  std::filesystem::path path_, partial_;
  bool overwrite_;
  Claim claim_;
  file::File file_;
};

/// Files that get their names together once all are whole. Until publish() each is called NAME plus one common suffix.
/// The destructor removes the files that this process made if publish() was never called.
class NewFiles {
 public:
  explicit NewFiles(std::string suffix = partial_suffix()) : suffix_(std::move(suffix)) {}
  ~NewFiles();
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;

  /// A file's path until publish(); it is the same on every process.
  std::filesystem::path partial(const std::filesystem::path& path) const { return path.string() + suffix_; }
  /// Makes a file. `last`: the file is an index, which gets its name after all other files.
  file::File make(const std::filesystem::path& path, bool last = false);
  /// Removes existing files of these names, then renames. So the names never belong to files of two jobs, and an index
  /// never exists without the files it lists. Collective.
  void publish(const base::Ranks& ranks = {});

 private:
  std::string suffix_;
  std::vector<std::filesystem::path> made_, made_last_;
};

}  // namespace octavo::step
