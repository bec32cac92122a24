#include "octavo/mesh/formula_units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace octavo::mesh {
namespace {

using base::Error;
using base::Kind;

constexpr double same_size = 1e-12;  // relative: factors of code units are rounded

/// The unit in the code's own words, in which numbers with a unit are computed; metres and seconds where these are its
/// units and a file says no mass, as those of triangles.
UnitWords in_code_words(const UnitWords& unit, const CodeUnits& code) {
  const bool metres = code.length == 100 && code.time == 1 && std::isnan(code.mass);
  const std::array<const char*, 4> words{metres ? "m" : "code_length", "code_mass", metres ? "s" : "code_time", "K"};
  const Powers powers = powers_of(unit);
  UnitWords out;
  for (std::size_t i = 0; i < words.size(); ++i)
    if (powers[i] != 0) out[words[i]] = powers[i];
  return out;
}

class FormulaUnits {
 public:
  explicit FormulaUnits(const UnitVocabulary& vocabulary) : vocabulary_(vocabulary) {}

  ValueUnit of(const Term& term) const {
    switch (term.kind) {
      case Term::Kind::number: return of_number(term);
      case Term::Kind::name: return of_name(term.text);
      default: return of_call(term);
    }
  }

 private:
  ValueUnit of_number(const Term& term) const {
    if (term.unit.empty()) return plain_number();
    const UnitWords unit = parse_unit(term.unit);
    if (std::isnan(size_in_code_units(unit, vocabulary_.code)))
      throw Error(Kind::usage, "'" + to_string(term) + "': the data set does not say what its code units are")
          .at(vocabulary_.path)
          .hint("leave the unit away, or write it in code units");
    return {in_code_words(unit, vocabulary_.code), false, true};
  }

  ValueUnit of_name(const std::string& name) const {
    const auto meaning = vocabulary_.names.find(name);
    if (const auto* formula = std::get_if<Term>(&*meaning)) return of(*formula);
    return vocabulary_.unit(name);
  }

  ValueUnit of_call(const Term& term) const {
    const std::string& word = term.text;
    if (word == "norm") return of_norm(term);
    std::vector<ValueUnit> parts;
    for (const Term& part : term.parts) parts.push_back(of(part));
    const auto is = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), word) != names.end();
    };
    if (is({"-x", "abs", "floor", "ceil"})) return parts[0];
    if (is({"+", "-", "min", "max"})) return joined(term.parts, parts, 0);
    if (is({"*", "/"})) return times(parts[0], parts[1], word == "*" ? 1 : -1);
    if (word == "sqrt") return to_power(parts[0], 0.5);
    if (is({"^", "pow"})) return to_power(parts[0], term.parts[1]);
    if (word == "where") return joined(term.parts, parts, 1);
    if (is({"<", "<=", ">", ">=", "==", "!=", "atan2"})) joined(term.parts, parts, 0);
    return {UnitWords{}, false, false};
  }

  /// The unit of the arguments from `first` on, which have to be of one kind.
  ValueUnit joined(const std::vector<Term>& terms, const std::vector<ValueUnit>& units, std::size_t first) const {
    ValueUnit all = units[first];
    std::size_t of_all = first;
    for (std::size_t i = first + 1; i < units.size(); ++i) {
      const bool was_plain = all.plain;
      all = join(terms[of_all], all, terms[i], units[i]);
      if (was_plain) of_all = i;
    }
    return all;
  }

  ValueUnit join(const Term& left, const ValueUnit& a, const Term& right, const ValueUnit& b) const {
    const bool written = a.written || b.written;
    if (a.plain || b.plain) {
      ValueUnit out = a.plain ? b : a;
      out.written = written;
      return out;
    }
    if (!written) return alike(a, b) ? a : ValueUnit{};
    if (!a.words || !b.words) throw not_known(a.words ? right : left);
    if (powers_of(*a.words) != powers_of(*b.words))
      throw a.written && !b.written ? mismatch(right, *b.words, left, *a.words)
                                    : mismatch(left, *a.words, right, *b.words);
    if (!alike(a, b)) throw other_size(a.written ? right : left, a.written ? *b.words : *a.words);
    return a.written ? b : a;
  }

  bool alike(const ValueUnit& a, const ValueUnit& b) const {
    if (!a.words || !b.words || powers_of(*a.words) != powers_of(*b.words)) return false;
    if (*a.words == *b.words) return true;
    const double ratio =
        size_in_code_units(*a.words, vocabulary_.code) / size_in_code_units(*b.words, vocabulary_.code);
    return std::abs(ratio - 1) < same_size;
  }

  static ValueUnit times(const ValueUnit& a, const ValueUnit& b, double power) {
    const bool written = a.written || b.written;
    if (!a.words || !b.words) return {{}, false, written};
    return {product(*a.words, *b.words, power), a.plain && b.plain, written};
  }

  static ValueUnit to_power(const ValueUnit& base, double power) {
    if (!base.words) return base;
    return {product({}, *base.words, power), base.plain, base.written};
  }
  ValueUnit to_power(const ValueUnit& base, const Term& exponent) const {
    const bool negative = exponent.kind == Term::Kind::call && exponent.text == "-x";
    const Term& number = negative ? exponent.parts[0] : exponent;
    if (number.kind == Term::Kind::number && number.unit.empty())
      return to_power(base, negative ? -number.number : number.number);
    const bool without = base.words && base.words->empty();
    return without ? base : ValueUnit{{}, false, base.written};
  }

  ValueUnit of_norm(const Term& term) const {
    std::vector<Term> terms;
    for (const Term& part : term.parts) {
      if (!is_plain_name(part) || vocabulary_.names.find(part.text)) {
        terms.push_back(part);
        continue;
      }
      for (const char* axis : {"_x", "_y", "_z"})
        if (vocabulary_.names.find(part.text + axis)) terms.push_back({Term::Kind::name, 0, part.text + axis, {}, {}});
    }
    std::vector<ValueUnit> units;
    for (const Term& one : terms) units.push_back(of(one));
    return joined(terms, units, 0);
  }

  Error mismatch(const Term& term, const UnitWords& unit, const Term& written, const UnitWords& other) const {
    const Powers powers = powers_of(unit);
    const std::string words = to_string(unit);
    return Error(Kind::usage, to_string(term) + " is " + kind_of_unit(powers) +
                                  (words.empty() ? "" : " [" + words + "]") + ", and '" + to_string(written) + "' is " +
                                  kind_of_unit(powers_of(other)))
        .hint(unit.empty() ? "leave the unit away" : "write " + example_of_unit(powers));
  }
  Error not_known(const Term& term) const {
    return Error(Kind::usage, "the data set does not say the unit of " + to_string(term))
        .at(vocabulary_.path)
        .hint("leave the unit away");
  }
  Error other_size(const Term& term, const UnitWords& unit) const {
    return Error(Kind::usage, to_string(term) + " is in " + to_string(unit) +
                                  ", which is no code unit: a number with a unit cannot be held against it")
        .at(vocabulary_.path)
        .hint("leave the unit away, and give the number in " + to_string(unit));
  }

  const UnitVocabulary& vocabulary_;
};

}  // namespace

std::optional<UnitWords> unit_of(const Term& formula, const UnitVocabulary& vocabulary) {
  const auto words = FormulaUnits(vocabulary).of(formula).words;
  // The root of a product of "M" and "code_length/code_time**2" has whole powers in the code's own words alone.
  if (words && to_string(*words).empty() && std::abs(size_in_code_units(*words, vocabulary.code) - 1) < same_size)
    return in_code_words(*words, vocabulary.code);
  return words;
}

}  // namespace octavo::mesh
