#include "octavo/engine/tiers/rebuild.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "octavo/base/at.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/codec/erasure.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/write/append.hpp"

/// Makes the files of lost nodes again from parity, when a run starts. Rank 0 has the names and headers of all nodes
/// and decides; then all ranks follow, set after set, on the main thread and through MPI. One rank makes the files of a
/// set from blocks that their holders send it, so memory is a block for each lost member and one more.
namespace octavo::engine {

/// Who has a file: its place in that rank's list. A negative rank: nobody.
struct FileHolder {
  int rank = -1;
  int index = 0;
  bool is_there() const { return rank >= 0; }
};

/// The parity files that belong together, and who has the files of each member.
struct ParitySet {
  ParityHeader header;  ///< of one of them
  std::vector<FileHolder> data, parity;
  std::vector<int> wanted;  ///< members whose file is to be made
};

// Found by base::packed.
template <class Way>
void both(Way& way, ParityHeader& header) {
  both(way, header.name, header.safety, header.step, header.segments, header.group, header.member, header.rows,
       header.chunk, header.members);
}
template <class Way>
void both(Way& way, ParitySet& set) {
  both(way, set.header, set.data, set.parity, set.wanted);
}

namespace {

using base::at;
using base::Error;
using base::Kind;
namespace fs = std::filesystem;

// ------------------------------------------------------------------ rank 0 decides

using SetKey = std::tuple<Safety, std::uint64_t, store::Attempt, int, int>;  // nearest scheme first
SetKey key_of(const ParityHeader& h) { return {h.safety, h.name.order, h.name.run, h.group, h.name.segment}; }

LocalName name_of_member(const ParityHeader& header, int member) {
  LocalName name = header.name;
  name.segment = header.members[at(member)].segment;
  return name;
}

// Whether a member's block of the stripe is data that nobody has. A member without a file has zeros.
bool is_lost(const ParitySet& set, int member, int stripe) {
  const ParityHeader& h = set.header;
  return is_data(member, stripe, h.rows, static_cast<int>(h.members.size())) && h.members[at(member)].segment >= 0 &&
         !set.data[at(member)].is_there();
}

// The rows of a stripe whose parity somebody has.
std::vector<int> rows_there(const ParitySet& set, int stripe) {
  std::vector<int> rows;
  const int n = static_cast<int>(set.header.members.size());
  for (int row = 0; row < set.header.rows; ++row)
    if (set.parity[at((stripe + row) % n)].is_there()) rows.push_back(row);
  return rows;
}

std::vector<int> lost_members(const ParitySet& set, int stripe) {
  std::vector<int> lost;
  for (int member = 0; member < static_cast<int>(set.header.members.size()); ++member)
    if (is_lost(set, member, stripe)) lost.push_back(member);
  return lost;
}

// Whether the stripe has data of a wanted member.
bool is_wanted(const ParitySet& set, int stripe) {
  return std::any_of(set.wanted.begin(), set.wanted.end(), [&](int member) { return is_lost(set, member, stripe); });
}

bool can_be_made(const ParitySet& set) {
  for (int stripe = 0; stripe < static_cast<int>(set.header.members.size()); ++stripe)
    if (is_wanted(set, stripe) && lost_members(set, stripe).size() > rows_there(set, stripe).size()) return false;
  return !set.wanted.empty();
}

// The knowledge of rank 0 about all nodes.
struct Findings {
  std::vector<LocalRow> rows;                 // committed segments, and below those that will be made
  std::map<std::string, FileHolder> holders;  // by text of the segment's name
  std::map<SetKey, ParitySet> sets;
};

Findings gather(MPI_Comm comm, const std::vector<LocalSegment>& segments, const std::vector<ParityFile>& parity) {
  std::vector<LocalRow> rows;
  for (const LocalSegment& segment : segments)
    rows.push_back({segment.name, segment.step, segment.segments, !segment.subfile.empty()});
  std::vector<ParityHeader> headers;
  for (const ParityFile& file : parity) headers.push_back(file.header);
  const auto row_texts = ranks::gather_to_first(comm, base::packed(rows));
  const auto header_texts = ranks::gather_to_first(comm, base::packed(headers));
  Findings found;
  for (std::size_t r = 0; r < row_texts.size(); ++r) {
    rows = base::unpacked<std::vector<LocalRow>>(row_texts[r]);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].committed) found.holders[to_text(rows[i].name)] = {static_cast<int>(r), static_cast<int>(i)};
    found.rows.insert(found.rows.end(), rows.begin(), rows.end());
  }
  for (std::size_t r = 0; r < header_texts.size(); ++r) {
    headers = base::unpacked<std::vector<ParityHeader>>(header_texts[r]);
    for (std::size_t i = 0; i < headers.size(); ++i) {
      ParitySet& set = found.sets[key_of(headers[i])];
      if (set.parity.empty()) set.header = headers[i];
      set.parity.resize(set.header.members.size());
      if (headers[i].members == set.header.members)  // else it contradicts the others: another member decides
        set.parity[at(headers[i].member)] = {static_cast<int>(r), static_cast<int>(i)};
    }
  }
  return found;
}

bool is_stored(const StepsInStore& stored, const LocalName& name, std::int64_t step) {
  const auto there = stored.find({name.flow, step, attempt_of(name)});
  return there != stored.end() && there->second.has(name.segment);
}

std::string text_of(const SetKey& key) {
  return base::packed(std::get<0>(key)) + base::packed(std::get<1>(key)) + base::packed(std::get<2>(key)) +
         base::packed(std::get<3>(key)) + base::packed(std::get<4>(key));
}

// The sets from which segments shall be made. Each may be tried once a member: files may turn out to be damaged one
// after another.
std::vector<ParitySet> choose(Findings found, const StepsInStore& stored, std::map<std::string, std::size_t>& tries) {
  std::set<std::string> planned;
  std::vector<ParitySet> chosen;
  for (auto& [key, set] : found.sets) {
    const int n = static_cast<int>(set.header.members.size());
    set.data.resize(at(n));
    for (int member = 0; member < n; ++member) {
      const LocalName name = name_of_member(set.header, member);
      if (name.segment < 0) continue;
      const auto holder = found.holders.find(to_text(name));
      if (holder != found.holders.end())
        set.data[at(member)] = holder->second;
      else if (!planned.contains(to_text(name)) && !is_stored(stored, name, set.header.step))
        set.wanted.push_back(member);
    }
    if (tries[text_of(key)] >= set.header.members.size() || !can_be_made(set)) continue;
    for (const int member : set.wanted) {
      const LocalName name = name_of_member(set.header, member);
      planned.insert(to_text(name));
      found.rows.push_back({name, set.header.step, set.header.segments, true});
    }
    chosen.push_back(set);
  }
  // Whether a step becomes complete shows only when all that can be made is known.
  const std::vector<Fate> fates = judge(found.rows, stored);
  std::map<std::string, Fate> fate_of;
  for (std::size_t i = 0; i < fates.size(); ++i) fate_of[to_text(found.rows[i].name)] = fates[i];
  std::erase_if(chosen, [&](const ParitySet& set) {
    return fate_of.at(to_text(name_of_member(set.header, set.wanted.front()))) != Fate::drain;
  });
  return chosen;
}

// ------------------------------------------------------------------ all ranks follow

// Compares a file with the checksum that its group has kept.
void check_file(const fs::path& path, const ProtectedFile& expected) {
  const file::File file = file::open_read(path);
  const std::uint64_t size = file::size(file);
  if (size != expected.bytes)
    throw Error(Kind::corrupt, "expected " + std::to_string(expected.bytes) + " bytes, found " + std::to_string(size))
        .at(path.string());
  base::RunningChecksum sum;
  std::vector<std::byte> block(static_cast<std::size_t>(std::min(parity_block, size)));
  for (std::uint64_t from = 0; from < size; from += parity_block) {
    const auto some = std::span(block).first(static_cast<std::size_t>(std::min(parity_block, size - from)));
    file::pread_all(file, from, some);
    sum.add(some);
  }
  if (sum.value() != expected.checksum)
    throw Error(Kind::corrupt, "checksum of the file differs: expected " + std::to_string(expected.checksum) +
                                   ", found " + std::to_string(sum.value()))
        .at(path.string());
}

// The files of this rank, as one set needs them.
struct Mine {
  LocalDisk& disk;
  const std::vector<LocalSegment>& segments;
  const std::vector<ParityFile>& parity;
  int rank = 0;
};

// Collective. Returns false if a file that the set needs is damaged anywhere; its holder then knows which.
bool are_sound(MPI_Comm comm, const ParitySet& set, const Mine& mine) {
  std::int64_t damaged = 0;
  const auto check = [&](const fs::path& path, const std::function<void()>& work) {
    try {
      work();
    } catch (...) {
      mine.disk.damaged.insert(path);
      mine.disk.notes.push_back("damage: " + std::string(base::current_error().what()));
      damaged = 1;
    }
  };
  for (std::size_t m = 0; m < set.data.size(); ++m) {
    if (set.data[m].rank == mine.rank) {
      const LocalSegment& segment = mine.segments[at(set.data[m].index)];
      check(segment.directory, [&] { check_file(segment.subfile, set.header.members[m]); });
    }
    if (set.parity[m].rank == mine.rank) {
      const ParityFile& parity = mine.parity[at(set.parity[m].index)];
      check(parity.path, [&] { check_blocks(parity); });
    }
  }
  ranks::largest_of_all(comm, {&damaged, 1});
  return damaged == 0;
}

// A segment that is being made. Its directory gets its name when it is whole.
struct NewSegment {
  fs::path partial, directory;
  file::File file;
  ProtectedFile expected;
};

NewSegment create_segment(const fs::path& root, const ParityHeader& header, int member) {
  const std::string name = to_text(name_of_member(header, member));
  NewSegment made{root / (name + ".rebuilt"), root / name, {}, header.members[at(member)]};
  file::remove_all(made.partial);
  const fs::path path =
      store::directory_of(made.partial, header.name.flow, header.step) / store::subfile_name(made.expected.subfile);
  file::make_directories(path.parent_path());
  store::write_marker(made.partial);
  made.file = file::create(path);
  file::preallocate(made.file, made.expected.bytes);
  return made;
}

void finish_segment(NewSegment& made) {
  file::sync(made.file);
  file::sync_directory(made.file.path().parent_path());
  // Only now is it known that the parity was right: the group's checksum is of the lost file.
  check_file(made.file.path(), made.expected);
  file::remove_all(made.directory);  // a damaged one
  file::rename(made.partial, made.directory);
  file::sync_directory(made.directory.parent_path());
}

// One set's work: blocks go from their holders to the rank that makes the lost files.
struct Making {
  MPI_Comm comm;
  const ParitySet& set;
  const Mine& mine;
  int maker;
  std::optional<Error> failure{};
  std::map<int, NewSegment> made{};  // by member; the maker's
  std::vector<std::byte> block{};
  std::vector<std::vector<std::byte>> sums{};
  std::map<fs::path, file::File> open{};

  int members() const { return static_cast<int>(set.header.members.size()); }

  void read(const fs::path& path, std::uint64_t from, std::uint64_t end, std::span<std::byte> out) {
    std::fill(out.begin(), out.end(), std::byte{});
    if (from >= end) return;
    base::unless_failed(failure, [&] {
      file::File& file = open[path];
      if (!file.is_open()) file = file::open_read(path);
      file::pread_all(file, from, out.first(static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), end - from))));
    });
  }

  // Brings a holder's block to the maker. Returns whether this rank is the maker.
  bool bring(const FileHolder& holder, std::span<std::byte> out, const std::function<void()>& read_it) {
    // All ranks visit the same holders in the same order, so one tag serves all blocks.
    constexpr int tag = 11;
    const int count = static_cast<int>(out.size());
    if (holder.rank == mine.rank) read_it();
    if (holder.rank != maker) {
      if (holder.rank == mine.rank) MPI_Send(out.data(), count, MPI_BYTE, maker, tag, comm);
      if (mine.rank == maker) MPI_Recv(out.data(), count, MPI_BYTE, holder.rank, tag, comm, MPI_STATUS_IGNORE);
    }
    return mine.rank == maker;
  }

  void block_of_stripe(int stripe, std::uint64_t at_byte, std::size_t size) {
    const int n = members();
    const std::uint64_t chunk = set.header.chunk;
    const std::vector<int> lost = lost_members(set, stripe);
    std::vector<int> rows = rows_there(set, stripe);
    // As many equations as unknowns: recovery_factors() inverts a square matrix.
    rows.resize(lost.size());
    const auto here = std::span(block).first(size);
    sums.assign(rows.size(), std::vector<std::byte>(mine.rank == maker ? size : 0));
    for (std::size_t k = 0; k < rows.size(); ++k) {
      const FileHolder& holder = set.parity[at((stripe + rows[k]) % n)];
      const std::uint64_t from = static_cast<std::uint64_t>(rows[k]) * chunk + at_byte;
      if (bring(holder, here, [&] { read(mine.parity[at(holder.index)].path, from, from + size, here); }))
        std::copy(here.begin(), here.end(), sums[k].begin());
    }
    for (int member = 0; member < n; ++member) {
      const FileHolder& holder = set.data[at(member)];
      if (!holder.is_there() || !is_data(member, stripe, set.header.rows, n)) continue;
      const std::uint64_t from = static_cast<std::uint64_t>(chunk_of(member, stripe, n)) * chunk + at_byte;
      const std::uint64_t end = set.header.members[at(member)].bytes;
      if (bring(holder, here, [&] { read(mine.segments[at(holder.index)].subfile, from, end, here); }))
        for (std::size_t k = 0; k < rows.size(); ++k)
          codec::add_product(sums[k], codec::erasure_factor(rows[k], member), here);
    }
    if (mine.rank == maker) write(stripe, at_byte, here, lost, codec::recovery_factors(rows, lost));
  }

  void write(int stripe, std::uint64_t at_byte, std::span<std::byte> here, const std::vector<int>& lost,
             const std::vector<std::uint8_t>& factors) {
    for (std::size_t l = 0; l < lost.size(); ++l) {
      const auto found = made.find(lost[l]);
      if (found == made.end()) continue;
      std::fill(here.begin(), here.end(), std::byte{});
      for (std::size_t k = 0; k < lost.size(); ++k) codec::add_product(here, factors[l * lost.size() + k], sums[k]);
      const std::uint64_t to =
          static_cast<std::uint64_t>(chunk_of(lost[l], stripe, members())) * set.header.chunk + at_byte;
      const std::uint64_t end = found->second.expected.bytes;
      if (to >= end) continue;
      base::unless_failed(failure, [&] {
        file::pwrite_all(found->second.file, to,
                         here.first(static_cast<std::size_t>(std::min<std::uint64_t>(here.size(), end - to))));
      });
    }
  }
};

// Collective. Returns whether the wanted files of the set are there now.
bool make(MPI_Comm comm, const ParitySet& set, const Mine& mine) {
  const auto holder =
      std::find_if(set.parity.begin(), set.parity.end(), [](const FileHolder& one) { return one.is_there(); });
  // The lost node may be gone for good, so the files are made on a node that has parity of the set.
  Making making{comm, set, mine, holder->rank};
  if (mine.rank == making.maker)
    base::unless_failed(making.failure, [&] {
      const fs::path root = mine.parity[at(holder->index)].path.parent_path();
      for (const int member : set.wanted) making.made.emplace(member, create_segment(root, set.header, member));
    });
  const std::uint64_t chunk = set.header.chunk;
  making.block.resize(static_cast<std::size_t>(std::min(parity_block, chunk)));
  for (std::uint64_t from = 0; from < chunk; from += parity_block)
    for (int stripe = 0; stripe < making.members(); ++stripe)
      if (is_wanted(set, stripe))
        making.block_of_stripe(stripe, from, static_cast<std::size_t>(std::min(parity_block, chunk - from)));
  for (auto& [member, segment] : making.made)
    base::unless_failed(making.failure, [&, made = &segment] {
      finish_segment(*made);
      mine.disk.damaged.erase(made->directory);
    });
  if (making.failure)
    mine.disk.notes.push_back("parity of checkpoint step " + std::to_string(set.header.step) +
                              " did not help: " + making.failure->what());
  std::int64_t failed = making.failure ? 1 : 0;
  ranks::largest_of_all(comm, {&failed, 1});
  return failed == 0;
}

void remove_partial(const fs::path& root) {
  std::error_code error;
  std::vector<fs::path> partial;
  for (fs::directory_iterator it(root, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".rebuilt") partial.push_back(it->path());
  for (const fs::path& path : partial) file::remove_all(path);
}

}  // namespace

std::vector<LocalSegment> segments_on(const LocalDisk& disk) {
  std::vector<LocalSegment> segments;
  for (const fs::path& root : disk.roots)
    for (LocalSegment& segment : list_local(root)) segments.push_back(std::move(segment));
  std::erase_if(segments, [&](const LocalSegment& segment) { return disk.damaged.contains(segment.directory); });
  return segments;
}

std::vector<ParityFile> parity_on(LocalDisk& disk) {
  std::vector<std::string> notes;
  std::vector<ParityFile> parity;
  for (const fs::path& root : disk.roots)
    for (ParityFile& file : list_parity(root, notes)) parity.push_back(std::move(file));
  for (std::string& damage : notes)
    if (std::find(disk.notes.begin(), disk.notes.end(), damage) == disk.notes.end())
      disk.notes.push_back(std::move(damage));
  std::erase_if(parity, [&](const ParityFile& file) { return disk.damaged.contains(file.path); });
  return parity;
}

std::int64_t rebuild_lost(MPI_Comm comm, LocalDisk& disk, const StepsInStore& stored) {
  std::int64_t made = 0;
  // A set is not tried for ever, so there is a last round.
  for (;;) {
    std::vector<LocalSegment> segments;
    std::vector<ParityFile> parity;
    ranks::agree(comm, [&] {
      for (const fs::path& root : disk.roots) remove_partial(root);
      segments = segments_on(disk);
      parity = parity_on(disk);
    });
    std::int64_t any = parity.empty() ? 0 : 1;
    ranks::largest_of_all(comm, {&any, 1});
    if (any == 0) return made;
    const Findings found = gather(comm, segments, parity);
    std::string text;
    ranks::agree(comm, [&] {
      if (ranks::rank_in(comm) == 0) text = base::packed(choose(found, stored, disk.tries));
    });
    const auto chosen = base::unpacked<std::vector<ParitySet>>(ranks::from_first(comm, std::move(text)));
    if (chosen.empty()) return made;
    const Mine mine{disk, segments, parity, ranks::rank_in(comm)};
    for (const ParitySet& set : chosen) {
      ++disk.tries[text_of(key_of(set.header))];
      if (are_sound(comm, set, mine) && make(comm, set, mine)) made += static_cast<std::int64_t>(set.wanted.size());
    }
  }
}

}  // namespace octavo::engine
