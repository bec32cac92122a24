#include "octavo/verbs/export.hpp"

#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/step/target.hpp"

namespace octavo::verbs {

std::vector<std::string> export_ramses(const mesh::Dataset& dataset, const std::filesystem::path& out,
                                       const ExportOptions& options) {
  if (dataset.unstructured)
    throw base::Error(base::Kind::unsupported, "a mesh of triangles cannot be a RAMSES output").at(dataset.path);
  std::vector<std::string> notes = dataset.notes;
  step::require_exact_values(dataset, options.lossy_ok, notes);
  const step::Target target = step::prepare_native_target(out, options.overwrite);
  try {
    formats::ramses::WriteOptions how;
    how.domains = options.domains;
    how.number = options.number;
    how.single_precision = options.single_precision;
    how.progress = options.progress;
    how.ordering = options.ordering;
    for (std::string& note : formats::ramses::write(dataset, target.path, how)) notes.push_back(std::move(note));
    step::finish_target(target);
    return notes;
  } catch (...) {
    step::discard_target(target);
    throw;
  }
}

std::string number_note(const mesh::Dataset& dataset, const std::filesystem::path& out, int number) {
  char expected[32];
  std::snprintf(expected, sizeof expected, "output_%05d", number);
  const std::string name = (out.has_filename() ? out : out.parent_path()).filename().string();
  const auto own = dataset.header.attributes.find("output_number");
  const auto* before = own == dataset.header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&own->second);
  const bool other_number = before != nullptr && *before != number;
  if (name == expected && !other_number) return {};
  std::string note = "the output has the number " + std::to_string(number);
  if (other_number) note += ", that of its name; the step's own was " + std::to_string(*before);
  note += ": start RAMSES with nrestart=" + std::to_string(number);
  if (name != expected) note += std::string(", in a directory where it is called ") + expected;
  return note;
}

}  // namespace octavo::verbs
