#include "octavo/formats/ramses/row.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/formats/row/options.hpp"

namespace octavo::formats::ramses {
namespace {

using base::Error;
using base::Kind;
using mesh::Field;
using mesh::Particles;

struct RamsesOptions {
  int number = 0;          ///< NNNNN of output_NNNNN; 0: the number in the output's name, else the step's
  int domains = 0;         ///< 0: the step's number of parts
  std::string ordering{};  ///< of the domains: "hilbert", "planar"; empty: the step's own
};

std::vector<NamedOption> named(RamsesOptions& options) {
  return {{"number", &options.number},
          {"domains", &options.domains,
           "number of domains (ranks), with equal numbers of leaves (default: the input's domains)"},
          {"ordering",
           &options.ordering,
           "the ordering of the domains; the run's namelist must have the same (default: the input's)",
           {"hilbert", "planar"}}};
}

// ------------------------------------------------------------------------------------------------------------- words

/// File descriptors of older versions.
constexpr std::array<Word, 1> also_words{{{"thermal_pressure", "pressure"}}};
/// RAMSES' tag distinguishes kinds of particles within a family. Elsewhere the word means something else.
constexpr std::array<Word, 1> particle_words{{{"tag", "family_tag"}}};
constexpr std::array<std::string_view, 4> reserved{"identity", "id", "cpu", "tag"};
constexpr std::array<std::string_view, 3> field_lists{"hydro_variables", "grav_variables", "rt_variables"};
constexpr std::array<std::string_view, 7> lists_of_parts{
    "bound_key", "bound_key_low", "bisection_wall", "bisection_next", "bisection_indx", "cpubox_min", "cpubox_max"};

void set_step(mesh::Header& header, std::int64_t step) { header.attributes["nstep_coarse"] = step; }

template <class T>
void narrow(Particles& particles, const char* name) {
  Field* field = find_attribute(particles, name);
  if (field == nullptr || field->info.type == mesh::scalar_type_of<T>()) return;
  std::vector<T> values;
  for (const std::int64_t value : integers_of(*field)) {
    if (value != static_cast<T>(value)) return;
    values.push_back(static_cast<T>(value));
  }
  std::erase_if(particles.attributes, [&](const Field& other) { return other.info.name == name; });
  particles.attributes.push_back(mesh::attribute_of(name, values));
}

template <class T>
void need(Particles& particles, const std::string& name, T value, std::string& added) {
  if (find_attribute(particles, name) != nullptr) return;
  particles.attributes.push_back(
      mesh::attribute_of(name, std::vector<T>(static_cast<std::size_t>(particles.count), value)));
  added += (added.empty() ? "" : ", ") + name;
}

/// The columns that RAMSES reads, in its order and types. Other columns follow.
void complete_particles(Particles& particles, int dim, std::vector<std::string>& notes) {
  std::string added;
  std::vector<std::string> order;
  for (const char* vector : {"position_", "velocity_"})
    for (int axis = 0; axis < dim; ++axis) order.push_back(std::string(vector) + "xyz"[axis]);
  for (const std::string& name : order) need(particles, name, 0.0, added);
  // RAMSES' families: 1 is dark matter, 0 are tracers carried by the gas.
  const bool massive = find_attribute(particles, "mass") != nullptr;
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
  const auto place = [&](const Field& field) {
    return std::find(order.begin(), order.end(), field.info.name) - order.begin();
  };
  std::stable_sort(particles.attributes.begin(), particles.attributes.end(),
                   [&](const Field& a, const Field& b) { return place(a) < place(b); });
  const Field* identity = find_attribute(particles, "identity");
  if (identity != nullptr && identity->info.type == mesh::ScalarType::int64)
    notes.push_back("particles of " + particles.species +
                    ": identities take 64 bits, for a RAMSES that was made with -DLONGINT");
  if (!added.empty())
    notes.push_back("particles of " + particles.species + " have no " + added + ": zero, level 1, family " +
                    (massive ? "1 (dark matter)" : "0 (tracers of the gas)"));
}

// -------------------------------------------------------------------------------------------------------------- mesh

void refuse_flat_cells(const mesh::Header& header) {
  double first = 0;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
    const double size =
        (header.hi[axis] - header.lo[axis]) / static_cast<double>(header.roots[axis] * header.block[axis]);
    if (axis == 0) first = size;
    if (std::abs(size - first) > 1e-12 * first)
      throw Error(Kind::unsupported, "RAMSES has cubic cells, and those of the step are not: " + std::to_string(first) +
                                         " along x, " + std::to_string(size) + " along " + "xyz"[axis]);
  }
}

/// Finds the coarsest level with an even number of cells along each axis, because an oct has two.
int coarsest_even(const mesh::Header& header) {
  const auto even = [&](int level) {
    for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis) {
      const std::int64_t cells = header.roots[axis] * header.block[axis];
      if (level < 0 ? cells % (std::int64_t{2} << -level) != 0 : (cells << level) % 2 != 0) return false;
    }
    return true;
  };
  int level = header.unfolded;
  while (even(level - 1)) --level;
  return even(level) ? level : level + 1;
}

// ------------------------------------------------------------------------------------------- steps of other codes

/// RAMSES' number for the boundary that FLASH has at a side of its domain; 0 if it has none.
std::int64_t bound_type_of(const std::string& flash) {
  if (flash.starts_with("reflect")) return 1;
  if (flash == "outflow" || flash == "diode") return 2;
  return flash == "user" ? 3 : 0;
}

/// Sets the attribute bound_type for the writer: its number for the boundary at each side, -x +x -y +y -z +z.
void set_bound_types(const mesh::Header& source, mesh::Header& header, std::vector<std::string>& notes) {
  std::vector<std::int64_t> types(6, 0);
  std::string unknown;
  for (std::size_t side = 0; side < 2 * static_cast<std::size_t>(header.dim); ++side) {
    if (header.periodic[side / 2]) continue;
    const std::string name = std::string(1, "xyz"[side / 2]) + "lr"[side % 2] + "_boundary_type";
    types[side] = bound_type_of(text_attribute(source, "string runtime parameters/" + name));
    if (types[side] == 0) unknown += std::string(unknown.empty() ? "" : ", ") + "-+"[side % 2] + "xyz"[side / 2];
  }
  header.attributes["bound_type"] = types;
  if (!unknown.empty())
    notes.push_back("the step does not say in RAMSES' words what stands at its sides " + unknown +
                    ": bound_type 2, free outflow, is written for them (--periodic says which axes are periodic)");
}

// ------------------------------------------------------------------------------------------------------------ number

std::filesystem::path name_of(const WriteRequest& request) {
  return (request.out.has_filename() ? request.out : request.out.parent_path()).filename();
}

/// NNNNN of output_NNNNN.
std::optional<std::int64_t> number_in(const std::string& name) {
  std::size_t first = name.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(name[first - 1])) != 0) --first;
  if (!name.starts_with("output_") || first == name.size() || name.size() - first > 15) return {};
  return std::stoll(name.substr(first));
}

int number_of(const WriteRequest& request) {
  if (const int asked = options_of(request, &named).number; asked != 0) return asked;
  const std::int64_t before = attribute<std::int64_t>(request.source, "output_number").value_or(request.step);
  const std::int64_t number = number_in(name_of(request).string()).value_or(before);
  return number > 0 && number <= 99999 ? static_cast<int>(number) : 1;
}

void note_wide_integers(const mesh::Header& header, std::vector<std::string>& notes) {
  std::string wide;
  for (const mesh::FieldInfo& field : header.fields)
    if (mesh::is_integer(field.type) && mesh::size_of(field.type) == 8) wide += (wide.empty() ? "" : ", ") + field.name;
  if (!wide.empty()) notes.push_back("RAMSES has reals only: integers beyond 2^53 are rounded in " + wide);
}

std::string misfit(const mesh::FieldInfo& field, const std::string& name, const WriteRequest& request) {
  const bool anywhere = field.centring == mesh::Centring::cell || request.same_words;
  if (field.centring != mesh::Centring::node && (anywhere || name.starts_with("B_"))) return {};
  return "RAMSES has reals only, none on nodes, and none on faces but the magnetic field (--rename A=B_x,B=B_y,C=B_z "
         "says which that is)";
}

/// RAMSES wants octs of single cells. A step of RAMSES has them; other steps start at the coarsest level that octs can
/// be made from. Throws Error(unsupported) for cells that are not cubic.
WantedMesh wanted_mesh(const mesh::Dataset& step, const WriteRequest& request) {
  if (request.same_words) return {.carry = request.particles};
  refuse_flat_cells(step.header);
  return {.blocks = {{1, 1, 1}},
          .root = coarsest_even(step.header),
          .balance = mesh::Balance::corners,
          .one_part = true,
          .level_origin = 1};
}

void write(const Series& steps, const std::filesystem::path& path, const WriteRequest& request, WriteReport& report) {
  const RamsesOptions options = options_of(request, &named);
  WriteOptions how;
  how.number = number_of(request);
  how.domains = options.domains;
  how.single_precision = request.single_precision;
  how.ordering = options.ordering;
  how.progress = request.progress;
  mesh::Dataset cells = steps.first;
  if (!request.same_words) {
    set_bound_types(request.source, cells.header, report.notes);
    if (const auto gamma = attribute<double>(request.source, "real runtime parameters/gamma"))
      cells.header.attributes["gamma"] = *gamma;
  }
  note_wide_integers(cells.header, report.notes);
  for (std::string& note : ramses::write(cells, path, how)) report.notes.push_back(std::move(note));
}

/// RAMSES finds an output by its number, in a directory named after it. The note says that the number is not the
/// step's own, or that the directory must be renamed; else empty.
std::string name_note(const WriteRequest& request) {
  const int number = number_of(request);
  char expected[32];
  std::snprintf(expected, sizeof expected, "output_%05d", number);
  const std::string name = name_of(request).string();
  const auto before = attribute<std::int64_t>(request.source, "output_number");
  const bool other_number = before && *before != number;
  if (name == expected && !other_number) return {};
  std::string note = "the output has the number " + std::to_string(number);
  if (other_number) note += ", that of its name; the step's own was " + std::to_string(*before);
  note += ": start RAMSES with nrestart=" + std::to_string(number);
  if (name != expected) note += std::string(", in a directory where it is called ") + expected;
  return note;
}

}  // namespace

const Words words{.code = "RAMSES",
                  .also = also_words,
                  .particle_attributes = particle_words,
                  .reserved = reserved,
                  .identity = "identity",
                  .shared_identities = true,
                  .domain_from_zero = true,
                  .field_lists = field_lists,
                  .set_step = &set_step,
                  .complete_particles = &complete_particles,
                  .lists_of_parts = lists_of_parts};

constinit const Format row{
    .name = "ramses",
    .title = "RAMSES",
    .recognise = &recognise,
    .open = &open_one<&open>,
    .understand = &understand,
    .options = [] { return option_infos(&named); },
    .write = &write,
    .words = &words,
    .one_process = true,
    .misfit = &misfit,
    .wanted_mesh = &wanted_mesh,
    .goes_on = [](const WriteRequest&) { return true; },
    .name_note = &name_note,
    .write_shares = &write_shares,
};

}  // namespace octavo::formats::ramses
