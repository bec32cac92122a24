#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/formats/amrex/particles.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/mesh/patches/box_index.hpp"

namespace octavo::formats::amrex {

enum class OutputFamily : std::uint8_t {
  plotfile,     ///< header of the generic writers
  amr_level,    ///< checkpoint of a code on Amr/AmrLevel: "CheckPointVersion_1.0"
  hand_written  ///< checkpoint of a code on AmrCore: its header is its own
};

/// Which component of which MultiFab of a level a field is; of faces and nodes, on which side of a cell (mesh::Side).
struct FieldSource {
  std::size_t multifab = 0;
  int component = 0;
  mesh::Index3 side{0, 0, 0};  ///< 1: the high one along that axis
};

/// Facts that a hand-written header leaves out.
struct HeaderFacts {
  std::vector<int> ratio;              ///< refinement ratios; empty: 2, or 4 where 2 leads out of the domain
  std::optional<mesh::Point3> lo, hi;  ///< domain corners; nothing: 0 and 1
};

/// A plotfile or a checkpoint, opened: all headers are read and checked against the files, no value is.
struct AmrexOutput {
  std::filesystem::path path;
  OutputFamily family = OutputFamily::plotfile;
  mesh::Header header;                           ///< without roots: those of a tree are chosen by whoever makes one
  mesh::Patches patches;                         ///< all boxes
  std::vector<mesh::BoxIndex> index;             ///< the same, per level, to find those of a region
  std::vector<std::vector<MultiFab>> multifabs;  ///< per level, those that hold the fields of the header
  std::vector<FieldSource> sources;              ///< one a field of the header
  std::vector<std::string> others;  ///< prefixes, below the path, of MultiFabs that stand on edges, on other boxes or
                                    ///< not on all levels: "Level_0/Edge0"; see open_multifab
  bool common_form = false;         ///< hand_written: the Header is of the widespread form and has nothing else
  std::vector<ParticleFolder> particles;
  std::vector<std::string> notes;
  std::int64_t bytes = 0;  ///< of all files
};

/// The directory, where the path is that of its Header; else the path.
std::filesystem::path output_directory(const std::filesystem::path& path);
/// Whether a path looks like one: a directory with a Header and a Level_0 with a MultiFab, or its Header; or an HDF5
/// file of AMReX.
bool recognise(const std::filesystem::path& path);

/// Reads the headers. Error(corrupt) for a half-written or wrongly indexed output, except that damaged particles are
/// a note here and an error when they are read. Error(unsupported) for ratios that differ between axes.
AmrexOutput open_output(const std::filesystem::path& path, const HeaderFacts& options = {});

/// The fields and levels to read.
struct PatchRequest {
  std::optional<std::vector<std::string>> fields;  ///< nothing: all
  std::size_t levels = SIZE_MAX;                   ///< the most levels to read
  std::optional<mesh::IndexBox> region;            ///< in level-0 cells; patches are cut to it
};

/// Reads patches and their fields as they stand in the file (ghost cells left out; float32 stays float32). A component
/// on faces is two fields, one on nodes 2^dim: one for each side of a cell (mesh/sides.hpp).
mesh::Part read_patches(const AmrexOutput& output, const PatchRequest& request = {});

}  // namespace octavo::formats::amrex
