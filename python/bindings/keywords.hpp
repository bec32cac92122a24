#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/codec/codec.hpp"
#include "octavo/store/store.hpp"

/// Python's keyword arguments as the options of a job.
namespace octavo::bindings {

/// An attempt as text: 32 digits.
inline std::string hex_of(const store::Attempt& attempt) {
  std::string text;
  for (const std::byte byte : attempt)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> shift & 15];
  return text;
}

/// None means one process.
base::Ranks ranks_from(const nb::object& ranks);

/// The value of this name. Throws Error(usage) that lists the known names if there is none.
template <class Value>
Value named(const char* what, const std::string& name, const std::vector<std::pair<const char*, Value>>& values) {
  std::string known;
  for (const auto& [label, value] : values) {
    if (name == label) return value;
    known += (known.empty() ? "" : ", ") + std::string(label);
  }
  throw base::Error(base::Kind::usage, std::string("no ") + what + " '" + name + "': there are " + known);
}

inline store::Flow flow_named(const std::string& name) {
  return named<store::Flow>("flow", name,
                            {{"analysis", store::Flow::analysis}, {"checkpoint", store::Flow::checkpoint}});
}

inline std::vector<std::pair<const char*, codec::Effort>> efforts() {
  return {{"default", codec::Effort::normal}, {"fast", codec::Effort::fast}, {"max", codec::Effort::max}};
}

/// Keyword arguments, each taken once.
class Keywords {
 public:
  explicit Keywords(const nb::kwargs& given) { left_.update(given); }

  /// Leaves `to` as it is if there is no such argument.
  template <class T>
  void take(const char* name, T& to) {
    if (!left_.contains(name)) return;
    try {
      to = nb::cast<T>(nb::object(left_[name]));
    } catch (const nb::cast_error&) {
      throw nb::type_error(("argument '" + std::string(name) + "' is of another type").c_str());
    }
    nb::del(left_[name]);
  }
  template <class T>
  T get(const char* name, T otherwise = {}) {
    take(name, otherwise);
    return otherwise;
  }

  /// Takes one of a few names. Leaves `to` as it is if there is no such argument.
  template <class Value>
  void take_named(const char* name, Value& to, const std::vector<std::pair<const char*, Value>>& values) {
    if (const auto text = get<std::optional<std::string>>(name)) to = named<Value>(name, *text, values);
  }

  /// The arguments that most jobs have, as far as `options` has them: overwrite, threads, ranks, progress.
  template <class Options>
  void take_common(Options& options) {
    if constexpr (requires { options.overwrite; }) take("overwrite", options.overwrite);
    if constexpr (requires { options.threads; }) take("threads", options.threads);
    if constexpr (requires { options.ranks; }) options.ranks = ranks_from(get<nb::object>("ranks", nb::none()));
    options.progress = progress_from(get<nb::object>("progress", nb::none()));
  }

  /// Throws TypeError if an argument was not taken.
  void finish() const {
    for (const auto& [name, value] : left_)
      throw nb::type_error(("an unexpected keyword argument '" + nb::cast<std::string>(name) + "'").c_str());
  }

 private:
  nb::dict left_;
};

/// Runs a job without the GIL; a signal stops it.
template <class Job>
auto without_gil(Job&& job) {
  const StopOnSignal guard;
  const nb::gil_scoped_release release;
  return job();
}

}  // namespace octavo::bindings
