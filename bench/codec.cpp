// The codecs on fields: sizes, and one thread's speed, per field; the encoded chunks are decoded and
// compared.
//
//     octavo_bench_codec [--codec lossless|abs:E|point:E] [--effort default|fast|max] [--method NAME] [--repeat N]
//     [--levels 6-8] [FILE...]
//
// Each FILE holds parts one after another, little-endian: the eight bytes "PARTS001"; int64 levels, fields, cells a
// family; int64 cells of each level; per level one byte a cell "refined" and one byte a cell "owned"; per field 32
// bytes of name, zero-padded, and its float64 values level by level. Without a FILE a turbulence-like part is made.
#include "octavo/codec/codec.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "bench/sample_part.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/level_boxes.hpp"
#include "octavo/store/level_sides.hpp"

namespace {

using namespace octavo;
using bench::Part;

struct Options {
  codec::Settings settings;
  int repeat = 3;
  int lowest = 6, deepest = 8;  ///< levels of the generated part
  std::vector<std::string> files;
  std::string dump;  ///< where to write the generated part
};

struct Totals {
  std::size_t raw = 0, stored = 0;
  double encode_seconds = 0, decode_seconds = 0, largest_error = 0;
  double drift = 0, squares = 0;  ///< of the errors of leaves, times their volume: the sum, and the sum of squares
  std::map<std::string, std::size_t> bytes_by_codec;
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class F>
double best_of(int repeat, F&& f) {
  double best = 1e30;
  for (int r = 0; r < repeat; ++r) {
    const double begin = cpu_seconds();
    f();
    best = std::min(best, cpu_seconds() - begin);
  }
  return best;
}

double error_of(const codec::Bound& bound, double x, double y) {
  if (bound.kind == codec::BoundKind::lossless) {
    return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y) ? 0 : INFINITY;
  }
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  return std::abs(x - y) / (bound.kind == codec::BoundKind::absolute ? 1 : std::abs(x));
}

/// The part's cells as a store has them; level 0 are the roots: one cell, one family, or else a row of cells.
mesh::Octree tree_of(const Part& part) {
  const std::size_t first = part.refined[0].size();
  mesh::Octree tree;
  tree.dim = std::countr_zero(part.family);
  tree.roots = {static_cast<std::int64_t>(first), 1, 1};
  for (std::size_t axis = 0; first == part.family && axis < 3; ++axis)
    tree.roots[axis] = static_cast<int>(axis) < tree.dim ? 2 : 1;
  tree.refined = part.refined;
  tree.owned = part.owned;
  return tree;
}

/// The boxes and sides that predict a level's chunk: a store finds the same in its mesh. `chunk`: asks only for what it
/// needs, as a reader does; without one for those that an encoder looks `around` at.
codec::Context<double> context_of(const Part& part, std::size_t level, const std::vector<std::vector<double>>& values,
                                  store::LevelBoxes& boxes, store::LevelSides& sides, bool around,
                                  std::span<const std::byte> chunk) {
  codec::Context<double> context;
  if (level > 0) context = {values[level - 1], part.parents[level], part.family};
  if (chunk.empty() ? around : codec::needs_boxes(chunk)) context.boxes = boxes.of(level, 1);
  if (chunk.empty() ? around : codec::needs_sides(chunk)) context.sides = sides.of(level);
  return context;
}

void measure(const Part& part, std::size_t field, const Options& options, Totals& totals) {
  const mesh::Octree tree = tree_of(part);
  const auto& levels = part.fields[field].levels;
  std::vector<std::vector<double>> decoded(levels.size()), again(levels.size());
  std::vector<std::vector<std::byte>> chunks(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    decoded[l].resize(levels[l].size());
    again[l].resize(levels[l].size());
  }
  std::vector<std::vector<std::uint8_t>> leaves(levels.size());
  for (std::size_t l = 0; l < levels.size(); ++l) {
    leaves[l].resize(levels[l].size());
    for (std::size_t i = 0; i < levels[l].size(); ++i) leaves[l][i] = part.owned[l][i] && !part.refined[l][i] ? 1 : 0;
  }
  // Found in the first of the repetitions: a store finds them once for all fields.
  store::LevelBoxes boxes(tree);
  store::LevelSides sides(tree);
  totals.encode_seconds += best_of(options.repeat, [&] {
    for (std::size_t l = 0; l < levels.size(); ++l) {
      chunks[l].clear();
      auto with_leaves = context_of(part, l, decoded, boxes, sides, codec::looks_around(options.settings), {});
      with_leaves.counted = leaves[l];
      codec::encode(levels[l], with_leaves, options.settings, decoded[l], chunks[l]);
    }
  });
  totals.decode_seconds += best_of(options.repeat, [&] {
    for (std::size_t l = 0; l < levels.size(); ++l)
      codec::decode(chunks[l], context_of(part, l, again, boxes, sides, false, chunks[l]), again[l]);
  });
  for (std::size_t l = 0; l < levels.size(); ++l) {
    totals.raw += 8 * levels[l].size();
    totals.stored += chunks[l].size();
    totals.bytes_by_codec[codec::inspect(chunks[l]).name] += chunks[l].size();
    const double volume = std::pow(static_cast<double>(part.family), -static_cast<double>(l));
    for (std::size_t i = 0; i < levels[l].size(); ++i) {
      totals.largest_error =
          std::max(totals.largest_error, error_of(options.settings.bound, levels[l][i], again[l][i]));
      if (leaves[l][i] == 0 || !std::isfinite(levels[l][i])) continue;
      const double error = volume * (again[l][i] - levels[l][i]);
      totals.drift += error;
      totals.squares += error * error;
    }
  }
}

void print(const std::string& name, const Totals& t) {
  std::printf("  %-14s %10zu %10zu %8.3f %9.0f %9.0f %11.3g %8.2f ", name.c_str(), t.raw, t.stored,
              static_cast<double>(t.raw) / static_cast<double>(t.stored),
              1e-6 * static_cast<double>(t.raw) / t.encode_seconds,
              1e-6 * static_cast<double>(t.raw) / t.decode_seconds, t.largest_error,
              t.squares > 0 ? t.drift / std::sqrt(t.squares) : 0.0);
  for (const auto& [codec_name, bytes] : t.bytes_by_codec)
    std::printf(" %s %.0f%%", codec_name.c_str(), 100 * static_cast<double>(bytes) / static_cast<double>(t.stored));
  std::printf("\n");
}

void measure(const std::string& name, const std::vector<Part>& parts, const Options& options) {
  std::printf("%s: %zu parts\n  %-14s %10s %10s %8s %9s %9s %11s %8s  bytes by codec\n", name.c_str(), parts.size(),
              "field", "raw", "stored", "ratio", "enc MB/s", "dec MB/s", "max error", "drift");
  Totals all;
  for (std::size_t f = 0; f < parts.front().fields.size(); ++f) {
    Totals totals;
    for (const Part& part : parts) measure(part, f, options, totals);
    print(parts.front().fields[f].name, totals);
    all.raw += totals.raw;
    all.stored += totals.stored;
    all.encode_seconds += totals.encode_seconds;
    all.decode_seconds += totals.decode_seconds;
    all.largest_error = std::max(all.largest_error, totals.largest_error);
    for (const auto& [codec_name, bytes] : totals.bytes_by_codec) all.bytes_by_codec[codec_name] += bytes;
  }
  print("all", all);
  std::size_t cells = 0, mesh = 0;
  for (const Part& part : parts)
    for (const auto* bits : {&part.refined, &part.owned})
      for (const base::BitArray& level : *bits) {
        std::vector<std::byte> chunk;
        codec::encode_bits(level, options.settings.effort, chunk);
        mesh += chunk.size();
        cells += level.size();
      }
  std::printf("  mesh: %zu cells, refined and owned bits in %zu bytes, %.4f bits a cell\n", cells / 2, mesh,
              16.0 * static_cast<double>(mesh) / static_cast<double>(cells));
}

codec::Bound parse_bound(const std::string& text) {
  if (text == "lossless") return {};
  const auto colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  if (colon == std::string::npos || (kind != "abs" && kind != "point"))
    throw base::Error(base::Kind::usage, text + "?");
  return {kind == "abs" ? codec::BoundKind::absolute : codec::BoundKind::pointwise_relative,
          std::atof(text.c_str() + colon + 1)};
}

codec::Effort parse_effort(const std::string& text) {
  if (text == "fast") return codec::Effort::fast;
  if (text == "default") return codec::Effort::normal;
  if (text == "max") return codec::Effort::max;
  throw base::Error(base::Kind::usage, "unknown effort " + text);
}

codec::Method parse_method(const std::string& text) {
  const char* const names[] = {"automatic", "raw", "zstd", "tree", "delta", "pcp"};
  const auto* found = std::find(std::begin(names), std::end(names), text);
  if (found == std::end(names)) throw base::Error(base::Kind::usage, "unknown method " + text);
  return static_cast<codec::Method>(found - std::begin(names));
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] { return ++i < argc ? std::string(argv[i]) : std::string(); };
    if (word == "--codec")
      options.settings.bound = parse_bound(next());
    else if (word == "--effort")
      options.settings.effort = parse_effort(next());
    else if (word == "--method")
      options.settings.method = parse_method(next());
    else if (word == "--repeat")
      options.repeat = std::max(1, std::atoi(next().c_str()));
    else if (word == "--dump")
      options.dump = next();
    else if (word == "--levels")
      std::sscanf(next().c_str(), "%d-%d", &options.lowest, &options.deepest);
    else
      options.files.push_back(word);
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) try {
  const Options options = parse(argc, argv);
  if (options.files.empty()) {
    const std::vector<Part> parts{bench::turbulent_part(options.lowest, options.deepest, 1)};
    if (!options.dump.empty()) bench::write_parts(options.dump, parts);
    measure("generated turbulence", parts, options);
  }
  for (const std::string& file : options.files) measure(file, bench::read_parts(file), options);
  return 0;
} catch (const base::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return base::exit_code(error.kind());
}
