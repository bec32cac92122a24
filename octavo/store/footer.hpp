#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/store/layout.hpp"

namespace octavo::store {

/// Where an earlier footer of the same file is.
struct Link {
  std::uint64_t sequence = 0;
  Extent footer;
  bool operator==(const Link&) const = default;
};

/// The program that wrote a segment.
struct Program {
  std::string name, version;
  bool operator==(const Program&) const = default;
};

/// Kinds of meshes.
inline constexpr const char* octree_mesh = "octree";
inline constexpr const char* triangle_mesh = "triangles";

/// A segment's facts: small, so that listing the steps of a store costs little. The rest is in its table.
struct Footer {
  Identity file{};
  Flow flow = Flow::analysis;
  std::uint64_t sequence = 0;  ///< that of the commit record
  std::int64_t step = 0;
  Attempt attempt{};
  int segment = 0, segments = 1;
  std::uint64_t order = 0;  ///< of segment 0: one more than that of the step committed to the flow before
  std::optional<StepId> continues;
  bool whole_domain = false;
  double time = 0;  ///< [code time]
  int parts = 0;
  Program writer;
  std::string mesh = octree_mesh;  ///< kind of the parts' mesh
  /// Features without which the segment cannot be read, by name, ascending. Of the base format: none.
  std::vector<std::string> must_understand;
  std::uint64_t begin = 0;     ///< the segment's first byte; its last is the footer's
  Extent table;                ///< ends where the footer begins, alignment apart
  std::vector<Link> previous;  ///< the footers 1, 2, 4, 8 ... commits ago: one lost footer cuts nothing off
  bool operator==(const Footer&) const = default;
};

/// Names in `must_understand`, and a kind of mesh ("mesh of hexagons"), that this Octavo does not know.
std::vector<std::string> unknown_features(const Footer& footer);
/// The words for them: "it needs "mesh of hexagons", which ...".
std::string describe_unknown(const std::vector<std::string>& features, const Program& writer);
/// Throws Error(unsupported) if there are any.
void check_understood(const Footer& footer);

std::vector<std::byte> to_bytes(const Footer& footer);
/// Throws Error(corrupt), or Error(unsupported) for a flow that this Octavo does not know. `at` is where the footer is:
/// nothing it refers to lies behind.
Footer parse_footer(std::span<const std::byte> bytes, const Extent& at);

/// The links of a footer that follows `newest`: needs a few older footers, which `load` reads (nothing: damaged).
std::vector<Link> links_after(const Link& newest, const std::function<std::optional<Footer>(const Link&)>& load);

}  // namespace octavo::store
