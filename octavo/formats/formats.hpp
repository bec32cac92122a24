#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/formats/amrex/row.hpp"
#include "octavo/formats/flash/row.hpp"
#include "octavo/formats/med/write_series.hpp"
#include "octavo/formats/ramses/row.hpp"
#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/series.hpp"
#include "octavo/formats/row/words.hpp"
#include "octavo/mesh/dataset.hpp"

/// Foreign formats: one folder each, which reads and writes it, and this table of them.
/// It may touch mesh, file and base.
/// It never knows a verb or a store, never names an output, and never calls MPI.
namespace octavo::formats {

/// A request to write one step or one series.
struct WriteRequest : SharedRequest {
  std::string to;  ///< name of the format
  amrex::Options amrex{};
  ramses::Options ramses{};
  med::Options med{};
};

/// A format is a row of functions and data. A function that a format does not need is nullptr.
struct Format {
  std::string_view name;                                 ///< "flash"
  std::string_view title;                                ///< "FLASH", for messages
  bool (*recognise)(const std::filesystem::path& path);  ///< from names and first bytes; never throws
  /// Reads headers; throws Error. `step`: if the files hold many steps, the one of this number from 0; without a number
  /// the last.
  mesh::Dataset (*open)(const std::filesystem::path& path, std::optional<std::int64_t> step);
  /// The step that Dataset::describe() tells of.
  mesh::Dataset (*understand)(const std::string& description) = nullptr;
  /// If files may hold many steps: all of them.
  FileSteps (*list_steps)(const std::filesystem::path& path) = nullptr;

  bool triangles = false;  ///< holds series on meshes of triangles; else single steps of cells
  bool polygons = false;   ///< and cells of more corners, and values in cells (mesh/triangles/cells.hpp)
  std::span<const std::string_view> endings = {};  ///< endings of output names that select this format
  /// Writes `steps.first`, or for triangles the series, to a path that is free. Collective over request.ranks.
  void (*write)(const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport& report) = nullptr;

  std::span<const Word> (*common_names)() = nullptr;  ///< as Words::also, of a format whose fields have no words

  // Data and decisions on steps of cells, which step::write() follows.
  const Words* words = nullptr;
  bool one_process = false;  ///< only one process writes
  /// Why the output has no place for a field; empty if it has. `name`: the field's in the format's words.
  std::string (*misfit)(const mesh::FieldInfo& field, const std::string& name, const WriteRequest& request) = nullptr;
  WantedMesh (*wanted_mesh)(const mesh::Dataset& step, const WriteRequest& request) = nullptr;
  bool (*goes_on)(const WriteRequest& request) = nullptr;  ///< a code goes on from the output: values must be exact
  std::string (*name_note)(const WriteRequest& request) = nullptr;  ///< on a bad name request.out; empty: it is good
  /// Removes the format's attributes that list boxes or blocks of a mesh, as the step gets another one.
  void (*forget_layout)(mesh::Header& header, std::vector<std::string>& notes) = nullptr;
  /// A note on what other formats cannot keep of a step of this one; else empty.
  std::string (*lost_note)(const mesh::Header& header) = nullptr;
};

/// All formats of this build.
std::span<const Format> table();

/// The first format that recognises the path. Throws as open() does if none does.
const Format& format_of(const std::filesystem::path& path);
/// The format of that name; Error(usage) if there is none.
const Format& format_named(std::string_view name);
/// The words of the code that wrote a step: Octavo's own if no row has them.
const Words& words_of(const mesh::Header& header);

/// The step's field that a name stands for in the tables of all formats, the own code's first: "dens" for "density",
/// "HAUTEUR D'EAU" for "WATER DEPTH" or "water_depth". Nothing if there is none. It does not look for the name itself:
/// a field of that name comes first.
std::optional<std::string> field_meant(const mesh::Header& header, std::string_view name);

/// Opens an output by the first format that recognises it; the path may be the output's directory or any file in it.
/// Throws Error(unreadable) if the path does not exist, and Error(corrupt) if no format recognises it; the message says
/// what it is.
mesh::Dataset open(const std::filesystem::path& path);

}  // namespace octavo::formats
