#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <type_traits>

#include "octavo/engine/options.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/temporary_folder.hpp"

namespace octavo::engine {
namespace {

// An option, a value that is not its default as a variable and as TOML have it, and what the struct then holds.
struct Row {
  std::string name, text, toml;
  std::function<std::string(const Options&)> of;
  Options defaults = {};  ///< without which the option would contradict others
};

std::string joined(const std::vector<std::string>& items) {
  std::string all;
  for (const std::string& item : items) all += item + ";";
  return all;
}

std::function<std::string(const Options&)> number(auto Options::*what) {
  return [what](const Options& options) { return std::to_string((options.*what).value_or(-1)); };
}

template <class T>
std::function<std::string(const Options&)> member(T Options::*what) {
  return [what](const Options& options) {
    std::ostringstream text;
    if constexpr (std::is_enum_v<T>)
      text << static_cast<int>(options.*what);
    else
      text << options.*what;
    return text.str();
  };
}

std::function<std::string(const Options&)> cadence(Cadence Options::*what) {
  return [what](const Options& options) {
    const Cadence& every = options.*what;
    return std::to_string(every.steps) + " " + std::to_string(every.seconds) + " " + std::to_string(every.time);
  };
}

std::string describe(const codec::Settings& settings) {
  return std::to_string(static_cast<int>(settings.method)) + " " +
         std::to_string(static_cast<int>(settings.bound.kind)) + " " + std::to_string(settings.bound.value) + " " +
         std::to_string(static_cast<int>(settings.effort));
}

std::function<std::string(const Options&)> encoding(store::EncodeOptions Options::*what) {
  return [what](const Options& options) {
    const store::EncodeOptions& flow = options.*what;
    std::string text = describe(flow.codec) + std::to_string(flow.single_precision);
    for (const auto& [name, codec] : flow.field_codec) text += name + describe(codec);
    return text;
  };
}

std::string hints_of(const Options& options) {
  std::string text;
  for (const auto& [name, value] : options.mpi_io_hints) text += name + "=" + value + ";";
  return text;
}

std::vector<Row> rows() {
  Options keeping;
  keeping.keep_last = 2;
  Options staged;
  staged.staging_directory = "/local";
  std::vector<Row> all{
      {"contributors_per_file", "4", "4", number(&Options::contributors_per_file)},
      {"writers_per_node", "2", "2", member(&Options::writers_per_node)},
      {"ranks_per_node", "8", "8", member(&Options::ranks_per_node)},
      {"mode", "auto", "\"auto\"", member(&Options::mode)},
      {"staging_bytes", "64K", "\"64K\"", member(&Options::staging_bytes)},
      {"steps_in_flight", "2", "2", member(&Options::steps_in_flight)},
      {"bound_thread", "yes", "true", member(&Options::bound_thread)},
      {"lend", "on", "true", member(&Options::lend)},
      {"checksums", "off", "false", member(&Options::checksums)},
      {"keep_last", "3", "3", member(&Options::keep_last)},
      {"recycle", "no", "false", [](const Options& options) { return std::string(recycles(options) ? "yes" : "no"); },
       keeping},
      {"staging_directory", "/local", "\"/local\"", member(&Options::staging_directory)},
      {"partner_every", "2", "2", member(&Options::partner_every), staged},
      {"xor_every", "2", "2", member(&Options::xor_every), staged},
      {"rs_every", "2", "2", member(&Options::rs_every), staged},
      {"group_size", "4", "4", member(&Options::group_size)},
      {"drain_every", "3", "3", member(&Options::drain_every), staged},
      {"copy_bandwidth", "1G", "\"1G\"", member(&Options::copy_bandwidth)},
      {"drain_bandwidth", "200M", "\"200M\"", member(&Options::drain_bandwidth)},
      {"remember_failed_restarts", "1", "true", member(&Options::remember_failed_restarts)},
      {"log", "-", "\"-\"", member(&Options::log)},
      {"statistics", "run.json", "\"run.json\"", member(&Options::statistics)},
      {"sync_policy", "wait", "\"wait\"", member(&Options::sync_policy)},
      {"alignment", "4K", "\"4K\"", number(&Options::alignment)},
      {"drop_pages", "no", "false", member(&Options::drop_pages)},
      {"direct_io", "true", "true", member(&Options::direct_io)},
      {"mpi_io_hints", "cb_nodes=8", "\"cb_nodes=8\"", &hints_of},
      {"mpi_io_hint.cb_nodes", "8", "8", &hints_of},
      {"checkpoint.append", "on", "true", member(&Options::append_checkpoint)},
      {"analysis.append", "off", "false", member(&Options::append_analysis)},
      {"checkpoint.whole_domain", "yes", "true", member(&Options::checkpoint_whole_domain)},
      {"analysis.whole_domain", "yes", "true", member(&Options::analysis_whole_domain)},
      {"checkpoint.every", "600s", "\"600s\"", cadence(&Options::checkpoint_every)},
      {"analysis.every", "10", "10", cadence(&Options::analysis_every)},
      {"checkpoint.fields", "a,b", "[\"a\", \"b\"]",
       [](const Options& options) { return joined(options.checkpoint_fields); }},
      {"analysis.fields", "a,b", "[\"a\", \"b\"]",
       [](const Options& options) { return joined(options.analysis_fields); }},
  };
  for (const bool checkpoint : {true, false}) {
    const std::string flow = checkpoint ? "checkpoint." : "analysis.";
    const auto of = encoding(checkpoint ? &Options::checkpoint : &Options::analysis);
    all.push_back({flow + "codec", "point:2e-3", "\"point:2e-3\"", of});
    all.push_back({flow + "effort", "max", "\"max\"", of});
    all.push_back({flow + "single_precision", "true", "true", of});
    all.push_back({flow + "field_codec.density", "abs:0.5", "\"abs:0.5\"", of});
  }
  return all;
}

bool has_variable(const Row& row) {
  return row.name.rfind("mpi_io_hint.", 0) != 0 && row.name.find("field_codec") == std::string::npos;
}

Environment only(const std::string& variable, const std::string& value) {
  return [=](const std::string& name) { return name == variable ? std::optional(value) : std::nullopt; };
}

std::string with_variable(const Row& row) {
  std::string variable = "OCTAVO_" + row.name;
  std::transform(variable.begin(), variable.end(), variable.begin(), [](char c) {
    return c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  return row.of(read_options(row.defaults, {}, only(variable, row.text)));
}

std::string with_file(const Row& row, const std::filesystem::path& file) {
  const std::size_t dot = row.name.rfind('.');
  std::ofstream text(file);
  if (dot != std::string::npos) text << "[" << row.name.substr(0, dot) << "]\n";
  text << row.name.substr(dot + 1) << " = " << row.toml << "\n";
  text.close();
  return row.of(read_options(row.defaults, file, only("", "")));
}

TEST(Options, every_one_is_set_by_name_by_a_file_and_by_a_variable) {
  const testing::TemporaryFolder folder;
  for (const Row& row : rows()) {
    Options options = row.defaults;
    set_option(options, row.name, row.text);
    const std::string expected = row.of(options);
    EXPECT_NE(expected, row.of(row.defaults)) << row.name;
    if (has_variable(row)) {
      EXPECT_EQ(with_variable(row), expected) << row.name;
    }
    if (reads_toml()) {
      EXPECT_EQ(with_file(row, folder.path() / "octavo.toml"), expected) << row.name;
    }
  }
}

TEST(Options, the_list_of_those_there_are_is_complete) {
  Options options;
  std::string list = testing::message_of([&] { set_option(options, "nothing", "1"); });
  list = list.substr(list.find("one of ") + 7) + ", ";
  for (const Row& row : rows()) {
    std::string name = row.name;
    for (const std::string family : {"field_codec.", "mpi_io_hint."})
      if (const auto at = name.find(family); at != std::string::npos) name = name.substr(0, at) + family + "NAME";
    const auto at = list.find(name + ", ");
    ASSERT_NE(at, std::string::npos) << name << " in " << list;
    list.erase(at, name.size() + 2);
  }
  EXPECT_EQ(list, "") << "options without a row in this test";
}

}  // namespace
}  // namespace octavo::engine
