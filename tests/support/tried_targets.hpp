#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/targets/target_row.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/series_pieces.hpp"

/// A writer of each target, for tests of what is the same for all of them.
namespace octavo::testing {

/// A writer, and how a test uses it whatever its target.
struct TriedTarget {
  std::shared_ptr<engine::Writer> writer;
  std::function<void(int step)> begin, put;
  std::function<bool(int step)> is_there;     ///< looked at on disk
  std::function<std::string(int step)> name;  ///< in errors
  int full = -1;  ///< rank whose disk is full, so that the background finds it: HDF5 writes too, on rank 0; -1: all
};

inline engine::Mode background_if_possible() {
  return single_threaded() ? engine::Mode::sync : engine::Mode::background;
}

inline std::function<bool(int)> has_checkpoint(const std::filesystem::path& path) {
  return [path](int step) {
    if (!std::filesystem::exists(path / "checkpoint")) return false;
    const auto all = store::list_steps(path);
    return std::any_of(all.begin(), all.end(), [&](const store::StepInfo& found) { return found.step == step; });
  };
}

inline std::function<std::string(int)> checkpoint_name() {
  return [](int step) { return "checkpoint step " + std::to_string(step); };
}

inline TriedTarget to_store(const std::filesystem::path& directory, engine::Options options = {}) {
  if (single_threaded()) options.mode = engine::Mode::sync;
  options.staging_bytes = 4 << 20;
  options.sync_policy = engine::SyncPolicy::none;
  const auto domain = std::make_shared<Domain>(make_domain(1, rank(), size()));
  TriedTarget out;
  out.writer = std::make_shared<engine::Writer>(everyone(), directory / "run.octavo", domain->header, options);
  out.begin = [w = out.writer](int step) { w->begin_step(store::Flow::checkpoint, step, step); };
  out.put = [w = out.writer, domain](int) {
    w->put_mesh(domain->tree);
    w->put_field("density", engine::view_of(domain->density));
  };
  out.is_there = has_checkpoint(directory / "run.octavo");
  out.name = checkpoint_name();
  return out;
}

/// Blocks of 8^3 cells on the roots, dealt out one by one: FLASH has no single cells.
inline Domain make_blocks() {
  Domain domain;
  domain.tree.roots = domain.header.roots = {2, 1, 2};
  domain.tree.block = domain.header.block = {8, 8, 8};
  domain.header.hi = {2, 1, 2};
  domain.tree.refined = domain.tree.owned = {base::BitArray(4)};
  for (std::size_t i = 0; i < 4; ++i)
    if (static_cast<int>(i) % size() == rank()) domain.tree.owned[0].set(i);
  domain.density.assign(4 * 512, 1.5);
  return domain;
}

/// Options of FLASH and AMReX outputs.
inline engine::OutputOptions options_of_outputs(engine::Mode mode) {
  return {.mode = mode, .sync = false, .staging_bytes = 4 << 20};
}

inline TriedTarget to_output(const std::filesystem::path& directory, const engine::Target& target,
                             const std::string& prefix) {
  const bool flash = std::get<engine::FileTarget>(target).format == &formats::flash::row;
  const auto domain = std::make_shared<Domain>(flash ? make_blocks() : make_domain(1, rank(), size()));
  TriedTarget out;
  out.writer = std::make_shared<engine::Writer>(everyone(), domain->header, target);
  const auto path = [directory, prefix](int step) { return directory / (prefix + std::to_string(step)); };
  out.begin = [w = out.writer, path](int step) { w->begin_step(path(step), step, step); };
  out.put = [w = out.writer, domain, flash](int) {
    if (!flash) w->put_attribute("level_dt", std::vector<double>{0.5});  // a checkpoint needs it
    w->put_mesh(domain->tree);
    engine::ArrayView view = engine::view_of(domain->density);
    view.cells = num_cells(domain->tree);
    view.block = domain->tree.block;
    w->put_field("density", view);
  };
  out.is_there = [path](int step) { return std::filesystem::exists(path(step)); };
  out.name = [path](int step) { return path(step).string(); };
  if (flash) out.full = size() - 1;
  return out;
}

inline SerafinFixture tried_triangles() {
  SerafinFixture f;
  f.mesh = random_triangles(5, 60, 60);
  return f;
}

/// SERAFIN, or MED by its name.
inline TriedTarget to_series(const std::filesystem::path& path, engine::Mode mode) {
  const auto f = std::make_shared<SerafinFixture>(tried_triangles());
  const engine::SeriesMesh mesh = piece_of(*f, 11);
  engine::SeriesOptions options = options_for(11);
  options.mode = mode;
  TriedTarget out;
  out.writer = std::make_shared<engine::Writer>(everyone(), mesh::Header(),
                                                engine::SeriesTarget{path, series_header(*f), mesh, options});
  out.begin = [w = out.writer](int step) { w->begin_step(step); };
  const auto some = std::make_shared<std::vector<float>>(mesh.piece.x.size() * static_cast<std::size_t>(f->planes));
  out.put = [w = out.writer, f, some](int) {
    for (int v = 0; v < f->variables; ++v) w->put_field("VARIABLE " + std::to_string(v), engine::view_of(*some));
  };
  out.is_there = [path](int step) {
    if (path.extension() == ".med") {  // libmedC is for one thread: rank 0 looks
      int found = 0;
      if (rank() == 0)
        for (const double time : formats::med::list_steps(path).times) found += time == step ? 1 : 0;
      MPI_Bcast(&found, 1, MPI_INT, 0, everyone());
      return found != 0;
    }
    if (!std::filesystem::exists(path)) return false;  // it gets its name with its first step
    const auto file = formats::serafin::open_series(path);
    for (std::int64_t s = 0; s < file.steps; ++s)
      if (formats::serafin::read_time(file, s) == step) return true;
    return false;
  };
  out.name = [path](int step) { return path.filename().string() + ", time " + std::to_string(step); };
  return out;
}

inline TriedTarget to_store_of_triangles(const std::filesystem::path& directory, engine::Mode mode) {
  engine::Options options;
  options.mode = mode;
  options.staging_bytes = 4 << 20;
  options.sync_policy = engine::SyncPolicy::none;
  const auto mesh = std::make_shared<engine::SeriesMesh>(piece_of(tried_triangles(), 11));
  mesh::Header header;
  header.dim = mesh->piece.planes > 1 ? 3 : 2;
  TriedTarget out;
  out.writer = std::make_shared<engine::Writer>(everyone(), directory / "triangles.octavo", header, options);
  out.begin = [w = out.writer](int step) { w->begin_step(store::Flow::checkpoint, step, step); };
  const auto values =
      std::make_shared<std::vector<double>>(mesh->piece.x.size() * static_cast<std::size_t>(mesh->piece.planes));
  out.put = [w = out.writer, mesh, values](int) {
    w->put_mesh(mesh->piece, mesh->global_element);
    w->put_field("depth", engine::view_of(*values), "m");
  };
  out.is_there = has_checkpoint(directory / "triangles.octavo");
  out.name = checkpoint_name();
  return out;
}

/// A target that no file of the library knows: each step is an empty file, and beside it one of each rank's values.
struct OwnTarget {
  engine::Mode mode = engine::Mode::sync;
  operator engine::FileTarget() const {
    engine::FileTarget target;
    target.options.mode = mode;
    target.options.steps_in_flight = 1;
    target.open = [](MPI_Comm comm, const mesh::Header&) { return row(comm); };
    return target;
  }
  static engine::TargetRow row(MPI_Comm comm) {
    engine::TargetRow row = engine::row_of_puts();
    row.name = "a file of values";
    row.begin = [](engine::StepJob& job) { job.name = job.path.string(); };
    row.describe = [](const engine::StepJob& job) { return job.path.string() + ";"; };
    row.take = [comm](const std::shared_ptr<engine::StepJob>& job, const engine::Agreement&) {
      engine::StepWork work;
      work.job = job;
      std::vector<std::byte> values;
      ranks::agree(comm, [&] {
        std::vector<std::byte> memory;
        const std::span<const std::byte> put = engine::packed_values(*job, job->fields.at(0), memory);
        values.assign(put.begin(), put.end());
      });
      const std::filesystem::path mine = job->path.string() + "." + std::to_string(ranks::rank_in(comm));
      work.write = [mine, values](engine::Writing&) { file::pwrite_all(file::create(mine), 0, values); };
      work.seal = [comm, job] {
        if (ranks::rank_in(comm) == 0) file::create(job->path);
      };
      work.discard = [mine] { std::filesystem::remove(mine); };
      return work;
    };
    return row;
  }
};

/// One of each. Collective.
inline std::vector<TriedTarget> all_targets(const std::filesystem::path& directory,
                                            engine::Mode mode = background_if_possible()) {
  const engine::OutputOptions options = options_of_outputs(mode);
  engine::Options of_store;
  of_store.mode = mode;
  std::vector<TriedTarget> all{to_store(directory, of_store),
                               to_store_of_triangles(directory, mode),
                               to_output(directory, engine::AmrexTarget{.options = options}, "plt"),
                               to_output(directory, engine::AmrexTarget{engine::AmrexKind::checkpoint, options}, "chk"),
                               to_series(directory / "r2d.slf", mode),
                               to_output(directory, OwnTarget{mode}, "own")};
  if (!file::hdf5::available()) return all;
  all.push_back(to_output(directory, engine::FlashTarget{options}, "flash_hdf5_chk_"));
  all.push_back(to_output(directory, engine::FlashTarget{.options = options, .collect = true}, "flash_collected_"));
  all.back().full = 0;  // it alone writes
  if (formats::med::available()) all.push_back(to_series(directory / "r2d.med", mode));
  return all;
}

}  // namespace octavo::testing
