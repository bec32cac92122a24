#pragma once
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "octavo/formats/ramses/cover.hpp"
#include "octavo/formats/ramses/file_tree.hpp"

namespace octavo::formats::ramses {

/// The places of a step's parts, and its coarse levels, which nearly every domain needs. We find them once. Then each
/// domain is made from the parts near it.
struct Sources {
  const mesh::Dataset* dataset = nullptr;
  std::vector<std::vector<CurveBox>> boxes;      ///< per part and level index: around its octs
  std::vector<std::vector<int>> particle_parts;  ///< per domain: the parts that can have particles of it
  /// Per level index: the number of own octs of all domains, and the least and the most that one domain has.
  std::vector<std::array<std::int64_t, 3>> octs;
  std::vector<OctTable> trunk;  ///< the coarse levels; together no more octs than an average part has
  std::vector<std::vector<mesh::Field>> trunk_values;  ///< per level and field: 2^dim values an oct
};
/// Reads every tree once, and the coarse levels' values, one part at a time. `advance` is called after each part.
Sources survey(const mesh::Dataset& dataset, const Owners& owners, int nlevelmax, const std::function<void()>& advance);

/// Bytes of the code's own, by name.
using OpaqueBytes = std::map<std::string, std::vector<std::byte>>;
OpaqueBytes read_opaque(const mesh::Dataset& dataset, int part);

/// One domain, ready to be written.
struct OutputDomain {
  FileTree tree;
  std::vector<mesh::Field> values;  ///< 2^dim values an oct, level by level along the Z curve
  std::int64_t walls_made = 0;      ///< octs in walls for which no part has values
};
/// `count` domains from `first` on. Reads the parts near any of them one at a time, first all trees, then all values.
/// Cells in walls get the values that the parts' own files have there (Dataset::read_walls); with `same_domains`, those
/// of the domain's own part, whose octs keep their order. If no part has them, they are made as RAMSES makes gas there:
/// values of the nearest cell beside the wall, mirrored if the wall is known to reflect. Throws Error(corrupt) if the
/// parts lack values that the trees need.
std::vector<OutputDomain> gather(const Sources& sources, const Coarse& coarse, const Owners& owners, int first,
                                 int count, bool same_domains);

/// Returns how many domains of average size fit into `bytes` together; at least one.
int domains_at_a_time(const Sources& sources, const Owners& owners, std::int64_t bytes);

}  // namespace octavo::formats::ramses
