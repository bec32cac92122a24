#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "octavo/file/hdf5.hpp"
#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/formats/amrex/output.hpp"

/// Plotfiles in one HDF5 file, as AMReX's WriteMultiLevelPlotfileHDF5SingleDset and ...MultiDset write them: a group
/// "level_0" ... for each level with the boxes of all ranks, and their values in one data set, box after box, component
/// after component ("data:datatype=0"), or in one for each component ("data:datatype=0", "data:datatype=1" ...).
namespace octavo::formats::amrex {

/// Values of the boxes of one level.
struct Hdf5Values {
  file::hdf5::File file;
  std::vector<file::hdf5::Info> sets;  ///< one, or one a component
  std::vector<std::uint64_t> first;    ///< of each box, its first value in a set
};

/// Whether a file is one, or one of particles; never throws.
bool is_hdf5_plotfile(const std::filesystem::path& path);

/// Fills header, patches, MultiFabs and sources. Error(unsupported) for a file of particles, values that are not of
/// cells, and filters that this HDF5 library lacks.
void open_hdf5_plotfile(Output& output);

/// As read_cells, of a MultiFab that has `hdf5`.
void read_hdf5_cells(const MultiFab& multifab, std::span<const Take> takes, std::span<const int> components,
                     mesh::ScalarType type, std::span<const std::span<std::byte>> out);

}  // namespace octavo::formats::amrex
