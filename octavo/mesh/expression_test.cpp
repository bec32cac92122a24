#include "octavo/mesh/expression.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numeric>

namespace octavo::mesh {
namespace {

const std::map<std::string, Meaning>& words() {
  static const std::map<std::string, Meaning> known{{"a", Column{"a"}},
                                                    {"b", Column{"b"}},
                                                    {"v_x", Column{"a"}},
                                                    {"v_y", Column{"b"}},
                                                    {"WATER DEPTH", Column{"b"}},
                                                    {"two", 2.0},
                                                    {"sum", parse_formula("a + b")},
                                                    {"loop", parse_formula("1 + loop")}};
  return known;
}

Vocabulary vocabulary() {
  return {[](const std::string& name) {
            const auto found = words().find(name);
            return found == words().end() ? std::nullopt : std::optional<Meaning>(found->second);
          },
          [](const std::string& name) { return base::Error(base::Kind::usage, "unknown " + name); }};
}

/// The value for a = 3, b = 4 at the last of 1000 places, where all others have other values.
double value_of(const std::string& formula) {
  const Program program = compile(parse_formula(formula), vocabulary());
  std::vector<double> a(1000), b(1000), out(1000);
  std::iota(a.begin(), a.end(), 3 - 999.0);
  std::iota(b.begin(), b.end(), 4 - 999.0);
  std::vector<std::span<const double>> inputs;
  for (const std::string& input : program.inputs) inputs.push_back(input == "a" ? a : b);
  evaluate(program, inputs, out);
  return out.back();
}

TEST(Expression, operators_bind_as_in_mathematics) {
  EXPECT_EQ(value_of("1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("(1 + 2) * 3"), 9);
  EXPECT_EQ(value_of("7 - 2 - 1"), 4);
  EXPECT_EQ(value_of("16 / 4 / 2"), 2);
  EXPECT_EQ(value_of("-a^2"), -9);
  EXPECT_EQ(value_of("2^3^2"), 512);
  EXPECT_EQ(value_of("2**-1"), 0.5);
  EXPECT_EQ(value_of("a - -b"), 7);
  EXPECT_EQ(value_of("1e-3*.5e3"), 0.5);
  EXPECT_EQ(value_of("a < b & b < 5 | 0"), 1);
  EXPECT_EQ(value_of("not a > b and 1"), 1);
  EXPECT_EQ(value_of("!(a == 3)"), 0);
  EXPECT_EQ(value_of("a != b or a >= 99"), 1);
}

TEST(Expression, functions_and_names) {
  EXPECT_EQ(value_of("sqrt(a^2 + b^2)"), 5);
  EXPECT_EQ(value_of("norm(v)"), 5);
  EXPECT_EQ(value_of("norm(a, b, 12)"), 13);
  EXPECT_EQ(value_of("max(a, b, 1) - min(a, b)"), 1);
  EXPECT_EQ(value_of("where(a > b, 1, two)"), 2);
  EXPECT_EQ(value_of("\"WATER DEPTH\" * `WATER DEPTH`"), 16);
  EXPECT_EQ(value_of("sum*sum"), 49);
  EXPECT_EQ(value_of("atan2(a, b)"), std::atan2(3.0, 4.0));
  EXPECT_EQ(value_of("pow(two, b)"), 16);
  EXPECT_EQ(value_of("sign(-a) + floor(2.5) + ceil(2.5)"), 4);
  EXPECT_EQ(value_of("log10(1000) + log2(8) + log(exp(1))"), 7);
}

TEST(Expression, a_unit_goes_on_as_long_as_words_of_the_table_do) {
  const auto unit_of_first = [](const std::string& formula) {
    const Term term = parse_formula(formula);
    return term.kind == Term::Kind::number ? term.unit : term.parts.at(0).unit;
  };
  EXPECT_EQ(unit_of_first("3 km"), "km");
  EXPECT_EQ(unit_of_first("1e-1kpc"), "kpc");
  EXPECT_EQ(unit_of_first("2 g/cm3 < a"), "g/cm3");
  EXPECT_EQ(unit_of_first("2 km s^-1 & a"), "km s^-1");
  EXPECT_EQ(unit_of_first("2 g cm**-3*a"), "g cm**-3");
  EXPECT_EQ(unit_of_first("2 g/a"), "g");
  EXPECT_EQ(unit_of_first("2 g*sin(a)"), "g");
  EXPECT_EQ(unit_of_first("2 g*cm_2"), "g");
  EXPECT_EQ(unit_of_first("2 g or a"), "g");
  EXPECT_EQ(unit_of_first("2 and a"), "");
  EXPECT_EQ(unit_of_first("2 g*`h`"), "g");
  EXPECT_EQ(to_string(parse_formula("-a*(b + 3 km/s) < sqrt(a^2)")), "((-a)*(b+3 km/s))<sqrt(a^2)");
  EXPECT_THROW(parse_formula("2 furlong"), base::Error);
}

TEST(Expression, nan_is_not_compared_and_not_lost) {
  EXPECT_TRUE(std::isnan(value_of("min(0/0, 1)")));
  EXPECT_TRUE(std::isnan(value_of("max(1, 0/0)")));
  EXPECT_EQ(value_of("0/0 < 1 | 0/0 >= 1"), 0);
  EXPECT_EQ(value_of("isnan(0/0) & !isfinite(1/0)"), 1);
}

std::string refusal_of(const std::string& formula) {
  try {
    compile(parse_formula(formula), vocabulary());
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::usage);
    return error.message();
  }
  return "taken";
}

TEST(Expression, nan_is_not_true_and_its_opposite_is) {
  EXPECT_EQ(value_of("where(0/0, 1, 2)"), 2);
  EXPECT_EQ(value_of("where(!(0/0), 1, 2)"), 1);
  EXPECT_EQ(value_of("0/0 & 1"), 0);
  EXPECT_EQ(value_of("1 & 0/0"), 0);
  EXPECT_EQ(value_of("0/0 | 0"), 0);
  EXPECT_EQ(value_of("0/0 | 1"), 1);
  EXPECT_EQ(value_of("!!(0/0)"), 0);
}

TEST(Expression, errors_say_the_column) {
  EXPECT_EQ(refusal_of("a + * b"), "expression: expected a number, a name or (, found '*', at column 5 of 'a + * b'");
  EXPECT_EQ(refusal_of("sqrt(a"), "expression: expected ')', found its end, at column 7 of 'sqrt(a'");
  EXPECT_EQ(refusal_of("a b"), "expression: expected an operator or the end, found 'b', at column 3 of 'a b'");
  EXPECT_EQ(refusal_of("1 + sinn(a)"), "expression: no function 'sinn', at column 5 of '1 + sinn(a)'");
  EXPECT_EQ(refusal_of("atan2(a)"), "expression: atan2 takes 2 numbers, not 1, at column 1 of 'atan2(a)'");
  EXPECT_EQ(refusal_of("1 < 2 < 3"),
            "expression: expected one comparison (a < b & b < c), found '<', at column 7 of '1 < 2 < 3'");
  EXPECT_EQ(refusal_of("a * \"b"), "expression: a quoted name without an end, at column 5 of 'a * \"b'");
  EXPECT_EQ(refusal_of("1.2.3"), "expression: expected a number, found '1.2.3', at column 1 of '1.2.3'");
  EXPECT_EQ(refusal_of(""), "expression: expected a number, a name or (, found its end, at column 1 of ''");
  EXPECT_EQ(refusal_of("a $ b"), "expression: expected an operator or the end, found '$', at column 3 of 'a $ b'");
  EXPECT_EQ(refusal_of("c + 1"), "unknown c");
  EXPECT_EQ(refusal_of("norm(w)"), "unknown w");
  EXPECT_EQ(refusal_of("loop"), "the definition of 'loop' leads back to itself");
  EXPECT_NE(refusal_of(std::string(100000, '(')).find("more than 200 levels"), std::string::npos);
  EXPECT_NE(refusal_of(std::string(100000, '-')).find("more than 200 levels"), std::string::npos);
}

}  // namespace
}  // namespace octavo::mesh
