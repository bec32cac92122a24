#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <variant>

#include "octavo/engine/options.hpp"
#include "octavo/mesh/dataset.hpp"

/// The targets of a Writer (docs/writer.md). The targets beside this file, a header each, become a FileTarget: a new
/// one needs no change here, nor in the writer.
namespace octavo::formats {
struct Format;
}

namespace octavo::engine {

struct TargetRow;

/// How a target identifies its steps, and which begin_step() it has.
enum class StepsBy : std::uint8_t { flow, path, time };

/// A store: many steps of two flows in one directory.
struct StoreTarget {
  std::filesystem::path path;
  Options options{};
  /// The checkpoint that a restarted run continues. Steps with larger numbers that another run wrote after it are
  /// superseded.
  std::optional<store::StepId> resumed_from{};
};

/// Files of a format, which `open` knows how to write.
struct FileTarget {
  const formats::Format* format = nullptr;
  StepsBy steps_by = StepsBy::path;
  Options options{};  ///< those that the target has, for the writer itself
  /// Collective. The writer's functions (target_row.hpp), once the target is open.
  std::function<TargetRow(MPI_Comm, const mesh::Header&)> open{};
};

using Target = std::variant<StoreTarget, FileTarget>;

/// How the target's steps are begun.
inline StepsBy steps_by(const Target& target) {
  const auto* files = std::get_if<FileTarget>(&target);
  return files == nullptr ? StepsBy::flow : files->steps_by;
}

/// Options of targets whose steps are files or directories of their own.
struct OutputOptions {
  Mode mode = Mode::background;  ///< or sync
  bool sync = true;              ///< a step is on disk before it gets its final name
  bool checksums = true;         ///< of each array, while it is copied; compared before it is written
  bool bound_thread = false;     ///< as of Options
  std::int64_t staging_bytes = Options().staging_bytes;  ///< memory for the copy of a step; end_step() itself writes a
                                                         ///< step that does not fit
};

}  // namespace octavo::engine
