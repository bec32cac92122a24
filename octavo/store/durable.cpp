#include "octavo/store/durable.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <span>
#include <string_view>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/store/layout.hpp"

namespace octavo::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t checksum_line = 26;  // "checksum ", 16 digits, line feed

std::string first_line(Flow flow) {
  return "This store has had durable " + to_string(flow) +
         " steps: where one of these cannot be read, it is lost, and a run does not start anew unasked.\n";
}

std::string to_text(std::span<const OrderRange> orders) {
  std::string text;
  for (const OrderRange& range : orders) {
    text += (text.empty() ? "" : ",") + std::to_string(range.first);
    if (range.last != range.first) text += "-" + std::to_string(range.last);
  }
  return text;
}

std::string last_line(std::string_view text) {
  std::array<char, checksum_line + 1> line{};
  std::snprintf(line.data(), line.size(), "checksum %016llx\n",
                static_cast<unsigned long long>(base::checksum(std::as_bytes(std::span(text)))));
  return line.data();
}

// ------------------------------------------------------------------ parsing

std::string_view take_line(std::string_view& text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, std::string_view what) {
  if (!text.starts_with(what)) return false;
  text.remove_prefix(what.size());
  return true;
}

std::optional<std::vector<OrderRange>> parse_orders(std::string_view text) {
  std::vector<OrderRange> orders;
  while (!text.empty()) {
    if (!orders.empty() && !take(text, ",")) return {};
    const auto first = take_number<std::uint64_t>(text);
    if (!first) return {};
    OrderRange range{*first, *first};
    if (take(text, "-")) {
      const auto last = take_number<std::uint64_t>(text);
      if (!last) return {};
      range.last = *last;
    }
    if (range.last < range.first || (!orders.empty() && range.first <= orders.back().last)) return {};
    orders.push_back(range);
  }
  return orders;
}

bool parse(std::string_view text, Flow flow, DurableMark& mark) {
  if (text.size() != sector_size ||
      text.substr(sector_size - checksum_line) != last_line(text.substr(0, sector_size - checksum_line)))
    return false;
  if (std::string(take_line(text)) + "\n" != first_line(flow) || !take(text, "orders ")) return false;
  auto orders = parse_orders(take_line(text));
  if (!orders) return false;
  mark.orders = std::move(*orders);
  if (!mark.orders.empty()) mark.known = mark.orders.back().last;
  std::string_view line = take_line(text);
  if (take(line, "newest step ")) mark.newest_step = take_number<std::int64_t>(line), line = take_line(text);
  if (take(line, "known up to ")) {
    mark.known = std::max(mark.known, take_number<std::uint64_t>(line).value_or(0));
    line = take_line(text);
  }
  if (take(line, "kept ")) mark.kept = take_number<std::uint32_t>(line).value_or(0);
  return true;
}

}  // namespace

fs::path durable_mark(const fs::path& store, Flow flow) { return store / (to_string(flow) + ".durable"); }

bool is_marked_durable(const fs::path& store, Flow flow) {
  std::error_code ignored;
  return fs::exists(durable_mark(store, flow), ignored);
}

DurableMark read_mark(const fs::path& store, Flow flow) {
  DurableMark mark;
  mark.is_there = is_marked_durable(store, flow);
  if (!mark.is_there) return mark;
  try {
    std::string text(sector_size + 1, '\0');
    text.resize(
        file::pread_some(file::open_read(durable_mark(store, flow)), 0, std::as_writable_bytes(std::span(text))));
    mark.is_whole = parse(text, flow, mark);
    // A crash may leave a file that was created but not written: all zeros is no damage.
    mark.is_damaged = !mark.is_whole && !all_zero(std::as_bytes(std::span(text)));
  } catch (const base::Error&) {
    mark.is_damaged = true;
  }
  return mark;
}

bool contains(const DurableMark& mark, std::uint64_t order) {
  return std::any_of(mark.orders.begin(), mark.orders.end(),
                     [&](const OrderRange& range) { return range.first <= order && order <= range.last; });
}

bool is_given_up(const DurableMark& mark, std::uint64_t order, const std::set<std::uint64_t>& complete) {
  const auto newer = std::distance(complete.upper_bound(order), complete.end());
  return mark.kept > 0 && newer >= std::ptrdiff_t{mark.kept};
}

void add(DurableMark& mark, std::uint64_t order, std::int64_t step) {
  mark.is_there = mark.is_whole = true;
  mark.is_damaged = false;
  mark.known = std::max(mark.known, order);
  if (mark.orders.empty() || order > mark.orders.back().last) mark.newest_step = step;
  if (contains(mark, order)) return;
  const auto after = std::find_if(mark.orders.begin(), mark.orders.end(),
                                  [&](const OrderRange& range) { return range.first > order; });
  const auto at = mark.orders.insert(after, {order, order});
  // Adjoining ranges become one.
  const auto next = std::next(at);
  if (next != mark.orders.end() && next->first == order + 1) at->last = next->last, mark.orders.erase(next);
  if (at != mark.orders.begin() && std::prev(at)->last + 1 == order)
    std::prev(at)->last = at->last, mark.orders.erase(at);
}

void drop(DurableMark& mark, std::uint64_t order) {
  if (!mark.orders.empty() && order == mark.orders.back().last) mark.newest_step.reset();
  for (std::size_t i = 0; i < mark.orders.size(); ++i) {
    const OrderRange range = mark.orders[i];
    if (order < range.first || order > range.last) continue;
    const auto at = mark.orders.erase(mark.orders.begin() + static_cast<std::ptrdiff_t>(i));
    std::vector<OrderRange> rest;
    if (range.first < order) rest.push_back({range.first, order - 1});
    if (order < range.last) rest.push_back({order + 1, range.last});
    mark.orders.insert(at, rest.begin(), rest.end());
    return;
  }
}

void drop_up_to(DurableMark& mark, std::uint64_t order) {
  std::erase_if(mark.orders, [&](const OrderRange& range) { return range.last <= order; });
  if (mark.orders.empty())
    mark.newest_step.reset();
  else
    mark.orders.front().first = std::max(mark.orders.front().first, order + 1);
}

void note_failed(DurableMark& mark, std::uint64_t order) { mark.known = std::max(mark.known, order); }

std::string to_text(const DurableMark& mark, Flow flow) {
  std::string more = mark.newest_step ? "newest step " + std::to_string(*mark.newest_step) + "\n" : "";
  if (mark.known > (mark.orders.empty() ? 0 : mark.orders.back().last))
    more += "known up to " + std::to_string(mark.known) + "\n";
  if (mark.kept > 0) more += "kept " + std::to_string(mark.kept) + "\n";
  const std::string begin = first_line(flow) + "orders ";
  const std::size_t room = sector_size - checksum_line - begin.size() - more.size() - 2;
  std::span<const OrderRange> orders(mark.orders);
  std::string list = to_text(orders);
  // The oldest steps are dropped until the list fits. Their loss would not be noticed then; they do not count as
  // failed.
  for (; list.size() > room; list = to_text(orders)) orders = orders.subspan(1);
  std::string text = begin + list + "\n" + more;
  text.resize(sector_size - checksum_line - 1, ' ');
  text += "\n";
  return text + last_line(text);
}

void write_mark(const fs::path& store, Flow flow, const DurableMark& mark, bool sync) {
  file::File file;
  write_mark(file, store, flow, mark, sync);
}

void write_mark(file::File& file, const fs::path& store, Flow flow, const DurableMark& mark, bool sync) {
  const std::string text = to_text(mark, flow);
  // A file without a name was removed beneath us: what we wrote into it would be lost.
  if (!file.is_open() || !file::has_name(file)) file = file::open_write(durable_mark(store, flow));
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  if (file::size(file) > text.size()) file::resize(file, text.size());
  if (!sync) return;
  file::sync(file);
  // sync_name() remembers names, so only the first mark of a run pays for the directory.
  file::sync_name(durable_mark(store, flow));
}

void note_durable(const fs::path& store, Flow flow, std::uint64_t order, std::int64_t step) {
  DurableMark mark = read_mark(store, flow);
  add(mark, order, step);
  write_mark(store, flow, mark, true);
}

}  // namespace octavo::store
