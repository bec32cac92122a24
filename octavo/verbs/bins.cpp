#include "octavo/verbs/bins.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "octavo/analysis/orientation.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/verbs/bins_pass.hpp"
#include "octavo/verbs/bins_percentiles.hpp"
#include "octavo/verbs/place.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "octavo/verbs/stats.hpp"
#include "octavo/verbs/sum_parts.hpp"
#include "octavo/verbs/triangles.hpp"

namespace octavo::verbs {
namespace {

using analysis::BinPlan;
using analysis::Distance;
using analysis::PartialBins;
using analysis::Quantity;
using analysis::ValueRanges;
using base::Error;
using base::Kind;
using detail::Diagram;
using detail::Diagrams;
using detail::find_percentiles;
using detail::PartInPass;
using detail::Pass;
using detail::SampleSums;

constexpr std::size_t most_bins_of_plan = std::size_t{1} << 24;
constexpr double wide_range = 100;  // as in pictures: a logarithmic scale from here on

// ------------------------------------------------------------------------------------------------ from words to a plan

analysis::CellWeight cell_weight_of(const mesh::Header& header, const std::string& weight) {
  if (weight == "none") return {};
  const bool boxes = mesh::cell_shape(header) == mesh::CellShape::box;
  if (weight == "volume") return boxes ? analysis::CellWeight{{}, true} : analysis::CellWeight{"cell_volume", false};
  if (weight != "mass") return {weight, false};
  const std::string density = mesh::density_field(header);
  if (density.empty())
    throw Error(Kind::usage, "there is no density, so cells have no mass").hint("weight by volume, or by a field");
  if (!boxes) return {"`" + density + "`*cell_volume", false};
  return {density, true};
}

/// Every name that is to be read, in any order.
std::vector<std::string> names_in(const mesh::Header& header, const BinsOptions& options) {
  if (options.particles) return {};
  std::vector<std::string> names = options.fields;
  for (const BinBy& axis : options.axes)
    if (!axis.around) names.push_back(axis.field);
  if (const std::string weight = cell_weight_of(header, options.weight).field; !weight.empty()) names.push_back(weight);
  if (!options.where.empty()) names.push_back(options.where);
  return names;
}

std::string unit_of_bins(const mesh::Header& header, const std::string& name) {
  for (const mesh::FieldInfo& field : header.fields)
    if (field.name == name) return field.unit;
  return {};
}

std::string unit_of_bins(const mesh::Header& header, const analysis::CellWeight& weight) {
  std::string unit = weight.field.empty() ? "" : unit_of_bins(header, weight.field);
  const bool unknown = !weight.field.empty() && unit.empty();
  if (!weight.volume || unknown) return unit;
  return unit + (unit.empty() ? "" : "*") + "code_length**" + std::to_string(header.dim);
}

mesh::Point3 centre_of_bins(const step::SharedStep& step, const BinsOptions& options, const std::string& words) {
  StatsOptions selection{.region = options.region, .max_level = options.max_level};
  selection.where = options.where;
  selection.definitions = options.definitions;
  selection.threads = options.threads;
  selection.ranks = options.ranks;
  selection.progress = options.progress;
  return find_place(step, words, selection);
}

mesh::Point3 unit_normal(const mesh::Point3& normal, int dim) {
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) square += normal[axis] * normal[axis];
  const double length = std::sqrt(square);
  if (!(length > 0) || !std::isfinite(length))
    throw Error(Kind::usage, "the normal of a cylinder or height needs a length in " + std::to_string(dim) + "-D");
  mesh::Point3 out{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) out[axis] = normal[axis] / length;
  return out;
}

/// The corners of the domain, or of a box around the region, measured from `centre` [code length]; along a periodic
/// axis at most half a period.
std::array<mesh::Point3, 2> corners_from(const mesh::Header& header, const mesh::Point3& centre,
                                         const std::optional<mesh::Region>& region) {
  const double unit = header.hi[0] - header.lo[0];
  std::array<mesh::Point3, 2> corners{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    double lo = 0, hi = (header.hi[axis] - header.lo[axis]) / unit;
    const double half = hi * unit / 2;
    if (region) {
      const mesh::Box box = mesh::bounds(*region, mesh::domain_of(header));
      lo = box.lo[axis];
      hi = box.hi[axis];
    }
    lo = header.lo[axis] + lo * unit - centre[axis];
    hi = header.lo[axis] + hi * unit - centre[axis];
    const bool wraps = header.periodic[axis] && (lo < -half || hi > half);
    corners[0][axis] = wraps ? -half : lo;
    corners[1][axis] = wraps ? half : hi;
  }
  return corners;
}

/// The distance of a sphere's centre from `centre`, plus its radius [code length].
double reach_of_sphere(const mesh::Header& header, const mesh::Point3& centre, const mesh::Sphere& sphere) {
  const double unit = header.hi[0] - header.lo[0];
  double square = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double away = header.lo[axis] + sphere.centre[axis] * unit - centre[axis];
    square += away * away;
  }
  return std::sqrt(square) + sphere.radius * unit;
}

/// Bounds of the distances of the selection's cells: of heights, or 0 and the largest radius.
std::array<double, 2> reach_of(const mesh::Header& header, const Distance& distance,
                               const std::optional<mesh::Region>& region) {
  const auto [lo, hi] = corners_from(header, distance.centre, region);
  double lowest = 0, highest = 0, square = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double n = distance.normal[axis], most = std::max(std::abs(lo[axis]), std::abs(hi[axis]));
    lowest += std::min(lo[axis] * n, hi[axis] * n);
    highest += std::max(lo[axis] * n, hi[axis] * n);
    const bool along = distance.kind == Distance::Kind::cylinder && std::abs(n) == 1;
    if (!along) square += most * most;
  }
  if (distance.kind == Distance::Kind::height) return {lowest, highest};
  const auto* sphere = region ? std::get_if<mesh::Sphere>(&*region) : nullptr;
  const double corner = std::sqrt(square);
  return {0, sphere ? std::min(corner, reach_of_sphere(header, distance.centre, *sphere)) : corner};
}

/// Collective: ranks that have not opened the step do not know its levels.
double half_a_finest_cell(const step::SharedStep& step, const base::Ranks& ranks) {
  int deepest = 0;
  for (const mesh::LevelCount& count : step.levels)
    if (count.leaves > 0) deepest = std::max(deepest, mesh::level_index(step.header, count.level));
  deepest = base::from_first(ranks, std::vector<int>{deepest})[0];
  return mesh::cell_size(step.header, deepest)[0] / 2;
}

// ------------------------------------------------------------------------------------------------ passes over parts

Error nothing_to_bin(const Pass& pass) {
  return Error(Kind::usage,
               pass.options.particles ? "no particle is selected" : "the selection holds no cell: " + pass.scope.text)
      .at(pass.step.path);
}

bool is_unknown(const BinBy& axis) { return !axis.range && !axis.around; }

bool has_unknown(const Diagram& diagram) {
  return std::any_of(diagram.options.axes.begin(), diagram.options.axes.end(), is_unknown);
}

/// Those of the axes whose limits are not known, in their order.
std::vector<Quantity> unknown_of(const Diagram& diagram) {
  std::vector<Quantity> unknown;
  for (std::size_t a = 0; a < diagram.plan.axes.size(); ++a)
    if (is_unknown(diagram.options.axes[a])) unknown.push_back(diagram.plan.axes[a].quantity);
  return unknown;
}

/// The ranges that samples have along the axes whose limits are not known.
ValueRanges unknown_ranges(const Diagram& diagram, const analysis::Samples& samples) {
  ValueRanges ranges = analysis::value_ranges(samples);
  for (std::size_t a = ranges.of.size(); a-- > 0;)
    if (!is_unknown(diagram.options.axes[a])) ranges.of.erase(ranges.of.begin() + static_cast<std::ptrdiff_t>(a));
  return ranges;
}

/// The ranges in one part, of each diagram. Keeps what it reads if there is room.
std::vector<ValueRanges> ranges_in_part(const Pass& pass, Diagrams& diagrams, std::size_t i) {
  PartInPass part(pass, i);
  std::vector<bool> kept;  // others may fill the room meanwhile
  for (const Diagram& diagram : diagrams) {
    kept.push_back(pass.options.particles || !diagram.kept.full());
    if (kept.back())
      part.ask(diagram.plan);
    else
      part.ask(unknown_of(diagram), {});
  }
  std::vector<ValueRanges> found(diagrams.size());
  for (std::size_t d = 0; d < diagrams.size(); ++d) {
    Diagram& diagram = diagrams[d];
    if (kept[d]) {
      analysis::Samples samples = part.samples(diagram.plan);
      found[d] = unknown_ranges(diagram, samples);
      if (!diagram.kept.full()) diagram.kept.keep(i, std::move(samples));
    } else if (has_unknown(diagram)) {
      found[d] = analysis::value_ranges(part.cells(), pass.header, pass.selection, unknown_of(diagram));
    }
  }
  return found;
}

std::vector<ValueRanges> ranges_of(const Pass& pass, Diagrams& diagrams) {
  const auto add = [](std::vector<ValueRanges>& to, std::vector<ValueRanges>&& later) {
    for (std::size_t d = 0; d < to.size(); ++d) analysis::add(to[d], later[d]);
  };
  auto found = sum_parts(pass.scope.parts, pass.workers,
                         Summation{[&](std::size_t i) { return ranges_in_part(pass, diagrams, i); }, add});
  found.resize(diagrams.size());
  return found;
}

std::vector<PartialBins> sums_of(const Pass& pass, Diagrams& diagrams) {
  std::vector<Diagram*> all;
  for (Diagram& diagram : diagrams) all.push_back(&diagram);
  return sum_samples(pass, all,
                     SampleSums{[](const Diagram& diagram) { return analysis::empty_bins(diagram.plan); },
                                [](const Diagram& diagram, const analysis::Samples& samples, PartialBins& to) {
                                  analysis::add_samples(samples, diagram.plan, to);
                                },
                                [](PartialBins& to, PartialBins&& later) { analysis::add(to, std::move(later)); }});
}

// ------------------------------------------------------------------------------------------------ limits

std::string name_of_axis(const BinBy& axis) {
  if (!axis.around) return axis.field;
  switch (axis.around->kind) {
    case Distance::Kind::radius: return "radius";
    case Distance::Kind::cylinder: return "cylinder radius";
    case Distance::Kind::height: return "height";
    case Distance::Kind::angle: return "angle";
  }
  return {};
}

/// Edges from a range, where `log` may still be open.
void set_edges(analysis::BinAxis& axis, const BinBy& asked, std::array<double, 2> range) {
  axis.log = asked.log.value_or(range[0] > 0 && range[1] / range[0] > wide_range);
  try {
    axis.edges = analysis::bin_edges(range[0], range[1], asked.bins, axis.log);
  } catch (Error& error) {
    throw error.at("bins of " + name_of_axis(asked));
  }
}

std::array<double, 2> found_range(const analysis::ValueRange& found, const BinBy& asked) {
  if (found.finite == 0) throw Error(Kind::usage, "nothing selected has a finite value of " + asked.field);
  const bool log = asked.log.value_or(false);
  if (log && !(found.max > 0))
    throw Error(Kind::usage, "logarithmic bins of " + asked.field + ": no value of the selection is above 0");
  const double lo = log ? found.least_positive : found.min;
  const double size = std::max(std::abs(lo), std::abs(found.max));
  const double rounding = 4 * std::numeric_limits<double>::epsilon() * size * static_cast<double>(asked.bins);
  if (found.max - lo > rounding) return {lo, found.max};
  // One value, but for rounding: bins around it.
  const double margin = size == 0 ? 0.5 : size * 0x1p-10;
  return {lo - margin, lo + margin};
}

std::array<double, 2> range_of_distance(const Pass& pass, const BinBy& axis, const Distance& distance) {
  if (distance.kind == Distance::Kind::angle) return {0, 360};
  std::array<double, 2> range = reach_of(pass.header, distance, pass.options.region);
  if (axis.log.value_or(false)) range[0] = half_a_finest_cell(pass.step, pass.options.ranks);
  return range;
}

/// Sets the edges of a diagram's axes, from the ranges of those that are not known.
void set_limits(const Pass& pass, const ValueRanges& found, Diagram& diagram) {
  if (has_unknown(diagram) && found.cells == 0) throw nothing_to_bin(pass);
  std::size_t next = 0;
  for (std::size_t a = 0; a < diagram.plan.axes.size(); ++a) {
    const BinBy& asked = diagram.options.axes[a];
    analysis::BinAxis& axis = diagram.plan.axes[a];
    if (asked.range)
      set_edges(axis, asked, *asked.range);
    else if (asked.around)
      set_edges(axis, asked, range_of_distance(pass, asked, std::get<Distance>(axis.quantity)));
    else
      set_edges(axis, asked, found_range(found.of.at(next++), asked));
  }
}

std::size_t count_of_bins(const Diagram& diagram) {
  std::size_t count = 1;
  for (const BinBy& axis : diagram.options.axes) count *= std::min(axis.bins, most_bins_of_plan);
  if (count > most_bins_of_plan)
    throw Error(Kind::usage, "bins of both axes: expected at most 2^24, found " + std::to_string(count));
  return count;
}

void check_size(const Pass& pass, const Diagrams& diagrams) {
  const auto tables = static_cast<std::uint64_t>(base::thread_count(pass.workers.threads)) +
                      static_cast<std::uint64_t>(std::bit_width(pass.scope.parts)) + 2;
  std::uint64_t bytes = 0;
  std::size_t bins = 0;
  for (const Diagram& diagram : diagrams) {
    const std::size_t count = count_of_bins(diagram), fields = diagram.plan.fields.size();
    const std::size_t sought = count * fields * diagram.options.percentiles.size();
    bins += count;
    bytes += count * (sizeof(analysis::BinContents) + fields * sizeof(analysis::Moments));
    bytes += sought == 0 ? 0 : analysis::most_pieces(sought) * sizeof(analysis::BinContents);
  }
  base::need_memory(bytes * tables, "the sums of " + std::to_string(bins) + " bins");
}

// ------------------------------------------------------------------------------------------------ the result

Bins::Rest rest_of(const analysis::Outside& outside) { return {outside.cells, outside.weight.value()}; }

Bins::Field field_bins(const mesh::Header& header, const std::string& name, const std::vector<analysis::Moments>& bins,
                       const std::vector<analysis::BinContents>& contents) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  Bins::Field out{name, unit_of_bins(header, name), {}, {}, {}, {}, {}};
  for (std::size_t b = 0; b < bins.size(); ++b) {
    const analysis::MeanAndDeviation value = analysis::mean_and_deviation(bins[b], contents[b].weight);
    out.mean.push_back(value.mean);
    out.deviation.push_back(value.deviation);
    out.counted.push_back(contents[b].weight.value() - bins[b].left_out);
    const bool any = !std::isnan(bins[b].origin);
    out.min.push_back(any ? bins[b].min : none);
    out.max.push_back(any ? bins[b].max : none);
  }
  return out;
}

void fill_in(Bins& out, const PartialBins& sums, const BinPlan& plan, const mesh::Header& header,
             const std::optional<analysis::PercentileSearch>& search) {
  analysis::Sum all;
  for (const analysis::BinContents& bin : sums.bins) {
    out.cells.push_back(bin.cells);
    out.weights.push_back(bin.weight.value());
    all.add(bin.weight);
  }
  all.add(sums.beyond.weight);
  all.add(sums.nan.weight);
  out.all = {sums.cells - sums.unweighed, all.value()};
  out.beyond = rest_of(sums.beyond);
  out.nan = rest_of(sums.nan);
  out.unweighed = sums.unweighed;
  for (std::size_t f = 0; f < plan.fields.size(); ++f) {
    out.fields.push_back(field_bins(header, plan.fields[f], sums.fields[f], sums.bins));
    if (search) out.fields[f].percentiles = analysis::percentiles_of(*search, f);
  }
}

Bins describe_bins(const mesh::Header& header, const BinsOptions& options, const BinPlan& plan) {
  Bins out;
  for (std::size_t a = 0; a < plan.axes.size(); ++a) {
    const auto* field = std::get_if<std::string>(&plan.axes[a].quantity);
    const auto* distance = std::get_if<Distance>(&plan.axes[a].quantity);
    const bool angle = distance && distance->kind == Distance::Kind::angle;
    const std::string unit = angle ? "degree" : distance ? "code_length" : unit_of_bins(header, *field);
    if (distance) out.centre = distance->centre;
    out.axes.push_back({name_of_axis(options.axes[a]), unit, plan.axes[a].log, plan.axes[a].edges});
  }
  out.weight = options.weight;
  out.weight_unit = unit_of_bins(header, plan.weight);
  out.time = header.time;
  if (const auto found = header.attributes.find("over_time"); found != header.attributes.end())
    out.over_time = std::get<std::string>(found->second);
  out.unit_length = header.unit_length;
  out.unit_density = header.unit_density;
  out.unit_time = header.unit_time;
  return out;
}

Distance distance_of(const mesh::Header& header, const BinBy::Around& around, const mesh::Point3& centre) {
  Distance distance{around.kind, centre, {}};
  if (around.kind == Distance::Kind::radius) return distance;
  if (around.kind == Distance::Kind::angle && header.dim < 3) {
    if (header.dim < 2) throw Error(Kind::usage, "1-D data has no angles");
    return distance;
  }
  distance.normal = unit_normal(around.normal, header.dim);
  if (around.kind == Distance::Kind::angle) {
    const analysis::Orientation axes = analysis::make_orientation(distance.normal, {});
    distance.right = axes.right;
    distance.up = axes.up;
  }
  return distance;
}

BinPlan bin_plan_of(const step::SharedStep& step, const mesh::Header& header, const BinsOptions& options) {
  if (options.axes.size() > 2)
    throw Error(Kind::usage, "bins are of at most two quantities, not " + std::to_string(options.axes.size()));
  BinPlan plan;
  for (const BinBy& axis : options.axes) {
    if (!axis.around) {
      plan.axes.push_back({axis.field, {}, false});
      continue;
    }
    plan.axes.push_back(
        {distance_of(header, *axis.around, centre_of_bins(step, options, axis.around->centre)), {}, false});
  }
  plan.fields = options.fields;
  if (!options.particles) plan.weight = cell_weight_of(header, options.weight);
  return plan;
}

/// Collective.
Bins result_of(const Pass& pass, Diagram& diagram, const PartialBins& sums) {
  std::optional<analysis::PercentileSearch> search;
  if (!diagram.options.percentiles.empty()) search = find_percentiles(pass, diagram, sums);
  Bins out = describe_bins(pass.header, diagram.options, diagram.plan);
  fill_in(out, sums, diagram.plan, pass.header, search);
  out.selection = pass.scope.text;
  out.parts = pass.scope.listed;
  out.bytes_read = pass.scope.bytes;
  return out;
}

/// The points of triangles, in place of parts; rank 0 reads them, once a diagram.
void read_points(const Pass& pass, const mesh::Dataset& whole, Diagrams& diagrams) {
  base::agree(pass.workers.ranks, [&] {
    for (Diagram& diagram : diagrams)
      if (pass.workers.ranks.rank == 0)
        diagram.kept.points = detail::triangle_samples(whole, diagram.plan, pass.selection);
  });
}

std::vector<ValueRanges> ranges_of_points(const Pass& pass, const Diagrams& diagrams) {
  std::vector<ValueRanges> found;
  for (const Diagram& diagram : diagrams) found.push_back(unknown_ranges(diagram, diagram.kept.points));
  return pass.workers.ranks.size > 1 ? base::from_first(pass.workers.ranks, found) : found;
}

/// Sets the edges of all axes. Collective.
void find_limits(const Pass& pass, Diagrams& diagrams) {
  std::vector<ValueRanges> found(diagrams.size());
  if (std::any_of(diagrams.begin(), diagrams.end(), has_unknown))
    found = pass.step.unstructured ? ranges_of_points(pass, diagrams) : ranges_of(pass, diagrams);
  for (std::size_t d = 0; d < diagrams.size(); ++d) set_limits(pass, found[d], diagrams[d]);
}

/// The options of each diagram, with the selection of the first.
std::vector<BinsOptions> completed(const step::SharedStep& step, std::vector<BinsOptions> asked) {
  if (asked.empty()) throw Error(Kind::usage, "no diagram is asked for").at(step.path);
  for (BinsOptions& options : asked) {
    BinsOptions own = std::move(options);
    options = &options == asked.data() ? own : asked.front();
    options.axes = std::move(own.axes);
    options.fields = std::move(own.fields);
    options.percentiles = std::move(own.percentiles);
    options.weight = std::move(own.weight);
    if (options.weight.empty()) options.weight = mesh::density_field(step.header).empty() ? "volume" : "mass";
  }
  return asked;
}

std::vector<std::string> names_in(const mesh::Header& header, const std::vector<BinsOptions>& asked) {
  std::vector<std::string> names;
  for (const BinsOptions& options : asked)
    for (std::string& name : names_in(header, options))
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  return names;
}

}  // namespace

Bins bins(const step::SharedStep& step, const BinsOptions& options) {
  return std::move(diagrams(step, {options}).front());
}

std::vector<Bins> diagrams(const step::SharedStep& step, const std::vector<BinsOptions>& several) {
  const std::vector<BinsOptions> asked = completed(step, several);
  const BinsOptions& options = asked.front();
  const std::vector<std::string> names = names_in(step.header, asked);
  const mesh::Dataset whole = step::with_fields(step, names, options.definitions, step::Places::with_others);
  const mesh::Header& header = whole.header;
  mesh::select_fields(header, names);  // unknown names are refused before anything is read
  std::vector<BinPlan> plans;
  for (const BinsOptions& one : asked) plans.push_back(bin_plan_of(step, header, one));
  ScopeShare scope = options.particles
                         ? share_particles(step, *options.particles, options.region, options.ranks, Sharing::in_ranges)
                         : share_scope(step, options.region, options.max_level, options.ranks, Sharing::in_ranges);
  scope.text = with_condition(std::move(scope.text), options.where);
  const mesh::Dataset mine = step::with_fields(std::move(scope.mine), names, options.definitions, step);
  const Pass pass{step,
                  options,
                  scope,
                  mine,
                  header,
                  {options.region, options.max_level.value_or(std::numeric_limits<int>::max()), options.where},
                  {threads_within_memory(mine, options.threads), options.ranks, options.progress}};
  Diagrams all;
  for (std::size_t d = 0; d < asked.size(); ++d)
    all.emplace_back(asked[d], std::move(plans[d]), std::max<std::size_t>(1, static_cast<std::size_t>(mine.num_parts)),
                     detail::room_for_samples() / asked.size());
  check_size(pass, all);
  if (step.unstructured) read_points(pass, whole, all);
  find_limits(pass, all);
  const std::vector<PartialBins> sums = sums_of(pass, all);
  std::vector<Bins> out;
  for (std::size_t d = 0; d < all.size(); ++d) {
    if (sums[d].cells == 0) throw nothing_to_bin(pass);
    out.push_back(result_of(pass, all[d], sums[d]));
  }
  return out;
}

}  // namespace octavo::verbs
