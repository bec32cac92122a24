#include "octavo/step/cell_values.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;

/// Takes the fields in cells out. Returns a note on them; empty if there are none.
std::string take_out(const mesh::Header& header, std::vector<mesh::FieldInfo>& fields) {
  std::string names;
  for (const mesh::FieldInfo& info : fields)
    if (mesh::in_cells(header, info)) names += (names.empty() ? "" : ", ") + info.name;
  std::erase_if(fields, [&](const mesh::FieldInfo& info) { return mesh::in_cells(header, info); });
  return names.empty() ? names : "values in cells are left out, because the output has values at points: " + names;
}

}  // namespace

mesh::Dataset without_cell_values(mesh::Dataset step, const std::optional<std::vector<std::string>>& fields) {
  if (!step.unstructured || mesh::holds_solids(step.header)) return step;
  const mesh::Header header = step.header;
  const std::string note = take_out(header, step.header.fields);
  if (note.empty()) return step;
  for (const std::string& name : fields.value_or(std::vector<std::string>{}))
    for (const mesh::FieldInfo& info : header.fields)
      if (info.name == name && mesh::in_cells(header, info))
        throw Error(Kind::unsupported, "its values stand in cells: the output has values at points")
            .at("field " + name)
            .at(step.path)
            .hint("--to ugrid or vtkhdf keeps them");
  step.notes.push_back(note);
  step.read = [read = step.read, kept = step.header](int part, const mesh::Request& request) {
    mesh::Request some = request;
    some.fields.emplace();
    for (const std::size_t f : mesh::select_fields(kept, request.fields)) some.fields->push_back(kept.fields[f].name);
    return read(part, some);
  };
  return step;
}

void keep_triangles(const mesh::Header& header, std::vector<mesh::FieldInfo>& variables,
                    std::vector<std::string>& notes) {
  if (std::string note = take_out(header, variables); !note.empty()) notes.push_back(std::move(note));
  const std::vector<std::int64_t> cells = mesh::cells_by_corners(header);
  if (mesh::num_cells(cells) < mesh::num_triangles(cells))
    notes.push_back("cells become triangles: " + mesh::describe_cells(cells));
}

}  // namespace octavo::step
