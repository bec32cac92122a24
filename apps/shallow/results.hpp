#pragma once
#include <mpi.h>

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/shallow/solver.hpp"
#include "octavo/formats/serafin/series.hpp"

/// Where results go. All ways but `pieces` make the same file.
namespace octavo::shallow {

enum class Io : std::uint8_t {
  off,
  sync,              ///< one SERAFIN file through Octavo, written in the call
  background,        ///< the same behind the solver's back
  pieces,            ///< a SERAFIN file a rank: merged afterwards (octavo merge)
  view,              ///< one file through MPI-IO: a file view, and a collective write a step
  view_nonblocking,  ///< the same with MPI_File_iwrite_at_all, waited for at the next step
};
/// Throws Error(usage) for an unknown name; names those there are.
Io io_named(std::string_view name);

/// Values of every local point, in the order of result_variables().
using Fields = std::array<std::vector<double>, 5>;
std::vector<formats::serafin::Variable> result_variables();
/// VELOCITY U, VELOCITY V, WATER DEPTH, FREE SURFACE, BOTTOM.
Fields fields_of(const Simulation& simulation);

/// A result that is open; every function is collective.
struct Results {
  std::function<void(double time, const Fields&)> write = [](double, const Fields&) {};
  std::function<void()> wait = [] {};  ///< all steps so far are in the file
  std::function<void()> close = [] {};
};

/// Collective. `mesh` must outlive the value. Triangles, coordinates and IPOBO are those of the file `geometry`.
/// `resume`: steps later than that time [s] are dropped, and the file continued (not with `view` and `pieces`:
/// Error(unsupported)). An existing file is replaced otherwise: ask check_result() first.
Results open_results(MPI_Comm comm, Io io, const std::filesystem::path& path, const Mesh& mesh,
                     const std::filesystem::path& geometry, std::optional<double> resume);

/// Collective, of a run that does not go on. Throws Error(usage) on all ranks where the result, or a piece of it, would
/// replace the mesh or pieces (`piece_prefix`, empty for none) that the run reads, or, without `force`, any file.
void check_result(MPI_Comm comm, Io io, const std::filesystem::path& path, const std::filesystem::path& geometry,
                  const std::string& piece_prefix, bool force);

/// The header of a file on this geometry: its sizes, origin and date, other variables and precision; big-endian.
formats::serafin::SerafinHeader header_on(const formats::serafin::SerafinSeries& geometry, const std::string& title,
                                          std::vector<formats::serafin::Variable> variables, std::size_t real_bytes);

/// One way of writing results; open_results() chooses it.
Results open_pieces(MPI_Comm comm, const std::filesystem::path& path, const Mesh& mesh,
                    const formats::serafin::SerafinHeader& whole);
Results open_view(MPI_Comm comm, bool nonblocking, const std::filesystem::path& path, const Mesh& mesh,
                  const formats::serafin::SerafinSeries& geometry, const formats::serafin::SerafinHeader& header);

}  // namespace octavo::shallow
