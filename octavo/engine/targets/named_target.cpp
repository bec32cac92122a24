#include "octavo/engine/targets/named_target.hpp"

#include <algorithm>
#include <array>

#include "octavo/base/error.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/formats/formats.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

Target make_store(const TargetOptions& from, const formats::Format*) { return from.store(); }

Target make_flash(const TargetOptions& from, const formats::Format*) {
  return FileTarget(FlashTarget{from.common, from.collect, from.replace, from.names});
}

template <AmrexKind kind>
Target make_amrex(const TargetOptions& from, const formats::Format*) {
  AmrexTarget target{.kind = kind, .options = from.common, .files = from.files, .max_box = from.max_box};
  if (from.title) target.title = *from.title;
  if (from.multifab) target.multifab = *from.multifab;
  return FileTarget(target);
}

Target make_series(const TargetOptions& from, const formats::Format* format) {
  SeriesTarget target = from.series();
  target.format = format;
  target.options.mode = from.common.mode;
  target.options.sync = from.common.sync;
  target.options.bound_thread = from.common.bound_thread;
  return FileTarget(target);
}

struct TargetKind {
  std::string_view name;
  Target (*make)(const TargetOptions& from, const formats::Format* format);
};
constexpr std::array<TargetKind, 6> target_kinds{{{"store", &make_store},
                                                  {"flash", &make_flash},
                                                  {"amrex_plotfile", &make_amrex<AmrexKind::plotfile>},
                                                  {"amrex_checkpoint", &make_amrex<AmrexKind::checkpoint>},
                                                  {"serafin", &make_series},
                                                  {"med", &make_series}}};

/// Calls `each` with every output of every format.
template <class Each>
void for_each_output(Each&& each) {
  for (const formats::Format* format : formats::table())
    for (const formats::OutputKind& kind : format->outputs) each(*format, kind);
}

void require_target_option(std::string_view name, std::string_view option) {
  std::string owners;
  bool has = false;
  for_each_output([&](const formats::Format&, const formats::OutputKind& kind) {
    if (std::find(kind.options.begin(), kind.options.end(), option) == kind.options.end()) return;
    has = has || kind.name == name;
    owners.append(owners.empty() ? "" : ", ").append(kind.name);
  });
  if (!has) throw Error(Kind::usage, std::string(option) + ": an option of targets " + owners + " only");
}

}  // namespace

Target target_named(std::string_view name, const TargetOptions& options) {
  const auto found =
      std::find_if(target_kinds.begin(), target_kinds.end(), [&](const TargetKind& one) { return one.name == name; });
  if (found == target_kinds.end()) {
    std::string known;
    for (const TargetKind& one : target_kinds) known.append(known.empty() ? "" : ", ").append(one.name);
    throw Error(Kind::usage, "no target '" + std::string(name) + "': there are " + known);
  }
  if (options.collect) require_target_option(name, "collect");
  if (options.replace) require_target_option(name, "replace");
  if (!options.names.empty()) require_target_option(name, "names");
  if (options.files != 0) require_target_option(name, "files");
  if (options.max_box != TargetOptions().max_box) require_target_option(name, "max_box");
  if (options.multifab) require_target_option(name, "multifab");
  const formats::Format* format = nullptr;
  for_each_output([&](const formats::Format& of, const formats::OutputKind& kind) {
    if (kind.name == name) format = &of;
  });
  return found->make(options, format);
}

}  // namespace octavo::engine
