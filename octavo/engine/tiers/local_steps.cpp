#include "octavo/engine/tiers/local_steps.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/subfile.hpp"

namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using store::Flow;

constexpr std::string_view digits = "0123456789abcdef";

std::string hex(const store::Attempt& bytes) {
  std::string text;
  for (std::byte byte : bytes)
    for (unsigned shift : {4U, 0U}) text += digits[std::to_integer<unsigned>(byte) >> shift & 15U];
  return text;
}

std::optional<store::Attempt> parse_hex(std::string_view text) {
  store::Attempt bytes{};
  if (text.size() != 2 * bytes.size()) return {};
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t digit = digits.find(text[i]);
    if (digit == std::string_view::npos) return {};
    bytes[i / 2] = static_cast<std::byte>(std::to_integer<std::size_t>(bytes[i / 2]) << 4 | digit);
  }
  return bytes;
}

template <class T>
bool parse(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

// Removes the text up to and including `separator`, and returns it without the separator.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view first = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return first;
}

// The one subfile of a local store, which holds one segment.
fs::path subfile_in(const fs::path& directory, Flow flow) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(directory / store::to_string(flow), ignored), end; it != end;
       it.increment(ignored))
    if (it->is_regular_file(ignored)) return it->path();
  return {};
}

LocalSegment look_at(const LocalName& name, const fs::path& directory) {
  LocalSegment found{name, directory, {}, 0, 1};
  const fs::path path = subfile_in(directory, name.flow);
  if (path.empty()) return found;
  const store::Subfile subfile = store::read_subfile(path);
  if (subfile.commits.empty()) return found;
  const store::Footer& footer = subfile.commits.back().footer;
  if (footer.flow != name.flow || footer.segment != name.segment || footer.attempt != attempt_of(name)) return found;
  found.subfile = path;
  found.step = footer.step;
  found.segments = footer.segments;
  return found;
}

StepKey key_of(const LocalRow& row) { return {row.name.flow, row.step, attempt_of(row.name)}; }

// Whether the store has a step after the base of the local segment's run that another run wrote.
bool has_gone_on(const LocalName& name, const StepsInStore& stored) {
  return std::any_of(stored.begin(), stored.end(), [&](const auto& step) {
    const auto& [flow, number, attempt] = step.first;
    const std::uint64_t order = step.second.order;
    return flow == name.flow && order > name.base &&
           attempt != attempt_of(name.run, static_cast<std::int64_t>(order - name.base) - 1);
  });
}

}  // namespace

// Names of local files hold run and order, and from these follows the attempt: the formula must never change. Two sums
// of 64 bits, of the same bytes but the last, make the 128 bits.
store::Attempt attempt_of(const store::Attempt& run, std::int64_t number) {
  std::array<std::byte, 32> bytes{};
  std::copy(run.begin(), run.end(), bytes.begin());
  std::memcpy(bytes.data() + 16, &number, sizeof number);
  store::Attempt attempt;
  for (std::size_t half = 0; half < 2; ++half) {
    bytes[31] = static_cast<std::byte>(half);
    const std::uint64_t sum = base::checksum(bytes);
    std::memcpy(attempt.data() + 8 * half, &sum, sizeof sum);
  }
  return attempt;
}

std::string to_text(const LocalName& name) {
  std::array<char, 64> numbers{};
  std::snprintf(numbers.data(), numbers.size(), "-%012llu-%012llu-", static_cast<unsigned long long>(name.order),
                static_cast<unsigned long long>(name.base));
  std::string segment = std::to_string(name.segment);
  if (segment.size() < 3) segment.insert(0, 3 - segment.size(), '0');
  return store::to_string(name.flow) + numbers.data() + hex(name.run) + "." + segment;
}

std::optional<LocalName> parse_local_name(const std::string& text) {
  std::string_view rest = text;
  LocalName name;
  const std::string_view flow = take(rest, '-');
  if (flow != "checkpoint" && flow != "analysis") return {};
  name.flow = flow == "analysis" ? Flow::analysis : Flow::checkpoint;
  if (!parse(take(rest, '-'), name.order) || !parse(take(rest, '-'), name.base)) return {};
  const auto run = parse_hex(take(rest, '.'));
  if (!run || !parse(rest, name.segment) || name.order <= name.base || name.segment < 0) return {};
  name.run = *run;
  return to_text(name) == text ? std::optional(name) : std::nullopt;
}

fs::path local_root(const fs::path& staging_directory, const fs::path& path, const std::string& host) {
  const fs::path normal = path.lexically_normal();
  const std::string text = normal.string();
  std::array<char, 16> sum{};
  std::snprintf(sum.data(), sum.size(), "-%08x",
                static_cast<unsigned>(base::checksum(std::as_bytes(std::span(text))) & 0xFFFFFFFF));
  const fs::path name = normal.has_filename() ? normal.filename() : normal.parent_path().filename();
  return staging_directory / (name.string() + sum.data()) / host;
}

std::vector<LocalSegment> list_local(const fs::path& root) {
  std::vector<LocalSegment> found;
  std::error_code error;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    if (const auto name = parse_local_name(it->path().filename().string())) found.push_back(look_at(*name, it->path()));
  if (error && error != std::errc::no_such_file_or_directory)
    throw base::system_error("list the directory", error.value()).at(root.string());
  std::sort(found.begin(), found.end(), [](const LocalSegment& a, const LocalSegment& b) {
    return std::tie(a.name.flow, a.name.order, a.name.segment) < std::tie(b.name.flow, b.name.order, b.name.segment);
  });
  return found;
}

std::vector<Fate> judge(std::span<const LocalRow> local, const StepsInStore& stored) {
  const StepInStore none;
  const auto in_store = [&](const StepKey& key) -> const StepInStore& {
    const auto found = stored.find(key);
    return found == stored.end() ? none : found->second;
  };
  // A step goes to the store if segments there and segments on local disks together are all of it.
  std::map<StepKey, std::set<int>> only_local;
  for (const LocalRow& row : local)
    if (const StepKey key = key_of(row); row.committed && !in_store(key).has(row.name.segment))
      only_local[key].insert(row.name.segment);
  std::map<std::tuple<Flow, store::Attempt, std::uint64_t>, bool> known;  // by flow, run and base
  const auto gone_on = [&](const LocalName& name) {
    const auto [entry, is_new] = known.try_emplace({name.flow, name.run, name.base}, false);
    if (is_new) entry->second = has_gone_on(name, stored);
    return entry->second;
  };
  std::vector<Fate> fates;
  for (const LocalRow& row : local) {
    const StepKey key = key_of(row);
    const StepInStore& there = in_store(key);
    if (!row.committed || there.has(row.name.segment))
      fates.push_back(Fate::stored);
    else if (gone_on(row.name))
      fates.push_back(Fate::abandoned);
    else
      fates.push_back(there.count() + static_cast<int>(only_local[key].size()) == row.segments ? Fate::drain
                                                                                               : Fate::incomplete);
  }
  return fates;
}

}  // namespace octavo::engine
