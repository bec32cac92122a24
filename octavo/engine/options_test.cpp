#include "octavo/engine/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "octavo/base/error.hpp"
#include "octavo/engine/hints.hpp"
#include "octavo/engine/misspelt.hpp"
#include "tests/support/error_of.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using octavo::testing::message_of;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

Environment environment(std::map<std::string, std::string> values) {
  return [values](const std::string& name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return {};
    return found->second;
  };
}

fs::path write_file(const std::string& text) {
  const fs::path path =
      fs::path(::testing::TempDir()) /
      (std::string("octavo_options_") + ::testing::UnitTest::GetInstance()->current_test_info()->name() +
       std::to_string(getpid()) + ".toml");
  std::ofstream(path) << text;
  return path;
}

// Names every option. Other tests check their effects: plan_test, staging_test and writer_mpi_test.
TEST(Options, every_option_is_read_from_a_variable) {
  const Options options = read_options({}, {},
                                       environment({{"OCTAVO_CONTRIBUTORS_PER_FILE", "4"},
                                                    {"OCTAVO_WRITERS_PER_NODE", "2"},
                                                    {"OCTAVO_RANKS_PER_NODE", "8"},
                                                    {"OCTAVO_MODE", "auto"},
                                                    {"OCTAVO_STAGING_BYTES", "64K"},
                                                    {"OCTAVO_LEND", "on"},
                                                    {"OCTAVO_CHECKSUMS", "off"},
                                                    {"OCTAVO_KEEP_LAST", "3"},
                                                    {"OCTAVO_REMEMBER_FAILED_RESTARTS", "yes"},
                                                    {"OCTAVO_LOG", "-"},
                                                    {"OCTAVO_STATISTICS", "run.json"},
                                                    {"OCTAVO_MPI_IO_HINTS", "romio_cb_write=enable; cb_nodes = 8"},
                                                    {"OCTAVO_CHECKPOINT_EVERY", "600s"},
                                                    {"OCTAVO_ANALYSIS_EVERY", "10"},
                                                    {"OCTAVO_CHECKPOINT_FIELDS", "a"},
                                                    {"OCTAVO_ANALYSIS_FIELDS", "density , pressure"},
                                                    {"OCTAVO_RECYCLE", "on"},
                                                    {"OCTAVO_STEPS_IN_FLIGHT", "2"},
                                                    {"OCTAVO_SYNC_POLICY", "wait"},
                                                    {"OCTAVO_DIRECT_IO", "on"},
                                                    {"OCTAVO_ANALYSIS_APPEND", "off"},
                                                    {"OCTAVO_CHECKPOINT_CODEC", "raw"},
                                                    {"OCTAVO_ANALYSIS_CODEC", "point:2e-3"},
                                                    {"OCTAVO_ANALYSIS_EFFORT", "max"},
                                                    {"OCTAVO_ANALYSIS_SINGLE_PRECISION", "true"}}));
  EXPECT_EQ(options.recycle, true);
  EXPECT_EQ(options.steps_in_flight, 2);
  EXPECT_THROW(read_options({}, {}, environment({{"OCTAVO_STEPS_IN_FLIGHT", "0"}})), base::Error);
  EXPECT_EQ(options.sync_policy, SyncPolicy::wait);
  EXPECT_TRUE(options.direct_io);
  EXPECT_FALSE(options.append_analysis);
  EXPECT_FALSE(options.append_checkpoint);
  EXPECT_EQ(options.contributors_per_file, 4);
  EXPECT_EQ(options.writers_per_node, 2);
  EXPECT_EQ(options.ranks_per_node, 8);
  EXPECT_EQ(options.mode, Mode::automatic);
  EXPECT_EQ(options.staging_bytes, 65536);
  EXPECT_TRUE(options.lend);
  EXPECT_FALSE(options.checksums);
  EXPECT_EQ(options.keep_last, 3);
  EXPECT_EQ(read_options({}, {}, environment({{"OCTAVO_STAGING_DIRECTORY", "/local/scratch"}})).staging_directory,
            "/local/scratch");
  EXPECT_THROW(
      read_options({}, {},
                   environment({{"OCTAVO_STAGING_DIRECTORY", "/local/scratch"}, {"OCTAVO_SYNC_POLICY", "none"}})),
      base::Error);
  EXPECT_TRUE(options.remember_failed_restarts);
  EXPECT_EQ(options.log, "-");
  EXPECT_EQ(options.statistics, "run.json");
  const std::map<std::string, std::string> hints{{"romio_cb_write", "enable"}, {"cb_nodes", "8"}};
  EXPECT_EQ(options.mpi_io_hints, hints);
  EXPECT_EQ(options.checkpoint_every, (Cadence{.seconds = 600}));
  EXPECT_EQ(options.analysis_every, (Cadence{.steps = 10}));
  EXPECT_EQ(options.checkpoint_fields, std::vector<std::string>{"a"});
  EXPECT_EQ(options.analysis_fields, (std::vector<std::string>{"density", "pressure"}));
  EXPECT_EQ(options.checkpoint.codec.method, codec::Method::raw);
  EXPECT_EQ(options.analysis.codec.bound, (codec::Bound{codec::BoundKind::pointwise_relative, 2e-3}));
  EXPECT_EQ(options.analysis.codec.effort, codec::Effort::max);
  EXPECT_TRUE(options.analysis.single_precision);
  EXPECT_FALSE(options.checkpoint.single_precision);
}

TEST(Options, a_file_sets_them_and_a_variable_has_the_last_word) {
  if (!reads_toml()) GTEST_SKIP() << "built without toml++";
  const fs::path file = write_file(
      "mode = \"sync\"\nkeep_last = 2\nlend = false\nstaging_bytes = \"1M\"\n"
      "[checkpoint]\ncodec = \"zstd\"\n[analysis]\nsingle_precision = true\ncodec = \"abs:0.5\"\n"
      "fields = [\"density\", \"pressure\"]\nevery = 20\n"
      "[analysis.field_codec]\ndensity = \"point:1e-4\"\n[mpi_io_hint]\nstriping_factor = 8\n");
  const Options options = read_options({}, file, environment({{"OCTAVO_KEEP_LAST", "5"}}));
  EXPECT_EQ(options.mode, Mode::sync);
  EXPECT_EQ(options.keep_last, 5);
  EXPECT_EQ(options.staging_bytes, 1 << 20);
  EXPECT_EQ(options.checkpoint.codec.method, codec::Method::zstd);
  EXPECT_EQ(options.analysis.codec.bound.value, 0.5);
  EXPECT_EQ(options.analysis.field_codec.at("density").bound.value, 1e-4);
  EXPECT_EQ(options.analysis_fields, (std::vector<std::string>{"density", "pressure"}));
  EXPECT_EQ(options.analysis_every.steps, 20);
  EXPECT_EQ(options.mpi_io_hints.at("striping_factor"), "8");
  EXPECT_TRUE(options.analysis.single_precision);
}

TEST(Options, a_variable_can_name_the_file) {
  if (!reads_toml()) GTEST_SKIP() << "built without toml++";
  const fs::path file = write_file("keep_last = 7\n");
  EXPECT_EQ(read_options({}, {}, environment({{"OCTAVO_OPTIONS", file.string()}})).keep_last, 7);
}

TEST(Options, errors_name_the_file_the_line_and_the_option) {
  if (!reads_toml()) GTEST_SKIP() << "built without toml++";
  const fs::path bad_value = write_file("keep_last = 1\nmode = \"later\"\n");
  const std::string text = message_of([&] { read_options({}, bad_value, environment({})); });
  EXPECT_THAT(text, HasSubstr("expected sync, background or auto, found 'later'"));
  EXPECT_THAT(text, HasSubstr("line 2, option mode"));
  const fs::path unknown = write_file("kepp_last = 1\n");
  EXPECT_THAT(message_of([&] { read_options({}, unknown, environment({})); }), HasSubstr("no option 'kepp_last'"));
  const fs::path broken = write_file("a = = 1\n");
  EXPECT_THAT(message_of([&] { read_options({}, broken, environment({})); }), HasSubstr("line 1"));
  EXPECT_THAT(message_of([&] { read_options({}, "/no/such/file.toml", environment({})); }),
              HasSubstr("/no/such/file.toml"));
}

TEST(Options, values_that_cannot_be_are_refused) {
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"keep_last", "-1"},
                                                                                    {"keep_last", "2x"},
                                                                                    {"keep_last", ""},
                                                                                    {"staging_bytes", "12Q"},
                                                                                    {"staging_bytes", "9999999999G"},
                                                                                    {"lend", "maybe"},
                                                                                    {"checkpoint.codec", "abs:0"},
                                                                                    {"checkpoint.codec", "abs:nan"},
                                                                                    {"checkpoint.codec", "gzip"},
                                                                                    {"checkpoint.effort", "some"},
                                                                                    {"checkpoint.field_codec.", "raw"},
                                                                                    {"analysis.every", "often"},
                                                                                    {"mpi_io_hint.", "1"},
                                                                                    {"mpi_io_hints", "cb_nodes"},
                                                                                    {"nothing", "1"}}) {
    Options options;
    EXPECT_THROW(set_option(options, name, value), Error) << name << " = " << value;
  }
  EXPECT_THAT(message_of([] {
                read_options({}, {}, environment({{"OCTAVO_LEND", "1"}, {"OCTAVO_MODE", "sync"}}));
              }),
              HasSubstr("lend has no meaning in sync mode"));
}

TEST(Options, a_codec_keeps_the_effort_that_was_set) {
  Options options;
  set_option(options, "analysis.effort", "max");
  set_option(options, "analysis.codec", "abs:1");
  EXPECT_EQ(options.analysis.codec.effort, codec::Effort::max);
}

TEST(Options, an_effort_is_fast_default_or_max) {
  Options options;
  set_option(options, "checkpoint.effort", "fast");
  EXPECT_EQ(options.checkpoint.codec.effort, codec::Effort::fast);
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::checkpoint)) << "who names an effort wants to encode";
  set_option(options, "checkpoint.effort", "default");
  EXPECT_EQ(options.checkpoint.codec.effort, codec::Effort::normal);
  EXPECT_THAT(message_of([&] { set_option(options, "checkpoint.effort", "some"); }), HasSubstr("fast, default or max"));
}

TEST(Options, recycle_sync_policy_direct_io_and_append_are_read_from_a_file) {
  if (!reads_toml()) GTEST_SKIP() << "built without toml++";
  const fs::path path = write_file(
      "keep_last = 2\nrecycle = true\nsync_policy = \"none\"\ndirect_io = true\n"
      "[analysis]\nappend = false\n[checkpoint]\nappend = false\ncodec = \"raw\"\n");
  const Options options = read_options({}, path, environment({}));
  EXPECT_EQ(options.recycle, true);
  EXPECT_EQ(options.sync_policy, SyncPolicy::none);
  EXPECT_TRUE(options.direct_io);
  EXPECT_FALSE(options.append_analysis);
  fs::remove(path);
}

TEST(Options, without_a_word_from_the_user_a_node_has_four_files_at_most) {
  const auto files = [](const Options& options, int ranks) {
    return file_on_host(0, ranks, plan_options(options)).files;
  };
  Options options;
  for (const auto& [ranks, expected] : {std::pair(1, 1), {3, 3}, {4, 4}, {5, 4}, {128, 4}})
    EXPECT_EQ(files(options, ranks), expected) << ranks;
  options.writers_per_node = 8;
  EXPECT_EQ(files(options, 128), 8);
  set_option(options, "writers_per_node", "0");
  set_option(options, "contributors_per_file", "1");
  EXPECT_EQ(files(options, 128), 128);
  set_option(options, "contributors_per_file", "0");
  EXPECT_EQ(files(options, 128), 1);
  set_option(options, "contributors_per_file", "auto");
  EXPECT_EQ(files(options, 128), 4);
}

TEST(Options, ranks_that_share_a_file_and_direct_io_and_stripes_set_the_alignment_unless_the_user_does) {
  Options options;
  EXPECT_EQ(alignment_of(options, 1), 8);
  EXPECT_EQ(alignment_of(options, 2), 4096);
  set_option(options, "direct_io", "true");
  EXPECT_EQ(alignment_of(options, 1), 4096);
  set_option(options, "mpi_io_hint.striping_unit", "1048576");
  EXPECT_EQ(alignment_of(options, 2), 1048576);
  set_option(options, "alignment", "512");
  EXPECT_EQ(alignment_of(options, 2), 512);
  set_option(options, "alignment", "auto");
  EXPECT_EQ(alignment_of(options, 1), 1048576);
}

TEST(Options, recycle_needs_keep_last_and_checkpoint_append_has_none) {
  Options options;
  options.recycle = true;
  EXPECT_THAT(message_of([&] { check(options); }), HasSubstr("recycle needs keep_last"));
  options.keep_last = 1;
  EXPECT_EQ(message_of([&] { check(options); }), "no error");
  set_option(options, "checkpoint.append", "true");
  EXPECT_THAT(message_of([&] { check(options); }), HasSubstr("checkpoint.append"));
  EXPECT_THAT(message_of([&] { set_option(options, "sync_policy", "often"); }), HasSubstr("step, wait or none"));
}

TEST(Options, checkpoints_are_recycled_where_some_are_kept_and_each_is_synced_in_the_store) {
  Options options;
  EXPECT_FALSE(recycles(options));
  options.keep_last = 2;
  EXPECT_TRUE(recycles(options));
  check(options);
  options.sync_policy = SyncPolicy::wait;
  EXPECT_FALSE(recycles(options));
  options.sync_policy = SyncPolicy::step;
  options.staging_directory = "/local";
  EXPECT_FALSE(recycles(options));
  check(options);
  options.staging_directory.clear();
  options.recycle = false;
  EXPECT_FALSE(recycles(options));
}

TEST(Options, a_misspelt_variable_is_noted_with_the_one_it_looks_like) {
  for (const auto& [wrong, meant] :
       std::map<std::string, std::string>{{"OCTAVO_CHEKPOINT_CODEC", "OCTAVO_CHECKPOINT_CODEC"},
                                          {"OCTAVO_CHECKPOINT_CODCE", "OCTAVO_CHECKPOINT_CODEC"},
                                          {"OCTAVO_CODEC", "OCTAVO_CHECKPOINT_CODEC"},
                                          {"OCTAVO_MOED", "OCTAVO_MODE"},
                                          {"OCTAVO_STAGING_BYTE", "OCTAVO_STAGING_BYTES"},
                                          {"OCTAVO_CONTRIBUTERS_PER_FILES", "OCTAVO_CONTRIBUTORS_PER_FILE"}}) {
    EXPECT_THAT(note_on_variable(wrong), HasSubstr(wrong + " is none"));
    EXPECT_THAT(note_on_variable(wrong), HasSubstr("is " + meant + " meant"));
  }
}

TEST(Options, variables_of_options_and_those_of_others_are_not_noted) {
  for (const std::string& name : option_variables()) EXPECT_EQ(note_on_variable(name), "");
  for (const char* name : {"OCTAVO_OPTIONS", "OCTAVO_DATA", "OCTAVO_ROOT", "OCTAVO_DIR", "OCTAVO_LIB", "OCTAVO_LONG",
                           "OCTAVO_HOME", "OCTAVO_BENCH_STEPS", "OCTAVO_FAULT", "PATH", "octavo_mode"})
    EXPECT_EQ(note_on_variable(name), "");
}

TEST(Options, hints_for_lustre_are_numbers_that_it_can_have) {
  Options options;
  EXPECT_TRUE(is_default(striping_of(options)));
  options.mpi_io_hints = {{"striping_factor", "-1"}, {"striping_unit", "4194304"}, {"start_iodevice", "3"}};
  EXPECT_EQ(striping_of(options), (file::Striping{-1, 4194304, 3}));
  EXPECT_TRUE(hints_not_followed(options).empty());
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"striping_factor", "0"}, {"striping_factor", "2001"},     {"striping_factor", "4x"}, {"striping_unit", "65537"},
      {"striping_unit", "0"},   {"striping_unit", "4294967296"}, {"start_iodevice", "-2"}};
  for (const auto& [hint, value] : wrong) {
    options.mpi_io_hints = {{hint, value}};
    EXPECT_THAT(message_of([&] { striping_of(options); }), HasSubstr("mpi_io_hint." + hint));
  }
}

TEST(Options, hints_that_a_store_does_not_follow_are_named_with_the_option_to_use) {
  Options options;
  options.mpi_io_hints = {{"cb_nodes", "4"}, {"romio_ds_write", "disable"}, {"vendors_own", "1"}};
  const auto lines = hints_not_followed(options);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0], HasSubstr("mpi_io_hint.cb_nodes"));
  EXPECT_THAT(lines[0], HasSubstr("see option writers_per_node"));
  EXPECT_THAT(lines[2], HasSubstr("mpi_io_hint.vendors_own"));
}

TEST(Options, a_codec_that_nobody_names_is_by_cost_but_in_sync_mode) {
  Options options;
  EXPECT_EQ(options.mode, Mode::background);
  EXPECT_TRUE(is_codec_by_cost(options, store::Flow::checkpoint));
  EXPECT_TRUE(is_codec_by_cost(options, store::Flow::analysis));
  options.analysis.codec.effort = codec::Effort::max;
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::analysis)) << "who asks for effort wants small steps";
  options.mode = Mode::sync;
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::checkpoint));
}

TEST(Options, the_codec_auto_is_by_cost_and_any_other_word_is_not) {
  Options options;
  options.mode = Mode::automatic;
  EXPECT_TRUE(is_codec_by_cost(options, store::Flow::checkpoint));
  set_option(options, "checkpoint.codec", "lossless");
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::checkpoint));
  EXPECT_TRUE(is_codec_by_cost(options, store::Flow::analysis));
  options.analysis.codec = parse_codec("point:1e-3");
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::analysis));
  options.mode = Mode::sync;
  set_option(options, "checkpoint.codec", "auto");
  EXPECT_TRUE(is_codec_by_cost(options, store::Flow::checkpoint));
  options.checkpoint.single_precision = true;
  EXPECT_FALSE(is_codec_by_cost(options, store::Flow::checkpoint));
}

}  // namespace
}  // namespace octavo::engine
