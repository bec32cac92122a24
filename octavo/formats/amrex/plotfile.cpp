#include <algorithm>
#include <cctype>
#include <utility>

#include "octavo/formats/amrex/headers.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/geometry.hpp"

namespace octavo::formats::amrex {
namespace {

using base::Error;
using base::Kind;

constexpr std::int64_t most_plotfile_levels = 64;

/// One level in a plotfile's Header.
struct LevelEntry {
  std::size_t boxes = 0;
  std::string prefix;  ///< "Level_0/Cell"
};

std::vector<std::string> read_field_names(Text& text) {
  const std::size_t n = text.count(1);
  text.end_line();
  std::vector<std::string> names;
  for (std::size_t i = 0; i < n; ++i) names.push_back(text.name());
  return names;
}

std::vector<mesh::IndexBox> read_domains(Text& text, std::size_t levels, int dim) {
  std::vector<mesh::IndexBox> domains;
  for (std::size_t level = 0; level < levels; ++level) {
    const TypedBox box = text.box();
    if (box.dim != dim) throw text.error("a domain of another dimension");
    domains.push_back(box.cells);
  }
  return domains;
}

/// The corners of all boxes in code lengths, which follow each level's first lines, are skipped: the boxes themselves
/// are with the data.
LevelEntry read_level(Text& text, std::size_t level, int dim) {
  LevelEntry entry;
  if (text.integer() != static_cast<std::int64_t>(level))
    throw text.error("expected the entry of level " + std::to_string(level));
  entry.boxes = text.count(4);
  text.real();     // its time
  text.integer();  // its step
  for (std::size_t i = 0; i < entry.boxes * static_cast<std::size_t>(dim) * 2; ++i) text.real();
  text.end_line();
  entry.prefix = text.name();
  return entry;
}

void read_geometry(Text& text, mesh::Header& header, int dim) {
  for (auto* corner : {&header.lo, &header.hi})
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) (*corner)[axis] = text.real();
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (!(header.lo[axis] < header.hi[axis])) throw text.error("a domain whose upper corner is not above its lower");
}

void add_fields(AmrexOutput& output, const std::vector<std::string>& names) {
  mesh::ScalarType type = mesh::ScalarType::float32;
  for (const auto& level : output.multifabs)
    if (!level[0].places.empty() && level[0].format.type == mesh::ScalarType::float64) type = mesh::ScalarType::float64;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name = names[i].empty() ? "var" + std::to_string(i + 1) : names[i];
    const auto taken = [&] {
      return std::any_of(output.header.fields.begin(), output.header.fields.end(),
                         [&](const mesh::FieldInfo& field) { return field.name == name; });
    };
    for (int n = 2; taken(); ++n) name = names[i] + "_" + std::to_string(n);
    output.header.fields.push_back({.name = name, .unit = "", .type = type});
    output.sources.push_back({0, static_cast<int>(i)});
  }
}

void open_level(AmrexOutput& output, const LevelEntry& entry, std::size_t components, const Text& text) {
  MultiFab multifab = open_multifab(path_below(output.path, entry.prefix, text));
  if (multifab.boxes.boxes.size() != entry.boxes || multifab.components != static_cast<std::int64_t>(components))
    throw Error(Kind::corrupt, "Header and " + entry.prefix + "_H disagree: expected " + std::to_string(entry.boxes) +
                                   " boxes of " + std::to_string(components) + " components, found " +
                                   std::to_string(multifab.boxes.boxes.size()) + " of " +
                                   std::to_string(multifab.components))
        .at(output.path.string());
  if (entry.boxes != 0 && multifab.boxes.dim != output.header.dim)
    throw Error(Kind::corrupt, "Header and " + entry.prefix + "_H disagree in dimension").at(output.path.string());
  if (multifab.boxes.nodal != mesh::Index3{0, 0, 0})
    throw Error(Kind::unsupported, "a plotfile whose values are not cell-centred").at(output.path.string());
  output.patches.boxes.push_back(multifab.boxes.boxes);
  output.multifabs.emplace_back().push_back(std::move(multifab));
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 10 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

std::vector<int> ratios_of(const std::vector<mesh::IndexBox>& domains, int dim, const Text& text) {
  std::vector<int> ratios;
  for (std::size_t level = 1; level < domains.size(); ++level) {
    mesh::Index3 ratio{0, 0, 0};
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
      const std::int64_t coarse = domains[level - 1].hi[axis] - domains[level - 1].lo[axis];
      const std::int64_t fine = domains[level].hi[axis] - domains[level].lo[axis];
      ratio[axis] = fine / coarse;
      if (fine % coarse != 0 || ratio[axis] < 1) throw text.error("domains of two levels that do not nest");
      if (ratio[axis] != ratio[0])
        throw Error(Kind::unsupported, "a refinement ratio that differs between axes: " +
                                           mesh::describe_extent(ratio, static_cast<int>(axis) + 1))
            .at(text.path().string());
    }
    if (ratio[0] < 2) throw text.error("a refinement ratio below 2");
    ratios.push_back(static_cast<int>(ratio[0]));
  }
  return ratios;
}

bool is_plotfile_header(Text& text) {
  const std::size_t here = text.position();
  const bool checkpoint = lower(text.line()).find("checkpoint") != std::string::npos;
  const std::string components = text.line();
  bool found = !checkpoint && is_number(components);
  if (found) {
    for (std::int64_t i = std::stoll(components); i > 0 && text.left() != 0; --i) text.line();
    const std::string dim = text.line();
    found = dim.size() == 1 && dim[0] >= '1' && dim[0] <= '3';
  }
  text.seek(here);
  return found;
}

void open_plotfile(Text& text, AmrexOutput& output) {
  mesh::Header& header = output.header;
  header.attributes["version"] = text.name();
  const auto names = read_field_names(text);
  header.dim = static_cast<int>(text.integer());
  if (header.dim < 1 || header.dim > 3) throw text.error("dimensions: expected 1 to 3");
  header.time = text.real();
  const std::int64_t finest = text.integer(most_plotfile_levels);
  if (finest < 0) throw text.error("a negative number of levels");
  const auto levels = static_cast<std::size_t>(finest) + 1;
  read_geometry(text, header, header.dim);
  for (std::size_t level = 1; level < levels; ++level) text.integer();  // ratios: of the first axis only
  output.patches.dim = header.dim;
  output.patches.domain = read_domains(text, levels, header.dim);
  output.patches.ratio = ratios_of(output.patches.domain, header.dim, text);
  std::vector<std::int64_t> steps;
  for (std::size_t level = 0; level < levels; ++level) steps.push_back(text.integer());
  for (std::size_t i = 0; i < levels * static_cast<std::size_t>(header.dim); ++i) text.real();  // cell sizes
  const std::int64_t coordinates = text.integer();
  text.integer();  // width of a boundary, always 0
  for (std::size_t level = 0; level < levels; ++level)
    open_level(output, read_level(text, level, header.dim), names.size(), text);
  header.attributes["step"] = steps[0];
  header.attributes["level_steps"] = steps;
  add_plotfile_facts(output, coordinates, names);
}

void add_plotfile_facts(AmrexOutput& output, std::int64_t coordinates, const std::vector<std::string>& names) {
  output.header.attributes["coordinate_system"] = coordinates;
  if (std::string note = mesh::note_on_shape(output.header); !note.empty()) output.notes.push_back(std::move(note));
  output.notes.push_back("a plotfile does not say which axes are periodic: none is taken to be");
  add_fields(output, names);
}

}  // namespace octavo::formats::amrex
