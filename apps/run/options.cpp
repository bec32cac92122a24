#include "apps/run/options.hpp"

#include <charconv>
#include <functional>
#include <map>

#include "octavo/base/error.hpp"

namespace octavo::run {

using base::Error;
using base::Kind;

namespace {

template <class T>
T number(const std::string& text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw Error(Kind::usage, "\"" + text + "\" is not a number of this kind");
  return value;
}

// "4" for all axes, or "8,2,2".
std::array<int, 3> three(const std::string& text) {
  std::array<int, 3> values{};
  std::size_t axis = 0, begin = 0;
  for (; axis < 3; ++axis) {
    const std::size_t comma = text.find(',', begin);
    values[axis] = number<int>(text.substr(begin, comma - begin));
    if (comma == std::string::npos) break;
    begin = comma + 1;
  }
  for (std::size_t rest = axis + 1; axis == 0 && rest < 3; ++rest) values[rest] = values[0];
  if (axis > 2) throw Error(Kind::usage, "\"" + text + "\" has more than three numbers");
  for (std::size_t rest = axis + 1; axis > 0 && rest < 3; ++rest) values[rest] = 1;
  return values;
}

struct Flag {
  const char* value;  // the placeholder after it; null: none
  const char* help;
  std::function<void(RunOptions&, const std::string&)> set;
};

using Set = std::function<void(RunOptions&, const std::string&)>;
Set engine(const char* name) {
  return [name](RunOptions& o, const std::string& text) { set_option(o.engine, name, text); };
}

// In the order of the usage.
const std::vector<std::pair<std::string, Flag>>& flags() {
  static const std::vector<std::pair<std::string, Flag>> table{
      {"--mesh", {"KIND", "blocks (octree on p4est) or patches (boxes a level)", [](auto& o, auto& t) { o.mesh = t; }}},
      {"--dim", {"N", "2 or 3", [](auto& o, auto& t) { o.dim = number<int>(t); }}},
      {"--roots", {"N[,N,N]", "blocks of level 0 along the axes", [](auto& o, auto& t) { o.roots = three(t); }}},
      {"--block", {"N", "cells of a block along an axis", [](auto& o, auto& t) { o.block = number<int>(t); }}},
      {"--max-level", {"N", "finest level", [](auto& o, auto& t) { o.max_level = number<int>(t); }}},
      {"--min-level", {"N", "level that all is refined to", [](auto& o, auto& t) { o.min_level = number<int>(t); }}},
      {"--max-box", {"N", "patches: longest box [cells]", [](auto& o, auto& t) { o.max_box = number<int>(t); }}},
      {"--tracers", {"N", "tracers along an axis", [](auto& o, auto& t) { o.tracers = number<int>(t); }}},
      {"--courant", {"C", "of the largest stable step", [](auto& o, auto& t) { o.courant = number<double>(t); }}},
      {"--dt", {"T", "the same for all steps", [](auto& o, auto& t) { o.dt = number<double>(t); }}},
      {"--regrid-every", {"N", "steps", [](auto& o, auto& t) { o.regrid_every = number<int>(t); }}},
      {"--steps", {"N", "number of the last step", [](auto& o, auto& t) { o.steps = number<std::int64_t>(t); }}},
      {"--time", {"T", "time of the end", [](auto& o, auto& t) { o.end = number<double>(t); }}},
      {"--io", {"HOW", "off, sync, background, auto", [](auto& o, auto& t) { o.io = t; }}},
      {"--store", {"PATH", "store for checkpoints and analysis", [](auto& o, auto& t) { o.store = t; }}},
      {"--checkpoint-every", {"N", "100 steps, 60s, 0.1t", engine("checkpoint.every")}},
      {"--analysis-every", {"N", "the same", engine("analysis.every")}},
      {"--checkpoint-codec", {"C", "lossless, raw, ...", engine("checkpoint.codec")}},
      {"--analysis-codec", {"C", "abs:E, point:E, lossless", engine("analysis.codec")}},
      {"--restart", {"STORE", "go on from its newest checkpoint", [](auto& o, auto& t) { o.restart_from = t; }}},
      {"--restart-step",
       {"N", "go on from this one", [](auto& o, auto& t) { o.restart_step = number<std::int64_t>(t); }}},
      {"--native", {"FORMAT", "also flash, amrex, amrex-checkpoint", [](auto& o, auto& t) { o.native = t; }}},
      {"--native-every", {"N", "steps", [](auto& o, auto& t) { o.native_every = number<std::int64_t>(t); }}},
      {"--native-prefix", {"PATH", "what their names begin with", [](auto& o, auto& t) { o.native_prefix = t; }}},
      {"--report", {"FILE", "JSON of what the end of the run says", [](auto& o, auto& t) { o.report = t; }}},
      {"--options", {"FILE", "TOML of the engine's options", nullptr}},
      {"--option", {"NAME=VALUE", "one option of the engine", nullptr}},
      {"--quiet", {nullptr, "no line every ten steps", [](auto& o, auto&) { o.quiet = true; }}},
      {"--help", {nullptr, "this", nullptr}},
  };
  return table;
}

const Flag& flag_of(const std::string& name, const std::string& program) {
  for (const auto& [known, flag] : flags())
    if (known == name) return flag;
  throw Error(Kind::usage, "there is no option \"" + name + "\"").hint(program + " --help lists them");
}

void set_engine(RunOptions& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw Error(Kind::usage, "\"" + text + "\" is not NAME=VALUE");
  set_option(options.engine, text.substr(0, equals), text.substr(equals + 1));
}

void refuse(bool wrong, const std::string& why) {
  if (wrong) throw Error(Kind::usage, why);
}

void check_io(const RunOptions& options) {
  refuse(options.io == "off" && !options.store.empty(), "--io off and --store contradict each other");
  refuse(options.io == "off" && !options.native.empty(), "--io off and --native contradict each other");
  refuse(!options.native.empty() && options.native_every <= 0, "--native wants --native-every");
  refuse(options.native.empty() && options.native_every > 0, "--native-every wants --native");
  refuse(options.restart_step && options.restart_from.empty(), "--restart-step wants --restart");
  refuse(options.engine.lend, "the option lend wants arrays that do not change: these change with the next step");
  std::error_code ignored;
  refuse(
      !options.store.empty() && std::filesystem::exists(options.store, ignored) &&
          (options.restart_from.empty() || !std::filesystem::equivalent(options.store, options.restart_from, ignored)),
      options.store.string() + " is there already: --restart goes on in it, or take another name");
}

}  // namespace

void check(const RunOptions& options) {
  const auto one_of = [](const std::string& what, const std::string& value, const std::vector<std::string>& known) {
    std::string list;
    for (const std::string& word : known) {
      if (word == value) return;
      list += (list.empty() ? "" : ", ") + word;
    }
    throw Error(Kind::usage, what + " is \"" + value + "\"; it may be " + list);
  };
  one_of("--mesh", options.mesh, {"blocks", "patches"});
  one_of("--io", options.io, {"off", "sync", "background", "auto"});
  if (!options.native.empty()) one_of("--native", options.native, {"flash", "amrex", "amrex-checkpoint"});
  refuse(options.dim != 2 && options.dim != 3, "--dim is 2 or 3");
  refuse(options.min_level < 0 || options.min_level > options.max_level, "--min-level is from 0 to --max-level");
  refuse(options.steps < 0, "--steps is negative");
  refuse(!(options.courant > 0 && options.courant <= 1), "--courant is above 0 and at most 1");
  refuse(options.dt && !(*options.dt > 0), "--dt is above 0");
  refuse(options.regrid_every < 1, "--regrid-every is 1 or more");
  refuse(options.tracers < 0, "--tracers is negative");
  check_io(options);
  engine::check(options.engine);
}

RunOptions parse(const std::vector<std::string>& words, const RunOptions& defaults, const std::string& program) {
  std::filesystem::path file;
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "--options") file = words[i + 1];
  RunOptions options = defaults;
  options.engine = engine::read_options(defaults.engine, file);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word == "--help") throw Error(Kind::interrupted, usage_text(program, defaults));
    const Flag& flag = flag_of(word, program);
    if (flag.value != nullptr && i + 1 == words.size())
      throw Error(Kind::usage, word + " wants " + flag.value + " after it");
    const std::string value = flag.value != nullptr ? words[++i] : "";
    try {
      if (word == "--option") set_engine(options, value);
      if (flag.set) flag.set(options, value);
    } catch (Error& error) {
      throw error.at(word);
    }
  }
  check(options);
  return options;
}

std::string usage_text(const std::string& program, const RunOptions& defaults) {
  std::string text = "usage: [mpirun -n RANKS] " + program + " [option ...]\n";
  for (const auto& [name, flag] : flags()) {
    std::string line = "  " + name + (flag.value != nullptr ? std::string(" ") + flag.value : "");
    line.resize(std::max<std::size_t>(line.size() + 1, 28), ' ');
    text += line + flag.help + "\n";
  }
  text += "defaults: --dim " + std::to_string(defaults.dim) + " --roots " + std::to_string(defaults.roots[0]) + "," +
          std::to_string(defaults.roots[1]) + "," + std::to_string(defaults.roots[2]) + " --block " +
          std::to_string(defaults.block) + " --max-level " + std::to_string(defaults.max_level) + " --steps " +
          std::to_string(defaults.steps) + " --tracers " + std::to_string(defaults.tracers) + " --checkpoint-every " +
          std::to_string(defaults.engine.checkpoint_every.steps) + " --analysis-every " +
          std::to_string(defaults.engine.analysis_every.steps) + "\n";
  return text + "On SIGTERM or SIGUSR1 a run ends with a last checkpoint.";
}

}  // namespace octavo::run
