#include "octavo/store/scan.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "octavo/base/error.hpp"

namespace octavo::store {

const char* const marker_name = "octavo.json";
const char* const marker_text =
    "{\"format\": \"octavo\", \"about\": \"steps of AMR simulations; docs/format.md of Octavo says what every byte "
    "means\"}\n";

namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

bool is_subfile_name(const std::string& name) {
  constexpr std::string_view prefix = "data.";
  return name.size() >= prefix.size() + 3 && name.compare(0, prefix.size(), prefix) == 0 &&
         std::all_of(name.begin() + prefix.size(), name.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::vector<fs::path> entries(const fs::path& directory) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    paths.push_back(it->path());
  if (error && error != std::errc::no_such_file_or_directory)
    throw base::system_error("list the directory", error.value()).at(directory.string());
  // data.1000 follows data.999.
  std::sort(paths.begin(), paths.end(), [](const fs::path& a, const fs::path& b) {
    const auto x = a.string(), y = b.string();
    return std::make_tuple(x.size(), std::cref(x)) < std::make_tuple(y.size(), std::cref(y));
  });
  return paths;
}

std::vector<fs::path> subfile_paths(const fs::path& store) {
  std::vector<fs::path> paths;
  for (Flow flow : {Flow::analysis, Flow::checkpoint})
    for (const fs::path& directory : flow_directories(store, flow))
      for (const fs::path& path : entries(directory))
        if (is_subfile_name(path.filename().string())) paths.push_back(path);
  return paths;
}

std::string hex(const Attempt& attempt) {
  std::string text;
  for (std::size_t i = 0; i < 4; ++i)
    for (int shift : {4, 0}) text += "0123456789abcdef"[std::to_integer<unsigned>(attempt[i]) >> shift & 15];
  return text;
}

// ------------------------------------------------------------------ segments make steps

using Key = std::tuple<Flow, std::int64_t, Attempt>;

std::vector<StepFound> group_segments(const std::vector<Subfile>& subfiles) {
  std::map<Key, StepFound> found;
  for (std::size_t s = 0; s < subfiles.size(); ++s)
    for (std::size_t c = 0; c < subfiles[s].commits.size(); ++c) {
      const Footer& footer = subfiles[s].commits[c].footer;
      StepFound& step = found[{footer.flow, footer.step, footer.attempt}];
      step.flow = footer.flow;
      step.step = footer.step;
      step.attempt = footer.attempt;
      if (footer.segment == 0) step.order = footer.order;
      step.segments.push_back({s, c});
    }
  std::vector<StepFound> steps;
  for (auto& [key, step] : found) steps.push_back(std::move(step));
  return steps;
}

// Complete: each of the segments that every footer speaks of, once.
void complete(const std::vector<Subfile>& subfiles, StepFound& step) {
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

// A later attempt at the same number supersedes; so does, for all larger numbers, a step that continues an earlier one.
void supersede(const Scan& scan, std::vector<StepFound>& steps) {
  for (const StepFound& later : steps) {
    if (!later.complete) continue;
    const auto& continues = committed(scan, later.segments[0]).footer.continues;
    for (StepFound& earlier : steps) {
      if (earlier.flow != later.flow || !earlier.complete || earlier.order >= later.order) continue;
      if (earlier.step == later.step || (continues && earlier.step > continues->step)) earlier.superseded = true;
    }
  }
}

const Subfile* subfile_of(const Scan& scan, const StepFound& step, int segment) {
  const fs::path path = scan.subfiles[step.segments[0].subfile].path.parent_path() / subfile_name(segment);
  const auto found = std::find_if(scan.subfiles.begin(), scan.subfiles.end(),
                                  [&](const Subfile& subfile) { return subfile.path == path; });
  return found == scan.subfiles.end() ? nullptr : &*found;
}

// Whether the step's files are its own, and not the flow's.
bool has_own_files(const Scan& scan, const StepFound& step) {
  return scan.subfiles[step.segments[0].subfile].path.parent_path() != scan.store / to_string(step.flow);
}

// Ascending. Of more than there are subfiles the first: not for all of them can there be one.
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

// Whether each segment that the step lacks has a sound subfile without it: it was never committed, on a disk that was
// full for instance, and the run went on; or its slot is being used again, which segment 0 is the first to say. Files
// of the flow have other commits.
bool never_committed(const Scan& scan, const StepFound& step) {
  const bool own = has_own_files(scan, step);
  const auto without = [&](int segment) {
    const Subfile* file = subfile_of(scan, step, segment);
    return file != nullptr && file->damage.empty() && (own || !file->commits.empty());
  };
  const std::vector<int> lacking = segments_lacking(scan, step);
  if (own && !lacking.empty() && lacking[0] == 0 && without(0)) return true;
  return std::all_of(lacking.begin(), lacking.end(), without);
}

// Whether the run that wrote a step with files of its own has written a later one, and none has taken up before it.
bool went_on(const Scan& scan, const StepFound& step) {
  bool later = false;
  for (const StepFound& other : scan.steps) {
    if (!other.complete || other.flow != step.flow || other.order <= step.order) continue;
    const auto& continues = committed(scan, other.segments[0]).footer.continues;
    if (other.step == step.step || (continues && continues->step < step.step)) return false;
    later = later || other.step > step.step;
  }
  return later;
}

// Whether nothing older is complete, and the files of what the step lacks are not there at all: older steps are removed
// file after file.
bool being_removed(const Scan& scan, const StepFound& step) {
  const std::vector<int> lacking = segments_lacking(scan, step);
  return std::none_of(scan.steps.begin(), scan.steps.end(),
                      [&](const StepFound& other) {
                        return other.complete && other.flow == step.flow && other.step < step.step;
                      }) &&
         std::all_of(lacking.begin(), lacking.end(),
                     [&](int segment) { return subfile_of(scan, step, segment) == nullptr; });
}

// A writer that was interrupted leaves a step that lacks segments, and nothing complete after it in its subfiles, or
// the same step written again. Where a write failed the run may have gone on. Anything else is a loss.
bool interrupted(const Scan& scan, const StepFound& step) {
  bool written_again = false, followed = false, any_complete = false;
  for (const StepFound& other : scan.steps) {
    if (!other.complete || other.flow != step.flow) continue;
    any_complete = true;
    bool after = false;
    for (const SegmentPlace& mine : step.segments)
      for (const SegmentPlace& theirs : other.segments)
        after = after || (mine.subfile == theirs.subfile && theirs.commit > mine.commit);
    followed = followed || after;
    written_again = written_again || (after && other.step == step.step);
  }
  if (has_own_files(scan, step)) followed = followed || (went_on(scan, step) && !being_removed(scan, step));
  return any_complete && (!followed || written_again || never_committed(scan, step));
}

void report_incomplete(Scan& scan) {
  for (const StepFound& step : scan.steps) {
    const fs::path directory = scan.subfiles[step.segments[0].subfile].path.parent_path();
    const std::string which = name_of(step) + ", attempt " + hex(step.attempt);
    if (step.superseded) {
      scan.notes.push_back(which + " is superseded by a later one");
    } else if (!step.complete) {
      const std::string what = which + " is incomplete: " + missing_segments(scan, step);
      if (interrupted(scan, step))
        scan.notes.push_back(what + " was not committed; its writer was interrupted or failed");
      else
        scan.damage.push_back({directory.string(), what + " is lost"});
    }
  }
}

// A head that is damaged in a file with nothing behind it: its maker was interrupted, and nothing was ever in it.
bool being_made(const Subfile& subfile) { return !subfile.head && subfile.size <= head_size; }

void collect_damage(Scan& scan) {
  const bool other_heads = std::any_of(scan.subfiles.begin(), scan.subfiles.end(),
                                       [](const Subfile& subfile) { return subfile.head.has_value(); });
  for (const Subfile& subfile : scan.subfiles) {
    if (being_made(subfile) && other_heads) {
      scan.notes.push_back(subfile.path.string() + " holds nothing: its writer was interrupted, or it was emptied");
      continue;
    }
    scan.damage.insert(scan.damage.end(), subfile.damage.begin(), subfile.damage.end());
  }
}

}  // namespace

std::string to_string(Flow flow) { return flow == Flow::analysis ? "analysis" : "checkpoint"; }

std::string name_of(const StepFound& step) { return to_string(step.flow) + " step " + std::to_string(step.step); }

std::string subfile_name(int subfile) {
  std::string number = std::to_string(subfile);
  if (number.size() < 3) number.insert(0, 3 - number.size(), '0');
  return "data." + number;
}

std::vector<fs::path> flow_directories(const fs::path& store, Flow flow) {
  std::vector<fs::path> directories{store / to_string(flow)};
  for (const fs::path& path : entries(directories[0]))
    if (std::error_code ignored; !is_subfile_name(path.filename().string()) && fs::is_directory(path, ignored))
      directories.push_back(path);
  return directories;
}

fs::path directory_of(const fs::path& store, Flow flow, std::int64_t step) {
  if (flow == Flow::analysis) return store / "analysis";
  std::string number = std::to_string(step);
  if (number.size() < 9) number.insert(number[0] == '-' ? 1 : 0, 9 - number.size(), '0');
  return store / "checkpoint" / number;
}

fs::path store_of(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return path;
  if (path.filename() == marker_name) return path.has_parent_path() ? path.parent_path() : fs::path(".");
  const fs::path directory = fs::absolute(path).parent_path();
  const bool in_flow = directory.filename() == "analysis" || directory.filename() == "checkpoint";
  return in_flow ? directory.parent_path() : directory.parent_path().parent_path();
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

Scan scan_store(const fs::path& path) {
  Scan scan;
  scan.store = store_of(path);
  std::error_code error;
  if (!fs::is_directory(scan.store, error))
    throw base::system_error("open the store", error ? error.value() : ENOENT).at(scan.store.string());
  for (const fs::path& subfile : subfile_paths(scan.store)) scan.subfiles.push_back(read_subfile(subfile));
  if (scan.subfiles.empty() && !fs::exists(scan.store / marker_name, error))
    throw Error(Kind::corrupt, "not an Octavo store: expected " + std::string(marker_name) + " or analysis/data.000")
        .at(scan.store.string());
  auto steps = group_segments(scan.subfiles);
  for (StepFound& step : steps) complete(scan.subfiles, step);
  supersede(scan, steps);
  std::stable_sort(steps.begin(), steps.end(), [](const StepFound& a, const StepFound& b) {
    return std::tie(a.flow, a.step, a.order) < std::tie(b.flow, b.step, b.order);
  });
  scan.steps = std::move(steps);
  collect_damage(scan);
  report_incomplete(scan);
  return scan;
}

}  // namespace octavo::store
