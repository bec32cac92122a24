#include "octavo/store/read/index.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

namespace fs = std::filesystem;

// A larger index is not read. This is enough for about a million steps.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

std::string index_first_line(Flow flow) {
  return "Octavo index of the " + to_string(flow) + " flow; octavo verify --rebuild-index makes it anew.\n";
}

std::string index_last_line(std::string_view before) {
  char text[32];
  const auto sum = static_cast<unsigned long long>(base::checksum(std::as_bytes(std::span(before))));
  std::snprintf(text, sizeof text, "checksum %016llx\n", sum);
  return text;
}

std::string index_text(const std::vector<IndexedStep>& steps, Flow flow) {
  std::string text = index_first_line(flow);
  for (const IndexedStep& step : steps)
    text += "step " + std::to_string(step.step) + " order " + std::to_string(step.order) + " segments " +
            std::to_string(step.segments) + " in " + step.directory + "\n";
  return text + index_last_line(text);
}

// Takes a word, a blank and a number from the front of the line.
template <class T>
bool take_number(std::string_view& line, std::string_view word, T& number) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  if (error != std::errc{} || end == line.data() + line.size() || *end != ' ') return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
  return true;
}

std::optional<IndexedStep> parse_index_line(std::string_view line) {
  IndexedStep step;
  constexpr std::string_view in = "in ";
  if (!take_number(line, "step ", step.step) || !take_number(line, "order ", step.order) ||
      !take_number(line, "segments ", step.segments) || !line.starts_with(in))
    return {};
  step.directory = line.substr(in.size());
  return step;
}

std::optional<std::vector<IndexedStep>> parse_index(std::string_view text, Flow flow) {
  const std::string first = index_first_line(flow);
  const std::size_t last = index_last_line({}).size();
  if (text.size() < first.size() + last || !text.starts_with(first)) return {};
  if (text.substr(text.size() - last) != index_last_line(text.substr(0, text.size() - last))) return {};
  text = text.substr(first.size(), text.size() - first.size() - last);
  std::vector<IndexedStep> steps;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const auto step = end == text.npos ? std::nullopt : parse_index_line(text.substr(0, end));
    if (!step) return {};
    steps.push_back(*step);
    text.remove_prefix(end + 1);
  }
  return steps;
}

void write_index(const fs::path& store, Flow flow, const std::vector<IndexedStep>& steps) {
  const fs::path path = index_path(store, flow);
  std::error_code error;
  if (steps.empty()) {
    fs::remove(path, error);
    return;
  }
  const std::string text = index_text(steps, flow);
  fs::path fresh = path;
  fresh += ".new";
  {
    file::File file = file::open_write(fresh);
    file::resize(file, 0);
    file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
    file.close();
  }
  fs::rename(fresh, path, error);
  if (error) throw base::system_error("rename the index", error.value()).at(path.string());
}

}  // namespace

fs::path index_path(const fs::path& store, Flow flow) { return store / (to_string(flow) + ".index"); }

std::vector<IndexedStep> index_of(const Scan& scan, Flow flow) {
  std::vector<IndexedStep> steps;
  for (const StepFound& step : scan.steps) {
    if (step.flow != flow || !step.complete) continue;
    const fs::path directory = scan.subfiles[step.segments[0].subfile].path.parent_path();
    steps.push_back({step.step, step.order, static_cast<int>(step.segments.size()),
                     directory.lexically_relative(scan.store).generic_string()});
  }
  std::sort(steps.begin(), steps.end(), [](const IndexedStep& a, const IndexedStep& b) { return a.order < b.order; });
  return steps;
}

std::optional<std::vector<IndexedStep>> read_index(const fs::path& store, Flow flow) {
  try {
    const file::File file = file::open_read(index_path(store, flow));
    const std::uint64_t size = file::size(file);
    if (size > most_bytes) return {};
    std::string text(static_cast<std::size_t>(size), '\0');
    file::pread_all(file, 0, std::as_writable_bytes(std::span(text)));
    return parse_index(text, flow);
  } catch (const base::Error&) {
    return {};
  }
}

void rebuild_indexes(const fs::path& path) {
  const Scan scan = scan_store(path);
  for (Flow flow : {Flow::checkpoint, Flow::analysis}) write_index(scan.store, flow, index_of(scan, flow));
}

}  // namespace octavo::store
