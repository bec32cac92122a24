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
  std::variant<int*, std::int64_t*, std::string*, std::vector<double>*> to;
};

/// The names, in their order.
std::vector<std::string_view> names_of(const std::vector<NamedOption>& options);
/// Sets the options that are given; others keep their defaults. Throws Error(usage) for a name that is not among them,
/// and for a value of another type.
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
std::vector<std::string_view> option_names(std::vector<NamedOption> (*named)(Options&)) {
  Options options;
  return names_of(named(options));
}

}  // namespace octavo::formats
