#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/words.hpp"

/// AMReX's row in the table of formats: its words, what fits into its outputs, the mesh that they hold.
namespace octavo::formats::amrex {

struct Options {
  std::int64_t max_box = 0;          ///< cells of a box along each axis, at most; 0: the step's boxes, else 64
  std::int64_t blocking_factor = 0;  ///< boxes begin and end at multiples [cells]; 0: likewise, else the largest of 8,
                                     ///< 4, 2, 1 that fits
  std::string multifab{};            ///< checkpoint: the MultiFab of all fields of cells; empty: those that the step
                                     ///< came in, else "state"
  std::vector<double> level_dt{};    ///< checkpoint: time step of each level, or one of all; empty: the step's
  std::int64_t batch_cells = std::int64_t{1} << 22;  ///< of the boxes in memory at once
};

extern const Words words;

/// Why a field cannot be in an output of the kind that is asked for; empty if it can. Throws Error(usage) for a kind
/// that is not AMReX's, and for options of another kind.
std::string misfit(const mesh::FieldInfo& field, const SharedRequest& request, const Options& options);
/// The step's own mesh, but with `fill` blocks are completed where the blocking factor does not fit the cells.
WantedMesh wanted_mesh(const mesh::Dataset& step, const SharedRequest& request, const Options& options);
/// As write_dataset(). A step that came from AMReX keeps its boxes unless the caller asks for others.
void write(const mesh::Dataset& step, const std::filesystem::path& path, const SharedRequest& request,
           const Options& options, WriteReport& report);
/// Removes the attribute that lists boxes.
void forget_layout(mesh::Header& header);
/// Whether a code goes on from such an output.
bool goes_on(const SharedRequest& request);

}  // namespace octavo::formats::amrex
