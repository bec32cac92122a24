#include "octavo/step/translate.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/mesh/sides.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using formats::find_attribute;
using formats::integers_of;
using mesh::Field;
using mesh::Particles;

// ----------------------------------------------------------------------------------------------------------- identity

/// AMReX treats particles with an id below 1 as invalid, and identifies one by (id, cpu). This column keeps the ids of
/// another code that cannot serve as such.
constexpr const char* kept_id = "kept_id";

/// Whether a name is no attribute of its own in a code.
bool is_reserved(const std::string& name, const Words& words) {
  return std::find(words.reserved.begin(), words.reserved.end(), name) != words.reserved.end();
}

/// Takes the columns of identity out of the particles.
Identities take_identities(Particles& particles, const Words& from) {
  Identities out;
  const auto take = [&](std::string_view name) {
    std::vector<std::int64_t> values;
    if (Field* field = find_attribute(particles, name)) {
      values = integers_of(*field);
      std::erase_if(particles.attributes, [&](const Field& f) { return f.info.name == name; });
    }
    return values;
  };
  if (!from.identity.empty()) out.id = take(from.identity);
  for (const char* column : {"id", kept_id})
    if (auto kept = take(column); !kept.empty()) out.id = std::move(kept);
  out.cpu = take("cpu");
  const auto count = static_cast<std::size_t>(particles.count);
  if (out.cpu.size() != count) out.cpu.assign(count, 0);
  if (out.id.size() != count) {
    out.id.resize(count);
    std::iota(out.id.begin(), out.id.end(), std::int64_t{1});
  }
  for (const std::string_view made : from.made)
    std::erase_if(particles.attributes, [&](const Field& f) { return f.info.name == made; });
  return out;
}

std::vector<std::size_t> sorted_by_identity(const Identities& who) {
  std::vector<std::size_t> order(who.id.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t i) { return std::pair(who.cpu[i], who.id[i]); };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  return order;
}

/// Sorts rows of one identity by their bytes, so that their order does not depend on how the step was cut.
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
void add_column(Particles& particles, std::string_view name, const std::vector<T>& values) {
  particles.attributes.push_back(mesh::attribute_of(std::string(name), values));
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

/// Writes id and cpu. If identities occur twice or ids are below 1, writes 1, 2, 3 ... instead.
void put_pairs(Particles& particles, const Identities& who, bool twice, const Words& to,
               std::vector<std::string>& notes) {
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
  notes.push_back("particles of " + particles.species + ": " + std::string(to.code) +
                  " wants ids above 0, each once: they are 1, 2 ..., and the column " + kept_id + " keeps theirs");
}

void put_identities(Particles& particles, Identities who, const Words& to, std::vector<std::string>& notes) {
  const std::string twice = duplicates_in(who);
  if (!twice.empty()) notes.push_back("particles of " + particles.species + ": " + twice + "; all are kept");
  if (to.identity.empty()) return put_pairs(particles, who, !twice.empty(), to, notes);
  std::vector<std::int64_t> tag = who.id;
  const bool own = distinct(who.id) || (to.shared_identities && !twice.empty());
  if (!own) std::iota(tag.begin(), tag.end(), std::int64_t{1});
  const bool any_cpu = std::any_of(who.cpu.begin(), who.cpu.end(), [](std::int64_t c) { return c != 0; });
  add_column(particles, to.identity, tag);
  if (any_cpu || !own) add_column(particles, "cpu", as_32(who.cpu));
  if (own) return;
  add_column(particles, "id", who.id);
  notes.push_back("particles of " + particles.species +
                  ": ids are not unique by themselves; tags 1, 2 ... stand for (cpu, id), which columns keep");
}

// --------------------------------------------------------------------------------------------------------- attributes

/// Some codes have three positions in any dimension. Positions beyond dim carry no information if they are 0.
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
std::string attribute_name(const std::string& name, const Words& from, const Words& to) {
  const bool users = name.starts_with(user) && is_reserved(name.substr(5), from);
  const std::string own = users ? name.substr(5) : name;
  if (!users)
    if (std::string word = formats::particle_name(own, from, to); word != own) return word;
  return is_reserved(own, to) ? user + own : own;
}

void rename_attributes(Particles& particles, const Words& from, const Words& to) {
  for (Field& field : particles.attributes) field.info.name = attribute_name(field.info.name, from, to);
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
std::string table_name(const mesh::FieldInfo& info, int dim, const Words& from, const Words& to) {
  const auto side = mesh::side_of(info, dim);
  if (!mesh::is_face(info.centring) || !side || side->axes == 0) return formats::field_name(info.name, from, to);
  const std::string base = formats::field_name(side->base, from, to);
  return base == side->base ? info.name : mesh::name_of_side(base, info.centring, side->high);
}

/// Fields that go along, and their new names, in the step's order.
struct FieldNames {
  std::vector<std::string> old, fresh;
};
FieldNames plan_names(const mesh::Header& header, const TranslateOptions& options) {
  for (const auto& [name, fresh] : options.rename)
    if (!is_base(header, name)) mesh::select_fields(header, std::vector<std::string>{name});
  FieldNames names;
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

/// A code that keeps a source (Words) stores the attributes of the step that its own was made from under this prefix.
const std::string source_prefix = "source/", source_columns = "source/columns/";

/// Attributes from another step name that step, because the code may have gone on since.
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

/// Whether the step keeps the attributes of the step of that code which it was made of, and the run has not gone on
/// since.
bool has_source(const mesh::Header& header, const Words& code) {
  const auto block = formats::attribute<std::vector<std::int64_t>>(header, source_prefix + "block");
  return code.gives_source && formats::text_attribute(header, source_prefix + "code") == code.code &&
         formats::attribute<double>(header, source_prefix + "time") == header.time && block && block->size() == 3;
}

void set_attributes(mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species, const Words& from,
                    const Words& to) {
  const std::optional<std::int64_t> step = step_of(header);
  if (from.keeps_source && has_source(header, to)) {
    header.attributes = from_source(header);
    return;
  }
  const bool keeps = from.gives_source && to.keeps_source;
  header.attributes = keeps ? as_source(header, species) : decltype(header.attributes){};
  if (step) to.set_step(header, *step);
}

/// A step may list the fields that its files have, in their order.
void rename_in_lists(const FieldNames& names, mesh::Header& header) {
  for (const std::string_view list : formats::words_of(header).field_lists) {
    const auto found = header.attributes.find(std::string(list));
    if (found == header.attributes.end()) continue;
    if (auto* entries = std::get_if<std::vector<std::string>>(&found->second))
      for (std::string& entry : *entries)
        if (const auto at = std::find(names.old.begin(), names.old.end(), entry); at != names.old.end())
          entry = names.fresh[static_cast<std::size_t>(at - names.old.begin())];
  }
}

/// The same names in octs of walls.
std::function<Particles(int)> renamed_walls(std::function<Particles(int)> read, const FieldNames& names) {
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

/// Moves the domain to where a code has it.
void move_to_zero(mesh::Header& header, const Words& to, std::vector<Particles>& all, std::vector<std::string>& notes) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double lo = header.lo[axis];
    if (lo == 0) continue;
    notes.push_back("a " + std::string(to.code) + " box begins at 0: positions along " + "xyz"[axis] +
                    " are moved by " + std::to_string(-lo));
    header.hi[axis] -= lo;
    header.lo[axis] = 0;
    for (Particles& particles : all)
      if (Field* field = find_attribute(particles, std::string("position_") + "xyz"[axis]); field != nullptr) {
        mesh::widen(*field);
        for (double& x : field->as<double>()) x -= lo;
      }
  }
}

}  // namespace

std::string translated_name(const mesh::Header& header, const mesh::FieldInfo& field, const TranslateOptions& options) {
  return new_name(field, header.dim, options.rename)
      .value_or(table_name(field, header.dim, formats::words_of(header), *options.to));
}

Identities identities_of(const Particles& particles, const Words& words) {
  Particles copy{.species = particles.species, .count = particles.count, .attributes = {}};
  for (const Field& field : particles.attributes)
    if (is_reserved(field.info.name, words)) copy.attributes.push_back(field);
  return take_identities(copy, words);
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

Particles translate(const Particles& particles, const Words& from, const Words& to, int dim,
                    std::vector<std::string>& notes) {
  Particles out = particles;
  Identities who = take_identities(out, from);
  std::vector<std::size_t> order = sorted_by_identity(who);
  sort_duplicates(out, who, order);
  for (Field& field : out.attributes) reorder(field, order);
  reorder(who.id, order);
  reorder(who.cpu, order);
  if (from.three_positions) drop_unused_positions(out, dim);
  rename_attributes(out, from, to);
  put_identities(out, std::move(who), to, notes);
  if (to.complete_particles != nullptr) to.complete_particles(out, dim, notes);
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
  const FieldNames names = plan_names(source.header, options);
  const Words &from = formats::words_of(source.header), &to = *options.to;
  mesh::Dataset out = source;
  out.header.fields.clear();
  for (std::size_t f = 0; f < names.old.size(); ++f) {
    const auto at = mesh::select_fields(source.header, std::vector<std::string>{names.old[f]});
    out.header.fields.push_back(source.header.fields[at[0]]);
    out.header.fields.back().name = names.fresh[f];
  }
  std::vector<Particles> all;
  const bool as_they_are = &from == &to;
  if (options.particles && !as_they_are)
    for (const Particles& particles : mesh::gather_particles(source)) {
      if (auto note = outside_note(particles, source.header); !note.empty()) notes.push_back(std::move(note));
      if (particles.count == 0) continue;
      all.push_back(translate(particles, from, to, source.header.dim, notes));
      if (from.keeps_source && has_source(source.header, to)) restore_columns(source.header, all.back());
    }
  if (to.domain_from_zero && !as_they_are) move_to_zero(out.header, to, all, notes);
  if (!as_they_are) {
    set_attributes(out.header, source.species, from, to);
    out.header.code = to.code;
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

namespace {

/// New names by old ones.
using NewNames = std::map<std::string, std::string>;

bool is_among(const std::vector<mesh::FieldInfo>& infos, const std::string& name) {
  return std::any_of(infos.begin(), infos.end(), [&](const mesh::FieldInfo& info) { return info.name == name; });
}

/// Names of one side that mean the same as another name of the other side.
template <class NewName>
void add_words(const std::vector<mesh::FieldInfo>& mine, const std::vector<mesh::FieldInfo>& others,
               NewName&& new_name_of, const std::set<std::string>& keep, NewNames& names) {
  for (const mesh::FieldInfo& info : mine) {
    const std::string fresh = new_name_of(info.name);
    if (fresh != info.name && !keep.contains(info.name) && is_among(others, fresh) && !is_among(mine, fresh) &&
        !is_among(others, info.name))
      names[info.name] = fresh;
  }
}

void rename(mesh::FieldInfo& info, const NewNames& names) {
  if (const auto found = names.find(info.name); found != names.end()) info.name = found->second;
}

}  // namespace

mesh::Dataset in_words_of(const mesh::Dataset& step, const mesh::Dataset& other, const std::set<std::string>& keep,
                          std::string& said) {
  const Words &from = formats::words_of(step.header), &to = formats::words_of(other.header);
  if (&from == &to) return step;
  NewNames fields, attributes, old;
  const auto field = [&](const std::string& name) { return formats::field_name(name, from, to); };
  const auto attribute = [&](const std::string& name) { return formats::particle_name(name, from, to); };
  add_words(step.header.fields, other.header.fields, field, keep, fields);
  for (const mesh::SpeciesInfo& species : step.species)
    for (const mesh::SpeciesInfo& theirs : other.species)
      add_words(species.attributes, theirs.attributes, attribute, {}, attributes);
  NewNames all = attributes;
  all.insert(fields.begin(), fields.end());
  for (const auto& [name, fresh] : all) said += (said.empty() ? "" : ", ") + name + " is " + fresh;
  if (said.empty()) return step;
  mesh::Dataset out = step;
  for (mesh::FieldInfo& info : out.header.fields) rename(info, fields);
  for (mesh::SpeciesInfo& species : out.species)
    for (mesh::FieldInfo& info : species.attributes) rename(info, attributes);
  for (const auto& [name, fresh] : fields) old[fresh] = name;
  out.read = [step, fields, attributes, old](int part, mesh::Request request) {
    if (request.fields)
      for (std::string& name : *request.fields)
        if (const auto found = old.find(name); found != old.end()) name = found->second;
    mesh::Part read = step.read(part, request);
    for (Field& values : read.fields) rename(values.info, fields);
    for (Particles& species : read.particles)
      for (Field& values : species.attributes) rename(values.info, attributes);
    return read;
  };
  return out;
}

}  // namespace octavo::step
