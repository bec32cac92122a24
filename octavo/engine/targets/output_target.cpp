#include "octavo/engine/targets/output_target.hpp"

#include <system_error>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

struct OutputTarget {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  OutputParts parts;
  Staging* staging = nullptr;  // the writer's, once a step was copied
};

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void show(const fs::path& partial, const fs::path& path, bool sync) {
  file::rename(partial, path);
  // A power cut can undo a rename until the directory is synced.
  if (sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

// Afterwards neither the copies nor the application's arrays are needed any more.
void write_and_release(OutputTarget& target, StepJob& job, const std::function<void(Writing&)>& write,
                       Writing& writing) {
  const auto release = [&] {
    if (target.staging != nullptr) target.staging->give_back(std::exchange(job.block, {}));
    writing.released();
  };
  try {
    if (job.failure) throw *job.failure;
    write(writing);
  } catch (...) {
    release();
    throw;
  }
  release();
}

StepWork take(const std::shared_ptr<OutputTarget>& target, const std::shared_ptr<StepJob>& job) {
  const fs::path partial = job->path.string() + ".partial";
  ranks::agree(target->comm, [&] {
    if (target->rank != 0) return;
    const fs::file_status there = fs::symlink_status(job->path);
    if (fs::exists(there) && !(target->parts.replace && there.type() == fs::file_type::regular))
      throw Error(Kind::usage, "the output exists already").at(job->path.string());
    remove_quietly(partial);  // what a run that was killed left
  });
  const auto discard = [target, partial] {
    if (target->rank == 0) remove_quietly(partial);
  };
  StepWork work;
  try {
    work = target->parts.start(job, partial);
  } catch (...) {
    discard();
    throw;
  }
  work.job = job;
  if (!work.write) return work;
  work.bytes_put = work.bytes_stored = bytes_of(*job);
  work.stage = [target, job](Staging& staging) {
    target->staging = &staging;
    return stage(*job, staging);
  };
  work.write = [target, job, write = std::move(work.write)](Writing& writing) {
    write_and_release(*target, *job, write, writing);
  };
  // Until it is sealed the output is called NAME.partial, so removing that name removes all of it.
  work.discard = discard;
  work.seal = [target, job, partial, seal = std::move(work.seal)] {
    if (target->rank != 0) return;
    seal();
    show(partial, job->path, target->parts.options.sync);
  };
  return work;
}

}  // namespace

TargetRow output_row(MPI_Comm comm, const mesh::Header& header, OutputParts parts) {
  ranks::agree(comm, [&] {
    if (parts.options.mode == Mode::automatic)
      throw Error(Kind::usage, "mode: expected sync or background, found auto");
    check(header);
  });
  TargetRow row = row_of_puts();
  row.name = parts.kind.title;
  row.stages = true;
  row.begin = [set_step = parts.format->words->set_step](StepJob& job) {
    job.name = job.path.string();
    set_step(job.header, job.plan.step);
  };
  row.put_field = [check_field = parts.check_field, add = row.put_field](StepJob& job, const mesh::FieldInfo& info,
                                                                         const ArrayView& view) {
    check_field(info);
    add(job, info, view);
  };
  row.put_boxes = [check_field = parts.check_field, add = row.put_boxes](StepJob& job, const mesh::FieldInfo& info,
                                                                         std::span<const ArrayView> boxes) {
    check_field(info);
    add(job, info, boxes);
  };
  row.describe = [](const StepJob& job) { return job.path.string() + ";" + describe(job.header) + describe(job); };
  const auto target =
      std::make_shared<OutputTarget>(OutputTarget{comm, ranks::rank_in(comm), std::move(parts), nullptr});
  row.take = [target](std::shared_ptr<StepJob> job, const Agreement&) { return take(target, job); };
  return row;
}

FileTarget output_target(const formats::Format& format, const OutputOptions& options,
                         std::function<TargetRow(MPI_Comm, const mesh::Header&)> open) {
  FileTarget target{&format, StepsBy::path, common_options(options), std::move(open)};
  target.options.checksums = options.checksums;
  target.options.staging_bytes = options.staging_bytes;
  return target;
}

}  // namespace octavo::engine
