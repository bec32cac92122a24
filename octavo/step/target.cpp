#include "octavo/step/target.hpp"

#include <fcntl.h>

#include <cstdio>
#include <optional>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/file/whole.hpp"
#include "octavo/step/replaceable.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

namespace {

bool holds_step(const fs::path& out, store::Flow flow, std::int64_t step) {
  for (const store::StepInfo& info : store::list_steps(out))
    if (info.flow == flow && info.step == step) return true;
  return false;
}

// "run.octavo/" is "run.octavo": a sibling goes beside it, not into it.
fs::path without_slash(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

bool is_taken(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

bool is_empty_folder(const fs::path& path) { return fs::is_directory(path) && fs::is_empty(path); }

/// The sibling, without the remains of a killed job: some writers make theirs as NAME.partial, too.
OutputPlace beside(const fs::path& out, bool replaces, Claim claim) {
  fs::path partial = out;
  partial += ".partial";
  fs::path of_partial = partial;
  of_partial += ".partial";
  for (const fs::path& left : {partial, of_partial}) {
    std::error_code error;
    fs::remove_all(left, error);
    if (error) throw base::system_error("remove what an interrupted job left", error.value()).at(left.string());
  }
  return {out, partial, false, replaces, std::move(claim)};
}

/// Exchanges two paths atomically: whenever the process dies, one of them has the name.
void exchange(const fs::path& partial, const fs::path& out) {
  if (renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, out.c_str(), RENAME_EXCHANGE) == 0) return;
  // If the file system cannot exchange names, the old output exists only as NAME.replaced for a moment.
  fs::path old = out;
  old += ".replaced";
  fs::remove_all(old);
  file::rename(out, old);
  file::rename(partial, out);
  file::rename(old, partial);
}

}  // namespace

OutputPlace prepare_target(const fs::path& given, const std::vector<std::int64_t>& steps, bool overwrite, bool append,
                           store::Flow flow) {
  const fs::path out = without_slash(given);
  Claim claim(out);
  if (!is_taken(out)) return beside(out, false, std::move(claim));
  if (is_empty_folder(out)) return beside(out, true, std::move(claim));
  const bool is_store = store::recognise(out);
  if (append && is_store) {
    for (const std::int64_t step : steps)
      if (holds_step(out, flow, step))
        throw Error(Kind::usage, "the store already has step " + std::to_string(step)).at(out.string());
    return {out, out, true, false, std::move(claim)};
  }
  if (!overwrite)
    throw Error(Kind::usage, "the output exists")
        .at(out.string())
        .hint(is_store ? "--append adds steps to it, -f replaces it" : "choose another name");
  require_replaceable(out, "octavo");
  return beside(out, true, std::move(claim));
}

OutputPlace prepare_native_target(const fs::path& given, bool overwrite, std::string_view kind) {
  const fs::path out = without_slash(given);
  Claim claim(out);
  if (!is_taken(out)) return beside(out, false, std::move(claim));
  if (!overwrite) throw Error(Kind::usage, "the output exists already").at(out.string()).hint("-f replaces it");
  require_replaceable(out, kind);
  return beside(out, true, std::move(claim));
}

void require_exact_values(const mesh::Dataset& dataset, bool lossy_ok, std::vector<std::string>& notes) {
  std::string fields;
  for (const auto& [field, bound] : dataset.lossy) fields += (fields.empty() ? "" : ", ") + field + " (" + bound + ")";
  if (fields.empty()) return;
  const std::string what = "the step was stored with a loss: " + fields;
  if (!lossy_ok)
    throw Error(Kind::usage, what + ". A run that goes on from it is another run")
        .at(dataset.path)
        .hint("--lossy-ok writes it all the same");
  notes.push_back(what);
}

namespace {

// Syncs the output and gives it its name.
void finish(const OutputPlace& target) {
  if (target.appends) return;
  // First the bytes, then the name, then the folder; an old output goes when the new one is durable. So a power cut
  // leaves one of the two whole under the name.
  file::sync_all(target.path);
  if (target.replaces)
    exchange(target.path, target.out);
  else
    file::rename_new(target.path, target.out);
  file::sync_directory(fs::absolute(target.out).parent_path());
  std::error_code ignored;
  if (target.replaces) fs::remove_all(target.path, ignored);
}

}  // namespace

void write_beside(const base::Ranks& ranks, const std::function<OutputPlace()>& prepare,
                  const std::function<void(const fs::path&)>& write) {
  std::optional<OutputPlace> target;  // of the first rank
  base::agree(ranks, [&] {
    if (ranks.rank == 0) target.emplace(prepare());
  });
  const fs::path path = base::from_first(ranks, target ? target->path.string() : std::string());
  try {
    write(path);
    base::agree(ranks, [&] {
      if (target) finish(*target);
    });
  } catch (...) {
    std::error_code ignored;
    if (target && !target->appends) fs::remove_all(target->path, ignored);
    throw;
  }
}

}  // namespace octavo::step
