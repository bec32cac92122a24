#include "octavo/formats/med/groups.hpp"

#include "octavo/base/error.hpp"
#include "octavo/formats/med/med.hpp"
#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/contents.hpp"
#endif

namespace octavo::formats::med {

using base::Error;
using base::Kind;

#ifdef OCTAVO_HAVE_MED
namespace {

GroupFamily read_family(const MedFile& file, const Name& mesh, int i) {
  const med_int groups = library().MEDnFamilyGroup(file.id(), mesh.data(), i);
  constexpr med_int most_groups = 1 << 16;
  file.require(groups >= 0 && groups < most_groups, "family " + std::to_string(i));
  std::vector<char> names(static_cast<std::size_t>(groups) * MED_LNAME_SIZE + 1);
  Name name{};
  med_int number = 0;
  file.require(library().MEDfamilyInfo(file.id(), mesh.data(), i, name.data(), &number, names.data()) >= 0,
               "family " + std::to_string(i));
  GroupFamily family{static_cast<std::int32_t>(number), text_of(name), {}};
  for (std::size_t g = 0; g < static_cast<std::size_t>(groups); ++g)
    family.groups.push_back(text_of(&names[g * MED_LNAME_SIZE], MED_LNAME_SIZE));
  return family;
}

std::vector<std::int32_t> read_families_of(const MedFile& file, const Name& mesh, med_entity_type entity,
                                           med_geometry_type shape, std::int64_t count) {
  if (count <= 0 || entities(file.id(), mesh, entity, shape, MED_FAMILY_NUMBER) != count) return {};
  std::vector<med_int> numbers(static_cast<std::size_t>(count));
  file.require(library().MEDmeshEntityFamilyNumberRd(file.id(), mesh.data(), MED_NO_DT, MED_NO_IT, entity, shape,
                                                     numbers.data()) >= 0,
               "numbers of families");
  return {numbers.begin(), numbers.end()};
}

/// Returns the family of each cell, shape by shape; 0 where the file tells none.
std::vector<std::int32_t> read_families_of_solids(const MedFile& file, const MeshEntry& mesh) {
  std::vector<std::int32_t> all;
  for (const CellsOfShape& some : mesh.solids) {
    std::vector<std::int32_t> families = read_families_of(file, mesh.name, MED_CELL, some.shape, some.count);
    families.resize(static_cast<std::size_t>(some.count), 0);
    all.insert(all.end(), families.begin(), families.end());
  }
  return all;
}

/// The points of all elements of a shape, from 0, each in the mesh.
std::vector<std::int32_t> read_corners(const MedFile& file, const MeshEntry& mesh, med_geometry_type shape,
                                       std::size_t corners, const std::string& what) {
  const std::int64_t count = entities(file.id(), mesh.name, MED_CELL, shape, MED_CONNECTIVITY);
  if (count <= 0) return {};
  file.require_room(count, what);
  std::vector<med_int> points(corners * static_cast<std::size_t>(count));
  file.require(library().MEDmeshElementConnectivityRd(file.id(), mesh.name.data(), MED_NO_DT, MED_NO_IT, MED_CELL,
                                                      shape, MED_NODAL, MED_FULL_INTERLACE, points.data()) >= 0,
               "the " + what);
  std::vector<std::int32_t> out;
  for (const med_int point : points) {
    if (point < 1 || point > mesh.points)
      throw Error(Kind::corrupt,
                  what + ": expected points 1 to " + std::to_string(mesh.points) + ", found " + std::to_string(point))
          .at(file.path().string());
    out.push_back(static_cast<std::int32_t>(point) - 1);
  }
  return out;
}

/// Adds the triangles or quadrangles that are in a family.
void add_sides(const MedFile& file, const MeshEntry& mesh, med_geometry_type shape, std::size_t corners,
               MeshGroups& groups) {
  const std::vector<std::int32_t> points = read_corners(file, mesh, shape, corners, "sides");
  const std::vector<std::int32_t> families =
      read_families_of(file, mesh.name, MED_CELL, shape, static_cast<std::int64_t>(points.size() / corners));
  for (std::size_t s = 0; s < families.size(); ++s) {
    if (families[s] == 0) continue;
    groups.of_side.push_back(families[s]);
    for (std::size_t k = 0; k < 4; ++k) groups.sides.push_back(k < corners ? points[corners * s + k] : -1);
  }
}

}  // namespace

MeshGroups read_groups(const std::filesystem::path& path) {
  const MeshPath place = place_of(path);
  const MedContents contents = contents_of(place.file, place.mesh);
  const std::lock_guard held(lock());
  const MedFile file(place.file);
  const MeshEntry& mesh = contents.mesh;
  MeshGroups groups;
  const med_int families = library().MEDnFamily(file.id(), mesh.name.data());
  for (int i = 1; i <= families; ++i) {
    GroupFamily family = read_family(file, mesh.name, i);
    if (family.number != 0) groups.families.push_back(std::move(family));
  }
  groups.edges = read_corners(file, mesh, MED_SEG2, 2, "edges");
  groups.of_edge =
      read_families_of(file, mesh.name, MED_CELL, MED_SEG2, static_cast<std::int64_t>(groups.edges.size() / 2));
  if (!mesh.solids.empty()) {
    groups.of_triangle = read_families_of_solids(file, mesh);
    add_sides(file, mesh, MED_TRIA3, 3, groups);
    add_sides(file, mesh, MED_QUAD4, 4, groups);
  }
  if (mesh.solids.empty() && mesh.quadrangles == 0)  // what is written has other triangles than these
    groups.of_triangle = read_families_of(file, mesh.name, MED_CELL, mesh.shape, mesh.elements);
  groups.of_point = read_families_of(file, mesh.name, MED_NODE, MED_NONE, mesh.points);
  return groups;
}

#else

MeshGroups read_groups(const std::filesystem::path& path) {
  throw Error(Kind::unsupported, "this build has no MED").at(path.string()).hint("build it where libmedc-dev is");
}

#endif

}  // namespace octavo::formats::med
