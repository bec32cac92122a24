#include "octavo/codec/codec.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "octavo/codec/bins.hpp"
#include "octavo/codec/boxes.hpp"
#include "octavo/codec/chunk.hpp"
#include "octavo/codec/flat.hpp"
#include "octavo/codec/grid.hpp"
#include "octavo/codec/lattice.hpp"

namespace octavo::codec {

using base::Error;

namespace {

template <class Refuse>
void check_neighbours(const Neighbours& neighbours, const Refuse& refuse) {
  const std::size_t points = neighbours.order.size();
  if (neighbours.near.size() != points) refuse("neighbours are not as many as points");
  bool inside = true;
  for (const std::uint32_t point : neighbours.order) inside = inside && point < points;
  for (const auto& near : neighbours.near)
    for (const std::uint32_t point : near) inside = inside && point < points;
  if (!inside) refuse("a neighbour is not among the " + std::to_string(points) + " points");
}

template <class Refuse>
void check_sides(std::span<const Sides> sides, std::size_t families, std::size_t coarse, const Refuse& refuse) {
  if (sides.empty()) return;
  if (sides.size() != families)
    refuse("expected sides of " + std::to_string(families) + " families, found " + std::to_string(sides.size()));
  std::uint32_t cell = 0, family = 0;
  for (const auto& [outer, upper] : sides)
    for (std::size_t a = 0; a < 3; ++a) {
      cell = std::max(cell, outer[a]);
      family = std::max(family, upper[a]);
    }
  if (cell >= coarse)
    refuse("outer cell " + std::to_string(cell) + " is not among the " + std::to_string(coarse) +
           " cells of the level above");
  if (family >= families)
    refuse("family " + std::to_string(family) + " at a side is not among the " + std::to_string(families));
}

template <class T>
void check_context(const Context<T>& context, std::size_t count) {
  const auto refuse = [](const std::string& why) { throw Error(base::Kind::usage, "codec context: " + why); };
  if (context.width == 0 || context.family == 0) refuse("width and family are at least 1");
  check_neighbours(context.neighbours, refuse);
  if (!context.counted.empty() && context.counted.size() * context.width != count)
    refuse("expected " + std::to_string(count / context.width) + " cells that count or do not, found " +
           std::to_string(context.counted.size()));
  const auto& [shape, at] = context.boxes;
  const double cells = static_cast<double>(shape[0]) * shape[1] * shape[2];
  const double in_boxes = cells * static_cast<double>(at.size());
  if (!at.empty() &&
      (!(cells > 0) || in_boxes > static_cast<double>(count) || count % static_cast<std::size_t>(in_boxes) != 0))
    refuse("expected the same number of values in each cell of " + std::to_string(at.size()) + " boxes, found " +
           std::to_string(count) + " values");
  if (!context.weights.empty() && context.weights.size() * context.width != count)
    refuse("expected weights of " + std::to_string(count / context.width) + " cells, found " +
           std::to_string(context.weights.size()));
  if (context.parents.empty()) return;
  if (count / context.width / context.family != context.parents.size() ||
      count != context.parents.size() * context.family * context.width)
    refuse("expected " + std::to_string(context.parents.size()) + " families of " + std::to_string(context.family) +
           " cells of " + std::to_string(context.width) + " values, found " + std::to_string(count) + " values");
  const std::uint32_t last = *std::max_element(context.parents.begin(), context.parents.end());
  if (context.coarse.size() % context.width != 0 || last >= context.coarse.size() / context.width)
    refuse("parent " + std::to_string(last) + " is not among the " +
           std::to_string(context.coarse.size() / context.width) + " cells of the level above");
  check_sides(context.sides, context.parents.size(), context.coarse.size() / context.width, refuse);
}

void check_bound(const Bound& bound) {
  if (bound.kind == BoundKind::lossless) return;
  if (!(bound.value > 0) || !std::isfinite(bound.value))
    throw Error(base::Kind::usage, "an error bound is finite and positive, not " + std::to_string(bound.value))
        .hint("lossless keeps every bit");
}

template <class T>
Bytes bytes_of(std::span<const T> values) {
  Bytes bytes(values.size_bytes());
  to_little_endian(values, std::span<std::byte>(bytes));
  return bytes;
}

/// The smallest encoding so far; at first the values as they are.
struct Best {
  ChunkId id = ChunkId::raw;
  std::size_t size = 0;
  Bytes payload;  ///< empty where raw
  void consider(ChunkId candidate, Bytes bytes) {
    if (bytes.size() >= size) return;
    id = candidate;
    size = bytes.size();
    payload = std::move(bytes);
  }
};

/// Whether a general compressor can have a chance: values occur again, or end in zero bytes. Most fields are noise:
/// then this is false, and we skip the trial.
template <class T>
bool may_repeat(std::span<const T> values) {
  const auto slot_bits = static_cast<unsigned>(std::clamp<int>(bit_length(values.size()) + 1, 6, 16));
  std::vector<Number<T>> last(std::size_t{1} << slot_bits, 0);
  std::size_t again = 0, round = 0;
  for (T value : values) {
    const auto bits = std::bit_cast<Number<T>>(value);
    Number<T>& slot = last[(std::uint64_t{bits} * 0x9e3779b97f4a7c15ULL) >> (64 - slot_bits)];
    again += slot == bits ? 1u : 0u;
    round += (bits & 255) == 0 ? 1u : 0u;
    slot = bits;
  }
  return again * 50 > values.size() || round * 8 > values.size();
}

/// Eight slices of a chunk, which tell how well a general compressor will do on all of it.
template <class T>
std::vector<T> slices_of(std::span<const T> values) {
  constexpr std::size_t num_slices = 8;
  const std::size_t slice = std::max(std::clamp<std::size_t>(values.size() / 64, 64, 512), values.size() / 256);
  if (values.size() <= num_slices * slice) return {values.begin(), values.end()};
  std::vector<T> slices;
  for (std::size_t s = 0; s < num_slices; ++s) {
    const auto part = values.subspan(s * (values.size() - slice) / (num_slices - 1), slice);
    slices.insert(slices.end(), part.begin(), part.end());
  }
  return slices;
}

/// A chunk as a general compressor gets it: values or their differences, one after another or in byte planes.
struct General {
  bool differences, planes;
};

template <class T>
Bytes bytes_for(const General& form, std::span<const T> values) {
  const Bytes bytes =
      form.differences ? bytes_of(std::span<const Number<T>>(differences_of(values))) : bytes_of(values);
  return form.planes ? split_planes(bytes, sizeof(T)) : bytes;
}

/// Returns the bytes that the payload takes.
std::size_t add_general(const General& form, const Bytes& bytes, Search search, Best& best) {
  Bytes payload;
  if (form.differences) put_byte(payload, form.planes ? 1 : 0);
  zstd_compress(bytes, search, payload);
  const std::size_t size = payload.size();
  best.consider(form.differences ? ChunkId::differences
                : form.planes    ? ChunkId::planes
                                 : ChunkId::zstd,
                std::move(payload));
  return size;
}

/// Slices of a chunk, by which general compressors are judged before all of it is tried.
template <class T>
struct Excerpt {
  std::vector<T> slices;
  double share = 1;             ///< of the chunk, in slices
  bool has_parents = false;     ///< the chunk
  std::array<bool, 2> again{};  ///< whether values, and differences, come again
  double difference_bytes = 0;  ///< of the chunk, if nothing comes again

  bool repeats() const { return again[0] || again[1]; }
};

template <class T>
Excerpt<T> excerpt_of(std::span<const T> values, bool has_parents) {
  Excerpt<T> excerpt{slices_of(values), 1, has_parents, {}, 0};
  const auto differences = differences_of(std::span<const T>(excerpt.slices));
  excerpt.share = static_cast<double>(values.size()) / static_cast<double>(excerpt.slices.size());
  excerpt.again = {may_repeat(values), may_repeat(std::span<const Number<T>>(differences))};
  double bits = 0;
  for (const auto difference : differences) bits += bit_length(difference);
  excerpt.difference_bytes = excerpt.share * bits / 8;
  return excerpt;
}

/// Whether slices of a chunk, in this form, say that it takes at most about `limit` bytes: they tell the bytes of noise
/// to 2 %. If numbers come again, they do so farther apart than a slice is long, and the chunk may take a tenth as
/// much.
template <class T>
bool promises(const Excerpt<T>& excerpt, const General& form, std::size_t limit) {
  const bool again = excerpt.again[form.differences];
  if (!again && excerpt.has_parents && !form.planes) return false;
  const double most = 1.02 * static_cast<double>(limit);
  if (!excerpt.repeats() && form.differences && form.planes && excerpt.difference_bytes >= most) return false;
  Bytes packed;
  zstd_compress(bytes_for(form, std::span<const T>(excerpt.slices)), Search::repeats, packed);
  const double least = again && !form.planes ? 0.1 : 1;
  return least * excerpt.share * static_cast<double>(packed.size()) < most;
}

/// Bins, if an excerpt says that they come within 2 % of the goal, or all orders of them.
template <class T>
void add_bins(std::span<const T> values, Effort effort, std::size_t goal, Best& best) {
  const bool all = effort == Effort::max;
  if (!all && estimate_bins(values) > 1.02 * static_cast<double>(goal)) return;
  Bytes payload;
  encode_bins(values, !all, payload);
  best.consider(ChunkId::bins, std::move(payload));
}

/// Whether zstd's level 17 may find clearly more than a search that is several times as fast.
bool needs_thorough_search(std::span<const std::byte> part) {
  Bytes further, thorough;
  zstd_compress(part, Search::further, further);
  zstd_compress(part, Search::thorough, thorough);
  return static_cast<double>(thorough.size()) < 0.99 * static_cast<double>(further.size());
}

/// A form in bytes, and how many the first search took.
struct TriedForm {
  General form;
  Bytes bytes;
  std::size_t size;
};

/// Longer searches, if they can bring a form below `goal`.
void search_longer(const TriedForm& tried, double goal, Best& best) {
  // The smaller the chunk became, the more a longer search can save: half at most.
  const auto all = static_cast<double>(tried.bytes.size()), size = static_cast<double>(tried.size);
  if (size * (0.5 + 0.5 * size / all) > goal) return;
  // A stretch tells how a chunk of some blocks compresses. It misses the repetitions of a large chunk, and of one with
  // few different values.
  constexpr std::size_t stretch = 16384;
  const std::size_t bytes = tried.bytes.size();
  bool thorough = true;
  if (bytes > stretch && bytes < 8 * stretch && tried.size * 16 > bytes)
    thorough =
        needs_thorough_search(std::span<const std::byte>(tried.bytes).subspan((bytes - stretch) / 16 * 8, stretch));
  add_general(tried.form, tried.bytes, thorough ? Search::thorough : Search::further, best);
}

/// Tries a form of values or differences with all searches.
template <class T>
void search_all(std::span<const T> values, const General& form, Best& best) {
  const Bytes bytes = bytes_for(form, values);
  for (const Search search : {Search::repeats, Search::further, Search::thorough, Search::all})
    add_general(form, bytes, search, best);
}

/// Values and differences as they are, if slices promise something; longer searches where these come again. Returns
/// whether any was tried.
template <class T>
bool add_plain(const Excerpt<T>& excerpt, std::span<const T> values, std::size_t most, Best& best) {
  std::vector<TriedForm> repeating;
  const std::size_t goal = std::min(most, best.size);
  bool any = false;
  for (const General form : {General{false, false}, General{true, false}}) {
    if (!promises(excerpt, form, goal)) continue;
    any = true;
    Bytes bytes = bytes_for(form, values);
    const std::size_t size = add_general(form, bytes, Search::repeats, best);
    if (excerpt.again[form.differences]) repeating.push_back({form, std::move(bytes), size});
  }
  const auto smaller = [](const TriedForm& a, const TriedForm& b) { return a.size < b.size; };
  std::sort(repeating.begin(), repeating.end(), smaller);
  for (const TriedForm& tried : repeating)
    if (tried.size * 10 <= repeating.front().size * 11)
      search_longer(tried, static_cast<double>(std::min(most, best.size)), best);
  return any;
}

/// The general compressors, as far as they have a chance to be smaller than the best and than `most`.
template <class T>
void add_generals(std::span<const T> values, const Context<T>& context, Effort effort, std::size_t most, Best& best) {
  constexpr std::array planes{General{false, true}, General{true, true}};
  const auto goal = [&] { return std::min(most, best.size); };
  bool any = effort == Effort::max;
  std::size_t goal_of_bins = goal();
  if (any) {
    for (const General& form : {General{false, false}, planes[0], General{true, false}, planes[1]})
      search_all(values, form, best);
  } else {
    const Excerpt<T> excerpt = excerpt_of(values, !context.parents.empty());
    const std::size_t before = goal();
    const bool may_halve = excerpt.repeats() && !excerpt.has_parents;  // planes, against what slices say
    any = add_plain(excerpt, values, most, best);
    goal_of_bins = goal();  // estimates of bins are high, too
    for (const General& form : planes)
      if (promises(excerpt, form, may_halve ? std::max(before, 2 * goal()) : before)) {
        any = true;
        add_general(form, bytes_for(form, values), Search::repeats, best);
      }
  }
  if (any || values.size() >= 16384) add_bins(values, effort, goal_of_bins, best);
}

/// Whether boxes may be smaller than prediction from parents, which took `size` bytes.
template <class T>
bool boxes_promise(std::span<const T> values, const Context<T>& context, const Settings& settings, std::size_t size) {
  if (context.boxes.at.empty()) return false;
  if (context.parents.empty()) return true;
  if (context.boxes.at.size() != context.parents.size()) return false;
  // Where values are smooth, an estimate says little, and boxes win by much.
  const bool smooth = size * 8 < values.size() * 3;
  if (settings.effort == Effort::max || smooth) return true;
  // Estimates are low, because tables and values of coarser strides take more: the more so, the smaller a chunk is.
  const double few = 600 / static_cast<double>(values.size());
  const double low_by = settings.bound.kind == BoundKind::lossless ? 0.03 : std::min(0.12, 0.01 + few);
  return estimate_boxes(values, context, settings.bound) <= (1 - low_by) * static_cast<double>(size);
}

/// Values as zstd finds them at its fastest, if slices say that they come again.
template <class T>
void add_repeating(std::span<const T> values, Best& best) {
  const std::vector<T> slices = slices_of(values);
  if (may_repeat(std::span<const T>(slices))) add_general({false, false}, bytes_of(values), Search::quick, best);
}

template <class T>
void encode_lossless(std::span<const T> values, const Context<T>& context, const Settings& settings, Best& best) {
  const bool thorough = settings.effort == Effort::max;
  if (settings.method == Method::zstd)
    return void(add_general({false, false}, bytes_of(values), thorough ? Search::all : Search::quick, best));
  Bytes payload;
  if (encode_tree(values, context, settings.effort, payload)) best.consider(ChunkId::tree, std::move(payload));
  if (settings.method == Method::tree) return;
  if (settings.effort == Effort::fast) return add_repeating(values, best);
  std::vector<T> same(values.size());
  payload.clear();
  if (boxes_promise(values, context, settings, best.size) &&
      encode_boxes(values, context, {}, settings.effort, best.size, std::span<T>(same), payload))
    best.consider(ChunkId::boxes, std::move(payload));
  add_generals(values, context, settings.effort, best.size, best);
}

template <class T>
void encode_published(std::span<const T> values, const Context<T>& context, Method method, Best& best) {
  Bytes payload;
  if (method == Method::delta)
    encode_delta(values, payload);
  else
    encode_pcp(values, context, payload);
  best.consider(method == Method::delta ? ChunkId::delta : ChunkId::pcp, std::move(payload));
}

template <class T>
bool encode_lossy(std::span<const T> values, const Context<T>& context, const Settings& settings, std::span<T> decoded,
                  Best& best) {
  Bytes payload;
  if (!encode_grid(values, context, settings.bound, settings.effort, decoded, payload)) return false;
  const bool pointwise = settings.bound.kind == BoundKind::pointwise_relative;
  Best grid{pointwise ? ChunkId::log_grid : ChunkId::linear_grid, payload.size(), std::move(payload)};
  if (settings.method == Method::automatic && boxes_promise(values, context, settings, grid.size)) {
    std::vector<T> of_boxes(values.size());
    Bytes bytes;
    if (encode_boxes(values, context, settings.bound, settings.effort, grid.size, std::span<T>(of_boxes), bytes)) {
      grid = {ChunkId::boxes, bytes.size(), std::move(bytes)};
      std::copy(of_boxes.begin(), of_boxes.end(), decoded.begin());
    }
  }
  // Only where the grid did badly, or values occur again, can a lossless encoding be smaller.
  if (settings.effort == Effort::fast)
    add_repeating(values, best);
  else if (settings.effort == Effort::max || grid.size * 3 > values.size_bytes() || may_repeat(values))
    add_generals(values, context, settings.effort, grid.size, best);
  if (grid.size >= best.size) return false;
  best = std::move(grid);
  return true;
}

/// The smallest encoding that these settings find; `decoded` gets what decoding it gives.
template <class T>
Best smallest_of(std::span<const T> values, const Context<T>& context, const Settings& settings, std::span<T> decoded) {
  Best best{ChunkId::raw, values.size_bytes(), {}};
  const Method method = settings.method;
  bool lossy = false;
  if (values.empty() || method == Method::raw) {
  } else if (method == Method::delta || method == Method::pcp) {
    encode_published(values, context, method, best);
  } else {
    lossy = settings.bound.kind != BoundKind::lossless && method != Method::zstd &&
            encode_lossy(values, context, settings, decoded, best);
    if (!lossy) encode_lossless(values, context, settings, best);
  }
  if (!lossy) std::copy(values.begin(), values.end(), decoded.begin());
  return best;
}

template <class T>
void encode_any(std::span<const T> values, const Context<T>& context, const Settings& settings, std::span<T> decoded,
                std::vector<std::byte>& out) {
  check_bound(settings.bound);
  check_context(context, values.size());
  if (decoded.size() != values.size()) throw Error(base::Kind::usage, "decoded has not the size of values");
  Context<T> seen = context;
  if (!looks_around(settings)) {
    seen.boxes = {};
    seen.sides = {};
  }
  Best best = smallest_of(values, seen, settings, decoded);
  if (settings.effort == Effort::max) {
    // Among more rules and weights an estimate still chooses, and may be wrong by some bytes.
    Settings usual = settings;
    usual.effort = Effort::normal;
    std::vector<T> as_usual(values.size());
    Best found = smallest_of(values, context, usual, std::span<T>(as_usual));
    if (found.size < best.size) {
      best = std::move(found);
      std::copy(as_usual.begin(), as_usual.end(), decoded.begin());
    }
  }
  put_chunk(out, best.id, scalar_of<T>, values.size(), best.id == ChunkId::raw ? bytes_of(values) : best.payload);
}

template <class T>
void decode_payload(const ChunkHead& head, ChunkReader& in, const Context<T>& context, std::span<T> out) {
  Bytes bytes;
  switch (head.id) {
    case ChunkId::raw: return from_little_endian(in.take(out.size_bytes()), out);
    case ChunkId::zstd:
      bytes.resize(out.size_bytes());
      zstd_decompress(in.take(in.left()), bytes, in);
      return from_little_endian(std::span<const std::byte>(bytes), out);
    case ChunkId::planes: {
      Bytes planes(out.size_bytes());
      zstd_decompress(in.take(in.left()), planes, in);
      bytes.resize(out.size_bytes());
      join_planes(planes, sizeof(T), bytes);
      return from_little_endian(std::span<const std::byte>(bytes), out);
    }
    case ChunkId::tree: return decode_tree(in, context, out);
    case ChunkId::log_grid: return decode_grid(in, BoundKind::pointwise_relative, context, out);
    case ChunkId::linear_grid: return decode_grid(in, BoundKind::absolute, context, out);
    case ChunkId::delta: return decode_delta(in, out);
    case ChunkId::pcp: return decode_pcp(in, context, out);
    case ChunkId::boxes: return decode_boxes(in, context, out);
    case ChunkId::bins: return decode_bins(in, out);
    case ChunkId::differences: return decode_differences(in, out);
    default: in.fail("expected a chunk of floating-point values");
  }
}

template <class T>
std::size_t decode_any(std::span<const std::byte> in, const Context<T>& context, std::span<T> out) {
  check_context(context, out.size());
  ChunkReader reader(in);
  const ChunkHead head = read_head(reader);
  if (head.count != out.size())
    reader.fail("expected " + std::to_string(out.size()) + " values, found " + std::to_string(head.count));
  if (head.scalar != scalar_of<T>) reader.fail("the values have another type");
  ChunkReader payload = reader.part(head.payload);
  decode_payload(head, payload, context, out);
  payload.finish();
  return reader.position();
}

std::string name_of(ChunkId id) {
  switch (id) {
    case ChunkId::raw: return "raw";
    case ChunkId::zstd: return "zstd";
    case ChunkId::planes: return "planes";
    case ChunkId::tree:
    case ChunkId::log_grid:
    case ChunkId::linear_grid: return "tree";
    case ChunkId::delta: return "delta";
    case ChunkId::pcp: return "pcp";
    case ChunkId::boxes: return "boxes";
    case ChunkId::bins: return "bins";
    case ChunkId::differences: return "differences";
    case ChunkId::bits: return "bits";
    case ChunkId::integers: return "integers";
  }
  return "";
}

std::string shortest(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

}  // namespace

void encode(std::span<const double> values, const Context<double>& context, const Settings& settings,
            std::span<double> decoded, std::vector<std::byte>& out) {
  encode_any(values, context, settings, decoded, out);
}
void encode(std::span<const float> values, const Context<float>& context, const Settings& settings,
            std::span<float> decoded, std::vector<std::byte>& out) {
  encode_any(values, context, settings, decoded, out);
}
std::size_t decode(std::span<const std::byte> in, const Context<double>& context, std::span<double> out) {
  return decode_any(in, context, out);
}
std::size_t decode(std::span<const std::byte> in, const Context<float>& context, std::span<float> out) {
  return decode_any(in, context, out);
}

namespace {

/// The byte of a chunk that says how it is predicted; 0 for bytes that are no chunk of such values.
unsigned prediction_of(std::span<const std::byte> in) {
  ChunkReader reader(in);
  try {
    const ChunkHead head = read_head(reader);
    if (head.scalar != Scalar::float64 && head.scalar != Scalar::float32) return 0;
    if (head.id == ChunkId::log_grid || head.id == ChunkId::linear_grid) {
      get_bound(reader);
      get_lattice(reader, head.scalar);
    } else if (head.id != ChunkId::tree) {
      return 0;
    }
    return reader.byte();
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

bool needs_neighbours(std::span<const std::byte> in) { return (prediction_of(in) & across_bits) != 0; }
bool needs_weights(std::span<const std::byte> in) { return (prediction_of(in) & weights_bit) != 0; }
bool needs_sides(std::span<const std::byte> in) { return (prediction_of(in) & sides_bit) != 0; }

bool needs_boxes(std::span<const std::byte> in) {
  return !in.empty() && static_cast<ChunkId>(in.front()) == ChunkId::boxes;
}

ChunkInfo inspect(std::span<const std::byte> in) {
  ChunkReader reader(in);
  const ChunkHead head = read_head(reader);
  ChunkInfo info{name_of(head.id), {}, reader.position() + head.payload, head.count};
  if (head.id == ChunkId::log_grid) info.bound = {BoundKind::pointwise_relative, get_bound(reader)};
  if (head.id == ChunkId::linear_grid) info.bound = {BoundKind::absolute, get_bound(reader)};
  if (head.id == ChunkId::boxes) info.bound = bound_of_boxes(reader);
  if (info.bound.kind != BoundKind::lossless)
    info.name += (info.bound.kind == BoundKind::absolute ? " abs:" : " point:") + shortest(info.bound.value);
  return info;
}

}  // namespace octavo::codec
