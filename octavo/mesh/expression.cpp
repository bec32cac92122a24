#include "octavo/mesh/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "octavo/mesh/units.hpp"

/// Formulas of fields. A reader by recursive descent makes a tree of terms; a compiler replaces names by what they mean
/// and makes a program for a stack; the program runs on blocks of values, so that its steps are looked at once a block.
/// Signs bind as in Python: -x^2 is -(x^2), and x^y^z is x^(y^z).
namespace octavo::mesh {

/// The order says how many arguments an operation takes: from `negate` one, from `add` two, `where` three.
enum class Program::Operation : std::uint8_t {
  constant,
  column,
  negate,
  complement,
  square,
  abs,
  sqrt,
  exp,
  log,
  log10,
  log2,
  sin,
  cos,
  tan,
  asin,
  acos,
  atan,
  tanh,
  floor,
  ceil,
  sign,
  isnan,
  isfinite,
  add,
  subtract,
  multiply,
  divide,
  power,
  atan2,
  least,
  largest,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  both,
  either,
  where,
  beside  ///< of cells beside a cell: replaced before a formula is compiled (step/gradients.hpp)
};

namespace {

using base::Error;
using base::Kind;
using Operation = Program::Operation;

// ------------------------------------------------------------------------------------------------ functions

constexpr std::size_t any_number = std::numeric_limits<std::size_t>::max();
constexpr std::string_view norm_function = "norm";

struct Function {
  std::string_view name;
  Operation operation;
  std::size_t arguments;  ///< any_number: one or more, joined from the left
};

constexpr std::array<Function, 48> functions{{{"-x", Operation::negate, 1},
                                              {"!", Operation::complement, 1},
                                              {"abs", Operation::abs, 1},
                                              {"sqrt", Operation::sqrt, 1},
                                              {"exp", Operation::exp, 1},
                                              {"log", Operation::log, 1},
                                              {"log10", Operation::log10, 1},
                                              {"log2", Operation::log2, 1},
                                              {"sin", Operation::sin, 1},
                                              {"cos", Operation::cos, 1},
                                              {"tan", Operation::tan, 1},
                                              {"asin", Operation::asin, 1},
                                              {"acos", Operation::acos, 1},
                                              {"atan", Operation::atan, 1},
                                              {"tanh", Operation::tanh, 1},
                                              {"floor", Operation::floor, 1},
                                              {"ceil", Operation::ceil, 1},
                                              {"sign", Operation::sign, 1},
                                              {"isnan", Operation::isnan, 1},
                                              {"isfinite", Operation::isfinite, 1},
                                              {"+", Operation::add, 2},
                                              {"-", Operation::subtract, 2},
                                              {"*", Operation::multiply, 2},
                                              {"/", Operation::divide, 2},
                                              {"^", Operation::power, 2},
                                              {"pow", Operation::power, 2},
                                              {"atan2", Operation::atan2, 2},
                                              {"<", Operation::less, 2},
                                              {"<=", Operation::less_equal, 2},
                                              {">", Operation::greater, 2},
                                              {">=", Operation::greater_equal, 2},
                                              {"==", Operation::equal, 2},
                                              {"!=", Operation::unequal, 2},
                                              {"&", Operation::both, 2},
                                              {"|", Operation::either, 2},
                                              {"min", Operation::least, any_number},
                                              {"max", Operation::largest, any_number},
                                              {norm_function, Operation::add, any_number},
                                              {"where", Operation::where, 3},
                                              {"gradient", Operation::beside, 1},
                                              {"gradient_x", Operation::beside, 1},
                                              {"gradient_y", Operation::beside, 1},
                                              {"gradient_z", Operation::beside, 1},
                                              {"divergence", Operation::beside, 1},
                                              {"vorticity", Operation::beside, 1},
                                              {"vorticity_x", Operation::beside, 1},
                                              {"vorticity_y", Operation::beside, 1},
                                              {"vorticity_z", Operation::beside, 1}}};

const Function* function_named(std::string_view name) {
  const auto found =
      std::find_if(functions.begin(), functions.end(), [&](const Function& known) { return known.name == name; });
  return found == functions.end() ? nullptr : &*found;
}

// ------------------------------------------------------------------------------------------------ reading

bool begins_name(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c) || c == '.'; }

class FormulaReader {
 public:
  explicit FormulaReader(std::string_view text) : text_(text) { next(); }

  Term whole() {
    Term term = condition();
    if (!token_.empty()) throw unexpected("an operator or the end");
    return term;
  }

 private:
  Term condition() {
    Term left = both();
    while (token_ == "|" || is_word("or")) left = binary("|", std::move(left), &FormulaReader::both);
    return left;
  }
  Term both() {
    Term left = negated();
    while (token_ == "&" || is_word("and")) left = binary("&", std::move(left), &FormulaReader::negated);
    return left;
  }
  Term negated() {
    if (token_ != "!" && !is_word("not")) return comparison();
    const Deeper deeper(*this);
    next();
    return {Term::Kind::call, 0, "!", {negated()}};
  }
  static bool compares(std::string_view token) {
    return token == "<" || token == "<=" || token == ">" || token == ">=" || token == "==" || token == "!=";
  }
  Term comparison() {
    Term left = sum();
    if (!compares(token_)) return left;
    const std::string sign(token_);
    left = binary(sign, std::move(left), &FormulaReader::sum);
    if (compares(token_)) throw unexpected("one comparison (a < b & b < c)");
    return left;
  }
  Term sum() {
    Term left = product();
    while (token_ == "+" || token_ == "-") left = binary(std::string(token_), std::move(left), &FormulaReader::product);
    return left;
  }
  Term product() {
    Term left = sign();
    while (token_ == "*" || token_ == "/") left = binary(std::string(token_), std::move(left), &FormulaReader::sign);
    return left;
  }
  Term sign() {
    if (token_ != "+" && token_ != "-") return power();
    const Deeper deeper(*this);
    const bool minus = token_ == "-";
    next();
    Term of = sign();
    return minus ? Term{Term::Kind::call, 0, "-x", {std::move(of)}} : of;
  }
  Term power() {
    Term base = primary();
    if (token_ != "^" && token_ != "**") return base;
    return binary("^", std::move(base), &FormulaReader::sign);
  }
  Term primary() {
    const Deeper deeper(*this);
    if (token_.empty()) throw unexpected("a number, a name or (");
    if (token_ == "(") {
      next();
      Term inner = condition();
      expect(")");
      return inner;
    }
    if (is_digit(token_[0]) || token_[0] == '.') return number();
    if (token_[0] == '"' || token_[0] == '`') {
      Term name{Term::Kind::name, 0, std::string(token_.substr(1, token_.size() - 2)), {}};
      next();
      return name;
    }
    if (!begins_name(token_[0])) throw unexpected("a number, a name or (");
    const std::string name(token_);
    const std::size_t column = column_;
    next();
    if (token_ == "(") return call(name, column);
    return {Term::Kind::name, 0, name, {}};
  }
  Term number() {
    double value = 0;
    const auto [end, error] = std::from_chars(token_.data(), token_.data() + token_.size(), value);
    if (error != std::errc() || end != token_.data() + token_.size()) throw unexpected("a number");
    next();
    return {Term::Kind::number, value, {}, {}, unit()};
  }
  /// The unit behind a number; empty if there is none.
  std::string unit() {
    if (token_.empty() || !begins_name(token_[0]) || is_word("and") || is_word("or")) return {};
    const auto first = scan_unit(text_.substr(column_));
    if (unit_named(first->name) == nullptr)
      throw refused("unknown unit '" + std::string(token_) + "' behind a number, or a missing operator", column_)
          .hint(hint_of_units());
    token_ = text_.substr(column_, first->length);
    for (std::size_t end = end_of_next_unit(column_ + token_.size()); end != 0; end = end_of_next_unit(end))
      token_ = text_.substr(column_, end - column_);
    std::string found(token_);
    next();
    return found;
  }
  /// Behind another word of the unit; 0 if there is none, but another operand, an operator or the end.
  std::size_t end_of_next_unit(std::size_t at) const {
    const auto skip_blanks = [&] {
      while (at < text_.size() && text_[at] == ' ') ++at;
    };
    skip_blanks();
    if (at < text_.size() && (text_[at] == '*' || text_[at] == '/')) ++at;
    skip_blanks();
    const auto word = scan_unit(text_.substr(std::min(at, text_.size())));
    if (!word || unit_named(word->name) == nullptr) return 0;
    const std::size_t end = at + word->length;
    const bool goes_on = end < text_.size() && (continues_name(text_[end]) || text_[end] == '(');
    return goes_on ? 0 : end;
  }
  Term call(const std::string& name, std::size_t column) {
    const Function* function = begins_name(name[0]) ? function_named(name) : nullptr;
    if (function == nullptr) throw refused("no function '" + name + "'", column);
    Term term{Term::Kind::call, 0, name, {}};
    do {
      next();
      term.parts.push_back(condition());
    } while (token_ == ",");
    expect(")");
    if (function->arguments != any_number && term.parts.size() != function->arguments)
      throw refused(
          name + " takes " + std::to_string(function->arguments) + " numbers, not " + std::to_string(term.parts.size()),
          column);
    return term;
  }

  Term binary(const std::string& sign, Term left, Term (FormulaReader::*right)()) {
    const Deeper deeper(*this);
    next();
    Term term{Term::Kind::call, 0, sign, {std::move(left)}};
    term.parts.push_back((this->*right)());
    return term;
  }
  bool is_word(std::string_view word) const { return token_ == word; }
  void expect(std::string_view sign) {
    if (token_ != sign) throw unexpected("'" + std::string(sign) + "'");
    next();
  }

  /// A formula that is nested too deep would overflow the stack.
  struct Deeper {
    explicit Deeper(FormulaReader& in) : reader(in) {
      if (++reader.depth_ > 200) throw reader.refused("more than 200 levels of parentheses and signs", reader.column_);
    }
    ~Deeper() { --reader.depth_; }
    Deeper(const Deeper&) = delete;
    Deeper& operator=(const Deeper&) = delete;
    FormulaReader& reader;
  };

  Error refused(const std::string& why, std::size_t column) const {
    return Error(Kind::usage, "expression: " + why + ", at column " + std::to_string(column + 1) + " of '" +
                                  std::string(text_) + "'");
  }
  Error unexpected(const std::string& expected) const {
    const std::string found = token_.empty() ? "its end" : "'" + std::string(token_) + "'";
    return refused("expected " + expected + ", found " + found, column_);
  }

  std::size_t end_of_number(std::size_t at) const {
    while (at < text_.size() && (is_digit(text_[at]) || text_[at] == '.')) ++at;
    if (at < text_.size() && (text_[at] == 'e' || text_[at] == 'E')) {
      std::size_t digits = at + 1;
      if (digits < text_.size() && (text_[digits] == '+' || text_[digits] == '-')) ++digits;
      if (digits < text_.size() && is_digit(text_[digits])) {
        at = digits;
        while (at < text_.size() && is_digit(text_[at])) ++at;
      }
    }
    return at;
  }
  std::size_t end_of_token(std::size_t at) const {
    const char c = text_[at];
    if (is_digit(c) || c == '.') return end_of_number(at);
    if (begins_name(c)) {
      while (at < text_.size() && continues_name(text_[at])) ++at;
      return at;
    }
    if (c == '"' || c == '`') {
      const std::size_t close = text_.find(c, at + 1);
      if (close == std::string_view::npos) throw refused("a quoted name without an end", at);
      return close + 1;
    }
    const std::string_view two = text_.substr(at, 2);
    return at + (two == "**" || two == "<=" || two == ">=" || two == "==" || two == "!=" ? 2 : 1);
  }
  void next() {
    column_ += token_.size();
    while (column_ < text_.size() && (text_[column_] == ' ' || text_[column_] == '\t')) ++column_;
    token_ = {};
    if (column_ < text_.size()) token_ = text_.substr(column_, end_of_token(column_) - column_);
  }

  std::string_view text_, token_{};
  std::size_t column_ = 0;
  int depth_ = 0;
};

// ------------------------------------------------------------------------------------------------ making ready

constexpr int most_definitions = 32;  // within one another

class Compiler {
 public:
  explicit Compiler(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {}

  void add(const Term& term, int definitions = 0) {
    switch (term.kind) {
      case Term::Kind::number: {
        const bool sized = !term.unit.empty() && vocabulary_.size;
        return push({Operation::constant, sized ? term.number * vocabulary_.size(term.unit) : term.number, 0});
      }
      case Term::Kind::name: return name(term.text, definitions);
      case Term::Kind::call: return call(term, definitions);
    }
  }
  Program take() { return std::move(program_); }

 private:
  void push(Program::Step step) {
    program_.steps.push_back(step);
    program_.depth = std::max(program_.depth, ++height_);
  }
  void apply(Operation operation, std::size_t arguments) {
    program_.steps.push_back({operation, 0, 0});
    height_ -= arguments - 1;
  }
  void name(const std::string& text, int definitions) {
    const auto meaning = vocabulary_.find(text);
    if (!meaning) throw vocabulary_.unknown(text);
    mean(*meaning, text, definitions);
  }
  void mean(const Meaning& meaning, const std::string& text, int definitions) {
    if (const auto* number = std::get_if<double>(&meaning)) return push({Operation::constant, *number, 0});
    if (const auto* column = std::get_if<Column>(&meaning)) return push({Operation::column, 0, input(column->name)});
    if (definitions >= most_definitions)
      throw Error(Kind::usage, "the definition of '" + text + "' leads back to itself");
    try {
      add(std::get<Term>(meaning), definitions + 1);
    } catch (Error& error) {
      if (error.places().empty()) error.at("definition of " + text);
      throw;
    }
  }
  std::size_t input(const std::string& column) {
    auto& inputs = program_.inputs;
    const auto found = std::find(inputs.begin(), inputs.end(), column);
    if (found != inputs.end()) return static_cast<std::size_t>(found - inputs.begin());
    inputs.push_back(column);
    return inputs.size() - 1;
  }
  void call(const Term& term, int definitions) {
    const Function& function = *function_named(term.text);
    if (function.operation == Operation::beside)
      throw Error(Kind::usage,
                  term.text + " takes a formula of a field in cells or at points, without another slope in it");
    if (term.text == norm_function) return norm(term, definitions);
    if (function.operation == Operation::power && term.parts[1].kind == Term::Kind::number &&
        term.parts[1].number == 2) {
      add(term.parts[0], definitions);
      return apply(Operation::square, 1);
    }
    std::size_t done = 0;
    for (const Term& part : term.parts) {
      add(part, definitions);
      if (function.arguments == any_number && ++done > 1) apply(function.operation, 2);
    }
    if (function.arguments != any_number) apply(function.operation, function.arguments);
  }
  void norm(const Term& term, int definitions) {
    std::size_t done = 0;
    const auto squared = [&](const Term& part) {
      add(part, definitions);
      apply(Operation::square, 1);
      if (++done > 1) apply(Operation::add, 2);
    };
    for (const Term& part : term.parts) {
      const bool vector = is_plain_name(part) && !vocabulary_.find(part.text);
      if (!vector) {
        squared(part);
        continue;
      }
      const std::size_t before = done;
      for (const char* axis : {"_x", "_y", "_z"})
        if (vocabulary_.find(part.text + axis)) squared({Term::Kind::name, 0, part.text + axis, {}});
      if (done == before) throw vocabulary_.unknown(part.text);
    }
    apply(Operation::sqrt, 1);
  }

  const Vocabulary& vocabulary_;
  Program program_;
  std::size_t height_ = 0;
};

// ------------------------------------------------------------------------------------------------ evaluating

constexpr std::size_t formula_block = 512;  // values: a stack of some blocks stays in the first-level cache

template <class F>
void each(std::span<double> a, F&& f) {
  for (double& x : a) x = f(x);
}
template <class F>
void pairs(std::span<double> a, std::span<const double> b, F&& f) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = f(a[i], b[i]);
}
double truth(bool holds) { return holds ? 1.0 : 0.0; }
/// NaN is not true: a condition and its opposite divide all cells between them.
bool is_true(double x) { return x != 0 && !std::isnan(x); }

void apply_one(Operation operation, std::span<double> a) {
  switch (operation) {
    case Operation::negate: return each(a, [](double x) { return -x; });
    case Operation::complement: return each(a, [](double x) { return truth(!is_true(x)); });
    case Operation::square: return each(a, [](double x) { return x * x; });
    case Operation::abs: return each(a, [](double x) { return std::abs(x); });
    case Operation::sqrt: return each(a, [](double x) { return std::sqrt(x); });
    case Operation::exp: return each(a, [](double x) { return std::exp(x); });
    case Operation::log: return each(a, [](double x) { return std::log(x); });
    case Operation::log10: return each(a, [](double x) { return std::log10(x); });
    case Operation::log2: return each(a, [](double x) { return std::log2(x); });
    case Operation::sin: return each(a, [](double x) { return std::sin(x); });
    case Operation::cos: return each(a, [](double x) { return std::cos(x); });
    case Operation::tan: return each(a, [](double x) { return std::tan(x); });
    case Operation::asin: return each(a, [](double x) { return std::asin(x); });
    case Operation::acos: return each(a, [](double x) { return std::acos(x); });
    case Operation::atan: return each(a, [](double x) { return std::atan(x); });
    case Operation::tanh: return each(a, [](double x) { return std::tanh(x); });
    case Operation::floor: return each(a, [](double x) { return std::floor(x); });
    case Operation::ceil: return each(a, [](double x) { return std::ceil(x); });
    case Operation::sign: return each(a, [](double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; });
    case Operation::isnan: return each(a, [](double x) { return truth(std::isnan(x)); });
    case Operation::isfinite: return each(a, [](double x) { return truth(std::isfinite(x)); });
    default: return;
  }
}

void apply_two(Operation operation, std::span<double> a, std::span<const double> b) {
  switch (operation) {
    case Operation::add: return pairs(a, b, [](double x, double y) { return x + y; });
    case Operation::subtract: return pairs(a, b, [](double x, double y) { return x - y; });
    case Operation::multiply: return pairs(a, b, [](double x, double y) { return x * y; });
    case Operation::divide: return pairs(a, b, [](double x, double y) { return x / y; });
    case Operation::power: return pairs(a, b, [](double x, double y) { return std::pow(x, y); });
    case Operation::atan2: return pairs(a, b, [](double x, double y) { return std::atan2(x, y); });
    // A NaN on either side stays a NaN, as numpy.minimum and numpy.maximum have it.
    case Operation::least: return pairs(a, b, [](double x, double y) { return x < y || std::isnan(x) ? x : y; });
    case Operation::largest: return pairs(a, b, [](double x, double y) { return x > y || std::isnan(x) ? x : y; });
    case Operation::less: return pairs(a, b, [](double x, double y) { return truth(x < y); });
    case Operation::less_equal: return pairs(a, b, [](double x, double y) { return truth(x <= y); });
    case Operation::greater: return pairs(a, b, [](double x, double y) { return truth(x > y); });
    case Operation::greater_equal: return pairs(a, b, [](double x, double y) { return truth(x >= y); });
    case Operation::equal: return pairs(a, b, [](double x, double y) { return truth(x == y); });
    case Operation::unequal: return pairs(a, b, [](double x, double y) { return truth(x != y); });
    case Operation::both: return pairs(a, b, [](double x, double y) { return truth(is_true(x) && is_true(y)); });
    case Operation::either: return pairs(a, b, [](double x, double y) { return truth(is_true(x) || is_true(y)); });
    default: return;
  }
}

/// A stack of blocks of one length.
struct BlockStack {
  std::vector<double> values;
  std::size_t height = 0, count = 0;
  std::span<double> block(std::size_t i) { return {values.data() + i * formula_block, count}; }
  std::span<double> top(std::size_t below = 0) { return block(height - 1 - below); }
};

void carry_out(const Program::Step& step, std::span<const std::span<const double>> inputs, std::size_t first,
               BlockStack& stack) {
  if (step.operation == Operation::constant || step.operation == Operation::column) {
    ++stack.height;
    const std::span<double> to = stack.top();
    if (step.operation == Operation::constant)
      std::fill(to.begin(), to.end(), step.number);
    else
      std::copy_n(inputs[step.input].begin() + static_cast<std::ptrdiff_t>(first), to.size(), to.begin());
  } else if (step.operation < Operation::add) {
    apply_one(step.operation, stack.top());
  } else if (step.operation < Operation::where) {
    apply_two(step.operation, stack.top(1), stack.top());
    --stack.height;
  } else {
    const std::span<double> condition = stack.top(2), yes = stack.top(1), no = stack.top();
    for (std::size_t i = 0; i < stack.count; ++i) condition[i] = is_true(condition[i]) ? yes[i] : no[i];
    stack.height -= 2;
  }
}

}  // namespace

Term parse_formula(std::string_view text) { return FormulaReader(text).whole(); }

std::string to_string(const Term& term) {
  if (term.kind == Term::Kind::name) return term.text;
  if (term.kind == Term::Kind::number) {
    std::array<char, 32> text{};
    char* const end = std::to_chars(text.data(), text.data() + text.size(), term.number).ptr;
    return std::string(text.data(), end) + (term.unit.empty() ? "" : " " + term.unit);
  }
  const bool function = begins_name(term.text[0]);
  if (!function && term.parts.size() == 1) return (term.text == "-x" ? "-" : term.text) + to_string(term.parts[0]);
  std::string text = function ? term.text + "(" : "";
  for (std::size_t i = 0; i < term.parts.size(); ++i) {
    const bool nested = !function && term.parts[i].kind == Term::Kind::call && !begins_name(term.parts[i].text[0]);
    if (i > 0) text += function ? ", " : term.text;
    text += nested ? "(" + to_string(term.parts[i]) + ")" : to_string(term.parts[i]);
  }
  return text + (function ? ")" : "");
}

bool is_plain_name(const Term& term) { return term.kind == Term::Kind::name; }

Program compile(const Term& formula, const Vocabulary& vocabulary) {
  Compiler compiler(vocabulary);
  compiler.add(formula);
  return compiler.take();
}

void evaluate(const Program& program, std::span<const std::span<const double>> inputs, std::span<double> out) {
  BlockStack stack;
  stack.values.resize(program.depth * formula_block);
  for (std::size_t first = 0; first < out.size(); first += formula_block) {
    stack.height = 0;
    stack.count = std::min(formula_block, out.size() - first);
    for (const Program::Step& step : program.steps) carry_out(step, inputs, first, stack);
    const std::span<double> result = stack.top();
    std::copy(result.begin(), result.end(), out.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace octavo::mesh
