#include "octavo/formats/xdmf/xdmf.hpp"

#include <memory>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/row/range.hpp"
#include "octavo/formats/xdmf/contents.hpp"
#include "octavo/mesh/triangles/cells.hpp"

namespace octavo::formats::xdmf {
namespace {

namespace fs = std::filesystem;

/// Adds up the sizes of the text and of the files that it names [bytes].
std::int64_t bytes_of(const XdmfContents& contents) {
  std::int64_t bytes = 0;
  for (const fs::path& file : contents.files()) {
    std::error_code ignored;
    if (const auto size = fs::file_size(file, ignored); !ignored) bytes += static_cast<std::int64_t>(size);
  }
  return bytes;
}

void set_mesh(const XdmfContents& contents, mesh::Header& header) {
  set_range(read_axis(contents, 0), 0, header);
  set_range(read_axis(contents, 1), 1, header);
  if (contents.solid) {
    set_range(read_axis(contents, 2), 2, header);
    header.attributes[mesh::solids_attribute] = contents.counts;
  } else {
    header.dim = 2;
    header.attributes["triangles"] = mesh::num_triangles(contents.counts);
    header.attributes["planes"] = std::int64_t{1};
    header.attributes[mesh::cells_attribute] = contents.counts;
  }
}

mesh::Header header_of(const XdmfContents& contents, std::size_t step) {
  mesh::Header header;
  header.code = "XDMF";
  header.unit_length = contents.unit_length;
  try {
    set_mesh(contents, header);
  } catch (base::Error& error) {
    throw std::move(error.at(contents.path.string()));
  }
  if (contents.has_fields()) {
    header.time = contents.steps[step].time;
    header.attributes["step"] = static_cast<std::int64_t>(step);
  }
  for (const XdmfField& field : contents.steps[step].fields) header.fields.push_back(field.info);
  return header;
}

}  // namespace

bool recognise(const fs::path& path) {
  try {
    std::string begin(1024, '\0');
    begin.resize(file::pread_some(file::open_read(path), 0, std::as_writable_bytes(std::span(begin))));
    return begin.find("<Xdmf") != std::string::npos && begin[begin.find_first_not_of(" \t\r\n")] == '<';
  } catch (const base::Error&) {
    return false;
  }
}

mesh::Dataset open(const fs::path& path, std::optional<std::int64_t> step) {
  const auto contents = std::make_shared<const XdmfContents>(read_contents(path));
  const auto steps = contents->has_fields() ? std::ssize(contents->steps) : 0;
  const auto number = static_cast<std::size_t>(chosen_step(path, step, steps));
  mesh::Dataset dataset =
      mesh::of_one_part("xdmf", path.string(), header_of(*contents, number), bytes_of(*contents),
                        contents->solid ? mesh::num_cells(contents->counts) : mesh::num_triangles(contents->counts),
                        static_cast<std::int64_t>(contents->new_points()));
  dataset.notes = contents->notes;
  if (!contents->solid && has_heights(*contents)) dataset.notes.push_back("the points' heights (z) are left out");
  describe_file(dataset, path, step);
  dataset.read = [contents, number, header = dataset.header](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = read_mesh(*contents, request.mesh);
    for (const std::size_t f : mesh::select_fields(header, request.fields))
      part.fields.push_back(read_field(*contents, contents->steps[number].fields[f]));
    return part;
  };
  return dataset;
}

FileSteps list_steps(const fs::path& path) {
  const XdmfContents contents = read_contents(path);
  FileSteps out{{}, bytes_of(contents)};
  if (contents.has_fields())
    for (const XdmfStep& step : contents.steps) out.times.push_back(step.time);
  return out;
}

}  // namespace octavo::formats::xdmf
