#include <algorithm>
#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <numeric>
#include <set>

#include "octavo/base/equal_shares.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/verbs/diff/diff_pieces.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/sum_parts.hpp"

namespace octavo::verbs::detail {
namespace {

using base::Error;
using base::Kind;

// ---------------------------------------------------------------------------------------------- variables

/// A variable of both: its place in the header's fields of each.
struct SharedVariable {
  std::string name;
  std::array<std::size_t, 2> field{};
  int component = 0;
};
struct Variables {
  std::vector<SharedVariable> shared;
  std::vector<char> on_faces;
};

std::optional<std::size_t> find(const mesh::Header& header, const std::string& name) {
  for (std::size_t i = 0; i < header.fields.size(); ++i)
    if (header.fields[i].name == name) return i;
  return {};
}

bool one_a_cell(const mesh::FieldInfo& info) { return info.ghost == 0 && info.centring != mesh::Centring::particle; }

void share(const mesh::Header& a, std::size_t in_a, const mesh::Header& b, std::size_t in_b, const Rules& rules,
           Variables& to, DiffReport& report) {
  const mesh::FieldInfo &x = a.fields[in_a], &y = b.fields[in_b];
  if (!one_a_cell(x) || !one_a_cell(y) || x.centring != y.centring || x.components != y.components) {
    report.incomparable.push_back(x.name);
    return differ(report,
                  "variable " + x.name + " is not comparable: its values stand elsewhere, or are not one a cell");
  }
  for (int c = 0; c < x.components; ++c) {
    const std::string name = x.components == 1 ? x.name : x.name + "[" + std::to_string(c) + "]";
    if (rules.ignored(name)) continue;
    to.shared.push_back({name, {in_a, in_b}, c});
    to.on_faces.push_back(x.centring == mesh::Centring::cell ? 0 : 1);
  }
}

Variables share_variables(const mesh::Header& a, const mesh::Header& b, const DiffOptions& options, const Rules& rules,
                          DiffReport& report) {
  Variables out;
  std::set<std::string> taken;
  for (const auto& pair : options.names)
    if (!find(a, pair.first) || !find(b, pair.second))
      throw Error(Kind::usage, "no variable " + (find(a, pair.first) ? pair.second + " in B" : pair.first + " in A"));
  for (std::size_t i = 0; i < a.fields.size(); ++i) {
    const std::string& name = a.fields[i].name;
    const auto renamed = options.names.find(name);
    const std::string& other = renamed == options.names.end() ? name : renamed->second;
    taken.insert(other);
    if (rules.ignored(name)) continue;
    if (const auto j = find(b, other)) {
      share(a, i, b, *j, rules, out, report);
    } else {
      report.only[0].push_back(name);
      differ(report, "variable " + name + " is in A only");
    }
  }
  for (const mesh::FieldInfo& field : b.fields) {
    if (taken.count(field.name) != 0 || rules.ignored(field.name)) continue;
    report.only[1].push_back(field.name);
    differ(report, "variable " + field.name + " is in B only");
  }
  return out;
}

// ---------------------------------------------------------------------------------------------- parts in memory

struct Held {
  std::atomic<int> now{0}, most{0};
  void enter() {
    const int mine = ++now;
    for (int seen = most; seen < mine && !most.compare_exchange_weak(seen, mine);) {
    }
  }
};

/// A part read and made ready; its tree is dropped.
struct Ready {
  explicit Ready(Held& counter) : held(counter) { held.enter(); }
  ~Ready() { --held.now; }
  Ready(const Ready&) = delete;
  Ready& operator=(const Ready&) = delete;

  Held& held;
  mesh::Part part;
  std::vector<analysis::Leaf> leaves;
  std::vector<analysis::ComparedVariable> variables;
  analysis::ComparedPart view(int index) const { return {leaves, variables, index}; }
};

const mesh::Field& field_of(const mesh::Part& part, const mesh::FieldInfo& info, std::size_t values) {
  for (const mesh::Field& field : part.fields)
    if (field.info.name == info.name) {
      if (field.size() == values * static_cast<std::size_t>(field.info.components)) return field;
      throw Error(Kind::corrupt,
                  "values of a field: expected " + std::to_string(values) + ", found " + std::to_string(field.size()))
          .at("part " + std::to_string(part.index) + ", field " + info.name);
    }
  throw Error(Kind::corrupt, "the part lacks the field \"" + info.name + "\"").at("part " + std::to_string(part.index));
}

/// One step: how its parts are read.
class StepSide {
 public:
  StepSide(const mesh::Dataset& dataset, std::size_t side, const analysis::CommonGrid& grid, const Variables& variables,
           Held& held)
      : dataset_(dataset), side_(side), grid_(grid), variables_(variables), held_(held) {
    std::set<std::string> names;
    for (const SharedVariable& v : variables.shared) names.insert(dataset.header.fields[v.field[side]].name);
    request_.fields = std::vector<std::string>(names.begin(), names.end());
  }

  std::shared_ptr<const Ready> read(int part) {
    ++reads_;
    auto ready = std::make_shared<Ready>(held_);
    ready->part = dataset_.read(part, request_);
    const mesh::Octree& tree = mesh::octree_of(ready->part);
    const std::size_t values = mesh::num_cells(tree) * mesh::block_size(tree);
    ready->leaves = analysis::sorted_leaves(tree, grid_, side_);
    for (const SharedVariable& v : variables_.shared)
      ready->variables.push_back({&field_of(ready->part, dataset_.header.fields[v.field[side_]], values), v.component});
    ready->part.mesh = mesh::Octree{};
    return ready;
  }
  const mesh::Dataset& dataset() const { return dataset_; }
  std::int64_t reads() const { return reads_; }

 private:
  const mesh::Dataset& dataset_;
  std::size_t side_;
  const analysis::CommonGrid& grid_;
  const Variables& variables_;
  Held& held_;
  mesh::Request request_;
  std::atomic<std::int64_t> reads_{0};
};

/// The parts of B used last. Threads that ask for one part wait for one reading of it.
class Cache {
 public:
  Cache(StepSide& side, std::size_t capacity) : side_(side), capacity_(capacity) {}

  std::shared_ptr<const Ready> get(int part) {
    std::packaged_task<std::shared_ptr<const Ready>()> task([this, part] { return side_.read(part); });
    std::shared_future<std::shared_ptr<const Ready>> future;
    bool mine = false;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.part == part; });
      if (found != rows_.end()) {
        rows_.splice(rows_.begin(), rows_, found);
      } else {
        rows_.push_front({part, task.get_future().share()});
        // Threads that still use the part hold it by its future.
        if (rows_.size() > capacity_) rows_.pop_back();
        mine = true;
      }
      future = rows_.front().future;
    }
    if (mine) task();
    return future.get();
  }

 private:
  struct Row {
    int part;
    std::shared_future<std::shared_ptr<const Ready>> future;
  };
  StepSide& side_;
  std::size_t capacity_;
  std::mutex mutex_;
  std::list<Row> rows_;
};

// ---------------------------------------------------------------------------------------------- the work

/// The part of B that is likely to hold what part i of A does: cuts tend to follow one curve.
int likely_part(const mesh::Dataset& a, const mesh::Dataset& b, int i) {
  return static_cast<int>(static_cast<std::int64_t>(i) * b.num_parts / a.num_parts);
}

/// The parts of B that can hold a leaf, the likely one first. A matter of headers alone, and so the same in every run.
std::vector<int> candidates(const mesh::Dataset& b, const analysis::CommonGrid& grid,
                            const std::vector<analysis::Leaf>& leaves, int likely) {
  constexpr std::size_t boxes = 64;
  std::set<int> found;
  for (const mesh::Box& box : analysis::cover(grid, leaves, boxes))
    for (const int part : b.parts_touching(box)) found.insert(part);
  std::vector<int> list(found.begin(), found.end());
  std::stable_sort(list.begin(), list.end(), [&](int p, int q) { return std::abs(p - likely) < std::abs(q - likely); });
  return list;
}

struct PartDifference {
  analysis::Comparison counts;
  analysis::OpenMeans open;
  std::int64_t leaves = 0;
};

template <class Way>
void both(Way& way, PartDifference& result) {
  both(way, result.counts, result.open, result.leaves);
}

PartDifference compare_part(StepSide& a, Cache& b, const mesh::Dataset& other, const analysis::CommonGrid& grid,
                            const Variables& variables, int i) {
  const auto mine = a.read(i);
  PartDifference out{analysis::empty_comparison(grid, variables.shared.size()), {}, 0};
  std::size_t left = mine->leaves.size();
  out.leaves = static_cast<std::int64_t>(left);
  std::vector<char> met(left, 0);
  const auto meet = [&](int part) {
    const auto theirs = b.get(part);
    left -= analysis::compare(grid, mine->view(i), theirs->view(part), variables.on_faces, met, out.open, out.counts);
  };
  const int likely = likely_part(a.dataset(), other, i);
  const bool same_count = a.dataset().num_parts == other.num_parts;
  // With as many parts, the part of the same number mostly has all leaves, and no other is looked for.
  if (left > 0 && same_count) meet(likely);
  if (left == 0) return out;
  for (const int part : candidates(other, grid, mine->leaves, likely)) {
    if (left == 0) break;
    if (!same_count || part != likely) meet(part);
  }
  return out;
}

std::int64_t leaf_cells(const mesh::Dataset& dataset) {
  std::int64_t leaves = 0;
  for (const mesh::LevelCount& level : dataset.levels) leaves += level.leaves;
  const mesh::Index3& block = dataset.header.block;
  return leaves * block[0] * block[1] * block[2];
}

void conclude(const mesh::Dataset& a, const mesh::Dataset& b, const analysis::Comparison& all,
              const Variables& variables, const DiffOptions& options, const Rules& rules, DiffReport& report) {
  report.cells = std::accumulate(all.cells.begin(), all.cells.end(), std::int64_t{0});
  report.refined = all.refined;
  report.leaves = all.leaves;
  report.first_refined = all.first_refined;
  report.unmatched[1] = leaf_cells(b) - all.leaves[1];
  const char* names[] = {"A", "B"};
  for (std::size_t side = 0; side < 2; ++side)
    if (report.unmatched[side] != 0)
      differ(report, std::to_string(report.unmatched[side]) + " leaf cells of " + names[side] +
                         " lie where the other has nothing");
  if (report.refined[0] + report.refined[1] > 0) {
    const std::string text = "the meshes differ: A refines " + std::to_string(report.refined[0]) +
                             " leaf cells of B, B refines " + std::to_string(report.refined[1]) + " of A";
    if (options.same_mesh)
      differ(report, text);
    else
      report.notes.push_back(text + "; there means of the finer side are compared");
  }
  std::vector<double> volumes;
  for (int depth = 0; depth <= report.grid->deepest; ++depth)
    volumes.push_back(analysis::volume_of(*report.grid, depth));
  for (std::size_t v = 0; v < variables.shared.size(); ++v) {
    const SharedVariable& shared = variables.shared[v];
    report.variables.push_back(judge(rules, shared.name, a.header.fields[shared.field[0]].unit,
                                     analysis::figures_of(all.variables[v], volumes)));
    if (!report.variables.back().within) differ(report, "variable " + shared.name + " differs");
  }
}

std::string cells_text(const mesh::Header& header) {
  std::string out;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    out += (axis == 0 ? "" : "x") + std::to_string(header.roots[axis] * header.block[axis]);
  return out;
}

}  // namespace

void diff_cells(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                DiffReport& report) {
  const Variables variables = share_variables(a.header, b.header, options, rules, report);
  report.grid = analysis::common_grid(a.header, analysis::deepest_index(a), b.header, analysis::deepest_index(b));
  if (!report.grid)
    return differ(report, "the meshes have no cells in common: coarsest grids of " + cells_text(a.header) + " and " +
                              cells_text(b.header) + " cells; no values are compared");
  const int threads = std::min(threads_within_memory(a, options.threads), threads_within_memory(b, options.threads));
  Held held;
  StepSide side_a(a, 0, *report.grid, variables, held), side_b(b, 1, *report.grid, variables, held);
  Cache cache(side_b, static_cast<std::size_t>(options.cached_parts > 0 ? options.cached_parts : 2 + threads));
  const auto first = static_cast<std::size_t>(base::share_begin(a.num_parts, options.ranks.size, options.ranks.rank));
  PartDifference all =
      sum_parts(static_cast<std::size_t>(a.num_parts), {threads, options.ranks, options.progress},
                Summation{[&](std::size_t i) {
                            return compare_part(side_a, cache, b, *report.grid, variables, static_cast<int>(first + i));
                          },
                          [&](PartDifference& to, PartDifference&& later) {
                            analysis::add(to.counts, later.counts);
                            analysis::close_means(std::move(later.open), variables.on_faces, to.open, to.counts);
                            to.leaves += later.leaves;
                          }});
  if (a.num_parts == 0) all.counts = analysis::empty_comparison(*report.grid, variables.shared.size());
  report.unmatched[0] = all.leaves - all.counts.leaves[0];
  const auto reads = base::sum(options.ranks, std::vector<std::int64_t>{side_a.reads(), side_b.reads()});
  report.reads = {reads[0], reads[1]};
  report.held = std::ranges::max(base::gather(options.ranks, std::vector<int>{held.most}));
  conclude(a, b, all.counts, variables, options, rules, report);
}

}  // namespace octavo::verbs::detail
