#pragma once
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/file/fortran_record.hpp"
#include "octavo/formats/ramses/cells.hpp"
#include "octavo/formats/ramses/sources.hpp"
#include "octavo/formats/ramses/variables.hpp"

namespace octavo::formats::ramses {

/// The facts that all domain files of a written output have in common.
struct DomainFilePlan {
  const mesh::Header* header = nullptr;
  Owners owners;
  Coarse coarse;
  double levelmin = 1;  ///< the step's own value, else the coarsest level with leaves
  int nlevelmax = 1;
  std::int32_t ngridmax = 1;  ///< that of the input; a file with more octs has a larger one
  WrittenVariables variables;
  std::vector<std::array<std::int64_t, 3>>
      octs;        ///< per level: own octs of all domains, and the least and the most of one domain
  int number = 1;  ///< of the output
  double boxlen = 1;
  double gamma = 5.0 / 3;
  bool has_particles = false;
  bool has_tracers = false;  ///< among them, of a family below 1
  bool single_precision = false;
  bool quad_keys = false;
  file::RecordFormat format;
};

/// Returns a scalar or an array of the header's attributes, or the default that is given.
double number_or(const mesh::Header& header, const std::string& name, double otherwise);
std::vector<double> numbers_or(const mesh::Header& header, const std::string& name, std::vector<double> otherwise);
std::vector<std::string> names_of(const mesh::Header& header, const std::string& name);

/// The size of a file's oct arrays. Cells are numbered by it.
std::int32_t ngridmax_of(const DomainFilePlan& plan, const FileTree& tree);
/// A cell's number in RAMSES' memory, from 1: coarse cells, then position c of all octs before position c + 1.
std::int32_t cell_number(const DomainFilePlan& plan, const FileTree& tree, std::size_t level, std::size_t oct,
                         unsigned c);

/// A record of reals, of 8 bytes or 4.
void write_reals(file::RecordWriter& out, const DomainFilePlan& plan, const std::vector<double>& values);

void write_amr(const std::filesystem::path& path, const DomainFilePlan& plan, const FileTree& tree);

/// Writes the values of `fields` in this order; zeros for a null pointer.
void write_cells(const std::filesystem::path& path, CellKind kind, const DomainFilePlan& plan, const FileTree& tree,
                 const std::vector<const mesh::Field*>& fields);

void write_particles(const std::filesystem::path& path, const DomainFilePlan& plan, int domain,
                     const mesh::Particles& particles);

}  // namespace octavo::formats::ramses
