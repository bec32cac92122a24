#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <span>

#include "octavo/base/error.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/verbs/export/write_file.hpp"

namespace octavo::verbs {
namespace {

using base::Error;
using base::Kind;
using detail::ExportJob;
using formats::vtkhdf::CellFile;

constexpr std::array<const char*, 3> positions{"position_x", "position_y", "position_z"};

bool is_position(const std::string& name) {
  return std::any_of(positions.begin(), positions.end(), [&](const char* position) { return name == position; });
}

std::string listed_names(const std::vector<mesh::SpeciesInfo>& species) {
  std::string names;
  for (const mesh::SpeciesInfo& one : species) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

std::vector<mesh::SpeciesInfo> chosen_species(const step::SharedStep& step, const ExportOptions& options) {
  if (step.species.empty()) throw Error(Kind::usage, "the step has no particles").at(step.path);
  if (!options.species) return step.species;
  std::vector<mesh::SpeciesInfo> chosen;
  for (const std::string& name : *options.species) {
    const auto found = std::find_if(step.species.begin(), step.species.end(),
                                    [&](const mesh::SpeciesInfo& species) { return species.name == name; });
    if (found == step.species.end())
      throw Error(Kind::usage, "no species \"" + name + "\"")
          .at(step.path)
          .hint("there are: " + listed_names(step.species));
    chosen.push_back(*found);
  }
  return chosen;
}

/// The attributes of all species, each in a type that holds its values in every species; then the number of the
/// species.
std::vector<mesh::FieldInfo> attributes_of(const std::vector<mesh::SpeciesInfo>& all, const ExportOptions& options) {
  std::vector<mesh::FieldInfo> fields;
  std::string known;
  for (const mesh::SpeciesInfo& species : all)
    for (mesh::FieldInfo info : species.attributes) {
      if (is_position(info.name)) continue;
      info.type = formats::vtkhdf::type_in_file(info.type, options.single_precision);
      const auto same = std::find_if(fields.begin(), fields.end(),
                                     [&](const mesh::FieldInfo& field) { return field.name == info.name; });
      if (same == fields.end()) {
        known += (known.empty() ? "" : ", ") + info.name;
        fields.push_back(info);
      } else if (same->components != info.components) {
        throw Error(Kind::unsupported, "attribute " + info.name + " has other components in species " + species.name)
            .hint("export one species at a time (--species)");
      } else if (same->type != info.type) {
        same->type = mesh::ScalarType::float64;
      }
    }
  if (options.fields) {
    std::vector<mesh::FieldInfo> asked;
    for (const std::string& name : *options.fields) {
      const auto found =
          std::find_if(fields.begin(), fields.end(), [&](const auto& field) { return field.name == name; });
      if (found == fields.end())
        throw Error(Kind::usage, "no particle has an attribute \"" + name + "\"").hint("there are: " + known);
      asked.push_back(*found);
    }
    fields = std::move(asked);
  }
  mesh::FieldInfo number;
  number.name = "species";
  number.type = mesh::ScalarType::uint8;
  fields.push_back(number);
  return fields;
}

/// The part's particles of the chosen species, in their order, those in the region.
std::vector<mesh::Particles> read_chosen(const ExportJob& job, std::size_t i,
                                         const std::vector<mesh::SpeciesInfo>& chosen) {
  mesh::Request request;
  request.fields.emplace();
  request.particles = true;
  mesh::Part part = job.mine.read(static_cast<int>(i), request);
  std::vector<mesh::Particles> out;
  for (const mesh::SpeciesInfo& info : chosen) {
    out.push_back({.species = info.name, .count = 0, .attributes = {}});
    for (mesh::Particles& species : part.particles)
      if (species.species == info.name) out.back() = std::move(species);
    if (job.selection.region) mesh::keep(out.back(), mesh::inside(*job.selection.region, job.header, out.back()));
  }
  return out;
}

/// The species' values of a field of the file.
mesh::Field values_of_species(const mesh::Particles& species, std::size_t number, const mesh::FieldInfo& info) {
  mesh::Field field = mesh::make_field(info, static_cast<std::size_t>(species.count * info.components));
  if (info.name == "species") {
    std::fill(field.bytes.begin(), field.bytes.end(), static_cast<std::byte>(number));
    return field;
  }
  for (const mesh::Field& own : species.attributes)
    if (own.info.name == info.name) return formats::vtkhdf::as_in_file(own, info.type);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  if (info.type == mesh::ScalarType::float64) std::fill(field.as<double>().begin(), field.as<double>().end(), nan);
  if (info.type == mesh::ScalarType::float32)
    std::fill(field.as<float>().begin(), field.as<float>().end(), static_cast<float>(nan));
  return field;
}

std::vector<double> places_of_species(const mesh::Particles& species) {
  std::vector<double> places(static_cast<std::size_t>(species.count) * 3, 0);
  for (std::size_t axis = 0; axis < 3; ++axis)
    for (const mesh::Field& own : species.attributes) {
      if (own.info.name != positions[axis]) continue;
      const std::vector<double> along = mesh::to_doubles(own);
      for (std::size_t i = 0; i < along.size(); ++i) places[3 * i + axis] = along[i];
    }
  return places;
}

void write_part_particles(const std::vector<mesh::Particles>& all, const ExportJob& job, bool single,
                          std::uint64_t first, const file::File& file, const CellFile& places) {
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto count = static_cast<std::uint64_t>(all[s].count);
    if (count == 0) continue;
    detail::put_reals(file, places.points, first * 3, places_of_species(all[s]), single);
    std::vector<std::int64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), static_cast<std::int64_t>(first));
    detail::put_connectivity(file, places, first, 1, numbers);
    for (std::size_t f = 0; f < job.fields.size(); ++f) {
      const mesh::Field values = values_of_species(all[s], s, job.fields[f]);
      const std::size_t width = mesh::size_of(values.info.type) * static_cast<std::size_t>(values.info.components);
      file::pwrite_all(file, places.fields[f] + first * width, values.bytes);
    }
    first += count;
  }
}

}  // namespace

ExportReport export_particles(const step::SharedStep& step, const std::filesystem::path& out,
                              const ExportOptions& options) {
  const std::vector<mesh::SpeciesInfo> chosen = chosen_species(step, options);
  ExportOptions mesh_options = options;
  mesh_options.fields = std::vector<std::string>{};
  mesh_options.max_level.reset();
  mesh_options.where.clear();
  ExportJob job = detail::begin_export(step, mesh_options);
  job.fields = attributes_of(chosen, options);
  for (const mesh::FieldInfo& field : job.fields) job.report.fields.push_back(field.name);
  for (const mesh::SpeciesInfo& species : chosen) job.report.species.push_back(species.name);
  const detail::PartRanges ranges = detail::number_parts(job, [&](std::size_t i) {
    std::int64_t count = 0;
    for (const mesh::Particles& species : read_chosen(job, i, chosen)) count += species.count;
    return detail::Counts{count, count};
  });
  if (ranges.total[0] == 0) throw detail::nothing_selected(job, "particle is");
  job.report.cells = ranges.total[0];
  detail::write_file(
      out, options, job,
      [&](const std::filesystem::path& path) {
        return formats::vtkhdf::lay_out_particles(path, job.header, static_cast<std::uint64_t>(ranges.total[0]),
                                                  job.fields, options.single_precision);
      },
      [&](const file::File& file, const CellFile& places) {
        detail::for_each_part(
            job,
            [&](std::size_t i) {
              write_part_particles(read_chosen(job, i, chosen), job, options.single_precision,
                                   static_cast<std::uint64_t>(ranges.first[i][0]), file, places);
              return true;
            },
            [](std::size_t, bool) {});
      });
  return job.report;
}

}  // namespace octavo::verbs
