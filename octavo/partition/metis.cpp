#include "octavo/base/error.hpp"
#include "octavo/partition/cell_graph.hpp"

#ifdef OCTAVO_HAVE_METIS
#include <metis.h>
#endif

namespace octavo::partition {

#ifdef OCTAVO_HAVE_METIS
namespace {

void require_metis(int status) {
  if (status == METIS_ERROR_MEMORY) throw base::Error(base::Kind::no_space, "METIS ran out of memory");
  if (status != METIS_OK)
    throw base::Error(base::Kind::unsupported, "METIS failed with status " + std::to_string(status));
}

}  // namespace

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
  require_metis(status);
  return part_of;
}

PartVector cut_metis(const CellGraph& graph, std::int32_t parts) {
  auto cells = static_cast<idx_t>(graph.first.size() - 1);
  check_parts(parts, cells);
  PartVector part_of(graph.first.size() - 1, 0);
  if (parts == 1) return part_of;
  auto* first = const_cast<idx_t*>(graph.first.data());
  auto* neighbours = const_cast<idx_t*>(graph.neighbours.data());
  idx_t constraints = 1, cut = 0;
  require_metis(METIS_PartGraphKway(&cells, &constraints, first, neighbours, nullptr, nullptr, nullptr, &parts, nullptr,
                                    nullptr, nullptr, &cut, part_of.data()));
  return part_of;
}

#else

namespace {

[[noreturn]] void refuse_metis() {
  throw base::Error(base::Kind::unsupported, "this build has no METIS")
      .hint("install libmetis-dev and build again, or take --method inertial");
}

}  // namespace

PartVector cut_metis(Connectivity, std::int32_t, std::int32_t) { refuse_metis(); }
PartVector cut_metis(const CellGraph&, std::int32_t) { refuse_metis(); }

#endif

}  // namespace octavo::partition
