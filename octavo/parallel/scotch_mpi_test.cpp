#include <gmock/gmock.h>

#include "octavo/jobs/merge_pieces.hpp"
#include "octavo/jobs/partition_ranks.hpp"
#include "octavo/parallel/scotch.hpp"
#include "octavo/parallel/series_pieces.hpp"
#include "octavo/parallel/world.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::parallel {
namespace {

namespace fs = std::filesystem;
using testing::bytes_of_file;

jobs::PartitionReport cut(const fs::path& folder, const std::string& prefix, partition::Method method) {
  jobs::PartitionOptions options;
  options.parts = 7;
  options.method = method;
  options.boundary = folder / "geo.cli";
  return jobs::partition_by_ranks(folder / "geo.slf", folder / prefix, options, world(), cut_by_scotch);
}

TEST(ScotchMpi, ranks_cut_few_edges_and_again_the_same_ones) {
  if (!has_scotch()) GTEST_SKIP() << "no PT-Scotch in this build";
  const testing::SharedDirectory shared;
  const fs::path& folder = shared.path();
  testing::SerafinFixture f = testing::fixture(2);
  f.mesh = testing::random_triangles(2, 50, 40, true);
  f.numbers = testing::ranks_of(f.mesh);
  if (testing::rank() == 0) {
    testing::put_file(folder / "geo.slf", serafin_bytes(f));
    testing::put_file(folder / "geo.cli", testing::boundary_text(testing::boundary_of(f.mesh)));
  }
  testing::barrier();
  const jobs::PartitionReport report = cut(folder, "A", partition::Method::scotch);
  const jobs::PartitionReport other = cut(folder, "H", partition::Method::hilbert);
  EXPECT_LT(report.quality.cut_edges, 2 * other.quality.cut_edges);
  const double even = static_cast<double>(report.elements) / 7;
  EXPECT_GT(static_cast<double>(report.quality.fewest), 0.8 * even);
  EXPECT_LT(static_cast<double>(report.quality.most), 1.2 * even);
  cut(folder, "B", partition::Method::scotch);
  if (testing::rank() == 0) {
    for (const char* kind : {"GEO-CONCAT", "CLI-CONCAT", "PAR-CONCAT"})
      EXPECT_TRUE(bytes_of_file(folder / ("A" + std::string(kind))) ==
                  bytes_of_file(folder / ("B" + std::string(kind))));
    jobs::MergeOptions options;
    options.mesh = folder / "geo.slf";
    EXPECT_EQ(jobs::merge_pieces({folder / "AGEO"}, folder / "merged.slf", options).parts, 7);
    EXPECT_EQ(fs::file_size(folder / "merged.slf"), fs::file_size(folder / "geo.slf"));
  }
  testing::barrier();
}

TEST(ScotchMpi, ranks_without_elements_cut_too) {
  if (!has_scotch()) GTEST_SKIP() << "no PT-Scotch in this build";
  const testing::SharedDirectory shared;
  testing::SerafinFixture f = testing::fixture(1);
  f.mesh = testing::random_triangles(1, 1, 1);
  f.numbers = testing::ranks_of(f.mesh);
  if (testing::rank() == 0) testing::put_file(shared.path() / "geo.slf", serafin_bytes(f));
  testing::barrier();
  jobs::PartitionOptions options;
  options.parts = 2;
  options.method = partition::Method::scotch;
  const jobs::PartitionReport report =
      jobs::partition_by_ranks(shared.path() / "geo.slf", shared.path() / "A", options, world(), cut_by_scotch);
  EXPECT_EQ(report.elements, 2);
  EXPECT_EQ(report.quality.cut_edges, 1);
}

}  // namespace
}  // namespace octavo::parallel
