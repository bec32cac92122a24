#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "tests/support/store_fixture.hpp"

// tests/golden holds one small store for each kind of content and each version that was ever released, and beside it
// what it reads as. They are read by every later version and never written again; to add one:
//   OCTAVO_NEW_GOLDEN=NAME octavo_store_test --gtest_also_run_disabled_tests --gtest_filter='Golden.*new_store'
namespace octavo::store {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::plan_of;
using testing::random_step;
using testing::Step;
using testing::StepOptions;
using testing::write_step;

fs::path golden_directory() {
  return fs::path(__FILE__).parent_path().parent_path().parent_path() / "tests" / "golden";
}

std::string hexadecimal(const mesh::Field& field) {
  std::vector<std::byte> bytes = field.bytes;
  if constexpr (std::endian::native == std::endian::big) base::swap_bytes(bytes, mesh::size_of(field.info.type));
  std::string text;
  for (std::byte byte : bytes)
    for (unsigned shift : {4U, 0U}) text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> shift & 15U];
  return text;
}

std::vector<std::string> bit_texts(const std::vector<base::BitArray>& levels) {
  std::vector<std::string> texts;
  for (const base::BitArray& level : levels) {
    std::string text;
    for (std::size_t i = 0; i < level.size(); ++i) text += level[i] ? '1' : '0';
    texts.push_back(std::move(text));
  }
  return texts;
}

json described(const mesh::Part& part) {
  const auto& tree = std::get<mesh::Octree>(part.mesh);
  json out{{"index", part.index}, {"refined", bit_texts(tree.refined)}, {"owned", bit_texts(tree.owned)}};
  out["fields"] = out["particles"] = json::object();
  for (const mesh::Field& field : part.fields) out["fields"][field.info.name] = hexadecimal(field);
  for (const mesh::Particles& species : part.particles)
    for (const mesh::Field& field : species.attributes)
      out["particles"][species.species + "/" + field.info.name] = hexadecimal(field);
  return out;
}

json described(const fs::path& store) {
  json out{{"steps", json::array()}};
  for (const StepInfo& info : list_steps(store)) {
    json parts = json::array();
    for (const mesh::Part& part : testing::read_all(open_step(store, info.flow, info.step)))
      parts.push_back(described(part));
    out["steps"].push_back(
        {{"flow", to_string(info.flow)}, {"step", info.step}, {"time", info.time}, {"parts", std::move(parts)}});
  }
  return out;
}

TEST(Golden, stores_of_every_version_read_as_when_they_were_written) {
  int stores = 0;
  for (const auto& entry : fs::directory_iterator(golden_directory())) {
    if (!fs::exists(entry.path() / "run.octavo")) continue;
    ++stores;
    std::ifstream in(entry.path() / "expected.json");
    EXPECT_EQ(described(entry.path() / "run.octavo"), json::parse(in)) << entry.path();
    for (const Finding& finding : verify(entry.path() / "run.octavo", 1).findings)
      ADD_FAILURE() << entry.path() << " " << finding.where << ": " << finding.what;
  }
  EXPECT_GT(stores, 0);
}

// ------------------------------------------------------------------ how they were made

void make_lossless(const fs::path& store) {
  StepOptions options;
  options.cells = 120;
  write_step(random_step(1, options), store, plan_of(1, 1, 2));
  write_step(random_step(2, options), store, plan_of(2, 2, 2));
  SegmentPlan resumed = plan_of(2, 3, 2);
  resumed.continues = StepId{1, testing::attempt_of(1)};
  write_step(random_step(3, options), store, resumed);
}

void make_bounded(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.roots = {3, 2, 1};
  options.cells = 150;
  options.levels = 5;
  EncodeOptions point, absolute;
  point.field_codec["density"].bound = {codec::BoundKind::pointwise_relative, 2e-3};
  absolute.codec.bound = {codec::BoundKind::absolute, 1e-3};
  absolute.single_precision = true;
  write_step(random_step(4, options), store, plan_of(10, 1), point);
  write_step(random_step(5, options), store, plan_of(20, 2), absolute);
}

void make_blocks(const fs::path& store) {
  StepOptions options;
  options.dim = 2;
  options.block = {4, 3, 1};
  options.roots = {2, 1, 1};
  options.cells = 30;
  options.particles = false;
  SegmentPlan plan = plan_of(40, 1);
  plan.flow = Flow::checkpoint;
  write_step(random_step(6, options), store, plan);
  options.dim = 1;
  options.block = {1, 1, 1};
  options.roots = {5, 1, 1};
  write_step(random_step(7, options), store, plan_of(1, 2));
}

TEST(Golden, DISABLED_writes_a_new_store) {
  const char* name = std::getenv("OCTAVO_NEW_GOLDEN");
  ASSERT_NE(name, nullptr) << "OCTAVO_NEW_GOLDEN says what to call them";
  const std::map<std::string, void (*)(const fs::path&)> makers{
      {"lossless", make_lossless}, {"bounded", make_bounded}, {"blocks", make_blocks}};
  for (const auto& [kind, make] : makers) {
    const fs::path directory = golden_directory() / (std::string(name) + "-" + kind);
    ASSERT_FALSE(fs::exists(directory)) << "golden files are for ever";
    make(directory / "run.octavo");
    std::ofstream(directory / "expected.json") << described(directory / "run.octavo").dump(1) << "\n";
  }
}

}  // namespace
}  // namespace octavo::store
