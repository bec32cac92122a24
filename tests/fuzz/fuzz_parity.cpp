// Local disks of nodes that protect each other's files, some of them lost, the files of others edited: the lost ones
// are made again. Input: a byte that chooses the scheme, one of lost nodes, then edits of five bytes each.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/tiers/parity_lane.hpp"
#include "octavo/engine/tiers/rebuild.hpp"
#include "octavo/file/posix.hpp"
#include "tests/fuzz/scratch_folder.hpp"

// The first byte: the scheme (modulo 3); with 4, checksums of edited parity are put right, so that edits get past them.
// An edit: the node and its file (data, parity, or a number in the parity's header), where (two bytes), what, a value.
namespace {

using namespace octavo;
using namespace octavo::engine;
namespace fs = std::filesystem;

using Bytes = std::vector<std::byte>;
using Files = std::map<std::string, Bytes>;  // by path on a node's disk

constexpr std::uint64_t most_payload = 1 << 16;

// ------------------------------------------------------------------ files

Bytes bytes_of(const fs::path& path) {
  const file::File file = file::open_read(path);
  Bytes bytes(file::size(file));
  file::pread_all(file, 0, bytes);
  return bytes;
}

void put(const fs::path& path, const Bytes& bytes) {
  fs::create_directories(path.parent_path());
  fs::remove(path);
  file::pwrite_all(file::create(path), 0, bytes);
}

Files files_of(const fs::path& disk) {
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(disk))
    if (entry.is_regular_file()) files[entry.path().lexically_relative(disk).string()] = bytes_of(entry.path());
  return files;
}

bool is_parity(const std::string& name) { return name.find('/') == name.npos; }
bool is_data(const std::string& name) { return name.find("data.") != name.npos; }

// ------------------------------------------------------------------ sound disks, as a run leaves them

struct Group {
  Scheme scheme;
  std::vector<Files> disks;            // by node
  std::map<std::string, Bytes> whole;  // the files, by name of their segment
};

fs::path disk_of(const fs::path& below, int node) { return below / ("node" + std::to_string(node)); }

// A segment with a part of triangles; parts of nodes differ in size.
void write_segment(const fs::path& store, const LocalName& name, int segments) {
  mesh::Header header;
  header.dim = 2;
  header.roots = {40 + 100 * name.segment, 1, 1};
  header.fields = {{"density", "g", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0}};
  const auto cells = static_cast<std::size_t>(header.roots[0]);
  mesh::Octree tree;
  tree.dim = 2;
  tree.roots = header.roots;
  hold(tree, {{0, header.roots[0]}});
  tree.refined = {base::BitArray(cells)};
  tree.owned = {base::BitArray(cells, true)};
  mesh::Part part;
  part.fields.push_back(mesh::make_field(header.fields[0], cells));
  for (std::size_t i = 0; i < cells; ++i) part.fields[0].as<double>()[i] = 1.0 / static_cast<double>(i + 1);
  part.mesh = tree;
  store::SegmentPlan plan;
  plan.store = store;
  plan.flow = name.flow;
  plan.step = 7;
  plan.attempt = attempt_of(name);
  plan.subfile = plan.segment = name.segment;
  plan.segments = segments;
  plan.after_order = name.order - 1;
  store::SegmentWriter writer(plan, header);
  store::EncodeOptions raw;
  raw.codec.method = codec::Method::raw;
  writer.add(store::encode(part, header, raw));
  writer.commit();
}

// The members of one lane, each connected with all others. `files`: those with a file; the others hold parity alone.
std::vector<ParityLane> connected(const Scheme& scheme, int members, int files) {
  std::vector<ParityLane> lanes;
  for (int m = 0; m < members; ++m) {
    lanes.push_back({scheme, 0, 0, m, m < files, {}});
    lanes.back().peers.resize(static_cast<std::size_t>(members));
  }
  for (std::size_t a = 0; a < lanes.size(); ++a)
    for (std::size_t b = a + 1; b < lanes.size(); ++b) {
      std::array<int, 2> ends{};
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) std::abort();
      lanes[a].peers[b] = Socket(ends[0]);
      lanes[b].peers[a] = Socket(ends[1]);
    }
  return lanes;
}

Group sound_group(const fs::path& below, Safety safety, int members, int files, int rows) {
  Group group{{safety, 1, members, rows}, {}, {}};
  std::vector<ParityLane> lanes = connected(group.scheme, members, files);
  store::Attempt run{};
  run.fill(std::byte{42});
  std::vector<std::thread> nodes;
  for (int m = 0; m < members; ++m)
    nodes.emplace_back([&, m] {
      ParityJob job;
      job.name = {store::Flow::checkpoint, 5, 3, run, m};
      job.step = 7;
      job.segments = files;
      job.subfile = m;
      job.root = disk_of(below, m);
      const fs::path segment = job.root / to_text(job.name);
      if (m < files) {
        write_segment(segment, job.name, files);
        for (const LocalSegment& one : list_local(job.root)) job.file = one.subfile;
      }
      fs::create_directories(job.root);
      Pace pace;
      write_parity(lanes[static_cast<std::size_t>(m)], job, pace);
    });
  for (std::thread& node : nodes) node.join();
  for (int m = 0; m < members; ++m) {
    group.disks.push_back(files_of(disk_of(below, m)));
    for (const auto& [name, bytes] : group.disks.back())
      if (is_data(name)) group.whole[name.substr(0, name.find('/'))] = bytes;
  }
  if (static_cast<int>(group.whole.size()) != files) std::abort();
  return group;
}

struct Scratch : ScratchFolder {
  std::vector<Group> groups;
  Scratch() : ScratchFolder("parity") {
    for (const auto& [safety, members, files, rows] :
         {std::tuple{Safety::partner, 2, 2, 1}, {Safety::xor_group, 3, 3, 1}, {Safety::reed_solomon, 5, 4, 2}}) {
      clear();
      groups.push_back(sound_group(path, safety, members, files, rows));
    }
  }
};

// ------------------------------------------------------------------ edits

// `at` counts from the end, where the header of parity is.
void edit_bytes(Bytes& bytes, std::size_t at, unsigned what, std::uint8_t value) {
  if (bytes.empty()) return;
  const auto place = bytes.end() - 1 - static_cast<std::ptrdiff_t>(at % bytes.size());
  switch (what % 5) {
    case 0: *place = std::byte{value}; break;
    case 1: *place ^= std::byte{value}; break;
    case 2: bytes.insert(place, 1 + value % 9, std::byte{value}); break;
    case 3: bytes.erase(place, place + std::min<std::ptrdiff_t>(1 + value % 16, bytes.end() - place)); break;
    default: bytes.erase(bytes.end() - std::min<std::ptrdiff_t>(std::ssize(bytes), value), bytes.end());
  }
}

// A number of a header: a small one, or one near a power of two.
std::uint64_t number_from(unsigned what, std::uint8_t value) {
  return what % 2 == 0 ? std::uint64_t{value} - 2 : (std::uint64_t{1} << value % 64) - value / 64;
}

void edit_header(ParityHeader& h, std::size_t at, std::uint64_t number) {
  ProtectedFile& member = h.members[at / 16 % h.members.size()];
  const int small = static_cast<int>(static_cast<std::uint32_t>(number));
  switch (at % 16) {
    case 0: h.name.order = number; break;
    case 1: h.name.base = number; break;
    case 2: h.name.segment = small; break;
    case 3: h.safety = static_cast<Safety>(number % num_safeties); break;
    case 4: h.step = static_cast<std::int64_t>(number); break;
    case 5: h.segments = small; break;
    case 6: h.group = small; break;
    case 7: h.member = small; break;
    case 8: h.rows = static_cast<int>(number % 5); break;
    case 9: h.chunk = number % most_payload; break;
    case 10: member.segment = small; break;
    case 11: member.subfile = small; break;
    case 12: member.bytes = number; break;
    case 13: member.checksum = number; break;
    case 14: h.members.resize(1 + number % 250); break;
    default: std::swap(member, h.members.front());
  }
}

// Writes the parity file anew with another header. Its blocks stay as far as they fit.
void write_anew(const fs::path& path, const ParityHeader& header, const Bytes& blocks) {
  fs::remove(path);
  ParityWriter writer(path, header);
  if (header.chunk > most_payload || header.rows < 0) return;
  for (int row = 0; row < header.rows && header.chunk > 0; ++row) {
    Bytes block(header.chunk);
    const std::uint64_t from = static_cast<std::uint64_t>(row) * header.chunk;
    if (from < blocks.size())
      std::copy_n(blocks.begin() + static_cast<std::ptrdiff_t>(from), std::min(header.chunk, blocks.size() - from),
                  block.begin());
    writer.write(row, 0, block);
  }
  writer.finish();
}

// Corrects the checksum of the header and, if it can be read, those of the blocks.
void repair(const fs::path& path) {
  Bytes bytes = bytes_of(path);
  constexpr std::size_t tail = 32;
  if (bytes.size() < tail) return;
  const std::size_t end = bytes.size() - tail;
  const auto offset = base::load<std::uint64_t>(bytes.data() + end + 8, std::endian::little);
  if (offset > end) return;
  const auto header = std::span(bytes).subspan(offset, end - offset);
  base::store(bytes.data() + end + 16, std::uint64_t{header.size()}, std::endian::little);
  base::store(bytes.data() + end + 24, base::checksum(header), std::endian::little);
  put(path, bytes);
  try {
    if (const auto parity = read_parity(path)) write_anew(path, parity->header, bytes);
  } catch (const base::Error&) {
  }
}

// Returns the edited node.
int edit(const fs::path& below, const std::set<int>& lost, const Group& group, const std::uint8_t* what, bool repairs) {
  const int node = what[0] % static_cast<int>(group.disks.size());
  if (lost.contains(node)) return node;
  const unsigned file = what[0] / 16U % 4;
  const std::size_t at = static_cast<std::size_t>(what[1] * 256 + what[2]);
  for (const auto& [name, sound] : group.disks[static_cast<std::size_t>(node)]) {
    const fs::path path = disk_of(below, node) / name;
    if (file == 0 ? !is_data(name) : !is_parity(name)) continue;
    Bytes bytes = bytes_of(path);
    if (file < 3) {
      edit_bytes(bytes, at, what[3], what[4]);
      put(path, bytes);
      if (repairs && file != 0) repair(path);
    } else if (repairs) {
      try {
        auto parity = read_parity(path);
        if (!parity) continue;
        edit_header(parity->header, at, number_from(what[3], what[4]));
        if (parity->header.chunk <= most_payload) write_anew(path, parity->header, bytes);
      } catch (const base::Error&) {
      }
    }
  }
  return node;
}

// ------------------------------------------------------------------ judgement

[[noreturn]] void fail(const std::string& why, const LocalDisk& disk) {
  std::fprintf(stderr, "%s\n", why.c_str());
  for (const std::string& note : disk.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::abort();
}

// Whatever was edited: a file that was made counts only if it is the one that was lost. If no more nodes are hurt than
// the scheme bears, and checksums tell of it, all lost files come back.
void judge_made(const Group& group, LocalDisk& disk, const std::set<int>& lost, bool must_come_back) {
  std::map<std::string, Bytes> found;
  for (const LocalSegment& segment : segments_on(disk))
    if (!segment.subfile.empty()) found[segment.directory.filename().string()] = bytes_of(segment.subfile);
  for (const int node : lost)
    for (const auto& [path, sound] : group.disks[static_cast<std::size_t>(node)]) {
      if (!is_data(path)) continue;
      const std::string name = path.substr(0, path.find('/'));
      if (found.contains(name) && found[name] != sound) fail("other bytes were made of " + name, disk);
      if (must_come_back && !found.contains(name)) fail("not made again: " + name, disk);
    }
}

struct Mpi {
  Mpi() { MPI_Init(nullptr, nullptr); }
  ~Mpi() { MPI_Finalize(); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Mpi mpi;
  static const Scratch scratch;
  if (size < 2) return 0;
  const Group& group = scratch.groups[data[0] % 4 % scratch.groups.size()];
  const bool repairs = (data[0] & 4) != 0;
  std::set<int> lost, hurt;
  LocalDisk disk;
  scratch.clear();
  for (int node = 0; node < static_cast<int>(group.disks.size()); ++node) {
    const fs::path root = disk_of(scratch.path, node);
    disk.roots.push_back(root);
    if ((data[1] >> node & 1) != 0)
      lost.insert(node);
    else
      for (const auto& [name, bytes] : group.disks[static_cast<std::size_t>(node)]) put(root / name, bytes);
  }
  hurt = lost;
  for (std::size_t i = 2; i + 5 <= size; i += 5) hurt.insert(edit(scratch.path, lost, group, data + i, repairs));
  const bool must_come_back = !repairs && static_cast<int>(hurt.size()) <= group.scheme.rows;
  try {
    rebuild_lost(MPI_COMM_WORLD, disk, {});
  } catch (const base::Error& error) {
    if (must_come_back) fail(std::string("a file was not made again: ") + error.what(), disk);
    if (error.places().empty()) fail(std::string("an error without a place: ") + error.what(), disk);
  }
  judge_made(group, disk, lost, must_come_back);
  return 0;
}
