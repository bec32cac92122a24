#include "octavo/formats/serafin/row.hpp"

#include <array>

#include "octavo/formats/serafin/dataset.hpp"
#include "octavo/formats/serafin/write_series.hpp"

namespace octavo::formats::serafin {
namespace {

constexpr std::array<std::string_view, 5> endings{".slf", ".srf", ".ser", ".res", ".geo"};
constexpr std::array<OutputKind, 1> outputs{{{"serafin", "a SERAFIN file"}}};

}  // namespace

constinit const Format row{
    .name = "serafin",
    .title = "SERAFIN",
    .recognise = &recognise,
    .open = &open,
    .understand = &understand,
    .list_steps = &list_steps,
    .triangles = true,
    .endings = endings,
    .outputs = outputs,
    .write = [](const formats::Series& steps, const std::filesystem::path& path, const WriteRequest& request,
                WriteReport&) { serafin::write(steps, path, request); },
    .common_names = &common_names,
    .pieces_count = true,
};

}  // namespace octavo::formats::serafin
