#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/formats/amrex/layout.hpp"
#include "octavo/formats/amrex/output.hpp"

/// An AMReX checkpoint holds more than the fields and particles of a step, and its code needs all of it to restart from
/// a copy. Octavo carries the rest as attributes of the step's header:
///
/// - from the headers: "amrex/form" ("AmrCore": the common form of Header, which can be made anew; "AmrLevel", "own":
///   forms that only the code knows), "amrex/species", "amrex/next_id/NAME" and "amrex/version/NAME" for each species,
///   "amrex/ghosts" if MultiFabs have ghost cells, "amrex/others" (MultiFabs that are not fields);
/// - from the files, read only when a copy is made: "amrex/header", the text of the Header; "amrex/file/NAME", each of
///   the other files; "amrex/ghosts/Level_0/NAME", widths and values of ghost cells. If these are left out,
///   "amrex/not kept" says why.
namespace octavo::formats::amrex {

/// Adds the attributes of the first kind.
void keep_form(const AmrexOutput& output, mesh::Header& header);
/// Adds the attributes of the second kind. Throws Error(corrupt) if ghost cells cannot be read.
void keep_files(const AmrexOutput& output, mesh::Header& header);

/// The ghost cells around the boxes of one MultiFab of a level. Values: box after box, in each box component after
/// component, x fastest, without the box's own cells. Empty if the MultiFab has no ghost cells.
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
/// Chooses the form of the Header for a checkpoint of this step in these boxes. A step that was no AMReX checkpoint
/// gets AmrCore's form. A checkpoint keeps its Header if its boxes, fields and species are the same and nothing else is
/// to change (`other` names such a change; empty: none). Otherwise the Header is made anew. Throws Error(unsupported)
/// if its code could not restart from that: only the code knows the form, or there are ghost cells or other MultiFabs.
HeaderForm header_form(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species,
                       const BoxLayout& layout, const std::string& other);

/// Writes the files that "amrex/file/NAME" keeps into a folder.
void write_kept_files(const std::filesystem::path& folder, const mesh::Header& header, bool sync);

}  // namespace octavo::formats::amrex
