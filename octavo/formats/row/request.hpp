#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/tree/regrid.hpp"

/// The request and the report of writing, for all formats.
namespace octavo::formats {

/// Values of options that one format alone has, by name (Format::options).
using OwnOptions = std::map<std::string, mesh::Attribute>;
/// Such an option, for those who ask which there are.
struct OptionInfo {
  std::string_view name, type, help;     ///< type: "number", "text", "numbers"
  std::vector<std::string_view> values;  ///< of a text: the only ones; none: any
};

/// A request to write one step or one series.
struct WriteRequest {
  std::string to;      ///< name of the format
  OwnOptions own{};    ///< the format's own options
  std::string kind{};  ///< which of the format's outputs, "checkpoint" or "plotfile"; empty: that of the step if it is
                       ///< of the same code, else the one that the format's page names first
  std::optional<std::vector<std::string>> fields;  ///< nothing: all
  std::map<std::string, std::string> rename;       ///< fields of the step, and their names in the output
  bool particles = true;
  bool single_precision = false;  ///< reals of 4 bytes, where the format has them
  std::int64_t block = 0;  ///< cells of a block along each axis, where the output has blocks; 0: the step's, else as
                           ///< the format chooses
  bool fill = false;       ///< values that the step does not hold may be interpolated
  mesh::FillBy fill_by = mesh::FillBy::linear;  ///< how
  std::vector<std::string> per_mass{};  ///< more fields that are amounts per mass, beside those of mesh::specific_of
  int refine = 0;                       ///< the finest leaves are refined this many times
  std::optional<std::array<bool, 3>> periodic;  ///< which axes are periodic; nothing: as the step says
  bool lossy_ok = false;                        ///< a code may go on from a step that was stored with a loss
  /// Boundary file (.cli) of a mesh of triangles: its codes become groups of edges, where the format has groups.
  std::optional<std::filesystem::path> boundary{};
  bool overwrite = false;  ///< an existing output is replaced, once the new one is complete
  int threads = 0;         ///< 0: all cores
  base::Ranks ranks{};     ///< the ranks that share the work
  base::Progress progress{};
  std::int64_t part_cells = std::int64_t{1} << 20;  ///< most cells of a new part

  // Set by step::write().
  mesh::Header source{};        ///< the step's, before it got the format's names and mesh
  bool same_words = false;      ///< the step has the format's names already
  std::filesystem::path out{};  ///< the output's final name
  std::int64_t step = 1;        ///< the step's number
  int shift = 0;                ///< level index of the source that the new mesh begins at
};

struct WriteReport {
  std::int64_t means = 0;      ///< cells whose value is the mean of finer ones
  std::int64_t fills = 0;      ///< cells whose value comes from a coarser one
  std::int64_t particles = 0;  ///< only the first rank's report has it
  std::int64_t steps = 1;
  std::int64_t points = 0, elements = 0;  ///< of a mesh of triangles, over all planes
  std::int64_t groups = 0;                ///< of edges
  std::int64_t bytes = 0;                 ///< on disk
  std::vector<std::string> notes;
};

/// The mesh that a format takes a step on.
struct WantedMesh {
  std::vector<mesh::Index3>
      blocks{};  ///< candidates: the first that needs no new values is taken; none: the step's mesh
  int root = 0;  ///< as mesh::RegridOptions, and so is `balance`
  mesh::Balance balance = mesh::Balance::none;
  bool one_part = false;              ///< the writer needs all of it at once
  bool forget_levels = false;         ///< attributes on levels and boxes don't hold on another mesh
  bool forget_layout = false;         ///< nor do those on boxes and blocks
  std::optional<mesh::Index3> own{};  ///< `forget_layout`: but these attributes are of a mesh with these blocks
  std::optional<int> level_origin{};  ///< the format's number of the first level
  bool carry = false;                 ///< the output needs what a code takes to go on (mesh::Dataset::carry)
};

}  // namespace octavo::formats
