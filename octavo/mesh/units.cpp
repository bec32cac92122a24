#include "octavo/mesh/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

constexpr Powers a_length{1, 0, 0, 0}, a_mass{0, 1, 0, 0}, a_time{0, 0, 1, 0}, a_temperature{0, 0, 0, 1},
    a_volume{3, 0, 0, 0}, an_energy{2, 1, -2, 0}, a_force{1, 1, -2, 0}, a_pressure{-1, 1, -2, 0}, a_power{2, 1, -3, 0},
    a_density{-3, 1, 0, 0};

/// IAU 2012 and 2015, Julian years. H is a hydrogen atom; M, S and KG are TELEMAC's words.
constexpr std::array<KnownUnit, 37> known_units{{{"mm", 0.1, a_length},
                                                 {"cm", 1, a_length},
                                                 {"m", 1e2, a_length},
                                                 {"km", 1e5, a_length},
                                                 {"au", 1.495978707e13, a_length},
                                                 {"pc", 3.0856775814913673e18, a_length},
                                                 {"kpc", 3.0856775814913673e21, a_length},
                                                 {"Mpc", 3.0856775814913673e24, a_length},
                                                 {"s", 1, a_time},
                                                 {"yr", 3.15576e7, a_time},
                                                 {"kyr", 3.15576e10, a_time},
                                                 {"Myr", 3.15576e13, a_time},
                                                 {"Gyr", 3.15576e16, a_time},
                                                 {"g", 1, a_mass},
                                                 {"kg", 1e3, a_mass},
                                                 {"Msun", 1.98840987e33, a_mass},
                                                 {"H", 1.6735328e-24, a_mass},
                                                 {"cc", 1, a_volume},
                                                 {"h", 3600, a_time},
                                                 {"d", 86400, a_time},
                                                 {"K", 1, a_temperature},
                                                 {"erg", 1, an_energy},
                                                 {"J", 1e7, an_energy},
                                                 {"eV", 1.602176634e-12, an_energy},
                                                 {"dyn", 1, a_force},
                                                 {"N", 1e5, a_force},
                                                 {"Pa", 10, a_pressure},
                                                 {"bar", 1e6, a_pressure},
                                                 {"W", 1e7, a_power},
                                                 {"Lsun", 3.828e33, a_power},
                                                 {"M", 1e2, a_length},
                                                 {"S", 1, a_time},
                                                 {"KG", 1e3, a_mass},
                                                 {"code_length", 0, a_length},
                                                 {"code_mass", 0, a_mass},
                                                 {"code_time", 0, a_time},
                                                 {"code_density", 0, a_density}}};

constexpr std::array<std::string_view, 4> names_of_powers{"length", "mass", "time", "temperature"},
    cgs_of_powers{"cm", "g", "s", "K"};

bool is_unit_letter(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_power_digit(char c) { return c >= '0' && c <= '9'; }

/// Bytes of a power at the beginning of a text ("3", "^-1", "**2"), and the power; 0 bytes if there is none.
std::size_t scan_power(std::string_view text, double& power) {
  std::size_t at = 0;
  if (text.starts_with("**") || text.starts_with("^")) {
    at = text[0] == '^' ? 1 : 2;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
  }
  std::size_t end = at;
  while (end < text.size() && is_power_digit(text[end])) ++end;
  int whole = 0;
  if (end == at || std::from_chars(text.data() + at, text.data() + end, whole).ec != std::errc()) return 0;
  power = at > 0 && text[at - 1] == '-' ? -whole : whole;
  return end;
}

double code_size(const Powers& powers, const CodeUnits& code) {
  double size = 1;
  const std::array<double, 3> one{code.length, code.mass, code.time};
  for (std::size_t i = 0; i < one.size(); ++i)
    if (powers[i] != 0) size *= std::pow(one[i], powers[i]);
  return size;
}

std::string short_number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Words with powers as one text: those above 0 joined by "*", then each other behind a "/".
template <class Words>
std::string joined_words(const Words& words) {
  std::string over, under;
  for (const auto& [name, power] : words) {
    std::string& to = power > 0 ? over : under;
    if (power < 0 || !over.empty()) to += power > 0 ? "*" : "/";
    to.append(name);
    if (std::abs(power) != 1) to += "**" + short_number(std::abs(power));
  }
  return over.empty() && !under.empty() ? "1" + under : over + under;
}

Error no_unit(std::string_view text) {
  return Error(Kind::usage, "'" + std::string(text) + "' is no unit").hint("g/cm**3, H/cc, Msun/pc**2, km/s ...");
}

}  // namespace

std::span<const KnownUnit> unit_table() { return known_units; }

double length_in_cm(std::string_view word) {
  if (word == "metre" || word == "meter" || word == "metres" || word == "meters") word = "m";
  const KnownUnit* unit = unit_named(word);
  return unit != nullptr && unit->size > 0 && unit->powers == a_length ? unit->size : 1;
}

std::string word_of_length(double cm) {
  for (const KnownUnit& unit : known_units)
    if (cm != 1 && unit.size == cm && unit.powers == a_length) return std::string(unit.name);
  return {};
}

const KnownUnit* unit_named(std::string_view name) {
  const auto* const found =
      std::find_if(known_units.begin(), known_units.end(), [&](const KnownUnit& unit) { return unit.name == name; });
  return found == known_units.end() ? nullptr : found;
}

std::string hint_of_units() {
  std::string all;
  for (const KnownUnit& unit : known_units) all.append(all.empty() ? "there are: " : ", ").append(unit.name);
  return all;
}

std::optional<ScannedUnit> scan_unit(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_unit_letter(text[end])) ++end;
  if (end == 0) return {};
  ScannedUnit word{text.substr(0, end), 1, end};
  word.length += scan_power(text.substr(end), word.power);
  return word;
}

UnitWords parse_unit(std::string_view text) {
  const std::string_view all_of_it = text;
  while (text.ends_with(' ')) text.remove_suffix(1);
  UnitWords words;
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    // A "/" counts for the next word alone: "g/cm**2/s".
    bool under = false;
    for (; at < text.size() && (text[at] == ' ' || text[at] == '*' || text[at] == '/'); ++at)
      under = under || text[at] == '/';
    if (text.substr(at).starts_with("1")) {
      any = true;
      ++at;
      continue;
    }
    const auto word = scan_unit(text.substr(at));
    if (!word) throw no_unit(all_of_it);
    if (unit_named(word->name) == nullptr)
      throw Error(Kind::usage, "unknown unit '" + std::string(word->name) + "' in '" + std::string(all_of_it) + "'")
          .hint(hint_of_units());
    words = product(std::move(words), {{std::string(word->name), word->power}}, under ? -1 : 1);
    any = true;
    at += word->length;
  }
  if (!any) throw no_unit(all_of_it);
  return words;
}

std::string to_string(const UnitWords& unit) {
  for (const auto& [name, power] : unit)
    if (power != std::floor(power)) return {};
  return joined_words(unit);
}

UnitWords product(UnitWords first, const UnitWords& second, double power) {
  for (const auto& [name, of] : second) first[name] += of * power;
  std::erase_if(first, [](const auto& word) { return word.second == 0; });
  return first;
}

Powers powers_of(const UnitWords& unit) {
  Powers powers{};
  for (const auto& [name, power] : unit)
    for (std::size_t i = 0; i < powers.size(); ++i) powers[i] += unit_named(name)->powers[i] * power;
  return powers;
}

double size_in_cgs(const UnitWords& unit, const CodeUnits& code) {
  double size = 1;
  for (const auto& [name, power] : unit) {
    const KnownUnit& known = *unit_named(name);
    size *= std::pow(known.size == 0 ? code_size(known.powers, code) : known.size, power);
  }
  return size;
}

double size_in_code_units(const UnitWords& unit, const CodeUnits& code) {
  UnitWords others = unit;
  std::erase_if(others, [](const auto& word) { return unit_named(word.first)->size == 0; });
  return size_in_cgs(others, code) / code_size(powers_of(others), code);
}

std::string kind_of_unit(const Powers& powers) {
  std::string text;
  for (std::size_t i = 0; i < powers.size(); ++i) {
    if (powers[i] == 0) continue;
    text.append(text.empty() ? "a " : " ").append(names_of_powers[i]);
    if (powers[i] != 1) text += "^" + short_number(powers[i]);
  }
  return text.empty() ? "without dimension" : text;
}

std::string example_of_unit(const Powers& powers) {
  // The mass stands first: "g/cm**3", "g*cm**2/s**2".
  std::vector<std::pair<std::string_view, double>> words;
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}, std::size_t{2}, std::size_t{3}})
    if (powers[i] != 0) words.emplace_back(cgs_of_powers[i], powers[i]);
  return words.empty() ? "1" : joined_words(words);
}

double unit_factor(const std::string& have, const std::string& want, const CodeUnits& code, const std::string& path,
                   const std::string& what) {
  if (have.empty())
    throw Error(Kind::usage, "the data set does not say the unit of " + what)
        .at(path)
        .hint("leave the unit '" + want + "' away");
  const UnitWords old_words = parse_unit(have), new_words = parse_unit(want);
  const Powers old_powers = powers_of(old_words), new_powers = powers_of(new_words);
  if (old_powers != new_powers)
    throw Error(Kind::usage, what + " is " + kind_of_unit(old_powers) + " [" + have + "], and '" + want + "' is " +
                                 kind_of_unit(new_powers))
        .hint("write " + example_of_unit(old_powers));
  if (old_words == new_words) return 1;
  const double ratio = size_in_cgs(old_words, code) / size_in_cgs(new_words, code);
  if (std::isnan(ratio))
    throw Error(Kind::usage, "the data set does not say what its code units are: " + what + " [" + have +
                                 "] cannot be given in " + want)
        .at(path)
        .hint("leave the unit away, or write it in code units");
  return ratio;
}

}  // namespace octavo::mesh
