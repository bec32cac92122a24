#include "octavo/formats/ramses/write_text.hpp"

#include <array>
#include <cstdarg>
#include <cstdio>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/ramses/text_files.hpp"

namespace octavo::formats::ramses {
namespace {

[[gnu::format(printf, 1, 2)]] std::string line(const char* form, ...) {
  char text[512];
  std::va_list words;
  va_start(words, form);
  std::vsnprintf(text, sizeof text, form, words);
  va_end(words);
  return std::string(text) + "\n";
}

/// Fortran's E23.15: a mantissa that begins with "0.".
std::string real(double value) {
  char digits[64];
  std::snprintf(digits, sizeof digits, "%.14e", value);
  const std::string text = digits;
  const std::size_t sign = text[0] == '-' ? 1 : 0, e = text.find('e');
  if (e == std::string::npos) return text;  // NaN or infinite
  const int power = value == 0 ? 0 : std::atoi(text.c_str() + e + 1) + 1;
  std::string mantissa = text.substr(sign, e - sign);
  mantissa.erase(1, 1);
  char out[80];
  std::snprintf(out, sizeof out, "%23s", (std::string(sign != 0 ? "-" : "") + "0." + mantissa).c_str());
  char tail[16];
  std::snprintf(tail, sizeof tail, "E%+03d", power);
  return (std::string(out) + tail).substr(4);
}

void write_text(const std::filesystem::path& path, const std::string& text) {
  file::File out = file::create(path);
  file::pwrite_all(out, 0, std::as_bytes(std::span(text)));
  out.close();
}

/// Like RAMSES, puts a blank before each number.
std::string domain_table(const Owners& owners) {
  std::string text;
  if (owners.ordering == Ordering::bisection) {
    const auto domains = static_cast<std::size_t>(owners.count());
    for (std::size_t d = 0; d < domains; ++d) {
      for (const auto* corner : {&owners.box_min, &owners.box_max})
        for (std::size_t at = d; at < corner->size(); at += domains) text += line("%s", real((*corner)[at]).c_str());
      text += line("%s", real(0).c_str());  // the load; a run counts it anew
    }
    return text;
  }
  std::vector<double> bounds = owners.planes;
  for (const mesh::CurveKey& key : owners.bounds) bounds.push_back(mesh::to_double(key));
  text = "   DOMAIN   ind_min                 ind_max\n";
  for (std::size_t d = 0; d + 1 < bounds.size(); ++d)
    text += line("%8zu %s %s", d + 1, real(bounds[d]).c_str(), real(bounds[d + 1]).c_str());
  return text;
}

/// A wall's &BOUNDARY_PARAMS along each axis, and its type.
struct Wall {
  std::array<int, 3> lowest{0, 0, 0}, highest{0, 0, 0};
  int type = free_bound_type;
};

std::vector<Wall> usual_walls(const mesh::Header& header) {
  const auto types = numbers_or(header, "bound_type", {});
  std::vector<Wall> walls;
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
    if (header.periodic[a]) continue;
    for (const int side : {-1, 1}) {
      Wall wall;
      for (std::size_t b = 0; b < a; ++b)
        if (!header.periodic[b]) wall.lowest[b] = -1, wall.highest[b] = 1;
      wall.lowest[a] = wall.highest[a] = side;
      const std::size_t number = 2 * a + (side > 0 ? 1 : 0);
      if (number < types.size() && types[number] > 0) wall.type = static_cast<int>(types[number]);
      walls.push_back(wall);
    }
  }
  return walls;
}

/// " name=1,2,3"
template <class Value>
std::string listed(const std::string& name, const std::vector<Wall>& walls, Value&& value) {
  std::string text;
  for (const Wall& wall : walls) text += (text.empty() ? " " + name + "=" : ",") + std::to_string(value(wall));
  return text;
}

char letter(mesh::ScalarType type) {
  switch (type) {
    case mesh::ScalarType::float64: return 'd';
    case mesh::ScalarType::float32: return 'f';
    case mesh::ScalarType::int32: return 'i';
    case mesh::ScalarType::int64: return 'q';
    case mesh::ScalarType::int16: return 'h';
    case mesh::ScalarType::int8: return 'b';
    default:
      throw base::Error(base::Kind::unsupported,
                        "RAMSES has no particle attribute of type " + std::string(mesh::name_of(type)));
  }
}

}  // namespace

void write_info(const std::filesystem::path& path, const DomainFilePlan& plan) {
  const mesh::Header& header = *plan.header;
  std::string text;
  const auto integer = [&](const char* name, std::int64_t value) {
    text += line("%-12s=%11lld", name, static_cast<long long>(value));
  };
  const auto number = [&](const char* name, double value) { text += line("%-12s=%s", name, real(value).c_str()); };
  integer("ncpu", plan.owners.count());
  integer("ndim", header.dim);
  integer("levelmin", static_cast<std::int64_t>(plan.levelmin));
  integer("levelmax", plan.nlevelmax);
  integer("ngridmax", plan.ngridmax);
  const std::vector<double> steps = numbers_or(header, "nstep", {0, number_or(header, "nstep_coarse", 0)});
  integer("nstep_coarse", static_cast<std::int64_t>(steps.size() > 1 ? steps[1] : 0));
  text += "\n";
  // The box in info is one coarse cell.
  number("boxlen", plan.boxlen / static_cast<double>(header.roots[0] / 2));
  number("time", header.time);
  number("aexp", number_or(header, "aexp", 1));
  number("H0", number_or(header, "H0", 1));
  number("omega_m", number_or(header, "omega_m", 1));
  number("omega_l", number_or(header, "omega_l", 0));
  number("omega_k", number_or(header, "omega_k", 0));
  number("omega_b", number_or(header, "omega_b", 0));
  number("unit_l", header.unit_length);
  number("unit_d", header.unit_density);
  number("unit_t", header.unit_time);
  text += "\n";
  text += line("ordering type=%-80s", name_of(plan.owners.ordering).c_str());
  write_text(path, text + domain_table(plan.owners));
}

void write_header_text(const std::filesystem::path& path, const std::vector<std::int64_t>& by_family,
                       const std::vector<mesh::FieldInfo>& attributes) {
  const char* families[] = {"other_tracer", "debris_tracer", "cloud_tracer", "star_tracer",
                            "other_tracer", "gas_tracer",    "DM",           "star",
                            "cloud",        "debris",        "other",        "undefined"};
  std::string text = "#      Family     Count\n";
  for (std::size_t f = 0; f < std::size(families); ++f)
    text += line("%13s%10lld", families[f], static_cast<long long>(f < by_family.size() ? by_family[f] : 0));
  text += " Particle fields\n";
  const std::pair<const char*, const char*> words[] = {
      {"position_x", "pos"},   {"velocity_x", "vel"},   {"mass", "mass"}, {"identity", "iord"},
      {"levelp", "level"},     {"family", "family"},    {"tag", "tag"},   {"potential", "phi"},
      {"birth_time", "tform"}, {"metallicity", "metal"}};
  for (const auto& [name, word] : words)
    for (const mesh::FieldInfo& attribute : attributes)
      if (attribute.name == name) text += std::string(word) + " ";
  if (attributes.empty()) text += "pos vel mass iord level family tag ";
  write_text(path, text + "\n");
}

void write_descriptor(const std::filesystem::path& path, const std::vector<std::string>& names,
                      const std::vector<mesh::ScalarType>& types) {
  std::string text = "# version:  1\n# ivar, variable_name, variable_type\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += line("%2zu, %s, %c", i + 1, names[i].c_str(), letter(types[i]));
  write_text(path, text);
}

std::string boundary_params(const mesh::Header& header) {
  const std::vector<Wall> walls = usual_walls(header);
  std::string text = "&BOUNDARY_PARAMS nboundary=" + std::to_string(walls.size());
  text += listed("bound_type", walls, [](const Wall& wall) { return wall.type; });
  for (std::size_t a = 0; a < static_cast<std::size_t>(header.dim); ++a) {
    text += listed(std::string(1, "ijk"[a]) + "bound_min", walls, [a](const Wall& wall) { return wall.lowest[a]; });
    text += listed(std::string(1, "ijk"[a]) + "bound_max", walls, [a](const Wall& wall) { return wall.highest[a]; });
  }
  return text + " /";
}

std::string coarse_cells(const DomainFilePlan& plan) {
  const mesh::Index3& real = plan.coarse.real;
  if (real[0] * real[1] * real[2] == 1) return {};
  std::string text = "the box has coarse cells beside each other, and RAMSES' amr_parameters.f90 must say so:";
  for (std::size_t a = 0; a < static_cast<std::size_t>(plan.header->dim); ++a)
    text += std::string(" n") + "xyz"[a] + "=" + std::to_string(real[a]);
  return text;
}

void write_namelist(const std::filesystem::path& path, const DomainFilePlan& plan) {
  const mesh::Header& header = *plan.header;
  const auto yes = [](bool value) { return value ? ".true." : ".false."; };
  const auto whole = [](double value) { return static_cast<long long>(value); };
  std::string text =
      "! Octavo wrote this output from a step of another code. RAMSES goes on from it with these values;\n"
      "! the rest is yours, tend first.\n";
  if (const std::string cells = coarse_cells(plan); !cells.empty()) text += "! " + cells + "\n";
  text +=
      line("&RUN_PARAMS\nhydro=%s\npoisson=%s\npic=%s\ntracer=%s\nnrestart=%d\n/", yes(!plan.variables.hydro.empty()),
           yes(!plan.variables.grav.empty()), yes(plan.has_particles), yes(plan.has_tracers), plan.number);
  text +=
      line("&AMR_PARAMS\nlevelmin=%lld\nlevelmax=%d\nngridmax=%lld\nnpartmax=%lld\nboxlen=%.17g", whole(plan.levelmin),
           plan.nlevelmax, 4LL * plan.ngridmax + 1000, plan.has_particles ? 1000000LL : 0LL, plan.boxlen);
  text += line("/\n&OUTPUT_PARAMS\ntend=%.17g\n/", header.time);
  if (header.attributes.contains("gamma")) text += line("&HYDRO_PARAMS\ngamma=%.17g\n/", plan.gamma);
  text += "&INIT_PARAMS\n/\n&REFINE_PARAMS\n/\n";
  if (header.unit_length != 1 || header.unit_density != 1 || header.unit_time != 1)
    text += line("&UNITS_PARAMS\nunits_length=%.17g\nunits_density=%.17g\nunits_time=%.17g\n/", header.unit_length,
                 header.unit_density, header.unit_time);
  if (plan.coarse.regions > 0) text += boundary_params(header) + "\n";
  write_text(path, text);
}

void write_carried_texts(const mesh::Header& header, const std::filesystem::path& directory,
                         const std::string& suffix) {
  for (const CarriedText& carried : carried_texts) {
    const auto found = header.attributes.find(carried.attribute);
    if (found == header.attributes.end()) continue;
    if (const auto* text = std::get_if<std::string>(&found->second))
      write_text(directory / (carried.stem + (carried.numbered ? suffix : std::string()) + carried.extension), *text);
  }
}

void write_carried_files(const OpaqueBytes& bytes, const std::filesystem::path& directory) {
  for (const char* name : carried_files) {
    const auto found = bytes.find(std::string(carried_prefix) + name);
    if (found == bytes.end()) continue;
    file::File out = file::create(directory / name);
    file::pwrite_all(out, 0, found->second);
    out.close();
  }
}

}  // namespace octavo::formats::ramses
