#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/series.hpp"
#include "octavo/formats/row/words.hpp"
#include "octavo/mesh/dataset.hpp"

/// The row of a format: everything that other rooms ask about it. Each folder of formats has one, in row.cpp.
namespace octavo::formats {

/// A kind of output that the ranks of a run write together (engine/targets).
struct OutputKind {
  std::string_view name;                           ///< "amrex_checkpoint", as Python has it
  std::string_view title;                          ///< "an AMReX checkpoint", for messages
  std::span<const std::string_view> options = {};  ///< of a writer's target, those that not all targets have
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
  bool solids = false;     ///< and series on meshes of solids (mesh/solids.hpp)
  bool integers = false;   ///< and fields of int32 and int64 on solids as they are; false: as reals
  std::span<const std::string_view> endings = {};  ///< endings of output names that select this format
  std::span<const OutputKind> outputs = {};        ///< none: no target of a run's ranks
  std::span<const std::string_view> kinds = {};    ///< WriteRequest::kind chooses among them; none: there is one
  /// The options that this format alone has (WriteRequest::own).
  std::vector<OptionInfo> (*options)() = nullptr;
  /// Writes `steps.first`, or for triangles the series, to a path that is free. Collective over request.ranks.
  void (*write)(const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport& report) = nullptr;

  std::span<const Word> (*common_names)() = nullptr;  ///< as Words::also, of a format whose fields have no words

  // Only meshes of triangles have these.
  /// The groups of a mesh; a format without it has no groups.
  MeshGroups (*read_groups)(const std::filesystem::path& path) = nullptr;
  bool pieces_count = false;  ///< IPARAM(8) and (9) of a piece's file count the piece's own points, not the whole's

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
  /// The same on what Dataset::carry() could not take into the header.
  std::string (*carried_note)(const mesh::Header& header) = nullptr;
  /// For a run of the code that starts from the step. Each rank writes the files of its own share at `path`, a folder
  /// on its node's disk or in memory, and the code finds them in the current directory. Returns what removes this
  /// rank's files once the code has read them. Collective over `ranks`; throws the same on all of them, and leaves no
  /// files then. A format without it has outputs that all ranks write together.
  std::function<void()> (*write_shares)(const mesh::Dataset& step, const std::filesystem::path& path,
                                        const base::Ranks& ranks) = nullptr;
};

/// An output that is one step, as Format::open.
template <mesh::Dataset (*open_output)(const std::filesystem::path&)>
mesh::Dataset open_one(const std::filesystem::path& path, std::optional<std::int64_t>) {
  return open_output(path);
}

}  // namespace octavo::formats
