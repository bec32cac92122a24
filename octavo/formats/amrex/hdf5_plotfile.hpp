#pragma once
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/amrex/multifab.hpp"
#include "octavo/formats/amrex/output.hpp"

/// Reads plotfiles in one HDF5 file, as AMReX's WriteMultiLevelPlotfileHDF5SingleDset and ...MultiDset write them. The
/// file has a group "level_0" ... for each level, with the boxes of all ranks. Values are in one data set, box after
/// box, component after component ("data:datatype=0"), or in one for each component ("data:datatype=0",
/// "data:datatype=1" ...).
namespace octavo::formats::amrex {

/// The data sets with the values of one level's boxes.
struct Hdf5Values {
  file::hdf5::File file;
  std::vector<file::hdf5::Info> sets;  ///< one for all components, or one for each
  std::vector<std::uint64_t> first;    ///< position of each box's first value in a set
};

/// Whether a file is such a plotfile, or AMReX's HDF5 file of particles; never throws.
bool is_hdf5_plotfile(const std::filesystem::path& path);

/// Fills header, patches, MultiFabs and sources. Error(unsupported) for a file of particles, values that are not of
/// cells, and filters that this HDF5 library lacks.
void open_hdf5_plotfile(AmrexOutput& output);

/// As read_cells, for a MultiFab that has `hdf5`.
void read_hdf5_cells(const MultiFab& multifab, std::span<const Take> takes, std::span<const int> components,
                     mesh::ScalarType type, std::span<const std::span<std::byte>> out);

}  // namespace octavo::formats::amrex
