#include "octavo/formats/gmsh/row.hpp"

#include <array>

#include "octavo/formats/gmsh/gmsh.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/serafin/dataset.hpp"

namespace octavo::formats::gmsh {
namespace {

constexpr std::array<std::string_view, 1> endings{".msh"};

}  // namespace

constinit const Format row{
    .name = "gmsh",
    .title = "Gmsh",
    .recognise = &recognise,
    .open = &open,
    .understand = [](const std::string& told) { return understand_file(told, &open); },
    .list_steps = &list_steps,
    .triangles = true,
    .polygons = true,
    .solids = true,
    .endings = endings,
    .write = [](const Series& steps, const std::filesystem::path& path, const WriteRequest&,
                WriteReport& report) { gmsh::write(steps, path, report); },
    .common_names = &serafin::common_names,
    .read_groups = &read_groups,
};

}  // namespace octavo::formats::gmsh
