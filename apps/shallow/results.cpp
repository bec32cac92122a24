#include "apps/shallow/results.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "apps/shallow/direct.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::shallow {

namespace serafin = formats::serafin;

Io io_named(std::string_view name) {
  constexpr std::array<std::string_view, 6> names{"off", "sync", "background", "pieces", "view", "view-nonblocking"};
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end())
    throw base::Error(base::Kind::usage, "no way to write results is called " + std::string(name))
        .hint("off, sync, background, pieces, view, view-nonblocking");
  return static_cast<Io>(found - names.begin());
}

std::vector<serafin::Variable> result_variables() {
  return {serafin::variable("VELOCITY U", "M/S"), serafin::variable("VELOCITY V", "M/S"),
          serafin::variable("WATER DEPTH", "M"), serafin::variable("FREE SURFACE", "M"),
          serafin::variable("BOTTOM", "M")};
}

Fields fields_of(const Simulation& simulation) {
  Fields fields;
  for (std::size_t i = 0; i < simulation.water.size(); ++i) {
    const Water& w = simulation.water[i];
    const bool moves = w.h > simulation.physics.dry_depth;
    fields[0].push_back(moves ? w.qx / w.h : 0);
    fields[1].push_back(moves ? w.qy / w.h : 0);
    fields[2].push_back(w.h);
    fields[3].push_back(w.h + simulation.bottom[i]);
    fields[4].push_back(simulation.bottom[i]);
  }
  return fields;
}

serafin::SerafinHeader header_on(const serafin::SerafinSeries& geometry, const std::string& title,
                                 std::vector<serafin::Variable> variables, std::size_t real_bytes) {
  serafin::SerafinHeader header = geometry.header;
  header.order = std::endian::big;
  header.real_bytes = real_bytes;
  header.title = engine::series_title(title, real_bytes);
  header.variables = std::move(variables);
  header.quadratic = 0;
  return header;
}

namespace {

Results open_direct(MPI_Comm comm, engine::Mode mode, const std::filesystem::path& path, const Mesh& mesh,
                    const std::filesystem::path& geometry, const serafin::SerafinHeader& header,
                    std::optional<double> resume) {
  auto writer = std::make_shared<engine::Writer>(
      comm, mesh::Header(),
      engine::SeriesTarget{path, header, series_mesh(mesh, geometry), {.mode = mode, .resume = resume}});
  Results results;
  results.write = [writer, &mesh](double time, const Fields& fields) {
    const auto variables = result_variables();
    writer->begin_step(time);
    for (std::size_t v = 0; v < fields.size(); ++v)
      writer->put_field(serafin::name_of(variables[v]), view_of_owned(mesh, fields[v]));
    writer->end_step();
  };
  results.wait = [writer] { writer->wait(); };
  results.close = [writer] { writer->close(); };
  return results;
}

}  // namespace

void check_result(MPI_Comm comm, Io io, const std::filesystem::path& path, const std::filesystem::path& geometry,
                  const std::string& piece_prefix, bool force) {
  namespace fs = std::filesystem;
  ranks::agree(comm, [&] {
    const int ranks = ranks::size_of(comm), rank = ranks::rank_in(comm);
    if (io != Io::pieces && rank != 0) return;
    const fs::path name = io == Io::pieces ? telemac::piece_path(path, ranks, rank) : path;
    if (!fs::exists(name)) return;
    const bool piece = !piece_prefix.empty() && name.string().starts_with(piece_prefix + "GEO");
    if (piece || (fs::exists(geometry) && fs::equivalent(name, geometry)))
      throw base::Error(base::Kind::usage, "the result would replace what the run reads").at(name.string());
    if (!force) throw base::Error(base::Kind::usage, name.string() + " exists already").hint("-f replaces it");
  });
}

Results open_results(MPI_Comm comm, Io io, const std::filesystem::path& path, const Mesh& mesh,
                     const std::filesystem::path& geometry, std::optional<double> resume) {
  if (io == Io::off) return {};
  const bool direct = io == Io::sync || io == Io::background;
  serafin::SerafinSeries series;
  ranks::agree(comm, [&] {
    if (resume && !direct)
      throw base::Error(base::Kind::unsupported, "a result is continued with --io sync or background only");
    series = serafin::open_series(geometry);
    if (!resume && ranks::rank_in(comm) == 0) std::filesystem::remove(path);
  });
  const serafin::SerafinHeader header = header_on(series, "OCTAVO SHALLOW", result_variables(), 4);
  if (io == Io::pieces) return open_pieces(comm, path, mesh, header);
  if (!direct) return open_view(comm, io == Io::view_nonblocking, path, mesh, series, header);
  return open_direct(comm, io == Io::sync ? engine::Mode::sync : engine::Mode::background, path, mesh, geometry, header,
                     resume);
}

}  // namespace octavo::shallow
