#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>

#include "apps/shallow/run.hpp"
#include "octavo/base/error.hpp"

namespace octavo::shallow {

const char* const usage_text =
    R"(octavo-shallow MESH.slf --until SECONDS [options]     shallow water on a SERAFIN mesh; start it with mpirun

  MESH.slf            geometry and bottom; its first step's depth and velocity are what the run starts from
  --pieces PREFIX     reads pieces of it that `octavo partition` or partel made (PREFIXGEO...); else it is cut here
  --method NAME       metis, scotch or hilbert: how
  --level METRES      starts with still water up to there
  --strickler K       friction [m^(1/3)/s]; none by default
  --order 1|2         of the scheme; 1 by default
  --courant C         at most 1; 0.8 by default
  --steps N           ends after so many

  -o, --result FILE   result: VELOCITY U, VELOCITY V, WATER DEPTH, FREE SURFACE, BOTTOM
  -f, --force         replaces a result that is there
  --every SECONDS     between results; or --every-steps N
  --io WAY            background, sync, pieces (one file a rank), view, view-nonblocking (MPI-IO), off

  --checkpoint DIR    a last checkpoint at the end, or when SIGTERM or SIGINT comes
  --checkpoint-steps N  and one every so many steps
  --resume            goes on from the newest one, on any number of ranks, and goes on writing the result
  --json              the report as JSON
)";

namespace {

using base::Error;
using base::Kind;

template <class Number>
Number number_of(const std::string& name, std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size())
    throw Error(Kind::usage, name + " needs a number, found " + std::string(text));
  return value;
}

using Setter = std::function<void(const std::string& name, std::string_view text)>;

template <class Number>
Setter set_number(Number& target) {
  return [&target](const std::string& name, std::string_view text) { target = number_of<Number>(name, text); };
}
template <class Text>
Setter set_text(Text& target) {
  return [&target](const std::string&, std::string_view text) { target = std::string(text); };
}

std::map<std::string, Setter, std::less<>> setters(RunOptions& o) {
  return {
      {"--pieces", set_text(o.pieces)},
      {"--method", [&o](const std::string&, std::string_view text) { o.method = partition::method_named(text); }},
      {"--level", [&o](const std::string& name, std::string_view text) { o.level = number_of<double>(name, text); }},
      {"--strickler", set_number(o.physics.strickler)},
      {"--order", set_number(o.physics.order)},
      {"--courant", set_number(o.physics.courant)},
      {"--until", set_number(o.until)},
      {"--steps", set_number(o.steps)},
      {"--result", set_text(o.result)},
      {"-o", set_text(o.result)},
      {"--every", set_number(o.every)},
      {"--every-steps", set_number(o.every_steps)},
      {"--io", [&o](const std::string&, std::string_view text) { o.io = io_named(text); }},
      {"--checkpoint", set_text(o.checkpoints)},
      {"--checkpoint-steps", set_number(o.checkpoint_steps)},
  };
}

void check(const RunOptions& o) {
  const auto demand = [](bool holds, const char* what) {
    if (!holds) throw Error(Kind::usage, what).hint("octavo-shallow --help");
  };
  demand(!o.mesh.empty(), "a mesh is needed");
  demand(o.until > 0, "--until SECONDS is needed");
  demand(std::isfinite(o.level.value_or(0)), "--level is finite");
  demand(o.physics.order == 1 || o.physics.order == 2, "--order is 1 or 2");
  demand(o.physics.courant > 0 && o.physics.courant <= 1, "--courant is above 0 and at most 1");
  demand(o.physics.strickler >= 0, "--strickler is not negative");
  demand(o.steps > 0 && o.every >= 0 && o.every_steps >= 0 && o.checkpoint_steps >= 0, "counts are not negative");
  demand(o.every == 0 || o.every_steps == 0, "--every or --every-steps, not both");
  demand(o.result.empty() || o.every > 0 || o.every_steps > 0, "--every SECONDS or --every-steps N is needed");
  demand(!o.checkpoints.empty() || (!o.resume && o.checkpoint_steps == 0), "--checkpoint DIR is needed");
}

}  // namespace

std::optional<RunOptions> parse_options(int count, const char* const* words) {
  RunOptions options;
  const auto known = setters(options);
  const std::map<std::string, bool*, std::less<>> known_flags{
      {"--resume", &options.resume}, {"--json", &options.json}, {"-f", &options.force}, {"--force", &options.force}};
  for (int i = 0; i < count; ++i) {
    const std::string word = words[i];
    if (word == "--help" || word == "-h") return {};
    if (const auto flag = known_flags.find(word); flag != known_flags.end()) {
      *flag->second = true;
    } else if (const auto found = known.find(word); found != known.end()) {
      if (i + 1 == count) throw Error(Kind::usage, word + " needs a value");
      found->second(word, words[++i]);
    } else if (word.starts_with("-") || !options.mesh.empty()) {
      throw Error(Kind::usage, "what is " + word + "?").hint("octavo-shallow --help");
    } else {
      options.mesh = word;
    }
  }
  check(options);
  return options;
}

}  // namespace octavo::shallow
