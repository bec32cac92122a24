#include "octavo/store/read/scan.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/store/read/index.hpp"

/// Finds out which steps a store has, from heads, commit records and footers alone. Segments of the same flow, step and
/// attempt make a step; it is complete if all its segments are there, and listed if no later one supersedes it. The
/// marks say which steps must be there, so that a step is missed that has left nothing behind. Cost: an open and a few
/// reads a subfile; with Trust, one a step, for any number of subfiles.
namespace octavo::store {

const char* const marker_name = "octavo.json";
const char* const marker_text =
    "{\"format\": \"octavo\", \"about\": \"steps of AMR simulations; docs/format.md of Octavo says what every byte "
    "means\"}\n";

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

constexpr std::size_t most_missing = 64;  // missing steps that we look for and report

// Calls `see` with each entry, in any order. We hold no list, because a directory may have as many files as a machine
// has nodes.
template <class See>
void for_each_entry(const fs::path& directory, See&& see) {
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) see(it->path());
  if (error && error != std::errc::no_such_file_or_directory)
    throw base::system_error("list the directory", error.value()).at(directory.string());
}

template <class Wanted>
std::vector<fs::path> entries(const fs::path& directory, Wanted&& wanted) {
  std::vector<fs::path> paths;
  for_each_entry(directory, [&](const fs::path& path) {
    if (wanted(path)) paths.push_back(path);
  });
  // data.1000 follows data.999.
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) {
    const auto &x = a.native(), &y = b.native();
    return std::make_tuple(x.size(), std::cref(x)) < std::make_tuple(y.size(), std::cref(y));
  });
  return paths;
}

bool is_subfile(const fs::path& path) { return is_subfile_name(path.filename().string()); }

std::vector<fs::path> subfiles_in(const fs::path& directory) { return entries(directory, is_subfile); }

// Whether the directory has the subfiles of all numbers below `end`.
bool has_subfiles(const fs::path& directory, int end) {
  std::int64_t found = 0;
  for_each_entry(directory, [&](const fs::path& path) {
    const std::string name = path.filename().string();
    if (!is_subfile_name(name)) return;
    int number = 0;
    const auto [stop, error] = std::from_chars(name.data() + 5, name.data() + name.size(), number);
    if (error == std::errc{} && number < end && name == subfile_name(number)) ++found;
  });
  return found == end;
}

std::vector<fs::path> subfile_paths(const fs::path& store) {
  std::vector<fs::path> paths;
  for (Flow flow : {Flow::analysis, Flow::checkpoint})
    for (const fs::path& directory : flow_directories(store, flow))
      for (const fs::path& path : subfiles_in(directory)) paths.push_back(path);
  return paths;
}

// ------------------------------------------------------------------ reading the subfiles

using Totals = std::map<std::pair<std::size_t, std::size_t>, StepTotals>;  // by subfile and commit of segment 0

// The index of a flow by file and place of the footer.
struct KnownSteps {
  Trust trust = Trust::nothing;
  std::vector<IndexedStep> steps;
  std::map<std::pair<std::string, std::uint64_t>, const IndexedStep*> by_place;
  KnownSteps(Trust how, std::vector<IndexedStep> indexed) : trust(how), steps(std::move(indexed)) {
    for (const IndexedStep& step : steps) by_place[{step.file, step.at.offset}] = &step;
  }
  const IndexedStep* find(const std::string& file, const Extent& at) const {
    const auto found = by_place.find({file, at.offset});
    return found != by_place.end() && found->second->at == at ? found->second : nullptr;
  }
  bool may_have(const std::string& file) const {
    if (trust == Trust::mark) return true;
    const auto found = by_place.lower_bound({file, 0});
    return found != by_place.end() && found->first.first == file;
  }
};

// The sums of all steps whose segment 0 is in the directory's data.000. Nothing if the subfile, the mark, the index and
// the names in the directory do not agree on one of them.
std::optional<std::vector<StepTotals>> vouched_for(const Subfile& first, const std::string& file,
                                                   const DurableMark& mark, const KnownSteps& known) {
  if (!first.damage.empty() || first.commits.empty()) return {};
  std::vector<StepTotals> all;
  std::set<int> ends;
  for (const Committed& commit : first.commits) {
    const IndexedStep* step = known.find(file, commit.at);
    const bool is_known = step != nullptr || known.trust == Trust::mark;
    if (!is_known || commit.footer.segment != 0 || !contains(mark, commit.footer.order)) return {};
    ends.insert(commit.footer.segments);
    all.push_back(step == nullptr ? StepTotals{} : step->totals);
  }
  const auto is_there = [&](int end) { return has_subfiles(first.path.parent_path(), end); };
  // The names of all subfiles must be there: a file that somebody removed would go unnoticed otherwise.
  if (!std::all_of(ends.begin(), ends.end(), is_there)) return {};
  return all;
}

// Reads the subfiles of a directory: the first alone if the mark and the index vouch for the steps in it, else all.
void read_directory(Scan& scan, const fs::path& directory, const DurableMark& mark, const KnownSteps& known,
                    Totals& totals) {
  const fs::path first = directory / subfile_name(0);
  const std::string file = first.lexically_relative(scan.store).generic_string();
  std::optional<Subfile> read;
  if (std::error_code ignored; known.may_have(file) && fs::exists(first, ignored)) {
    const auto bytes_of = [&](const Extent& at) -> std::span<const std::byte> {
      const IndexedStep* step = known.find(file, at);
      return step == nullptr ? std::span<const std::byte>{} : std::span<const std::byte>(step->footer);
    };
    read = read_subfile(first, {bytes_of, {}});
    if (const auto all = vouched_for(*read, file, mark, known)) {
      for (std::size_t c = 0; c < all->size(); ++c) totals[{scan.subfiles.size(), c}] = (*all)[c];
      scan.subfiles.push_back(std::move(*read));
      return;
    }
  }
  for (const fs::path& path : subfiles_in(directory))
    scan.subfiles.push_back(read && path == first ? std::move(*read) : read_subfile(path));
}

// A step that its writer has given up may be half overwritten while the mark still lists it. So where the mark vouches
// for one, the other subfiles are read after all.
void read_given_up(Scan& scan, Flow flow, Totals& totals) {
  const DurableMark& mark = scan.marks[static_cast<std::size_t>(flow)];
  if (mark.kept == 0) return;
  std::set<std::uint64_t> orders;
  std::set<std::size_t> doubted;
  for (const Subfile& subfile : scan.subfiles)
    for (const Committed& commit : subfile.commits)
      if (commit.footer.flow == flow && commit.footer.segment == 0) orders.insert(commit.footer.order);
  for (const auto& [place, ignored] : totals) {
    const Footer& footer = scan.subfiles[place.first].commits[place.second].footer;
    if (footer.flow == flow && is_given_up(mark, footer.order, orders)) doubted.insert(place.first);
  }
  for (const std::size_t s : doubted) {
    std::erase_if(totals, [&](const auto& one) { return one.first.first == s; });
    const fs::path first = scan.subfiles[s].path;
    for (const fs::path& path : subfiles_in(first.parent_path()))
      if (path != first) scan.subfiles.push_back(read_subfile(path));
  }
}

std::string hex(const Attempt& attempt) {
  std::string text;
  for (std::size_t i = 0; i < 4; ++i)
    for (int shift : {4, 0}) text += "0123456789abcdef"[std::to_integer<unsigned>(attempt[i]) >> shift & 15];
  return text;
}

// ------------------------------------------------------------------ segments make steps

using Key = std::tuple<Flow, std::int64_t, Attempt>;

std::vector<StepFound> group_segments(const std::vector<Subfile>& subfiles, const Totals& totals) {
  std::map<Key, StepFound> found;
  for (std::size_t s = 0; s < subfiles.size(); ++s)
    for (std::size_t c = 0; c < subfiles[s].commits.size(); ++c) {
      const Footer& footer = subfiles[s].commits[c].footer;
      StepFound& step = found[{footer.flow, footer.step, footer.attempt}];
      step.flow = footer.flow;
      step.step = footer.step;
      step.attempt = footer.attempt;
      if (footer.segment == 0) step.order = footer.order;
      for (const std::string& feature : unknown_features(footer))
        if (std::find(step.unknown.begin(), step.unknown.end(), feature) == step.unknown.end())
          step.unknown.push_back(feature);
      step.segments.push_back({s, c});
      if (const auto known = totals.find({s, c}); known != totals.end()) step.totals = known->second;
    }
  std::vector<StepFound> steps;
  for (auto& [key, step] : found) steps.push_back(std::move(step));
  return steps;
}

// A step is complete if each of its segments is there exactly once and all footers agree on their number.
void complete(const std::vector<Subfile>& subfiles, StepFound& step) {
  if (step.totals) {
    step.complete = true;
    return;
  }
  const auto footer = [&](const SegmentPlace& place) -> const Footer& {
    return subfiles[place.subfile].commits[place.commit].footer;
  };
  std::stable_sort(step.segments.begin(), step.segments.end(),
                   [&](const SegmentPlace& a, const SegmentPlace& b) { return footer(a).segment < footer(b).segment; });
  step.complete = static_cast<int>(step.segments.size()) == footer(step.segments[0]).segments;
  for (std::size_t i = 0; i < step.segments.size(); ++i) {
    const Footer& segment = footer(step.segments[i]);
    step.complete = step.complete && segment.segment == static_cast<int>(i) &&
                    segment.segments == static_cast<int>(step.segments.size());
  }
}

// A later attempt supersedes earlier attempts at the same number. A step that continues an earlier one supersedes all
// steps with larger numbers than that one. We go from the latest step to the earliest of each flow, and keep what those
// seen so far supersede.
void supersede(const Scan& scan, std::vector<StepFound>& steps) {
  std::vector<StepFound*> latest_first;
  for (StepFound& step : steps)
    if (step.complete) latest_first.push_back(&step);
  // The order of commits decides, not the number of steps: a run that went back writes smaller numbers later.
  std::stable_sort(latest_first.begin(), latest_first.end(), [](const StepFound* a, const StepFound* b) {
    return std::tie(a->flow, b->order) < std::tie(b->flow, a->order);
  });
  const auto is_same = [](const StepFound& a, const StepFound& b) { return a.flow == b.flow && a.order == b.order; };
  std::set<std::pair<Flow, std::int64_t>> numbers;
  std::map<Flow, std::int64_t> continued;  // the lowest step that one of them continues
  for (std::size_t first = 0, last = 0; first < latest_first.size(); first = last) {
    for (last = first; last < latest_first.size() && is_same(*latest_first[first], *latest_first[last]); ++last) {
      StepFound& step = *latest_first[last];
      const auto from = continued.find(step.flow);
      step.superseded =
          numbers.contains({step.flow, step.step}) || (from != continued.end() && step.step > from->second);
    }
    for (std::size_t i = first; i < last; ++i) {  // steps of one order do not supersede each other
      const StepFound& step = *latest_first[i];
      numbers.emplace(step.flow, step.step);
      const auto& continues = committed(scan, step.segments[0]).footer.continues;
      if (!continues) continue;
      const auto from = continued.emplace(step.flow, continues->step).first;
      from->second = std::min(from->second, continues->step);
    }
  }
}

// The missing segments, ascending. We list no more than there are subfiles.
std::vector<int> segments_lacking(const Scan& scan, const StepFound& step) {
  std::vector<int> lacking;
  const int segments = committed(scan, step.segments[0]).footer.segments;
  auto next = step.segments.begin();  // by segment number
  for (int segment = 0; segment < segments && lacking.size() <= scan.subfiles.size(); ++segment) {
    while (next != step.segments.end() && committed(scan, *next).footer.segment < segment) ++next;
    if (next == step.segments.end() || committed(scan, *next).footer.segment != segment) lacking.push_back(segment);
  }
  return lacking;
}

std::string missing_segments(const Scan& scan, const StepFound& step) {
  constexpr std::size_t most_shown = 8;
  const std::vector<int> lacking = segments_lacking(scan, step);
  if (lacking.empty()) return "a segment twice";
  std::string text = "segment ";
  for (std::size_t i = 0; i < std::min(lacking.size(), most_shown); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(lacking[i]);
  return text + " of " + std::to_string(committed(scan, step.segments[0]).footer.segments);
}

// ------------------------------------------------------------------ what is lost

// Orders of one flow's complete steps.
std::set<std::uint64_t> complete_orders(const Scan& scan, Flow flow) {
  std::set<std::uint64_t> orders;
  for (const StepFound& step : scan.steps)
    if (step.flow == flow && step.complete) orders.insert(step.order);
  return orders;
}

std::vector<std::uint64_t> missing_from(const std::vector<OrderRange>& ranges,
                                        const std::set<std::uint64_t>& complete) {
  std::vector<std::uint64_t> missing;
  for (const OrderRange& range : ranges)
    for (std::uint64_t order = range.first; order <= range.last && missing.size() < most_missing; ++order)
      if (!complete.contains(order)) missing.push_back(order);
  return missing;
}

// Returns the missing orders between complete steps that the mark does not know. A missing order there may be a step
// whose writer was interrupted, which leaves an incomplete step or a file behind; if there are as many of these as
// missing orders, it returns none.
std::vector<std::uint64_t> gaps(const Scan& scan, Flow flow, const std::set<std::uint64_t>& complete) {
  if (complete.empty()) return {};
  const std::uint64_t known = scan.marks[static_cast<std::size_t>(flow)].known;
  const auto missing = missing_from({{std::max(known + 1, *complete.begin()), *complete.rbegin()}}, complete);
  const auto is_left = [&](const StepFound& step) {
    return step.flow == flow && !step.complete && (step.order == 0 || step.order > known);
  };
  const auto left = std::count_if(scan.steps.begin(), scan.steps.end(), is_left) +
                    std::count_if(scan.subfiles.begin(), scan.subfiles.end(),
                                  [](const Subfile& subfile) { return subfile.was_being_made; });
  return std::ssize(missing) <= left ? std::vector<std::uint64_t>{} : missing;
}

// Whether the step's branch is abandoned: a later run went on from an earlier step.
bool is_abandoned(const Scan& scan, Flow flow, std::uint64_t order) {
  for (const StepFound& later : scan.steps) {
    if (later.flow != flow || !later.complete || later.order < order) continue;
    const auto& continues = committed(scan, later.segments[0]).footer.continues;
    if (!continues) continue;
    const auto from = std::find_if(scan.steps.begin(), scan.steps.end(), [&](const StepFound& step) {
      return step.flow == flow && step.complete && step.attempt == continues->attempt;
    });
    // If that earlier step is gone, it was the oldest: keep_last and slots give up the oldest first.
    if (from == scan.steps.end() || from->order < order) return true;
  }
  return false;
}

// Finds the incomplete step of this order. If its segment 0 is missing, its order is not known; it is then the
// incomplete step whose number lies between those of the complete steps around this order.
StepFound* remains_of(Scan& scan, Flow flow, std::uint64_t order) {
  const auto is_left = [&](const StepFound& step) { return step.flow == flow && !step.complete && !step.lost; };
  const StepFound *before = nullptr, *after = nullptr;
  for (StepFound& step : scan.steps) {
    if (step.flow != flow) continue;
    if (is_left(step) && step.order == order) return &step;
    if (!step.complete) continue;
    if (step.order < order && (before == nullptr || step.order > before->order)) before = &step;
    if (step.order > order && (after == nullptr || step.order < after->order)) after = &step;
  }
  for (StepFound& step : scan.steps)
    if (is_left(step) && step.order == 0 && (before == nullptr || step.step > before->step) &&
        (after == nullptr || step.step < after->step))
      return &step;
  return nullptr;
}

std::string describe_lost(const Scan& scan, Flow flow, std::uint64_t order) {
  const DurableMark& mark = scan.marks[static_cast<std::size_t>(flow)];
  const bool newest = mark.newest_step && !mark.orders.empty() && order == mark.orders.back().last;
  return to_string(flow) +
         (newest ? " step " + std::to_string(*mark.newest_step) : " step of order " + std::to_string(order)) +
         " is lost: " + (contains(mark, order) ? "it was durable" : "a later step is complete") +
         ", and nothing of it is there";
}

void find_lost(Scan& scan, Flow flow) {
  const DurableMark mark = scan.marks[static_cast<std::size_t>(flow)];
  const auto complete = complete_orders(scan, flow);
  std::vector<std::uint64_t> missing = missing_from(mark.orders, complete);
  std::erase_if(missing, [&](std::uint64_t order) { return is_given_up(mark, order, complete); });
  for (std::uint64_t order : gaps(scan, flow, complete)) missing.push_back(order);
  for (std::uint64_t order : missing) {
    if (is_abandoned(scan, flow, order)) continue;
    if (StepFound* left = remains_of(scan, flow, order))
      left->lost = true;
    else
      scan.damage.push_back(
          {(scan.store / to_string(flow)).string(), describe_lost(scan, flow, order), FindingKind::lost});
  }
  if (mark.is_there && mark.orders.empty() && complete.empty())
    scan.damage.push_back({durable_mark(scan.store, flow).string(),
                           "the flow has had a durable step, and none is complete", FindingKind::lost});
}

void report_incomplete(Scan& scan) {
  for (const StepFound& step : scan.steps) {
    const fs::path directory = scan.subfiles[step.segments[0].subfile].path.parent_path();
    const std::string which = name_of(step) + ", attempt " + hex(step.attempt);
    if (listed(step) && !step.unknown.empty())
      scan.notes.push_back(name_of(step) + " cannot be opened: " +
                           describe_unknown(step.unknown, committed(scan, step.segments[0]).footer.writer));
    if (step.superseded) {
      scan.notes.push_back(which + " is superseded by a later one");
    } else if (!step.complete) {
      const std::string what = which + " is incomplete: " + missing_segments(scan, step);
      const bool was_durable = step.order > 0 && contains(scan.marks[static_cast<std::size_t>(step.flow)], step.order);
      if (was_durable && !step.lost)
        scan.notes.push_back(what + " was given up for a later step");
      else if (step.lost)
        scan.damage.push_back({directory.string(), what + " is lost", FindingKind::lost});
      else
        scan.notes.push_back(what + " was not committed; its writer was interrupted or failed");
    }
  }
}

void collect_damage(Scan& scan) {
  std::error_code ignored;
  const bool is_store = fs::exists(scan.store / marker_name, ignored) ||
                        std::any_of(scan.subfiles.begin(), scan.subfiles.end(),
                                    [](const Subfile& subfile) { return subfile.head.has_value(); });
  for (const Subfile& subfile : scan.subfiles) {
    // In a directory that is no store at all, such a file is no interrupted subfile but something else.
    if (subfile.was_being_made && is_store) {
      scan.notes.push_back(subfile.path.string() + " holds nothing: its writer was interrupted, or it was emptied");
      continue;
    }
    scan.damage.insert(scan.damage.end(), subfile.damage.begin(), subfile.damage.end());
  }
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    if (scan.marks[static_cast<std::size_t>(flow)].is_damaged)
      scan.damage.push_back({durable_mark(scan.store, flow).string(), "the mark has other bytes than were written"});
}

}  // namespace

bool is_subfile_name(const std::string& name) {
  constexpr std::string_view prefix = "data.";
  return name.size() >= prefix.size() + 3 && name.compare(0, prefix.size(), prefix) == 0 &&
         std::all_of(name.begin() + prefix.size(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

bool ever_had_steps(const Scan& scan, Flow flow) {
  return scan.marks[static_cast<std::size_t>(flow)].is_there ||
         std::any_of(scan.steps.begin(), scan.steps.end(),
                     [&](const StepFound& step) { return step.flow == flow && step.complete; });
}

std::string to_string(Flow flow) { return flow == Flow::analysis ? "analysis" : "checkpoint"; }

std::string note_of(const Finding& finding) {
  const std::string kind = finding.kind == FindingKind::damaged ? "damage"
                           : finding.kind == FindingKind::lost  ? "lost"
                                                                : "not supported";
  return kind + ": " + finding.where + ": " + finding.what;
}

std::string name_of(const StepFound& step) { return to_string(step.flow) + " step " + std::to_string(step.step); }

std::string subfile_name(int subfile) {
  std::string number = std::to_string(subfile);
  if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
  return "data." + number;
}

namespace {

constexpr int fan_depth = 2;

bool is_fan_name(const std::string& name) {
  return name.size() == 3 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

void add_directories(const fs::path& directory, int depth, std::vector<fs::path>& out) {
  out.push_back(directory);
  for (const fs::path& path : entries(directory, [](const fs::path& path) { return !is_subfile(path); })) {
    const std::string name = path.filename().string();
    if (std::error_code ignored; !fs::is_directory(path, ignored)) continue;
    if (depth < fan_depth && is_fan_name(name))
      add_directories(path, depth + 1, out);
    else
      out.push_back(path);
  }
}

}  // namespace

std::vector<fs::path> flow_directories(const fs::path& store, Flow flow) {
  std::vector<fs::path> directories;
  add_directories(store / to_string(flow), 0, directories);
  return directories;
}

std::string step_directory(std::int64_t step) {
  std::string number = std::to_string(step);
  if (number.size() < 9) number.insert(number[0] == '-' ? 1 : 0, 9 - number.size(), '0');
  return number;
}

fs::path fanned_out(std::int64_t step) {
  const std::string name = step_directory(step), low = name.substr(name.size() - 8);
  // A minus sign before fewer than nine digits takes the place of a zero.
  std::string digits = (name.size() > 8 && name[name.size() - 9] != '-' ? name.substr(name.size() - 9, 1) : "0") + low;
  return fs::path(digits.substr(0, 3)) / digits.substr(3, 3) / name;
}

fs::path directory_of(const fs::path& store, Flow flow, std::int64_t step) {
  return flow == Flow::analysis ? store / "analysis" : store / "checkpoint" / fanned_out(step);
}

fs::path store_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return path;
  if (path.filename() == marker_name) return path.has_parent_path() ? path.parent_path() : fs::path(".");
  fs::path directory = fs::absolute(path).parent_path();
  const auto is_flow = [&] { return directory.filename() == "analysis" || directory.filename() == "checkpoint"; };
  // A subfile stands in its flow's directory or up to three below: two of the fan, and the step's.
  for (int up = 0; up <= fan_depth && !is_flow(); ++up) directory = directory.parent_path();
  return directory.parent_path();
}

bool recognise(const fs::path& path) {
  std::error_code ignored;
  try {
    fs::path subfile = path;
    if (fs::is_directory(path, ignored)) {
      if (fs::is_regular_file(path / marker_name, ignored)) return true;
      const auto paths = subfile_paths(path);
      if (paths.empty()) return false;
      subfile = paths[0];
    } else if (!fs::is_regular_file(path, ignored)) {
      return false;
    } else if (path.filename() == marker_name) {
      return true;
    }
    std::array<std::byte, 8> magic{};
    const std::size_t got = file::pread_some(file::open_read(subfile), 0, magic);
    return has_magic(std::span<const std::byte>(magic).first(got));
  } catch (const Error&) {
    return false;
  }
}

void check_version(const fs::path& store) {
  for (Flow flow : {Flow::checkpoint, Flow::analysis})
    for (const fs::path& directory : flow_directories(store, flow))
      for (const fs::path& path : subfiles_in(directory)) {
        try {
          Sector sector{};
          file::pread_all(file::open_read(path), 0, sector);
          parse_head(sector);
        } catch (Error& error) {
          if (error.kind() == Kind::unsupported) throw error.at(path.string());
        }
        return;
      }
}

Scan scan_store(const fs::path& path, Trust trust, std::optional<Flow> only) {
  Scan scan;
  scan.store = store_of(path);
  std::vector<Flow> flows{Flow::analysis, Flow::checkpoint};
  if (only) flows = {*only};
  std::error_code error;
  if (!fs::is_directory(scan.store, error))
    throw base::system_error("open the store", error ? error.value() : ENOENT).at(scan.store.string());
  // We read the marks before the steps, because a writer that runs beside us adds a step first, then its mark.
  for (Flow flow : flows) scan.marks[static_cast<std::size_t>(flow)] = read_mark(scan.store, flow);
  Totals totals;
  for (Flow flow : flows) {
    const KnownSteps known(trust,
                           trust == Trust::nothing ? std::vector<IndexedStep>{} : read_index(scan.store, flow).steps);
    for (const fs::path& directory : flow_directories(scan.store, flow))
      read_directory(scan, directory, scan.marks[static_cast<std::size_t>(flow)], known, totals);
    read_given_up(scan, flow, totals);
  }
  if (!only && scan.subfiles.empty() && !fs::exists(scan.store / marker_name, error))
    throw Error(Kind::corrupt, "not an Octavo store: expected " + std::string(marker_name) + " or analysis/data.000")
        .at(scan.store.string());
  auto steps = group_segments(scan.subfiles, totals);
  for (StepFound& step : steps) complete(scan.subfiles, step);
  supersede(scan, steps);
  std::stable_sort(steps.begin(), steps.end(), [](const StepFound& a, const StepFound& b) {
    return std::tie(a.flow, a.step, a.order) < std::tie(b.flow, b.step, b.order);
  });
  scan.steps = std::move(steps);
  collect_damage(scan);
  for (Flow flow : flows) find_lost(scan, flow);
  report_incomplete(scan);
  return scan;
}

}  // namespace octavo::store
