#pragma once
#include <mpi.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/engine/options.hpp"
#include "octavo/engine/points/series_mesh.hpp"
#include "octavo/engine/points/series_plan.hpp"
#include "octavo/engine/statistics.hpp"
#include "octavo/engine/step/array_view.hpp"

namespace octavo::engine {

struct SeriesOptions {
  Mode mode = Mode::background;    ///< or sync
  bool sync = true;                ///< a step is on disk before the file's length says it is there
  int writers = 0;                 ///< ranks that write; 0: one a host
  std::uint64_t alignment = 4096;  ///< [bytes] no two writers touch one such unit of the file; a stripe, on Lustre
  std::optional<double> resume{};  ///< goes on behind the last step whose time is no later; infinity: behind the last
  int ranks_per_node = 0;          ///< 0: as many as there are
  bool bound_thread = false;       ///< as of Options
};

/// A file's title: 72 characters, and the tag of its precision.
std::array<char, 80> series_title(const std::string& text, std::size_t real_bytes);

/// Writes the steps of a run on a distributed unstructured mesh straight into one SERAFIN file, or into one MED file
/// where its name ends in ".med": the same bytes whatever the number of ranks and writers.
///
///     formats::serafin::Header header;                    // title, variables, precision, date
///     header.variables = {variable("VELOCITY U", "M/S"), variable("WATER DEPTH", "M")};
///     SeriesWriter writer(MPI_COMM_WORLD, "r2d.slf", header, {.piece = mesh});
///     writer.begin_step(time);
///     writer.put_field("VELOCITY U", view_of(u));        // copied: the array may change right away
///     writer.put_field("WATER DEPTH", view_of(h));
///     writer.end_step();                                 // collective
///     ...
///     writer.close();                                    // collective; all steps are there, or this throws
///
/// Each writer owns one contiguous range of every variable; values reach it by an exchange that is planned once, in
/// end_step(). A value that several ranks hold is the lowest one's. Then a thread writes, which makes no MPI call. One
/// step is in flight: end_step() first waits for the one before.
///
/// The file never shows a step that is not whole: its length reaches past a step's last record in the next collective
/// call after all ranks have written it (end_step, finished, wait, close). A file cut short in between has a tail that
/// readers pass over, and that resuming cuts off. Of MED, HDF5 and libmedC are rank 0's alone, in collective calls, and
/// it shows a step then by one write of less than 100 bytes (octavo/file/hdf5/hdf5_growing.hpp); fields are float32
/// (MED 4.1) or float64 (MED 3.3) as the header's precision says, and the rest of the header is what `octavo convert`
/// makes of it.
///
/// Errors are collective as Writer's are; a step that failed is not in the file, the next takes its place.
class SeriesWriter {
 public:
  /// Collective. `header`: order, precision, title, variables, IPARAM(3), IPARAM(4), date; its sizes are found. The
  /// file must not exist, unless `resume` is given: it must then have this mesh and these variables, and its title
  /// stays.
  SeriesWriter(MPI_Comm comm, const std::filesystem::path& path, const formats::serafin::Header& header,
               const SeriesMesh& mesh, const SeriesOptions& options = {});
  ~SeriesWriter();  ///< without close(): waits for this rank's own work; the step in flight is not in the file
  SeriesWriter(SeriesWriter&&) noexcept;
  SeriesWriter& operator=(SeriesWriter&&) noexcept;

  void begin_step(double time);
  /// One value a point of this rank's piece, plane after plane; float64 or float32, converted to the file's precision.
  void put_field(const std::string& variable, const ArrayView& view);
  /// Reports an error that the caller has found in the step. end_step() throws it on all ranks.
  void put_error(const base::Error& error);
  /// Reports that the caller failed to begin the step. end_step() throws this error on all ranks, unless begin_step()
  /// succeeds before.
  void begin_error(const base::Error& error);
  /// Collective. Throws Error(usage) if a variable was not put. If the step before failed, throws its error on all
  /// ranks and does not write this step (Writer would); it may be put again.
  void end_step();
  /// Collective. Returns whether all steps are finished; does not wait.
  bool finished();
  /// Collective. Waits until all steps are in the file.
  void wait();
  /// As wait(). Throws Error(usage) if a step was begun and not ended, and the error of a put that no end_step() threw.
  void close();

  std::int64_t steps() const;  ///< whole ones in the file, those found when resuming too
  const SeriesPlan& plan() const;
  /// Of this rank.
  Statistics statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::engine
