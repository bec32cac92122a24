#pragma once
#include "octavo/base/ranks.hpp"
#include "octavo/store/store.hpp"

namespace octavo::store {

/// verify() shared among ranks. Collective: every rank reads footers and tables, and checks equal numbers of segments
/// and parts. All ranks return the report that one process would return. `progress` is of this rank's parts. Throws the
/// same Error on all ranks.
Report verify_shared(const std::filesystem::path& store, int threads, const base::Progress& progress,
                     const base::Ranks& ranks);

}  // namespace octavo::store
