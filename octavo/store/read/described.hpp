#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "octavo/store/read/opened.hpp"

/// Steps that one process opens for others: it reads footers and tables once, and tells each process where its parts
/// are.
namespace octavo::store {

/// The table with some of its parts alone. `rows` ascend.
Table with_rows(const Table& whole, const std::vector<std::size_t>& rows);

/// The dataset of an opened step.
mesh::Dataset dataset_of(const std::filesystem::path& store, const std::shared_ptr<const OpenedStep>& step,
                         std::vector<std::string> notes);

/// A step, and a function that describes some of its parts (numbers ascending) to another process of the same machine
/// type. Empty for triangles, whose parts are read together.
struct DescribedStep {
  mesh::Dataset dataset;
  std::function<std::string(const std::vector<int>& parts)> describe;
};
DescribedStep described(mesh::Dataset dataset, const std::shared_ptr<const OpenedStep>& step);
/// Opens a step as open_step() does.
DescribedStep open_described(const std::filesystem::path& store, std::optional<Flow> flow,
                             std::optional<std::int64_t> step);

/// Describes a segment with some of its parts to another process, and makes it of the description again.
std::string describe(const OpenedSegment& segment, const std::vector<std::size_t>& rows);
OpenedSegment understand_segment(const std::string& description);

/// The data set of the described parts alone, numbered from 0. It knows the whole header; counts of cells and particles
/// are those of its parts. Opens no file: reading a part opens the one that holds it. Throws Error(corrupt) for a text
/// that describe() did not make.
mesh::Dataset understand(const std::string& description);

}  // namespace octavo::store
