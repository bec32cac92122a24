#include "octavo/step/translate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/mesh/sides.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::Field;
using mesh::Particles;
using mesh::ScalarType;

// ----------------------------------------------------------------------------------------------------------- identity

/// AMReX takes particles with an id below 1 for invalid, and knows one by (id, cpu): where ids of another code cannot
/// be that, this column keeps them.
constexpr const char* kept_id = "kept_id";

/// Names that are not attributes of their own in a code.
bool is_reserved(const std::string& name, Code code) {
  const auto any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* n) { return name == n; });
  };
  switch (code) {
    case Code::flash: return any({"tag", "id", "cpu", "blk", "proc"});
    case Code::amrex: return any({"id", "cpu"});
    default: return any({"identity", "id", "cpu", "tag"});
  }
}

Field* find(Particles& particles, const std::string& name) {
  for (Field& field : particles.attributes)
    if (field.info.name == name) return &field;
  return nullptr;
}

std::int64_t whole_number(double value, const std::string& name) {
  if (!(std::abs(value) <= 0x1p53) || value != std::floor(value))
    throw Error(Kind::unsupported, "an identity that is no whole number: " + std::to_string(value))
        .at("particle attribute " + name);
  return static_cast<std::int64_t>(value);
}

std::vector<std::int64_t> integers_of(const Field& field) {
  std::vector<std::int64_t> out;
  mesh::visit_values(field, [&]<class T>(std::span<const T> values) {
    for (const T value : values) {
      if constexpr (std::is_floating_point_v<T>)
        out.push_back(whole_number(static_cast<double>(value), field.info.name));
      else
        out.push_back(static_cast<std::int64_t>(value));
    }
  });
  return out;
}

/// Takes the columns of identity out of the particles.
Identities take_identities(Particles& particles, Code from) {
  Identities out;
  const auto take = [&](const char* name) {
    std::vector<std::int64_t> values;
    if (Field* field = find(particles, name)) {
      values = integers_of(*field);
      std::erase_if(particles.attributes, [&](const Field& f) { return f.info.name == name; });
    }
    return values;
  };
  const char* single = from == Code::flash ? "tag" : "identity";
  if (from != Code::amrex) out.id = take(single);
  for (const char* column : {"id", kept_id})
    if (auto kept = take(column); !kept.empty()) out.id = std::move(kept);
  out.cpu = take("cpu");
  const auto count = static_cast<std::size_t>(particles.count);
  if (out.cpu.size() != count) out.cpu.assign(count, 0);
  if (out.id.size() != count) {
    out.id.resize(count);
    std::iota(out.id.begin(), out.id.end(), std::int64_t{1});
  }
  if (from == Code::flash)
    std::erase_if(particles.attributes, [](const Field& f) { return f.info.name == "blk" || f.info.name == "proc"; });
  return out;
}

std::vector<std::size_t> sorted_by_identity(const Identities& who) {
  std::vector<std::size_t> order(who.id.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::pair(who.cpu[i], who.id[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// Puts rows of one identity in the order of their bytes: it must not depend on how the step was cut.
void sort_duplicates(const Particles& particles, const Identities& who, std::vector<std::size_t>& order) {
  const auto same = [&](std::size_t a, std::size_t b) { return who.id[a] == who.id[b] && who.cpu[a] == who.cpu[b]; };
  const auto less = [&](std::size_t a, std::size_t b) {
    for (const Field& field : particles.attributes) {
      const std::size_t width = mesh::size_of(field.info.type) * static_cast<std::size_t>(field.info.components);
      const int found = std::memcmp(field.bytes.data() + a * width, field.bytes.data() + b * width, width);
      if (found != 0) return found < 0;
    }
    return false;
  };
  for (auto first = order.begin(); first != order.end();) {
    const auto last = std::find_if(first, order.end(), [&](std::size_t i) { return !same(*first, i); });
    if (last - first > 1) std::sort(first, last, less);
    first = last;
  }
}

template <class T>
void reorder(std::vector<T>& values, const std::vector<std::size_t>& order) {
  std::vector<T> out;
  for (const std::size_t i : order) out.push_back(values[i]);
  values = std::move(out);
}

void reorder(Field& field, const std::vector<std::size_t>& order) {
  const std::size_t width = mesh::size_of(field.info.type) * static_cast<std::size_t>(field.info.components);
  if (field.bytes.size() != width * order.size())
    throw Error(Kind::corrupt, "a particle attribute has another length").at(field.info.name);
  std::vector<std::byte> out(field.bytes.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    std::memcpy(out.data() + k * width, field.bytes.data() + order[k] * width, width);
  field.bytes = std::move(out);
}

template <class T>
void add_column(Particles& particles, const std::string& name, const std::vector<T>& values) {
  mesh::FieldInfo info{
      .name = name, .unit = "", .type = mesh::scalar_type_of<T>(), .centring = mesh::Centring::particle};
  Field field = mesh::make_field(info, values.size());
  std::copy(values.begin(), values.end(), field.as<T>().begin());
  particles.attributes.push_back(std::move(field));
}

std::vector<std::int32_t> as_32(const std::vector<std::int64_t>& values) {
  std::vector<std::int32_t> out;
  for (const std::int64_t value : values) {
    if (value != static_cast<std::int32_t>(value))
      throw Error(Kind::unsupported, "a birth cpu of " + std::to_string(value) + " does not fit 32 bits");
    out.push_back(static_cast<std::int32_t>(value));
  }
  return out;
}

bool distinct(std::vector<std::int64_t> values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

/// AMReX' own pair; where it cannot be (several of one identity, ids below 1), numbers.
void put_pairs(Particles& particles, const Identities& who, bool twice, std::vector<std::string>& notes) {
  const bool valid = std::all_of(who.id.begin(), who.id.end(), [](std::int64_t id) { return id > 0; });
  if (valid && !twice) {
    add_column(particles, "id", who.id);
    add_column(particles, "cpu", as_32(who.cpu));
    return;
  }
  std::vector<std::int64_t> numbers(who.id.size());
  std::iota(numbers.begin(), numbers.end(), std::int64_t{1});
  add_column(particles, "id", numbers);
  add_column(particles, "cpu", std::vector<std::int32_t>(numbers.size(), 0));
  add_column(particles, kept_id, who.id);
  notes.push_back("particles of " + particles.species +
                  ": AMReX wants ids above 0, each once: they are 1, 2 ..., and the column " + kept_id +
                  " keeps theirs");
}

void put_identities(Particles& particles, Identities who, Code to, std::vector<std::string>& notes) {
  const std::string twice = duplicates_in(who);
  if (!twice.empty()) notes.push_back("particles of " + particles.species + ": " + twice + "; all are kept");
  if (to == Code::amrex) return put_pairs(particles, who, !twice.empty(), notes);
  std::vector<std::int64_t> tag = who.id;
  // RAMSES' own sink clouds share identities.
  const bool own = distinct(who.id) || (to == Code::ramses && !twice.empty());
  if (!own) std::iota(tag.begin(), tag.end(), std::int64_t{1});
  const bool any_cpu = std::any_of(who.cpu.begin(), who.cpu.end(), [](std::int64_t c) { return c != 0; });
  add_column(particles, to == Code::flash ? "tag" : "identity", tag);
  if (any_cpu || !own) add_column(particles, "cpu", as_32(who.cpu));
  if (own) return;
  add_column(particles, "id", who.id);
  notes.push_back("particles of " + particles.species +
                  ": ids are not unique by themselves; tags 1, 2 ... stand for (cpu, id), which columns keep");
}

// --------------------------------------------------------------------------------------------------------- attributes

/// FLASH has three positions in any dimension: what is 0 beyond it says nothing.
void drop_unused_positions(Particles& particles, int dim) {
  std::erase_if(particles.attributes, [&](const Field& field) {
    for (auto axis = static_cast<std::size_t>(dim); axis < 3; ++axis)
      if (field.info.name == std::string("position_") + "xyz"[axis])
        return mesh::visit_values(field, [](auto values) {
          return std::all_of(values.begin(), values.end(), [](auto v) { return v == 0; });
        });
    return false;
  });
}

constexpr const char* user = "user_";

/// An attribute's name in another code.
std::string attribute_name(const std::string& name, Code from, Code to) {
  const bool users = name.starts_with(user) && is_reserved(name.substr(5), from);
  const std::string own = users ? name.substr(5) : name;
  // RAMSES' tag says what kind within a family a particle is: the word means something else everywhere.
  if (!users && from == Code::ramses && own == "tag") return "family_tag";
  if (!users && to == Code::ramses && own == "family_tag") return "tag";
  return is_reserved(own, to) ? user + own : particle_name(own, from, to);
}

void rename_attributes(Particles& particles, Code from, Code to) {
  for (Field& field : particles.attributes) field.info.name = attribute_name(field.info.name, from, to);
}

template <class T>
void narrow(Particles& particles, const char* name) {
  Field* field = find(particles, name);
  if (field == nullptr || field->info.type == mesh::scalar_type_of<T>()) return;
  std::vector<T> values;
  for (const std::int64_t value : integers_of(*field)) {
    if (value != static_cast<T>(value)) return;
    values.push_back(static_cast<T>(value));
  }
  std::vector<Field> kept = std::move(particles.attributes);
  for (Field& one : kept) {
    if (one.info.name != name)
      particles.attributes.push_back(std::move(one));
    else
      add_column(particles, name, values);
  }
}

template <class T>
void need(Particles& particles, const std::string& name, T value, std::string& added) {
  if (find(particles, name) != nullptr) return;
  add_column(particles, name, std::vector<T>(static_cast<std::size_t>(particles.count), value));
  added += (added.empty() ? "" : ", ") + name;
}

/// The columns that RAMSES reads, in its order and types; others follow.
void complete_for_ramses(Particles& particles, int dim, std::vector<std::string>& notes) {
  std::string added;
  std::vector<std::string> order;
  for (const char* vector : {"position_", "velocity_"})
    for (int axis = 0; axis < dim; ++axis) order.push_back(std::string(vector) + "xyz"[axis]);
  for (const std::string& name : order) need(particles, name, 0.0, added);
  // RAMSES' families: dark matter is 1, what is carried by the gas 0.
  const bool massive = find(particles, "mass") != nullptr;
  need(particles, "mass", 0.0, added);
  need(particles, "levelp", std::int32_t{1}, added);
  need(particles, "family", static_cast<std::int8_t>(massive ? 1 : 0), added);
  need(particles, "tag", std::int8_t{0}, added);
  narrow<std::int32_t>(particles, "identity");
  narrow<std::int32_t>(particles, "levelp");
  narrow<std::int8_t>(particles, "family");
  narrow<std::int8_t>(particles, "tag");
  for (const char* name : {"mass", "identity", "levelp", "family", "tag", "birth_time", "metallicity", "partp"})
    order.emplace_back(name);
  const auto rank = [&](const Field& field) {
    return std::find(order.begin(), order.end(), field.info.name) - order.begin();
  };
  std::stable_sort(particles.attributes.begin(), particles.attributes.end(),
                   [&](const Field& a, const Field& b) { return rank(a) < rank(b); });
  if (const Field* identity = find(particles, "identity"); identity && identity->info.type == ScalarType::int64)
    notes.push_back("particles of " + particles.species +
                    ": identities take 64 bits, for a RAMSES that was made with -DLONGINT");
  if (!added.empty())
    notes.push_back("particles of " + particles.species + " have no " + added + ": zero, level 1, family " +
                    (massive ? "1 (dark matter)" : "0 (tracers of the gas)"));
}

// ------------------------------------------------------------------------------------------------------------- fields

/// Whether all sides of a variable on faces or nodes have this name in common.
bool is_base(const mesh::Header& header, const std::string& name) {
  return std::any_of(header.fields.begin(), header.fields.end(), [&](const mesh::FieldInfo& info) {
    const auto side = mesh::side_of(info, header.dim);
    return side && side->axes != 0 && side->base == name;
  });
}

/// As asked for: "b=magx" makes "b_left" "magx_left".
std::optional<std::string> new_name(const mesh::FieldInfo& info, int dim,
                                    const std::map<std::string, std::string>& rename) {
  if (const auto asked = rename.find(info.name); asked != rename.end()) return asked->second;
  const auto side = mesh::side_of(info, dim);
  if (!side || side->axes == 0) return {};
  const auto asked = rename.find(side->base);
  if (asked == rename.end()) return {};
  return mesh::name_of_side(asked->second, info.centring, side->high);
}

/// By the table; of a variable on faces, both its sides.
std::string table_name(const mesh::FieldInfo& info, int dim, Code from, Code to) {
  const auto side = mesh::side_of(info, dim);
  if (!mesh::is_face(info.centring) || !side || side->axes == 0) return field_name(info.name, from, to);
  const std::string base = field_name(side->base, from, to);
  return base == side->base ? info.name : mesh::name_of_side(base, info.centring, side->high);
}

/// Fields that go along, and their new names, in the step's order.
struct Names {
  std::vector<std::string> old, fresh;
};
Names plan_names(const mesh::Header& header, const TranslateOptions& options) {
  for (const auto& [name, fresh] : options.rename)
    if (!is_base(header, name)) mesh::select_fields(header, std::vector<std::string>{name});
  Names names;
  for (std::size_t f : mesh::select_fields(header, options.fields)) {
    const std::string& name = header.fields[f].name;
    names.old.push_back(name);
    names.fresh.push_back(translated_name(header, header.fields[f], options));
    if (std::count(names.fresh.begin(), names.fresh.end(), names.fresh.back()) > 1)
      throw Error(Kind::usage, "two fields would be called \"" + names.fresh.back() + "\"")
          .at("field " + name)
          .hint("--rename gives another name");
  }
  return names;
}

std::optional<std::int64_t> step_of(const mesh::Header& header) {
  for (const char* name : {"integer scalars/nstep", "step", "nstep_coarse"}) {
    const auto found = header.attributes.find(name);
    if (found == header.attributes.end()) continue;
    if (const auto* number = std::get_if<std::int64_t>(&found->second)) return *number;
  }
  // RAMSES's own two counts: of fine steps, and of coarse ones, which its info file need not have.
  if (const auto found = header.attributes.find("nstep"); found != header.attributes.end())
    if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&found->second); counts && counts->size() == 2)
      return (*counts)[1];
  return {};
}

/// A checkpoint of AMReX keeps beside its Header what a step of FLASH says of itself, for the way back.
const std::string source_prefix = "source/", source_columns = "source/columns/";

/// Attributes that are not the step's own say which step they are of: the code may have gone on from it.
std::map<std::string, mesh::Attribute> as_source(const mesh::Header& header,
                                                 const std::vector<mesh::SpeciesInfo>& species) {
  std::map<std::string, mesh::Attribute> out;
  for (const auto& [name, value] : header.attributes) out[source_prefix + name] = value;
  for (const mesh::SpeciesInfo& info : species) {
    std::vector<std::string> columns;
    for (const mesh::FieldInfo& attribute : info.attributes) columns.push_back(attribute.name);
    out[source_columns + info.name] = std::move(columns);
  }
  out[source_prefix + "code"] = header.code;
  out[source_prefix + "time"] = header.time;
  out[source_prefix + "block"] = std::vector<std::int64_t>(header.block.begin(), header.block.end());
  return out;
}

std::map<std::string, mesh::Attribute> from_source(const mesh::Header& header) {
  std::map<std::string, mesh::Attribute> out;
  for (const auto& [name, value] : header.attributes)
    if (name.starts_with(source_prefix) && !name.starts_with(source_columns))
      out[name.substr(source_prefix.size())] = value;
  for (const char* own : {"code", "time", "block"}) out.erase(own);
  return out;
}

/// The columns that the species had, in their order; those that its writer makes anew are zeros.
void restore_columns(const mesh::Header& header, Particles& particles) {
  const auto found = header.attributes.find(source_columns + particles.species);
  if (found == header.attributes.end()) return;
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  if (names == nullptr) return;
  std::vector<Field> rest = std::move(particles.attributes);
  particles.attributes.clear();
  for (const std::string& name : *names) {
    const auto at = std::find_if(rest.begin(), rest.end(), [&](const Field& field) { return field.info.name == name; });
    if (at == rest.end()) {
      add_column(particles, name, std::vector<double>(static_cast<std::size_t>(particles.count), 0.0));
    } else {
      particles.attributes.push_back(std::move(*at));
      rest.erase(at);
    }
  }
  for (Field& field : rest) particles.attributes.push_back(std::move(field));
}

void set_attributes(mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species, Code from, Code to) {
  const std::optional<std::int64_t> step = step_of(header);
  if (from == Code::amrex && source_block(header, to)) {
    header.attributes = from_source(header);
    return;
  }
  header.attributes =
      from == Code::flash && to == Code::amrex ? as_source(header, species) : decltype(header.attributes){};
  if (!step) return;
  if (to == Code::flash) {
    header.attributes["integer scalars"] = std::vector<std::string>{"nstep"};
    header.attributes["integer scalars/nstep"] = *step;
  } else {
    header.attributes[to == Code::amrex ? "step" : "nstep_coarse"] = *step;
  }
}

/// A RAMSES step says which variables its files have, and in which order.
void rename_in_lists(const Names& names, mesh::Header& header) {
  for (const char* list : {"hydro_variables", "grav_variables", "rt_variables"}) {
    const auto found = header.attributes.find(list);
    if (found == header.attributes.end()) continue;
    if (auto* entries = std::get_if<std::vector<std::string>>(&found->second))
      for (std::string& entry : *entries)
        if (const auto at = std::find(names.old.begin(), names.old.end(), entry); at != names.old.end())
          entry = names.fresh[static_cast<std::size_t>(at - names.old.begin())];
  }
}

/// The same names in octs of walls.
std::function<Particles(int)> renamed_walls(std::function<Particles(int)> read, const Names& names) {
  if (!read) return {};
  return [read = std::move(read), names](int part) {
    Particles walls = read(part);
    for (Field& field : walls.attributes)
      if (const auto at = std::find(names.old.begin(), names.old.end(), field.info.name); at != names.old.end())
        field.info.name = names.fresh[static_cast<std::size_t>(at - names.old.begin())];
    return walls;
  };
}

mesh::SpeciesInfo info_of(const Particles& particles) {
  mesh::SpeciesInfo info{.name = particles.species, .count = particles.count, .attributes = {}};
  for (const Field& field : particles.attributes) info.attributes.push_back(field.info);
  return info;
}

/// RAMSES' domain begins at 0.
void move_to_zero(mesh::Header& header, std::vector<Particles>& all, std::vector<std::string>& notes) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double lo = header.lo[axis];
    if (lo == 0) continue;
    notes.push_back(std::string("a RAMSES box begins at 0: positions along ") + "xyz"[axis] + " are moved by " +
                    std::to_string(-lo));
    header.hi[axis] -= lo;
    header.lo[axis] = 0;
    for (Particles& particles : all)
      if (Field* field = find(particles, std::string("position_") + "xyz"[axis]); field != nullptr) {
        mesh::widen(*field);
        for (double& x : field->as<double>()) x -= lo;
      }
  }
}

}  // namespace

std::optional<mesh::Index3> source_block(const mesh::Header& header, Code to) {
  const auto find = [&]<class T>(const char* name) -> const T* {
    const auto found = header.attributes.find(source_prefix + name);
    return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
  };
  const auto* code = find.operator()<std::string>("code");
  const auto* time = find.operator()<double>("time");
  const auto* block = find.operator()<std::vector<std::int64_t>>("block");
  if (code == nullptr || time == nullptr || block == nullptr || block->size() != 3) return {};
  const bool theirs = to == Code::flash && *code == "FLASH" && *time == header.time;
  return theirs ? std::optional(mesh::Index3{(*block)[0], (*block)[1], (*block)[2]}) : std::nullopt;
}

std::string translated_name(const mesh::Header& header, const mesh::FieldInfo& field, const TranslateOptions& options) {
  return new_name(field, header.dim, options.rename)
      .value_or(table_name(field, header.dim, code_of(header), options.to));
}

Identities identities_of(const Particles& particles, Code code) {
  Particles copy{.species = particles.species, .count = particles.count, .attributes = {}};
  for (const Field& field : particles.attributes)
    if (is_reserved(field.info.name, code)) copy.attributes.push_back(field);
  return take_identities(copy, code);
}

std::string duplicates_in(const Identities& who) {
  const std::vector<std::size_t> order = sorted_by_identity(who);
  std::size_t found = 0, identities = 0;
  std::string first;
  const auto same = [&](std::size_t a, std::size_t b) { return who.id[a] == who.id[b] && who.cpu[a] == who.cpu[b]; };
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (!same(order[k - 1], order[k])) continue;
    ++found;
    if (k > 1 && same(order[k - 2], order[k])) continue;  // listed already
    if (++identities <= 3)
      first += (first.empty() ? "" : ", ") + std::string("id ") + std::to_string(who.id[order[k]]) + " cpu " +
               std::to_string(who.cpu[order[k]]);
  }
  if (found == 0) return {};
  return std::to_string(found) + " particles have the identity of another: " + first + (identities > 3 ? " ..." : "");
}

Particles translate(const Particles& particles, Code from, Code to, int dim, std::vector<std::string>& notes) {
  Particles out = particles;
  Identities who = take_identities(out, from);
  std::vector<std::size_t> order = sorted_by_identity(who);
  sort_duplicates(out, who, order);
  for (Field& field : out.attributes) reorder(field, order);
  reorder(who.id, order);
  reorder(who.cpu, order);
  if (from == Code::flash) drop_unused_positions(out, dim);
  rename_attributes(out, from, to);
  put_identities(out, std::move(who), to, notes);
  if (to == Code::ramses) complete_for_ramses(out, dim, notes);
  return out;
}

std::string outside_note(const Particles& particles, const mesh::Header& header) {
  constexpr std::size_t most_listed = 3;
  std::size_t found = 0;
  std::string first;
  for (std::size_t i = 0; i < static_cast<std::size_t>(particles.count); ++i) {
    bool outside = false;
    std::string at;
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
      for (const Field& field : particles.attributes)
        if (field.info.name == std::string("position_") + "xyz"[axis]) {
          const double x = mesh::visit_values(field, [&](auto values) { return static_cast<double>(values[i]); });
          outside = outside || !(x >= header.lo[axis] && x < header.hi[axis]);
          at += (at.empty() ? "" : ",") + std::to_string(x);
        }
    if (outside && ++found <= most_listed) first += (first.empty() ? "(" : ", (") + at + ")";
  }
  if (found == 0) return {};
  return std::to_string(found) + " particles of " + particles.species + " are outside of the domain: at " + first +
         (found > most_listed ? " ..." : "") + "; they go to the nearest cell";
}

mesh::Dataset translate(const mesh::Dataset& source, const TranslateOptions& options, std::vector<std::string>& notes) {
  const Names names = plan_names(source.header, options);
  const Code from = code_of(source.header);
  mesh::Dataset out = source;
  out.header.fields.clear();
  for (std::size_t f = 0; f < names.old.size(); ++f) {
    const auto at = mesh::select_fields(source.header, std::vector<std::string>{names.old[f]});
    out.header.fields.push_back(source.header.fields[at[0]]);
    out.header.fields.back().name = names.fresh[f];
  }
  std::vector<Particles> all;
  const bool as_they_are = from == options.to;
  if (options.particles && !as_they_are)
    for (const Particles& particles : mesh::gather_particles(source)) {
      if (auto note = outside_note(particles, source.header); !note.empty()) notes.push_back(std::move(note));
      if (particles.count == 0) continue;
      all.push_back(translate(particles, from, options.to, source.header.dim, notes));
      if (from == Code::amrex && source_block(source.header, options.to)) restore_columns(source.header, all.back());
    }
  if (options.to == Code::ramses && !as_they_are) move_to_zero(out.header, all, notes);
  if (!as_they_are) {
    set_attributes(out.header, source.species, from, options.to);
    out.header.code = options.to == Code::flash ? "FLASH" : options.to == Code::amrex ? "AMReX" : "RAMSES";
    out.read_walls = {};
  } else {
    rename_in_lists(names, out.header);
    out.read_walls = renamed_walls(source.read_walls, names);
  }
  if (!as_they_are || !options.particles) out.species.clear();
  for (const Particles& particles : all) out.species.push_back(info_of(particles));
  const bool hand_on = as_they_are && options.particles;
  const auto shared = std::make_shared<const std::vector<Particles>>(std::move(all));
  out.read = [source, names, shared, hand_on](int part, const mesh::Request& request) {
    mesh::Request wanted = request;
    wanted.particles = request.particles && hand_on;
    wanted.fields = names.old;
    if (request.fields) {
      wanted.fields->clear();
      for (const std::string& name : *request.fields) {
        const auto at = std::find(names.fresh.begin(), names.fresh.end(), name);
        if (at == names.fresh.end()) throw Error(Kind::usage, "there is no field \"" + name + "\"");
        wanted.fields->push_back(names.old[static_cast<std::size_t>(at - names.fresh.begin())]);
      }
    }
    mesh::Part read = source.read(part, wanted);
    for (Field& field : read.fields) {
      const auto at = std::find(names.old.begin(), names.old.end(), field.info.name);
      field.info.name = names.fresh[static_cast<std::size_t>(at - names.old.begin())];
    }
    if (request.particles && part == 0 && !hand_on) read.particles = *shared;
    return read;
  };
  return out;
}

}  // namespace octavo::step
