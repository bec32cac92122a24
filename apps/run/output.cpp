#include "apps/run/output.hpp"

#include <cstdio>

#include "apps/run/restart.hpp"
#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/flash_target.hpp"

namespace octavo::run {

namespace {

engine::Mode mode_of(const std::string& io) {
  return io == "sync" ? engine::Mode::sync : io == "auto" ? engine::Mode::automatic : engine::Mode::background;
}

engine::Target native_target(const RunOptions& options, const euler::Problem& problem) {
  const engine::OutputOptions common{
      .mode = options.io == "sync" ? engine::Mode::sync : engine::Mode::background,
  };
  if (options.native == "flash") {
    engine::FlashTarget target{common};
    for (int scalar = 0; scalar < problem.gas.scalars; ++scalar)
      target.names["scalar_" + std::to_string(scalar)] = flash_name(scalar);
    return target;
  }
  const auto kind = options.native == "amrex" ? engine::AmrexKind::plotfile : engine::AmrexKind::checkpoint;
  return engine::AmrexTarget{.kind = kind, .options = common, .title = checkpoint_title(problem)};
}

}  // namespace

Output open_output(MPI_Comm comm, const RunOptions& options, const euler::Problem& problem, const mesh::Header& header,
                   const std::optional<engine::Restart>& from) {
  Output output;
  if (!options.store.empty()) {
    engine::Options engine = options.engine;
    engine.mode = mode_of(options.io);
    std::error_code ignored;
    const bool same = from && std::filesystem::equivalent(options.store, options.restart_from, ignored);
    output.store = std::make_unique<engine::Writer>(comm, options.store, header, engine,
                                                    same ? std::optional(from->id) : std::nullopt);
    if (same) output.last_checkpoint = from->id.step;
  }
  if (!options.native.empty())
    output.native = std::make_unique<engine::Writer>(comm, header, native_target(options, problem));
  return output;
}

void describe_for_flash(engine::Writer& native, const euler::Problem& problem, double dt) {
  native.put_attribute("string runtime parameters", std::vector<std::string>{"run_comment"});
  native.put_attribute("string runtime parameters/run_comment", "octavo-" + problem.name);
  native.put_attribute("real runtime parameters", std::vector<std::string>{"gamma"});
  native.put_attribute("real runtime parameters/gamma", problem.gas.gamma);
  const std::vector<std::string> steps{"dt", "dtnew", "dtold"};
  native.put_attribute("real scalars", steps);
  for (const std::string& name : steps) native.put_attribute("real scalars/" + name, dt);
}

void close(Output& output) {
  if (output.store) output.store->close();
  if (output.native) output.native->close();
}

std::filesystem::path native_path(const RunOptions& options, std::int64_t step) {
  char name[64];
  const char* form = options.native == "flash"   ? "_hdf5_chk_%04lld"
                     : options.native == "amrex" ? "_plt%05lld"
                                                 : "_chk%05lld";
  std::snprintf(name, sizeof name, form, static_cast<long long>(step));
  return options.native_prefix.string() + name;
}

}  // namespace octavo::run
