#include "octavo/jobs/export.hpp"

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/jobs/target.hpp"

namespace octavo::jobs {

void export_ramses(const mesh::Dataset& dataset, const std::filesystem::path& out, const ExportOptions& options) {
  if (dataset.unstructured)
    throw base::Error(base::Kind::unsupported, "a mesh of triangles cannot be a RAMSES output").at(dataset.path);
  const Target target = prepare_native_target(out, options.overwrite);
  try {
    formats::ramses::WriteOptions how;
    how.domains = options.domains;
    how.number = options.number;
    how.single_precision = options.single_precision;
    how.progress = options.progress;
    formats::ramses::write(dataset, target.path, how);
    finish_target(target);
  } catch (...) {
    discard_target(target);
    throw;
  }
}

}  // namespace octavo::jobs
