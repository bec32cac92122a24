#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/file/fortran_record.hpp"
#include "octavo/formats/ramses/numbering.hpp"

namespace octavo::formats::ramses {

/// What all domain files of a written output have in common.
struct Plan {
  const mesh::Header* header = nullptr;
  Owners owners;
  mesh::Index3 coarse{1, 1, 1};          ///< coarse cells, walls included
  mesh::Index3 skip{0, 0, 0};            ///< the first that is no wall
  std::vector<std::int32_t> coarse_map;  ///< their cpu_map: 0 for walls
  int nlevelmax = 1;
  std::int32_t ngridmax = 1;                      ///< most octs of any file
  std::vector<std::array<std::int64_t, 3>> octs;  ///< per level index: own octs of all domains, least and most of one
  double boxlen = 1;
  double gamma = 5.0 / 3;
  bool single_precision = false;
  file::RecordFormat format;
};

/// A scalar or an array among the header's attributes, or what stands in for it.
double number_or(const mesh::Header& header, const std::string& name, double otherwise);
std::vector<double> numbers_or(const mesh::Header& header, const std::string& name, std::vector<double> otherwise);
std::vector<std::string> names_of(const mesh::Header& header, const std::string& name);

void write_amr(const std::filesystem::path& path, const Plan& plan, const mesh::Octree& tree,
               const Numbering& numbering);

enum class CellFile { hydro, grav, rt };
/// The fields go in this order; each has one value a tree cell.
void write_cells(const std::filesystem::path& path, CellFile kind, const Plan& plan, const mesh::Octree& tree,
                 const Numbering& numbering, const std::vector<const mesh::Field*>& fields);

void write_particles(const std::filesystem::path& path, const Plan& plan, const mesh::Particles& particles);

}  // namespace octavo::formats::ramses
