#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "octavo/base/progress.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/triangles/polygon.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/over_time.hpp"
#include "octavo/store/triangle_boundary.hpp"
#include "octavo/verbs/accuracy.hpp"
#include "octavo/verbs/errors.hpp"

namespace octavo::verbs {

/// The options of all outputs, and those of stores alone. `to`: the name of a format; empty: a store.
struct ConvertOptions : formats::WriteRequest {
  step::StepChoice from{};  ///< the step of a store that becomes another format's output

  /// For triangles, to other formats than stores: one step that combines all, and the triangles in a polygon alone.
  std::optional<step::OverTime> over_time{};
  std::optional<mesh::Polygon> polygon{};

  std::optional<int> max_level;  ///< the code's own number
  std::optional<mesh::Region> region;
  /// For floating-point fields and attributes of particles without an entry below. Positions take a relative bound as a
  /// share of the step's finest cells, and no absolute one. Attributes that name something (id, tag, cpu ...) are
  /// exact.
  Accuracy accuracy;
  std::map<std::string, Accuracy> field_accuracy;  ///< by field, "species/attribute" or "species/position" (a vector)
  codec::Effort effort = codec::Effort::normal;
  codec::Method method = codec::Method::automatic;
  /// The part of each triangle, out of `cut_parts`. The store keeps the cut: if as many ranks start from it, each gets
  /// one part (store/triangles.hpp). Only for meshes of triangles.
  std::vector<std::int32_t> part_of{};
  std::int32_t cut_parts = 0;
  std::optional<store::BoundaryArrays> boundary{};  ///< with `part_of`
  int per_file = 0;                          ///< contributors per file; 0: 64, or fewer so that every rank has a file
  bool append = false;                       ///< steps are added to an existing store
  store::Flow flow = store::Flow::analysis;  ///< the flow that is written; Error(usage) for checkpoints that are not
                                             ///< lossless and whole
  bool measure = false;  ///< reads each written step again and compares it with its source, part by part
};

/// Every output sets `steps` and `notes`. Only outputs of other formats set the other members of WriteReport.
struct ConvertReport : formats::WriteReport {
  struct FieldSize {
    std::uint64_t raw = 0;           ///< values kept, decoded [bytes]
    std::uint64_t stored = 0;        ///< [bytes]
    std::set<std::string> codecs;    ///< of its chunks, without bounds
    Accuracy accuracy;               ///< as asked for; for positions as it follows from the cells
    std::optional<Errors> errors{};  ///< with ConvertOptions::measure
  };
  int parts = 0;                            ///< of the output
  std::uint64_t input_bytes = 0;            ///< native files [bytes]
  std::uint64_t stored_bytes = 0;           ///< the store, footers and heads included [bytes]
  std::uint64_t mesh_bytes = 0;             ///< of these, refinement and ownership [bytes]
  std::map<std::string, FieldSize> fields;  ///< "species/attribute" for particles
};

/// Writes each input (a native output, or every step of a store) as one step of the store `out`. Collective
/// over the ranks, which share the parts. Each thread has at most one part in memory. Progress counts bytes of input,
/// over all steps of this rank. A step is listed only once it is complete. An error or a kill leaves the steps before
/// it, and with `overwrite` the store that was there. Throws Error(usage) if `out` exists and neither overwrite nor
/// append is set.
///
/// With `to`, there is one input. One of its steps becomes an output of that format; on triangles, all its steps become
/// one file (step/write.hpp). Progress counts parts or steps. Throws Error(unsupported) for options that leave out
/// cells or make values inexact.
ConvertReport convert(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& out,
                      const ConvertOptions& options);

/// Writes one open step in the same way, with the number `step`.
ConvertReport convert(const mesh::Dataset& dataset, std::int64_t step, const std::filesystem::path& out,
                      const ConvertOptions& options);

}  // namespace octavo::verbs
