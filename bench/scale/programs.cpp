#include "programs.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/engine/own_file.hpp"
#include "octavo/engine/restart/restart.hpp"
#include "octavo/engine/step/agreement.hpp"
#include "octavo/engine/write/whole_index.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/store.hpp"
#include "octavo/verbs/scope_share.hpp"
#include "simulated.hpp"

namespace octavo::scale {
namespace {

mesh::Header header_of(int ranks) {
  mesh::Header header;
  header.code = "scale";
  header.roots = {ranks, 1, 1};
  return header;
}

mesh::Octree tree_of(int rank, int ranks) {
  mesh::Octree tree;
  tree.roots = {ranks, 1, 1};
  tree.refined.emplace_back(1);
  tree.owned.emplace_back(1);
  tree.owned[0].set(0);
  mesh::hold(tree, {{rank, rank + 1}});
  return tree;
}

void write(MPI_Comm comm, const Run& run, store::Flow flow) {
  const int rank = ranks::rank_in(comm), size = ranks::size_of(comm);
  engine::Writer writer(comm, run.store, header_of(size), run.options);
  const mesh::Octree tree = tree_of(rank, size);
  const std::vector<double> density{static_cast<double>(rank)};
  for (int step = run.first_step; step < run.first_step + run.steps; ++step) {
    writer.begin_step(flow, step, step);
    writer.put_mesh(tree);
    writer.put_field("density", engine::view_of(density));
    writer.end_step();
  }
  writer.close();
}

}  // namespace

void write_checkpoints(MPI_Comm comm, const Run& run) { write(comm, run, store::Flow::checkpoint); }
void write_analysis(MPI_Comm comm, const Run& run) { write(comm, run, store::Flow::analysis); }

namespace {

void restart_as(MPI_Comm comm, const Run& run, const engine::RestartOptions& options) {
  const auto found = engine::restart(comm, run.store, options);
  if (!found) throw base::Error(base::Kind::corrupt, "no step to start from").at(run.store.string());
}

}  // namespace

void restart(MPI_Comm comm, const Run& run) { restart_as(comm, run, {}); }
void restart_in_blocks(MPI_Comm comm, const Run& run) { restart_as(comm, run, {.block = mesh::Index3{2, 1, 1}}); }

// The order of calls is that of Writer::State::open() and StoreSteps::open(), Writer::end_step() in sync mode, and
// Writer::close().
void only_agree(MPI_Comm comm, const Run& run) {
  const auto fine = [] {};
  const ranks::OwnComm all = ranks::duplicate(comm);
  ranks::agree(all.get(), fine);
  int logs = 0;
  MPI_Bcast(&logs, 1, MPI_INT, 0, all.get());
  ranks::agree(all.get(), fine);
  ranks::require_same(all.get(), run.store.string(), "the writer");
  store::Attempt attempt{};
  MPI_Bcast(attempt.data(), static_cast<int>(attempt.size()), MPI_BYTE, 0, all.get());
  {
    const ranks::OwnComm host = ranks::ranks_of_host(all.get(), run.options.ranks_per_node);
    const engine::OwnFile own = engine::own_file(all.get(), host.get(), engine::plan_options(run.options));
    const ranks::OwnComm together = ranks::split(host.get(), own.file, ranks::rank_in(all.get()));
  }
  ranks::agree(all.get(), fine);
  engine::complete_indexes(all.get(), run.store);
  ranks::agree(all.get(), fine);
  engine::Agreement agreement;
  for (int step = 1; step <= run.steps; ++step) {
    engine::reduce(all.get(), agreement);  // the step is ended
    engine::reduce(all.get(), agreement);  // it is durable
    std::array<std::int64_t, 2> mine{}, sums{};
    MPI_Reduce(mine.data(), sums.data(), 2, MPI_INT64_T, MPI_SUM, 0, all.get());
    engine::reduce(all.get(), agreement);  // it is marked
  }
  engine::reduce(all.get(), agreement);
  ranks::require_ended(all.get(), {}, false);
  int statistics = 0;
  MPI_Bcast(&statistics, 1, MPI_INT, 0, all.get());
}

void open_for_analysis(MPI_Comm comm, const Run& run) {
  const base::Ranks ranks = ranks::ranks_of(comm);
  const step::SharedStep step = step::open_shared(run.store, {}, ranks);
  verbs::share_scope(step, {}, std::optional<int>{}, ranks, verbs::Sharing::in_ranges);
}

void make_store(const std::filesystem::path& store, int parts, int per_file) {
  store::SegmentPlan plan;
  plan.store = store;
  plan.flow = store::Flow::checkpoint;
  plan.step = 1;
  plan.attempt = store::random_attempt();
  plan.segments = (parts + per_file - 1) / per_file;
  plan.sync = false;
  const mesh::Header header = header_of(parts);
  for (int file = 0; file < plan.segments; ++file) {
    plan.subfile = plan.segment = file;
    plan.marked = file > 0;
    store::SegmentWriter writer(plan, header);
    for (int part = file * per_file; part < std::min(parts, (file + 1) * per_file); ++part) {
      mesh::Part own;
      own.index = part;
      own.mesh = tree_of(part, parts);
      mesh::Field field{{"density", "", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}, {}};
      field.bytes.resize(sizeof(double));
      own.fields.push_back(std::move(field));
      writer.add(store::encode(own, header, {}));
    }
    writer.commit();
  }
  // As a run leaves it that was killed before it wrote the line of the index.
  store::note_durable(store, plan.flow, 1, plan.step);
}

namespace {

std::mutex counting;  // threads of local disks count, too
FileOperations counted;
std::set<std::string> made;  // directories: threads of several ranks may try at once, and one of them makes it

const char* name_of(file::Operation operation) {
  switch (operation) {
    case file::Operation::open:
    case file::Operation::open_direct: return "open";
    case file::Operation::create: return "create";
    case file::Operation::read: return "read";
    case file::Operation::lock: return "lock";
    case file::Operation::write: return "write";
    case file::Operation::preallocate: return "preallocate";
    case file::Operation::resize: return "resize";
    case file::Operation::sync: return "sync";
    case file::Operation::sync_directory: return "sync directory";
    case file::Operation::rename: return "rename";
    case file::Operation::remove: return "remove";
    case file::Operation::make_directory: return "make directory";
  }
  return "other";
}

}  // namespace

void start_counting_files() {
  counted.clear();
  made.clear();
  file::set_observer([](const file::Event& event) {
    simulated::uncounted([&] {
      const std::string path = event.path.string();
      const bool local = path.find(local_disks) != std::string::npos;
      if (!local && path.find(".octavo") == std::string::npos) return;
      const std::lock_guard lock(counting);
      if (event.operation == file::Operation::make_directory && !made.insert(path).second) return;
      ++counted[(local ? "local " : "") + std::string(name_of(event.operation))];
    });
    return file::Verdict{};
  });
}

FileOperations counted_files() {
  file::set_observer({});
  return counted;
}

}  // namespace octavo::scale
