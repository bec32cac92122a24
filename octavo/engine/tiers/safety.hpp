#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/engine/options.hpp"

namespace octavo::engine {

/// Losses that a step survives. The names are those of SCR's redundancy schemes.
enum class Safety : std::uint8_t {
  local,         ///< the end of the job: its files are on the disks of the nodes
  partner,       ///< the loss of a node: another node holds a copy of its files
  xor_group,     ///< the loss of any one node of a group: the nodes share the XOR of their files
  reed_solomon,  ///< the loss of any two nodes of a group
  store          ///< the loss of all nodes: it is in the store itself
};
inline constexpr std::size_t num_safeties = 5;
/// "local", "partner", "xor", "rs", "store".
std::string_view name_of(Safety safety) noexcept;
/// The inverse. Throws Error(usage) that lists the names.
Safety parse_safety(std::string_view text);

/// A way to protect checkpoints on local disks. A partner's copy is the XOR of a group of two.
struct Scheme {
  Safety safety = Safety::partner;
  int every = 0;  ///< every n-th checkpoint of a run
  int nodes = 2;  ///< of a group, at least; groups differ by at most one round of nodes
  int rows = 1;   ///< lost nodes of a group that a step survives
};
/// The schemes that the options ask for.
std::vector<Scheme> schemes_of(const Options& options);
/// A set of safeties, as bits.
using SafetySet = unsigned;
constexpr SafetySet bit_of(Safety safety) noexcept { return 1U << static_cast<unsigned>(safety); }
/// The schemes whose turn it is at the run's n-th checkpoint, n from 1.
SafetySet due_safeties(const Options& options, std::int64_t nth);
/// Whether the n-th checkpoint goes to the store.
bool is_drained(const Options& options, std::int64_t nth);

/// The places of a node among others. Groups take every `groups`-th node, so that nodes of one chassis, which tend to
/// have neighbouring numbers and to fail together, are in different groups.
struct NodePlace {
  int group = 0, member = 0, members = 0;
};
/// Throws Error(usage) if there are fewer nodes than a group has.
NodePlace place_of_node(const Scheme& scheme, int node, int nodes);

}  // namespace octavo::engine
