#include "apps/shallow/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "apps/shallow/direct.hpp"
#include "apps/shallow/input.hpp"
#include "apps/shallow/results.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::shallow {

namespace {

namespace fs = std::filesystem;
namespace serafin = formats::serafin;

const std::array<std::string, 4> names{"WATER DEPTH", "FLOWRATE ALONG X", "FLOWRATE ALONG Y", "BOTTOM"};
const std::string title = "OCTAVO SHALLOW CHECKPOINT, STEP ";

std::vector<serafin::Variable> variables() {
  return {serafin::variable(names[0], "M"), serafin::variable(names[1], "M2/S"), serafin::variable(names[2], "M2/S"),
          serafin::variable(names[3], "M")};
}

std::array<std::vector<double>, 4> columns_of(const Simulation& simulation) {
  std::array<std::vector<double>, 4> columns;
  for (const Water& water : simulation.water) {
    columns[0].push_back(water.h);
    columns[1].push_back(water.qx);
    columns[2].push_back(water.qy);
  }
  columns[3] = simulation.bottom;
  return columns;
}

/// Final names, ascending: their numbers have nine digits.
std::vector<fs::path> list_checkpoints(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == 17 && name.starts_with("step") && name.ends_with(".slf")) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

fs::path in_flight(const fs::path& checkpoint) { return checkpoint.string() + ".new"; }

}  // namespace

Checkpoints::Checkpoints(fs::path folder, fs::path geometry)
    : folder_(std::move(folder)), geometry_(std::move(geometry)) {}

void Checkpoints::write(const Simulation& simulation) {
  finish(simulation.comm);
  char name[32];
  std::snprintf(name, sizeof name, "step%09lld.slf", static_cast<long long>(simulation.step));
  last_ = folder_ / name;
  serafin::SerafinHeader header;
  ranks::agree(simulation.comm, [&] {
    header = header_on(serafin::open_series(geometry_), title + std::to_string(simulation.step), variables(), 8);
    if (ranks::rank_in(simulation.comm) != 0) return;
    file::make_directories(folder_);
    fs::remove(in_flight(last_));
  });
  writer_ = std::make_unique<engine::Writer>(
      simulation.comm, mesh::Header(),
      engine::SeriesTarget{in_flight(last_), header, series_mesh(simulation.mesh, geometry_)});
  const auto columns = columns_of(simulation);
  writer_->begin_step(simulation.time);
  for (std::size_t c = 0; c < columns.size(); ++c)
    writer_->put_field(names[c], view_of_owned(simulation.mesh, columns[c]));
  writer_->end_step();
}

void Checkpoints::finish(MPI_Comm comm) {
  if (!writer_) return;
  const std::unique_ptr<engine::Writer> writer = std::move(writer_);
  writer->close();
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    file::rename(in_flight(last_), last_);
    file::sync_directory(folder_);
    std::vector<fs::path> all = list_checkpoints(folder_);
    for (std::size_t i = 0; i + 2 < all.size(); ++i) file::remove(all[i]);
  });
}

std::optional<fs::path> newest_checkpoint(const fs::path& folder) {
  const std::vector<fs::path> all = list_checkpoints(folder);
  if (all.empty()) return {};
  return all.back();
}

void restore(Simulation& simulation, const fs::path& checkpoint) {
  std::vector<Water> water;
  ranks::agree(simulation.comm, [&] {
    const serafin::SerafinSeries series = serafin::open_series(checkpoint);
    const std::string text(series.header.title.begin(), series.header.title.end());
    long long step = 0;
    if (series.header.points != simulation.mesh.all_points || series.steps != 1 ||
        std::sscanf(text.c_str(), (title + "%lld").c_str(), &step) != 1)
      throw base::Error(base::Kind::corrupt, "not a checkpoint of this mesh").at(checkpoint.string());
    const std::span<const std::int32_t> owned = std::span(simulation.mesh.global).first(simulation.mesh.area.size());
    const State state = read_state(series, 0, owned);
    simulation.step = step;
    simulation.time = serafin::read_time(series, 0);
    simulation.bottom = state.bottom;
    water = state.water;
  });
  Simulation started = start(simulation.comm, simulation.physics, std::move(simulation.mesh),
                             std::move(simulation.bottom), std::move(water));
  started.step = simulation.step;
  started.time = simulation.time;
  simulation = std::move(started);
}

}  // namespace octavo::shallow
