
#include <gmock/gmock.h>

#include <set>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/groups.hpp"
#include "octavo/formats/med/med.hpp"
#include "octavo/formats/med/write.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/step/boundary_groups.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/diff/diff.hpp"
#include "octavo/verbs/probe.hpp"
#include "octavo/verbs/verify.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/write_triangles.hpp"

namespace octavo::verbs {
namespace {

namespace fs = std::filesystem;
namespace med = formats::med;

struct ToMed : ::testing::Test {
  testing::TemporaryFolder folder;
  fs::path slf = folder / "a.slf", out = folder / "b.med", back = folder / "c.slf";

  void SetUp() override {
    if (!med::available()) GTEST_SKIP() << "no MED in this build, or no libmedC here";
  }
  testing::SerafinFixture fixture(std::uint32_t seed) const {
    testing::SerafinFixture f;
    f.mesh = testing::random_triangles(seed, 5, 4, seed % 2 == 0);
    f.numbers = testing::ranks_of(f.mesh);
    f.big_endian = seed % 3 != 0;
    f.doubles = seed % 2 == 1;
    f.date = seed % 4 < 2;
    f.planes = seed % 5 == 0 ? 3 : 1;
    f.tag = f.doubles ? "SERAFIND" : "SERAPHIN";
    return f;
  }
};

TEST_F(ToMed, a_serafin_file_comes_back_byte_for_byte_whatever_its_kind) {
  for (std::uint32_t seed = 1; seed <= 10; ++seed) {
    std::string bytes = testing::serafin_bytes(fixture(seed));
    bytes.replace(bytes.find("VARIABLE 0"), 10, "Z IS FIRST");  // libmedC lists by name
    testing::put_file(slf, bytes);
    const formats::WriteReport report = testing::to_med(slf, out, {.overwrite = true});
    EXPECT_EQ(report.steps, 3);
    testing::to_serafin(out, back, {.overwrite = true});
    EXPECT_TRUE(testing::bytes_of_file(back) == testing::bytes_of_file(slf)) << "seed " << seed;
    EXPECT_TRUE(verbs::verify(out, 1).findings.empty());
    for (std::int64_t step = 0; step < 3; ++step)
      EXPECT_TRUE(verbs::diff(step::open(slf, {{}, step}), step::open(out, {{}, step})).equal) << "seed " << seed;
  }
}

TEST_F(ToMed, a_store_between_them_loses_nothing) {
  testing::put_file(slf, testing::serafin_bytes(fixture(6)));
  testing::to_med(slf, out, {});
  verbs::convert({out}, folder / "s.octavo", {});
  testing::to_med(folder / "s.octavo", folder / "again.med", {});
  testing::to_serafin(folder / "again.med", back, {});
  EXPECT_TRUE(testing::bytes_of_file(back) == testing::bytes_of_file(slf));
}

TEST_F(ToMed, boundary_codes_become_groups_of_edges_that_the_next_med_file_has_too) {
  const auto f = fixture(2);
  testing::put_file(slf, testing::serafin_bytes(f));
  const auto boundary = testing::boundary_of(f.mesh);
  std::string text = testing::boundary_text(boundary);
  text.replace(0, 5, "5 4 4");  // the first point is an open one
  testing::put_file(folder / "a.cli", text);
  EXPECT_EQ(testing::to_med(slf, out, {.boundary = folder / "a.cli"}).groups, 2);
  const formats::MeshGroups groups = med::read_groups(out);
  ASSERT_EQ(groups.edges.size(), 2 * boundary.size());
  ASSERT_EQ(groups.of_edge.size(), boundary.size());
  std::size_t open = 0;
  for (std::size_t e = 0; e < boundary.size(); ++e)
    for (const formats::GroupFamily& family : groups.families)
      if (family.number == groups.of_edge[e] && family.groups == std::vector<std::string>{"CONLIM_5442"}) {
        ++open;
        EXPECT_EQ(groups.edges[2 * e], boundary[0]);
      }
  EXPECT_EQ(open, 1U);
  testing::to_med(out, folder / "again.med", {});
  EXPECT_EQ(med::read_groups(folder / "again.med"), groups);
}

TEST_F(ToMed, a_cut_mesh_has_the_groups_of_what_is_left_of_it) {
  testing::SerafinFixture f = fixture(2);
  testing::put_file(slf, testing::serafin_bytes(f));
  const auto boundary = testing::boundary_of(f.mesh);
  testing::put_file(folder / "a.cli", testing::boundary_text(boundary));
  testing::to_med(slf, out, {.boundary = folder / "a.cli"});
  ConvertOptions options;
  options.to = "med";
  options.polygon = mesh::Polygon{{{-1, -1}, {2.6, -1}, {2.6, 9}, {-1, 9}}};
  verbs::convert({out}, folder / "cut.med", options);
  const formats::MeshGroups groups = med::read_groups(folder / "cut.med");  // throws for points that are not there
  const mesh::Part part = step::open(folder / "cut.med").read(0, {});
  const auto& cut = std::get<mesh::Unstructured>(part.mesh);
  using Place = std::pair<double, double>;
  std::set<std::pair<Place, Place>> found, expected;
  for (std::size_t e = 0; e < groups.of_edge.size(); ++e) {
    const auto from = static_cast<std::size_t>(groups.edges[2 * e]),
               to = static_cast<std::size_t>(groups.edges[2 * e + 1]);
    found.insert({{cut.x[from], cut.y[from]}, {cut.x[to], cut.y[to]}});
    EXPECT_LT(groups.of_edge[e], 0);
  }
  const formats::MeshGroups before = med::read_groups(out);
  std::set<Place> kept;
  for (std::size_t i = 0; i < cut.x.size(); ++i) kept.insert({cut.x[i], cut.y[i]});
  for (std::size_t e = 0; e < before.of_edge.size(); ++e) {
    const auto from = static_cast<std::size_t>(before.edges[2 * e]),
               to = static_cast<std::size_t>(before.edges[2 * e + 1]);
    const Place a{f.mesh.x[from], f.mesh.y[from]}, b{f.mesh.x[to], f.mesh.y[to]};
    if (kept.contains(a) && kept.contains(b)) expected.insert({a, b});
  }
  EXPECT_EQ(found, expected);
  EXPECT_GT(found.size(), 3u);
  EXPECT_LT(found.size(), before.of_edge.size());
}

TEST_F(ToMed, groups_of_gmsh_become_groups_of_med_and_the_boundary_file) {
  testing::put_file(folder / "a.msh",
                    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n2\n1 4 \"CONLIM_5445\"\n"
                    "1 3 \"CONLIM_2222\"\n$EndPhysicalNames\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 1 1 0\n"
                    "4 0 1 0\n$EndNodes\n$Elements\n6\n1 1 2 4 1 1 2\n2 1 2 3 2 2 3\n3 1 2 3 3 3 4\n"
                    "4 1 2 3 4 4 1\n5 2 2 0 1 1 2 3\n6 2 2 0 1 1 3 4\n$EndElements\n");
  ConvertOptions options;
  options.to = "med";
  verbs::convert({folder / "a.msh"}, out, options);
  const formats::MeshGroups groups = med::read_groups(out);
  EXPECT_THAT(groups.edges, ::testing::ElementsAre(0, 1, 1, 2, 2, 3, 3, 0));
  step::boundary_of_groups(out, folder / "med.cli", {});
  step::boundary_of_groups(folder / "a.msh", folder / "gmsh.cli", {});
  EXPECT_EQ(testing::bytes_of_file(folder / "gmsh.cli"), testing::bytes_of_file(folder / "med.cli"));
  EXPECT_THAT(testing::bytes_of_file(folder / "gmsh.cli"), ::testing::StartsWith("  5 4 4"));
  options.to = "gmsh";
  verbs::convert({out}, folder / "back.msh", options);
  step::boundary_of_groups(folder / "back.msh", folder / "back.cli", {});
  EXPECT_EQ(testing::bytes_of_file(folder / "back.cli"), testing::bytes_of_file(folder / "med.cli"));
  options.to = "serafin";
  EXPECT_THAT(verbs::convert({out}, back, options).notes,
              ::testing::Contains(::testing::HasSubstr("groups are left out")));
}

/// The boundary of a fixture's mesh with some codes, as partel writes lines.
std::string lines_of(const testing::SerafinFixture& f, const std::vector<std::array<int, 4>>& codes) {
  std::string text;
  std::int32_t k = 0;
  for (const std::int32_t point : testing::boundary_of(f.mesh)) {
    const auto& of = codes[static_cast<std::size_t>(k) / 4 % codes.size()];
    formats::serafin::BoundaryPoint line;
    line.depth = of[0];
    line.u = of[1];
    line.v = of[2];
    line.tracer = of[3];
    line.point = point + 1;
    line.colour = ++k;
    text += formats::serafin::boundary_line(line);
  }
  return text;
}

TEST_F(ToMed, a_boundary_file_comes_back_from_groups) {
  for (const std::uint32_t seed : {2U, 3U, 5U}) {
    auto f = fixture(seed);
    f.planes = 1;
    f.numbers = testing::ranks_of(f.mesh);
    testing::put_file(slf, testing::serafin_bytes(f));
    const std::string text = lines_of(f, {{2, 2, 2, 2}, {5, 4, 4, 5}, {4, 5, 5, 4}, {2, 0, 0, 2}});
    testing::put_file(folder / "a.cli", text);
    testing::to_med(slf, out, {.boundary = folder / "a.cli", .overwrite = true});
    step::boundary_of_groups(out, folder / "b.cli", {.overwrite = true});
    EXPECT_EQ(testing::bytes_of_file(folder / "b.cli"), text);
  }
}

std::map<std::int32_t, std::array<int, 4>> codes_by_point(const fs::path& boundary) {
  std::map<std::int32_t, std::array<int, 4>> codes;
  for (const auto& line : formats::serafin::read_boundary(boundary, 1000))
    codes[line.point] = {line.depth, line.u, line.v, line.tracer};
  return codes;
}

TEST_F(ToMed, a_boundary_file_is_made_where_ipobo_is_zero_everywhere) {
  auto f = fixture(3);
  testing::put_file(folder / "a.cli", lines_of(f, {{2, 2, 2, 2}, {5, 4, 4, 5}}));
  f.numbers.assign(f.mesh.x.size(), 0);
  testing::put_file(slf, testing::serafin_bytes(f));
  testing::to_med(slf, out, {.boundary = folder / "a.cli"});
  const step::BoundaryOfGroupsReport report = step::boundary_of_groups(out, folder / "b.cli", {});
  EXPECT_EQ(codes_by_point(folder / "b.cli"), codes_by_point(folder / "a.cli"));  // its first point may be another
  EXPECT_EQ(report.points, 18);
  EXPECT_THAT(report.notes, ::testing::ElementsAre(::testing::HasSubstr("IPOBO is zero everywhere")));
  testing::to_med(slf, folder / "bare.med", {});
  const auto error = testing::error_of([&] { step::boundary_of_groups(folder / "bare.med", folder / "c.cli", {}); });
  EXPECT_EQ(error.kind(), base::Kind::corrupt);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("is in no group with boundary codes"));
  EXPECT_FALSE(fs::exists(folder / "c.cli"));
}

TEST_F(ToMed, codes_of_groups_may_be_told_and_edges_without_are_named) {
  auto f = fixture(2);
  f.numbers = testing::ranks_of(f.mesh);
  testing::put_file(slf, testing::serafin_bytes(f));
  testing::to_med(slf, folder / "plain.med", {});
  testing::put_file(folder / "a.cli", lines_of(f, {{2, 2, 2, 2}, {5, 4, 4, 5}}));
  testing::to_med(slf, out, {.boundary = folder / "a.cli"});
  testing::put_file(folder / "codes.cli", "1\n4 5 5 4 CONLIM_5445\n");
  step::boundary_of_groups(out, folder / "b.cli", {.codes = folder / "codes.cli"});
  EXPECT_EQ(testing::bytes_of_file(folder / "b.cli"), lines_of(f, {{2, 2, 2, 2}, {4, 5, 5, 4}}));
  testing::put_file(folder / "codes.cli", "2\n4 5 5 4 CONLIM_5445\n4 5 5 4 OUTLET # east\n");
  EXPECT_THAT(step::boundary_of_groups(out, folder / "d.cli", {.codes = folder / "codes.cli"}).notes,
              ::testing::ElementsAre(::testing::HasSubstr("has the name \"OUTLET # east\"")));
  const auto message = [&](const fs::path& med, const step::BoundaryOfGroupsOptions& options) {
    return std::string(testing::error_of([&] { step::boundary_of_groups(med, folder / "c.cli", options); }).what());
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(message(folder / "plain.med", {}), HasSubstr("is in no group with boundary codes"));
  EXPECT_THAT(message(slf, {}), HasSubstr("MED and Gmsh have groups of edges"));
  testing::put_file(folder / "codes.cli", "2\n4 5 5 4 CONLIM_5445\n");
  EXPECT_THAT(message(out, {.codes = folder / "codes.cli"}), HasSubstr("expected the number of groups"));
  const std::string mark = "\xEF\xBB\xBF";  // the byte order has no digit
  for (const std::string& first : {std::string("groups"), std::string(), mark + "1"}) {
    testing::put_file(folder / "codes.cli", first + "\n4 5 5 4 CONLIM_5445\n");
    EXPECT_THAT(message(out, {.codes = folder / "codes.cli"}), HasSubstr("expected the number of groups"));
  }
  testing::put_file(folder / "codes.cli", "1\n4 5 5 CONLIM_5445\n");
  EXPECT_THAT(message(out, {.codes = folder / "codes.cli"}), HasSubstr("expected four codes"));
  EXPECT_EQ(testing::error_of([&] { step::boundary_of_groups(out, folder / "b.cli", {}); }).kind(), base::Kind::usage);
}

TEST_F(ToMed, an_edge_in_groups_of_different_codes_is_refused) {
  const auto f = fixture(2);
  testing::put_file(slf, testing::serafin_bytes(f));
  testing::put_file(folder / "a.cli", lines_of(f, {{2, 2, 2, 2}, {5, 4, 4, 5}}));
  testing::to_med(slf, out, {.boundary = folder / "a.cli"});
  formats::MeshGroups groups = med::read_groups(out);
  const auto twice = [&](std::int32_t family) {
    groups.edges.insert(groups.edges.end(), {groups.edges.at(1), groups.edges.at(0)});  // the first one, reversed
    groups.of_edge.push_back(family);
    med::MedWriter writer(folder / "twice.med", {"AN EDGE TWICE", false});
    writer.add_mesh("MESH", std::get<mesh::Unstructured>(step::open(slf).read(0, {}).mesh), {}, f.numbers);
    writer.add_groups("MESH", groups);
    writer.close();
  };
  twice(groups.of_edge.at(0));
  step::boundary_of_groups(folder / "twice.med", folder / "b.cli", {});
  EXPECT_EQ(testing::bytes_of_file(folder / "b.cli"), testing::bytes_of_file(folder / "a.cli"));
  twice(groups.of_edge.at(5));
  const auto error = testing::error_of([&] { step::boundary_of_groups(folder / "twice.med", folder / "c.cli", {}); });
  EXPECT_EQ(error.kind(), base::Kind::corrupt);
  EXPECT_THAT(error.what(), ::testing::HasSubstr("is in groups of different boundary codes"));
}

TEST_F(ToMed, names_that_are_no_names_of_groups_and_names_twice_are_kept) {
  auto f = fixture(2);
  std::string bytes = testing::serafin_bytes(f);
  bytes.replace(bytes.find("VARIABLE 0"), 10, "FLUX M3/S ");
  bytes.replace(bytes.find("VARIABLE 1"), 10, "FLUX M3/S ");
  testing::put_file(slf, bytes);
  testing::to_med(slf, out, {});
  EXPECT_EQ(step::open(out).header.fields.at(0).name, "FLUX M3/S");
  testing::to_serafin(out, back, {});
  EXPECT_TRUE(testing::bytes_of_file(back) == bytes);
}

TEST_F(ToMed, single_precision_halves_the_values_and_keeps_them) {
  testing::put_file(slf, testing::serafin_bytes(fixture(2)));
  testing::to_med(slf, out, {.single_precision = true});
  EXPECT_EQ(step::open(out).header.fields.at(0).type, mesh::ScalarType::float32);
  EXPECT_TRUE(verbs::diff(step::open(slf), step::open(out)).equal);
}

TEST_F(ToMed, without_a_step_the_names_of_variables_stay_through_every_format) {
  auto f = fixture(3);
  f.steps = 0;
  testing::put_file(slf, testing::serafin_bytes(f));
  testing::to_med(slf, out, {});
  testing::to_vtkhdf(out, folder / "d.vtkhdf", {});
  std::vector<fs::path> all{out, folder / "d.vtkhdf"};
  for (const fs::path& path : {slf, out, folder / "d.vtkhdf"}) {
    all.emplace_back(path.string() + ".octavo");
    EXPECT_EQ(verbs::convert({path}, all.back(), {}).steps, 1);
  }
  for (const fs::path& path : all) {
    testing::to_serafin(path, back, {.overwrite = true});
    EXPECT_TRUE(testing::bytes_of_file(back) == testing::bytes_of_file(slf)) << path;
    EXPECT_EQ(step::open(path).header.fields.size(), 1U) << path;  // IPOBO
  }
}

TEST_F(ToMed, time_series_are_the_same_of_every_format) {
  testing::put_file(slf, testing::serafin_bytes(fixture(5)));  // planes
  testing::to_med(slf, out, {});
  testing::to_vtkhdf(slf, folder / "d.vtkhdf", {});
  verbs::convert({slf}, folder / "s.octavo", {});
  const ProbeOptions options{{{1.3, 2.2}, {-9, 0}, {3, 1}}, {}, 1};
  const ProbeSeries expected = probe(slf, options);
  EXPECT_EQ(expected.inside, (std::vector<char>{1, 0, 1}));
  for (const fs::path& path : {out, folder / "d.vtkhdf", folder / "s.octavo"}) {
    const ProbeSeries found = probe(path, options);
    EXPECT_EQ(found.fields, expected.fields) << path;
    EXPECT_EQ(found.units, expected.units) << path;
    EXPECT_EQ(found.times, expected.times) << path;
    EXPECT_EQ(found.inside, expected.inside) << path;
    ASSERT_EQ(found.values.size(), expected.values.size()) << path;
    for (std::size_t i = 0; i < found.values.size(); ++i)
      EXPECT_TRUE(found.values[i] == expected.values[i] || i / 6 == 1) << path << ", value " << i;
  }
  EXPECT_THAT(testing::error_of([&] {
                probe(out, {{{1, 1}}, {}, 7});
              }).what(),
              ::testing::HasSubstr("plane: expected"));
}

TEST_F(ToMed, a_boundary_without_numbers_is_found_from_the_mesh) {
  const testing::Triangles triangles = testing::random_triangles(2, 5, 4, true);
  const mesh::Unstructured mesh{
      triangles.x, triangles.y, {triangles.connectivity.begin(), triangles.connectivity.end()}, 1, {}};
  med::MedWriter writer(out, {"A MESH ALONE", false});
  writer.add_mesh("Mesh_1", mesh, {}, {});
  writer.close();
  EXPECT_EQ(std::get<mesh::Unstructured>(step::open(out).read(0, {}).mesh), mesh);
  const formats::WriteReport report = testing::to_serafin(out, back, {});
  EXPECT_THAT(report.notes, ::testing::ElementsAre(::testing::HasSubstr("found from the mesh")));
  const mesh::Part part = step::open(back).read(0, {.fields = {{"IPOBO"}}});
  const auto ranks = part.fields.at(0).as<std::int32_t>();
  EXPECT_EQ(std::count_if(ranks.begin(), ranks.end(), [](std::int32_t rank) { return rank > 0; }),
            static_cast<std::ptrdiff_t>(testing::boundary_of(triangles).size()));
}

TEST_F(ToMed, a_file_that_is_there_is_kept_and_a_failure_leaves_nothing) {
  testing::put_file(slf, testing::serafin_bytes(fixture(2)));
  testing::put_file(out, "mine");
  EXPECT_EQ(testing::error_of([&] { testing::to_med(slf, out, {}); }).kind(), base::Kind::usage);
  EXPECT_EQ(testing::bytes_of_file(out), "mine");
  const auto stop = [](std::int64_t, std::int64_t) { return false; };
  EXPECT_EQ(testing::error_of([&] { testing::to_med(slf, folder / "d.med", {.progress = stop}); }).kind(),
            base::Kind::interrupted);
  EXPECT_FALSE(fs::exists(folder / "d.med"));
  EXPECT_FALSE(fs::exists(folder / "d.med.partial"));
}

}  // namespace
}  // namespace octavo::verbs
