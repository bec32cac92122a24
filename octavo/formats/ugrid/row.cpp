#include "octavo/formats/ugrid/row.hpp"

#include <array>

#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/ugrid/ugrid.hpp"

namespace octavo::formats::ugrid {
namespace {

constexpr std::array<std::string_view, 1> endings{".nc"};

}  // namespace

constinit const Format row{
    .name = "ugrid",
    .title = "UGRID",
    .recognise = &recognise,
    .open = &open,
    .understand = [](const std::string& told) { return understand_file(told, &open); },
    .list_steps = &list_steps,
    .triangles = true,
    .polygons = true,
    .solids = true,
    .endings = endings,
    .write = [](const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport&) { ugrid::write(steps, path, request); },
    .common_names = &common_names,
};

}  // namespace octavo::formats::ugrid
