#include <nanobind/stl/array.h>

#include <algorithm>

#include "arguments.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/formats/serafin/layout.hpp"
#include "open_writer.hpp"

namespace octavo::bindings {
namespace {

using base::Error;
using base::Kind;
using Path = std::filesystem::path;
using Ranks = nb::ndarray<const std::int32_t, nb::c_contig, nb::device::cpu>;
namespace serafin = formats::serafin;

/// What Python knows of the file; the names are the keywords of octavo.SeriesWriter.
struct SeriesWords {
  std::vector<std::pair<std::string, std::string>> variables;  // name and unit
  std::string title, precision, mode;
  std::optional<std::array<std::int32_t, 6>> date;
  std::array<std::int32_t, 2> origin{};
  bool little_endian = false, sync = true, bound_thread = false;
  int writers = 0, ranks_per_node = 0;
  std::int64_t alignment = 4096;
  std::optional<double> resume;
};

serafin::Header header_from(const SeriesWords& words) {
  if (words.precision != "single" && words.precision != "double")
    throw Error(Kind::usage, "no precision '" + words.precision + "': there are single and double");
  serafin::Header header;
  header.order = words.little_endian ? std::endian::little : std::endian::big;
  header.real_bytes = words.precision == "double" ? 8 : 4;
  header.title = engine::series_title(serafin::latin1_of(words.title), header.real_bytes);
  for (const auto& [name, unit] : words.variables) header.variables.push_back(serafin::variable(name, unit));
  std::copy(words.origin.begin(), words.origin.end(), header.iparam.begin() + 2);
  header.date = words.date;
  return header;
}

engine::SeriesOptions options_from(const SeriesWords& words) {
  if (words.alignment < 1)
    throw Error(Kind::usage, "alignment: expected at least 1 byte, found " + std::to_string(words.alignment));
  engine::SeriesOptions options;
  options.mode = mode_named(words.mode);
  options.sync = words.sync;
  options.writers = words.writers;
  options.alignment = static_cast<std::uint64_t>(words.alignment);
  options.resume = words.resume;
  options.ranks_per_node = words.ranks_per_node;
  options.bound_thread = words.bound_thread;
  return options;
}

class SeriesWriter {
 public:
  /// `problem`: what Python found wrong with this rank's arguments, for all ranks to know.
  SeriesWriter(std::optional<int> comm, const Path& path, const SeriesWords& words, const engine::SeriesMesh& mesh,
               const std::optional<Problem>& problem) {
    nb::gil_scoped_release release;
    const MPI_Comm everyone = comm_from(comm);
    serafin::Header header;
    engine::SeriesOptions options;
    ranks::agree(everyone, [&] {
      if (problem) throw error_from(*problem);
      header = header_from(words);
      options = options_from(words);
    });
    writer_.open(everyone, mesh::Header(), engine::SeriesTarget{path, header, mesh, options});
  }
  void begin_step(double time) { writer_->begin_step(time); }
  void put_field(const std::string& name, nb::handle array, const std::string& type) {
    const Buffer values(array);
    writer_->put_field(name, view_of_buffer(values.get(), mesh::scalar_type(type)));
  }
  void put_error(const Problem& problem) { writer_->put_error(error_from(problem)); }
  void begin_error(const Problem& problem) { writer_->begin_error(error_from(problem)); }
  void end_step() {
    writer_.call([](engine::Writer& writer) { writer.end_step(); });
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
  void abandon() { writer_.abandon(); }
  std::int64_t steps() { return writer_->steps(); }
  std::string statistics() { return writer_.statistics(); }
  std::string total_statistics() { return writer_.total_statistics(); }

 private:
  OpenWriter<engine::Writer> writer_;
};

}  // namespace

void bind_series(nb::module_& m) {
  nb::class_<SeriesWords>(m, "SeriesWords")
      .def(nb::init<>())
      .def_rw("variables", &SeriesWords::variables)
      .def_rw("title", &SeriesWords::title)
      .def_rw("precision", &SeriesWords::precision)
      .def_rw("mode", &SeriesWords::mode)
      .def_rw("date", &SeriesWords::date, nb::arg().none())
      .def_rw("origin", &SeriesWords::origin)
      .def_rw("little_endian", &SeriesWords::little_endian)
      .def_rw("sync", &SeriesWords::sync)
      .def_rw("writers", &SeriesWords::writers)
      .def_rw("alignment", &SeriesWords::alignment)
      .def_rw("ranks_per_node", &SeriesWords::ranks_per_node)
      .def_rw("bound_thread", &SeriesWords::bound_thread)
      .def_rw("resume", &SeriesWords::resume, nb::arg().none());
  nb::class_<engine::SeriesMesh>(m, "SeriesMesh")
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
  nb::class_<SeriesWriter>(m, "SeriesWriter")
      .def(nb::init<std::optional<int>, const Path&, const SeriesWords&, const engine::SeriesMesh&,
                    const std::optional<Problem>&>(),
           nb::arg("comm").none(), nb::arg("path"), nb::arg("words"), nb::arg("mesh"), nb::arg("problem").none())
      .def("begin_step", &SeriesWriter::begin_step)
      .def("put_field", &SeriesWriter::put_field)
      .def("put_error", &SeriesWriter::put_error)
      .def("begin_error", &SeriesWriter::begin_error)
      .def("end_step", &SeriesWriter::end_step)
      .def("finished", &SeriesWriter::finished)
      .def("wait", &SeriesWriter::wait)
      .def("close", &SeriesWriter::close)
      .def("abandon", &SeriesWriter::abandon)
      .def("steps", &SeriesWriter::steps)
      .def("statistics", &SeriesWriter::statistics)
      .def("total_statistics", &SeriesWriter::total_statistics);
}

}  // namespace octavo::bindings
