#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/series_target.hpp"

namespace octavo::engine {

/// The options of all targets, for callers that know a target by its name. Those that not all targets have
/// (formats::OutputKind::options) keep their defaults unless the caller asks for something.
struct TargetOptions {
  OutputOptions common{};
  bool collect = false, replace = false;
  std::map<std::string, std::string> names{};
  int files = 0;
  std::int64_t max_box = AmrexTarget().max_box;
  std::optional<std::string> title{}, multifab{};
  std::function<StoreTarget()> store{};    ///< makes the target "store"
  std::function<SeriesTarget()> series{};  ///< makes that of a series, whose format and common options are set then
};

/// The target "store", or that of a format's output of this name (formats::OutputKind). Throws Error(usage) if there is
/// none, and for an option that it does not have; the message says which targets have it.
Target target_named(std::string_view name, const TargetOptions& options);

}  // namespace octavo::engine
