#include "octavo/store/write/append.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "octavo/base/error.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/index.hpp"
#include "octavo/store/read/scan.hpp"

/// Opens a subfile for one more segment, so that a crash at any moment leaves the steps before it. New bytes go behind
/// the last footer that a record names; directories and the file's own name are synced before the commit that needs
/// them. In a slot the old records are zero on disk before anything else is overwritten.
namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// An interrupted creation leaves a file without head and commit records. Any other file without a head is damaged.
bool needs_head(const file::File& file) try {
  std::vector<std::byte> head(head_size);
  if (file::pread_some(file, 0, head) < head_size) return true;
  try {
    parse_head(std::span<const std::byte>(head).first(sector_size));
    return false;
  } catch (const Error& error) {
    if (error.kind() == Kind::unsupported) throw;
    return file::size(file) == head_size || has_no_records(head);
  }
} catch (const Error&) {
  if (file::size(file) <= head_size) throw;
  return false;  // read_tail() goes on with a head that cannot be read, or says what is wrong
}

// The head of a new file gets to the disk with the content, before a commit record refers to either. Where the file had
// bytes already, they may be records, whose removal is on disk before anything else is overwritten.
void write_head(const file::File& file, const SegmentPlan& plan) {
  Head head;
  head.file = random_attempt();
  head.flow = plan.flow;
  std::vector<std::byte> bytes(head_size);
  const Sector sector = to_sector(head);
  std::copy(sector.begin(), sector.end(), bytes.begin());
  const bool is_new = file::size(file) == 0;
  file::pwrite_all(file, 0, bytes);
  if (!plan.sync) return;
  if (!is_new) file::sync(file);
  file::sync_directory(file.path().parent_path());
}

bool has_head(const file::File& file, Flow flow) {
  std::vector<std::byte> head(sector_size);
  if (file::size(file) < head_size || file::pread_some(file, 0, head) < head.size()) return false;
  try {
    return parse_head(head).flow == flow;
  } catch (const Error&) {
    return false;
  }
}

// Removes the step that the subfile held. The removal is on disk before anything overwrites the step's content.
void empty_again(const file::File& file, const SegmentPlan& plan) {
  if (!has_head(file, plan.flow)) return write_head(file, plan);
  const Records records = read_records(file);
  if (!all_zero(records[0]) || !all_zero(records[1])) {
    const std::vector<std::byte> no_records(head_size - sector_block);
    file::pwrite_all(file, sector_block, no_records);
    if (plan.sync) file::sync(file);
  }
  // An earlier run with more files may have used the slot: remove its extra subfiles.
  SegmentPlan other = plan;
  std::error_code ignored;
  for (other.subfile = plan.segments; plan.segment == 0 && fs::exists(subfile_path(other), ignored); ++other.subfile)
    file::remove(subfile_path(other));
}

// Syncing the parent directory costs as much as a small step. The writer of segment 0 syncs the names of all
// directories, also of those that it finds, before it commits. So where the step needs that segment to be one, the
// others sync none: if a crash takes a directory away, segment 0 was not committed.
void make_directories(const fs::path& path, const SegmentPlan& plan) {
  const bool syncs = plan.sync && (plan.segment == 0 || !plan.relies_on_first);
  return syncs ? file::make_directories(path) : file::make_unsynced_directories(path);
}

std::optional<CommitRecord> record_in(const Sector& sector, bool& damaged) {
  try {
    return parse_record(sector);
  } catch (const Error&) {
    damaged = true;
    return {};
  }
}

}  // namespace

void write_marker(const fs::path& store) {
  const fs::path path = store / marker_name;
  const std::string_view text = marker_text;
  const file::File file = file::open_write(path);
  const std::uint64_t size = file::size(file);
  if (size == text.size()) return;
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
  if (size > text.size()) file::resize(file, text.size());
  file::sync(file);
  file::sync_directory(store);
}

fs::path subfile_path(const SegmentPlan& plan) {
  const fs::path directory =
      plan.directory.empty() ? directory_of(plan.store, plan.flow, plan.step) : plan.store / plan.directory;
  return directory / subfile_name(plan.subfile);
}

file::File open_subfile(const SegmentPlan& plan, file::File open) {
  if (plan.segment == 0 && plan.subfile != 0)
    throw Error(Kind::usage, "segment 0 of a step goes to the flow's first subfile");
  const fs::path path = subfile_path(plan);
  file::File file = std::move(open);
  if (!file.is_open() || file.path() != path || !file::has_name(file)) {
    make_directories(path.parent_path(), plan);
    // Somebody may have removed the store since.
    std::error_code ignored;
    if (!plan.marked || !fs::exists(plan.store / marker_name, ignored)) write_marker(plan.store);
    file = file::open_write(path);
    if (!file::try_lock(file))
      throw Error(Kind::usage, "another writer has this subfile open").at(file.path().string());
  }
  const bool is_new = needs_head(file);
  if (plan.recycle)
    empty_again(file, plan);
  else if (is_new)
    write_head(file, plan);
  // The file may be there without its name being on disk: its maker may have died in between.
  if (plan.sync && !is_new) file::sync_name(path);
  return file;
}

std::optional<Committed> commit_in(const file::File& file) try {
  bool damaged = false;
  const Records records = read_records(file);
  const auto a = record_in(records[0], damaged), b = record_in(records[1], damaged);
  const auto& newest = a && b ? (a->sequence > b->sequence ? a : b) : (a ? a : b);
  if (!newest) return {};
  return Committed{read_footer(file, newest->file, {newest->sequence, newest->footer}), newest->footer};
} catch (const Error&) {
  return {};
}

Tail read_tail(const file::File& file) {
  std::vector<std::byte> head(sector_size);
  file::pread_all(file, 0, head);
  Tail tail;
  tail.file = parse_head(head).file;
  bool damaged = false;
  tail.records = read_records(file);
  const auto a = record_in(tail.records[0], damaged), b = record_in(tail.records[1], damaged);
  const auto& newest = a && b ? (a->sequence > b->sequence ? a : b) : (a ? a : b);
  // Without any record this is place 0, to which a first commit writes anyway.
  tail.older_place = &newest == &a ? 1 : 0;
  if (newest) {
    const auto load = [&](const Link& link) -> std::optional<Footer> {
      try {
        return read_footer(file, tail.file, link);
      } catch (const Error&) {
        return {};
      }
    };
    const Link link{newest->sequence, newest->footer};
    tail.order = read_footer(file, tail.file, link).order;
    tail.sequence = newest->sequence;
    tail.links = links_after(link, load);
    tail.end = align(newest->footer.offset + newest->footer.length);
  }
  // A damaged record may have been the newest, so we keep everything that it may have named.
  if (damaged) tail.end = std::max(tail.end, align(file::size(file)));
  return tail;
}

Records read_records(const file::File& file) {
  Records records{};
  for (std::size_t place = 0; place < records.size(); ++place) try {
      file::pread_all(file, record_place(place), records[place]);
    } catch (const Error& error) {
      if (error.kind() != Kind::unreadable) throw;
      // All ones parse as a damaged record. Zeros would say that there never was one.
      records[place].fill(std::byte{0xFF});
    }
  return records;
}

void put_back_records(const fs::path& subfile, const Records& records) {
  const file::File file = file::open_write(subfile);
  for (std::size_t place = 0; place < records.size(); ++place)
    file::pwrite_all(file, record_place(place), records[place]);
  file::sync(file);
}

namespace {

constexpr std::string_view slot_prefix = "slot.";

// For each file that holds a segment 0, where the last step in it ends that the index lists.
std::map<std::string, std::uint64_t> listed_ends(const std::vector<IndexedStep>& steps) {
  std::map<std::string, std::uint64_t> ends;
  for (const IndexedStep& step : steps) {
    std::uint64_t& end = ends[step.file];
    end = std::max(end, align(step.at.offset + step.at.length));
  }
  return ends;
}

// Whether the file ends with the last step that the index lists in it: nobody has appended another one since. A slot's
// file keeps its length when it is written again, so its length says nothing.
bool is_all_listed(const fs::path& path, std::uint64_t listed_end) {
  std::error_code error;
  const std::uint64_t size = fs::file_size(path, error);
  return !error && size <= listed_end && !path.parent_path().filename().string().starts_with(slot_prefix);
}

}  // namespace

// We read only the first subfiles that may have a step which neither mark nor index lists: its run was killed.
std::uint64_t next_order(const SegmentPlan& plan, const Tail& tail) {
  // Segment 0 alone carries the step's order.
  if (plan.segment != 0) return 0;
  if (plan.order_before) return *plan.order_before + 1;
  std::uint64_t order = std::max({tail.order, plan.after_order, read_mark(plan.store, plan.flow).known});
  const std::vector<IndexedStep> listed = read_index(plan.store, plan.flow).steps;
  for (const IndexedStep& step : listed) order = std::max(order, parse_footer(step.footer, step.at).order);
  const std::map<std::string, std::uint64_t> ends = listed_ends(listed);
  const fs::path own = subfile_path(plan);
  std::error_code ignored;
  for (const fs::path& directory : flow_directories(plan.store, plan.flow)) {
    const fs::path path = directory / subfile_name(0);
    if (path == own || !fs::exists(path, ignored)) continue;
    const auto end = ends.find(path.lexically_relative(plan.store).generic_string());
    if (end != ends.end() && is_all_listed(path, end->second)) continue;
    for (const Committed& commit : read_subfile(path).commits) order = std::max(order, commit.footer.order);
  }
  return order + 1;
}

}  // namespace octavo::store
