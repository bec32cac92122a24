#include "octavo/engine/step/step_puts.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/store/table.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

// Turns errors that mean damage in a file into wrong use, because here a caller made them.
void as_usage(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() != Kind::corrupt) throw;
    Error wrong(Kind::usage, error.message());
    for (const std::string& place : error.places()) wrong.at(place);
    if (!error.advice().empty()) wrong.hint(error.advice());
    throw wrong;
  }
}

void check_counts(const mesh::Index3& counts, int dim, const std::string& what) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const bool used = axis < static_cast<std::size_t>(dim);
    if (counts[axis] < 1 || (!used && counts[axis] != 1))
      throw Error(Kind::usage, what + " along axis " + std::to_string(axis) + ": expected " +
                                   (used ? "1 or more" : "1 beyond dim") + ", found " + std::to_string(counts[axis]));
  }
}

void check_new(const StepJob& job, const std::string& name) {
  for (const StepArray& other : job.fields)
    if (other.info.name == name) throw Error(Kind::usage, "the field was put before");
}

void check_boxes(const mesh::Patches& patches, const StepArray& source) {
  std::size_t next = 0;
  for (std::size_t level = 0; level < patches.boxes.size(); ++level)
    for (const mesh::IndexBox& box : patches.boxes[level]) {
      const ArrayView* view = next < source.boxes.size() ? &source.boxes[next] : nullptr;
      ++next;
      const mesh::IndexBox cells = flat(box, patches.dim);
      for (std::size_t axis = 0; axis < 3; ++axis)
        if (view == nullptr || view->cells != 1 || view->components != 1 || view->type != source.info.type ||
            view->block[axis] != cells.hi[axis] - cells.lo[axis])
          throw Error(Kind::usage, "expected one view for box " + describe(box, patches.dim) + " of level " +
                                       std::to_string(level) + ", of its size, the others' type and one component");
    }
  if (next != source.boxes.size())
    throw Error(Kind::usage,
                "expected views of " + std::to_string(next) + " boxes, found " + std::to_string(source.boxes.size()));
}

void check_patch_fields(const StepJob& job) {
  const mesh::Patches& patches = job.patches->mine;
  std::size_t cells = 0;
  for (const auto& boxes : patches.boxes)
    for (const mesh::IndexBox& box : boxes) cells += static_cast<std::size_t>(num_cells(box, patches.dim));
  for (const StepArray& source : job.fields) try {
      if (!source.boxes.empty()) {
        check_boxes(patches, source);
      } else if (source.view.cells != cells || source.info.components != 1 ||
                 source.view.block != mesh::Index3{1, 1, 1}) {
        throw Error(Kind::usage, "expected one value for each of " + std::to_string(cells) +
                                     " cells of patches, found " + std::to_string(source.view.cells));
      }
    } catch (Error& error) {
      throw error.at("field " + source.info.name);
    }
}

void check_point_fields(const StepJob& job) {
  const std::size_t points = job.triangles->points * static_cast<std::size_t>(job.triangles->planes);
  if (!job.species.empty()) throw Error(Kind::unsupported, "a mesh of triangles has no particles");
  for (const StepArray& source : job.fields) {
    // move_values() has words of these widths only.
    const std::size_t width = mesh::size_of(source.info.type);
    if (source.view.cells * static_cast<std::size_t>(source.view.block[0]) != points || !source.boxes.empty() ||
        source.info.components != 1 || (width != 4 && width != 8))
      throw Error(Kind::usage, "expected one value of 4 or 8 bytes for each of " + std::to_string(points) +
                                   " points of all planes, found " + std::to_string(source.view.cells))
          .at("field " + source.info.name);
  }
}

void check_owned(const mesh::Octree& tree, const StepArray& source) {
  auto place = source.view.order.begin();
  if (source.view.order.empty()) return;
  for (const base::BitArray& owned : tree.owned)
    for (std::size_t cell = 0; cell < owned.size(); ++cell, ++place)
      // Cells of other ranks may be absent: readers take their values from the owner.
      if (*place == ArrayView::nowhere && owned[cell])
        throw Error(Kind::usage, "order: expected a place for tree cell " +
                                     std::to_string(place - source.view.order.begin()) +
                                     ", which this rank owns, found nowhere")
            .at("field " + source.info.name);
}

std::string text_of_value(std::int64_t value) { return std::to_string(value); }
// The shortest text that gives exactly this number.
std::string text_of_value(double value) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  std::string out(text.data(), end);
  return out.find_first_of(".en") == std::string::npos ? out + ".0" : out;
}
std::string text_of_value(const std::string& value) { return "'" + value + "'"; }
// A long list is named by its length and its sum.
template <class T>
std::string text_of_value(const std::vector<T>& values) {
  std::string text = "[";
  for (const T& value : values) text += (text.size() > 1 ? ", " : "") + text_of_value(value);
  // The text goes into errors and into the hash that ranks compare. Above this length a sum tells lists apart as well.
  if (text.size() < 200) return text + "]";
  return std::to_string(values.size()) + " values, sum " +
         std::to_string(base::checksum(std::as_bytes(std::span(text))));
}

void check_name(const std::string& name, const char* of_what) {
  if (name.empty()) throw Error(Kind::usage, std::string("the name of ") + of_what + " is empty");
}

}  // namespace

void check(const mesh::Header& common) {
  if (common.dim < 1 || common.dim > 3)
    throw Error(Kind::usage, "dim: expected 1 to 3, found " + std::to_string(common.dim));
  check_counts(common.roots, common.dim, "roots");
  check_counts(common.block, common.dim, "block");
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(common.dim); ++axis) {
    const double lo = common.lo[axis], hi = common.hi[axis];
    if (!(std::isfinite(lo) && std::isfinite(hi) && lo < hi))
      throw Error(Kind::usage, "domain along axis " + std::to_string(axis) + ": expected finite lo < hi, found " +
                                   text_of_value(lo) + " to " + text_of_value(hi));
  }
  as_usage([&] { store::check_header(common); });
}

Error outside_of_step(const std::string& what, const std::string& after) {
  return Error(Kind::usage, "nothing can be put outside of a step")
      .at(what + (after.empty() ? ", before the first step" : ", after " + after));
}

void check(const mesh::Patches& patches) {
  as_usage([&] { validate(patches); });
}

void set_mesh(StepJob& job, const mesh::Octree& tree) {
  as_usage([&] { validate(tree); });
  if (tree.dim != job.header.dim || tree.roots != job.header.roots || tree.block != job.header.block)
    throw Error(Kind::usage, "the tree has not the dimensions, roots or block of the header");
  job.tree = tree;
}

void set_mesh(StepJob& job, const mesh::Patches& patches) {
  const mesh::Header& header = job.header;
  check(patches);
  PatchSource source;
  as_usage([&] { source.tree = plan_patch_tree(patches, header.unfolded, header.block); });
  if (patches.dim != header.dim || source.tree.roots != header.roots)
    throw Error(Kind::usage, "the patches' domain has not the dimensions or roots of the header");
  source.mine = patches;
  job.patches = std::move(source);
  job.header.attributes["patches/ratio"] = std::vector<std::int64_t>(patches.ratio.begin(), patches.ratio.end());
  const mesh::Index3& corner = patches.domain.at(0).lo;
  job.header.attributes["patches/corner"] = std::vector<std::int64_t>(corner.begin(), corner.end());
}

void set_mesh(StepJob& job, const TriangleSource& piece) {
  const mesh::Index3 one{1, 1, 1};
  if (job.header.roots != one || job.header.block != one)
    throw Error(Kind::usage, "triangles: expected a header of one root and no blocks");
  if (piece.planes < 1) throw Error(Kind::usage, "planes: expected at least 1, found " + std::to_string(piece.planes));
  job.triangles = piece;
}

void add_field(StepJob& job, const std::string& name, const ArrayView& view, const std::string& unit,
               mesh::Centring centring) try {
  check(view);
  check_new(job, name);
  StepArray source;
  source.info = {name, unit, view.type, centring, view.components, 0};
  source.view = view;
  job.fields.push_back(std::move(source));
} catch (Error& error) {
  throw error.at("field " + name);
}

void add_field(StepJob& job, const std::string& name, std::span<const ArrayView> boxes, const std::string& unit,
               mesh::Centring centring) try {
  check_new(job, name);
  StepArray source;
  source.info = {name, unit, mesh::ScalarType::float64, centring, 1, 0};
  for (const ArrayView& box : boxes) check(box);
  if (!boxes.empty()) source.info.type = boxes.front().type;
  source.view.type = source.info.type;
  source.boxes.assign(boxes.begin(), boxes.end());
  job.fields.push_back(std::move(source));
} catch (Error& error) {
  throw error.at("field " + name);
}

void add_particles(StepJob& job, const std::string& species, const std::string& attribute, const ArrayView& view,
                   const std::string& unit) try {
  check(view);
  auto known = std::find_if(job.species.begin(), job.species.end(),
                            [&](const SpeciesSource& other) { return other.species == species; });
  if (known == job.species.end())
    known = job.species.insert(known, {species, static_cast<std::int64_t>(view.cells), {}});
  if (known->count != static_cast<std::int64_t>(view.cells))
    throw Error(Kind::usage,
                "expected " + std::to_string(known->count) + " particles, found " + std::to_string(view.cells));
  StepArray source;
  source.info = {attribute, unit, view.type, mesh::Centring::particle, view.components, 0};
  source.view = view;
  known->attributes.push_back(std::move(source));
} catch (Error& error) {
  throw error.at("particles " + species + "/" + attribute);
}

void follow_streams(const StepJob& job) {
  for_each_source(job, [&](const StepArray& source) {
    try {
      source.boxes.empty() ? follow({&source.view, 1}) : follow(source.boxes);
    } catch (Error& error) {
      throw error.at(name_in_errors(source));
    }
  });
}

void check_complete(const StepJob& job) {
  if (job.plan.step < 0) throw Error(Kind::usage, "the step's number is negative").at(describe_step(job));
  if (!std::isfinite(job.header.time))
    throw Error(Kind::usage, "expected a finite time, found " + text_of_value(job.header.time)).at(describe_step(job));
  for (const auto& attribute : job.header.attributes) check_name(attribute.first, "an attribute");
  for (const StepArray& field : job.fields) check_name(field.info.name, "a field");
  for (const SpeciesSource& species : job.species) {
    check_name(species.species, "a species");
    for (const StepArray& attribute : species.attributes) check_name(attribute.info.name, "an attribute of particles");
  }
  if (!has_part(job) && (!job.fields.empty() || !job.species.empty()))
    throw Error(Kind::usage, "fields or particles without a mesh").at(describe_step(job));
  if (job.patches) return check_patch_fields(job);
  if (job.triangles) return check_point_fields(job);
  if (!job.tree) return;
  const std::size_t cells = num_cells(*job.tree);
  for (const StepArray& source : job.fields) {
    if (source.view.cells != cells || source.view.block != job.header.block || !source.boxes.empty())
      throw Error(Kind::usage, "expected values for " + std::to_string(cells) +
                                   " tree cells with the header's block, found " + std::to_string(source.view.cells))
          .at("field " + source.info.name);
    check_owned(*job.tree, source);
  }
}

std::string describe(const StepJob& job) {
  std::string text;
  const auto add = [&](const mesh::FieldInfo& info) {
    text += " " + info.name + " (" + std::string(mesh::name_of(info.type)) + " x " + std::to_string(info.components) +
            (info.unit.empty() ? "" : ", " + info.unit) + ", centring " +
            std::to_string(static_cast<int>(info.centring)) + ");";
  };
  for (const StepArray& source : job.fields) add(source.info);
  for (const SpeciesSource& species : job.species) {
    text += " species " + species.species + ":";
    for (const StepArray& source : species.attributes) add(source.info);
  }
  if (job.patches) {
    text += " patches of";
    for (const mesh::IndexBox& domain : job.patches->mine.domain) text += " " + describe(domain, job.header.dim);
  }
  return text;
}

std::string describe(const mesh::Header& header) {
  std::string text;
  const auto item = [&text](const std::string& name, const auto&... values) {
    text += " " + name + " =";
    ((text += " " + text_of_value(values)), ...);
    text += ";";
  };
  const auto& [rx, ry, rz] = header.roots;
  const auto& [bx, by, bz] = header.block;
  item("time", header.time);
  item("code", header.code);
  item("dimensions", std::int64_t{header.dim});
  item("roots", std::int64_t{rx}, std::int64_t{ry}, std::int64_t{rz});
  item("block", std::int64_t{bx}, std::int64_t{by}, std::int64_t{bz});
  item("levels", std::int64_t{header.level_origin}, std::int64_t{header.unfolded});
  item("domain", header.lo[0], header.lo[1], header.lo[2], header.hi[0], header.hi[1], header.hi[2]);
  item("periodic", std::int64_t{header.periodic[0]}, std::int64_t{header.periodic[1]},
       std::int64_t{header.periodic[2]});
  item("units of length, density, time", header.unit_length, header.unit_density, header.unit_time);
  for (const auto& [name, value] : header.attributes)
    std::visit([&, &name = name](const auto& of_a_type) { item("attribute " + name, of_a_type); }, value);
  return text;
}

std::string describe_step(const StepJob& job) {
  if (!job.name.empty()) return job.name;
  return store::to_string(job.plan.flow) + " step " + std::to_string(job.plan.step);
}

}  // namespace octavo::engine
