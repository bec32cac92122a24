#pragma once
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/telemac/files/piece.hpp"

/// Cuts TELEMAC's text files that name points of the mesh: one text per part, as partel writes them. Collective; one
/// process cuts with base::Ranks{}. Every process reads the files. Error(corrupt) names file and line.
namespace octavo::telemac {

class PointSet;

/// The parts that texts are for.
struct SideParts {
  const base::Ranks& ranks;
  std::int32_t points = 0;  ///< number of points in a plane of the mesh
  std::int32_t parts = 1;   ///< number of all parts; they are dealt to the processes in ascending order
  std::int32_t first = 0;   ///< this process's first part
  const ItemLists& own;     ///< by own part and local number: global numbers from 0
};

/// This process's range of the mesh's elements; ranges follow each other by rank.
struct SideElements {
  const base::Ranks& ranks;
  std::int32_t points = 0;                  ///< of a plane of the mesh
  std::span<const std::int32_t> triangles;  ///< shape (elements, 3), points from 0
  const PointSet* set = nullptr;            ///< those points; null: all points of the mesh
  std::span<const double> x, y;             ///< of those points
};

/// A control section: a chain of mesh edges, points from 0.
struct Section {
  std::string name;
  std::int32_t from = 0, to = 0;
  std::vector<std::array<std::int32_t, 2>> edges{};
};

/// Friction zones: each line has a point and its zone, each point once. Returns the texts of this process's parts.
std::vector<std::string> cut_zones(const std::filesystem::path& path, const SideParts& parts);
/// Throws the errors that cut_zones() would. Not collective.
void check_zones(const std::filesystem::path& path, std::int32_t points);

/// Control sections, given by the numbers or coordinates of their end points. Each becomes the chain of mesh edges that
/// TELEMAC's FLUSEC walks. Throws Error(corrupt) if the walk gets stuck before the end point.
std::vector<Section> trace_sections(const std::filesystem::path& path, const SideElements& elements);
/// Returns the texts of this process's parts. A part gets the edges of which it has both ends; if several parts have
/// both, the last part gets the edge.
std::vector<std::string> cut_sections(const std::vector<Section>& sections, const SideParts& parts);

/// Weirs (generalised, eight points each), in the layout of 2017 or that of V8. The layout of V8 has the steps'
/// relaxation in line 2, and weirs in groups. A part gets the weirs that it has a point of, the other parts that have
/// them, and the points whose values it receives from or sends to each part. Returns the texts of this process's parts
/// in the file's layout.
std::vector<std::string> cut_weirs(const std::filesystem::path& path, const SideParts& parts);
/// Throws the errors that cut_weirs() would. Not collective.
void check_weirs(const std::filesystem::path& path, std::int32_t points);

}  // namespace octavo::telemac
