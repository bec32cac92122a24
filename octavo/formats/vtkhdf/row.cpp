#include "octavo/formats/vtkhdf/row.hpp"

#include <array>

#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/vtkhdf/vtkhdf.hpp"
#include "octavo/formats/vtkhdf/write_series.hpp"

namespace octavo::formats::vtkhdf {
namespace {

constexpr std::array<std::string_view, 1> endings{".vtkhdf"};

}  // namespace

constinit const Format row{
    .name = "vtkhdf",
    .title = "VTKHDF",
    .recognise = &recognise,
    .open = &open,
    .understand = [](const std::string& told) { return understand_file(told, &open); },
    .list_steps = &list_steps,
    .triangles = true,
    .polygons = true,
    .solids = true,
    .integers = true,
    .endings = endings,
    .write = [](const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport&) { vtkhdf::write(steps, path, request); },
    .common_names = &serafin::common_names,
};

}  // namespace octavo::formats::vtkhdf
