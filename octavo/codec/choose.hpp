#pragma once
#include "octavo/codec/families.hpp"

/// Inside the codec room: how the encoder finds a chunk's model. A decoder needs none of this.
namespace octavo::codec {

template <class Grid>
std::uint64_t effort_for(const Numbers& numbers, const PredictedCells& cells) {
  std::uint64_t bits = 0;
  for (std::size_t lane = 0; lane < cells.count; ++lane)
    bits += effort_for<Grid>(numbers, cells.position[lane], cells.index[lane], cells.negative[lane] != 0);
  return bits;
}

template <class Grid>
std::uint64_t flat_cost(const Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> sample) {
  std::uint64_t bits = 0;
  const std::size_t size = model.place.members * model.place.width;
  for (std::uint32_t f : sample)
    for (std::size_t i = f * size; i < (f + 1) * size; ++i) {
      const bool known = i > 0 && numbers.kind[i - 1] == ValueKind::plain;
      bits += effort_for<Grid>(numbers, i, known ? numbers.index[i - 1] : 0, known && numbers.negative[i - 1] != 0);
    }
  return bits;
}

template <class Grid>
std::uint64_t sample_cost(const Model<Grid>& model, Base base, const Stencil& stencil, const Numbers& numbers,
                          std::span<const std::uint32_t> sample) {
  if (base == Base::previous) return flat_cost(model, numbers, sample);
  std::uint64_t bits = 0;
  for (std::size_t s = 0; s < sample.size(); s += num_lanes)
    for (std::size_t j = 0; j < model.place.width; ++j)
      predict_by_base(model, base, stencil, numbers, sample.subspan(s, std::min(num_lanes, sample.size() - s)), j,
                      [&](std::size_t, const PredictedCells& cells) { bits += effort_for<Grid>(numbers, cells); });
  return bits;
}

/// Tries the neighbours on about `wanted` values spread evenly over the chunk. They are chosen if they save one bit in
/// 64 against the previous value.
template <class Grid>
void choose_across(Model<Grid>& model, const Numbers& numbers, std::size_t wanted) {
  const std::size_t points = model.neighbours.order.size(), count = numbers.size();
  if (points == 0 || count % points != 0) return;
  const std::size_t stride = std::max<std::size_t>(1, count / std::max<std::size_t>(1, wanted));
  std::array<std::uint64_t, 4> bits{};
  PredictedCells cells;
  cells.count = 1;
  for (std::size_t t = 0; t < count; t += stride) {
    const bool known = t > 0 && numbers.kind[t - 1] == ValueKind::plain;
    bits[0] += effort_for<Grid>(numbers, t, known ? numbers.index[t - 1] : 0, known && numbers.negative[t - 1] != 0);
    for (std::size_t way = 1; way < (count == points ? 2u : 4u); ++way) {
      expect_across(model, static_cast<Across>(way), numbers, t / points * points, t % points, cells);
      bits[way] += effort_for<Grid>(numbers, cells);
    }
  }
  bits[0] -= bits[0] / 64;
  const auto end = bits.begin() + (count == points ? 2 : 4);
  model.across = static_cast<Across>(std::min_element(bits.begin(), end) - bits.begin());
}

/// Families spread evenly over the chunk, about `cells` cells of them.
std::vector<std::uint32_t> spread(const Families& place, std::size_t cells) {
  const std::size_t families = place.families();
  const std::size_t wanted = std::clamp<std::size_t>(cells / (place.members * place.width), 1, families);
  std::vector<std::uint32_t> sample(wanted);
  for (std::size_t s = 0; s < wanted; ++s) sample[s] = static_cast<std::uint32_t>(s * families / wanted);
  return sample;
}

template <class Grid>
void forget_tree(Model<Grid>& model, std::size_t count) {
  model.base = Base::previous;
  model.stencil = {};
  model.weights = {};
  model.layout = {1, count, 1};
}

/// A base with parents, its stencil, and whether last children follow from weights.
struct Candidate {
  Base base = Base::parent;
  Stencil stencil{};
  bool by_weights = false;
};

/// All bases with parents, or only the fastest fitted one; stencils are fitted on the families `sample`.
template <class Grid>
std::vector<Candidate> tree_bases(const Model<Grid>& model, const Numbers& numbers,
                                  std::span<const std::uint32_t> sample, bool fastest = false) {
  std::vector<Candidate> bases(1);
  if (model.place.members == 1 || model.place.families() < 16) return bases;
  if (fastest) bases.clear();
  for (Base base : Grid::fitted_bases)
    if (!fastest || bases.empty())
      bases.push_back({base, fit(model.place, model.coarse, numbers, base, model.grid.least_energy(base), sample)});
  if (model.known_weights.empty() || bases.back().base != Base::fitted_value) return bases;
  Candidate& weighted = bases.emplace_back(bases.back());
  weighted.by_weights = true;
  weighted.stencil.weight[model.place.members - 1] = {};
  return bases;
}

template <class Grid>
void use_base(Model<Grid>& model, const Candidate& candidate) {
  model.base = candidate.base;
  model.stencil = candidate.stencil;
  model.weights = candidate.by_weights ? model.known_weights : std::span<const typename Grid::Value>{};
  use_tree_layout(model);
}

/// Whether a chunk would be better without parents, and the bits of a sample with the best base that has them.
struct BaseCost {
  bool flat_is_better = false;
  std::uint64_t bits = 0;
};

/// The best base with parents, or only the fastest.
template <class Grid>
BaseCost choose_base(Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> sample,
                     bool fastest = false) {
  BaseCost found;
  std::uint64_t best = ~std::uint64_t{0};
  const std::size_t m = model.place.members;
  const std::size_t stencil_bits = 8 * (m * static_cast<std::size_t>(axes_of(m)) + m * (m - 1) / 2);
  Candidate chosen;
  for (const Candidate& candidate : tree_bases(model, numbers, sample, fastest)) {
    const std::size_t extra =
        candidate.base == Base::parent ? 0 : stencil_bits * sample.size() / model.place.families();
    use_base(model, candidate);
    const std::uint64_t bits = sample_cost(model, candidate.base, candidate.stencil, numbers, sample);
    if (bits + extra >= best) continue;
    best = bits + extra;
    found.bits = bits;
    chosen = candidate;
  }
  use_base(model, chosen);
  found.flat_is_better = best > flat_cost(model, numbers, sample);
  return found;
}

/// Tries the twin in the orientation of the last success, then in all; 0 where none saves more than naming it takes.
template <class Grid>
std::uint8_t choose_orientation(const Model<Grid>& model, const Numbers& numbers, std::uint32_t family,
                                std::size_t& last, std::uint64_t& saved) {
  std::uint64_t base_cost = 0;
  predict_by_base(model, model.base, model.stencil, numbers, std::span(&family, 1), 0,
                  [&](std::size_t, const PredictedCells& cells) { base_cost += effort_for<Grid>(numbers, cells); });
  if (base_cost < 6) return 0;
  std::uint64_t lowest = 0;
  predict_by_twin(model, numbers, family, last,
                  [&](std::size_t, const PredictedCells& cells) { lowest += effort_for<Grid>(numbers, cells); });
  std::size_t best = last;
  if (8 * lowest > base_cost) {
    // The cost of each cell after each cell of the twin, then of every way to pair them.
    const std::size_t m = model.place.members;
    std::array<std::array<unsigned, 8>, 8> cost;
    const auto& all = orientations(m);
    for (std::size_t x = 0; x < m; ++x)  // mirrored by x: cell c stands on cell c ^ x
      predict_by_twin(model, numbers, family, x, [&](std::size_t, const PredictedCells& cells) {
        const std::size_t c = cells.position[0] - family * m;
        cost[c][all.map[x][c]] = static_cast<unsigned>(effort_for<Grid>(numbers, cells));
      });
    for (std::size_t turn = 0; turn < static_cast<std::size_t>(all.count); ++turn) {
      std::uint64_t sum = 0;
      for (std::size_t c = 0; c < m; ++c) sum += cost[c][all.map[turn][c]];
      if (sum >= lowest) continue;
      lowest = sum;
      best = turn;
    }
  }
  if (lowest + 8 >= base_cost) return 0;
  last = best;
  saved += base_cost - lowest - 8;
  return static_cast<std::uint8_t>(1 + best);
}

/// Whether twins promise to save one part in sixteen of all bits: found out on some of the families.
template <class Grid>
bool twins_promise(const Model<Grid>& model, const Numbers& numbers) {
  std::uint64_t saved = 0;
  std::size_t last = 0;
  const auto sample = spread(model.place, 512);
  for (std::uint32_t f : sample)
    if (model.twins[f] != no_twin) choose_orientation(model, numbers, f, last, saved);
  return saved > 0 && 16 * saved > sample_cost(model, model.base, model.stencil, numbers, sample);
}

template <class Grid>
std::uint64_t try_twins(Model<Grid>& model, const Numbers& numbers, unsigned shift) {
  model.shift = shift;
  model.twins = twins_of(model, shift);
  if (!twins_promise(model, numbers)) return 0;
  model.orientation.assign(model.twins.size(), 0);
  std::uint64_t saved = 0;
  std::size_t last = 0;
  for (std::uint32_t f = 0; f < model.twins.size(); ++f)
    if (model.twins[f] != no_twin) model.orientation[f] = choose_orientation(model, numbers, f, last, saved);
  return saved;
}

template <class Grid>
void forget_twins(Model<Grid>& model) {
  model.shift = 0;
  model.twins.clear();
  model.orientation.clear();
}

/// The twins that save most; returns the bits.
template <class Grid>
std::uint64_t choose_twins(Model<Grid>& model, const Numbers& numbers, std::initializer_list<unsigned> shifts) {
  if (model.place.width != 1 || model.place.members < 2) return 0;
  constexpr std::uint64_t least = 8 * 24;
  std::uint64_t best = least;
  unsigned best_shift = 0;
  std::vector<std::uint32_t> twins;
  std::vector<std::uint8_t> orientation;
  for (unsigned shift : shifts) {
    const std::uint64_t saved = try_twins(model, numbers, shift);
    if (saved <= best) continue;
    best = saved;
    best_shift = shift;
    twins = std::move(model.twins);
    orientation = std::move(model.orientation);
  }
  model.shift = best_shift;
  model.twins = std::move(twins);
  model.orientation = std::move(orientation);
  return best == least ? 0 : best;
}

/// The model by sides with this base, and with the model's weights.
template <class Grid>
void use_sides(Model<Grid>& model, const Numbers& numbers, Base base, std::span<const std::uint32_t> sample) {
  forget_twins(model);
  use_tree_layout(model);
  model.base = base;
  model.stencil = fit_by_sides(model.place, model.coarse, numbers, base, model.grid.least_energy(base), sample);
  if (!model.weights.empty()) model.stencil.weight[model.place.members - 1] = {};
}

/// Bits that a stencil takes.
template <class Grid>
std::uint64_t stencil_cost(const Model<Grid>& model) {
  Bytes bytes;
  if (model.base == Base::fitted_index || model.base == Base::fitted_value)
    put_stencil(bytes, model.stencil, model.place.members);
  return 8 * bytes.size();
}

/// Takes the model by sides if it promises to save one part in 48 of the model's bits: `bits` of the sample without
/// twins, which save `saved` in all. (With less it is not worth the time that decoding takes.)
template <class Grid>
void choose_sides(Model<Grid>& model, const Numbers& numbers, std::span<const std::uint32_t> sample, std::uint64_t bits,
                  std::uint64_t saved) {
  if (model.place.sides.empty() || model.place.members == 1 || model.place.families() < 16) return;
  const auto of_all = [&](std::uint64_t of_sample) { return of_sample * model.place.families() / sample.size(); };
  const std::uint64_t cost = of_all(bits) + stencil_cost(model);
  Model<Grid> by_sides = model;
  const bool fitted = model.base == Base::fitted_index || model.base == Base::fitted_value;
  use_sides(by_sides, numbers, fitted ? model.base : Base::fitted_value, sample);
  const std::uint64_t promised = of_all(bits_by_sides(by_sides, numbers, sample)) + stencil_cost(by_sides);
  if (promised + saved + cost / 48 >= cost) return;
  forget_twins(model);
  use_tree_layout(model);
  model.base = by_sides.base;
  model.stencil = by_sides.stencil;
}

/// The model that the default takes: the one that promises least on a sample.
template <class Grid>
void choose_model(Model<Grid>& model, const Numbers& numbers, std::size_t sample,
                  std::initializer_list<unsigned> shifts) {
  choose_across(model, numbers, sample);
  if (model.place.parents.empty()) return;
  const auto families = spread(model.place, sample);
  const BaseCost found = choose_base(model, numbers, families);
  const std::uint64_t saved = choose_twins(model, numbers, shifts);
  if (found.flat_is_better && model.twins.empty()) return forget_tree(model, numbers.size());
  choose_sides(model, numbers, families, found.bits, saved);
}

/// The model of the effort fast: nothing that takes long to find or to decode, as twins and sides do.
template <class Grid>
void choose_fast(Model<Grid>& model, const Numbers& numbers, std::size_t sample) {
  choose_across(model, numbers, sample);
  if (model.place.parents.empty()) return;
  if (choose_base(model, numbers, spread(model.place, sample), true).flat_is_better) forget_tree(model, numbers.size());
}

/// Calls consider() for every model: each way across a mesh, and each base, fitted on samples of these numbers of
/// values, with twins and without.
template <class Grid, class Consider>
void for_each_model(Model<Grid>& model, const Numbers& numbers, std::initializer_list<std::size_t> samples,
                    std::initializer_list<unsigned> shifts, Consider&& consider) {
  forget_tree(model, numbers.size());
  forget_twins(model);
  const std::size_t points = model.neighbours.order.size();
  const unsigned ways = points == 0 || numbers.size() % points != 0 ? 1 : numbers.size() == points ? 2 : 4;
  for (unsigned way = 0; way < ways; ++way) {
    model.across = static_cast<Across>(way);
    consider();
  }
  model.across = Across::none;
  if (model.place.parents.empty()) return;
  for (const std::size_t size : samples)
    for (const Candidate& candidate : tree_bases(model, numbers, spread(model.place, size))) {
      use_base(model, candidate);
      forget_twins(model);
      consider();
      choose_twins(model, numbers, shifts);
      if (!model.twins.empty()) consider();
      if (model.place.sides.empty() || candidate.base == Base::parent) continue;
      use_sides(model, numbers, candidate.base, spread(model.place, size));
      consider();
    }
}

}  // namespace octavo::codec
