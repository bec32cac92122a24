#include "octavo/telemac/cut/shared_cut.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "octavo/base/at.hpp"
#include "octavo/base/release.hpp"
#include "octavo/partition/graph.hpp"
#include "octavo/telemac/cut/cut_file.hpp"
#include "octavo/telemac/cut/partition_names.hpp"

namespace octavo::telemac {
namespace {

using partition::PartVector;

using base::at;

std::array<double, 3> of_corners(const std::vector<double>& values, const ElementBlock& block, std::size_t element) {
  std::array<double, 3> three{};
  for (std::size_t k = 0; k < 3; ++k) three[k] = values[block.places.set.of(block.triangles[3 * element + k])];
  return three;
}

// ------------------------------------------------------------------------------------------------------------ inertial

std::array<float, 2> centre(const ElementBlock& block, std::size_t element) {
  const auto x = of_corners(block.places.x, block, element), y = of_corners(block.places.y, block, element);
  return {static_cast<float>((x[0] + x[1] + x[2]) / 3), static_cast<float>((y[0] + y[1] + y[2]) / 3)};
}

PartVector cut_inertial(const SharedJob& job, const ElementBlock& block) {
  const std::int64_t stride = partition::InertialCuts::stride(job.elements, job.options.parts);
  const auto elements = static_cast<std::int64_t>(block.triangles.size() / 3);
  std::vector<float> x, y;
  for (std::int64_t e = (block.first + stride - 1) / stride * stride; e < block.first + elements; e += stride) {
    const auto [cx, cy] = centre(block, at(e - block.first));
    x.push_back(cx);
    y.push_back(cy);
  }
  const partition::InertialCuts cuts(base::gather(job.ranks, x), base::gather(job.ranks, y), job.options.parts);
  if (stride == 1) {
    const auto begin = cuts.parts().begin() + block.first;
    return {begin, begin + elements};
  }
  PartVector part_of;
  part_of.reserve(at(elements));
  for (std::size_t e = 0; e < at(elements); ++e) {
    const auto [cx, cy] = centre(block, e);
    part_of.push_back(cuts.part_at(cx, cy));
  }
  return part_of;
}

// ------------------------------------------------------------------------------------------------------------- hilbert

partition::CurveCells::Extent extent(const SharedJob& job, const std::vector<double>& values) {
  constexpr double none = std::numeric_limits<double>::infinity();
  partition::CurveCells::Extent all{none, -none};
  std::vector<double> mine;
  if (!values.empty()) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    mine = {*least, *most};
  }
  for (const double value : base::gather(job.ranks, mine)) all = {std::min(all.lo, value), std::max(all.hi, value)};
  return all;
}

partition::CurveCells cells_of(const SharedJob& job, const ElementBlock& block) {
  const auto x = extent(job, block.places.x), y = extent(job, block.places.y);
  return {x, y};
}

partition::CurveCells::Cell cell_of(const partition::CurveCells& cells, const ElementBlock& block,
                                    std::size_t element) {
  return cells.cell(of_corners(block.places.x, block, element), of_corners(block.places.y, block, element));
}

/// Positions on the curve with elements, which make them different: position * 2^32 + element, ascending.
std::vector<std::uint64_t> keys_of(const partition::CurveCells& cells, const ElementBlock& block) {
  std::vector<std::uint64_t> keys(block.triangles.size() / 3);
  for (std::size_t e = 0; e < keys.size(); ++e) {
    const std::uint64_t key = partition::CurveCells::key(cell_of(cells, block, e));
    keys[e] = key << 32 | static_cast<std::uint64_t>(block.first + static_cast<std::int64_t>(e));
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

/// Where keys are cut so that ranks get about as many: by some of each rank's.
std::vector<std::uint64_t> cuts_between_ranks(const SharedJob& job, const std::vector<std::uint64_t>& keys) {
  constexpr std::size_t samples = 256;
  std::vector<std::uint64_t> some;
  for (std::size_t i = 0; i < std::min(samples, keys.size()); ++i)
    some.push_back(keys[i * keys.size() / std::min(samples, keys.size())]);
  some = base::gather(job.ranks, some);
  std::sort(some.begin(), some.end());
  std::vector<std::uint64_t> cuts;
  for (std::size_t rank = 1; rank < job.size(); ++rank) cuts.push_back(some[rank * some.size() / job.size()]);
  return cuts;
}

/// All ranks' keys, sorted among them: this rank's stretch, and how many stand before it.
std::vector<std::uint64_t> sort_keys(const SharedJob& job, std::vector<std::uint64_t> keys, std::int64_t& before) {
  // A sample sort: each rank gets the keys between two cuts, and sorts those. Keys differ, so the result does not
  // depend on the number of ranks.
  const std::vector<std::uint64_t> cuts = cuts_between_ranks(job, keys);
  std::vector<std::vector<std::uint64_t>> to;
  auto begin = keys.begin();
  for (const std::uint64_t cut : cuts) {
    const auto end = std::lower_bound(begin, keys.end(), cut);
    to.emplace_back(begin, end);
    begin = end;
  }
  to.emplace_back(begin, keys.end());
  base::release(keys);
  keys = base::exchange(job.ranks, std::move(to));
  std::sort(keys.begin(), keys.end());
  const auto counts = base::gather(job.ranks, std::vector<std::int64_t>{static_cast<std::int64_t>(keys.size())});
  before = std::accumulate(counts.begin(), counts.begin() + job.ranks.rank, std::int64_t{0});
  return keys;
}

/// Equal stretches of the curve: those of the block's elements.
PartVector cut_stretches(const SharedJob& job, const ElementBlock& block, const partition::CurveCells& cells,
                         std::int32_t stretches) {
  struct ElementStretch {
    std::int32_t element, stretch;
  };
  std::int64_t position = 0;
  std::vector<std::vector<ElementStretch>> to(job.size());
  for (auto& some : to) some.reserve(block.triangles.size() / 3 / job.size() + 1);
  for (const std::uint64_t key : sort_keys(job, keys_of(cells, block), position)) {
    const auto element = static_cast<std::int32_t>(key & 0xffffffffU);
    const auto stretch = static_cast<std::int32_t>(base::owner(position++, job.elements, stretches));
    to[job.owner_of_element(element)].push_back({element, stretch});
  }
  PartVector stretch_of(block.triangles.size() / 3);
  for (const ElementStretch& told : base::exchange(job.ranks, std::move(to)))
    stretch_of[at(told.element - block.first)] = told.stretch;
  return stretch_of;
}

// ----------------------------------------------------------------------------------------------------------- smoothing

/// Numbering of elements, of a rank's own and of those of others that border on them.
class Numbering {
 public:
  Numbering(const SharedJob& job, const SharedDual& dual, PartVector own) : dual_(dual), own_(std::move(own)) {
    std::vector<std::vector<std::int32_t>> wanted(job.size());
    for (const std::int32_t element : dual.strange) wanted[job.owner_of_element(element)].push_back(element);
    std::vector<std::string> asked;
    for (const auto& some : wanted) asked.push_back(base::to_bytes(some));
    std::vector<std::string> answers;
    for (const std::string& from : base::all_to_all(job.ranks, std::move(asked))) {
      PartVector numbers;
      base::append(numbers, from);
      for (std::int32_t& number : numbers) number = own_[at(number - dual.first)];
      answers.push_back(base::to_bytes(numbers));
    }
    // Owners are ascending as the elements are: what they answer stands in the elements' order.
    for (const std::string& answer : base::all_to_all(job.ranks, std::move(answers))) base::append(strange_, answer);
  }
  std::int32_t& own(std::size_t e) { return own_[e]; }
  /// The part of any element that the dual knows; null for others.
  std::int32_t* find(std::int32_t element) {
    const std::int64_t e = element - dual_.first;
    if (e >= 0 && e < static_cast<std::int64_t>(own_.size())) return &own_[at(e)];
    const auto found = std::lower_bound(dual_.strange.begin(), dual_.strange.end(), element);
    if (found == dual_.strange.end() || *found != element) return nullptr;
    return &strange_[at(found - dual_.strange.begin())];
  }
  void map(const PartVector& to) {
    for (auto* numbers : {&own_, &strange_})
      for (std::int32_t& number : *numbers) number = to[at(number)];
  }
  PartVector take() { return std::move(own_); }

 private:
  const SharedDual& dual_;
  PartVector own_, strange_;
};

std::vector<std::int64_t> sizes_of(const SharedJob& job, const SharedDual& dual, Numbering& parts) {
  std::vector<std::int64_t> mine(at(job.options.parts), 0);
  for (std::size_t e = 0; 3 * e < dual.behind.size(); ++e) ++mine[at(parts.own(e))];
  return base::sum(job.ranks, std::move(mine));
}

/// Every rank knows all elements along the cuts, and moves them alike.
void smooth(const SharedJob& job, const SharedDual& dual, Numbering& parts) {
  std::vector<std::int64_t> sizes = sizes_of(job, dual, parts);
  const auto find = [&] {
    return base::gather(job.ranks, partition::find_cut(
                                       dual.behind, dual.first, [&](std::size_t e) { return parts.own(e); },
                                       [&](std::int32_t other) { return *parts.find(other); }));
  };
  partition::smooth_in_turns(sizes, find, [&](const std::vector<partition::CutElement>& cut) {
    for (const partition::CutElement& element : cut)
      if (std::int32_t* part = parts.find(element.element)) *part = element.part;
  });
}

PartVector cut_joined(const SharedJob& job, const ElementBlock& block) {
  const std::int32_t parts = job.options.parts;
  const std::int32_t stretches = partition::stretches_a_part(job.elements, parts) * parts;
  const partition::CurveCells cells = cells_of(job, block);
  PartVector stretch_of = cut_stretches(job, block, cells, stretches);
  std::vector<std::int64_t> sums = partition::no_sums(stretches);
  for (std::size_t e = 0; e < stretch_of.size(); ++e)
    partition::add_cell(sums, stretch_of[e], cell_of(cells, block, e));
  const SharedDual dual = share_dual(job, block);
  Numbering numbers(job, dual, std::move(stretch_of));
  if (stretches > parts) {
    const auto edges = partition::count_edges(
        dual.behind, [&](std::size_t e) { return numbers.own(e); },
        [&](std::int32_t other) { return *numbers.find(other); });
    numbers.map(partition::join_stretches(partition::add_up(base::gather(job.ranks, edges)),
                                          base::sum(job.ranks, std::move(sums)), job.elements, parts));
  }
  smooth(job, dual, numbers);
  return numbers.take();
}

PartVector smoothed(const SharedJob& job, const SharedDual& dual, PartVector part_of) {
  Numbering parts(job, dual, std::move(part_of));
  smooth(job, dual, parts);
  return parts.take();
}

/// By a method that needs the whole mesh, in one process. METIS takes most of the memory: places wait until it is done.
PartVector cut_alone(const SharedJob& job, ElementBlock& block) {
  block.places = {};
  PartVector part_of = job.options.method == partition::CutMethod::metis
                           ? partition::cut_metis(block.triangles, job.points, job.options.parts)
                           : partition::cut_scotch(block.triangles, job.points, job.options.parts);
  block.places = read_places(job.series, PointSet(block.triangles, job.points));
  return part_of;
}

PartVector cut_by_method(const SharedJob& job, ElementBlock& block, const GraphCut& scotch) {
  if (job.options.parts == 1) return PartVector(block.triangles.size() / 3, 0);
  if (job.options.method == partition::CutMethod::hilbert) return cut_joined(job, block);
  if (job.options.method == partition::CutMethod::inertial) {
    PartVector halves = cut_inertial(job, block);
    return smoothed(job, share_dual(job, block), std::move(halves));
  }
  if (job.size() == 1) return cut_alone(job, block);
  const SharedDual dual = share_dual(job, block);
  PartVector part_of;
  base::agree(job.ranks, [&] { part_of = scotch(dual, job.options.parts); });
  return smoothed(job, dual, std::move(part_of));  // its parts differ more in size
}

/// Gives parts without an element half of a larger one's: every rank knows all elements of the parts that give.
std::int64_t fill_empty_parts(const SharedJob& job, const ElementBlock& block, PartVector& part_of,
                              const std::vector<bool>& stays, std::int64_t all_that_stay) {
  const auto may_move = [&](std::size_t e) { return stays.empty() || !stays[e]; };
  std::vector<std::int64_t> sizes(at(job.options.parts), 0);
  for (std::size_t e = 0; e < part_of.size(); ++e) sizes[at(part_of[e])] += may_move(e);
  sizes = base::sum(job.ranks, std::move(sizes));
  sizes[0] += all_that_stay > 0;
  const auto halvings = partition::plan_halvings(sizes);
  if (halvings.empty()) return 0;
  std::vector<bool> gives(at(job.options.parts), false);
  for (const partition::Halving& halving : halvings) gives[at(halving.from)] = true;
  std::vector<partition::PlacedElement> elements;
  for (std::size_t e = 0; e < part_of.size(); ++e)
    if (gives[at(part_of[e])] && may_move(e)) {
      const auto [x, y] = centre(block, e);
      elements.push_back({static_cast<std::int32_t>(block.first + static_cast<std::int64_t>(e)), part_of[e], x, y});
    }
  elements = base::gather(job.ranks, elements);
  partition::halve_parts(halvings, elements);
  for (const partition::PlacedElement& element : elements)
    if (const std::int64_t e = element.element - block.first; e >= 0 && e < std::ssize(part_of))
      part_of[at(e)] = element.part;
  return std::ssize(halvings);
}

/// Marks the points on the boundary: those that the boundary file names, else those whose IPOBO is not 0. If it is zero
/// everywhere, one process looks for them.
std::vector<bool> find_boundary_points(const SharedJob& job, const ElementBlock& block) {
  std::vector<bool> on(at(job.points), false);
  base::agree(job.ranks, [&] {
    if (has_boundary(job.options)) {
      for (const auto& line : lines_of(job)) on[at(line.point - 1)] = true;
      return;
    }
    constexpr std::int32_t batch = 1 << 16;
    std::vector<std::int32_t> some;
    for (std::int32_t first = 0; first < job.points; first += batch) {
      some.resize(at(std::min(batch, job.points - first)));
      formats::serafin::read_numbers(job.series, first, some);
      for (std::size_t i = 0; i < some.size(); ++i) on[at(first) + i] = some[i] != 0;
    }
    if (std::find(on.begin(), on.end(), true) != on.end()) return;
    if (job.size() == 1)
      for (const auto& edge : partition::find_boundary_edges(block.triangles, job.points)) on[at(edge.from)] = true;
    else
      throw base::Error(base::Kind::unsupported, "IPOBO is zero everywhere: elements along the boundary are not known")
          .at(job.series.file->path().string())
          .hint("--boundary F.cli");
  });
  return on;
}

/// The block's share of a cut that is given.
PartVector given_cut(const SharedJob& job, const ElementBlock& block) {
  const PartitionOptions& options = job.options;
  const std::int64_t last = block.first + std::ssize(block.triangles) / 3;
  PartVector part_of;
  base::agree(job.ranks, [&] {
    if (options.part_of) {
      require_cut_of(std::ssize(*options.part_of), job.elements, options);
      part_of.assign(options.part_of->begin() + block.first, options.part_of->begin() + last);
    } else {
      part_of = read_cut(*options.cut, block.first, last);
    }
    for (const std::int32_t part : part_of) require_part(part, options);
  });
  return part_of;
}

}  // namespace

PartVector cut_block(const SharedJob& job, ElementBlock& block, const GraphCut& scotch,
                     std::vector<std::string>& notes) {
  if (job.options.cut || job.options.part_of) return given_cut(job, block);
  PartVector part_of = cut_by_method(job, block, scotch);
  std::vector<bool> stays;
  std::int64_t along = 0;
  if (job.options.boundary_first) {
    const std::vector<bool> on = find_boundary_points(job, block);
    stays = put_boundary_first(
        block.triangles, [&](std::int32_t point) { return on[at(point)]; }, part_of);
    along = base::sum<std::int64_t>(job.ranks, {std::count(stays.begin(), stays.end(), true)})[0];
    require_parts_off_boundary(along, job.elements, job.options);  // all ranks know
    note_boundary_first(along, notes);
  }
  // Last, as the boundary's elements may be all that a part had.
  note_filled(fill_empty_parts(job, block, part_of, stays, along), job.options, notes);
  return part_of;
}

}  // namespace octavo::telemac
