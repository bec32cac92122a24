#pragma once
#include <array>
#include <filesystem>
#include <optional>
#include <string>

#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/targets/target.hpp"

namespace octavo::engine {

struct SeriesOptions {
  Mode mode = Mode::background;  ///< or sync
  bool sync = true;              ///< a step is on disk before the file's length says it is there
  int writers = 0;               ///< ranks that write; 0: one a host
  std::uint64_t alignment =
      4096;  ///< [bytes] no two writers touch the same unit of this size in the file; on Lustre, a stripe
  std::optional<double>
      resume{};  ///< go on after the last step whose time is not later than this; infinity: after the last step
  int ranks_per_node = 0;     ///< 0: the real nodes
  bool bound_thread = false;  ///< as of Options
};

/// One SERAFIN or MED file: all steps of a run on a distributed mesh of triangles. The bytes are the same whatever the
/// number of ranks and writers. The file must not exist, unless `resume` is given: it must then have this mesh and
/// these variables, and its title stays.
struct SeriesTarget {
  std::filesystem::path path;
  /// Byte order, precision, title, variables, IPARAM(3), IPARAM(4), date; sizes are filled in from the mesh. MED fields
  /// are float32 (MED 4.1) or float64 (MED 3.3), according to the precision; the rest of the header becomes what
  /// `octavo convert` makes of it.
  formats::serafin::SerafinHeader header;
  SeriesMesh mesh;
  SeriesOptions options{};
  /// formats::serafin::row or formats::med::row; null: MED if the path ends in ".med".
  const formats::Format* format = nullptr;
  operator FileTarget() const;
};
/// A file's title: 72 characters, and the tag of its precision.
std::array<char, 80> series_title(const std::string& text, std::size_t real_bytes);

}  // namespace octavo::engine
