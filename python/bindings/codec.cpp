#include "octavo/codec/codec.hpp"

#include <algorithm>
#include <ctime>

#include "keywords.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/dataset.hpp"
#include "octavo/store/level_boxes.hpp"
#include "octavo/store/level_sides.hpp"
#include "octavo/store/pack.hpp"
#include "octavo/store/write/weighing.hpp"
#include "octavo/verbs/accuracy.hpp"

namespace octavo::bindings {

namespace {

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class F>
double least_seconds(int repeats, F&& f) {
  double least = 0;
  for (int r = 0; r < repeats; ++r) {
    const double begin = cpu_seconds();
    f();
    const double taken = cpu_seconds() - begin;
    least = r == 0 ? taken : std::min(least, taken);
  }
  return least;
}

/// A field's chunks, one a level, as a store has them.
template <class T>
struct TreeLevels {
  const mesh::Octree& tree;
  std::span<const T> values;
  std::size_t family = 1, width = 1;
  std::vector<std::size_t> offsets;  ///< [values]; the last: all
  std::vector<std::vector<std::uint32_t>> parents;
  std::vector<std::vector<std::uint8_t>> counted;
  std::span<const T> weights{};  ///< one a cell; empty: none

  std::size_t size() const { return offsets.size() - 1; }
  codec::Context<T> context(const std::vector<T>& decoded, std::size_t level) const {
    codec::Context<T> context;
    context.width = width;
    if (!parents[level].empty())
      context = {std::span<const T>(decoded).subspan(offsets[level - 1], offsets[level] - offsets[level - 1]),
                 parents[level], family, width};
    if (!weights.empty())
      context.weights = weights.subspan(offsets[level] / width, (offsets[level + 1] - offsets[level]) / width);
    return context;
  }
};

template <class T>
TreeLevels<T> levels_of_field(const mesh::Octree& tree, std::span<const T> values, std::span<const T> weights) {
  TreeLevels<T> levels{tree, values, family_size(tree), 1, level_offsets(tree), store::parents_of(tree), {}, weights};
  if (levels.offsets.back() > 0) levels.width = values.size() / levels.offsets.back();
  for (std::size_t& offset : levels.offsets) offset *= levels.width;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const base::BitArray &owned = tree.owned[level], &refined = tree.refined[level];
    levels.counted.emplace_back(owned.size(), 0);
    owned.for_each_set([&](std::size_t cell) { levels.counted[level][cell] = refined[cell] ? 0 : 1; });
  }
  return levels;
}

struct Trial {
  std::size_t stored = 0;
  double encode_seconds = 0, decode_seconds = 0;
};

template <class T>
Trial try_levels(const TreeLevels<T>& levels, const codec::Settings& settings, int repeats, std::vector<T>& again) {
  std::vector<T> decoded(levels.values.size());
  again.resize(levels.values.size());
  std::vector<std::vector<std::byte>> chunks(levels.size());
  const auto part = [&](auto& values, std::size_t level) {
    return std::span(values).subspan(levels.offsets[level], levels.offsets[level + 1] - levels.offsets[level]);
  };
  // Found in the first of the repetitions: a store finds them once for all fields.
  store::LevelBoxes boxes(levels.tree);
  store::LevelSides sides(levels.tree);
  Trial trial;
  trial.encode_seconds = least_seconds(repeats, [&] {
    for (std::size_t level = 0; level < levels.size(); ++level) {
      chunks[level].clear();
      codec::Context<T> context = levels.context(decoded, level);
      context.counted = levels.counted[level];
      if (codec::looks_around(settings)) {
        context.boxes = boxes.of(level, levels.width);
        context.sides = sides.of(level);
      }
      codec::encode(part(levels.values, level), context, settings, part(decoded, level), chunks[level]);
    }
  });
  trial.decode_seconds = least_seconds(repeats, [&] {
    for (std::size_t level = 0; level < levels.size(); ++level) {
      codec::Context<T> context = levels.context(again, level);
      if (codec::needs_boxes(chunks[level])) context.boxes = boxes.of(level, levels.width);
      if (codec::needs_sides(chunks[level])) context.sides = sides.of(level);
      codec::decode(chunks[level], context, part(again, level));
    }
  });
  for (const auto& chunk : chunks) trial.stored += chunk.size();
  return trial;
}

/// The field that weighs the field in a store of the part without loss; none: null.
const mesh::Field* weights_for(const mesh::Part& part, const mesh::Octree& tree, const mesh::Field& field) {
  const store::PartView view = store::view_of(part);
  std::vector<const store::Values*> values;
  for (const store::Values& one : view.fields) values.push_back(&one);
  const store::Weighing weighing =
      store::find_weighing(values, level_offsets(tree), store::parents_of(tree), family_size(tree));
  return weighing.weighs[static_cast<std::size_t>(&field - part.fields.data())] ? &part.fields[weighing.by] : nullptr;
}

nb::dict try_codec(const mesh::Part& part, const std::string& name, const std::string& codec, const std::string& effort,
                   int repeats) {
  const auto* tree = std::get_if<mesh::Octree>(&part.mesh);
  if (tree == nullptr) throw base::Error(base::Kind::unsupported, "codecs are measured on trees of cells");
  const auto field =
      std::find_if(part.fields.begin(), part.fields.end(), [&](const mesh::Field& f) { return f.info.name == name; });
  if (field == part.fields.end()) throw base::Error(base::Kind::usage, "the part has no field " + name);
  codec::Settings settings;
  settings.bound = verbs::bound_of(verbs::parse_accuracy(codec), 0);
  settings.effort = named("effort", effort, efforts());
  Trial trial;
  nb::object values;
  const bool lossless = settings.bound.kind == codec::BoundKind::lossless;
  const mesh::Field* by = lossless ? weights_for(part, *tree, *field) : nullptr;
  const auto measure = [&]<class T>(std::span<const T> given) {
    std::vector<T> again;
    {
      nb::gil_scoped_release release;
      const std::span<const T> weights = by == nullptr ? std::span<const T>{} : by->as<T>();
      trial = try_levels(levels_of_field(*tree, given, weights), settings, repeats, again);
    }
    const std::size_t size = again.size();
    values = to_array(std::move(again), {size});
  };
  if (field->info.type == mesh::ScalarType::float64)
    measure(field->as<double>());
  else if (field->info.type == mesh::ScalarType::float32)
    measure(field->as<float>());
  else
    throw base::Error(base::Kind::unsupported, "codecs are measured on floating-point fields").at("field " + name);
  nb::dict result;
  result["stored"] = trial.stored;
  result["encode_seconds"] = trial.encode_seconds;
  result["decode_seconds"] = trial.decode_seconds;
  result["values"] = values;
  return result;
}

}  // namespace

void bind_codec(nb::module_& m) {
  m.def("try_codec", &try_codec, nb::arg("part"), nb::arg("field"), nb::arg("codec"), nb::arg("effort") = "default",
        nb::arg("repeats") = 1,
        "Encodes one field of a part, level by level as a store does, and decodes it: bytes, the least CPU seconds of "
        "both on one thread, and the decoded values. Takes 'lossless', 'abs:E' and 'point:E'. Releases the GIL.");
}

}  // namespace octavo::bindings
