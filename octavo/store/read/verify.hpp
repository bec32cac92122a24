#pragma once
#include "octavo/base/pack.hpp"
#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {

template <class Way>
void both(Way& way, Finding& finding) {
  both(way, finding.where, finding.what, finding.kind);
}
template <class Way>
void both(Way& way, Report& report) {
  both(way, report.findings, report.notes, report.steps, report.streams, report.bytes);
}

/// verify() shared among ranks. Collective: rank 0 reads heads, footers and tables, and tells each rank where an equal
/// number of parts is, which that rank checks. A file is opened twice, and once for each part, whatever the number of
/// ranks; a mesh of triangles that other steps use is looked for by each rank that checks such a step. All ranks return
/// the report that one process would return. `progress` is of this rank's parts. Throws the same Error on all ranks.
Report verify_shared(const std::filesystem::path& store, int threads, const base::Progress& progress,
                     const base::Ranks& ranks);

}  // namespace octavo::store
