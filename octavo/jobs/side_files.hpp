#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/jobs/cut_mesh.hpp"

/// TELEMAC's text files that name points of the mesh, cut along with it: one text a part, as partel of 2017 writes
/// them. `points`: global numbers from 0, by part and local number. Error(corrupt) names file and line.
namespace octavo::jobs {

/// Friction zones: a point and its zone a line, every point once.
std::vector<std::string> cut_zones(const std::filesystem::path& path, const CutMesh& mesh, const Buckets& points);

/// Control sections, by end points' numbers or coordinates: each becomes the chain of mesh edges that TELEMAC's FLUSEC
/// walks; a part gets the edges whose both ends it has (of several parts, the last one).
/// Throws Error(corrupt) where the walk gets stuck before the end point.
std::vector<std::string> cut_sections(const std::filesystem::path& path, const CutMesh& mesh, const Buckets& points);

/// Weirs (generalised, eight points each): a part gets the weirs that it has a point of, which other parts have them
/// too, and which points' values to receive from whom and to send to whom.
std::vector<std::string> cut_weirs(const std::filesystem::path& path, const CutMesh& mesh, const Buckets& points);

}  // namespace octavo::jobs
