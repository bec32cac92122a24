#include "octavo/jobs/target.hpp"

#include <fcntl.h>

#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/store/store.hpp"

namespace octavo::jobs {

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

}  // namespace

fs::path prepare_target(const fs::path& given, const std::vector<std::int64_t>& steps, bool overwrite, bool append,
                        store::Flow flow) {
  const fs::path out = without_slash(given);
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(out, ignored))) return out;
  const bool is_store = store::recognise(out);
  const bool is_empty = fs::is_directory(out) && fs::is_empty(out);
  if (is_empty) return out;
  if (append && is_store) {
    for (const std::int64_t step : steps)
      if (holds_step(out, flow, step))
        throw Error(Kind::usage, "the store already has step " + std::to_string(step)).at(out.string());
    return out;
  }
  if (!overwrite)
    throw Error(Kind::usage, "the output exists")
        .at(out.string())
        .hint(is_store ? "--append adds steps to it, -f replaces it" : "choose another name");
  if (!is_store && fs::is_directory(out))
    throw Error(Kind::usage, "-f replaces a store only, and this directory is none").at(out.string());
  fs::path sibling = out;
  sibling += ".partial";
  fs::remove_all(sibling);
  return sibling;
}

fs::path prepare_native_target(const fs::path& given, bool overwrite) {
  const fs::path out = without_slash(given);
  std::error_code ignored;
  if (fs::exists(fs::symlink_status(out, ignored))) {
    if (!overwrite) throw Error(Kind::usage, "the output exists").at(out.string()).hint("-f replaces it");
    if (!(fs::is_directory(out) && fs::is_empty(out))) formats::open(out);
  }
  fs::path sibling = out;
  sibling += ".partial";
  fs::remove_all(sibling);
  return sibling;
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

void finish_target(const fs::path& target, const fs::path& given) {
  const fs::path out = without_slash(given);
  if (target == out) return;
  std::error_code ignored;
  if (!fs::exists(fs::symlink_status(out, ignored))) {
    file::rename(target, out);
    file::sync_directory(fs::absolute(out).parent_path());
    return;
  }
  // The two change places in one step: whenever the process dies, a whole store has the name.
  if (renameat2(AT_FDCWD, target.c_str(), AT_FDCWD, out.c_str(), RENAME_EXCHANGE) == 0) {
    file::sync_directory(fs::absolute(out).parent_path());
    fs::remove_all(target);
    return;
  }
  // A file system that can not: for a moment the old store is at NAME.replaced only.
  fs::path old = out;
  old += ".replaced";
  fs::remove_all(old);
  file::rename(out, old);
  file::rename(target, out);
  file::sync_directory(fs::absolute(out).parent_path());
  fs::remove_all(old);
}

void discard_target(const fs::path& target, const fs::path& out, bool existed) noexcept {
  std::error_code ignored;
  if (target != without_slash(out)) {
    fs::remove_all(target, ignored);
    return;
  }
  if (existed) return;
  try {
    if (!store::list_steps(target).empty()) return;
  } catch (const Error&) {
    // Nothing readable was committed.
  }
  fs::remove_all(target, ignored);
}

}  // namespace octavo::jobs
