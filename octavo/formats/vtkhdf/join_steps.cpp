#include "octavo/formats/vtkhdf/join_steps.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/vtkhdf/grid_file.hpp"
#include "octavo/formats/vtkhdf/names.hpp"

namespace octavo::formats::vtkhdf {
namespace {

using base::Error;
using base::Kind;
namespace hdf5 = file::hdf5;

constexpr std::uint64_t piece_bytes = std::uint64_t{8} << 20;
const std::string mask = "Mask", trees_type = "HyperTreeGrid";

/// The data sets of one step, by their names in VTK's group.
struct StepSets {
  std::filesystem::path path;
  std::string type;
  std::map<std::string, hdf5::Info> sets;
  std::vector<double> roots;  ///< of a hyper tree grid: its dimensions and the coordinates of its roots
  std::uint64_t rows(const std::string& name) const {
    const auto found = sets.find(name);
    return found == sets.end() || found->second.shape.empty() ? 0 : found->second.shape[0];
  }
};

bool is_coordinates(const std::string& name) { return name.ends_with("Coordinates"); }

StepSets read_step(const std::filesystem::path& path) {
  const hdf5::File file = hdf5::open(path);
  StepSets step{path, hdf5::read_words(file, root, "Type").value_or(""), {}, {}};
  for (const std::string& group : {std::string(root), in_root("CellData")})
    for (const hdf5::Info& info : hdf5::list(file, group))
      step.sets.emplace(info.name.substr(std::string(root).size() + 1), info);
  for (const std::int64_t n : hdf5::read_numbers(file, root, "Dimensions").value_or(std::vector<std::int64_t>{}))
    step.roots.push_back(static_cast<double>(n));
  for (const auto& [name, info] : step.sets)
    if (is_coordinates(name))
      for (const double along : hdf5::read_all<double>(file, info)) step.roots.push_back(along);
  return step;
}

Error differs(const StepSets& step, const StepSets& first, const std::string& what) {
  return Error(Kind::unsupported, "a step of a series has other " + what + " than the first, " + first.path.string())
      .at(step.path.string());
}

/// The data sets of all steps. Trees have masks, since VTK wants them of trees over time.
std::map<std::string, hdf5::Info> common_sets(const std::vector<StepSets>& steps) {
  std::map<std::string, hdf5::Info> all = steps.front().sets;
  if (steps.front().type == trees_type) all.insert({mask, {in_root(mask), {0}, hdf5::uint8_type, {}, {}, {}}});
  for (const StepSets& step : steps) {
    if (step.type != steps.front().type) throw differs(step, steps.front(), "cells");
    if (step.roots != steps.front().roots) throw differs(step, steps.front(), "roots");
  }
  for (const StepSets& step : steps)
    for (const auto& [name, info] : all) {
      const auto found = step.sets.find(name);
      if (found == step.sets.end() && name == mask) continue;
      const bool same = found != step.sets.end() && found->second.type == info.type &&
                        hdf5::items_a_row(found->second) == hdf5::items_a_row(info);
      if (!same || step.sets.size() > all.size()) throw differs(step, steps.front(), "fields (" + name + ")");
    }
  return all;
}

/// How many rows of a data set a step has in the joint file.
std::uint64_t rows_in(const StepSets& step, const std::string& name) {
  if (name != mask || step.sets.contains(mask)) return step.rows(name);
  const hdf5::File file = hdf5::open(step.path);
  return (static_cast<std::uint64_t>(hdf5::read_all<std::int64_t>(file, step.sets.at("NumberOfCells")).at(0)) + 7) / 8;
}

/// Where each step's rows begin, and their number.
struct Joint {
  hdf5::Info info;
  std::vector<std::int64_t> first;
  std::uint64_t rows = 0;
};

std::map<std::string, Joint> joint_sets(const std::vector<StepSets>& steps) {
  std::map<std::string, Joint> out;
  for (const auto& [name, info] : common_sets(steps)) {
    Joint joint{info, {}, 0};
    for (const StepSets& step : steps) {
      joint.first.push_back(is_coordinates(name) ? 0 : static_cast<std::int64_t>(joint.rows));
      joint.rows = is_coordinates(name) ? step.rows(name) : joint.rows + rows_in(step, name);
    }
    out.emplace(name, std::move(joint));
  }
  return out;
}

/// Where VTK finds each step's rows. Cells and connectivity have a column for each kind of cells.
void write_offsets(GridFile& file, const std::map<std::string, Joint>& joints, bool trees) {
  for (const auto& [name, joint] : joints) {
    if (name.starts_with("NumberOf") && name != "NumberOfCellsPerTreeDepth") continue;
    if (name == "DescriptorsSize" || name == "Types" || name == "Offsets") continue;
    if (name.starts_with("CellData/"))
      file.list("Steps/CellDataOffsets/" + name.substr(std::string("CellData/").size()), joint.first);
    else if (trees)
      file.list("Steps/" + name + "Offsets", joint.first);
    else if (name == "Points")
      file.list("Steps/PointOffsets", joint.first);
    else if (name == "Connectivity")
      file.list("Steps/ConnectivityIdOffsets", joint.first, 1);
  }
  if (!trees) file.list("Steps/CellOffsets", joints.at("Types").first, 1);
}

void write_steps(GridFile& file, const std::map<std::string, Joint>& joints, std::span<const double> times,
                 bool trees) {
  const auto count = static_cast<std::int64_t>(times.size());
  std::vector<std::int64_t> numbers(times.size());
  for (std::size_t s = 0; s < numbers.size(); ++s) numbers[s] = static_cast<std::int64_t>(s);
  file.group("Steps");
  file.group("Steps/CellDataOffsets");
  file.attribute("Steps", "NSteps", std::array<std::int64_t, 1>{count});
  file.list("Steps/Values", std::vector<double>(times.begin(), times.end()));
  file.list("Steps/NumberOfParts", std::vector<std::int64_t>(times.size(), 1));
  file.list("Steps/PartOffsets", numbers);
  write_offsets(file, joints, trees);
}

/// Copies a step's rows to a place of the joint file; zeros for a mask that the step has not.
void copy_rows(const StepSets& step, const std::string& name, std::uint64_t bytes, const file::File& to,
               std::uint64_t place) {
  const auto found = step.sets.find(name);
  std::optional<file::File> from;
  if (found != step.sets.end()) {
    if (!found->second.offset)
      throw Error(Kind::unsupported, "the values of " + name + " are not contiguous").at(step.path.string());
    from.emplace(file::open_read(step.path));
  }
  std::vector<std::byte> piece;
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    piece.assign(static_cast<std::size_t>(std::min(piece_bytes, bytes - at)), std::byte{0});
    if (from) file::pread_all(*from, *found->second.offset + at, piece);
    file::pwrite_all(to, place + at, piece);
  }
}

void lay_out_joint(GridFile& file, const std::filesystem::path& first, const std::map<std::string, Joint>& joints) {
  const hdf5::File like = hdf5::open(first);
  for (const char* name : {"BranchFactor", "TransposedRootIndexing", "Dimensions"})
    if (const auto numbers = hdf5::read_numbers(like, root, name)) file.attribute("", name, *numbers);
  file.group("CellData");
  for (const auto& [name, joint] : joints) {
    std::vector<std::uint64_t> shape = joint.info.shape;
    shape.at(0) = joint.rows;
    file.later(name, joint.info.type, shape);
    for (const char* word : {own_name, own_unit})
      if (const auto text = hdf5::read_words(like, in_root(name), word)) file.words(name, word, *text);
  }
}

}  // namespace

void join_steps(const std::vector<std::filesystem::path>& paths, std::span<const double> times,
                const std::filesystem::path& out) {
  std::vector<StepSets> steps;
  for (const std::filesystem::path& path : paths) steps.push_back(read_step(path));
  const std::map<std::string, Joint> joints = joint_sets(steps);
  const bool trees = steps.front().type == trees_type;
  GridFile file(out, steps.front().type, trees ? std::array<std::int64_t, 2>{2, 4} : std::array<std::int64_t, 2>{2, 0});
  lay_out_joint(file, paths.front(), joints);
  write_steps(file, joints, times, trees);
  const std::map<std::string, std::uint64_t> places = file.close();
  file::File to = file::open_write(out);
  for (const auto& [name, joint] : joints) {
    const std::uint64_t width = joint.info.type.bytes * hdf5::items_a_row(joint.info);
    const std::size_t copied = is_coordinates(name) ? 1 : steps.size();
    for (std::size_t s = 0; s < copied; ++s)
      if (const std::uint64_t bytes = rows_in(steps[s], name) * width; bytes > 0)
        copy_rows(steps[s], name, bytes, to, places.at(name) + static_cast<std::uint64_t>(joint.first[s]) * width);
  }
  to.close();
}

}  // namespace octavo::formats::vtkhdf
