#include <system_error>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/step_puts.hpp"
#include "octavo/engine/targets/native_work.hpp"
#include "octavo/engine/timer.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/lists.hpp"
#include "octavo/mesh/sides.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

struct NativeTarget {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  NativeOptions options;
  Buffers buffers;  // of one step at a time
  bool is_flash() const { return options.format == NativeFormat::flash; }
};

std::string name_of(NativeFormat format) {
  if (format == NativeFormat::flash) return "a FLASH file";
  return format == NativeFormat::amrex_plotfile ? "an AMReX plotfile" : "an AMReX checkpoint";
}

void check_options(const NativeOptions& options) {
  if (options.mode == Mode::automatic) throw Error(Kind::usage, "mode: expected sync or background, found auto");
  if (options.collect && options.format != NativeFormat::flash)
    throw Error(Kind::usage, "collect is for FLASH files only");
}

void begin(const NativeTarget& target, StepJob& job) {
  job.name = job.path.string();
  job.header.attributes["step"] = job.plan.step;
  if (target.is_flash()) formats::flash::set_value(job.header.attributes, "integer scalars", "nstep", job.plan.step);
}

// AMReX takes any boxes: the header's roots and block are not looked at.
void set_boxes(StepJob& job, const mesh::Patches& patches) {
  check(patches);
  if (patches.dim != job.header.dim)
    throw Error(Kind::usage, "patches in " + std::to_string(patches.dim) + " dimensions, a header in " +
                                 std::to_string(job.header.dim));
  job.patches = PatchSource{patches, {}, {}};
}

void check_centring(const NativeTarget& target, const mesh::FieldInfo& info) {
  if (info.centring == mesh::Centring::cell || (mesh::is_face(info.centring) && target.is_flash())) return;
  throw Error(Kind::unsupported, "only fields of cells, and in FLASH files of faces, can be written")
      .at("field " + info.name);
}

void remove_quietly(const fs::path& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

void show(const NativeTarget& target, const fs::path& partial, const fs::path& path) {
  file::rename(partial, path);
  if (target.options.sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

StepWork take(const std::shared_ptr<NativeTarget>& target, const std::shared_ptr<StepJob>& job) {
  const fs::path partial = job->path.string() + ".partial";
  ranks::agree(target->comm, [&] {
    if (target->rank != 0) return;
    if (fs::exists(fs::symlink_status(job->path)))
      throw Error(Kind::usage, "the output exists already").at(job->path.string());
    remove_quietly(partial);
  });
  StepWork work;
  if (target->options.collect) {
    collect_flash(target->comm, *job, target->options);
    work.job = job;
    return work;
  }
  double seconds = 0;
  const auto discard = [target, job, partial] {
    if (target->rank == 0) remove_quietly(partial);
    let_go(*job, target->buffers);
  };
  try {
    const Timer timer(seconds);
    const auto start = target->is_flash() ? start_flash : start_amrex;
    work = start(target->comm, job, partial, target->options, target->buffers);
  } catch (...) {
    discard();
    throw;
  }
  work.seconds_copying = seconds;
  work.bytes_copied = target->options.mode == Mode::background ? work.bytes_put : 0;
  work.bytes_stored = work.bytes_put;
  work.discard = discard;
  work.seal = [target, job, partial, seal = std::move(work.seal)] {
    if (target->rank == 0) {
      seal();
      show(*target, partial, job->path);
    }
    let_go(*job, target->buffers);
  };
  return work;
}

}  // namespace

TargetRow native_row(MPI_Comm comm, const mesh::Header& header, const NativeOptions& options) {
  ranks::agree(comm, [&] {
    check_options(options);
    check(header);
  });
  const auto target = std::make_shared<NativeTarget>(NativeTarget{comm, ranks::rank_in(comm), options, {}});
  TargetRow row = row_of_puts();
  row.name = name_of(options.format);
  row.steps_by = StepsBy::path;
  row.begin = [target](StepJob& job) { begin(*target, job); };
  if (!target->is_flash()) row.put_patches = set_boxes;
  row.put_field = [target, add = row.put_field](StepJob& job, const mesh::FieldInfo& info, const ArrayView& view) {
    check_centring(*target, info);
    add(job, info, view);
  };
  row.put_boxes = [target, add = row.put_boxes](StepJob& job, const mesh::FieldInfo& info,
                                                std::span<const ArrayView> boxes) {
    check_centring(*target, info);
    add(job, info, boxes);
  };
  row.describe = [](const StepJob& job) { return job.path.string() + ";" + describe(job.header) + describe(job); };
  row.take = [target](std::shared_ptr<StepJob> job, const Agreement&) { return take(target, job); };
  return row;
}

}  // namespace octavo::engine
