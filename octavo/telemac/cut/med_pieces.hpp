#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/step/new_file.hpp"
#include "octavo/telemac/files/piece.hpp"

/// Writes pieces into one MED file: meshes MESH1 to MESHp, as TELEMAC names them, with global numbers of points from 1
/// and the parameters NPTIR1 to NPTIRp. A field of MED has one mesh only, so each variable becomes one field per mesh,
/// called "NAME MESHi".
namespace octavo::telemac {

class MedPieces {
 public:
  /// For pieces of a SERAFIN file. An existing file is replaced.
  MedPieces(const std::filesystem::path& path, const formats::serafin::SerafinSeries& series);
  /// Adds the next part.
  void add(const Piece& piece);
  /// Writes all steps and finishes the file. Memory: one variable of one step. `points` as cut_steps takes them.
  std::filesystem::path finish(const ItemLists& points, const base::Progress& progress);

 private:
  const formats::serafin::SerafinSeries& series_;
  std::filesystem::path path_;
  step::NewFile file_;
  mesh::Header header_;
  formats::med::MedWriter writer_;
  std::vector<double> z_;                         ///< of all points, if there are planes
  std::vector<std::vector<std::string>> fields_;  ///< by part and variable
};

}  // namespace octavo::telemac
