#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "octavo/base/bit_array.hpp"

/// Parts to measure codecs on: read from a plain dump, or made.
namespace octavo::bench {

struct FieldValues {
  std::string name;
  std::vector<std::vector<double>> levels;
};

struct Part {
  std::size_t family = 8;
  std::vector<base::BitArray> refined, owned;       ///< per level
  std::vector<std::vector<std::uint32_t>> parents;  ///< per level; empty for level 0
  std::vector<FieldValues> fields;
};

/// The parts of a file as bench/codec.cpp describes it. Throws Error(unreadable) or Error(corrupt).
std::vector<Part> read_parts(const std::string& path);

void write_parts(const std::string& path, const std::vector<Part>& parts);

/// One part of a cube: log-normal density, velocities and pressure with a k^-11/3 spectrum, without any symmetry. All
/// cells down to `lowest`, dense ones down to `deepest` [levels below the root cell]; refined cells hold the mean of
/// density, the mass-weighted mean of velocity and the mean of pressure of the cells below.
Part turbulent_part(int lowest, int deepest, std::uint64_t seed);

}  // namespace octavo::bench
