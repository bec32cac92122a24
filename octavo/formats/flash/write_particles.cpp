#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <type_traits>

#include "octavo/formats/flash/particles.hpp"
#include "octavo/formats/flash/write_parts.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;

namespace {

constexpr std::size_t name_width = 24;
constexpr std::array<const char*, 3> position_names{"position_x", "position_y", "position_z"};

/// Refuses integers that a double cannot hold: they would come back changed.
double exact(double value, std::int64_t original) {
  if (static_cast<std::int64_t>(value) != original)
    throw Error(Kind::unsupported, "a particle attribute of " + std::to_string(original) + " does not fit a double");
  return value;
}

void put_column(const mesh::Field& field, std::size_t column, std::size_t width, std::size_t first_row,
                std::vector<double>& rows) {
  mesh::visit_values(field, [&](auto values) {
    using T = typename decltype(values)::value_type;
    for (std::size_t i = 0; i < values.size(); ++i) {
      double value = static_cast<double>(values[i]);
      if constexpr (std::is_integral_v<T>) value = exact(value, static_cast<std::int64_t>(values[i]));
      rows[(first_row + i) * width + column] = value;
    }
  });
}

}  // namespace

void append_rows(const OutputPlan& plan, const mesh::Particles& particles, BlockParticles& out) {
  const std::size_t width = width_of(plan), first = static_cast<std::size_t>(out.rows);
  out.rows += particles.count;
  out.values.resize(static_cast<std::size_t>(out.rows) * width, -1);
  for (std::size_t column = 0; column < plan.columns.size(); ++column) {
    const auto field = std::find_if(particles.attributes.begin(), particles.attributes.end(),
                                    [&](const mesh::Field& f) { return f.info.name == plan.columns[column]; });
    if (field == particles.attributes.end() || field->size() != static_cast<std::size_t>(particles.count))
      throw Error(Kind::usage, "particle attribute \"" + plan.columns[column] + "\" is missing or has another length");
    put_column(*field, column, width, first, out.values);
  }
  for (std::size_t column = plan.columns.size(); column < width; ++column)
    if (const std::string& name = plan.added[column - plan.columns.size()];
        name.starts_with("position_") || name.starts_with("vel"))
      for (std::size_t at = first * width + column; at < out.values.size(); at += width) out.values[at] = 0;
}

std::size_t column_of(const OutputPlan& plan, const std::string& name) {
  auto at = std::find(plan.columns.begin(), plan.columns.end(), name == "tag" && !plan.tag.empty() ? plan.tag : name);
  if (at != plan.columns.end()) return static_cast<std::size_t>(at - plan.columns.begin());
  at = std::find(plan.added.begin(), plan.added.end(), name);
  return at == plan.added.end() ? width_of(plan)
                                : plan.columns.size() + static_cast<std::size_t>(at - plan.added.begin());
}

double block_bound(const TreeFrame& frame, std::size_t axis, int level, std::int64_t index) {
  const double size = (frame.hi[axis] - frame.lo[axis]) / static_cast<double>(frame.roots[axis]) /
                      static_cast<double>(std::int64_t{1} << level);
  return frame.lo[axis] + static_cast<double>(index) * size;
}

namespace {

/// Finds the leaf at a position. A position beyond the domain counts as the nearest one in it. We compare with block
/// bounds as derive() computes them.
std::int64_t block_at(const OutputPlan& plan, const mesh::Point3& position, bool& outside) {
  std::array<std::int64_t, 3> at{0, 0, 0};
  const auto axes = static_cast<std::size_t>(plan.frame.dim);
  const auto bound = [&](std::size_t axis, int level, std::int64_t index) {
    return block_bound(plan.frame, axis, level, index);
  };
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const double x = position[axis];
    outside = outside || !(x >= plan.frame.lo[axis] && x < plan.frame.hi[axis]);
    while (at[axis] + 1 < plan.frame.roots[axis] && x >= bound(axis, 0, at[axis] + 1)) ++at[axis];
  }
  int level = 0;
  std::int64_t number = find(plan.tree, level, at);
  while (!is_leaf(plan.tree, number)) {
    ++level;
    for (std::size_t axis = 0; axis < axes; ++axis)
      at[axis] = 2 * at[axis] + (position[axis] >= bound(axis, level, 2 * at[axis] + 1) ? 1 : 0);
    number = find(plan.tree, level, at);
  }
  return number;
}

std::vector<std::int64_t> blocks_of_rows(const OutputPlan& plan, BlockParticles& rows) {
  const std::size_t width = width_of(plan);
  std::array<std::size_t, 3> columns{};
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.frame.dim); ++axis) {
    columns[axis] = column_of(plan, position_names[axis]);
    if (columns[axis] == width)
      throw Error(Kind::usage, std::string("the particles have no attribute \"") + position_names[axis] + "\"");
  }
  std::vector<std::int64_t> blocks;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.rows); ++row) {
    mesh::Point3 position{};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(plan.frame.dim); ++axis)
      position[axis] = rows.values[row * width + columns[axis]];
    bool outside = false;
    blocks.push_back(block_at(plan, position, outside));
    if (outside) ++rows.outside;
  }
  return blocks;
}

/// The number of each block on its processor, from 1.
std::vector<std::int64_t> local_numbers(const std::vector<std::int32_t>& processor) {
  std::map<std::int32_t, std::int64_t> count;
  std::vector<std::int64_t> numbers;
  for (std::int32_t rank : processor) numbers.push_back(++count[rank]);
  return numbers;
}

void group_by_block(const OutputPlan& plan, const std::vector<std::int64_t>& blocks,
                    const std::vector<std::int32_t>& processor, BlockParticles& rows) {
  const std::size_t width = width_of(plan);
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return blocks[a] < blocks[b]; });
  const std::vector<std::int64_t> local = local_numbers(processor);
  const std::size_t blk = column_of(plan, "blk"), proc = column_of(plan, "proc");
  rows.per_block.assign(plan.tree.blocks.size(), 0);
  std::vector<double> sorted;
  sorted.reserve(rows.values.size());
  for (std::size_t row : order) {
    const auto from = rows.values.begin() + static_cast<std::ptrdiff_t>(row * width);
    sorted.insert(sorted.end(), from, from + static_cast<std::ptrdiff_t>(width));
    double* last = sorted.data() + sorted.size() - width;
    const auto block = static_cast<std::size_t>(blocks[row]);
    if (blk < width) last[blk] = static_cast<double>(local[block]);
    if (proc < width) last[proc] = static_cast<double>(processor[block]);
    ++rows.per_block[block];
  }
  rows.values = std::move(sorted);
}

/// Particles without a mesh keep their counts.
void keep_counts(const mesh::Dataset& dataset, BlockParticles& rows) {
  const auto found = dataset.header.attributes.find("flash/localnp");
  if (found != dataset.header.attributes.end())
    if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&found->second))
      if (std::accumulate(counts->begin(), counts->end(), std::int64_t{0}) == rows.rows) rows.per_block = *counts;
  if (rows.per_block.empty()) rows.per_block = {rows.rows};
}

bool has_mesh(const mesh::Dataset& dataset) {
  return text(dataset.header.attributes, "flash/kind") != to_string(FileKind::particles);
}

void add_tags(const OutputPlan& plan, BlockParticles& rows) {
  const std::size_t width = width_of(plan), tag = column_of(plan, "tag");
  if (tag < plan.columns.size()) return;
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.rows); ++row)
    rows.values[row * width + tag] = static_cast<double>(row + 1);
}

}  // namespace

BlockParticles collect_particles(const mesh::Dataset& dataset, const OutputPlan& plan,
                                 const std::vector<std::int32_t>& processor) {
  BlockParticles rows;
  mesh::Request request;
  request.fields = std::vector<std::string>{};
  request.particles = true;
  for (int p = 0; p < dataset.num_parts; ++p)
    for (const mesh::Particles& particles : dataset.read(p, request).particles)
      if (particles.species == plan.species) append_rows(plan, particles, rows);
  if (has_mesh(dataset))
    group_by_block(plan, blocks_of_rows(plan, rows), processor, rows);
  else
    keep_counts(dataset, rows);
  add_tags(plan, rows);
  return rows;
}

void make_particle_sets(const file::hdf5::File& file, const OutputPlan& plan, std::uint64_t rows,
                        std::uint64_t counts) {
  std::vector<std::string> names;
  for (const auto* columns : {&plan.columns, &plan.added})
    for (const std::string& name : *columns)
      names.push_back(padded(name == plan.tag ? "tag" : property_name(name), name_width));
  const std::vector<std::uint64_t> name_shape{names.size(), 1};
  file::hdf5::write_text(file, "particle names", name_width, names, name_shape);
  const std::vector<std::uint64_t> shape{rows, names.size()}, count_shape{counts};
  file::hdf5::make(file, "tracer particles", file::hdf5::float64_type, shape);
  file::hdf5::make(file, "localnp", file::hdf5::int32_type, count_shape);
  if (plan.kind != FileKind::particles) return;
  // FLASH gives a particle file one unknown name per property, cut from the properties' text four characters at a time.
  // Readers ignore them. We write them to make the same data sets.
  std::string all;
  for (const std::string& name : names) all += name;
  std::vector<std::string> pieces;
  for (std::size_t i = 0; i < names.size(); ++i) pieces.push_back(all.substr(4 * i, 4));
  file::hdf5::write_text(file, "unknown names", 4, pieces, name_shape);
}

void write_particles(const file::hdf5::File& file, const OutputPlan& plan, const BlockParticles& rows) {
  make_particle_sets(file, plan, static_cast<std::uint64_t>(rows.rows), rows.per_block.size());
  file::hdf5::write_rows<double>(file, "tracer particles", 0, static_cast<std::uint64_t>(rows.rows), rows.values);
  const std::vector<std::int32_t> counts(rows.per_block.begin(), rows.per_block.end());
  file::hdf5::write_rows<std::int32_t>(file, "localnp", 0, counts.size(), counts);
}

}  // namespace octavo::formats::flash
