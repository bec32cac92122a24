#include <map>
#include <optional>

#include "arguments.hpp"
#include "octavo/engine/write/writer.hpp"
#include "open_writer.hpp"

namespace octavo::bindings {
namespace {

using base::Error;
using base::Kind;
using Path = std::filesystem::path;

engine::NativeFormat format_named(const std::string& name) {
  if (name == "flash") return engine::NativeFormat::flash;
  if (name == "amrex_plotfile") return engine::NativeFormat::amrex_plotfile;
  if (name == "amrex_checkpoint") return engine::NativeFormat::amrex_checkpoint;
  throw Error(Kind::usage, "no format '" + name + "': there are flash, amrex_plotfile and amrex_checkpoint");
}

/// The engine's writer, and the arrays that end_step() reads.
class NativeWriter {
 public:
  NativeWriter(std::optional<int> comm, const mesh::Header& header, const std::string& format, const std::string& mode,
               bool sync, bool checksums, bool collect, std::map<std::string, std::string> names, int files,
               std::int64_t max_box, const std::string& title, const std::string& multifab, bool bound_thread) {
    nb::gil_scoped_release release;
    const MPI_Comm everyone = comm_from(comm);
    engine::NativeOptions options;
    ranks::agree(everyone, [&] {
      options.format = format_named(format);
      options.mode = mode_named(mode);
      options.sync = sync;
      options.checksums = checksums;
      options.collect = collect;
      options.names = std::move(names);
      options.files = files;
      options.max_box = max_box;
      options.title = title;
      options.multifab = multifab;
      options.bound_thread = bound_thread;
    });
    writer_.open(everyone, header, options);
  }
  void begin_step(const Path& path, std::int64_t step, double time) { writer_->begin_step(path, step, time); }
  void put_attribute(const std::string& name, mesh::Attribute value) { writer_->put_attribute(name, std::move(value)); }
  void put_tree(const mesh::Octree& tree) { writer_->put_mesh(tree); }
  void put_patches(const mesh::Patches& patches) { writer_->put_mesh(patches); }
  void put_field(const std::string& name, nb::handle array, const std::string& type, const std::string& unit,
                 const std::string& centring) {
    writer_->put_field(name, hold(array, type), unit, centring_named(centring));
  }
  void put_boxes(const std::string& name, const std::vector<nb::object>& arrays, const std::vector<std::string>& types,
                 const std::string& unit, const std::string&) {
    std::vector<engine::ArrayView> views;
    for (std::size_t i = 0; i < arrays.size(); ++i) views.push_back(hold(arrays[i], types.at(i)));
    writer_->put_field(name, views, unit);
  }
  void put_particles(const std::string& species, const std::string& attribute, nb::handle array,
                     const std::string& type) {
    writer_->put_particles(species, attribute, hold(array, type));
  }
  void put_error(const Problem& problem) { writer_->put_error(error_from(problem)); }
  void begin_error(const Problem& problem) { writer_->begin_error(error_from(problem)); }
  void end_step() {
    try {
      writer_.call([](engine::Writer& writer) { writer.end_step(); });
    } catch (...) {
      held_.clear();
      throw;
    }
    held_.clear();
  }
  bool finished() {
    return writer_.call([](engine::Writer& writer) { return writer.finished(); });
  }
  void wait() {
    writer_.call([](engine::Writer& writer) { writer.wait(); });
  }
  void close() {
    writer_.call([](engine::Writer& writer) { writer.close(); });
  }
  void abandon() {
    writer_.abandon();
    held_.clear();
  }
  std::string statistics() { return writer_.statistics(); }

 private:
  engine::ArrayView hold(nb::handle array, const std::string& type) {
    held_.emplace_back(array);
    return view_of_buffer(held_.back().get(), mesh::scalar_type(type));
  }

  std::vector<Buffer> held_;  // until end_step() has read them
  OpenWriter<engine::Writer> writer_;
};

}  // namespace

void bind_native(nb::module_& m) {
  nb::class_<NativeWriter>(m, "NativeWriter")
      .def(nb::init<std::optional<int>, const mesh::Header&, const std::string&, const std::string&, bool, bool, bool,
                    std::map<std::string, std::string>, int, std::int64_t, const std::string&, const std::string&,
                    bool>(),
           nb::arg("comm").none(), nb::arg("header"), nb::arg("format"), nb::arg("mode"), nb::arg("sync"),
           nb::arg("checksums"), nb::arg("collect"), nb::arg("names"), nb::arg("files"), nb::arg("max_box"),
           nb::arg("title"), nb::arg("multifab"), nb::arg("bound_thread"))
      .def("begin_step", &NativeWriter::begin_step)
      .def("put_attribute", &NativeWriter::put_attribute)
      .def("put_mesh", &NativeWriter::put_tree)
      .def("put_mesh", &NativeWriter::put_patches)
      .def("put_field", &NativeWriter::put_field)
      .def("put_boxes", &NativeWriter::put_boxes)
      .def("put_particles", &NativeWriter::put_particles)
      .def("put_error", &NativeWriter::put_error)
      .def("begin_error", &NativeWriter::begin_error)
      .def("end_step", &NativeWriter::end_step)
      .def("finished", &NativeWriter::finished)
      .def("wait", &NativeWriter::wait)
      .def("close", &NativeWriter::close)
      .def("abandon", &NativeWriter::abandon)
      .def("statistics", &NativeWriter::statistics);
}

}  // namespace octavo::bindings
