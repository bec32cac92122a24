#include "apps/command/words.hpp"

#include <algorithm>
#include <cstdlib>

#include "octavo/base/error.hpp"

namespace octavo::command {
namespace {

using base::Error;
using base::Kind;

const Word& find(const std::vector<Word>& table, const std::string& argument) {
  for (const Word& word : table)
    if (argument == "--" + word.name) return word;
  throw Error(Kind::usage, "there is no option " + argument).hint("--help lists them");
}

[[noreturn]] void refuse(const std::string& name, const std::string& value, double least, double most) {
  throw Error(Kind::usage, "--" + name + " " + value + ": a number from " + std::to_string(least) + " to " +
                               std::to_string(most) + " is wanted");
}

}  // namespace

Words read_words(const std::vector<std::string>& arguments, const std::vector<Word>& table) {
  Words words;
  for (const Word& word : table) words[word.name] = word.value;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const Word& word = find(table, arguments[i]);
    if (!word.flag && i + 1 == arguments.size()) throw Error(Kind::usage, arguments[i] + " lacks its value");
    words[word.name] = word.flag ? "yes" : arguments[++i];
  }
  return words;
}

std::string help(const std::string& summary, const std::vector<Word>& table) {
  std::string text = summary + "\n\n";
  for (const Word& word : table) {
    std::string line = "  --" + word.name + (word.flag ? "" : " " + (word.value.empty() ? "..." : word.value));
    line.resize(std::max<std::size_t>(line.size() + 2, 30), ' ');
    text += line + word.meaning + "\n";
  }
  return text;
}

std::int64_t whole_number(const Words& words, const std::string& name, std::int64_t least, std::int64_t most) {
  const std::string& text = words.at(name);
  char* end = nullptr;
  const long long value = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || value < least || value > most)
    refuse(name, text, static_cast<double>(least), static_cast<double>(most));
  return value;
}

double number(const Words& words, const std::string& name, double least, double most) {
  const std::string& text = words.at(name);
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value >= least) || !(value <= most)) refuse(name, text, least, most);
  return value;
}

}  // namespace octavo::command
