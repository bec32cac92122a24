#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "apps/shallow/input.hpp"
#include "octavo/base/error.hpp"

namespace octavo::shallow {

namespace {

namespace serafin = formats::serafin;
using Values = std::vector<double>;

/// A variable by one of its names, at some points; nothing where the file has none of them.
std::optional<Values> read_any(const serafin::SerafinSeries& series, std::int64_t step,
                               std::span<const std::int32_t> positions, std::initializer_list<std::string_view> names) {
  const auto& variables = series.header.variables;
  const auto found = std::find_if(variables.begin(), variables.end(), [&](const serafin::Variable& variable) {
    return std::find(names.begin(), names.end(), serafin::name_of(variable)) != names.end();
  });
  if (found == variables.end()) return {};
  Values out(positions.size());
  if (positions.empty()) return out;
  const std::int32_t first = positions.front();
  Values stretch(static_cast<std::size_t>(positions.back() - first) + 1);
  serafin::read_values(series, step, static_cast<std::size_t>(found - variables.begin()), first, stretch);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = stretch[static_cast<std::size_t>(positions[i] - first)];
  return out;
}

Values depths_below(const Values& bottom, const Values& level) {
  Values depth(bottom.size());
  for (std::size_t i = 0; i < depth.size(); ++i) depth[i] = std::max(0.0, level[i] - bottom[i]);
  return depth;
}

Values read_depths(const serafin::SerafinSeries& series, std::int64_t step, std::span<const std::int32_t> positions,
                   const Values& bottom) {
  if (auto depth = read_any(series, step, positions, {"WATER DEPTH", "HAUTEUR D'EAU"})) return *depth;
  if (const auto level = read_any(series, step, positions, {"FREE SURFACE", "SURFACE LIBRE"}))
    return depths_below(bottom, *level);
  throw base::Error(base::Kind::corrupt, "no variable WATER DEPTH or FREE SURFACE, in English or French")
      .at(series.file->path().string())
      .hint("--level METRES starts with still water");
}

}  // namespace

State read_state(const serafin::SerafinSeries& series, std::int64_t step, std::span<const std::int32_t> positions,
                 std::optional<double> level) {
  const auto bottom = read_any(series, step, positions, {"BOTTOM", "FOND"});
  if (!bottom) throw base::Error(base::Kind::corrupt, "no variable BOTTOM or FOND").at(series.file->path().string());
  State state{*bottom, std::vector<Water>(positions.size())};
  const Values depth =
      level ? depths_below(*bottom, Values(bottom->size(), *level)) : read_depths(series, step, positions, *bottom);
  for (std::size_t i = 0; i < depth.size(); ++i) state.water[i].h = std::max(0.0, depth[i]);
  if (level) return state;
  const auto qx = read_any(series, step, positions, {"FLOWRATE ALONG X"});
  const auto qy = read_any(series, step, positions, {"FLOWRATE ALONG Y"});
  const auto u = read_any(series, step, positions, {"VELOCITY U", "VITESSE U"});
  const auto v = read_any(series, step, positions, {"VELOCITY V", "VITESSE V"});
  for (std::size_t i = 0; i < depth.size(); ++i) {
    Water& water = state.water[i];
    if (qx && qy) water.qx = (*qx)[i], water.qy = (*qy)[i];
    if (!(qx && qy) && u && v) water.qx = water.h * (*u)[i], water.qy = water.h * (*v)[i];
  }
  return state;
}

}  // namespace octavo::shallow
