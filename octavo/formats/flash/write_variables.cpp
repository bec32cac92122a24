#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "octavo/base/threads.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/layout.hpp"
#include "octavo/formats/flash/write_parts.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::formats::flash {

using base::Error;
using base::Kind;
using mesh::Centring;

namespace {

constexpr std::array<std::pair<const char*, const char*>, 8> flash_names{{{"density", "dens"},
                                                                          {"pressure", "pres"},
                                                                          {"velocity_x", "velx"},
                                                                          {"velocity_y", "vely"},
                                                                          {"velocity_z", "velz"},
                                                                          {"temperature", "temp"},
                                                                          {"total_energy", "ener"},
                                                                          {"internal_energy", "eint"}}};

std::string set_name(const std::string& field, const WriteOptions& options) {
  std::string name = field;
  for (const auto& [ours, flash] : flash_names)
    if (field == ours) name = flash;
  if (const auto chosen = options.names.find(field); chosen != options.names.end()) name = chosen->second;
  if (name.empty() || name.size() > 4)
    throw Error(Kind::usage, "field \"" + field + "\" has no FLASH name: one of 1 to 4 characters is needed, \"" +
                                 name + "\" is not")
        .hint("give a name for it (--rename), or leave the field out (--field)");
  return padded(name, 4);
}

/// Integers have data sets of their own, which FLASH does not list.
mesh::ScalarType type_for(const mesh::FieldInfo& info, const WriteOptions& options) {
  if (mesh::is_integer(info.type) && info.centring != Centring::cell)
    throw Error(Kind::usage, "field \"" + info.name + "\" is " + std::string(mesh::name_of(info.type)) +
                                 ": FLASH has reals on faces");
  if (info.components != 1 || info.ghost != 0)
    throw Error(Kind::usage, "field \"" + info.name + "\" has components or ghost cells, which FLASH files have not");
  const bool narrow = options.single_precision && !mesh::is_integer(info.type);
  return narrow ? mesh::ScalarType::float32 : info.type;
}

/// Whether FLASH had a data set of that name in its file beside its variables.
bool has_long_name(const mesh::Header& header, const std::string& name, const WriteOptions& options) {
  const auto found = header.attributes.find("flash/long names");
  const auto* names =
      found == header.attributes.end() ? nullptr : std::get_if<std::vector<std::string>>(&found->second);
  return names != nullptr && !options.names.contains(name) &&
         std::find(names->begin(), names->end(), name) != names->end();
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_face(const mesh::FieldInfo& info) { return mesh::is_face(info.centring); }

/// The other half of a face variable.
std::size_t right_of(const mesh::Header& header, const std::string& base) {
  for (std::size_t i = 0; i < header.fields.size(); ++i)
    if (header.fields[i].name == base + "_right") return i;
  throw Error(Kind::usage, "field \"" + base + "_left\" has no \"" + base + "_right\": a face variable needs both");
}

void move_listed_first(const mesh::Header& header, std::vector<OutputVariable>& variables) {
  const auto found = header.attributes.find("flash/unknown names");
  if (found == header.attributes.end()) return;
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  if (names == nullptr) return;
  const auto place = [&](const OutputVariable& variable) {
    return std::find(names->begin(), names->end(), header.fields[variable.field].name) - names->begin();
  };
  for (OutputVariable& variable : variables)
    variable.listed = variable.listed && place(variable) < static_cast<std::ptrdiff_t>(names->size());
  std::stable_sort(variables.begin(), variables.end(),
                   [&](const OutputVariable& a, const OutputVariable& b) { return place(a) < place(b); });
}

/// For each tree cell, breadth first: the number of its block, and whether this part writes it.
struct PartBlocks {
  std::vector<std::int64_t> number;
  std::vector<bool> owned;
};

PartBlocks blocks_of(const OutputPlan& plan, const mesh::Octree& tree) {
  PartBlocks out;
  std::vector<mesh::Coordinate> at = mesh::root_coordinates(tree);
  for (int level = 0; level < mesh::num_levels(tree); ++level) {
    if (level > 0) at = mesh::child_coordinates(tree, level - 1, at);
    for (std::size_t i = 0; i < at.size(); ++i) {
      out.number.push_back(find(plan.tree, level, {at[i][0], at[i][1], at[i][2]}));
      out.owned.push_back(tree.owned[static_cast<std::size_t>(level)][i]);
    }
  }
  return out;
}

/// Collects values of blocks, one row of cells or faces along x after another, from the fields that hold them.
template <class T>
class BlockValues {
 public:
  BlockValues(const OutputPlan& plan, const OutputVariable& variable, const mesh::Field& left, const mesh::Field& right)
      : frame_(plan.frame),
        face_(static_cast<std::size_t>(variable.centring)),
        left_(left),
        right_(right),
        name_(variable.set) {}

  /// Appends a block's values in the data set's order. Throws Error(usage) if two cells have different values for the
  /// face between them.
  void append(std::size_t cell, std::vector<T>& out) const {
    const mesh::Index3 n = frame_.block;
    if (face_ == 0 && left_.info.type == mesh::scalar_type_of<T>()) {
      const auto block = static_cast<std::size_t>(n[0] * n[1] * n[2]);
      const auto values = left_.as<T>().subspan(cell * block, block);
      out.insert(out.end(), values.begin(), values.end());
      return;
    }
    mesh::Index3 extent = n;
    if (face_ > 0) ++extent[face_ - 1];
    for (std::int64_t k = 0; k < extent[2]; ++k)
      for (std::int64_t j = 0; j < extent[1]; ++j)
        for (std::int64_t i = 0; i < extent[0]; ++i) out.push_back(value(cell, {i, j, k}));
  }

 private:
  T value(std::size_t cell, mesh::Index3 at) const {
    if (face_ == 0) return get(left_, cell, at);
    const std::size_t axis = face_ - 1;
    mesh::Index3 below = at;
    --below[axis];
    if (at[axis] == frame_.block[axis]) return get(right_, cell, below);
    const T here = get(left_, cell, at);
    if (at[axis] > 0 && std::memcmp(&here, &at_right(cell, below), sizeof(T)) != 0)
      throw Error(Kind::usage, "the faces between neighbouring cells differ in \"" + name_ + "\"");
    return here;
  }
  std::size_t index(std::size_t cell, const mesh::Index3& at) const {
    const mesh::Index3 n = frame_.block;
    return cell * static_cast<std::size_t>(n[0] * n[1] * n[2]) +
           static_cast<std::size_t>((at[2] * n[1] + at[1]) * n[0] + at[0]);
  }
  T get(const mesh::Field& field, std::size_t cell, const mesh::Index3& at) const {
    return mesh::visit_values(field, [&](auto values) { return static_cast<T>(values[index(cell, at)]); });
  }
  const T& at_right(std::size_t cell, const mesh::Index3& at) const {
    scratch_ = get(right_, cell, at);
    return scratch_;
  }
  const TreeFrame& frame_;
  std::size_t face_;
  const mesh::Field& left_;
  const mesh::Field& right_;
  std::string name_;
  mutable T scratch_{};
};

/// One part's values of one variable: runs of consecutive rows, and their range over leaf cells.
struct PartValues {
  struct Run {
    std::int64_t row = 0;
    std::vector<std::byte> bytes;
  };
  std::vector<Run> runs;
  LeafRange range{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
};

template <class T>
void widen(LeafRange& range, const std::vector<T>& values, std::size_t first) {
  for (std::size_t i = first; i < values.size(); ++i) {
    const auto value = static_cast<double>(values[i]);
    if (value < range.min) range.min = value;
    if (value > range.max) range.max = value;
  }
}

template <class T>
PartValues piece_of(const OutputPlan& plan, const OutputVariable& variable, const mesh::Part& part,
                    const PartBlocks& blocks) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < blocks.number.size(); ++i)
    if (blocks.owned[i]) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return blocks.number[a] < blocks.number[b]; });
  const BlockValues<T> source(plan, variable, part.fields.at(0), part.fields.back());
  PartValues piece;
  std::vector<T> values;
  for (std::size_t first = 0; first < order.size();) {
    values.clear();
    std::size_t count = 0;
    const std::int64_t row = blocks.number[order[first]];
    while (first + count < order.size() && values.size() < (std::size_t{1} << 20) &&
           blocks.number[order[first + count]] == row + static_cast<std::int64_t>(count)) {
      const std::size_t before = values.size();
      source.append(order[first + count], values);
      if (is_leaf(plan.tree, row + static_cast<std::int64_t>(count))) widen(piece.range, values, before);
      ++count;
    }
    const auto bytes = std::as_bytes(std::span(values));
    piece.runs.push_back({row, {bytes.begin(), bytes.end()}});
    first += count;
  }
  return piece;
}

template <class T>
std::vector<std::byte> typed_face_values(const OutputPlan& plan, const OutputVariable& variable, const mesh::Field& low,
                                         const mesh::Field& high, std::size_t blocks) {
  const BlockValues<T> source(plan, variable, low, high);
  std::vector<T> values;
  values.reserve(blocks * values_a_block(plan, variable));
  for (std::size_t b = 0; b < blocks; ++b) source.append(b, values);
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

void check_sizes(const mesh::Part& part, const OutputPlan& plan, std::size_t cells) {
  const mesh::Index3& block = plan.frame.block;
  for (const mesh::Field& field : part.fields)
    if (field.size() != cells * static_cast<std::size_t>(block[0] * block[1] * block[2]))
      throw Error(Kind::usage, "field \"" + field.info.name + "\" has " + std::to_string(field.size()) +
                                   " values, which does not fit its tree")
          .at("part " + std::to_string(part.index));
}

}  // namespace

std::vector<OutputVariable> plan_variables(const mesh::Header& header, const WriteOptions& options) {
  std::vector<OutputVariable> variables;
  std::set<std::string> sets;
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    const mesh::FieldInfo& info = header.fields[i];
    OutputVariable variable;
    variable.field = variable.right = i;
    variable.centring = info.centring;
    std::string name = info.name;
    if (is_face(info)) {
      if (ends_with(name, "_right")) continue;
      if (!ends_with(name, "_left")) throw Error(Kind::usage, "face field \"" + name + "\" is no _left or _right one");
      name.resize(name.size() - 5);
      variable.right = right_of(header, name);
      variable.listed = false;
    } else if (info.centring != Centring::cell) {
      throw Error(Kind::usage, "field \"" + name + "\" stands neither on cells nor on faces");
    }
    variable.set = has_long_name(header, name, options) ? name : set_name(name, options);
    variable.type = type_for(info, options);
    variable.listed = variable.listed && !mesh::is_integer(info.type) && variable.set.size() == 4;
    if (!sets.insert(variable.set).second)
      throw Error(Kind::usage, "two fields would be FLASH's \"" + variable.set + "\"");
    variables.push_back(std::move(variable));
  }
  move_listed_first(header, variables);
  return variables;
}

std::vector<std::uint64_t> shape_of(const OutputPlan& plan, const OutputVariable& variable) {
  std::vector<std::uint64_t> shape{plan.tree.blocks.size()};
  for (std::size_t axis = 3; axis-- > 0;)
    shape.push_back(static_cast<std::uint64_t>(plan.frame.block[axis]) +
                    (static_cast<std::size_t>(variable.centring) == axis + 1 ? 1 : 0));
  return shape;
}

std::size_t values_a_block(const OutputPlan& plan, const OutputVariable& variable) {
  const auto shape = shape_of(plan, variable);
  return static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
}

std::vector<std::byte> face_values(const OutputPlan& plan, const OutputVariable& variable, const mesh::Field& low,
                                   const mesh::Field& high, std::size_t blocks) {
  return variable.type == mesh::ScalarType::float32 ? typed_face_values<float>(plan, variable, low, high, blocks)
                                                    : typed_face_values<double>(plan, variable, low, high, blocks);
}

namespace {

/// The values of a variable in one part.
PartValues read_piece(const mesh::Dataset& dataset, const OutputPlan& plan, const OutputVariable& variable,
                      int number) {
  mesh::Request request;
  request.fields = {dataset.header.fields[variable.field].name};
  if (variable.right != variable.field) request.fields->push_back(dataset.header.fields[variable.right].name);
  mesh::Part part = dataset.read(number, request);
  // Fields come in the header's order.
  if (variable.right < variable.field) std::swap(part.fields.at(0), part.fields.at(1));
  const PartBlocks blocks = blocks_of(plan, mesh::octree_of(part));
  check_sizes(part, plan, blocks.number.size());
  if (mesh::is_integer(variable.type))
    return mesh::visit_values(part.fields[0],
                              [&]<class T>(std::span<const T>) { return piece_of<T>(plan, variable, part, blocks); });
  return variable.type == mesh::ScalarType::float32 ? piece_of<float>(plan, variable, part, blocks)
                                                    : piece_of<double>(plan, variable, part, blocks);
}

}  // namespace

std::vector<LeafRange> write_variables(const std::filesystem::path& path, const Offsets& offsets,
                                       const mesh::Dataset& dataset, const OutputPlan& plan, int threads,
                                       const base::Ranks& ranks) {
  std::vector<LeafRange> ranges(plan.variables.size(), PartValues{}.range);
  const auto share = [&](int rank) {
    return static_cast<std::size_t>(std::int64_t{dataset.num_parts} * rank / ranks.size);
  };
  const std::size_t first = share(ranks.rank), parts = share(ranks.rank + 1) - first;
  file::File file = file::open_write(path);
  std::mutex range_lock;
  base::parallel_for(parts * plan.variables.size(), threads, [&](std::size_t i) {
    const std::size_t v = i % plan.variables.size();
    const OutputVariable& variable = plan.variables[v];
    const PartValues piece = read_piece(dataset, plan, variable, static_cast<int>(first + i / plan.variables.size()));
    const std::uint64_t row = values_a_block(plan, variable) * mesh::size_of(variable.type);
    for (const PartValues::Run& run : piece.runs)
      file::pwrite_all(file, offsets.at(variable.set) + static_cast<std::uint64_t>(run.row) * row, run.bytes);
    const std::lock_guard lock(range_lock);
    ranges[v] = {std::min(ranges[v].min, piece.range.min), std::max(ranges[v].max, piece.range.max)};
  });
  if (ranks.size > 1) file::sync(file);
  file.close();
  return ranges;
}

}  // namespace octavo::formats::flash
