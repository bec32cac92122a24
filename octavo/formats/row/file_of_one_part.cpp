#include "octavo/formats/row/file_of_one_part.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/mesh/pack.hpp"

namespace octavo::formats {
namespace {

struct FileFacts {
  std::string path;
  std::optional<std::int64_t> step;
  std::string format, shown_path;
  mesh::Header header;
  std::int64_t bytes = 0, elements = 0;
  mesh::PartSizes sizes;
  std::vector<std::string> notes;
};

template <class Way>
void both(Way& way, FileFacts& told) {
  using base::both;
  using mesh::both;
  both(way, told.path, told.step, told.format, told.shown_path, told.header, told.bytes, told.elements, told.sizes.mesh,
       told.sizes.fields, told.sizes.particles, told.notes);
}

// The file as the process opens it that reads its part.
struct OpenedFile {
  std::mutex opening;
  std::optional<mesh::Dataset> dataset;
};

}  // namespace

std::int64_t chosen_step(const std::filesystem::path& path, std::optional<std::int64_t> step, std::int64_t steps) {
  const std::int64_t last = std::max<std::int64_t>(steps, 1) - 1;
  if (step && (*step < 0 || *step > last))
    throw base::Error(base::Kind::usage, "step " + std::to_string(*step) + " is not there: the file has " +
                                             std::to_string(steps) + ", numbered from 0")
        .at(path.string());
  return step.value_or(last);
}

void describe_file(mesh::Dataset& dataset, const std::filesystem::path& path, std::optional<std::int64_t> step) {
  const FileFacts told{path.string(),
                       step,
                       dataset.format,
                       dataset.path,
                       dataset.header,
                       dataset.bytes,
                       dataset.levels.at(0).cells,
                       dataset.part_sizes(0),
                       dataset.notes};
  dataset.describe = [told] { return base::packed(told); };
}

mesh::Dataset understand_file(
    const std::string& description,
    const std::function<mesh::Dataset(const std::filesystem::path& path, std::optional<std::int64_t> step)>& open) {
  FileFacts told = base::unpacked<FileFacts>(description);
  mesh::Dataset dataset = mesh::of_one_part(std::move(told.format), std::move(told.shown_path), std::move(told.header),
                                            told.bytes, told.elements, 0);
  dataset.notes = std::move(told.notes);
  dataset.part_sizes = [sizes = told.sizes](int) { return sizes; };
  dataset.read = [open, path = told.path, step = told.step, opened = std::make_shared<OpenedFile>()](
                     int part, const mesh::Request& request) {
    {
      const std::lock_guard lock(opened->opening);
      if (!opened->dataset) opened->dataset = open(path, step);
    }
    return opened->dataset->read(part, request);
  };
  return dataset;
}

}  // namespace octavo::formats
