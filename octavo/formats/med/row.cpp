#include "octavo/formats/med/row.hpp"

#include <array>

#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/write_series.hpp"
#include "octavo/formats/row/file_of_one_part.hpp"
#include "octavo/formats/serafin/dataset.hpp"

namespace octavo::formats::med {
namespace {

constexpr std::array<std::string_view, 1> endings{".med"};
constexpr std::array<OutputKind, 1> outputs{{{"med", "a MED file"}}};

}  // namespace

constinit const Format row{
    .name = "med",
    .title = "MED",
    .recognise = &recognise,
    .open = &open,
    .understand = [](const std::string& told) { return understand_file(told, &open); },
    .list_steps = &list_steps,
    .triangles = true,
    .solids = true,
    .endings = endings,
    .outputs = outputs,
    .write = &write,
    .common_names = &serafin::common_names,
    .read_groups = &read_groups,
};

}  // namespace octavo::formats::med
