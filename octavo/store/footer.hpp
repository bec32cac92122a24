#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "octavo/store/layout.hpp"

namespace octavo::store {

/// The place of an earlier footer in the same file.
struct Link {
  std::uint64_t sequence = 0;
  Extent footer;
  bool operator==(const Link&) const = default;
};

/// The program that wrote a segment.
struct WriterProgram {
  std::string name, version;
  bool operator==(const WriterProgram&) const = default;
};

/// Kinds of meshes.
inline constexpr const char* octree_mesh = "octree";
inline constexpr const char* triangle_mesh = "triangles";
inline constexpr const char* solid_mesh = "solids";

/// The main facts of a segment. It is small, so that listing the steps of a store is cheap; the rest is in the table.
struct Footer {
  Identity file{};
  Flow flow = Flow::analysis;
  std::uint64_t sequence = 0;  ///< equals the commit record's
  std::int64_t step = 0;
  Attempt attempt{};
  int segment = 0, segments = 1;
  std::uint64_t order = 0;  ///< segment 0 only: one more than the order of the flow's previous step
  std::optional<StepId> continues;
  bool whole_domain = false;
  double time = 0;  ///< [code time]
  int parts = 0;
  WriterProgram writer;
  std::string mesh = octree_mesh;  ///< kind of the parts' mesh
  /// Names of the features that a reader must know to read the segment, ascending. The base format has none.
  std::vector<std::string> must_understand;
  std::uint64_t begin = 0;     ///< the segment's first byte; the segment ends with its footer
  Extent table;                ///< ends where the footer begins, except for alignment
  std::vector<Link> previous;  ///< the footers 1, 2, 4, 8 ... commits ago: one lost footer cuts nothing off
  bool operator==(const Footer&) const = default;
};

/// The names in `must_understand` that this Octavo does not know, and the kind of mesh ("mesh of hexagons") if it is
/// unknown.
std::vector<std::string> unknown_features(const Footer& footer);
/// The message about such features: "it needs "mesh of hexagons", which ...".
std::string describe_unknown(const std::vector<std::string>& features, const WriterProgram& writer);
/// Throws Error(unsupported) if the footer has unknown features.
void check_understood(const Footer& footer);

std::vector<std::byte> to_bytes(const Footer& footer);
/// Throws Error(corrupt), or Error(unsupported) for a flow that this Octavo does not know. `at` is the footer's place:
/// everything that it refers to lies before it.
Footer parse_footer(std::span<const std::byte> bytes, const Extent& at);

/// The links of a footer that follows `newest`. It needs a few older footers, which `load` reads; `load` returns
/// nothing for a damaged one.
std::vector<Link> links_after(const Link& newest, const std::function<std::optional<Footer>(const Link&)>& load);

}  // namespace octavo::store
