#pragma once
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "octavo/verbs/particles.hpp"

namespace octavo::bindings {

/// The error of a Python callable as ours, so that it reaches every rank and needs no interpreter on its way.
inline base::Error error_from(const nb::python_error& error) {
  const nb::object value = nb::borrow(error.value());
  if (!nb::hasattr(value, "places")) return {base::Kind::usage, error.what()};
  const int kind = nb::cast<int>(nb::module_::import_("octavo.errors").attr("kind_of")(value));
  base::Error out(static_cast<base::Kind>(kind), nb::cast<std::string>(value.attr("message")));
  for (const auto& place : nb::cast<std::vector<std::string>>(value.attr("places"))) out.at(place);
  if (const auto hint = nb::cast<std::string>(value.attr("hint")); !hint.empty()) out.hint(hint);
  return out;
}

/// Samples from a callable that makes (axes, weight, fields) of a part: lists of float64 arrays of one length, and such
/// an array. It runs under the GIL, on any thread; reading does not.
inline verbs::ParticleSource particle_source(nb::object callable, bool in_parts) {
  auto held = std::shared_ptr<nb::object>(new nb::object(std::move(callable)), [](nb::object* object) {
    nb::gil_scoped_acquire gil;
    delete object;
  });
  const auto samples = [held](mesh::Part part) {
    using Column = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto values_of = [](const Column& column) {
      return std::vector<double>(column.data(), column.data() + column.shape(0));
    };
    const nb::gil_scoped_acquire gil;
    try {
      const nb::object made = (*held)(nb::cast(std::move(part), nb::rv_policy::move));
      const auto [axes, weight, fields] = nb::cast<std::tuple<std::vector<Column>, Column, std::vector<Column>>>(made);
      analysis::Samples out;
      out.count = weight.shape(0);
      out.weight = values_of(weight);
      for (const Column& column : axes) out.axes.push_back(values_of(column));
      for (const Column& column : fields) out.fields.push_back(values_of(column));
      return out;
    } catch (nb::python_error& error) {
      throw error_from(error);
    }
  };
  return {samples, in_parts};
}

}  // namespace octavo::bindings
