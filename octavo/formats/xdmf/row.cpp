#include "octavo/formats/xdmf/row.hpp"

#include <array>

#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/xdmf/xdmf.hpp"

namespace octavo::formats::xdmf {
namespace {

constexpr std::array<std::string_view, 2> endings{".xdmf", ".xmf"};

}  // namespace

constinit const Format row{
    .name = "xdmf",
    .title = "XDMF",
    .recognise = &recognise,
    .open = &open,
    .understand = [](const std::string& told) { return understand_file(told, &open); },
    .list_steps = &list_steps,
    .triangles = true,
    .polygons = true,
    .solids = true,
    .endings = endings,
    .write = [](const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport& report) { report.bytes = xdmf::write(steps, path, request); },
    .common_names = &serafin::common_names,
};

}  // namespace octavo::formats::xdmf
