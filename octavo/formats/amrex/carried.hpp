#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/formats/amrex/layout.hpp"
#include "octavo/formats/amrex/output.hpp"

/// What a checkpoint has beside the fields and particles that a step has, and what a copy of it needs to be one that
/// its code restarts from. It travels as attributes of the step's header:
///
/// - from the headers: "amrex/form" ("AmrCore": a Header of the widespread form, which can be made anew; "AmrLevel", or
///   "own": one that only its code knows), "amrex/species", and of each "amrex/next_id/NAME" and "amrex/version/NAME";
///   "amrex/ghosts" where MultiFabs have ghost cells, "amrex/others": MultiFabs that are no fields;
/// - from the files, asked for only where a copy is made: "amrex/header", the text; "amrex/file/NAME", every other
/// file;
///   "amrex/ghosts/Level_0/NAME", widths and values of ghost cells; or "amrex/not kept", why they are not there.
namespace octavo::formats::amrex {

/// The first kind.
void keep_form(const Output& output, mesh::Header& header);
/// The second kind. Error(corrupt) where ghost cells cannot be read.
void keep_files(const Output& output, mesh::Header& header);

/// Cells around the boxes of one MultiFab of a level, and their values: box after box, of each component after
/// component, x fastest, those of the box itself left out. No values where it has none.
struct GhostCells {
  mesh::Index3 width{0, 0, 0};
  std::vector<double> values;
};
GhostCells ghost_cells(const mesh::Header& header, std::size_t level, const std::string& multifab);

/// How the Header of a copy is made.
enum class HeaderForm : std::uint8_t {
  anew,      ///< in AmrCore's form
  as_it_was  ///< "amrex/header"
};
/// Of a checkpoint of this step in these boxes. What is no checkpoint of AMReX becomes one in AmrCore's form; one of
/// which everything is there stays as it was. Error(unsupported) where its code would not go on from what can be
/// written: its Header is its own, or has ghost cells or MultiFabs beside the fields, and boxes, fields or species are
/// others, or something else is asked to be (`other`, in words; empty: nothing).
HeaderForm header_form(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species, const Layout& layout,
                       const std::string& other);

/// Writes the files of "amrex/file/NAME" below a folder.
void write_kept_files(const std::filesystem::path& folder, const mesh::Header& header, bool sync);

}  // namespace octavo::formats::amrex
