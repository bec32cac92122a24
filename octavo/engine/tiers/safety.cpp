#include "octavo/engine/tiers/safety.hpp"

#include <array>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

constexpr std::array<std::string_view, num_safeties> names{"local", "partner", "xor", "rs", "store"};

}  // namespace

std::string_view name_of(Safety safety) noexcept { return names[static_cast<std::size_t>(safety)]; }

Safety parse_safety(std::string_view text) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<Safety>(i);
  throw Error(Kind::usage, "expected local, partner, xor, rs or store, found '" + std::string(text) + "'");
}

std::vector<Scheme> schemes_of(const Options& options) {
  std::vector<Scheme> schemes;
  for (const Scheme& scheme : {Scheme{Safety::partner, options.partner_every, 2, 1},
                               Scheme{Safety::xor_group, options.xor_every, options.group_size, 1},
                               Scheme{Safety::reed_solomon, options.rs_every, options.group_size, 2}})
    if (scheme.every > 0) schemes.push_back(scheme);
  return schemes;
}

SafetySet due_safeties(const Options& options, std::int64_t nth) {
  SafetySet due = 0;
  for (const Scheme& scheme : schemes_of(options))
    if (nth % scheme.every == 0) due |= bit_of(scheme.safety);
  return due;
}

bool is_drained(const Options& options, std::int64_t nth) { return nth % options.drain_every == 0; }

NodePlace place_of_node(const Scheme& scheme, int node, int nodes) {
  const int groups = nodes / scheme.nodes;
  if (groups == 0)
    throw Error(Kind::usage, "groups of " + std::to_string(scheme.nodes) + " nodes were asked for, and the run has " +
                                 std::to_string(nodes))
        .at("option " + std::string(name_of(scheme.safety)) + "_every")
        .hint(scheme.safety == Safety::partner ? "a run on more nodes, or partner_every = 0"
                                               : "a smaller group_size, or a run on more nodes");
  return {node % groups, node / groups, (nodes - node % groups - 1) / groups + 1};
}

}  // namespace octavo::engine
