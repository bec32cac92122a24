#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "octavo/base/error.hpp"

/// Formulas over columns of numbers, such as "sqrt(velocity_x^2 + velocity_y^2)": read once, then evaluated over whole
/// columns. All numbers are doubles; a condition is 1 or 0.
///
///     condition  = both { ("|" | "or") both }            both    = negated { ("&" | "and") negated }
///     negated    = ("!" | "not") negated | comparison    comparison = sum [ ("<" "<=" ">" ">=" "==" "!=") sum ]
///     sum        = product { ("+" | "-") product }       product = sign { ("*" | "/") sign }
///     sign       = ("+" | "-") sign | power              power   = primary [ ("^" | "**") sign ]
///     primary    = number [ unit ] | name | "quoted name" | function "(" condition { "," condition } ")" | "("
///     condition ")"
///
/// A name begins with a letter or "_" and goes on with those, digits and "."; any other goes between double quotes
/// or backticks. Functions: abs sqrt exp log log10 log2 sin cos tan asin acos atan tanh floor ceil sign isnan isfinite
/// (of one number), pow atan2 (of two), min max norm (of any number), where(condition, then, else). min and max of NaN
/// are NaN; a comparison with NaN is 0; NaN as a condition counts as true in "&", "|", "!" and where, as every number
/// but 0 does. A unit is words of the table of units (mesh/units.hpp) with whole powers, joined by "*", "/" or a blank:
/// 1e-24 g/cm3. It goes on as long as such words do. gradient, divergence and vorticity (step/gradients.hpp) are read
/// here, and not compiled. norm(v) of a name that has no values but v_x, v_y or v_z is the
/// length of that vector.
namespace octavo::mesh {

/// A formula as it was written: a number, a name, or a function or operator with what it is applied to.
struct Term {
  enum class Kind : std::uint8_t { number, name, call } kind = Kind::number;
  double number = 0;
  std::string text{};         ///< the name, or the function or operator
  std::vector<Term> parts{};  ///< arguments
  std::string unit{};         ///< of a number, as it was written
};

/// Reads a formula. Throws Error(usage) with the column, what was expected and what was found.
Term parse_formula(std::string_view text);

/// The formula as text, for messages.
std::string to_string(const Term& term);

/// Whether the text is a name alone: letters, digits, "_" and ".", or quoted.
bool is_plain_name(const Term& term);

/// A name of a formula stands for a number, for a column, or for another formula.
struct Column {
  std::string name;
};
using Meaning = std::variant<double, Column, Term>;
struct Vocabulary {
  std::function<std::optional<Meaning>(const std::string& name)> find;  ///< nothing: unknown
  std::function<base::Error(const std::string& name)> unknown;          ///< what to say then
  std::function<double(const std::string& unit)> size{};                ///< of a unit in those of the columns; empty: 1
};

/// A formula made ready: operations on a stack of blocks.
struct Program {
  enum class Operation : std::uint8_t;
  struct Step {
    Operation operation;
    double number = 0;      ///< of a constant
    std::size_t input = 0;  ///< of a column: its place in `inputs`
  };
  std::vector<Step> steps;
  std::vector<std::string> inputs;  ///< columns, each once, in the order of their first use
  std::size_t depth = 0;            ///< of the stack
};

/// Finds what names mean. Throws Error(usage) for an unknown name, a function with another number of arguments, and
/// definitions that lead back to themselves.
Program compile(const Term& formula, const Vocabulary& vocabulary);

/// Evaluates it for every place of the columns; `inputs` are in the program's order, of the length of `out`.
void evaluate(const Program& program, std::span<const std::span<const double>> inputs, std::span<double> out);

}  // namespace octavo::mesh
