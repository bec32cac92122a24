#include "octavo/jobs/export.hpp"

#include "octavo/formats/ramses/writer.hpp"
#include "octavo/jobs/target.hpp"

namespace octavo::jobs {

void export_ramses(const mesh::Dataset& dataset, const std::filesystem::path& out, const ExportOptions& options) {
  const std::filesystem::path target = prepare_native_target(out, options.overwrite);
  try {
    formats::ramses::write(dataset, target, {options.number, options.progress});
    finish_target(target, out);
  } catch (...) {
    discard_target(target, out, true);
    throw;
  }
}

}  // namespace octavo::jobs
