#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/telemac/cut/cut_mesh.hpp"

/// Pieces in one MED file: meshes MESH1 to MESHp, as TELEMAC names them, with global numbers from 1 at their points and
/// the parameters NPTIR1 to NPTIRp; of each variable a field a mesh, called "NAME MESHi", as a field of MED has one
/// mesh.
namespace octavo::telemac {

class MedPieces {
 public:
  /// For pieces of a SERAFIN file. An existing file is replaced.
  MedPieces(const std::filesystem::path& path, const formats::serafin::Series& series);
  /// The next part.
  void add(const Piece& piece);
  /// All steps, and the file's end. One variable of one step is in memory; `points` as cut_steps takes them.
  std::filesystem::path finish(const Buckets& points, const base::Progress& progress);

 private:
  const formats::serafin::Series& series_;
  std::filesystem::path path_;
  step::NewFile file_;
  mesh::Header header_;
  formats::med::Writer writer_;
  std::vector<double> z_;                         ///< of all points, where there are planes
  std::vector<std::vector<std::string>> fields_;  ///< by part and variable
};

}  // namespace octavo::telemac
