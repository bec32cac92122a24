#include <nanobind/stl/array.h>

#include <algorithm>
#include <array>
#include <memory>
#include <type_traits>
#include <utility>

#include "arguments.hpp"
#include "arrays.hpp"
#include "graph_cut.hpp"
#include "octavo/engine/restart/code_files.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/restart/neighbour_arrays.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/restart/scotch.hpp"
#include "octavo/engine/tiers/copies.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/world.hpp"

namespace octavo::bindings {
namespace {

using base::Error;
using base::Kind;
using Path = std::filesystem::path;

std::string library_version() {
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, '\0');
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  text.resize(static_cast<std::size_t>(length));
  return text.c_str();  // some implementations count the final zero
}

// ------------------------------------------------------------------ reading

/// Python's description of a restart; the names are the keywords of octavo.restart.
struct RestartWords {
  engine::RestartOptions to;
  std::string flow = "checkpoint", fill_by = "linear";
  Settings settings;
  Path options;
};

engine::RestartOptions restart_options_from(const RestartWords& words) {
  const engine::RestartOptions of_writer = engine::restart_options(options_from(words.settings, words.options));
  engine::RestartOptions options = words.to;
  options.staging_directory = of_writer.staging_directory;
  options.ranks_per_node = of_writer.ranks_per_node;
  options.remember_failed = of_writer.remember_failed;
  options.flow = flow_named(words.flow);
  if (words.fill_by != "linear" && words.fill_by != "constant")
    throw Error(Kind::usage, "no fill '" + words.fill_by + "': there are linear and constant");
  if (words.fill_by == "constant") options.fill_by = mesh::FillBy::constant;
  return options;
}

/// `problem`: what Python found wrong with this rank's arguments, for all ranks to know.
std::optional<engine::Restart> restart(std::optional<int> comm, const Path& store, const RestartWords& words,
                                       const std::optional<Problem>& problem) {
  nb::gil_scoped_release release;
  engine::RestartOptions options;
  ranks::agree(comm_from(comm), [&] {
    if (problem) throw error_from(*problem);
    options = restart_options_from(words);
  });
  return engine::restart(comm_from(comm), store, options);
}

/// This rank's files for a code that starts from files of its own, until they are removed.
class CodeFiles {
 public:
  CodeFiles(std::optional<int> comm, const Path& store, const engine::Restart& start, const std::string& format,
            const Path& path) {
    nb::gil_scoped_release release;
    remove_ = engine::write_files(comm_from(comm), store, start, format, path);
  }
  ~CodeFiles() { remove(); }
  CodeFiles(const CodeFiles&) = delete;
  CodeFiles& operator=(const CodeFiles&) = delete;
  void remove() noexcept {
    if (remove_) std::exchange(remove_, nullptr)();
  }

 private:
  std::function<void()> remove_;
};

void restart_failed(std::optional<int> comm, const Path& store, const engine::Restart& start) {
  nb::gil_scoped_release release;
  engine::restart_failed(comm_from(comm), store, start.id, start.flow);
}

/// Values that belong to `owner`, of shape (count, block z, y, x, components): axes that `block` does not have are left
/// out, and components where there is one.
nb::object array_of(mesh::Field& field, std::size_t count, int dim, const mesh::Index3& block, nb::handle owner) {
  std::vector<std::size_t> shape{count};
  if (block != mesh::Index3{1, 1, 1})
    for (auto axis = static_cast<std::size_t>(dim); axis-- > 0;) shape.push_back(static_cast<std::size_t>(block[axis]));
  if (field.info.components > 1) shape.push_back(static_cast<std::size_t>(field.info.components));
  return array_on(field.info.type, field.bytes.data(), shape, owner, true);
}

/// A view of shape (z, y, x) of each box.
nb::list boxes_of(mesh::Field& field, const mesh::Patches& patches, nb::handle owner) {
  nb::list all;
  std::byte* at = field.bytes.data();
  for (const auto& level : patches.boxes)
    for (const mesh::IndexBox& box : level) {
      std::vector<std::size_t> shape;
      std::size_t bytes = mesh::size_of(field.info.type);
      for (auto axis = static_cast<std::size_t>(patches.dim); axis-- > 0;) {
        shape.push_back(static_cast<std::size_t>(box.hi[axis] - box.lo[axis]));
        bytes *= shape.back();
      }
      all.append(array_on(field.info.type, at, shape, owner, true));
      at += bytes;
    }
  return all;
}

mesh::Unstructured& triangles_of(nb::handle self) {
  if (auto* mesh = std::get_if<mesh::Unstructured>(&nb::cast<engine::Restart&>(self).part.mesh)) return *mesh;
  throw Error(Kind::usage, "the step is not of triangles");
}

/// Numbers of a list of the restart, of shape (count,) or (count, width).
template <class T>
nb::object list_of(std::vector<T>& values, std::size_t width, nb::handle self) {
  const std::array<std::size_t, 2> shape{values.size() / width, width};
  return nb::cast(nb::ndarray<nb::numpy, T>(values.data(), width == 1 ? 1 : 2, shape.data(), self));
}

nb::dict fields_of_points(mesh::Part& part, nb::handle self) {
  const mesh::Unstructured& mesh = triangles_of(self);
  const bool flat = mesh.planes == 1;
  nb::dict fields;
  for (mesh::Field& field : part.fields)
    fields[nb::cast(field.info.name)] =
        flat ? array_of(field, mesh.x.size(), 1, {1, 1, 1}, self)
             : array_of(field, static_cast<std::size_t>(mesh.planes), 1, {std::ssize(mesh.x), 1, 1}, self);
  return fields;
}

nb::dict fields_of(nb::handle self) {
  mesh::Part& part = nb::cast<engine::Restart&>(self).part;
  if (std::holds_alternative<mesh::Unstructured>(part.mesh)) return fields_of_points(part, self);
  nb::dict fields;
  if (const auto* patches = std::get_if<mesh::Patches>(&part.mesh)) {
    for (mesh::Field& field : part.fields) fields[nb::cast(field.info.name)] = boxes_of(field, *patches, self);
    return fields;
  }
  const mesh::Octree& tree = octree_of(part);
  for (mesh::Field& field : part.fields)
    fields[nb::cast(field.info.name)] = array_of(field, num_cells(tree), tree.dim, tree.block, self);
  return fields;
}

nb::dict particles_of(nb::handle self) {
  nb::dict all;
  for (mesh::Particles& species : nb::cast<engine::Restart&>(self).part.particles) {
    nb::dict attributes;
    for (mesh::Field& attribute : species.attributes)
      attributes[nb::cast(attribute.info.name)] =
          array_of(attribute, static_cast<std::size_t>(species.count), 1, {1, 1, 1}, self);
    all[nb::cast(species.species)] = attributes;
  }
  return all;
}

nb::dict neighbours(std::optional<int> comm, const engine::Restart& start) {
  engine::NeighbourArrays found;
  {
    nb::gil_scoped_release release;
    found = engine::arrays_of(engine::find_neighbours(comm_from(comm), start));
  }
  nb::dict out;
  const auto add = [&](const char* name, auto& values, std::size_t width) {
    std::vector<std::size_t> shape{values.size() / width};
    if (width > 1) shape.push_back(width);
    out[name] = to_array(std::move(values), shape);
  };
  add("shared", found.shared, 1);
  add("first", found.first, 1);
  add("ranks", found.ranks, 1);
  add("halo_triangle", found.halo_triangle, 1);
  add("behind_rank", found.behind_rank, 3);
  add("behind_triangle", found.behind_triangle, 3);
  add("boundary_point", found.boundary_point, 1);
  add("place", found.place, 1);
  add("liquid", found.liquid, 1);
  add("next", found.next, 1);
  add("previous", found.previous, 1);
  add("codes", found.codes, 4);
  add("values", found.values, 7);
  add("colour", found.colour, 1);
  return out;
}

nb::dict opaque_of(const engine::Restart& start) {
  nb::dict all;
  for (const auto& [rank, named] : start.opaque) {
    nb::dict of_rank;
    for (const auto& [name, bytes] : named) of_rank[nb::cast(name)] = nb::bytes(bytes.data(), bytes.size());
    all[nb::cast(rank)] = of_rank;
  }
  return all;
}

/// One dict a step: segments in all, and at each level of safety but the store; None where a level has no file.
nb::list local_copies(const Path& staging_directory, const Path& store, nb::list notes) {
  std::vector<std::string> damage;
  nb::list rows;
  for (const engine::StepCopies& step : engine::list_copies(staging_directory, store, damage)) {
    nb::dict row;
    row["flow"] = store::to_string(step.flow);
    row["step"] = step.step;
    row["attempt"] = hex_of(step.attempt);
    row["segments"] = step.segments;
    for (std::size_t s = 0; s < engine::num_safeties; ++s)
      if (const auto safety = static_cast<engine::Safety>(s); safety != engine::Safety::store)
        row[nb::str(std::string(name_of(safety)).c_str())] = step.there[s];
    rows.append(row);
  }
  for (const std::string& note : damage) notes.append(note);
  return rows;
}

// ------------------------------------------------------------------ the module

/// An option of the engine as an attribute of RestartWords.
template <auto Option>
void bind_option(nb::class_<RestartWords>& words, const char* name) {
  using Value = std::remove_cvref_t<decltype(std::declval<engine::RestartOptions>().*Option)>;
  words.def_prop_rw(
      name, [](const RestartWords& of) { return of.to.*Option; },
      [](RestartWords& of, Value value) { of.to.*Option = std::move(value); }, nb::for_setter(nb::arg().none()));
}

void bind_options(nb::module_& m) {
  using Options = engine::RestartOptions;
  nb::class_<RestartWords> words(m, "RestartWords");
  words.def(nb::init<>())
      .def_rw("flow", &RestartWords::flow)
      .def_rw("fill_by", &RestartWords::fill_by)
      .def_rw("settings", &RestartWords::settings)
      .def_rw("options", &RestartWords::options)
      .def_prop_rw(
          "as_patches", [](const RestartWords& of) { return of.to.as == engine::MeshKind::patches; },
          [](RestartWords& of, bool patches) {
            of.to.as = patches ? engine::MeshKind::patches : engine::MeshKind::octree;
          });
  bind_option<&Options::step>(words, "step");
  bind_option<&Options::fields>(words, "fields");
  bind_option<&Options::particles>(words, "particles");
  bind_option<&Options::opaque>(words, "opaque");
  bind_option<&Options::keep_parts>(words, "keep_parts");
  bind_option<&Options::refine>(words, "refine");
  bind_option<&Options::block>(words, "block");
  bind_option<&Options::fill>(words, "fill");
  bind_option<&Options::per_mass>(words, "per_mass");
  bind_option<&Options::max_box>(words, "max_box");
  bind_option<&Options::points>(words, "points");
  nb::class_<CodeFiles>(m, "CodeFiles", "This rank's share of the files that restart_write has made.")
      .def(nb::init<std::optional<int>, const Path&, const engine::Restart&, const std::string&, const Path&>(),
           nb::arg("comm").none(), nb::arg("store"), nb::arg("start"), nb::arg("format"), nb::arg("path"))
      .def("remove", &CodeFiles::remove, "Removes it, unless all ranks have written one output. Local.")
      .def(
          "__enter__", [](nb::handle self) { return self; }, nb::sig("def __enter__(self) -> CodeFiles"))
      .def("__exit__", [](CodeFiles& of, nb::args) { of.remove(); });
}

void bind_step_id(nb::module_& m) {
  nb::class_<store::StepId>(m, "StepId", "A step of a flow, as a run that continues from it refers to it.")
      .def_ro("step", &store::StepId::step)
      .def(
          "__eq__",
          [](const store::StepId& a, nb::handle b) {
            return nb::isinstance<store::StepId>(b) && a == nb::cast<store::StepId>(b);
          },
          nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__repr__", [](const store::StepId& id) { return "<octavo.StepId " + std::to_string(id.step) + ">"; });
}

void bind_restart(nb::module_& m) {
  bind_step_id(m);
  nb::class_<engine::Restart>(m, "Restart", "The state that a rank starts from.")
      .def_ro("id", &engine::Restart::id, "For the Writer of the run that goes on: resumed_from=restart.id.")
      .def_prop_ro(
          "flow", [](const engine::Restart& r) { return store::to_string(r.flow); }, "Of a store.")
      .def_prop_ro("step", [](const engine::Restart& r) { return r.id.step; })
      .def_prop_ro(
          "time", [](const engine::Restart& r) { return r.header.time; }, "[code time]")
      .def_ro("header", &engine::Restart::header, "Its attributes and fields are those of the step.")
      .def_prop_ro("attributes", [](const engine::Restart& r) { return r.header.attributes; })
      .def_prop_ro(
          "mesh",
          [](nb::handle self) {
            const mesh::Mesh& mesh = nb::cast<const engine::Restart&>(self).part.mesh;
            if (std::holds_alternative<mesh::Unstructured>(mesh)) return nb::object(nb::none());
            if (const auto* patches = std::get_if<mesh::Patches>(&mesh))
              return nb::object(nb::cast(*patches, nb::rv_policy::reference_internal, self));
            return nb::object(nb::cast(std::get<mesh::Octree>(mesh), nb::rv_policy::reference_internal, self));
          },
          "This rank's tree, pruned; or its Patches; None of triangles.")
      .def_prop_ro(
          "x", [](nb::handle self) { return list_of(triangles_of(self).x, 1, self); },
          "Of triangles: places of this rank's points of one plane [code length].")
      .def_prop_ro("y", [](nb::handle self) { return list_of(triangles_of(self).y, 1, self); })
      .def_prop_ro(
          "triangles", [](nb::handle self) { return list_of(triangles_of(self).connectivity, 3, self); },
          "Shape (triangles, 3): this rank's points from 0.")
      .def_prop_ro(
          "global_point", [](nb::handle self) { return list_of(triangles_of(self).global_point, 1, self); },
          "Of each point its number in the whole mesh.")
      .def_prop_ro(
          "global_triangle",
          [](nb::handle self) { return list_of(nb::cast<engine::Restart&>(self).global_element, 1, self); },
          "Of each triangle its number in the whole mesh.")
      .def_prop_ro("planes", [](nb::handle self) { return triangles_of(self).planes; })
      .def_prop_ro(
          "fields", &fields_of,
          "{name: array over all tree cells, breadth first}; of triangles over points, or (planes, points); of Patches "
          "{name: [array of a box, ...]}: views that can be written.")
      .def_prop_ro("opaque", &opaque_of, "{rank: {name: bytes}} of the run that wrote the step.")
      .def_prop_ro("particles", &particles_of, "{species: {attribute: array}}: views that can be written.")
      .def_ro("from_local_disks", &engine::Restart::from_local_disks,
              "Whether each rank has read its part from the disk of its node, and none from the store.")
      .def_ro("notes", &engine::Restart::notes, "Damage, steps passed over; the same on all ranks.");
  m.def("local_copies", &local_copies, nb::arg("staging_directory"), nb::arg("store"), nb::arg("notes"));
  m.def("neighbours", &neighbours, nb::arg("comm").none(), nb::arg("start"));
  bind_options(m);
  m.def("restart", &restart, nb::arg("comm").none(), nb::arg("store"), nb::arg("words"), nb::arg("problem").none());
  m.def("restart_failed", &restart_failed, nb::arg("comm").none(), nb::arg("store"), nb::arg("start"));
  m.def("forget_failed_restarts", &engine::forget_failed_restarts, nb::arg("store"));
}

}  // namespace
}  // namespace octavo::bindings

NB_MODULE(_mpi, m) {
  using namespace octavo;
  nb::module_::import_("octavo._core");  // binds Ranks, Header and Octree
  m.def("world", &ranks::world, "The processes that mpirun started; starts MPI where nobody has.");
  m.def(
      "scotch",
      []() -> std::optional<bindings::BoundGraphCut> {
        if (!engine::has_scotch()) return std::nullopt;
        return bindings::BoundGraphCut{engine::cut_by_scotch};
      },
      "The function that cuts a mesh that all ranks share with PT-Scotch; None if the build lacks it.");
  m.def("abort", &ranks::abort, nb::arg("code"), "Ends all ranks with this exit code.");
  m.def("library_version", &bindings::library_version, "The version text of the MPI library that octavo is linked to.");
  bindings::bind_restart(m);
  bindings::bind_writer(m);
}
