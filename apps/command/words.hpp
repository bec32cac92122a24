#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace octavo::command {

/// One `--name VALUE` of a command, or a flag.
struct Word {
  std::string name;
  std::string value;  ///< where it is not given; flags: ""
  std::string meaning;
  bool flag = false;
};

/// The words of the command line, by name; flags that were given are "yes".
using Words = std::map<std::string, std::string>;

/// Throws Error(usage) that names a word that is not in the table, or one that lacks its value.
Words read_words(const std::vector<std::string>& arguments, const std::vector<Word>& table);
/// The text that `--help` prints.
std::string help(const std::string& summary, const std::vector<Word>& table);

/// Throw Error(usage) naming the word where its value is not a number between the two.
std::int64_t whole_number(const Words& words, const std::string& name, std::int64_t least, std::int64_t most);
double number(const Words& words, const std::string& name, double least, double most);
inline bool is_set(const Words& words, const std::string& name) { return !words.at(name).empty(); }

}  // namespace octavo::command
