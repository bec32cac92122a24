#pragma once
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "octavo/base/ranks.hpp"
#include "octavo/telemac/files/piece.hpp"

/// TELEMAC's text files that name points of the mesh, cut along with it: one text a part, as partel writes them.
/// Collective; one process cuts with base::Ranks{}. Every process reads the files. Error(corrupt) names file and line.
namespace octavo::telemac {

class PointSet;

/// The parts that texts are for.
struct SideParts {
  const base::Ranks& ranks;
  std::int32_t points = 0;  ///< of a plane of the mesh
  std::int32_t parts = 1;   ///< of all processes, ascending by them
  std::int32_t first = 0;   ///< of this process's own ones
  const Buckets& own;       ///< by own part and local number: global numbers from 0
};

/// A process's stretch of the mesh's elements, ascending by processes.
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

/// Friction zones: a point and its zone a line, every point once. Texts of the own parts.
std::vector<std::string> cut_zones(const std::filesystem::path& path, const SideParts& parts);
/// Not collective: throws what the cut would.
void check_zones(const std::filesystem::path& path, std::int32_t points);

/// Control sections, by end points' numbers or coordinates: each becomes the chain of mesh edges that TELEMAC's FLUSEC
/// walks. Throws Error(corrupt) where the walk gets stuck before the end point.
std::vector<Section> trace_sections(const std::filesystem::path& path, const SideElements& elements);
/// Texts of the own parts: a part gets the edges whose both ends it has (of several parts, the last one).
std::vector<std::string> cut_sections(const std::vector<Section>& sections, const SideParts& parts);

/// Weirs (generalised, eight points each), in the layout of 2017 or that of V8, which has the steps' relaxation in line
/// 2 and weirs in groups: a part gets the weirs that it has a point of, which other parts have them too, and which
/// points' values to receive from whom and to send to whom. Texts of the own parts, in the file's layout.
std::vector<std::string> cut_weirs(const std::filesystem::path& path, const SideParts& parts);
/// Not collective: throws what the cut would.
void check_weirs(const std::filesystem::path& path, std::int32_t points);

}  // namespace octavo::telemac
