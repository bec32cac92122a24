#include "bindings.hpp"
#include "octavo/jobs/open.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::bindings {

namespace {

nb::dict describe(const mesh::FieldInfo& info) {
  nb::dict row;
  row["name"] = info.name;
  row["unit"] = info.unit;
  row["dtype"] = std::string(mesh::name_of(info.type));
  row["centring"] = std::vector<std::string>{
      "cell", "face_x", "face_y", "face_z", "node", "particle"}[static_cast<std::size_t>(info.centring)];
  row["components"] = info.components;
  return row;
}

nb::list describe(const std::vector<mesh::FieldInfo>& fields) {
  nb::list rows;
  for (const mesh::FieldInfo& info : fields) rows.append(describe(info));
  return rows;
}

nb::list describe(const std::vector<mesh::SpeciesInfo>& all) {
  nb::list rows;
  for (const mesh::SpeciesInfo& species : all) {
    nb::dict row;
    row["name"] = species.name;
    row["count"] = species.count;
    row["attributes"] = describe(species.attributes);
    rows.append(row);
  }
  return rows;
}

nb::list describe(const std::vector<mesh::LevelCount>& levels) {
  nb::list rows;
  for (const mesh::LevelCount& count : levels) {
    nb::dict row;
    row["level"] = count.level;
    row["cells"] = count.cells;
    row["leaves"] = count.leaves;
    rows.append(row);
  }
  return rows;
}

/// A view on a field's values that keeps the part alive.
nb::object view(const mesh::Field& field, nb::handle owner) {
  return mesh::visit_values(field, [&](auto values) -> nb::object {
    using T = std::remove_const_t<typename decltype(values)::element_type>;
    const auto components = static_cast<std::size_t>(field.info.components);
    const std::size_t shape[2] = {values.size() / components, components};
    return nb::cast(nb::ndarray<nb::numpy, const T>(values.data(), components == 1 ? 1 : 2, shape, owner));
  });
}

nb::dict fields_of(nb::handle self) {
  const auto& part = nb::cast<const mesh::Part&>(self);
  nb::dict fields;
  for (const mesh::Field& field : part.fields) fields[nb::cast(field.info.name)] = view(field, self);
  return fields;
}

nb::dict particles_of(nb::handle self) {
  const auto& part = nb::cast<const mesh::Part&>(self);
  nb::dict all;
  for (const mesh::Particles& species : part.particles) {
    nb::dict attributes;
    for (const mesh::Field& attribute : species.attributes)
      attributes[nb::cast(attribute.info.name)] = view(attribute, self);
    all[nb::cast(species.species)] = attributes;
  }
  return all;
}

nb::object bits_to_array(const base::BitArray& bits) {
  std::vector<std::uint8_t> bytes(bits.size(), 0);
  bits.for_each_set([&](std::size_t i) { bytes[i] = 1; });
  return to_array(std::move(bytes), {bits.size()}).attr("view")("bool");
}

nb::list levels_of(const mesh::Part& part, const std::vector<base::BitArray> mesh::Octree::*member) {
  nb::list levels;
  for (const base::BitArray& bits : std::get<mesh::Octree>(part.mesh).*member) levels.append(bits_to_array(bits));
  return levels;
}

void bind_part(nb::module_& m) {
  nb::class_<mesh::Part>(m, "Part", "One contributor's tree and values: what the store and the formats hand over.")
      .def_ro("index", &mesh::Part::index)
      .def_prop_ro(
          "fields", [](nb::handle self) { return fields_of(self); },
          "{name: array over all tree cells, breadth first}; views, not copies.")
      .def_prop_ro(
          "particles", [](nb::handle self) { return particles_of(self); },
          "{species: {attribute: array}}; views, not copies.")
      .def_prop_ro(
          "refined", [](const mesh::Part& part) { return levels_of(part, &mesh::Octree::refined); },
          "Per level: bool array, whether a cell has children.")
      .def_prop_ro(
          "owned", [](const mesh::Part& part) { return levels_of(part, &mesh::Octree::owned); },
          "Per level: bool array, whether this part answers for the cell.");
}

void bind_dataset(nb::module_& m) {
  using mesh::Dataset;
  nb::class_<Dataset>(m, "Dataset", "One step of any format, opened: headers are read, values are not.")
      .def_ro("format", &Dataset::format)
      .def_ro("path", &Dataset::path)
      .def_ro("num_parts", &Dataset::num_parts)
      .def_ro("bytes", &Dataset::bytes)
      .def_ro("notes", &Dataset::notes)
      .def_prop_ro("code", [](const Dataset& d) { return d.header.code; })
      .def_prop_ro("time", [](const Dataset& d) { return d.header.time; })
      .def_prop_ro("dim", [](const Dataset& d) { return d.header.dim; })
      .def_prop_ro(
          "level_origin", [](const Dataset& d) { return mesh::code_level(d.header, 0); },
          "The code's own number of the coarsest tree level.")
      .def_prop_ro(
          "roots",
          [](const Dataset& d) { return std::vector<std::int64_t>(d.header.roots.begin(), d.header.roots.end()); })
      .def_prop_ro(
          "lo",
          [](const Dataset& d) { return std::vector<double>(d.header.lo.begin(), d.header.lo.begin() + d.header.dim); })
      .def_prop_ro(
          "hi",
          [](const Dataset& d) { return std::vector<double>(d.header.hi.begin(), d.header.hi.begin() + d.header.dim); })
      .def_prop_ro("periodic",
                   [](const Dataset& d) {
                     return std::vector<bool>(d.header.periodic.begin(), d.header.periodic.begin() + d.header.dim);
                   })
      .def_prop_ro(
          "units",
          [](const Dataset& d) {
            return std::map<std::string, double>{
                {"length", d.header.unit_length}, {"density", d.header.unit_density}, {"time", d.header.unit_time}};
          },
          "One code unit in cgs.")
      .def_prop_ro("levels", [](const Dataset& d) { return describe(d.levels); })
      .def_prop_ro("fields", [](const Dataset& d) { return describe(d.header.fields); })
      .def_prop_ro("species", [](const Dataset& d) { return describe(d.species); })
      .def_prop_ro("attributes", [](const Dataset& d) { return d.header.attributes; })
      .def(
          "part_bytes", [](const Dataset& d, int part) { return d.part_bytes(part); }, nb::arg("part"))
      .def(
          "parts_of",
          [](const Dataset& d, const std::optional<std::string>& text, std::optional<int> max_level) {
            std::optional<mesh::Region> region;
            if (text) region = mesh::parse_region(*text, d.header.dim, mesh::domain_of(d.header).extent);
            return mesh::parts_of(d, region, max_level);
          },
          nb::arg("region").none(), nb::arg("max_level").none())
      .def(
          "read",
          [](const Dataset& d, int part, std::optional<std::vector<std::string>> fields, std::optional<int> max_level,
             bool particles) {
            if (part < 0 || part >= d.num_parts)
              throw base::Error(base::Kind::usage,
                                "no part " + std::to_string(part) + ": there are " + std::to_string(d.num_parts))
                  .at(d.path);
            mesh::Request request;
            request.fields = std::move(fields);
            if (max_level) request.max_level = *max_level;
            request.particles = particles;
            nb::gil_scoped_release release;
            return d.read(part, request);
          },
          nb::arg("part"), nb::arg("fields") = nb::none(), nb::arg("max_level") = nb::none(),
          nb::arg("particles") = false, "Reads one part, pruned. Releases the GIL.");
}

}  // namespace

void bind_mesh(nb::module_& m) {
  bind_part(m);
  bind_dataset(m);
}

}  // namespace octavo::bindings
