#include "octavo/base/error.hpp"
#include "octavo/partition/cut.hpp"

#ifdef OCTAVO_HAVE_METIS
#include <metis.h>
#endif

namespace octavo::partition {

#ifdef OCTAVO_HAVE_METIS

PartVector cut_metis(Connectivity connectivity, std::int32_t points, std::int32_t parts) {
  static_assert(sizeof(idx_t) == sizeof(std::int32_t), "METIS built with 32-bit indices");
  auto elements = static_cast<idx_t>(connectivity.size() / 3);
  check_parts(parts, elements);
  PartVector part_of(connectivity.size() / 3, 0);
  if (parts == 1) return part_of;
  std::vector<idx_t> first(connectivity.size() / 3 + 1), part_of_point(static_cast<std::size_t>(points));
  for (std::size_t e = 0; e < first.size(); ++e) first[e] = static_cast<idx_t>(3 * e);
  // METIS does not write to it, but its interface does not say const.
  auto* corners = const_cast<idx_t*>(connectivity.data());
  idx_t shared = 2, cut = 0;
  const int status = METIS_PartMeshDual(&elements, &points, first.data(), corners, nullptr, nullptr, &shared, &parts,
                                        nullptr, nullptr, &cut, part_of.data(), part_of_point.data());
  if (status == METIS_ERROR_MEMORY) throw base::Error(base::Kind::no_space, "METIS ran out of memory");
  if (status != METIS_OK)
    throw base::Error(base::Kind::unsupported, "METIS failed with status " + std::to_string(status));
  return part_of;
}

#else

PartVector cut_metis(Connectivity, std::int32_t, std::int32_t) {
  throw base::Error(base::Kind::unsupported, "this build has no METIS")
      .hint("install libmetis-dev and build again, or take --method inertial");
}

#endif

}  // namespace octavo::partition
