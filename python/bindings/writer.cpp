#include <nanobind/stl/array.h>

#include <algorithm>
#include <list>
#include <map>
#include <type_traits>

#include "arguments.hpp"
#include "capi/any_target.hpp"
#include "octavo/engine/device/driver.hpp"
#include "octavo/engine/targets/named_target.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::bindings {
namespace {

using base::Error;
using base::Kind;
using Path = std::filesystem::path;
using Ranks = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
using Flags = nb::ndarray<const std::uint8_t, nb::c_contig, nb::device::cpu>;
namespace serafin = formats::serafin;

/// Python's description of a target; the names are the keywords of octavo.Target.
struct TargetWords {
  std::string kind = "store";
  Path path, options;
  Settings settings;
  std::optional<store::StepId> resumed_from;
  std::string mode = "background", title, multifab, precision = "single";
  bool sync = true, bound_thread = false, checksums = true, collect = false, replace = false, little_endian = false;
  std::map<std::string, std::string> names;
  int files = 0, writers = 0, ranks_per_node = 0;
  std::int64_t max_box = engine::AmrexTarget().max_box, alignment = 4096;
  std::int64_t staging_bytes = engine::OutputOptions().staging_bytes;
  std::vector<std::pair<std::string, std::string>> variables;  // name and unit
  std::optional<std::array<std::int32_t, 6>> date;
  std::array<std::int32_t, 2> origin{};
  std::optional<double> resume;
  engine::SeriesMesh mesh;
};

engine::OutputOptions output_options_from(const TargetWords& words) {
  engine::OutputOptions options;
  options.mode = mode_named(words.mode);
  options.sync = words.sync;
  options.checksums = words.checksums;
  options.bound_thread = words.bound_thread;
  options.staging_bytes = words.staging_bytes;
  return options;
}

serafin::SerafinHeader header_from(const TargetWords& words) {
  if (words.precision != "single" && words.precision != "double")
    throw Error(Kind::usage, "no precision '" + words.precision + "': there are single and double");
  serafin::SerafinHeader header;
  header.order = words.little_endian ? std::endian::little : std::endian::big;
  header.real_bytes = words.precision == "double" ? 8 : 4;
  header.title = engine::series_title(serafin::latin1_of(words.title), header.real_bytes);
  for (const auto& [name, unit] : words.variables) header.variables.push_back(serafin::variable(name, unit));
  std::copy(words.origin.begin(), words.origin.end(), header.iparam.begin() + 2);
  header.date = words.date;
  return header;
}

engine::SeriesTarget series_from(const TargetWords& words) {
  if (words.alignment < 1)
    throw Error(Kind::usage, "alignment: expected at least 1 byte, found " + std::to_string(words.alignment));
  engine::SeriesTarget target{words.path, header_from(words), words.mesh};
  target.options.writers = words.writers;
  target.options.alignment = static_cast<std::uint64_t>(words.alignment);
  target.options.resume = words.resume;
  target.options.ranks_per_node = words.ranks_per_node;
  return target;
}

engine::Target target_from(const TargetWords& words) {
  engine::TargetOptions options{output_options_from(words), words.collect, words.replace, words.names, words.files};
  options.max_box = words.max_box;
  if (!words.title.empty()) options.title = words.title;
  if (!words.multifab.empty()) options.multifab = words.multifab;
  options.store = [&] {
    return engine::StoreTarget{words.path, options_from(words.settings, words.options), words.resumed_from};
  };
  options.series = [&] { return series_from(words); };
  return engine::target_named(words.kind, options);
}

/// The address of the CUDA stream that an array in device memory waits for (octavo.device). None: host memory.
using Stream = std::optional<std::uintptr_t>;

/// The engine's writer, and references to the arrays that it reads after the Python call has returned.
class PythonWriter {
 public:
  /// `problem`: what Python found wrong with this rank's arguments, for all ranks to know.
  PythonWriter(std::optional<int> comm, const TargetWords& words, const mesh::Header& header,
               const std::optional<Problem>& problem)
      : header_(header) {
    nb::gil_scoped_release release;
    const MPI_Comm everyone = comm_from(comm);
    engine::Target target;
    ranks::agree(everyone, [&] {
      if (problem) throw error_from(*problem);
      target = target_from(words);
    });
    if (const auto* store = std::get_if<engine::StoreTarget>(&target)) lend_ = store->options.lend;
    target_ = steps_by(target);
    writer_.emplace(everyone, header, target);
  }
  /// `name`: the flow of a store, the path of a FLASH or AMReX output; nothing for a series.
  void begin_step(const std::optional<std::string>& name, std::int64_t step, double time) {
    store::Flow flow = store::Flow::checkpoint;
    try {
      if (target_ == engine::StepsBy::flow) flow = flow_named(name.value_or("None"));
    } catch (Error& error) {  // for all ranks to know
      return open().begin_error(error.at("begin_step"));
    }
    call([&](engine::Writer& writer) { capi::begin_step(writer, target_, flow, name.value_or(""), step, time); });
    held_.clear();
    listed_.clear();
    of_blocks_ = false;
  }
  void put_attribute(const std::string& name, mesh::Attribute value) { open().put_attribute(name, std::move(value)); }
  void put_list(const std::string& list, const std::vector<std::string>& names, const mesh::Attribute& values) {
    capi::put_list(open(), list, names, values);
  }
  void put_units(double length, double density, double time) { open().put_units(length, density, time); }
  void put_tree(const mesh::Octree& tree) {
    of_blocks_ = false;
    open().put_mesh(tree);
  }
  void put_patches(const mesh::Patches& patches) {
    of_blocks_ = false;
    open().put_mesh(patches);
  }
  void put_triangles(const engine::SeriesMesh& triangles) {
    of_blocks_ = false;
    capi::put_triangles(open(), target_, triangles);
  }
  /// Shapes (blocks,), (blocks, 3), (blocks,).
  void put_blocks(const Ranks& level, const Numbers& position, const Flags& refined) {
    const auto count = static_cast<std::int64_t>(level.size());
    const auto blocks = capi::listed_blocks(count, level.data(), position.data(), refined.data(), header_.level_origin);
    listed_.push_back(mesh::tree_of_blocks(header_.dim, header_.roots, header_.block, blocks));
    open().put_mesh(listed_.back().tree);
    of_blocks_ = true;
  }
  void put_bytes(const std::string& name, const nb::bytes& bytes) {
    open().put_bytes(name, {static_cast<const std::byte*>(bytes.data()), bytes.size()});
  }
  void put_field(const std::string& name, nb::handle array, const std::string& type, const std::string& unit,
                 const std::string& centring, nb::handle order, Stream stream) {
    engine::ArrayView view = hold(array, type, stream);
    if (!order.is_none()) {
      held_.emplace_back(order);
      const Py_buffer& entries = held_.back().get();
      view.order = {static_cast<const std::uint32_t*>(entries.buf), static_cast<std::size_t>(entries.shape[0])};
    }
    if (of_blocks_) capi::follow_blocks(listed_.back(), view, !order.is_none());
    open().put_field(name, view, unit, centring_named(centring));
  }
  void put_boxes(const std::string& name, const std::vector<nb::object>& arrays, const std::vector<std::string>& types,
                 const std::string& unit, const std::string& centring, const std::vector<Stream>& streams) {
    std::vector<engine::ArrayView> views;
    for (std::size_t i = 0; i < arrays.size(); ++i) views.push_back(hold(arrays[i], types.at(i), streams.at(i)));
    open().put_field(name, views, unit, centring_named(centring));
  }
  void put_particles(const std::string& species, const std::string& attribute, nb::handle array,
                     const std::string& type, const std::string& unit, Stream stream) {
    open().put_particles(species, attribute, hold(array, type, stream), unit);
  }
  void put_error(const Problem& problem) { open().put_error(error_from(problem)); }
  void begin_error(const Problem& problem) { open().begin_error(error_from(problem)); }
  void end_step() {
    call([](engine::Writer& writer) { writer.end_step(); });
    if (!lend_) held_.clear();
  }
  bool finished() {
    return call([](engine::Writer& writer) { return writer.finished(); });
  }
  void wait() {
    call([](engine::Writer& writer) { writer.wait(); });
    held_.clear();
  }
  void close() {
    call([](engine::Writer& writer) { writer.close(); });
    held_.clear();
  }
  /// Waits for this rank's own work, tells nobody.
  void abandon() {
    {
      nb::gil_scoped_release release;
      writer_.reset();
    }
    held_.clear();
  }
  std::int64_t steps() { return open().steps(); }
  bool due(const std::string& flow, std::int64_t step, double time) {
    const store::Flow of = flow_named(flow);
    return call([&](engine::Writer& writer) { return writer.due(of, step, time); });
  }
  std::optional<store::StepId> newest_durable(const std::string& flow) {
    return open().newest_durable(flow_named(flow));
  }
  std::optional<store::StepId> newest_drained(const std::string& flow) {
    return open().newest_drained(flow_named(flow));
  }
  std::optional<store::StepId> newest_safe(const std::string& flow, const std::string& safety) {
    return open().newest_safe(flow_named(flow), engine::parse_safety(safety));
  }
  std::string mode_of(const std::string& flow) {
    return std::string(engine::name_of(open().mode_of(flow_named(flow))));
  }
  std::string statistics() { return to_json(open().statistics()); }
  std::string total_statistics() {
    return call([](engine::Writer& writer) { return to_json(writer.total_statistics()); });
  }

 private:
  engine::Writer& open() {
    if (!writer_) throw Error(Kind::usage, "the writer was left by an exception");
    return *writer_;
  }
  /// Without the GIL.
  template <class Work>
  std::invoke_result_t<Work, engine::Writer&> call(Work&& work) {
    engine::Writer& mine = open();
    nb::gil_scoped_release release;
    return work(mine);
  }
  engine::ArrayView hold(nb::handle array, const std::string& type, Stream stream) {
    held_.emplace_back(array);
    engine::ArrayView view = view_of_buffer(held_.back().get(), mesh::scalar_type(type));
    if (!stream) return view;
    view.space = engine::MemorySpace::device;
    view.stream = reinterpret_cast<void*>(*stream);
    return view;
  }

  std::vector<Buffer> held_;            // outlives the writer, which may still read them
  std::list<mesh::ListedTree> listed_;  // of this step; the writer reads the orders in them
  bool of_blocks_ = false;              // fields are of the blocks of the last list
  mesh::Header header_;
  engine::StepsBy target_ = engine::StepsBy::flow;
  std::optional<engine::Writer> writer_;
  bool lend_ = false;
};

/// Keeps the memory of a DLPack capsule alive.
struct KeptArray {
  nb::ndarray<nb::ro> array;
};

/// The contents of a DLPack capsule: address, shape, strides [elements], type, and an object that keeps the memory
/// alive.
nb::tuple dlpack_layout(const nb::ndarray<nb::ro>& array) {
  std::vector<std::size_t> shape;
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
    shape.push_back(array.shape(axis));
    strides.push_back(array.stride(axis));
  }
  const nb::dlpack::dtype type = array.dtype();
  using Code = nb::dlpack::dtype_code;
  const bool is_bool = type.code == static_cast<std::uint8_t>(Code::Bool);
  const char* kinds = type.code == static_cast<std::uint8_t>(Code::Int)     ? "int"
                      : type.code == static_cast<std::uint8_t>(Code::UInt)  ? "uint"
                      : type.code == static_cast<std::uint8_t>(Code::Float) ? "float"
                                                                            : nullptr;
  if ((kinds == nullptr && !is_bool) || type.lanes != 1)
    throw Error(Kind::usage, "expected integers, real numbers or truth values in device memory");
  const std::string kind = is_bool ? "bool" : kinds + std::to_string(type.bits);
  return nb::make_tuple(reinterpret_cast<std::uintptr_t>(array.data()), nb::tuple(nb::cast(shape)),
                        nb::tuple(nb::cast(strides)), kind, nb::cast(KeptArray{array}));
}

void bind_mesh_of_target(nb::module_& m) {
  nb::class_<KeptArray>(m, "KeptArray");
  m.def("dlpack_layout", &dlpack_layout);
  m.def("device_driver", [] { return engine::device::driver().name + "; " + engine::device::who_packs(); });
  nb::class_<engine::SeriesMesh>(m, "Triangles")
      .def(nb::init<>())
      .def(
          "set_piece",
          [](engine::SeriesMesh& mesh, const Doubles& x, const Doubles& y, const Numbers& triangles,
             const std::optional<Numbers>& number,
             int planes) { mesh.piece = piece_from(x, y, triangles, number, planes); },
          nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg())
      .def(
          "set_numbers",
          [](engine::SeriesMesh& mesh, const std::optional<Numbers>& element, const std::optional<Ranks>& boundary) {
            if (element) mesh.global_element.assign(element->data(), element->data() + element->size());
            if (boundary) mesh.boundary.assign(boundary->data(), boundary->data() + boundary->size());
          },
          nb::arg().none(), nb::arg().none())
      .def_rw("geometry", &engine::SeriesMesh::geometry, nb::arg().none());
}

void bind_target(nb::module_& m) {
  nb::class_<TargetWords>(m, "TargetWords")
      .def(nb::init<>())
      .def_rw("kind", &TargetWords::kind)
      .def_rw("path", &TargetWords::path)
      .def_rw("options", &TargetWords::options)
      .def_rw("settings", &TargetWords::settings)
      .def_rw("resumed_from", &TargetWords::resumed_from, nb::arg().none())
      .def_rw("mode", &TargetWords::mode)
      .def_rw("title", &TargetWords::title)
      .def_rw("multifab", &TargetWords::multifab)
      .def_rw("precision", &TargetWords::precision)
      .def_rw("sync", &TargetWords::sync)
      .def_rw("bound_thread", &TargetWords::bound_thread)
      .def_rw("checksums", &TargetWords::checksums)
      .def_rw("collect", &TargetWords::collect)
      .def_rw("replace", &TargetWords::replace)
      .def_rw("little_endian", &TargetWords::little_endian)
      .def_rw("names", &TargetWords::names)
      .def_rw("files", &TargetWords::files)
      .def_rw("writers", &TargetWords::writers)
      .def_rw("ranks_per_node", &TargetWords::ranks_per_node)
      .def_rw("max_box", &TargetWords::max_box)
      .def_rw("staging_bytes", &TargetWords::staging_bytes)
      .def_rw("alignment", &TargetWords::alignment)
      .def_rw("variables", &TargetWords::variables)
      .def_rw("date", &TargetWords::date, nb::arg().none())
      .def_rw("origin", &TargetWords::origin)
      .def_rw("resume", &TargetWords::resume, nb::arg().none())
      .def_rw("mesh", &TargetWords::mesh);
}

}  // namespace

void bind_writer(nb::module_& m) {
  bind_mesh_of_target(m);
  bind_target(m);
  nb::class_<PythonWriter>(m, "Writer")
      .def(nb::init<std::optional<int>, const TargetWords&, const mesh::Header&, const std::optional<Problem>&>(),
           nb::arg("comm").none(), nb::arg("target"), nb::arg("header"), nb::arg("problem").none())
      .def("begin_step", &PythonWriter::begin_step, nb::arg().none(), nb::arg(), nb::arg())
      .def("put_attribute", &PythonWriter::put_attribute)
      .def("put_list", &PythonWriter::put_list)
      .def("put_blocks", &PythonWriter::put_blocks)
      .def("put_bytes", &PythonWriter::put_bytes)
      .def("put_units", &PythonWriter::put_units)
      .def("put_mesh", &PythonWriter::put_tree)
      .def("put_mesh", &PythonWriter::put_patches)
      .def("put_mesh", &PythonWriter::put_triangles)
      .def("put_boxes", &PythonWriter::put_boxes)
      .def("put_field", &PythonWriter::put_field, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none(), nb::arg().none())
      .def("put_particles", &PythonWriter::put_particles, nb::arg(), nb::arg(), nb::arg(), nb::arg(), nb::arg(),
           nb::arg().none())
      .def("put_error", &PythonWriter::put_error)
      .def("begin_error", &PythonWriter::begin_error)
      .def("end_step", &PythonWriter::end_step)
      .def("finished", &PythonWriter::finished)
      .def("wait", &PythonWriter::wait)
      .def("close", &PythonWriter::close)
      .def("abandon", &PythonWriter::abandon)
      .def("steps", &PythonWriter::steps)
      .def("due", &PythonWriter::due)
      .def("newest_durable", &PythonWriter::newest_durable)
      .def("newest_drained", &PythonWriter::newest_drained)
      .def("newest_safe", &PythonWriter::newest_safe)
      .def("mode_of", &PythonWriter::mode_of)
      .def("statistics", &PythonWriter::statistics)
      .def("total_statistics", &PythonWriter::total_statistics);
}

}  // namespace octavo::bindings
