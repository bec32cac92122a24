#include "octavo/mesh/tree/cell_runs.hpp"

#include "octavo/mesh/tree/tree_index.hpp"

namespace octavo::mesh {
namespace {

std::vector<CellRun> root_runs(const Octree& piece, const TreeIndex& from, const TreeIndex& to) {
  std::vector<CellRun> runs;
  const std::int64_t nx = piece.roots[0], ny = piece.roots[1];
  for (const RootInterval& interval : held_roots(piece)) {
    const Index3 at{interval.begin % nx, interval.begin / nx % ny, interval.begin / nx / ny};
    add_run(runs, from.find(0, at).value(), to.find(0, at).value(),
            static_cast<std::size_t>(interval.end - interval.begin));
  }
  return runs;
}

}  // namespace

void add_run(std::vector<CellRun>& runs, std::size_t from, std::size_t to, std::size_t count) {
  const CellRun run{static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to),
                    static_cast<std::uint32_t>(count)};
  if (!runs.empty() && runs.back().from + runs.back().count == run.from && runs.back().to + runs.back().count == run.to)
    runs.back().count += run.count;
  else
    runs.push_back(run);
}

CellRuns cell_runs(const Octree& piece, const Octree& from, const Octree& to) {
  const TreeIndex from_index(from), to_index(to);
  const std::size_t family = family_size(piece);
  CellRuns runs{root_runs(piece, from_index, to_index)};
  for (int level = 0; level + 1 < num_levels(piece); ++level) {
    std::vector<CellRun> children;
    std::size_t cell = 0;  // of the piece: its cells are those of the runs, one after another
    for (const CellRun& run : runs.back())
      for (std::uint32_t i = 0; i < run.count; ++i, ++cell)
        if (piece.refined[static_cast<std::size_t>(level)][cell])
          add_run(children, from_index.family(level, run.from + i) * family,
                  to_index.family(level, run.to + i) * family, family);
    runs.push_back(std::move(children));
  }
  return runs;
}

}  // namespace octavo::mesh
