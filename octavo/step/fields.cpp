#include "octavo/step/fields.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/expression.hpp"
#include "octavo/mesh/formula_units.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/solids/centroids.hpp"
#include "octavo/mesh/triangles/cells.hpp"
#include "octavo/mesh/units.hpp"
#include "octavo/step/field_library.hpp"
#include "octavo/step/gradients.hpp"
#include "octavo/step/open.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::FieldInfo;
using mesh::Header;

// ------------------------------------------------------------------------------------------------ constants

std::optional<double> constant_named(const Header& header, const std::string& name) {
  const std::array<std::pair<std::string_view, double>, 11> constants{
      {{"pi", std::numbers::pi},
       {"nan", std::numeric_limits<double>::quiet_NaN()},
       {"k_B", 1.380649e-16},       // [erg/K], exact
       {"m_H", 1.6735328e-24},      // [g], a hydrogen atom
       {"G_N", 6.6743e-8},          // [cm^3/g/s^2], CODATA 2018
       {"c_light", 2.99792458e10},  // [cm/s], exact
       {"time", header.time},
       {"unit_length", header.unit_length},
       {"unit_density", header.unit_density},
       {"unit_time", header.unit_time},
       {"unit_velocity", header.unit_length / header.unit_time}}};
  for (const auto& [known, value] : constants)
    if (known == name) return value;
  if (name != "gamma") return {};
  for (const auto& [known, value] : header.attributes)
    if (known == "gamma" || known.ends_with("/gamma"))
      if (const auto* number = std::get_if<double>(&value)) return *number;
  return {};
}

/// The unit of a constant: those in cgs have one, and one code unit in cgs is a ratio of two.
mesh::ValueUnit unit_of_constant(const mesh::Dataset& dataset, const std::string& name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> units{
      {{"k_B", "g cm2 s^-2 K^-1"},
       {"m_H", "g"},
       {"G_N", "cm3 g^-1 s^-2"},
       {"c_light", "cm/s"},
       {"time", "code_time"},
       {"unit_length", "cm/code_length"},
       {"unit_density", "g cm^-3/code_density"},
       {"unit_time", "s/code_time"},
       {"unit_velocity", "cm s^-1 code_time/code_length"}}};
  for (const auto& [known, unit] : units) {
    if (known != name) continue;
    const bool unknown = name.starts_with("unit_") && std::isnan(formats::code_units(dataset).length);
    return unknown ? mesh::ValueUnit{} : mesh::ValueUnit{mesh::parse_unit(unit), false, false};
  }
  return mesh::plain_number();
}

// ------------------------------------------------------------------------------------------------ what names mean

bool stores(const Header& header, const std::string& name) {
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [&](const FieldInfo& field) { return field.name == name; });
}

const FieldInfo& info_named(const Header& header, const std::string& name) {
  return *std::find_if(header.fields.begin(), header.fields.end(),
                       [&](const FieldInfo& field) { return field.name == name; });
}

/// A property of cells, by the name that geometry.hpp has for it.
std::optional<std::string> property_named(const mesh::Dataset& dataset, const std::string& name) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dataset.header.dim); ++axis)
    if (name == std::string(1, "xyz"[axis]) &&
        (axis < 2 || !dataset.unstructured || mesh::holds_solids(dataset.header)))
      return name;
  if (dataset.unstructured) return {};
  if (name == "volume") return "cell_volume";
  if (name == "dx" || name == "level" || name == "cell_volume") return name;
  return {};
}

/// A column with the slope of a formula along an axis.
struct SlopeColumn {
  std::string name;
  mesh::Term of;
  std::size_t axis = 0;
};

/// Finds the meaning of names in one data set.
class NameFinder {
 public:
  NameFinder(const mesh::Dataset& dataset, const Definitions& own) : dataset_(dataset), own_(own) {}

  std::optional<mesh::Meaning> find(const std::string& name) const {
    const Header& header = dataset_.header;
    if (stores(header, name) || slope_named(name)) return mesh::Column{name};
    if (const auto property = property_named(dataset_, name)) return mesh::Column{*property};
    for (const Definition& definition : own_)
      if (definition.name == name) return parsed(definition.name, definition.formula);
    if (const auto meant = formats::field_meant(header, name)) return mesh::Column{*meant};
    if (const auto field = library_field(dataset_, name)) return parsed(name, field->formula);
    if (const auto constant = constant_named(header, name)) return *constant;
    return {};
  }

  bool has(const std::string& name) const {
    const auto defines = [&](const Definition& definition) { return definition.name == name; };
    const Header& header = dataset_.header;
    return stores(header, name) || slope_named(name) || property_named(dataset_, name) ||
           std::any_of(own_.begin(), own_.end(), defines) || formats::field_meant(header, name) ||
           library_field(dataset_, name) || constant_named(header, name);
  }

  /// Near matches are looked for among all that a name may stand for.
  Error unknown(const std::string& name) const {
    if (const std::string now = renamed_field(name); !now.empty() && library_field(dataset_, now))
      return Error(Kind::usage, "unknown field \"" + name + "\": an amount per volume is named " + now)
          .hint(now + ", or of each cell " + now + "*volume");
    if (const std::string why = lacking_fields(dataset_, name); !why.empty())
      return Error(Kind::usage, "unknown field \"" + name + "\": " + why).at(dataset_.path);
    Header all = dataset_.header;
    const auto add = [&](std::string_view known) {
      FieldInfo info;
      info.name = std::string(known);
      if (!stores(all, info.name)) all.fields.push_back(std::move(info));
    };
    for (const Definition& definition : own_) add(definition.name);
    for (const LibraryField& field : library_fields(dataset_)) add(field.name);
    for (const char* common : {"density", "pressure", "temperature", "velocity_x", "velocity_y", "velocity_z",
                               "water_depth", "free_surface", "bottom"})
      if (formats::field_meant(dataset_.header, common)) add(common);
    for (const char* property : {"cell_volume", "level"})
      if (!dataset_.unstructured) add(property);
    try {
      mesh::select_fields(all, std::vector{name});
    } catch (const Error& error) {
      return missing(name) ? error_about(name) : error;
    }
    return Error(Kind::usage, "unknown field \"" + name + "\"");
  }

  /// A number with a unit is computed in code units.
  double size_of(const std::string& unit) const {
    return mesh::size_in_code_units(mesh::parse_unit(unit), formats::code_units(dataset_));
  }
  mesh::ValueUnit unit_of(const std::string& name) const {
    const auto meaning = find(name);
    if (std::holds_alternative<double>(*meaning)) return unit_of_constant(dataset_, name);
    const std::string& column = std::get<mesh::Column>(*meaning).name;
    if (const SlopeColumn* slope = slope_named(column)) return unit_of_slope(*slope);
    const std::string unit = unit_text(column);
    try {
      if (!unit.empty()) return {mesh::parse_unit(unit), false, false};
    } catch (const Error&) {  // a word of the file's own
    }
    const bool counts = column == "level" && !stores(dataset_.header, column);
    return counts ? mesh::ValueUnit{mesh::UnitWords{}, false, false} : mesh::ValueUnit{};
  }
  std::string unit_text(const std::string& column) const {
    if (stores(dataset_.header, column)) return info_named(dataset_.header, column).unit;
    if (dataset_.unstructured) return std::isnan(formats::code_units(dataset_).length) ? "" : "code_length";
    return mesh::geometry_unit(dataset_.header, column);
  }

  mesh::Vocabulary vocabulary() const {
    return {[this](const std::string& word) { return find(word); },
            [this](const std::string& word) { return unknown(word); },
            [this](const std::string& unit) { return size_of(unit); }};
  }
  std::optional<mesh::UnitWords> unit_of_formula(const mesh::Term& formula) const {
    const mesh::Vocabulary words = vocabulary();
    return mesh::unit_of(formula, {words, [this](const std::string& word) { return unit_of(word); },
                                   formats::code_units(dataset_), dataset_.path});
  }
  /// A formula in which slopes are columns.
  mesh::Term read(const std::string& formula) const {
    const auto column = [this](const mesh::Term& of, std::size_t axis) {
      const std::string name = "d(" + mesh::to_string(of) + ")/d" + "xyz"[axis];
      if (slope_named(name) == nullptr) slopes_.push_back({name, of, axis});
      return name;
    };
    const auto known = [this](const std::string& name) { return has(name); };
    return without_gradients(mesh::parse_formula(formula), {dataset_.header.dim, known, column});
  }
  /// The slope of that column; null for another.
  const SlopeColumn* slope_named(const std::string& name) const {
    const auto found =
        std::find_if(slopes_.begin(), slopes_.end(), [&](const SlopeColumn& slope) { return slope.name == name; });
    return found == slopes_.end() ? nullptr : &*found;
  }

 private:
  /// Not known for a slope of a slope, which is refused later and may lead back to itself.
  mesh::ValueUnit unit_of_slope(const SlopeColumn& slope) const {
    const std::vector<std::string> inputs = mesh::compile(slope.of, vocabulary()).inputs;
    const auto is_slope = [this](const std::string& input) { return slope_named(input) != nullptr; };
    if (std::any_of(inputs.begin(), inputs.end(), is_slope)) return {};
    const auto unit = unit_of_formula(slope.of);
    const std::string length = unit_text("x");
    if (!unit || length.empty()) return {};
    return {mesh::product(*unit, mesh::parse_unit(length), -1), false, false};
  }
  static bool missing(const std::string& name) { return name == "gamma" || name == "mu"; }
  static Error error_about(const std::string& name) {
    const bool gamma = name == "gamma";
    return Error(Kind::usage, gamma ? "the step does not say gamma, the ratio of specific heats"
                                    : "mu, the mean mass of a particle in hydrogen masses, is not defined")
        .hint(gamma ? "--define gamma=1.4" : "--define mu=0.6");
  }
  mesh::Term parsed(const std::string& name, const std::string& formula) const {
    try {
      return read(formula);
    } catch (Error& error) {
      throw error.at("definition of " + name);
    }
  }

  const mesh::Dataset& dataset_;
  const Definitions& own_;
  // A deque: pointers to columns stay valid while formulas add more.
  mutable std::deque<SlopeColumn> slopes_;  ///< that formulas asked for
};

/// A field to be made.
struct MadeField {
  FieldInfo info;
  mesh::Program program;
};

/// The formula that a name stands for: a name alone is itself, even if it is no word of the grammar.
mesh::Term formula_of(const NameFinder& names, const std::string& name) {
  if (names.find(name)) return {mesh::Term::Kind::name, 0, name, {}};
  mesh::Term formula = names.read(name);
  if (mesh::is_plain_name(formula) && !names.find(formula.text)) throw names.unknown(formula.text);
  return formula;
}

/// A lone column keeps its unit as the file writes it; else the unit follows from the formula.
FieldInfo info_of_made(const NameFinder& names, const std::string& name, const mesh::Term& formula) {
  FieldInfo info;
  info.name = name;
  const auto meaning = names.find(name);
  if (meaning && std::holds_alternative<mesh::Column>(*meaning)) {
    info.unit = names.unit_text(std::get<mesh::Column>(*meaning).name);
    return info;
  }
  if (const auto unit = names.unit_of_formula(formula)) info.unit = mesh::to_string(*unit);
  return info;
}

/// On triangles and solids: where the values stand that a formula makes of its inputs. Places are those of the other
/// inputs.
mesh::Centring centring_of(const Header& header, const std::string& name, const std::vector<std::string>& inputs) {
  std::string at_point, in_cell;
  for (const std::string& input : inputs)
    if (stores(header, input)) (mesh::in_cells(header, info_named(header, input)) ? in_cell : at_point) = input;
  if (in_cell.empty()) return mesh::Centring::node;
  if (at_point.empty()) return mesh::Centring::cell;
  throw Error(Kind::unsupported, "a formula cannot join values at points and in cells: " + at_point + " and " + in_cell)
      .at("field " + name);
}

void check_made(const mesh::Dataset& dataset, MadeField& made) {
  for (const std::string& input : made.program.inputs)
    if (stores(dataset.header, input)) {
      const FieldInfo& info = info_named(dataset.header, input);
      if (info.components != 1 || info.ghost != 0)
        throw Error(Kind::unsupported, "a formula takes fields with one value a place").at("field " + input);
    }
  if (dataset.unstructured) made.info.centring = centring_of(dataset.header, made.info.name, made.program.inputs);
}

MadeField make(const mesh::Dataset& dataset, const NameFinder& names, const std::string& name) {
  MadeField made;
  mesh::Term formula;
  try {
    formula = formula_of(names, name);
  } catch (const Error&) {
    // A name with a blank or a slash is hardly a formula.
    if (name.find_first_of("()*^<>=&|+\"`") == std::string::npos) throw names.unknown(name);
    throw;
  }
  made.program = mesh::compile(formula, names.vocabulary());
  made.info = info_of_made(names, name, formula);
  check_made(dataset, made);
  return made;
}

constexpr const char* values_of = "values of ";
/// The field that a slope is of.
MadeField make_for_slope(const mesh::Dataset& dataset, const NameFinder& names, const SlopeColumn& slope) {
  MadeField made;
  made.info.name = values_of + mesh::to_string(slope.of);
  made.program = mesh::compile(slope.of, names.vocabulary());
  for (const std::string& input : made.program.inputs)
    if (names.slope_named(input) != nullptr) throw Error(Kind::unsupported, "a slope of a slope: " + slope.name);
  check_made(dataset, made);
  return made;
}

void refuse_taken_names(const mesh::Dataset& dataset, const Definitions& own) {
  for (const Definition& definition : own)
    if (stores(dataset.header, definition.name) || property_named(dataset, definition.name))
      throw Error(Kind::usage, "there is a field \"" + definition.name + "\" already")
          .hint("give the definition another name");
}

// ------------------------------------------------------------------------------------------------ reading

/// The centroids of cells along an axis.
std::vector<double> places_of_cells(const mesh::Part& part, const std::string& axis) {
  if (const auto* solids = std::get_if<mesh::Solids>(&part.mesh)) {
    std::vector<double> all;
    for (const mesh::Point3& centre : mesh::centroids_of(*solids))
      all.push_back(centre[static_cast<std::size_t>(axis[0] - 'x')]);
    return all;
  }
  mesh::CellAreas cells = mesh::areas_of_cells(std::get<mesh::Unstructured>(part.mesh));
  return axis == "x" ? std::move(cells.x) : std::move(cells.y);
}

/// Places of the points of solids, or of triangles plane after plane.
std::vector<double> places_of_points(const mesh::Part& part, const std::string& axis, std::size_t count) {
  if (const auto* solids = std::get_if<mesh::Solids>(&part.mesh))
    return axis == "x" ? solids->x : axis == "y" ? solids->y : solids->z;
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const std::vector<double>& of_plane = axis == "x" ? mesh.x : mesh.y;
  std::vector<double> all(count);
  for (std::size_t i = 0; i < count && !of_plane.empty(); ++i) all[i] = of_plane[i % of_plane.size()];
  return all;
}

std::size_t values_of_part(const mesh::Part& part) {
  if (const auto* tree = std::get_if<mesh::Octree>(&part.mesh)) return mesh::num_cells(*tree) * mesh::block_size(*tree);
  if (const auto* points = std::get_if<mesh::Unstructured>(&part.mesh))
    return points->x.size() * static_cast<std::size_t>(std::max(1, points->planes));
  if (const auto* solids = std::get_if<mesh::Solids>(&part.mesh)) return solids->x.size();
  throw Error(Kind::unsupported, "formulas are evaluated on cells of a tree or points of triangles and solids");
}

/// The number of cells of triangles or solids.
std::size_t cells_of_part(const mesh::Part& part) {
  if (const auto* solids = std::get_if<mesh::Solids>(&part.mesh)) return solids->corners.size();
  return mesh::first_triangles(std::get<mesh::Unstructured>(part.mesh).connectivity).size() - 1;
}

/// Columns by name, as doubles.
class Columns {
 public:
  Columns(const mesh::Part& part, std::size_t count) : part_(part), count_(count) {}
  bool in_cells(const MadeField& made) const {
    return made.info.centring == mesh::Centring::cell && !std::holds_alternative<mesh::Octree>(part_.mesh);
  }
  /// How many values a formula of these inputs makes.
  std::size_t count_of(const MadeField& made) const {
    if (!in_cells(made)) return count_;
    for (const mesh::Field& field : part_.fields)
      if (std::find(made.program.inputs.begin(), made.program.inputs.end(), field.info.name) !=
          made.program.inputs.end())
        return field.size();
    return cells_of_part(part_);
  }
  std::span<const double> operator()(const std::string& name, std::size_t count, bool in_cells) {
    for (const MadeColumn& known : made_)
      if (known.name == name && known.in_cells == in_cells) return known.values;
    for (const mesh::Field& field : part_.fields) {
      if (field.info.name != name) continue;
      if (field.size() != count)
        throw Error(Kind::unsupported, "a formula takes fields with one value a cell").at("field " + name);
      if (field.info.type == mesh::ScalarType::float64) return field.as<double>();
      return add({name, in_cells, mesh::to_doubles(field)});
    }
    return add({name, in_cells, in_cells ? places_of_cells(part_, name) : places_of_points(part_, name, count)});
  }

 private:
  struct MadeColumn {
    std::string name;
    bool in_cells = false;
    std::vector<double> values;
  };
  std::span<const double> add(MadeColumn column) { return made_.emplace_back(std::move(column)).values; }

  const mesh::Part& part_;
  std::size_t count_;
  std::vector<MadeColumn> made_;
};

mesh::Field computed(const MadeField& made, Columns& columns) {
  const std::size_t count = columns.count_of(made);
  mesh::Field field = mesh::make_field(made.info, count);
  std::vector<std::span<const double>> inputs;
  const bool in_cells = columns.in_cells(made);
  for (const std::string& input : made.program.inputs) inputs.push_back(columns(input, count, in_cells));
  mesh::evaluate(made.program, inputs, field.as<double>());
  return field;
}

bool asks_for(const mesh::Request& request, const std::string& name) {
  return !request.fields || std::find(request.fields->begin(), request.fields->end(), name) != request.fields->end();
}

/// The request of stored fields that the made ones among `request` follow from. `of_mesh`: inputs that are places of
/// the mesh.
mesh::Request stored_request(const mesh::Request& request, const std::vector<MadeField>& made,
                             const std::vector<std::string>& of_mesh) {
  if (!request.fields) return request;
  mesh::Request stored = request;
  for (const MadeField& field : made) {
    if (!asks_for(request, field.info.name)) continue;
    std::erase(*stored.fields, field.info.name);
    for (const std::string& input : field.program.inputs) {
      if (std::find(of_mesh.begin(), of_mesh.end(), input) != of_mesh.end()) {
        stored.mesh = true;
        continue;
      }
      if (!asks_for(stored, input)) stored.fields->push_back(input);
    }
  }
  return stored;
}

mesh::Part with_made(mesh::Part part, const mesh::Request& request, const std::vector<MadeField>& made) {
  std::vector<mesh::Field> fields;
  Columns columns(part, values_of_part(part));
  for (const MadeField& field : made)
    if (asks_for(request, field.info.name)) fields.push_back(computed(field, columns));
  std::erase_if(part.fields, [&](const mesh::Field& field) { return !asks_for(request, field.info.name); });
  std::move(fields.begin(), fields.end(), std::back_inserter(part.fields));
  return part;
}

/// Adds fields that formulas make of those that the data set has.
mesh::Dataset with_formulas(mesh::Dataset dataset, const std::vector<MadeField>& made) {
  std::vector<std::string> properties;
  for (const MadeField& field : made)
    for (const std::string& input : field.program.inputs)
      if (!stores(dataset.header, input)) properties.push_back(input);
  dataset = mesh::with_geometry(std::move(dataset), properties);
  if (made.empty()) return dataset;
  if (!dataset.unstructured) properties.clear();  // fields of a tree by now
  dataset.read = [read = dataset.read, made, properties](int index, const mesh::Request& request) {
    return with_made(read(index, stored_request(request, made, properties)), request, made);
  };
  if (dataset.cost)
    dataset.cost = [cost = dataset.cost, made, properties](int index, const mesh::Request& request) {
      return cost(index, stored_request(request, made, properties));
    };
  for (const MadeField& field : made) dataset.header.fields.push_back(field.info);
  return dataset;
}

// ------------------------------------------------------------------------------------------------ slopes

/// Opens the whole step, for what lies beside the parts of a data set.
using OpenStep = std::function<mesh::Dataset()>;

OpenStep step_of(const mesh::Dataset& dataset) {
  return [dataset] {
    if (!dataset.numbers.empty())
      throw Error(Kind::unsupported, "slopes need cells of parts of the step that are left out here").at(dataset.path);
    return dataset;
  };
}

OpenStep step_of(const SharedStep& step) {
  const bool opened = !step.by_one || step.describe_parts;
  if (opened) return step_of(static_cast<const mesh::Dataset&>(step));
  return [path = step.path, choice = step.choice, time = step.header.time] {
    mesh::Dataset whole = open(path, choice);
    if (whole.header.time != time)
      throw Error(Kind::unreadable, "the newest step is another one than when this began").at(path).hint("--step N");
    return whole;
  };
}

/// Adds the slopes that formulas look at.
mesh::Dataset with_slopes(mesh::Dataset dataset, const NameFinder& names, const std::vector<MadeField>& made,
                          const OpenStep& step) {
  std::vector<MadeField> of;
  std::vector<Gradient> gradients;
  const auto has = [](const auto& fields, const std::string& name) {
    return std::any_of(fields.begin(), fields.end(), [&](const auto& field) { return field.info.name == name; });
  };
  for (const MadeField& field : made)
    for (const std::string& input : field.program.inputs) {
      const SlopeColumn* slope = names.slope_named(input);
      if (slope == nullptr || has(gradients, input)) continue;
      MadeField values = make_for_slope(dataset, names, *slope);
      FieldInfo info = values.info;
      info.name = input;
      gradients.push_back({values.info.name, slope->axis, info});
      if (!has(of, values.info.name)) of.push_back(std::move(values));
    }
  if (gradients.empty()) return dataset;
  dataset = with_gradients(
      with_formulas(std::move(dataset), of), [step, of] { return with_formulas(step(), of); }, std::move(gradients));
  return dataset;
}

/// Without the columns behind formulas among its fields; a request of all fields does not mean them.
mesh::Dataset hide_columns(mesh::Dataset dataset, const NameFinder& names, const Header& given) {
  std::erase_if(dataset.header.fields, [&](const FieldInfo& info) {
    const bool column = names.slope_named(info.name) != nullptr || info.name.starts_with(values_of);
    return column && !stores(given, info.name);
  });
  dataset.read = [read = dataset.read, header = dataset.header](int index, mesh::Request request) {
    if (!request.fields) {
      request.fields.emplace();
      for (const FieldInfo& info : header.fields) request.fields->push_back(info.name);
    }
    return read(index, request);
  };
  return dataset;
}

/// Puts fields of places alone into cells, if all other fields of these names stand there.
void put_with_others(const Header& header, const std::vector<std::string>& names, std::vector<MadeField>& made) {
  const auto of_mesh = [&](const MadeField& field) {
    return std::none_of(field.program.inputs.begin(), field.program.inputs.end(),
                        [&](const std::string& input) { return stores(header, input); });
  };
  std::vector<bool> in_cells;
  for (const MadeField& field : made)
    if (!of_mesh(field)) in_cells.push_back(field.info.centring == mesh::Centring::cell);
  for (const std::string& name : names)
    if (stores(header, name)) in_cells.push_back(mesh::in_cells(header, info_named(header, name)));
  if (in_cells.empty() || std::find(in_cells.begin(), in_cells.end(), false) != in_cells.end()) return;
  for (MadeField& field : made)
    if (of_mesh(field)) field.info.centring = mesh::Centring::cell;
}

mesh::Dataset add_fields(mesh::Dataset dataset, const std::vector<std::string>& names, const Definitions& own,
                         const OpenStep& step, Places places) {
  refuse_taken_names(dataset, own);
  std::vector<MadeField> made;
  std::vector<std::string> properties;
  const mesh::Dataset given = dataset;
  const NameFinder known(given, own);
  for (const std::string& name : names) {
    if (name.empty() || stores(given.header, name)) continue;
    if (property_named(given, name) == name && !given.unstructured) {
      properties.push_back(name);
      continue;
    }
    const bool twice =
        std::any_of(made.begin(), made.end(), [&](const MadeField& field) { return field.info.name == name; });
    if (!twice) made.push_back(make(given, known, name));
  }
  if (made.empty() && properties.empty()) return dataset;
  if (dataset.unstructured && places == Places::with_others) put_with_others(given.header, names, made);
  dataset = with_slopes(std::move(dataset), known, made, step);
  const bool sloped = dataset.header.fields.size() != given.header.fields.size();
  dataset = with_formulas(mesh::with_geometry(std::move(dataset), properties), made);
  return sloped ? hide_columns(std::move(dataset), known, given.header) : dataset;
}

}  // namespace

mesh::Dataset with_fields(mesh::Dataset dataset, const std::vector<std::string>& names, const Definitions& own,
                          Places places) {
  const OpenStep step = step_of(dataset);
  return add_fields(std::move(dataset), names, own, step, places);
}

mesh::Dataset with_fields(mesh::Dataset some, const std::vector<std::string>& names, const Definitions& own,
                          const SharedStep& step, Places places) {
  return add_fields(std::move(some), names, own, step_of(step), places);
}

std::string define_where(const mesh::Dataset& dataset, const std::string& field, const std::string& condition,
                         const std::string& otherwise, Definitions& own) {
  if (condition.empty()) return field;
  const std::string name = field + " where " + condition + ", else " + otherwise;
  if (std::any_of(own.begin(), own.end(), [&](const Definition& known) { return known.name == name; })) return name;
  const bool is_name = NameFinder(dataset, own).find(field).has_value();
  const std::string value = is_name ? "`" + field + "`" : "(" + field + ")";
  own.push_back({name, "where(" + condition + ", " + value + ", " + otherwise + ")"});
  return name;
}

std::vector<DerivedField> derived_fields(const mesh::Dataset& dataset) {
  std::vector<DerivedField> found;
  for (const LibraryField& field : library_fields(dataset)) {
    const auto unit = [&](const Definitions& own) {
      return with_fields(dataset, {field.name}, own).header.fields.back().unit;
    };
    DerivedField derived{field.name, field.formula, {}, {}};
    for (const char* constant : {"", "gamma", "mu"}) {
      try {
        derived.define = constant;
        derived.unit = unit(derived.define.empty() ? Definitions{} : Definitions{{constant, "1"}});
        found.push_back(derived);
        break;
      } catch (const Error&) {  // it needs a constant that the step does not say
      }
    }
  }
  return found;
}

std::vector<std::string> stored_names(const mesh::Header& header, std::vector<std::string> names) {
  for (std::string& name : names)
    if (!stores(header, name)) name = formats::field_meant(header, name).value_or(name);
  return names;
}

}  // namespace octavo::step
