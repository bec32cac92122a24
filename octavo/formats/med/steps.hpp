#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace octavo::formats::med {

/// Adds steps to a MED file, whose values others write: the file never shows a step that is not whole, and nothing that
/// it shows is changed (octavo/file/hdf5/hdf5_growing.hpp). The result is what libmedC would make: steps
/// numbered from 0, a value a point. For one process and thread; libmedC is called only to open the file.
class Steps {
 public:
  /// A file of one mesh whose fields are there, with or without steps. Values begin at multiples of `alignment` where
  /// they are larger than four of it. Throws as med::open() does, and Error(unsupported) without HDF5.
  Steps(const std::filesystem::path& path, std::uint64_t alignment);
  ~Steps();
  Steps(const Steps&) = delete;
  Steps& operator=(const Steps&) = delete;

  /// The times of the steps in the file.
  const std::vector<double>& times() const;
  /// Room for a step: where each variable's values stand in the file, in the order of variables; in the machine's byte
  /// order and the file's precision.
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
