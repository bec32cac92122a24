// The benchmarks of the engine as a Python module: `octavo bench` prints what these return.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <numeric>

#include "measure.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/world.hpp"

namespace nb = nanobind;

namespace octavo::bench {
namespace {

std::string text_of(nb::handle value) { return nb::cast<std::string>(nb::str(value)); }

// The keys are those of Setup; the verb gives them all.
Setup setup_from(const nb::dict& given) {
  Setup setup;
  setup.directory = text_of(given["directory"]);
  setup.shape.bytes_per_rank = nb::cast<std::uint64_t>(given["bytes_per_rank"]);
  setup.shape.fields = nb::cast<int>(given["fields"]);
  setup.shape.blocks = nb::cast<std::int64_t>(given["blocks"]);
  setup.shape.block_bytes = nb::cast<std::uint64_t>(given["block_bytes"]);
  setup.repetitions = nb::cast<int>(given["repetitions"]);
  setup.sync = nb::cast<bool>(given["sync"]);
  setup.rewrite = nb::cast<bool>(given["rewrite"]);
  setup.throttle = nb::cast<double>(given["throttle"]);
  setup.per_file = nb::cast<std::vector<int>>(given["per_file"]);
  setup.checksums = nb::cast<std::vector<bool>>(given["checksums"]);
  setup.codec = text_of(given["codec"]);
  setup.only = nb::cast<std::vector<std::string>>(given["only"]);
  setup.options = nb::cast<std::vector<std::pair<std::string, std::string>>>(given["options"]);
  setup.modes.clear();
  for (nb::handle mode : given["modes"]) {
    engine::Options options;
    set_option(options, "mode", text_of(mode));
    setup.modes.push_back(options.mode);
  }
  return setup;
}

// Rank 0 names the folder: what a rank would call it on its own differs between hosts.
void start_mpi(Setup& setup) { setup.directory = base::all_gather(ranks::world(), setup.directory.string()).front(); }

nb::dict describe(const Row& row) {
  nb::dict out;
  out["name"] = row.name;
  out["missing"] = row.missing;
  nb::list samples;
  for (const Sample& sample : row.samples) {
    nb::dict one;
    one["seconds"] = sample.seconds;
    one["end_step"] = sample.detail.end_step;
    one["copying"] = sample.detail.copying;
    one["cpu"] = sample.usage.cpu;
    one["writes"] = sample.usage.writes;
    one["written"] = sample.usage.written;
    one["reads"] = sample.usage.reads;
    one["read"] = sample.usage.read;
    samples.append(one);
  }
  out["samples"] = samples;
  return out;
}

nb::dict transfer(const nb::dict& given, bool reading) {
  Setup setup = setup_from(given);
  start_mpi(setup);
  Table table;
  {
    nb::gil_scoped_release release;
    table = measure(MPI_COMM_WORLD, setup, reading);
  }
  nb::dict out;
  out["ranks"] = table.ranks;
  out["bytes_per_rank"] = table.bytes_per_rank;
  out["blocks"] = table.blocks;
  nb::list rows;
  for (const Row& row : table.rows) rows.append(describe(row));
  out["rows"] = rows;
  return out;
}

nb::dict runs(const nb::dict& given, int steps, double compute, const std::string& flow) {
  Setup setup = setup_from(given);
  const Pace pace{steps, compute, flow == "analysis" ? store::Flow::analysis : store::Flow::checkpoint};
  start_mpi(setup);
  RunTable table;
  {
    nb::gil_scoped_release release;
    table = measure_runs(MPI_COMM_WORLD, setup, pace);
  }
  nb::dict out;
  out["ranks"] = table.ranks;
  out["bytes_per_rank"] = table.bytes_per_rank;
  out["compute"] = table.compute;
  nb::list rows;
  for (const RunRow& row : table.rows) {
    nb::list list;
    for (const Run& run : row.runs) {
      nb::dict one;
      one["whole"] = run.whole;
      one["before_close"] = run.before_close;
      one["computing"] = run.computing;
      one["in_calls"] = run.in_calls;
      one["cpu"] = run.cpu;
      one["stored"] = run.stored;
      list.append(one);
    }
    nb::dict entry;
    entry["name"] = row.name;
    entry["runs"] = list;
    rows.append(entry);
  }
  out["rows"] = rows;
  return out;
}

nb::dict calibrated(const nb::dict& given, int files) {
  Setup setup = setup_from(given);
  start_mpi(setup);
  Rates rates;
  {
    nb::gil_scoped_release release;
    rates = calibrate(MPI_COMM_WORLD, setup, files);
  }
  nb::dict out;
  out["ranks"] = rates.ranks;
  out["nodes"] = rates.hosts;
  out["creates_rate"] = rates.creates;
  out["syncs_rate"] = rates.syncs;
  out["writer_rate"] = rates.writer;
  out["node_rate"] = rates.host;
  return out;
}

// A step of `bytes` in all on `ranks` ranks, dealt out evenly. No MPI is started.
nb::dict plan(int ranks, int ranks_per_node, std::uint64_t bytes, int per_file, int writers_per_node,
              const nb::dict& machine_given, double ratio, int files_per_writer, bool append) {
  using base::Error;
  using base::Kind;
  if (ranks < 1 || ranks_per_node < 1 || files_per_writer < 1)
    throw Error(Kind::usage, "ranks, ranks per node and files per writer: expected at least 1");
  std::vector<int> host(static_cast<std::size_t>(ranks));
  std::vector<std::uint64_t> share(host.size());
  for (std::size_t r = 0; r < host.size(); ++r) {
    host[r] = static_cast<int>(r) / ranks_per_node;
    share[r] = bytes / host.size() + (r < bytes % host.size() ? 1 : 0);
  }
  const auto plan = engine::plan_write(host, share, {per_file, writers_per_node});
  engine::PlanCost cost = engine::cost_of(plan);
  for (std::int64_t* count : {&cost.creates, &cost.opens, &cost.syncs}) *count *= files_per_writer;
  const auto number = [&](const char* name) { return nb::cast<double>(machine_given[name]); };
  engine::Machine machine;
  machine.bytes_per_second_of_writer = number("writer_rate");
  machine.bytes_per_second_of_host = number("host_rate");
  machine.bytes_per_second = number("rate");
  machine.creates_per_second = number("creates_rate");
  machine.syncs_per_second = number("syncs_rate");
  machine.quota_files = nb::cast<std::int64_t>(machine_given["quota_files"]);
  machine.quota_bytes = nb::cast<std::uint64_t>(machine_given["quota_bytes"]);
  nb::dict out;
  out["ranks"] = cost.ranks;
  out["hosts"] = cost.hosts;
  out["files"] = static_cast<std::int64_t>(cost.files) * files_per_writer;
  out["contributors"] = cost.most_contributors;
  out["bytes"] = cost.bytes;
  out["bytes_of_writer"] = cost.largest_file;
  out["bytes_of_host"] = cost.largest_host;
  out["creates"] = cost.creates;
  out["opens"] = cost.opens;
  out["syncs"] = cost.syncs;
  out["seconds"] = engine::seconds_of_step(cost, machine);
  // Each quota by itself; -1 where it is not given.
  engine::Machine files_only = machine, bytes_only = machine;
  files_only.quota_bytes = 0;
  bytes_only.quota_files = 0;
  out["steps_by_files"] = engine::steps_in_quota(cost, files_only, ratio, append);
  out["steps_by_bytes"] = engine::steps_in_quota(cost, bytes_only, ratio, append);
  out["steps_in_quota"] = engine::steps_in_quota(cost, machine, ratio, append);
  out["text"] = to_text(plan);
  return out;
}

}  // namespace
}  // namespace octavo::bench

NB_MODULE(_bench, m) {
  nb::module_::import_("octavo._core");  // translates errors
  m.def("transfer", &octavo::bench::transfer, nb::arg("setup"), nb::arg("reading"), "Collective over all ranks.");
  m.def("runs", &octavo::bench::runs, nb::arg("setup"), nb::arg("steps"), nb::arg("compute"), nb::arg("flow"),
        "Collective over all ranks.");
  m.def("calibrate", &octavo::bench::calibrated, nb::arg("setup"), nb::arg("files"), "Collective over all ranks.");
  m.def("plan", &octavo::bench::plan, nb::arg("ranks"), nb::arg("ranks_per_node"), nb::arg("bytes"),
        nb::arg("per_file"), nb::arg("writers_per_node"), nb::arg("machine"), nb::arg("ratio"),
        nb::arg("files_per_writer"), nb::arg("append"));
}
