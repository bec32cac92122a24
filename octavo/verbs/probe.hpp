#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/mesh/region.hpp"
#include "octavo/store/store.hpp"

/// Time series at places of a mesh of triangles or solids.
namespace octavo::verbs {

struct ProbeOptions {
  std::vector<mesh::Point3> places;                  ///< [code length]; in triangles x and y count
  std::optional<std::vector<std::string>> fields{};  ///< nothing: all
  int plane = -1;                                    ///< of 3-D meshes, from 0 at the bottom; -1: the uppermost
  std::optional<store::Flow> flow{};                 ///< stores only; nothing: the flow that open() takes
};
/// Values at places, linear within their triangle or tetrahedron.
struct ProbeSeries {
  std::vector<std::string> fields, units;
  std::vector<double> times;
  std::vector<double> values;  ///< [place][field][time]; NaN outside of the mesh
  std::vector<char> inside;    ///< [place]
};
/// Takes all steps; for a store, those of one flow. From a SERAFIN file it reads the mesh once, and three values for
/// each place, field and step. From other files it reads one field of one step and part at a time. A place on the
/// border of parts belongs to the first of them. Throws Error(unsupported) for meshes of cells and for meshes that
/// change from step to step.
ProbeSeries probe(const std::filesystem::path& path, const ProbeOptions& options);

}  // namespace octavo::verbs
