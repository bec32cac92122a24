#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "octavo/formats/serafin/series.hpp"

// Files of TELEMAC's own examples, and what a reader of others made of them (oracle.json).
namespace octavo::formats::serafin {
namespace {

namespace fs = std::filesystem;

fs::path data() {
  const char* given = std::getenv("OCTAVO_DATA");
  return (given != nullptr ? fs::path(given) : fs::path(__FILE__).parent_path() / "../../../../shared/data") /
         "serafin";
}

std::int64_t sum(const std::vector<std::int32_t>& values) {
  std::int64_t total = 0;
  for (const std::int32_t value : values) total += value;
  return total;
}

/// Least, greatest and sum, added up in the order of points as the oracle's pairwise sum is not: hence the tolerance.
void expect_stats(const nlohmann::json& expected, const std::vector<double>& values, const std::string& what) {
  double least = values.at(0), most = values[0], total = 0, size = 0;
  for (const double value : values) {
    least = std::min(least, value);
    most = std::max(most, value);
    total += value;
    size += std::abs(value);
  }
  EXPECT_EQ(least, expected[0].get<double>()) << what;
  EXPECT_EQ(most, expected[1].get<double>()) << what;
  EXPECT_NEAR(total, expected[2].get<double>(), 1e-12 * size) << what;
}

void expect_header(const nlohmann::json& expected, const SerafinSeries& series) {
  const SerafinHeader& header = series.header;
  EXPECT_EQ(header.order, expected["endian"] == "big" ? std::endian::big : std::endian::little);
  EXPECT_EQ(header.real_bytes, expected["real_bytes"].get<std::size_t>());
  EXPECT_TRUE(std::equal(header.iparam.begin(), header.iparam.end(), expected["iparam"].begin()));
  EXPECT_EQ(header.date.has_value(), !expected["date"].is_null());
  if (header.date) {
    EXPECT_TRUE(std::equal(header.date->begin(), header.date->end(), expected["date"].begin()));
  }
  EXPECT_EQ(header.elements, expected["nelem"]);
  EXPECT_EQ(header.points, expected["npoin"]);
  EXPECT_EQ(header.nodes, expected["ndp"]);
  EXPECT_EQ(series.steps, expected["nstep"]);
  EXPECT_EQ(series.trailing_bytes, expected["trailing_bytes"]);
  EXPECT_EQ(series.offsets.steps, expected["pos_data"]);
  EXPECT_EQ(series.offsets.step_bytes, expected["bytes_per_step"]);
  ASSERT_EQ(header.variables.size(), expected["variables"].size());
  for (std::size_t v = 0; v < header.variables.size(); ++v) {
    EXPECT_EQ(name_of(header.variables[v]), expected["variables"][v][0]);
    EXPECT_EQ(unit_of(header.variables[v]), expected["variables"][v][1]);
  }
}

void expect_arrays(const nlohmann::json& expected, const SerafinSeries& series) {
  const SerafinHeader& header = series.header;
  std::vector<std::int32_t> connectivity(static_cast<std::size_t>(header.elements * header.nodes));
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(header.points));
  read_connectivity(series, 0, connectivity);
  read_numbers(series, 0, numbers);
  EXPECT_EQ(sum(connectivity), expected["ikle_sum"]);
  std::int64_t weighted = 0;
  for (std::size_t k = 0; k < connectivity.size(); ++k)
    weighted += std::int64_t{connectivity[k]} * static_cast<std::int64_t>(k % 1009 + 1);
  EXPECT_EQ(weighted, expected["ikle_weighted"]);
  EXPECT_EQ(std::count_if(numbers.begin(), numbers.end(), [](auto n) { return n != 0; }), expected["ipobo_nonzero"]);
  EXPECT_EQ(*std::max_element(numbers.begin(), numbers.end()), expected["ipobo_max"]);
  std::vector<double> values(numbers.size());
  for (const int axis : {0, 1}) {
    read_coordinates(series, axis, 0, values);
    expect_stats(expected[axis == 0 ? "x" : "y"], values, axis == 0 ? "x" : "y");
  }
  for (std::int64_t step = 0; step < series.steps; ++step) {
    const auto& row = expected["steps"][static_cast<std::size_t>(step)];
    EXPECT_EQ(read_time(series, step), row["time"]);
    for (std::size_t v = 0; v < header.variables.size(); ++v) {
      read_values(series, step, v, 0, values);
      expect_stats(row["stats"][v], values, name_of(header.variables[v]) + ", step " + std::to_string(step));
    }
  }
}

TEST(SerafinReal, real_files_hold_what_another_reader_found) {
  if (!fs::exists(data())) GTEST_SKIP() << "no real data at " << data();
  const auto oracle = nlohmann::json::parse(std::ifstream(data() / "oracle.json"));
  int files = 0;
  for (const auto& [name, expected] : oracle.items()) {
    if (!expected.contains("nelem")) continue;
    SCOPED_TRACE(name);
    const SerafinSeries series = open_series(data() / name);
    expect_header(expected, series);
    expect_arrays(expected, series);
    EXPECT_NO_THROW(read_mesh(series));
    ++files;
  }
  EXPECT_GE(files, 13);
}

}  // namespace
}  // namespace octavo::formats::serafin
