#pragma once
#include <array>
#include <vector>

#include "octavo/formats/ramses/cover.hpp"
#include "octavo/formats/ramses/file_tree.hpp"

namespace octavo::formats::ramses {

/// The places of a step's parts, and its coarse levels, which nearly every domain needs. They are found once, so that
/// each domain is then made from the parts near it.
struct Sources {
  const mesh::Dataset* dataset = nullptr;
  std::vector<std::vector<Box>> boxes;           ///< per part and level index: around its octs
  std::vector<std::vector<int>> particle_parts;  ///< per domain: the parts that can have particles of it
  /// Per level index: own octs of all domains, least and most of one.
  std::vector<std::array<std::int64_t, 3>> octs;
  std::vector<OctTable> trunk;                         ///< the coarse levels: no more octs than a mean part has
  std::vector<std::vector<mesh::Field>> trunk_values;  ///< per level and field: 2^dim values an oct
};
/// Reads every tree once, and the coarse levels' values, one part at a time. `advance` is called after each part.
Sources survey(const mesh::Dataset& dataset, const Owners& owners, int nlevelmax, const std::function<void()>& advance);

/// One domain, ready to be written.
struct Domain {
  FileTree tree;
  std::vector<mesh::Field> values;  ///< 2^dim values an oct, level by level along the Z curve
  std::int64_t walls_made = 0;      ///< octs in walls whose values no part has
};
/// `count` domains from `first` on. Reads the parts near any of them, one at a time: their trees, then their values.
/// Cells in walls get the values that the parts' own files have there (Dataset::read_walls); with `same_domains`, those
/// of the domain's own part. If no part has them, they are made as RAMSES makes gas there: values of the nearest cell
/// beside the wall, mirrored if the wall is known to reflect. Throws Error(corrupt) if the parts lack values that the
/// trees need.
std::vector<Domain> gather(const Sources& sources, const Coarse& coarse, const Owners& owners, int first, int count,
                           bool same_domains);

/// The number of domains, of mean size, that fit into `bytes` together; at least one.
int domains_at_a_time(const Sources& sources, const Owners& owners, std::int64_t bytes);

}  // namespace octavo::formats::ramses
