#include <metis.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "octavo/formats/serafin/series.hpp"

// octavo_bench_metis MESH.slf PARTS: reads the triangles, calls METIS as the partitioners of TELEMAC do, and nothing more:
// the floor under `octavo partition`. Prints the number of edges cut.
int main(int count, char** words) {
  if (count != 3) return 2;
  idx_t parts = std::atoi(words[2]);
  const auto series = octavo::formats::serafin::open_series(words[1]);
  idx_t elements = series.header.elements, points = series.header.points, shared = 2, cut = 0;
  std::vector<idx_t> corners(static_cast<std::size_t>(elements) * 3), first(static_cast<std::size_t>(elements) + 1),
      part_of(static_cast<std::size_t>(elements)), part_of_point(static_cast<std::size_t>(points));
  octavo::formats::serafin::read_connectivity(series, 0, corners);
  for (idx_t& point : corners) --point;
  for (std::size_t e = 0; e < first.size(); ++e) first[e] = static_cast<idx_t>(3 * e);
  const int status = METIS_PartMeshDual(&elements, &points, first.data(), corners.data(), nullptr, nullptr, &shared,
                                        &parts, nullptr, nullptr, &cut, part_of.data(), part_of_point.data());
  std::printf("%d\n", static_cast<int>(cut));
  return status == METIS_OK ? 0 : 1;
}
