#include <algorithm>

#include "keywords.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/verbs/scope.hpp"
#include "particle_source.hpp"

namespace octavo::bindings {

namespace {

using Text = std::optional<std::string>;

std::optional<mesh::Region> region_of(const mesh::Dataset& dataset, const Text& text) {
  if (!text) return {};
  return mesh::parse_region(*text, dataset.header.dim, mesh::domain_of(dataset.header).extent);
}

/// The particles of a part, in a region if there is one; nothing else is read.
mesh::Part particles(const mesh::Dataset& dataset, int part, const Text& region) {
  const std::optional<mesh::Region> within = region_of(dataset, region);
  const nb::gil_scoped_release release;
  return verbs::read_particles(verbs::within_domains(dataset, within), part, within);
}

using Points = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Whether each point [code length] is in the region.
nb::object inside(const mesh::Dataset& dataset, const std::string& region, const Points& points) {
  const std::size_t count = points.shape(0), axes = points.shape(1);
  mesh::Particles places{"", static_cast<std::int64_t>(count), {}};
  for (std::size_t axis = 0; axis < std::min<std::size_t>(axes, 3); ++axis) {
    std::vector<double> along(count);
    for (std::size_t i = 0; i < count; ++i) along[i] = points.data()[i * axes + axis];
    places.attributes.push_back(mesh::attribute_of(std::string("position_") + "xyz"[axis], along));
  }
  const std::vector<bool> found = mesh::inside(*region_of(dataset, region), dataset.header, places);
  return to_array(std::vector<std::uint8_t>(found.begin(), found.end()), {count}).attr("view")("bool");
}

verbs::Map particle_map(const step::SharedStep& dataset, const nb::object& samples, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::ParticleMapOptions options;
  options.source = particle_source(samples, given.get<bool>("in_parts", true));
  given.take("field", options.field);
  given.take("label", options.label);
  given.take("unit", options.unit);
  given.take("weight", options.weight);
  given.take("mean", options.mean);
  given.take_named("axis", options.axis, {{"x", 0}, {"y", 1}, {"z", 2}});
  if (const auto extent = given.get<std::optional<std::array<double, 4>>>("window"))
    options.window = {{(*extent)[0], (*extent)[2]}, {(*extent)[1], (*extent)[3]}};
  given.take("pixels", options.pixels);
  options.region = region_of(dataset, given.get<Text>("region"));
  given.take_common(options);
  given.finish();
  return without_gil([&] { return verbs::particle_map(dataset, options); });
}

}  // namespace

void bind_particles(nb::module_& m) {
  m.def("particles", &particles, nb::arg("dataset"), nb::arg("part"), nb::arg("region").none(),
        "One part with its particles, those in the region. Releases the GIL.");
  m.def("inside", &inside, nb::arg("dataset"), nb::arg("region"), nb::arg("points"),
        "Whether each point, of shape (points, axes) [code length], is in the region.");
  m.def("particle_map", &particle_map, nb::arg("dataset"), nb::arg("samples"), nb::arg("options"),
        "A map of what `samples` takes of each part's particles. Releases the GIL. Collective over `ranks`.");
  m.def(
      "particle_map",
      [](const mesh::Dataset& dataset, const nb::object& samples, const nb::kwargs& options) {
        return particle_map(step::SharedStep(dataset), samples, options);
      },
      nb::arg("dataset"), nb::arg("samples"), nb::arg("options"));
}

}  // namespace octavo::bindings
