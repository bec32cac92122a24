#pragma once
#include <filesystem>
#include <vector>

#include "octavo/step/new_file.hpp"
#include "octavo/telemac/cut/shared_mesh.hpp"
#include "octavo/telemac/cut/side_files.hpp"

/// Writes the pieces of a cut mesh. All functions are collective, and add the files that they wrote to the report.
namespace octavo::telemac {

/// The cut of a mesh that is written.
struct CutMesh {
  std::vector<GrowingPiece> pieces;  ///< of this rank's parts, whole
  MeshBoundary boundary;
  partition::PartVector part_of;  ///< of all elements, for PieceLayout::octavo; else empty
};

/// Writes the pieces of a SERAFIN file in the job's layout, under `prefix`. `like` gives their headers.
void write_series(const SharedJob& job, step::NewFiles& files, const formats::serafin::SerafinSeries& series,
                  const formats::serafin::SerafinHeader& like, const std::filesystem::path& prefix, const CutMesh& mesh,
                  PartitionReport& report);
/// Writes CLI, and PAR if there are several parts and one plane.
void write_boundary(const SharedJob& job, step::NewFiles& files, const std::filesystem::path& prefix,
                    const CutMesh& mesh, PartitionReport& report);
/// Writes SEC, ZFI and SEU.
void write_sides(const SharedJob& job, step::NewFiles& files, const std::filesystem::path& prefix,
                 const std::vector<Section>& sections, const CutMesh& mesh, PartitionReport& report);
/// Writes the part of each element to the file PartitionOptions::write_cut.
void write_cut(const SharedJob& job, step::NewFiles& files, const ElementBlock& block,
               const partition::PartVector& part_of, PartitionReport& report);

}  // namespace octavo::telemac
