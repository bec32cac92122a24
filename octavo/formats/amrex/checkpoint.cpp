#include <algorithm>
#include <optional>
#include <utility>

#include "octavo/formats/amrex/headers.hpp"
#include "octavo/formats/amrex/step_file.hpp"
#include "octavo/mesh/boxes.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/sides.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;

constexpr std::size_t most_levels = 64;

/// "(coordinates (offset)(cell size) 1)", "(RealBox lo hi ... )", the box of the domain, "P(1,1)".
struct Geometry {
  std::int64_t coordinates = 0;
  mesh::Point3 lo{0, 0, 0}, hi{1, 1, 1};
  TypedBox domain;
  std::array<bool, 3> periodic{false, false, false};
};

void skip_reals(Text& text, int dim) {
  text.expect("(");
  for (int axis = 0; axis < dim; ++axis) {
    if (axis != 0) text.expect(",");
    text.real();
  }
  text.expect(")");
}

Geometry read_geometry(Text& text, int dim) {
  Geometry geometry;
  text.expect("(");
  geometry.coordinates = text.integer();
  skip_reals(text, dim);
  skip_reals(text, dim);
  text.integer();
  text.expect(")");
  text.expect("(RealBox");
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    geometry.lo[axis] = text.real();
    geometry.hi[axis] = text.real();
    if (!(geometry.lo[axis] < geometry.hi[axis]))
      throw text.error("a domain whose upper corner is not above its lower");
  }
  text.expect(")");
  geometry.domain = text.box();
  if (geometry.domain.dim != dim) throw text.error("a domain of another dimension");
  text.expect("P");
  const auto periodic = text.tuple();
  for (std::size_t axis = 0; axis < periodic.size(); ++axis) geometry.periodic[axis] = periodic[axis] != 0;
  return geometry;
}

/// Skips the text that an application appended to the entry of a level. The next entry is its number on a line, and a
/// geometry.
void find_level(Text& text, std::size_t level) {
  while (!text.at_end()) {
    const std::size_t here = text.position();
    if (text.line() == std::to_string(level) && text.follows("(")) {
      text.seek(here);
      return;
    }
  }
  throw text.error("expected the entry of level " + std::to_string(level));
}

/// The entry of one level; returns the names of its MultiFabs.
std::vector<std::string> read_level(Text& text, AmrexOutput& output, std::size_t level) {
  find_level(text, level);
  text.integer();
  read_geometry(text, output.header.dim);
  const BoxArray boxes = text.box_array();
  if (!boxes.boxes.empty() && boxes.dim != output.header.dim) throw text.error("boxes of another dimension");
  output.patches.boxes.push_back(boxes.boxes);
  const std::size_t states = text.count(4);
  std::vector<std::string> names;
  for (std::size_t state = 0; state < states; ++state) {
    text.box();
    text.box_array();
    for (int i = 0; i < 4; ++i) text.real();  // times between which its two sets stand
    const std::size_t sets = text.count(4);
    for (std::size_t set = 0; set < sets; ++set) {
      const fs::path path(text.word());
      path_below(output.path, path.string(), text);
      if (path.parent_path() != level_name(level))
        throw text.error("a MultiFab of level " + std::to_string(level) + " in " + path.string());
      names.push_back(path.filename().string());
    }
  }
  return names;
}

/// Names with which a level's folder has MultiFabs, sorted.
std::vector<std::string> list_multifabs(const fs::path& level) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(level)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 2 && name.ends_with("_H") && name != "Particle_H")
      names.push_back(name.substr(0, name.size() - 2));
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// The lists of boxes that a hand-written header holds from here on, in their order, and whether there is nothing else.
std::pair<std::vector<BoxArray>, bool> find_box_arrays(Text& text) {
  std::vector<BoxArray> found;
  bool all = true;
  while (!text.at_end()) {
    const std::size_t here = text.position();
    try {
      found.push_back(text.box_array());
    } catch (const Error&) {
      all = false;
      text.seek(here);
      text.line();
    }
  }
  return {std::move(found), all};
}

bool lies_in(const IndexBox& box, const IndexBox& domain, int dim) {
  return mesh::intersection(box, domain, dim) == mesh::flat(box, dim);
}

bool is_within_32_bits(const IndexBox& box, int dim) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis)
    if (box.lo[axis] < INT32_MIN || box.hi[axis] > INT32_MAX) return false;
  return true;
}

/// Level 0 covers its domain; the others' domains follow from the ratios.
void infer_domains(AmrexOutput& output, const std::vector<int>& ratios, const Text& text) {
  mesh::Patches& patches = output.patches;
  const int dim = output.header.dim;
  patches.domain = {mesh::flat(mesh::around(patches.boxes[0]), dim)};
  for (std::size_t level = 1; level < patches.boxes.size(); ++level) {
    const bool given = level - 1 < ratios.size();
    int ratio = given ? ratios[level - 1] : 2;
    const auto fits = [&] {
      return patches.boxes[level].empty() ||
             lies_in(mesh::around(patches.boxes[level]), mesh::refined_box(patches.domain.back(), ratio, dim), dim);
    };
    if (!given && !fits()) ratio = 4;
    if (ratio < 2 || !fits())
      throw Error(Kind::corrupt, "boxes of level " + std::to_string(level) + " reach out of the domain, refined by " +
                                     std::to_string(ratio))
          .at(text.path().string());
    if (level > most_levels || !is_within_32_bits(mesh::refined_box(patches.domain.back(), ratio, dim), dim))
      throw text.error("more levels than integer positions can reach");
    patches.ratio.push_back(ratio);
    patches.domain.push_back(mesh::refined_box(patches.domain.back(), ratio, dim));
  }
}

/// The numbers on a line, all of it.
template <class T, class Read>
std::vector<T> numbers_of_line(Text& text, Read&& read) {
  Text line(text.line(), text.path());
  std::vector<T> numbers;
  while (!line.at_end()) numbers.push_back(read(line));
  return numbers;
}

/// The widespread form: title, finest level, then steps, time steps and times of the levels, maybe also of those that
/// the code would allow beyond the finest. Nothing else is known of such a header, so all must fit.
bool read_common_form(Text& text, AmrexOutput& output, std::size_t levels) {
  const std::size_t here = text.position();
  try {
    text.line();
    if (text.integer() + 1 != static_cast<std::int64_t>(levels)) return false;
    text.end_line();
    const auto steps = numbers_of_line<std::int64_t>(text, [](Text& line) { return line.integer(); });
    const auto dt = numbers_of_line<double>(text, [](Text& line) { return line.real(); });
    const auto times = numbers_of_line<double>(text, [](Text& line) { return line.real(); });
    if (steps.size() < levels || steps.size() > most_levels || dt.size() != steps.size() ||
        times.size() != steps.size() || !text.follows("("))
      throw text.error("expected steps, time steps and times of the levels, then boxes");
    output.header.time = times[0];
    output.header.attributes["step"] = steps[0];
    output.header.attributes["level_steps"] = steps;
    output.header.attributes["level_dt"] = dt;
    return true;
  } catch (const Error&) {
    text.seek(here);
    return false;
  }
}

/// Whether the boxes of all levels are all that follows in the Header.
bool check_against_header(Text& text, const AmrexOutput& output) {
  const auto [arrays, all] = find_box_arrays(text);
  const auto& levels = output.patches.boxes;
  if (arrays.size() > levels.size())
    throw Error(Kind::corrupt, "the Header has boxes of " + std::to_string(arrays.size()) + " levels, but there are " +
                                   std::to_string(levels.size()) + " with data")
        .at(output.path.string());
  for (std::size_t level = 0; level < arrays.size(); ++level)
    if (arrays[level].boxes != levels[level])
      throw Error(Kind::corrupt, "Header and data disagree on the boxes of level " + std::to_string(level))
          .at(output.path.string());
  return all && arrays.size() == levels.size();
}

/// As asked for, else as the file beside the Header says.
void set_corners(AmrexOutput& output, const HeaderFacts& options, bool known) {
  mesh::Header& header = output.header;
  if (options.lo) header.lo = *options.lo;
  if (options.hi) header.hi = *options.hi;
  if (known || (options.lo && options.hi)) return;
  header.attributes["amrex/corners"] = std::string("assumed");
  output.notes.push_back("a hand-written Header does not say where the domain lies: corners 0 and 1 are taken");
}

/// Cells, faces or nodes; of edges there is no field.
std::optional<mesh::Centring> centring_if_known(const BoxArray& boxes) {
  try {
    return centring_of(boxes);
  } catch (const Error&) {
    return {};
  }
}

/// The boxes of cells whose faces or nodes these are.
std::vector<IndexBox> enclosed_cells(const BoxArray& boxes) {
  std::vector<IndexBox> cells = boxes.boxes;
  for (IndexBox& box : cells)
    for (std::size_t axis = 0; axis < 3; ++axis) box.hi[axis] -= boxes.nodal[axis];
  return cells;
}

bool is_on_all_levels(const AmrexOutput& output, const std::vector<std::vector<MultiFab>>& opened, std::size_t which) {
  const MultiFab& first = opened[0][which];
  if (!centring_if_known(first.boxes)) return false;
  for (std::size_t level = 0; level < opened.size(); ++level) {
    const MultiFab& multifab = opened[level][which];
    const bool other_type = !multifab.boxes.boxes.empty() && multifab.boxes.nodal != first.boxes.nodal;
    if (enclosed_cells(multifab.boxes) != output.patches.boxes[level] || other_type ||
        multifab.components != first.components)
      return false;
  }
  return true;
}

/// One field a component, or one a side of the cells for each: they are read where the output's boxes are.
void add_component(AmrexOutput& output, const std::string& name, mesh::ScalarType type, const MultiFab& multifab,
                   FieldSource source) {
  const mesh::Centring centring = centring_of(multifab.boxes);
  mesh::FieldInfo info{name, "", type, centring, 1, 0};
  if (centring == mesh::Centring::cell) {
    output.header.fields.push_back(info);
    output.sources.push_back(source);
    return;
  }
  for (unsigned high = 0; high < 1U << output.patches.dim; ++high) {
    bool stands = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      source.side[axis] = high >> axis & 1;
      stands = stands && source.side[axis] <= multifab.boxes.nodal[axis];
    }
    if (!stands) continue;
    info.name = mesh::name_of_side(name, centring, high);
    output.header.fields.push_back(info);
    output.sources.push_back(source);
  }
}

void add_fields(AmrexOutput& output, const std::vector<std::vector<MultiFab>>& opened, std::size_t which,
                const std::vector<std::string>* names) {
  const std::string name = opened[0][which].prefix.filename().string();
  const std::size_t place = output.multifabs[0].size();
  mesh::ScalarType type = mesh::ScalarType::float32;
  for (std::size_t level = 0; level < opened.size(); ++level) {
    const MultiFab& multifab = opened[level][which];
    if (!multifab.places.empty() && multifab.format.type == mesh::ScalarType::float64) type = mesh::ScalarType::float64;
    output.multifabs[level].push_back(multifab);
  }
  const int components = opened[0][which].components;
  if (names != nullptr && std::ssize(*names) != components)
    throw Error(Kind::corrupt, "names of components: expected " + std::to_string(components) + ", found " +
                                   std::to_string(names->size()))
        .at("MultiFab " + name)
        .at(output.path.string());
  for (int c = 0; c < components; ++c)
    add_component(output,
                  names != nullptr ? (*names)[static_cast<std::size_t>(c)] : plain_component_name(name, c, components),
                  type, opened[0][which], {place, c});
}

/// The first ones, as a list.
std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text + (names.size() > most ? " ..." : "");
}

bool has_ghost_cells(const AmrexOutput& output) {
  for (const auto& level : output.multifabs)
    for (const MultiFab& multifab : level)
      if (multifab.ghost != mesh::Index3{0, 0, 0}) return true;
  return false;
}

/// MultiFabs that all levels have; those of some levels only are others: a level that was made in the last step has no
/// old values.
std::vector<std::string> on_all_levels(const std::vector<std::vector<std::string>>& levels,
                                       std::vector<std::string>& others) {
  std::vector<std::string> names;
  for (std::size_t level = 0; level < levels.size(); ++level)
    for (const std::string& name : levels[level]) {
      const bool everywhere = std::all_of(levels.begin(), levels.end(), [&](const auto& other) {
        return std::find(other.begin(), other.end(), name) != other.end();
      });
      if (!everywhere) others.push_back(level_name(level) + "/" + name);
      if (everywhere && level == 0) names.push_back(name);
    }
  return names;
}

}  // namespace

void add_multifabs(AmrexOutput& output, const std::vector<std::string>& names) {
  const std::size_t levels = output.patches.boxes.size();
  std::vector<std::vector<MultiFab>> opened(levels);
  for (std::size_t level = 0; level < levels; ++level)
    for (const std::string& name : names)
      opened[level].push_back(open_multifab(output.path / level_name(level) / name));
  output.multifabs.resize(levels);
  const auto known_names = read_component_names(output.path);
  const auto names_of = [&](const std::string& multifab) {
    const auto found = known_names.find(multifab);
    return found == known_names.end() ? nullptr : &found->second;
  };
  // Fields of cells come first.
  for (const bool cells : {true, false})
    for (std::size_t which = 0; which < names.size(); ++which) {
      const bool known = is_on_all_levels(output, opened, which);
      if (known && cells == (opened[0][which].boxes.nodal == mesh::Index3{0, 0, 0}))
        add_fields(output, opened, which, names_of(names[which]));
      if (known || cells) continue;
      for (std::size_t level = 0; level < levels; ++level)
        output.others.push_back(level_name(level) + "/" + names[which]);
    }
  if (known_names.empty())
    output.notes.push_back("checkpoints do not name the components: fields are called after their MultiFab and number");
  if (!output.others.empty())
    output.notes.push_back("values on edges, on other boxes or of some levels only are not among the fields: " +
                           std::to_string(output.others.size()) + " MultiFabs: " + listed(output.others));
  if (has_ghost_cells(output)) output.notes.emplace_back("values of ghost cells are not among the fields");
}

void open_amr_level(Text& text, AmrexOutput& output) {
  mesh::Header& header = output.header;
  header.attributes["version"] = text.name();
  header.dim = output.patches.dim = static_cast<int>(text.integer());
  if (header.dim < 1 || header.dim > 3) throw text.error("dimensions: expected 1 to 3");
  header.time = text.real();
  const std::int64_t highest = text.integer(most_levels), finest = text.integer(most_levels);
  if (finest < 0 || highest < finest) throw text.error("expected levels from 0 to at most the highest allowed");
  const auto allowed = static_cast<std::size_t>(highest) + 1, levels = static_cast<std::size_t>(finest) + 1;
  for (std::size_t level = 0; level < allowed; ++level) {
    const Geometry geometry = read_geometry(text, header.dim);
    if (level < levels) output.patches.domain.push_back(geometry.domain.cells);
    if (level != 0) continue;
    header.lo = geometry.lo;
    header.hi = geometry.hi;
    header.periodic = geometry.periodic;
    header.attributes["coordinate_system"] = geometry.coordinates;
    if (std::string note = mesh::note_on_shape(output.header); !note.empty()) output.notes.push_back(std::move(note));
  }
  for (std::size_t level = 1; level < allowed; ++level) text.tuple();  // ratios: the domains have them too
  std::vector<double> dt;
  for (std::size_t i = 0; i < allowed; ++i) dt.push_back(text.real());
  for (std::size_t i = 0; i < allowed; ++i) text.real();  // the smallest time steps
  dt.resize(levels);
  header.attributes["level_dt"] = std::move(dt);
  std::vector<std::int64_t> steps;
  for (std::size_t i = 0; i < 3 * allowed; ++i) steps.push_back(text.integer());  // cycles, steps, counts
  header.attributes["step"] = steps[allowed];
  header.attributes["level_steps"] =
      std::vector<std::int64_t>(steps.begin() + static_cast<std::ptrdiff_t>(allowed),
                                steps.begin() + static_cast<std::ptrdiff_t>(allowed + levels));
  output.patches.ratio = ratios_of(output.patches.domain, header.dim, text);
  text.end_line();
  std::vector<std::vector<std::string>> found;
  for (std::size_t level = 0; level < levels; ++level) found.push_back(read_level(text, output, level));
  add_multifabs(output, on_all_levels(found, output.others));
}

void open_hand_written(Text& text, AmrexOutput& output, const HeaderFacts& options) {
  mesh::Header& header = output.header;
  std::vector<std::vector<std::string>> found;
  // Folders of levels that the code would allow may be there without anything in them.
  while (fs::is_directory(output.path / level_name(found.size()))) {
    found.push_back(list_multifabs(output.path / level_name(found.size())));
    if (!found.back().empty()) continue;
    found.pop_back();
    break;
  }
  const std::vector<std::string> names = on_all_levels(found, output.others);
  if (names.empty()) throw text.error("expected a MultiFab that all levels have, found none").at(output.path.string());
  // The first cell-centred one gives the boxes.
  for (const std::string& name : names) {
    if (open_multifab(output.path / "Level_0" / name).boxes.nodal != mesh::Index3{0, 0, 0}) continue;
    for (std::size_t level = 0; level < found.size(); ++level) {
      const MultiFab multifab = open_multifab(output.path / level_name(level) / name);
      output.patches.boxes.push_back(multifab.boxes.boxes);
      if (level == 0) header.dim = output.patches.dim = multifab.boxes.dim;
    }
    break;
  }
  if (output.patches.boxes.empty() || output.patches.boxes[0].empty())
    throw Error(Kind::unsupported, "a checkpoint without cell-centred values").at(output.path.string());
  header.attributes["version"] = Text(text).name();
  const bool known = read_common_form(text, output, found.size());
  if (!known) output.notes.push_back("the Header is the application's own and of no known form: the time is not read");
  output.common_form = check_against_header(text, output) && known;
  const auto step = read_step_file(output.path, header);
  std::vector<int> ratio = options.ratio;
  if (ratio.empty() && step) ratio = *step;
  infer_domains(output, ratio, text);
  set_corners(output, options, step.has_value());
  if (found.size() > 1 && ratio.empty())
    output.notes.push_back("a hand-written Header does not say the refinement ratios: the smallest that fit are taken");
  add_multifabs(output, names);
}

}  // namespace octavo::formats::amrex
