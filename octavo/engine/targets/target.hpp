#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "octavo/engine/options.hpp"
#include "octavo/engine/points/series_mesh.hpp"

/// The targets of a Writer, as plain data (docs/writer.md).
namespace octavo::engine {

/// A store: many steps of two flows in one directory.
struct StoreTarget {
  std::filesystem::path path;
  Options options{};
  /// The checkpoint that a restarted run continues. Steps with larger numbers that another run wrote after it are
  /// superseded.
  std::optional<store::StepId> resumed_from{};
};

/// Options of FLASH and AMReX outputs. Each step is a file or a directory of its own.
struct OutputOptions {
  Mode mode = Mode::background;  ///< or sync
  bool sync = true;              ///< a step is on disk before it gets its final name
  bool checksums = true;         ///< of each array, while it is copied; compared before it is written
  bool bound_thread = false;     ///< as of Options
  std::int64_t staging_bytes = Options().staging_bytes;  ///< memory for the copy of a step; end_step() itself writes a
                                                         ///< step that does not fit
};

/// FLASH files: HDF5 files of blocks, or of patches cut into the header's blocks. Rank 0 holds some 400 bytes a
/// block of all ranks.
struct FlashTarget {
  OutputOptions options{};
  bool collect = false;  ///< rank 0 writes all with HDF5 in end_step(), asking one rank after another
  bool replace = false;  ///< a file of the step's name stays until the step is complete, and is then replaced
  std::map<std::string, std::string> names{};  ///< from field names to FLASH's names, see flash::WriteOptions
};

enum class AmrexKind : std::uint8_t { plotfile, checkpoint };

/// AMReX outputs: directories of patches, or of a tree whose cells or blocks are merged into boxes. Every rank holds
/// some 200 bytes a box of all ranks.
struct AmrexTarget {
  AmrexKind kind = AmrexKind::plotfile;
  OutputOptions options{};
  int files = 0;                                      ///< data files a level; 0: one for each GiB
  std::int64_t max_box = 64;                          ///< from a tree: longest side of a box [cells]
  std::string title = "Checkpoint file for AmrCore";  ///< checkpoint: first line of its Header
  std::string multifab = "phi";                       ///< checkpoint: name of the MultiFab of all fields
};

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

/// One SERAFIN file, or one MED file where the name ends in ".med": all steps of a run on a distributed mesh of
/// triangles. The bytes are the same whatever the number of ranks and writers. The file must not exist, unless `resume`
/// is given: it must then have this mesh and these variables, and its title stays.
struct SeriesTarget {
  std::filesystem::path path;
  /// Byte order, precision, title, variables, IPARAM(3), IPARAM(4), date; sizes are filled in from the mesh. MED fields
  /// are float32 (MED 4.1) or float64 (MED 3.3), according to the precision; the rest of the header becomes what
  /// `octavo convert` makes of it.
  formats::serafin::Header header;
  SeriesMesh mesh;
  SeriesOptions options{};
};
/// A file's title: 72 characters, and the tag of its precision.
std::array<char, 80> series_title(const std::string& text, std::size_t real_bytes);

using Target = std::variant<StoreTarget, FlashTarget, AmrexTarget, SeriesTarget>;

}  // namespace octavo::engine
