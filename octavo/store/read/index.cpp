#include "octavo/store/read/index.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <span>
#include <string_view>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

/// The index is a cache that any reader may ignore: a text with one line a step and a checksum in each line. A crash
/// may tear it anywhere; readers take the lines that are in order. It is never synced.
namespace octavo::store {
namespace {

namespace fs = std::filesystem;

// A larger index is not read. This is enough for about 60,000 steps.
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;

std::string index_first_line(Flow flow) {
  return "Octavo index of the " + to_string(flow) + " flow, form 2; octavo verify --rebuild-index makes it anew.\n";
}

std::string hexadecimal(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte byte : bytes)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[std::to_integer<unsigned>(byte) >> shift & 15];
  return text;
}

std::string checksum_of(std::string_view text) {
  char digits[17];
  const auto sum = static_cast<unsigned long long>(base::checksum(std::as_bytes(std::span(text))));
  std::snprintf(digits, sizeof digits, "%016llx", sum);
  return digits;
}

constexpr std::string_view before_checksum = " checksum ";

std::string line_of(const IndexedStep& step) {
  const Footer footer = parse_footer(step.footer, step.at);
  const auto number = [](auto value) { return std::to_string(value); };
  const std::string text = "step " + number(footer.step) + " order " + number(footer.order) + " segments " +
                           number(footer.segments) + " parts " + number(step.totals.parts) + " bytes " +
                           number(step.totals.bytes) + " at " + number(step.at.offset) + " sum " +
                           number(step.at.checksum) + " footer " + hexadecimal(step.footer) + " in " + step.file;
  return text + std::string(before_checksum) + checksum_of(text) + "\n";
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

bool take_bytes(std::string_view& line, std::string_view word, std::vector<std::byte>& bytes) {
  if (!line.starts_with(word)) return false;
  line.remove_prefix(word.size());
  const std::string_view digits = line.substr(0, line.find(' '));
  if (digits.size() % 2 != 0) return false;
  for (std::size_t at = 0; at < digits.size(); at += 2) {
    unsigned byte = 0;
    const auto [end, error] = std::from_chars(digits.data() + at, digits.data() + at + 2, byte, 16);
    if (error != std::errc{} || end != digits.data() + at + 2) return false;
    bytes.push_back(static_cast<std::byte>(byte));
  }
  line.remove_prefix(std::min(digits.size() + 1, line.size()));
  return true;
}

std::optional<IndexedStep> parse_index_line(std::string_view line) {
  const std::size_t end = line.rfind(before_checksum);
  if (end == line.npos || line.substr(end + before_checksum.size()) != checksum_of(line.substr(0, end))) return {};
  line = line.substr(0, end);
  IndexedStep step;
  std::int64_t number = 0;
  std::uint64_t order = 0;
  int segments = 0;
  if (!take_number(line, "step ", number) || !take_number(line, "order ", order) ||
      !take_number(line, "segments ", segments) || !take_number(line, "parts ", step.totals.parts) ||
      !take_number(line, "bytes ", step.totals.bytes) || !take_number(line, "at ", step.at.offset) ||
      !take_number(line, "sum ", step.at.checksum) || !take_bytes(line, "footer ", step.footer) ||
      !line.starts_with("in "))
    return {};
  step.at.length = step.footer.size();
  step.file = line.substr(3);
  return step;
}

Index parse_index(std::string_view text, Flow flow) {
  const std::string first = index_first_line(flow);
  if (!text.starts_with(first)) return {};
  text.remove_prefix(first.size());
  Index index{true, {}};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    auto step = end == text.npos ? std::nullopt : parse_index_line(text.substr(0, end));
    if (step)
      index.steps.push_back(std::move(*step));
    else
      index.is_whole = false;
    text.remove_prefix(std::min(end, text.size() - 1) + 1);
  }
  return index;
}

std::string text_of(Flow flow, const std::vector<IndexedStep>& steps) {
  std::string text = index_first_line(flow);
  for (const IndexedStep& step : steps) text += line_of(step);
  return text;
}

std::string whole_text(const file::File& file) {
  std::string text(static_cast<std::size_t>(file::size(file)), '\0');
  file::pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

}  // namespace

fs::path index_path(const fs::path& store, Flow flow) { return store / (to_string(flow) + ".index"); }

std::vector<IndexedStep> index_of(const Scan& scan, Flow flow) {
  std::map<std::uint64_t, IndexedStep> by_order;
  for (const StepFound& step : scan.steps) {
    if (step.flow != flow || !step.complete) continue;
    const Committed& first = committed(scan, step.segments[0]);
    IndexedStep entry;
    entry.file = scan.subfiles[step.segments[0].subfile].path.lexically_relative(scan.store).generic_string();
    entry.at = first.at;
    entry.footer = to_bytes(first.footer);
    // Another version may have written a footer that we do not write in the same bytes.
    if (base::checksum(entry.footer) != first.at.checksum) continue;
    for (const SegmentPlace& place : step.segments) {
      const Committed& commit = committed(scan, place);
      entry.totals.parts += commit.footer.parts;
      entry.totals.bytes += commit.at.offset + commit.at.length - commit.footer.begin;
    }
    by_order.emplace(step.order, std::move(entry));
  }
  std::vector<IndexedStep> steps;
  for (auto& [order, step] : by_order) steps.push_back(std::move(step));
  return steps;
}

Index read_index(const fs::path& store, Flow flow) {
  try {
    const file::File file = file::open_read(index_path(store, flow));
    if (file::size(file) > most_bytes) return {};
    return parse_index(whole_text(file), flow);
  } catch (const base::Error&) {
    return {};
  }
}

// A file that does not begin as an index is made anew. A torn last line stays, as a line of its own.
void append_index(file::File& file, const fs::path& store, Flow flow, const IndexedStep& step) {
  std::string text = line_of(step);
  if (!file.is_open() || !file::has_name(file)) {
    file = file::open_write(index_path(store, flow));
    const std::string first = index_first_line(flow);
    std::string begin(first.size(), '\0');
    begin.resize(file::pread_some(file, 0, std::as_writable_bytes(std::span(begin))));
    if (begin != first) {
      file::resize(file, 0);
      text = first + text;
    } else {
      std::string last(1, '\0');
      file::pread_all(file, file::size(file) - 1, std::as_writable_bytes(std::span(last)));
      if (last != "\n") text = "\n" + text;
    }
  }
  file::pwrite_all(file, file::size(file), std::as_bytes(std::span(text)));
}

void write_index(const fs::path& store, Flow flow, const std::vector<IndexedStep>& steps) {
  const fs::path path = index_path(store, flow);
  std::error_code error;
  if (steps.empty()) {
    fs::remove(path, error);
    return;
  }
  const std::string text = text_of(flow, steps);
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

// A crash in between leaves a torn line, or old lines behind the new ones. Readers pass over both.
void shorten_index(file::File& file, const fs::path& store, Flow flow, const DurableMark& mark) {
  if (!file.is_open() || !file::has_name(file)) file = file::open_write(index_path(store, flow));
  if (file::size(file) > most_bytes) return file::resize(file, 0);
  const std::string text = text_of(flow, listed_by(mark, parse_index(whole_text(file), flow).steps));
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  file::resize(file, text.size());
}

std::vector<IndexedStep> listed_by(const DurableMark& mark, std::vector<IndexedStep> steps) {
  std::map<std::uint64_t, IndexedStep> by_order;
  for (IndexedStep& step : steps) try {
      const std::uint64_t order = parse_footer(step.footer, step.at).order;
      if (contains(mark, order)) by_order[order] = std::move(step);
    } catch (const base::Error&) {  // of another version: its line is left out
    }
  std::vector<IndexedStep> listed;
  for (auto& [order, step] : by_order) listed.push_back(std::move(step));
  return listed;
}

void rebuild_indexes(const fs::path& path) {
  const Scan scan = scan_store(path);
  for (Flow flow : {Flow::checkpoint, Flow::analysis}) write_index(scan.store, flow, index_of(scan, flow));
}

}  // namespace octavo::store
