#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace octavo::formats::med {

/// Adds steps to a MED file; others write their values. The file never shows a step that is not whole, and data that it
/// shows never change (octavo/file/hdf5/hdf5_growing.hpp). The result is the file that libmedC would make: steps
/// numbered from 0, one value per point. For one process and thread; libmedC only opens the file.
class Steps {
 public:
  /// Opens a file of one mesh that has its fields, with or without steps. Values larger than four times `alignment`
  /// begin at a multiple of it. Throws as med::open() does, and Error(unsupported) without HDF5.
  Steps(const std::filesystem::path& path, std::uint64_t alignment);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// The times of the steps in the file.
  const std::vector<double>& times() const;
  /// Makes room for a step. Returns the position of each variable's values in the file, in the order of variables.
  /// Values have the machine's byte order and the file's precision.
  std::vector<std::uint64_t> add(double time);
  /// Drops all steps but the first `count`.
  void keep(std::int64_t count);
  /// Makes the changes since the last commit visible. If that fails (a full disk), they are forgotten. With `sync` they
  /// are on disk afterwards.
  void commit(bool sync);
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::formats::med
