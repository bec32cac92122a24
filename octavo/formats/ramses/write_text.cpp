#include "octavo/formats/ramses/write_text.hpp"

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

void write_info(const std::filesystem::path& path, const Plan& plan) {
  const mesh::Header& header = *plan.header;
  std::string text;
  const auto integer = [&](const char* name, std::int64_t value) {
    text += line("%-12s=%11lld", name, static_cast<long long>(value));
  };
  const auto number = [&](const char* name, double value) { text += line("%-12s=%s", name, real(value).c_str()); };
  integer("ncpu", plan.owners.count());
  integer("ndim", header.dim);
  integer("levelmin", static_cast<std::int64_t>(number_or(header, "levelmin", 1)));
  integer("levelmax", plan.nlevelmax);
  integer("ngridmax", plan.ngridmax);
  integer("nstep_coarse", static_cast<std::int64_t>(number_or(header, "nstep_coarse", 0)));
  text += "\n";
  // The box in info is that of one coarse cell.
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
  const bool bisection = plan.owners.bounds.empty();
  text += line("%-94s", bisection ? "ordering type=bisection" : "ordering type=hilbert");
  text += bisection ? "" : "   DOMAIN   ind_min                 ind_max\n";
  for (std::size_t d = 0; d + 1 < plan.owners.bounds.size(); ++d)
    text += line("%8zu%s%s", d + 1, real(mesh::to_double(plan.owners.bounds[d])).c_str(),
                 real(mesh::to_double(plan.owners.bounds[d + 1])).c_str());
  write_text(path, text);
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
  write_text(path, text + "\n");
}

void write_descriptor(const std::filesystem::path& path, const std::vector<std::string>& names,
                      const std::vector<mesh::ScalarType>& types) {
  std::string text = "# version:  1\n# ivar, variable_name, variable_type\n";
  for (std::size_t i = 0; i < names.size(); ++i)
    text += line("%2zu, %s, %c", i + 1, names[i].c_str(), letter(types[i]));
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

}  // namespace octavo::formats::ramses
