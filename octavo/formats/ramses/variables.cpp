#include "octavo/formats/ramses/variables.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/naming.hpp"
#include "octavo/formats/ramses/write_records.hpp"

namespace octavo::formats::ramses {
namespace {

using base::Error;
using base::Kind;
using Names = std::vector<std::string>;

constexpr const char* axes[] = {"x", "y", "z"};

const mesh::FieldInfo* find(const mesh::Header& header, const std::string& name) {
  for (const mesh::FieldInfo& field : header.fields)
    if (field.name == name) return &field;
  return nullptr;
}

bool has(const mesh::Header& header, const std::string& name) { return find(header, name) != nullptr; }

bool is_gravity(const std::string& name) { return name == "potential" || name.starts_with("force_"); }

/// The fields that are in no file yet, in the step's order.
class Rest {
 public:
  explicit Rest(const mesh::Header& header) : header_(header) {
    for (const mesh::FieldInfo& field : header.fields) names_.push_back(field.name);
  }
  bool take(const std::string& name) { return std::erase(names_, name) > 0; }
  template <class WantedVariable>
  Names take_all(WantedVariable&& wanted) {
    Names taken;
    for (const std::string& name : names_)
      if (wanted(name)) taken.push_back(name);
    for (const std::string& name : taken) take(name);
    return taken;
  }
  const mesh::Header& header() const { return header_; }

 private:
  const mesh::Header& header_;
  Names names_;
};

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

void append(std::vector<WrittenVariable>& to, const Names& names) {
  for (const std::string& name : names) to.push_back({name, name});
}

/// Takes the order of the output that the step came from. If the step has none of a file's variables, that file is not
/// written.
std::vector<WrittenVariable> keep_order(Rest& rest, const std::string& file, Names& notes) {
  const Names names = names_of(rest.header(), file + "_variables");
  std::vector<WrittenVariable> kept;
  Names missing;
  for (const std::string& name : names)
    if (rest.take(name))
      kept.push_back({name, name});
    else
      missing.push_back(name);
  if (kept.empty()) {
    if (!names.empty()) notes.push_back("no " + file + " files: the step has none of their variables");
    return {};
  }
  if (!missing.empty())
    throw Error(Kind::unsupported, "RAMSES reads variables by their place, and the step lacks " + listed(missing) +
                                       " of its " + file + " files")
        .hint("write whole steps");
  return kept;
}

void require(Rest& rest, const std::string& name, std::vector<WrittenVariable>& to) {
  if (!rest.take(name))
    throw Error(Kind::unsupported, "the step has no " + name + ", which RAMSES needs in its hydro files")
        .hint("--rename NAME=" + name + " says which field it is");
  to.push_back({name, name});
}

/// The magnetic field on faces. Along an axis beyond dim it is the cell's value.
void add_magnetic(Rest& rest, std::vector<WrittenVariable>& to) {
  for (const std::string side : {"_left", "_right"})
    for (std::size_t a = 0; a < 3; ++a) {
      const std::string cell = std::string("B_") + axes[a], name = cell + side;
      if (a >= static_cast<std::size_t>(rest.header().dim) && !has(rest.header(), name) && has(rest.header(), cell))
        to.push_back({name, cell});
      else
        require(rest, name, to);
    }
  for (auto a = static_cast<std::size_t>(rest.header().dim); a < 3; ++a) rest.take(std::string("B_") + axes[a]);
}

void refuse_magnetic_cells(const mesh::Header& header) {
  for (const char* axis : axes)
    if (has(header, std::string("B_") + axis))
      throw Error(Kind::unsupported, std::string("the step has the magnetic field of cells (B_") + axis +
                                         "), and RAMSES needs that of faces: B_x_left, B_x_right ...")
          .hint("--field with the other fields leaves it out");
}

bool is_magnetic(const mesh::Header& header) {
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [](const mesh::FieldInfo& field) { return centring_of(field.name) != mesh::Centring::cell; });
}

/// Applies the solver's rule, by names.
std::vector<WrittenVariable> hydro_by_name(Rest& rest, bool magnetic) {
  std::vector<WrittenVariable> out;
  require(rest, "density", out);
  const int velocities = magnetic ? 3 : rest.header().dim;
  for (int a = 0; a < velocities; ++a) require(rest, std::string("velocity_") + axes[a], out);
  if (magnetic)
    add_magnetic(rest, out);
  else
    refuse_magnetic_cells(rest.header());
  append(out, rest.take_all([](const std::string& name) { return name.starts_with("non_thermal_"); }));
  require(rest, "pressure", out);
  return out;
}

std::vector<WrittenVariable> grav_by_name(Rest& rest, Names& notes) {
  std::vector<WrittenVariable> out;
  if (!rest.take("potential")) return out;
  out.push_back({"potential", "potential"});
  Names made;
  for (int a = 0; a < rest.header().dim; ++a) {
    const std::string name = std::string("force_") + axes[a];
    const bool there = rest.take(name);
    out.push_back({name, there ? name : ""});
    if (!there) made.push_back(name);
  }
  if (!made.empty())
    notes.push_back("the step has no " + listed(made) +
                    ": zeros, which RAMSES replaces in its first step before it uses them");
  return out;
}

/// Variables that RAMSES does not know become passive scalars.
void append_scalars(Rest& rest, WrittenVariables& to) {
  const auto scalars = [](const std::string& name) { return name.starts_with("scalar_"); };
  const bool known = !to.hydro.empty();
  Names names;
  if (rest.take("metallicity")) names.emplace_back("metallicity");
  for (const std::string& name : rest.take_all(scalars)) names.push_back(name);
  Names others = rest.take_all([](const std::string&) { return true; });
  if (!known && !(names.empty() && others.empty()))
    throw Error(Kind::unsupported, "the step has no density, which RAMSES needs in its hydro files")
        .hint("--rename NAME=density says which field it is");
  append(to.hydro, names);
  append(to.hydro, others);
  if (others.empty()) return;
  const std::size_t all =
      names.size() + others.size() - static_cast<std::size_t>(std::count(names.begin(), names.end(), "metallicity"));
  to.notes.push_back("appended as passive scalars, for a RAMSES that was made with NPSCAL=" + std::to_string(all) +
                     ": " + listed(others) + " (--field leaves some out)");
}

bool says_its_order(const mesh::Header& header) {
  for (const char* name : {"hydro_variables", "grav_variables", "rt_variables"})
    if (header.attributes.contains(name)) return true;
  return false;
}

bool has_any_of_hydro(const mesh::Header& header) {
  return std::any_of(header.fields.begin(), header.fields.end(),
                     [](const mesh::FieldInfo& field) { return !is_gravity(field.name); });
}

}  // namespace

WrittenVariables arrange_variables(const mesh::Header& header) {
  WrittenVariables out;
  Rest rest(header);
  out.magnetic = is_magnetic(header);
  if (says_its_order(header)) {
    out.hydro = keep_order(rest, "hydro", out.notes);
    out.grav = keep_order(rest, "grav", out.notes);
    out.rt = keep_order(rest, "rt", out.notes);
  } else {
    if (has_any_of_hydro(header)) out.hydro = hydro_by_name(rest, out.magnetic);
    out.grav = grav_by_name(rest, out.notes);
  }
  append_scalars(rest, out);
  return out;
}

}  // namespace octavo::formats::ramses
