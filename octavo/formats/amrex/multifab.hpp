#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "octavo/formats/amrex/fab.hpp"
#include "octavo/mesh/field.hpp"

namespace octavo::formats::amrex {

/// Where the values of a box (with its ghost cells, component by component) stand: from `offset` to `end` of a file.
struct FabPlace {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t end = 0;  ///< of its possible bytes: the next one's offset, or the end of the file
};

struct Hdf5Values;

/// The header of the values on one level's boxes. It comes from the file X_H of AMReX's VisMF, with files X_D_nnnnn
/// beside it, or from a group of an HDF5 file (hdf5_plotfile.hpp); `places` then give only the size of each box's data.
struct MultiFab {
  std::filesystem::path prefix;  ///< ".../Level_0/Cell", without the _H
  int version = 1;               ///< 1: each box with a line of text; 2: without; 3, 4: minima and maxima in the header
  int components = 0;
  mesh::Index3 ghost{0, 0, 0};  ///< cells around each box that are in the file too
  BoxArray boxes;               ///< without them; in nodes along axes where `nodal` is 1
  RealFormat format;            ///< of the first box (version 1), of all (others)
  std::vector<std::filesystem::path> files;
  std::vector<FabPlace> places;        ///< one a box
  std::vector<double> minima, maxima;  ///< as the header says, of each box its components; version 4: one row; or empty
  std::shared_ptr<const Hdf5Values> hdf5;  ///< where the values are in HDF5
};

/// Reads a header and checks it against its files. Error(unreadable) where a file is missing; Error(corrupt) where the
/// places of boxes overlap, or reach past the end of their file: it is half-written, or wrongly indexed.
MultiFab open_multifab(const std::filesystem::path& prefix);

/// Throws Error(corrupt) if the line of text before a box's values names another box or number of components.
void check_fab_line(const MultiFab& multifab, std::size_t box, const FabLine& line);

/// The box of values in the file: with its ghost cells.
mesh::IndexBox stored_box(const MultiFab& multifab, std::size_t box);
/// Bytes of its values.
std::uint64_t stored_bytes(const MultiFab& multifab, std::size_t box);

/// Values wanted of one box: those of `cells`, which lie in its stored box, go to `out` from value `to` on, x fastest.
struct Take {
  std::size_t box = 0;
  mesh::IndexBox cells;
  std::size_t to = 0;
};

/// Reads the wanted components of the wanted cells, component c to out[c], as `type`: by ascending offset, in few reads
/// of neighbouring boxes together. Where a box is large and few of its components are wanted, only those are read.
/// Error(corrupt) if a box differs from its header.
void read_cells(const MultiFab& multifab, std::vector<Take> takes, std::span<const int> components,
                mesh::ScalarType type, std::span<const std::span<std::byte>> out);

/// Which centring an index type is; Error(unsupported) for edges.
mesh::Centring centring_of(const BoxArray& boxes);

}  // namespace octavo::formats::amrex
