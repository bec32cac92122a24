#include "octavo/telemac/cut/side_lines.hpp"

#include <algorithm>
#include <limits>
#include <sstream>

#include "octavo/base/rank_exchange.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/number_list.hpp"

namespace octavo::telemac {

using base::Error;
using base::Kind;

LineReader::LineReader(const std::filesystem::path& path) : path_(path), in_(path) {
  if (!in_) throw Error(Kind::unreadable, "cannot read " + path.string());
}

std::string LineReader::next() {
  std::string line;
  ++number_;
  if (!std::getline(in_, line)) throw error("the file ends here: expected more lines");
  return line;
}

std::vector<double> LineReader::numbers(std::size_t count, std::size_t most) {
  formats::serafin::NumberList list;
  while (list.values.size() < count) {
    read_numbers(next(), std::max(count, most), list);
    if (list.values.size() < count && !list.odd.empty())
      throw error("expected " + std::to_string(count) + " numbers, found " + list.odd + " after " +
                  std::to_string(list.values.size()));
  }
  return list.values;
}

Error LineReader::error(const std::string& message) const {
  return Error(Kind::corrupt, message).at(path_.string() + ", line " + std::to_string(number_));
}

std::int32_t LineReader::point(double value, std::int32_t points) const {
  if (!(value >= 1) || value > points || value != std::floor(value))
    throw error("expected a point from 1 to " + std::to_string(points) + ", found " + std::to_string(value));
  return static_cast<std::int32_t>(value) - 1;
}

std::int32_t LineReader::integer(double value) const {
  using Limits = std::numeric_limits<std::int32_t>;
  if (value < Limits::min() || value > Limits::max() || value != std::floor(value)) {
    std::ostringstream found;
    found << value;
    throw error("expected an integer of 32 bits, found " + found.str());
  }
  return static_cast<std::int32_t>(value);
}

std::int32_t LineReader::count(double value, std::int32_t most) const {
  if (!(value >= 0) || value > most || value != std::floor(value))
    throw error("expected a count from 0 to " + std::to_string(most) + ", found " + std::to_string(value));
  return static_cast<std::int32_t>(value);
}

LocalNumbers::LocalNumbers(std::vector<std::int32_t> wanted, const SideParts& parts) {
  std::sort(wanted.begin(), wanted.end());
  std::vector<std::array<std::int32_t, 3>> found;  // point, part, local number
  for (std::int32_t part = 0; static_cast<std::size_t>(part) + 1 < parts.own.first.size(); ++part) {
    const auto mine = parts.own.of(part);
    for (std::size_t i = 0; i < mine.size(); ++i)
      if (std::binary_search(wanted.begin(), wanted.end(), mine[i]))
        found.push_back({mine[i], parts.first + part, static_cast<std::int32_t>(i + 1)});
  }
  for (const auto& [point, part, local] : base::gather(parts.ranks, found)) of_[point].emplace_back(part, local);
}

std::int32_t LocalNumbers::in(std::int32_t point, std::int32_t part) const {
  for (const auto& [p, local] : of_.at(point))
    if (p == part) return local;
  return 0;
}

std::string integer_line(const std::vector<std::int32_t>& values) {
  std::string line;
  for (const std::int32_t value : values) line += formats::serafin::list_directed(std::int64_t{value});
  return line + '\n';
}

}  // namespace octavo::telemac
