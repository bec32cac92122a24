#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "octavo/formats/row/request.hpp"

/// Options that one format alone has: a row binds their names to the members of its folder's `Options`.
namespace octavo::formats {

/// An option's name, as Python and the command have it, and where its value goes.
struct NamedOption {
  std::string_view name;
  std::variant<int*, std::int64_t*, std::string*, std::vector<double>*> to;  ///< numbers are above 0
  std::string_view help{};                    ///< the command has the option if there is a text
  std::vector<std::string_view> values = {};  ///< of a text: the only ones; none: any
};

/// The same for those who ask which options there are.
std::vector<OptionInfo> infos_of(const std::vector<NamedOption>& options);
/// Sets the options that are given; others keep their defaults. Throws Error(usage) for a name that is not among them,
/// for a value of another type, for a number that is not above 0, and for a text that is none of the values.
void set_options(const OwnOptions& given, const std::vector<NamedOption>& options);

/// A folder's `Options` with the values of a request. `named` lists the members of one; throws as set_options().
template <class Options>
Options options_of(const WriteRequest& request, std::vector<NamedOption> (*named)(Options&)) {
  Options options;
  set_options(request.own, named(options));
  return options;
}

/// For Format::options.
template <class Options>
std::vector<OptionInfo> option_infos(std::vector<NamedOption> (*named)(Options&)) {
  Options options;
  return infos_of(named(options));
}

}  // namespace octavo::formats
