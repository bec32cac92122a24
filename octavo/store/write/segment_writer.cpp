#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/store/streams.hpp"
#include "octavo/store/table.hpp"
#include "octavo/store/write/append.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

// Small streams are gathered and written together.
constexpr std::size_t buffer_size = std::size_t{1} << 20;
// Reserving less is not worth a system call.
constexpr std::uint64_t least_reserved = std::uint64_t{1} << 20;

}  // namespace

Attempt random_attempt() {
  std::random_device device;
  Attempt attempt;
  for (std::byte& byte : attempt) byte = static_cast<std::byte>(device() & 0xFF);
  return attempt;
}

struct SegmentWriter::State {
  SegmentPlan plan;
  file::File file;
  Footer footer;
  Table table;
  std::uint64_t position = 0;             // in the file, of the next byte
  std::vector<std::byte> buffer;          // the bytes before `position` that are not in the file yet
  std::uint64_t recorded = 0;             // end of the last stream in the table
  std::optional<std::uint64_t> reserved;  // beginning of the latest reserved space
  std::uint64_t written = 0;
  bool failed = false;
  bool record_written = false;
  Records records_before{};
  std::size_t older_place = 0;  // place of the older record

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State();
  std::uint64_t flushed() const { return position - buffer.size(); }
  void put(std::span<const std::byte> bytes);
  void pad();
  void flush();
  Extent put_block(std::span<const std::byte> bytes);
  void check_usable() const;
  void accept(const EncodedPart& part);
  void add_species(const std::vector<mesh::SpeciesInfo>& species);
  std::vector<std::size_t> attributes_of(const EncodedPart& part) const;
  std::vector<std::size_t> indices_of(const EncodedPart& part);
  void sort_streams(EncodedPart& part);
  void add_streams(const EncodedPart& part);
  void commit();
  void write_record(const Sector& record);
  void write_record_again(const Sector& record) noexcept;
  void take_back_record(Error& error);
};

SegmentWriter::State::~State() {
  // A slot keeps its size: its blocks are to be overwritten, and nothing was appended behind a step.
  if (!file.is_open() || footer.begin == 0 || record_written || plan.recycle) return;
  try {
    // The appended bytes give their space back; if that fails, the next writer overwrites them.
    if (file::size(file) > footer.begin) file::resize(file, footer.begin);
  } catch (const Error&) {
  }
}

void SegmentWriter::State::flush() {
  if (buffer.empty()) return;
  file::pwrite_all(file, flushed(), buffer);
  buffer.clear();
}

void SegmentWriter::State::put(std::span<const std::byte> bytes) {
  if (buffer.size() + bytes.size() > buffer_size) flush();
  if (bytes.size() > buffer_size) {
    file::pwrite_all(file, position, bytes);
  } else {
    buffer.insert(buffer.end(), bytes.begin(), bytes.end());
  }
  position += bytes.size();
  written += bytes.size();
}

void SegmentWriter::State::pad() {
  const std::vector<std::byte> zeros(static_cast<std::size_t>(align(position) - position));
  put(zeros);
}

Extent SegmentWriter::State::put_block(std::span<const std::byte> bytes) {
  pad();
  const Extent extent{position, bytes.size(), base::checksum(bytes)};
  put(bytes);
  return extent;
}

void SegmentWriter::State::accept(const EncodedPart& part) {
  if (!table.parts.empty() && (part.triangles != table.triangles || part.mesh != table.mesh))
    throw Error(Kind::usage, "the part's mesh is not of the kind of the parts before, or not of the same arrays");
  const mesh::Octree& shape = part.shape;
  if (part.triangles) {
    table.triangles = part.triangles;
    table.mesh = part.mesh;
  } else if (shape.dim != table.header.dim || shape.roots != table.header.roots || shape.block != table.header.block) {
    throw Error(Kind::usage, "the part's tree has not the dimensions, roots or block of the header");
  }
  if (table.parts.empty()) {
    table.header.fields = part.fields;
    table.widths = part.widths;
    check_header(table.header);
  } else if (part.fields != table.header.fields || part.widths != table.widths) {
    throw Error(Kind::usage, "the part's fields are not those of the parts before");
  }
}

void SegmentWriter::State::add_species(const std::vector<mesh::SpeciesInfo>& species) {
  for (const mesh::SpeciesInfo& info : species) {
    const auto known = std::find_if(table.species.begin(), table.species.end(),
                                    [&](const mesh::SpeciesInfo& other) { return other.name == info.name; });
    if (known == table.species.end())
      table.species.push_back({info.name, 0, info.attributes});
    else if (known->attributes != info.attributes)
      throw Error(Kind::usage, "the attributes of species " + info.name + " are not those of the parts before");
  }
}

// A part numbers attributes over its own species, the table over all species: finds the table's numbers.
std::vector<std::size_t> SegmentWriter::State::attributes_of(const EncodedPart& part) const {
  std::vector<std::size_t> attribute_at;
  for (const mesh::SpeciesInfo& info : part.species) {
    std::size_t first = 0;
    for (const mesh::SpeciesInfo& known : table.species) {
      if (known.name == info.name) break;
      first += known.attributes.size();
    }
    for (std::size_t a = 0; a < info.attributes.size(); ++a) attribute_at.push_back(first + a);
  }
  return attribute_at;
}

// The index of each stream in the table.
std::vector<std::size_t> SegmentWriter::State::indices_of(const EncodedPart& part) {
  const auto attribute_at = attributes_of(part);
  std::vector<std::size_t> indices;
  for (const Stream& stream : part.streams) {
    indices.push_back(stream.kind == StreamKind::particles ? attribute_at[stream.index] : stream.index);
    if (stream.kind != StreamKind::opaque) continue;
    const std::string& name = part.opaque[stream.index];
    auto known = std::find(table.opaque.begin(), table.opaque.end(), name);
    if (known == table.opaque.end()) known = table.opaque.insert(known, name);
    indices.back() = static_cast<std::size_t>(known - table.opaque.begin());
  }
  return indices;
}

// Sorts attributes and opaque bytes into the order of the table's names.
void SegmentWriter::State::sort_streams(EncodedPart& part) {
  const auto indices = indices_of(part);
  std::vector<std::size_t> order(indices.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t s) {
    const StreamKind kind = part.streams[s].kind;
    const bool sorted = kind == StreamKind::particles || kind == StreamKind::opaque;
    return std::make_pair(sorted ? kind : StreamKind::refinement, sorted ? indices[s] : 0);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return key(a) < key(b); });
  std::vector<Stream> streams;
  for (std::size_t s : order) streams.push_back(std::move(part.streams[s]));
  part.streams = std::move(streams);
}

void SegmentWriter::State::add_streams(const EncodedPart& part) {
  const auto indices = indices_of(part);
  for (std::size_t s = 0; s < part.streams.size(); ++s) {
    const Stream& stream = part.streams[s];
    if (stream.offset < recorded) throw Error(Kind::usage, "the part begins before the end of the one before");
    recorded = stream.offset + stream.stored_bytes;
    auto codec = std::find(table.codecs.begin(), table.codecs.end(), stream.codec);
    if (codec == table.codecs.end()) codec = table.codecs.insert(codec, stream.codec);
    table.streams.push_back({stream.kind, indices[s], stream.first_level, stream.last_level, stream.offset,
                             stream.stored_bytes, stream.raw_bytes, stream.stored_checksum, stream.raw_checksum,
                             static_cast<std::size_t>(codec - table.codecs.begin()), stream.weights});
  }
}

// Footer and streams must be on disk before the record that refers to them. They may get there in any order, because
// nothing refers to either until the record does.
void SegmentWriter::State::commit() {
  footer.parts = static_cast<int>(table.parts.size());
  for (PartRow& part : table.parts) part.particles.resize(table.species.size(), 0);
  // Readers would refuse such a table. We refuse it here, where the caller's mistake shows.
  if (recorded > position) throw Error(Kind::usage, "a part was written outside of the space reserved");
  if (reserved && recorded <= *reserved) throw Error(Kind::usage, "space was reserved that no part was written to");
  footer.writer = {"Octavo", OCTAVO_VERSION};
  footer.mesh = !table.triangles ? octree_mesh : table.triangles->of_solids() ? solid_mesh : triangle_mesh;
  footer.table = put_block(to_bytes(table));
  const Extent at = put_block(to_bytes(footer));
  pad();
  flush();
  if (plan.sync) file::sync(file);
  const Extent previous = footer.previous.empty() ? Extent{} : footer.previous.front().footer;
  const Sector record = to_sector({footer.file, footer.sequence, footer.step, footer.attempt, at, previous});
  try {
    write_record(record);
  } catch (Error& error) {
    take_back_record(error);
    throw;
  }
  written += 2 * sector_size;
}

// Writes the record to both places, so that one unreadable sector does not cost the commit. A commit before this one
// stays safe: the newer of its two records is overwritten only when this record is on disk.
void SegmentWriter::State::write_record(const Sector& record) {
  record_written = true;
  // The file's first commit has no older record to protect, so one write fills both places.
  if (footer.sequence == 1) {
    std::vector<std::byte> both(record_place(1) - record_place(0) + sector_size);
    std::copy(record.begin(), record.end(), both.begin());
    std::copy(record.begin(), record.end(), both.end() - sector_size);
    file::pwrite_all(file, record_place(0), both);
  } else {
    file::pwrite_all(file, record_place(older_place), record);
  }
  if (plan.sync) file::sync(file);
  if (footer.sequence > 1) write_record_again(record);
  // A synced file is safe even if closing it fails. An unsynced file is closed here, so that an error shows.
  if (!plan.sync) file.close();
}

// Writes the second copy of a record whose first copy is on disk. No sync follows: the next commit's sync or the system
// writes it out. If this fails, the first copy is the only one.
void SegmentWriter::State::write_record_again(const Sector& record) noexcept {
  try {
    file::pwrite_all(file, record_place(1 - older_place), record);
  } catch (const std::exception&) {
  }
}

// If we report that a step failed, no reader may find it complete.
void SegmentWriter::State::take_back_record(Error& error) {
  try {
    put_back_records(subfile_path(plan), records_before);
    record_written = false;
  } catch (const Error& second) {
    Error both(error.kind(), error.message() + "; its commit record could not be taken back (" + second.message() +
                                 "): the step may be found complete");
    for (const std::string& place : error.places()) both.at(place);
    error = both;
  }
}

SegmentWriter::SegmentWriter(const SegmentPlan& plan, const mesh::Header& header, file::File open) : state_(new State) {
  State& state = *state_;
  if (plan.segments < 1 || plan.segment < 0 || plan.segment >= plan.segments || plan.subfile < 0)
    throw Error(Kind::usage, "segment " + std::to_string(plan.segment) + " of " + std::to_string(plan.segments) +
                                 " in subfile " + std::to_string(plan.subfile) + " cannot be");
  state.plan = plan;
  state.table.header = header;
  if (plan.segment != 0) drop_long_lists(state.table.header);
  // A segment without parts describes its fields here; otherwise the parts do.
  for (const mesh::FieldInfo& field : header.fields)
    state.table.widths.push_back(static_cast<std::uint64_t>(field.components));
  check_header(header);
  state.file = open_subfile(plan, std::move(open));
  Tail tail;
  try {
    tail = read_tail(state.file);
  } catch (Error& error) {
    throw error.at(state.file.path().string()).hint("octavo verify lists the damage; nothing was written");
  }
  state.records_before = tail.records;
  state.older_place = tail.older_place;
  state.position = state.recorded = tail.end;
  state.footer.begin = tail.end;
  state.footer.file = tail.file;
  state.footer.previous = std::move(tail.links);
  state.footer.sequence = tail.sequence + 1;
  state.footer.order = next_order(plan, tail);
  state.footer.flow = plan.flow;
  state.footer.step = plan.step;
  state.footer.attempt = plan.attempt;
  state.footer.segment = plan.segment;
  state.footer.segments = plan.segments;
  state.footer.continues = plan.continues;
  state.footer.whole_domain = plan.whole_domain;
  state.footer.time = header.time;
}

SegmentWriter::~SegmentWriter() = default;
SegmentWriter::SegmentWriter(SegmentWriter&&) noexcept = default;
SegmentWriter& SegmentWriter::operator=(SegmentWriter&&) noexcept = default;

void SegmentWriter::State::check_usable() const {
  if (failed || record_written) throw Error(Kind::usage, "this segment has been committed, or has failed");
}

std::uint64_t SegmentWriter::reserve(std::uint64_t bytes) {
  State& state = *state_;
  state.check_usable();
  state.pad();
  state.flush();
  const std::uint64_t unit = state.plan.alignment;
  const std::uint64_t begin = state.position = (state.position + unit - 1) / unit * unit;
  // Space for all ranks is taken before any of them writes, so a full disk shows here, and not in the middle of a step.
  if (bytes >= least_reserved) file::preallocate(state.file, begin + bytes);
  state.position += bytes;
  if (bytes > 0) state.reserved = begin;
  return begin;
}

void SegmentWriter::add(EncodedPart part) {
  State& state = *state_;
  state.check_usable();
  // An exception in here leaves the table half changed, and nothing can be committed then.
  state.failed = true;  // until the whole part is accepted
  state.accept(part);
  state.add_species(part.species);
  state.sort_streams(part);
  state.failed = false;
  const std::uint64_t begin = reserve(stored_size(part));
  state.failed = true;
  write_streams(state.file, part, begin);
  state.failed = false;
  add_written(std::move(part));
}

void SegmentWriter::add_written(EncodedPart part) {
  State& state = *state_;
  state.check_usable();
  state.failed = true;
  state.accept(part);
  state.add_species(part.species);
  PartRow row{part.index,
              part.cells,
              part.owned,
              part.leaves,
              part.intervals,
              part.lo,
              part.hi,
              part.keys,
              {},
              part.share,
              state.table.streams.size(),
              0};
  row.particles.resize(state.table.species.size(), 0);
  for (const mesh::SpeciesInfo& info : part.species)
    for (std::size_t s = 0; s < state.table.species.size(); ++s)
      if (state.table.species[s].name == info.name) row.particles[s] += static_cast<std::uint64_t>(info.count);
  state.add_streams(part);
  row.last_stream = state.table.streams.size();
  state.table.parts.push_back(std::move(row));
  state.written += stored_size(part);
  state.failed = false;
}

void SegmentWriter::commit() {
  State& state = *state_;
  state.check_usable();
  state.failed = true;
  state.commit();
  state.failed = false;
}

std::uint64_t SegmentWriter::bytes_written() const noexcept { return state_->written; }
const file::File& SegmentWriter::file() const noexcept { return state_->file; }
file::File SegmentWriter::take_file() noexcept { return std::exchange(state_->file, {}); }
std::uint64_t SegmentWriter::order() const noexcept { return state_->footer.order; }
const Records& SegmentWriter::records_before() const noexcept { return state_->records_before; }

}  // namespace octavo::store
