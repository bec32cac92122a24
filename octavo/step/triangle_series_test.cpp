#include "octavo/step/triangle_series.hpp"

#include <gtest/gtest.h>

#include <array>
#include <span>

namespace octavo::step {
namespace {

using mesh::Part;
using mesh::Request;

/// A step of three points with IPOBO. `requests` takes what is read of it.
mesh::Dataset step_with_numbers(std::vector<Request>& requests) {
  mesh::Dataset dataset;
  dataset.num_parts = 1;
  dataset.unstructured = true;
  dataset.header.fields.resize(2);
  dataset.header.fields[1].name = "IPOBO";
  dataset.header.fields[1].type = mesh::ScalarType::int32;
  dataset.read = [&requests, info = dataset.header.fields[1]](int, const Request& request) {
    requests.push_back(request);
    const std::array<std::int32_t, 3> numbers{2, 0, 1};
    const auto bytes = std::as_bytes(std::span(numbers));
    Part part;
    part.mesh = mesh::Unstructured{};
    part.fields.push_back({info, {bytes.begin(), bytes.end()}});
    return part;
  };
  return dataset;
}

TEST(TriangleSeries, NumbersOfTheBoundaryAreReadWithoutTheMesh) {
  std::vector<Request> requests;
  EXPECT_EQ(stored_boundary_numbers(step_with_numbers(requests)), (std::vector<std::int32_t>{2, 0, 1}));
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_FALSE(requests[0].mesh);
  EXPECT_EQ(requests[0].fields, std::vector<std::string>{"IPOBO"});
}

}  // namespace
}  // namespace octavo::step
