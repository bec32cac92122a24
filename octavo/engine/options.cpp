#include "octavo/engine/options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/engine/misspelt.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

Error cannot_be(std::string_view what, std::string_view value) {
  return Error(Kind::usage, "expected " + std::string(what) + ", found '" + std::string(value) + "'");
}

template <class T>
T parse_number(std::string_view text, std::string_view what) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) throw cannot_be(what, text);
  return value;
}

int parse_count(std::string_view text) {
  const int value = parse_number<int>(text, "a whole number, 0 or more");
  if (value < 0) throw cannot_be("a whole number, 0 or more", text);
  return value;
}

bool parse_switch(std::string_view text) {
  if (text == "true" || text == "on" || text == "yes" || text == "1") return true;
  if (text == "false" || text == "off" || text == "no" || text == "0") return false;
  throw cannot_be("true or false", text);
}

Mode parse_mode(std::string_view text) {
  if (text == "auto") return Mode::automatic;
  for (Mode mode : {Mode::sync, Mode::background})
    if (text == name_of(mode)) return mode;
  throw cannot_be("sync, background or auto", text);
}

codec::Effort parse_effort(std::string_view text) {
  if (text == "default") return codec::Effort::normal;
  if (text == "fast") return codec::Effort::fast;
  if (text == "max") return codec::Effort::max;
  throw cannot_be("fast, default or max", text);
}

// The items of a list, without surrounding blanks.
std::vector<std::string> parse_list(std::string_view text, char separator) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (!item.empty() && item.front() == ' ') item.remove_prefix(1);
    while (!item.empty() && item.back() == ' ') item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
  }
  return items;
}

void set_hint(Options& options, const std::string& name, std::string_view value) {
  if (name.empty() || value.empty()) throw cannot_be("a hint NAME=VALUE", name + "=" + std::string(value));
  options.mpi_io_hints[name] = std::string(value);
}

void set_hints(Options& options, std::string_view text) {
  for (const std::string& item : parse_list(text, ';')) {
    const std::size_t middle = item.find('=');
    if (middle == std::string::npos) throw cannot_be("hints NAME=VALUE; NAME=VALUE", item);
    const std::vector<std::string> name = parse_list(item.substr(0, middle), ';');
    const std::vector<std::string> value = parse_list(item.substr(middle + 1), ';');
    set_hint(options, name.empty() ? "" : name[0], value.empty() ? "" : value[0]);
  }
}

SyncPolicy parse_sync_policy(std::string_view text) {
  if (text == "step") return SyncPolicy::step;
  if (text == "wait") return SyncPolicy::wait;
  if (text == "none") return SyncPolicy::none;
  throw cannot_be("step, wait or none", text);
}

// The shortest text that is read as the same number: equal texts are equal numbers.
template <class Number>
std::string exactly(Number value) {
  std::array<char, 32> text{};
  if constexpr (std::is_same_v<Number, bool>)
    return value ? "true" : "false";
  else
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}
// A codec as text, with enumerations as numbers.
std::string exactly(const codec::Settings& settings) {
  return std::to_string(static_cast<int>(settings.method)) + " " +
         std::to_string(static_cast<int>(settings.bound.kind)) + ":" + exactly(settings.bound.value) + " effort " +
         std::to_string(static_cast<int>(settings.effort));
}

// "auto" leaves the value open.
template <class Number>
std::optional<Number> or_auto(std::string_view text, Number (*parse)(std::string_view)) {
  return text == "auto" ? std::nullopt : std::optional(parse(text));
}

struct OptionRow {
  std::string_view name;
  void (*set)(Options&, std::string_view);
};
// Each option is a row here: its name in an options file, from which variable_of() makes that of a variable. A new one
// also goes into describe(), if the ranks must agree on it.
constexpr std::array option_table{
    OptionRow{"contributors_per_file",
              [](Options& o, std::string_view v) { o.contributors_per_file = or_auto(v, parse_count); }},
    OptionRow{"writers_per_node", [](Options& o, std::string_view v) { o.writers_per_node = parse_count(v); }},
    OptionRow{"ranks_per_node", [](Options& o, std::string_view v) { o.ranks_per_node = parse_count(v); }},
    OptionRow{"mode", [](Options& o, std::string_view v) { o.mode = parse_mode(v); }},
    OptionRow{"staging_bytes", [](Options& o, std::string_view v) { o.staging_bytes = parse_bytes(v); }},
    OptionRow{"steps_in_flight", [](Options& o, std::string_view v) { o.steps_in_flight = parse_count(v); }},
    OptionRow{"bound_thread", [](Options& o, std::string_view v) { o.bound_thread = parse_switch(v); }},
    OptionRow{"lend", [](Options& o, std::string_view v) { o.lend = parse_switch(v); }},
    OptionRow{"checksums", [](Options& o, std::string_view v) { o.checksums = parse_switch(v); }},
    OptionRow{"keep_last", [](Options& o, std::string_view v) { o.keep_last = parse_count(v); }},
    OptionRow{"staging_directory", [](Options& o, std::string_view v) { o.staging_directory = v; }},
    OptionRow{"partner_every", [](Options& o, std::string_view v) { o.partner_every = parse_count(v); }},
    OptionRow{"xor_every", [](Options& o, std::string_view v) { o.xor_every = parse_count(v); }},
    OptionRow{"rs_every", [](Options& o, std::string_view v) { o.rs_every = parse_count(v); }},
    OptionRow{"group_size", [](Options& o, std::string_view v) { o.group_size = parse_count(v); }},
    OptionRow{"drain_every", [](Options& o, std::string_view v) { o.drain_every = parse_count(v); }},
    OptionRow{"copy_bandwidth", [](Options& o, std::string_view v) { o.copy_bandwidth = parse_bytes(v); }},
    OptionRow{"drain_bandwidth", [](Options& o, std::string_view v) { o.drain_bandwidth = parse_bytes(v); }},
    OptionRow{"remember_failed_restarts",
              [](Options& o, std::string_view v) { o.remember_failed_restarts = parse_switch(v); }},
    OptionRow{"log", [](Options& o, std::string_view v) { o.log = v; }},
    OptionRow{"statistics", [](Options& o, std::string_view v) { o.statistics = v; }},
    OptionRow{"mpi_io_hints", set_hints},
    OptionRow{"checkpoint.every", [](Options& o, std::string_view v) { o.checkpoint_every = parse_cadence(v); }},
    OptionRow{"analysis.every", [](Options& o, std::string_view v) { o.analysis_every = parse_cadence(v); }},
    OptionRow{"checkpoint.fields", [](Options& o, std::string_view v) { o.checkpoint_fields = parse_list(v, ','); }},
    OptionRow{"analysis.fields", [](Options& o, std::string_view v) { o.analysis_fields = parse_list(v, ','); }},
    OptionRow{"checkpoint.whole_domain",
              [](Options& o, std::string_view v) { o.checkpoint_whole_domain = parse_switch(v); }},
    OptionRow{"analysis.whole_domain",
              [](Options& o, std::string_view v) { o.analysis_whole_domain = parse_switch(v); }},
    OptionRow{"recycle", [](Options& o, std::string_view v) { o.recycle = parse_switch(v); }},
    OptionRow{"sync_policy", [](Options& o, std::string_view v) { o.sync_policy = parse_sync_policy(v); }},
    OptionRow{"alignment", [](Options& o, std::string_view v) { o.alignment = or_auto(v, parse_bytes); }},
    OptionRow{"drop_pages", [](Options& o, std::string_view v) { o.drop_pages = parse_switch(v); }},
    OptionRow{"direct_io", [](Options& o, std::string_view v) { o.direct_io = parse_switch(v); }},
    OptionRow{"checkpoint.append", [](Options& o, std::string_view v) { o.append_checkpoint = parse_switch(v); }},
    OptionRow{"analysis.append", [](Options& o, std::string_view v) { o.append_analysis = parse_switch(v); }},
};

struct EncodingRow {
  std::string_view name;
  void (*set)(store::EncodeOptions&, std::string_view);
};
// Setting a codec by name keeps the effort.
constexpr std::array encoding_table{
    EncodingRow{"codec",
                [](store::EncodeOptions& o, std::string_view v) {
                  const codec::Effort effort = o.codec.effort;
                  o.codec = parse_codec(v);
                  o.codec.effort = effort;
                }},
    EncodingRow{"effort", [](store::EncodeOptions& o, std::string_view v) { o.codec.effort = parse_effort(v); }},
    EncodingRow{"single_precision",
                [](store::EncodeOptions& o, std::string_view v) { o.single_precision = parse_switch(v); }},
};

Error unknown(std::string_view name) {
  std::string known;
  for (const OptionRow& row : option_table) known += std::string(row.name) + ", ";
  for (const char* flow : {"checkpoint.", "analysis."})
    for (const EncodingRow& row : encoding_table) known += flow + std::string(row.name) + ", ";
  return Error(Kind::usage, "there is no option '" + std::string(name) + "'")
      .hint("one of " + known + "checkpoint.field_codec.NAME, analysis.field_codec.NAME, mpi_io_hint.NAME");
}

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

// Returns false if the name is not an option of an encoding. `by_cost`: set with the codec.
bool set_encoding(store::EncodeOptions& encoding, std::optional<bool>& by_cost, std::string_view name,
                  std::string_view value) {
  if (name == "codec") by_cost = value == "auto";
  if (name == "codec" && value == "auto") value = "lossless";
  if (take_prefix(name, "field_codec.")) {
    if (name.empty()) return false;
    encoding.field_codec[std::string(name)] = parse_codec(value);
    return true;
  }
  for (const EncodingRow& row : encoding_table)
    if (row.name == name) {
      row.set(encoding, value);
      return true;
    }
  return false;
}

bool set_named(Options& options, std::string_view name, std::string_view value) {
  for (const OptionRow& row : option_table)
    if (row.name == name) {
      row.set(options, value);
      return true;
    }
  if (take_prefix(name, "mpi_io_hint.")) {
    set_hint(options, std::string(name), value);
    return true;
  }
  if (take_prefix(name, "checkpoint."))
    return set_encoding(options.checkpoint, options.checkpoint_codec_by_cost, name, value);
  if (take_prefix(name, "analysis."))
    return set_encoding(options.analysis, options.analysis_codec_by_cost, name, value);
  return false;
}

std::string variable_of(std::string_view option) {
  std::string name = "OCTAVO_";
  for (char c : option) name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void set_from(Options& options, const Environment& environment, const std::string& option) {
  const std::string variable = variable_of(option);
  const auto value = environment(variable);
  if (!value) return;
  try {
    set_option(options, option, *value);
  } catch (Error& error) {
    throw error.at("variable " + variable);
  }
}

}  // namespace

std::string_view name_of(Mode mode) noexcept {
  switch (mode) {
    case Mode::sync: return "sync";
    case Mode::background: return "background";
    default: return "auto";
  }
}

codec::Settings parse_codec(std::string_view text) {
  codec::Settings settings;
  const std::string_view whole = text;
  constexpr std::string_view expected = "a codec: lossless, abs:E, point:E, raw, zstd or tree";
  if (text == "lossless") return settings;
  if (text == "raw" || text == "zstd" || text == "tree") {
    settings.method = text == "raw" ? codec::Method::raw : text == "zstd" ? codec::Method::zstd : codec::Method::tree;
    return settings;
  }
  if (take_prefix(text, "abs:"))
    settings.bound.kind = codec::BoundKind::absolute;
  else if (take_prefix(text, "point:"))
    settings.bound.kind = codec::BoundKind::pointwise_relative;
  else
    throw cannot_be(expected, whole);
  settings.bound.value = parse_number<double>(text, expected);
  if (!(settings.bound.value > 0) || !std::isfinite(settings.bound.value)) throw cannot_be(expected, whole);
  return settings;
}

std::int64_t parse_bytes(std::string_view text) {
  constexpr std::string_view expected = "a number of bytes like 4096, 64K, 256M or 2G";
  const std::string_view whole = text;
  int shift = 0;
  if (!text.empty()) {
    constexpr std::string_view units = "KMG";
    if (const auto unit = units.find(text.back()); unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  const auto number = parse_number<std::int64_t>(text, expected);
  if (number < 0 || number > std::numeric_limits<std::int64_t>::max() >> shift) throw cannot_be(expected, whole);
  return number << shift;
}

void set_option(Options& options, std::string_view name, std::string_view value) {
  try {
    if (set_named(options, name, value)) return;
  } catch (Error& error) {
    throw error.at("option " + std::string(name));
  }
  throw unknown(name);
}

// The writer compares this text over all ranks at open. Options that may differ (options.hpp lists them) are not in it.
std::string describe(const Options& options) {
  std::string text;
  const auto item = [&text](const std::string& name, const auto& value) {
    if constexpr (std::is_convertible_v<decltype(value), std::string_view>)
      text += " " + name + " = " + std::string(value) + ";";
    else
      text += " " + name + " = " + exactly(value) + ";";
  };
  item("contributors_per_file", plan_options(options).contributors_per_file);
  item("writers_per_node", plan_options(options).writers_per_node);
  item("ranks_per_node", options.ranks_per_node);
  item("mode", name_of(options.mode));
  item("steps_in_flight", options.steps_in_flight);
  item("lend", options.lend);
  item("checksums", options.checksums);
  item("keep_last", options.keep_last);
  item("recycle", recycles(options));
  item("sync_policy", static_cast<int>(options.sync_policy));
  item("alignment", options.alignment.value_or(0));
  item("drop_pages", options.drop_pages);
  item("direct_io", options.direct_io);
  item("staging_directory", options.staging_directory.empty() ? "none" : "one");
  item("partner_every", options.partner_every);
  item("xor_every", options.xor_every);
  item("rs_every", options.rs_every);
  item("group_size", options.group_size);
  item("drain_every", options.drain_every);
  item("remember_failed_restarts", options.remember_failed_restarts);
  for (const auto& [name, value] : options.mpi_io_hints) item("mpi_io_hint." + name, value);
  for (const bool checkpoint : {true, false}) {
    const std::string flow = checkpoint ? "checkpoint." : "analysis.";
    const store::EncodeOptions& encoding = checkpoint ? options.checkpoint : options.analysis;
    const Cadence& every = checkpoint ? options.checkpoint_every : options.analysis_every;
    item(flow + "append", checkpoint ? options.append_checkpoint : options.append_analysis);
    item(flow + "whole_domain", checkpoint ? options.checkpoint_whole_domain : options.analysis_whole_domain);
    item(flow + "codec", exactly(encoding.codec));
    item(flow + "codec by cost",
         is_codec_by_cost(options, checkpoint ? store::Flow::checkpoint : store::Flow::analysis));
    for (const auto& [name, settings] : encoding.field_codec) item(flow + "field_codec." + name, exactly(settings));
    item(flow + "single_precision", encoding.single_precision);
    // Rank 0 alone reads the wall time, so ranks must only agree on whether it counts.
    item(flow + "every", exactly(every.steps) + " steps, " + exactly(every.time) + " of code time" +
                             (every.seconds > 0 ? ", wall time" : ""));
    for (const std::string& name : checkpoint ? options.checkpoint_fields : options.analysis_fields)
      item(flow + "fields", name);
  }
  return text;
}

// Lustre's stripes are 4 GiB at most, and no file system has blocks of more than a few MiB.
constexpr std::int64_t most_alignment = std::int64_t{1} << 30;

bool recycles(const Options& options) {
  // A slot is overwritten in place only after a sync has proved a newer step, so recycling needs sync_policy = step.
  const bool in_store = options.staging_directory.empty() && options.sync_policy == SyncPolicy::step;
  return options.recycle.value_or(options.keep_last > 0 && in_store && !options.append_checkpoint);
}

bool is_codec_by_cost(const Options& options, store::Flow flow) {
  const store::EncodeOptions& encoding = encoding_of(options, flow);
  const bool is_default = encoding.codec == codec::Settings{} && !encoding.single_precision;
  const auto& given =
      flow == store::Flow::checkpoint ? options.checkpoint_codec_by_cost : options.analysis_codec_by_cost;
  return is_default && given.value_or(options.mode != Mode::sync);
}

namespace {

void check_tiers(const Options& options) {
  const bool protects = options.partner_every > 0 || options.xor_every > 0 || options.rs_every > 0;
  if (options.staging_directory.empty() && (protects || options.drain_every > 1))
    throw Error(Kind::usage, "partner_every, xor_every, rs_every and drain_every need a staging_directory")
        .hint("a directory on a disk of each node");
  const int least = options.rs_every > 0 ? 3 : 2;
  if ((options.xor_every > 0 || options.rs_every > 0) && (options.group_size < least || options.group_size > 64))
    throw Error(Kind::usage, "group_size: expected " + std::to_string(least) + " to 64 nodes, found " +
                                 std::to_string(options.group_size));
  if (options.drain_every < 1) throw Error(Kind::usage, "drain_every is 0: no checkpoint would come to the store");
}

}  // namespace

void check(const Options& options) {
  if (options.contributors_per_file.value_or(0) < 0 || options.writers_per_node < 0 || options.ranks_per_node < 0 ||
      options.keep_last < 0 || options.staging_bytes < 0 || options.partner_every < 0 || options.xor_every < 0 ||
      options.rs_every < 0 || options.copy_bandwidth < 0 || options.drain_bandwidth < 0)
    throw Error(Kind::usage, "an option is negative");
  if (options.steps_in_flight < 1)
    throw Error(Kind::usage, "steps_in_flight is 0: no step could ever be handed over")
        .hint("mode = sync waits for each");
  const std::int64_t alignment = options.alignment.value_or(8);
  if (alignment < 8 || alignment % 8 != 0 || alignment > most_alignment)
    throw Error(Kind::usage, "alignment: expected a multiple of 8 up to 1G, found " + std::to_string(alignment));
  if (recycles(options) && options.keep_last == 0)
    throw Error(Kind::usage, "recycle needs keep_last: else no checkpoint is ever one too many");
  if (!options.staging_directory.empty() && (recycles(options) || options.sync_policy != SyncPolicy::step))
    throw Error(Kind::usage,
                "staging_directory goes with sync_policy = \"step\" and without recycle: a step is drained "
                "to files of its own once it is safe on the local disk");
  check_tiers(options);
  if (options.append_checkpoint && options.keep_last > 0)
    throw Error(Kind::usage, "keep_last needs files of their own for each checkpoint: not with checkpoint.append");
  if (options.lend && options.mode == Mode::sync)
    throw Error(Kind::usage, "lend has no meaning in sync mode: nothing is copied ahead there");
}

std::vector<std::string> option_variables() {
  std::vector<std::string> variables;
  for (const OptionRow& row : option_table) variables.push_back(variable_of(row.name));
  for (const std::string flow : {"checkpoint.", "analysis."})
    for (const EncodingRow& row : encoding_table) variables.push_back(variable_of(flow + std::string(row.name)));
  return variables;
}

Environment process_environment() {
  tell_misspelt_variables();
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr) return {};
    return value;
  };
}

Options read_options(const Options& defaults, const std::filesystem::path& file, const Environment& environment) {
  Options options = defaults;
  std::filesystem::path named = file;
  if (named.empty()) named = environment("OCTAVO_OPTIONS").value_or("");
  if (!named.empty()) read_toml(options, named);
  // Variables come after the file, so that they win.
  for (const OptionRow& row : option_table) set_from(options, environment, std::string(row.name));
  for (const char* flow : {"checkpoint.", "analysis."})
    for (const EncodingRow& row : encoding_table) set_from(options, environment, flow + std::string(row.name));
  check(options);
  return options;
}

}  // namespace octavo::engine
