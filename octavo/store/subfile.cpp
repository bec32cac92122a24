#include "octavo/store/subfile.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <thread>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// Runs work. An error becomes a finding, but "unsupported" is rethrown: a file of another version is not damaged.
template <class Work>
void attempt_unless_unsupported(std::vector<Finding>& damage, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.kind() == Kind::unsupported) throw;
    damage.push_back(finding_of(error));
  }
}

// The sectors of head and records. A sector that is unreadable or missing is shorter.
using Blocks = std::array<std::vector<std::byte>, 3>;

std::vector<std::byte> read_some(const file::File& file, std::uint64_t offset, std::size_t size) {
  std::vector<std::byte> bytes(size);
  bytes.resize(file::pread_some(file, offset, bytes));
  return bytes;
}

Blocks read_blocks(const file::File& file, std::vector<Finding>& damage) {
  Blocks blocks;
  try {
    // One read is enough, unless a sector cannot be read. Then each is tried by itself.
    const std::vector<std::byte> head = read_some(file, 0, head_size);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const auto rest = std::span(head).subspan(std::min(head.size(), b * sector_block));
      const auto sector = rest.first(std::min(rest.size(), sector_size));
      blocks[b].assign(sector.begin(), sector.end());
    }
  } catch (const Error&) {  // one of them cannot be read
    for (std::size_t b = 0; b < blocks.size(); ++b)
      attempt_unless_unsupported(damage, [&] { blocks[b] = read_some(file, b * sector_block, sector_size); });
  }
  return blocks;
}

bool hold_together(const Blocks& blocks) {
  try {
    return is_pair(parse_record(blocks[1]), parse_record(blocks[2]));
  } catch (const Error&) {
    return false;
  }
}

// A read that meets a write may return old and new bytes of one sector, or an old sector and a new one: POSIX forbids
// it, but the file systems of Linux do it. So records count as damaged only if four reads in turn say so; this core is
// free between them, since the writer may wait for it.
Blocks read_blocks_at_rest(const file::File& file, std::vector<Finding>& damage) {
  for (int read = 0; read < 3; ++read) {
    std::vector<Finding> unreadable;
    Blocks blocks = read_blocks(file, unreadable);
    const bool is_short = std::ranges::any_of(blocks, [](const auto& sector) { return sector.size() < sector_size; });
    if (!unreadable.empty() || is_short) break;
    if (hold_together(blocks)) return blocks;
    std::this_thread::yield();
  }
  return read_blocks(file, damage);
}

// A sector that cannot be read may have been a record.
bool has_no_record(const std::vector<std::byte>& sector) { return sector.size() == sector_size && all_zero(sector); }

// Reads the head. Returns whether it may be recovered: it is damaged, and the file has content after it.
bool read_head(const Blocks& blocks, Subfile& subfile) {
  if (blocks[0].empty() && subfile.size > 0) return subfile.size > head_size;  // unreadable, already reported
  try {
    if (subfile.size < head_size)
      throw Error(Kind::corrupt, "the file ends early: expected a head of " + std::to_string(head_size) +
                                     " bytes, found " + std::to_string(subfile.size));
    subfile.head = parse_head(blocks[0]);
    return false;
  } catch (Error& error) {
    if (error.kind() == Kind::unsupported) throw error.at(subfile.path.string());
    subfile.damage.push_back(finding_of(error.at(byte_range(subfile.path, 0, sector_size))));
    return subfile.size > head_size;
  }
}

void take_records(const Blocks& blocks, Subfile& subfile) {
  for (std::size_t place = 0; place < 2; ++place) {
    if (blocks[1 + place].empty()) continue;  // unreadable, already reported
    attempt_unless_unsupported(subfile.damage, [&] {
      try {
        auto record = parse_record(blocks[1 + place]);
        // A slot's new head has a new identity, so records of the file that it replaces do not count.
        if (record && record->file != subfile.head->file) throw Error(Kind::corrupt, "commit record of another file");
        subfile.records[place] = record;
      } catch (Error& error) {
        throw error.at(byte_range(subfile.path, record_place(place), sector_size));
      }
    });
  }
}

// The footers that a record names, the newest first.
std::vector<Link> links_of(const CommitRecord& record) {
  std::vector<Link> links{{record.sequence, record.footer}};
  if (record.sequence > 1) links.push_back({record.sequence - 1, record.previous});
  return links;
}

// Recovers a damaged head from a commit record and the footer that it names; from the newer record if both are intact.
std::optional<Head> recovered_head(const file::File& file, const Blocks& blocks) {
  std::optional<Head> recovered;
  std::uint64_t sequence = 0;
  for (std::size_t place = 0; place < 2; ++place) try {
      if (blocks[1 + place].empty()) continue;
      const auto record = parse_record(blocks[1 + place]);
      if (!record) continue;
      for (const Link& link : links_of(*record)) {
        // The other record has given a newer head.
        if (link.sequence <= sequence) break;
        try {
          const Footer footer = read_footer(file, record->file, link);
          recovered = Head{version_major, version_minor, footer.file, footer.flow};
          sequence = link.sequence;
        } catch (const Error&) {  // the previous footer may be intact
        }
      }
    } catch (const Error&) {
      // If the other record yields the head, this record is read again later and its damage is listed then.
    }
  return recovered;
}

Footer checked_footer(std::span<const std::byte> bytes, const file::File& file, const Identity& identity,
                      const Link& link) {
  try {
    Footer footer = parse_footer(bytes, link.footer);
    if (footer.file != identity || footer.sequence != link.sequence)
      throw Error(Kind::corrupt, "footer of another file or commit");
    return footer;
  } catch (Error& error) {
    throw error.at(byte_range(file.path(), link.footer.offset, link.footer.length));
  }
}

Footer known_or_read(const file::File& file, const Identity& identity, const Link& link, const ReadSubfile& how) {
  const auto bytes = how.known ? how.known(link.footer) : std::span<const std::byte>{};
  if (!bytes.empty() && bytes.size() == link.footer.length && base::checksum(bytes) == link.footer.checksum)
    return checked_footer(bytes, file, identity, link);
  return read_footer(file, identity, link);
}

// Follows the links from the newest footers down, reading each footer once. If one is damaged, links in other footers
// lead to the earlier ones.
void read_footers(const file::File& file, const ReadSubfile& how, Subfile& subfile) {
  std::map<std::uint64_t, Extent> known;
  for (const auto& record : subfile.records)
    if (record)
      for (const Link& link : links_of(*record)) known[link.sequence] = link.footer;
  std::uint64_t expected = known.empty() ? 0 : known.rbegin()->first;
  while (!known.empty()) {
    const auto newest = std::prev(known.end());
    const Link link{newest->first, newest->second};
    known.erase(newest);
    if (link.sequence != expected)
      subfile.damage.push_back({subfile.path.string(), "footers of commits " + std::to_string(link.sequence + 1) +
                                                           " to " + std::to_string(expected) + " cannot be found"});
    expected = link.sequence - 1;
    attempt_unless_unsupported(subfile.damage, [&] {
      Footer footer = known_or_read(file, subfile.head->file, link, how);
      if (footer.flow != subfile.head->flow)
        throw Error(Kind::corrupt, "footer of the other flow")
            .at(byte_range(subfile.path, link.footer.offset, link.footer.length));
      for (const Link& earlier : footer.previous) known.emplace(earlier.sequence, earlier.footer);
      subfile.commits.push_back({std::move(footer), link.footer});
    });
    // The newest footers come first, so a search for one step usually ends here at once.
    if (how.wanted && !subfile.commits.empty() && how.wanted(subfile.commits.back().footer)) return;
  }
  if (expected != 0)
    subfile.damage.push_back(
        {subfile.path.string(), "footers of commits 1 to " + std::to_string(expected) + " cannot be found"});
  std::reverse(subfile.commits.begin(), subfile.commits.end());
}

void check_records(Subfile& subfile) {
  for (std::size_t place = 0; place < 2; ++place) {
    const auto& record = subfile.records[place];
    if (!record) continue;
    const auto found = std::find_if(subfile.commits.begin(), subfile.commits.end(), [&](const Committed& commit) {
      return commit.footer.sequence == record->sequence;
    });
    if (found == subfile.commits.end()) continue;
    const Footer& footer = found->footer;
    const Extent before = footer.previous.empty() ? Extent{} : footer.previous.front().footer;
    if (footer.step != record->step || footer.attempt != record->attempt || found->at != record->footer ||
        before != record->previous)
      subfile.damage.push_back(
          {byte_range(subfile.path, record_place(place), sector_size), "the commit record is not that of its footer"});
  }
}

}  // namespace

std::string byte_range(const fs::path& path, std::uint64_t offset, std::uint64_t length) {
  return path.string() + ", bytes " + std::to_string(offset) + " to " + std::to_string(offset + length);
}

Finding finding_of(const Error& error) {
  if (error.kind() == Kind::no_space) throw error;
  Finding finding{"", error.message()};
  if (error.kind() == Kind::unsupported) finding.kind = FindingKind::unsupported;
  for (const std::string& place : error.places())
    finding.where = place + (finding.where.empty() ? "" : ", ") + finding.where;
  return finding;
}

std::vector<std::byte> read_extent(const file::File& file, const Extent& extent, const std::string& what) {
  const std::uint64_t size = file::size(file);
  if (extent.offset > size || extent.length > size - extent.offset)
    throw Error(Kind::corrupt, what + ": expected up to byte " + std::to_string(extent.offset + extent.length) +
                                   ", found a file of " + std::to_string(size))
        .at(byte_range(file.path(), extent.offset, extent.length));
  std::vector<std::byte> bytes(static_cast<std::size_t>(extent.length));
  file::pread_all(file, extent.offset, bytes);
  if (base::checksum(bytes) != extent.checksum)
    throw Error(Kind::corrupt, what + ": checksum differs").at(byte_range(file.path(), extent.offset, extent.length));
  return bytes;
}

Footer read_footer(const file::File& file, const Identity& identity, const Link& link) {
  return checked_footer(read_extent(file, link.footer, "footer"), file, identity, link);
}

bool has_no_records(std::span<const std::byte> head) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{1}}) {
    const auto rest = head.subspan(std::min<std::size_t>(head.size(), record_place(place)));
    if (!all_zero(rest.first(std::min(rest.size(), sector_size)))) return false;
  }
  return true;
}

bool is_pair(const std::optional<CommitRecord>& a, const std::optional<CommitRecord>& b) {
  if (!a && !b) return true;
  if (!a || !b) return (a ? a : b)->sequence == 1;
  return *a == *b || a->sequence + 1 == b->sequence || b->sequence + 1 == a->sequence;
}

std::optional<CommitRecord> newest_record(const Subfile& subfile) {
  const auto& [a, b] = subfile.records;
  if (a && b) return a->sequence > b->sequence ? a : b;
  return a ? a : b;
}

namespace {

void read_open(const file::File& file, const ReadSubfile& how, Subfile& subfile) {
  subfile.size = file::size(file);
  const Blocks blocks = read_blocks_at_rest(file, subfile.damage);
  if (read_head(blocks, subfile)) subfile.head = recovered_head(file, blocks);
  if (!subfile.head) {
    subfile.was_being_made = subfile.size <= head_size || (has_no_record(blocks[1]) && has_no_record(blocks[2]));
    return;
  }
  take_records(blocks, subfile);
  read_footers(file, how, subfile);
  check_records(subfile);
}

}  // namespace

Subfile read_subfile(const fs::path& path, const ReadSubfile& how) {
  Subfile subfile;
  subfile.path = path;
  attempt_unless_unsupported(subfile.damage, [&] { read_open(file::open_read(path), how, subfile); });
  return subfile;
}

Committed find_commit(const file::File& file, const StepId& step) {
  const auto is_it = [&](const Footer& footer) { return footer.step == step.step && footer.attempt == step.attempt; };
  Subfile subfile;
  subfile.path = file.path();
  attempt_unless_unsupported(subfile.damage, [&] { read_open(file, {{}, is_it}, subfile); });
  for (const Committed& commit : subfile.commits)
    if (is_it(commit.footer)) return commit;
  if (!subfile.damage.empty()) throw Error(Kind::corrupt, subfile.damage.front().what).at(subfile.damage.front().where);
  throw Error(Kind::corrupt, "the file has no segment of step " + std::to_string(step.step)).at(file.path().string());
}

Committed find_commit(const fs::path& path, const StepId& step) { return find_commit(file::open_read(path), step); }

}  // namespace octavo::store
