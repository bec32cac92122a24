#include <gmock/gmock.h>

#include "octavo/base/error.hpp"
#include "octavo/verbs/convert.hpp"
#include "tests/support/solids_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

mesh::Dataset box_dataset() {
  const mesh::Solids box = testing::box_of_solids(2, 0);
  mesh::Header header;
  header.code = "test";
  header.attributes[mesh::solids_attribute] = mesh::count_solids(box);
  header.fields.push_back({"rock", "", mesh::ScalarType::int32, mesh::Centring::cell, 1, 0});
  const auto cells = static_cast<std::int64_t>(box.corners.size());
  mesh::Dataset dataset = mesh::of_one_part("test", "box", header, 0, cells, static_cast<std::int64_t>(box.x.size()));
  dataset.read = [box, info = header.fields[0]](int, const mesh::Request& request) {
    mesh::Part part;
    part.mesh = box;
    if (!request.fields || !request.fields->empty()) part.fields.push_back(mesh::make_field(info, box.corners.size()));
    return part;
  };
  return dataset;
}

std::vector<std::string> names_in(const mesh::Part& part) {
  std::vector<std::string> names;
  for (const mesh::Field& field : part.fields) names.push_back(field.info.name);
  return names;
}

TEST(ConvertSolids, a_cut_is_a_field_of_its_store_and_stays_behind_when_another_store_is_made_of_it) {
  const testing::TemporaryFolder folder;
  const fs::path cut = folder / "cut.octavo", again = folder / "again.octavo";
  ConvertOptions options;
  options.part_of.assign(22, 1);
  options.part_of[3] = 0;
  options.cut_parts = 2;
  convert(box_dataset(), 0, cut, options);
  const mesh::Part part = step::open(cut).read(0, {});
  ASSERT_THAT(names_in(part), ElementsAreArray({"rock", "part"}));
  EXPECT_THAT(part.fields[1].as<std::int32_t>(), ElementsAreArray(options.part_of));
  const ConvertReport report = convert({cut}, again, {});
  EXPECT_THAT(report.notes, Contains(HasSubstr("the cut is not kept")));
  EXPECT_THAT(names_in(step::open(again).read(0, {})), ElementsAreArray({"rock"}));
}

TEST(ConvertSolids, a_cut_of_other_cells_than_the_mesh_has_is_refused) {
  const testing::TemporaryFolder folder;
  ConvertOptions options;
  options.part_of.assign(21, 0);
  options.cut_parts = 1;
  EXPECT_THROW(convert(box_dataset(), 0, folder / "cut.octavo", options), base::Error);
}

}  // namespace
}  // namespace octavo::verbs
