#pragma once
#include <random>

#include "octavo/engine/points/series_plan.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/serafin_fixture.hpp"

/// For tests on any number of ranks: meshes of triangles, and a rank's share of them.
namespace octavo::testing {

inline SerafinFixture fixture(std::uint32_t seed) {
  SerafinFixture f;
  f.mesh = random_triangles(seed, 9 + static_cast<std::int32_t>(seed % 5), 14, seed % 2 == 0);
  f.doubles = seed % 3 == 0;
  f.big_endian = seed % 4 != 1;
  f.planes = seed % 3 == 1 ? 3 : 1;
  f.date = seed % 2 == 1;
  f.variables = 1 + static_cast<int>(seed % 3);
  return f;
}

/// Elements dealt out at random, ranks of even chance but one that has nothing; points numbered as they are met.
inline engine::SeriesMesh piece_of(const SerafinFixture& f, std::uint32_t seed, bool numbered = true) {
  std::mt19937 random(seed);
  engine::SeriesMesh mine;
  const int empty = size() > 2 ? static_cast<int>(seed % static_cast<unsigned>(size())) : -1;
  std::vector<std::int64_t> local(f.mesh.x.size(), -1);
  for (std::size_t e = 0; e < f.mesh.connectivity.size() / 3; ++e) {
    int owner = static_cast<int>(random() % static_cast<unsigned>(size()));
    if (owner == empty) owner = (owner + 1) % size();
    if (owner != rank()) continue;
    if (numbered) mine.global_element.push_back(static_cast<std::int64_t>(e));
    for (std::size_t k = 0; k < 3; ++k) {
      const auto point = static_cast<std::size_t>(f.mesh.connectivity[3 * e + k]);
      if (local[point] < 0) {
        local[point] = static_cast<std::int64_t>(mine.piece.x.size());
        mine.piece.x.push_back(f.mesh.x[point]);
        mine.piece.y.push_back(f.mesh.y[point]);
        mine.piece.global_point.push_back(static_cast<std::int64_t>(point));
        if (!f.numbers.empty()) mine.boundary.push_back(f.numbers[point]);
      }
      mine.piece.connectivity.push_back(local[point]);
    }
  }
  mine.piece.planes = f.planes;
  return mine;
}

inline formats::serafin::SerafinHeader series_header(const SerafinFixture& f) {
  formats::serafin::SerafinHeader header;
  header.order = f.big_endian ? std::endian::big : std::endian::little;
  header.real_bytes = f.doubles ? 8 : 4;
  const std::string title = padded("A MESH MADE BY HAND", 72) + f.tag;
  std::copy(title.begin(), title.end(), header.title.begin());
  for (int v = 0; v < f.variables; ++v)
    header.variables.push_back(formats::serafin::variable("VARIABLE " + std::to_string(v), "M"));
  if (f.date) header.date = {2026, 11, 21, 9, 30, 0};
  return header;
}

inline engine::SeriesOptions options_for(std::uint32_t seed) {
  engine::SeriesOptions options;
  options.mode = single_threaded() || seed % 5 == 0 ? engine::Mode::sync : engine::Mode::background;
  options.sync = false;
  options.writers = 1 + static_cast<int>(seed % 4);
  options.alignment = std::uint64_t{1} << (seed % 7);
  return options;
}

/// The last of the ranks that write, with options_for(seed). Collective.
inline int last_writer(std::uint32_t seed) {
  return engine::writer_ranks(ranks::hosts_of_ranks(everyone(), 0), options_for(seed).writers).back();
}

inline void write_step(engine::Writer& writer, const SerafinFixture& f, const engine::SeriesMesh& mesh, int step) {
  writer.begin_step(1.5 * step);
  std::vector<double> values(mesh.piece.x.size() * static_cast<std::size_t>(f.planes));
  for (int v = f.variables - 1; v >= 0; --v) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t plane = i / mesh.piece.x.size(), point = i % mesh.piece.x.size();
      values[i] =
          serafin_value(step, v, plane * f.mesh.x.size() + static_cast<std::size_t>(mesh.piece.global_point[point]));
    }
    writer.put_field("VARIABLE " + std::to_string(v),
                     engine::view_of(values));  // the array is used again for the next
  }
  writer.end_step();
}

}  // namespace octavo::testing
