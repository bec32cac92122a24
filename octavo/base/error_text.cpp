#include "octavo/base/error_text.hpp"

#include <vector>

#include "octavo/base/current_error.hpp"

namespace octavo::base {

// The text holds the digit of the error's kind, the message, the advice and then the places, separated by NUL.
std::string error_text_of(const std::function<void()>& work) {
  std::string text;
  try {
    work();
  } catch (...) {
    const Error error = current_error();
    text = std::to_string(static_cast<int>(error.kind())) + error.message();
    text += '\0' + error.advice();
    for (const std::string& place : error.places()) text += '\0' + place;
  }
  return text;
}

void throw_error_text(const std::string& text, int rank) {
  std::vector<std::string> words(1);
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '\0')
      words.emplace_back();
    else
      words.back() += text[i];
  }
  Error error(static_cast<Kind>(text[0] - '0'), words[0]);
  for (std::size_t i = 2; i < words.size(); ++i) error.at(words[i]);
  if (rank >= 0) error.at("rank " + std::to_string(rank));
  if (words.size() > 1 && !words[1].empty()) error.hint(words[1]);
  throw error;
}

}  // namespace octavo::base
