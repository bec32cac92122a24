#include "octavo/formats/flash/layout.hpp"

#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/flash/variables.hpp"

namespace octavo::formats::flash {
namespace {

template <class To, class From>
void write_as(const file::File& file, std::uint64_t offset, const std::vector<From>& values) {
  const std::vector<To> converted(values.begin(), values.end());
  file::pwrite_all(file, offset, std::as_bytes(std::span(converted)));
}

}  // namespace

Offsets lay_out(const std::filesystem::path& path, const OutputPlan& plan, std::uint64_t particles) {
  file::hdf5::File file = file::hdf5::create(path);
  write_lists(file, plan.attributes);
  write_unknown_names(file, plan);
  for (const TreeSet& set : tree_sets(plan, {})) file::hdf5::make(file, set.name, set.type, set.shape);
  for (const OutputVariable& variable : plan.variables)
    file::hdf5::make(file, variable.set, item_type(variable.type), shape_of(plan, variable));
  if (!plan.species.empty()) make_particle_sets(file, plan, particles, plan.tree.blocks.size());
  write_foreign(file, plan.tree.blocks.size(), plan.attributes);
  // Closing sets the length of the file. It could cut off values that were written before.
  file.close();
  Offsets offsets;
  for (const file::hdf5::Info& info : file::hdf5::list(file::hdf5::open(path)))
    if (info.offset) offsets[info.name] = *info.offset;
  return offsets;
}

void write_tree_values(const std::filesystem::path& path, const Offsets& offsets, const OutputPlan& plan,
                       const TreeArrays& arrays, const std::vector<std::int64_t>& per_block) {
  file::File file = file::open_write(path);
  for (const TreeSet& set : tree_sets(plan, arrays)) {
    const std::uint64_t offset = offsets.at(set.name);
    if (set.integers != nullptr)
      write_as<std::int32_t>(file, offset, *set.integers);
    else if (plan.single_positions)
      write_as<float>(file, offset, *set.reals);
    else
      write_as<double>(file, offset, *set.reals);
  }
  if (!plan.species.empty()) write_as<std::int32_t>(file, offsets.at("localnp"), per_block);
  file.close();
}

void attach_ranges(const std::filesystem::path& path, const OutputPlan& plan, std::span<const LeafRange> ranges) {
  file::hdf5::File file = file::hdf5::open_write(path);
  for (std::size_t v = 0; v < plan.variables.size(); ++v) {
    if (mesh::is_integer(plan.variables[v].type)) continue;  // not one of FLASH's variables
    const auto type = item_type(plan.variables[v].type);
    file::hdf5::write_attribute(file, plan.variables[v].set, "minimum", type, ranges[v].min);
    file::hdf5::write_attribute(file, plan.variables[v].set, "maximum", type, ranges[v].max);
  }
  file.close();
}

}  // namespace octavo::formats::flash
