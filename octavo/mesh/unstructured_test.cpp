#include "octavo/mesh/unstructured.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Unstructured& mesh) {
  try {
    validate(mesh);
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::Kind::corrupt);
    return error.what();
  }
  return "accepted";
}

Unstructured square() {
  Unstructured mesh;
  mesh.x = {0, 1, 1, 0};
  mesh.y = {0, 0, 1, 1};
  mesh.connectivity = {0, 1, 2, 0, 2, 3};
  mesh.global_point = {7, 3, 0, 12};
  return mesh;
}

TEST(unstructured, good_ones_are_accepted) {
  EXPECT_EQ(refusal(square()), "accepted");
  EXPECT_EQ(refusal(Unstructured{}), "accepted");
  Unstructured identity = square();
  identity.global_point.clear();
  identity.planes = 10;
  EXPECT_EQ(refusal(identity), "accepted");
}

TEST(unstructured, every_kind_of_damage_is_refused_by_name) {
  const std::vector<std::pair<std::function<void(Unstructured&)>, const char*>> damages{
      {[](Unstructured& m) { m.y.pop_back(); }, "4 x and 3 y"},
      {[](Unstructured& m) { m.connectivity.pop_back(); }, "three points a triangle, found 5 entries"},
      {[](Unstructured& m) { m.planes = 0; }, "planes: expected at least 1, found 0"},
      {[](Unstructured& m) { m.connectivity[4] = 4; }, "expected 0 to 3, found 4"},
      {[](Unstructured& m) { m.connectivity[1] = -1; }, "found -1"},
      {[](Unstructured& m) { m.connectivity[4] = 0; }, "a triangle names one point twice: 0, 0, 3"},
      {[](Unstructured& m) { m.connectivity[5] = 2; }, "triangle 1"},
      {[](Unstructured& m) { m.connectivity[5] = 0; }, "names one point twice: 0, 2, 0"},
      {[](Unstructured& m) { m.global_point.pop_back(); }, "global point numbers: expected none or 4, found 3"},
      {[](Unstructured& m) { m.global_point[2] = -1; }, "expected 0 or more, found -1"},
      {[](Unstructured& m) { m.global_point[2] = 12; }, "global point number 12 is given to two points"},
  };
  for (const auto& [damage, message] : damages) {
    Unstructured mesh = square();
    damage(mesh);
    EXPECT_THAT(refusal(mesh), HasSubstr(message));
  }
}

TEST(unstructured, triangles_without_points_are_refused) {
  Unstructured mesh;
  mesh.connectivity = {0, 1, 2};
  EXPECT_THAT(refusal(mesh), HasSubstr("triangle 0"));
}

}  // namespace
}  // namespace octavo::mesh
