#include "octavo/engine/step/step_job.hpp"

#include <algorithm>
#include <deque>
#include <utility>

#include "octavo/base/checksum.hpp"
#include "octavo/base/current_error.hpp"
#include "octavo/base/error.hpp"
#include "octavo/engine/step/device_pack.hpp"
#include "octavo/engine/timer.hpp"

/// One rank's share of a step, from the application's arrays to an encoded part. end_step() copies the arrays on the
/// main thread (stage); the writing thread encodes the copy, or the arrays themselves if they are lent (carry_out).
/// Memory is the copy, and the encoded streams beside it. With the option `checksums` each copied range has a sum from
/// the moment of the copy: a stray write of the application into the arena becomes an error in place of a wrong file.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + Staging::alignment - 1) / Staging::alignment * Staging::alignment;
}

// The ranges of cells (or particles), one for each stream. Patches are one range, which is cut when they become a tree.
std::vector<std::size_t> cuts_of(const StepJob& job, const StepArray& source) {
  if (source.info.centring == mesh::Centring::particle || !job.tree)
    return {0, source.boxes.empty() ? source.view.cells : 1};
  auto cuts = store::stream_cuts(*job.tree);
  if (source.there)
    for (std::size_t& cut : cuts) {
      std::size_t cells = 0;
      for (const codec::Range& range : *source.there)
        if (range.first < cut) cells += std::min(range.last, cut) - range.first;
      cut = cells;
    }
  return cuts;
}
std::size_t bytes_of_cell(const StepArray& source) {
  return source.boxes.empty() ? cell_bytes(source.view) : packed_bytes(source);
}

// Names the array in an error of the device that holds it.
template <class Work>
auto naming(const StepArray& source, Work&& work) {
  try {
    return work();
  } catch (Error& error) {
    throw error.at(name_in_errors(source));
  }
}

Error changed(const StepArray& source) {
  return Error(Kind::corrupt,
               "the staged copy has changed since end_step(): a stray write of this process, or bad memory")
      .at("field " + source.info.name);
}

// Calls f(first, last, copy) with the cells of each stream that the staged copy holds. stage() takes the checksums in
// this order, and compare() expects them in it. An empty stream is skipped only in front of the staged cells, so that
// an array that is staged whole has one checksum for each stream, as the encoder wants.
template <class F>
void for_each_staged_range(const StepJob& job, const StepArray& source, F&& f) {
  const auto cuts = cuts_of(job, source);
  const std::size_t cell = bytes_of_cell(source);
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const std::size_t first = std::max(cuts[i], source.lent), last = cuts[i + 1];
    if (cuts[i] < source.lent && last <= source.lent) continue;
    f(first, last, source.staged.subspan((first - source.lent) * cell, (last - first) * cell));
  }
}

// Detects a stray write into the copy. Once the values are encoded, it could no longer be noticed.
void compare(const StepJob& job, const StepArray& source) {
  if (source.checksums.empty()) return;
  auto expected = source.checksums.begin();
  for_each_staged_range(job, source, [&](std::size_t, std::size_t, std::span<const std::byte> copy) {
    if (base::checksum(copy) != *expected++) throw changed(source);
  });
}

// Whether the values go to the file as they are, after all others have been encoded.
bool stays_raw(const StepJob& job, const StepArray& source) {
  // Patches become a tree and values become float32 before they are written: both make new values.
  if (job.patches || job.encoding.single_precision) return false;
  const auto own = job.encoding.field_codec.find(source.info.name);
  const bool has_own = own != job.encoding.field_codec.end() && source.info.centring != mesh::Centring::particle;
  return (has_own ? own->second : job.encoding.codec).method == codec::Method::raw;
}

std::size_t values_of_cell(const StepArray& source) {
  return cell_bytes(source.view) / mesh::size_of(source.view.type);
}

// The ranges of cells in [0, cells) for which there(cell) holds; none: all cells.
template <class There>
std::optional<std::vector<codec::Range>> ranges_where(std::size_t cells, There&& there) {
  std::vector<codec::Range> ranges;
  std::size_t count = 0;
  for (std::size_t i = 0; i < cells; ++i) {
    if (!there(i)) continue;
    if (ranges.empty() || ranges.back().last != i) ranges.push_back({i, i});
    ++ranges.back().last;
    ++count;
  }
  if (count == cells) return {};
  return ranges;
}

std::optional<std::vector<codec::Range>> ranges_owned(const mesh::Octree& tree) {
  std::vector<codec::Range> ranges;
  std::size_t level_begin = 0;
  for (const base::BitArray& owned : tree.owned) {
    for (std::size_t first = owned.find(true, 0); first < owned.size();) {
      const std::size_t last = owned.find(false, first);
      if (!ranges.empty() && ranges.back().last == level_begin + first)
        ranges.back().last = level_begin + last;
      else
        ranges.push_back({level_begin + first, level_begin + last});
      first = owned.find(true, last);
    }
    level_begin += owned.size();
  }
  if (ranges.size() == 1 && ranges[0].first == 0 && ranges[0].last == level_begin) return {};
  return ranges;
}

// Whether all cells outside the ranges are zeros; the first that is not ends the search.
bool others_are_zero(const std::vector<codec::Range>& ranges, const ArrayView& view) {
  // A read of device memory has a price of its own, so we read many cells at once.
  const std::size_t each = view.space == MemorySpace::device ? std::size_t{4} << 10 : 1;
  std::vector<std::byte> values;
  std::size_t cell = 0;
  const auto zeros_to = [&](std::size_t last) {
    for (; cell < last; cell = std::min(last, cell + each)) {
      const std::size_t count = std::min(each, last - cell);
      values.resize(count * cell_bytes(view));
      pack(view, cell, cell + count, values, false);
      if (std::any_of(values.begin(), values.end(), [](std::byte byte) { return byte != std::byte{0}; })) return false;
    }
    return true;
  };
  for (const codec::Range& range : ranges) {
    if (!zeros_to(range.first)) return false;
    cell = range.last;
  }
  return zeros_to(view.cells);
}

// Each range costs a few bytes and one more piece in a write.
bool worth_it(const std::vector<codec::Range>& ranges, const ArrayView& view) {
  std::size_t missing = view.cells;
  for (const codec::Range& range : ranges) missing -= range.last - range.first;
  return missing * cell_bytes(view) >= (ranges.size() + 1) * store::bytes_of_range;
}

// Packs cells of which the first may be the application's, and the rest staged.
void pack_lent(const StepJob& job, const StepArray& source, std::size_t first, std::span<std::byte> out) {
  const std::size_t cell = cell_bytes(source.view), last = first + out.size() / cell;
  // Ranges come in ascending order, so the one that holds the first staged cell comes once, and is the moment to
  // compare.
  const std::size_t middle = std::clamp(source.lent, first, last);
  const auto lent = out.first((middle - first) * cell), staged = out.subspan(lent.size());
  naming(source, [&] { return pack(source.view, first, middle, lent, false); });
  if (first <= source.lent && source.lent < last) compare(job, source);
  if (!staged.empty()) std::copy_n(source.staged.data() + (middle - source.lent) * cell, staged.size(), staged.data());
}

// `read`: called with the bytes of a lent array that are not needed any more.
store::Values values_of(const StepJob& job, const StepArray& source, const std::function<void(std::uint64_t)>& read) {
  store::Values values;
  values.info = source.info;
  values.size = packed_bytes(source.view) / mesh::size_of(source.view.type);
  values.held = source.there;
  values.cell_bytes = cell_bytes(source.view);
  if (source.lent > 0) {
    values.pack = [&job, &source, read, cell = values.cell_bytes](std::size_t at, std::span<std::byte> out) {
      const std::size_t first = at / cell, last = first + out.size() / cell;
      pack_lent(job, source, first, out);
      if (first < source.lent) read((std::min(last, source.lent) - first) * cell);
    };
    return values;
  }
  values.checksums = source.checksums;
  values.data = source.staged.empty() ? packed_data(source.view) : source.staged.data();
  if (values.data != nullptr) return values;
  values.pack = [&source, cell = values.cell_bytes](std::size_t first, std::span<std::byte> out) {
    naming(source, [&] { return pack(source.view, first / cell, (first + out.size()) / cell, out, false); });
  };
  return values;
}

store::PartView view_of(const StepJob& job, const std::function<void(std::uint64_t)>& read) {
  store::PartView part;
  part.index = job.part;
  if (job.triangles) {
    part.triangles = job.triangles->whole;
    part.share = job.triangles->share;
    for (const MeshSource& array : job.triangles->arrays)
      part.mesh.push_back({array.of, values_of(job, array.source, read)});
  } else {
    part.tree = &*job.tree;
  }
  for (const StepArray& source : job.fields) {
    part.fields.push_back(values_of(job, source, read));
    if (source.there) part.fields.back().size = values_of_cell(source) * num_cells(*job.tree);
  }
  for (const SpeciesSource& species : job.species) {
    store::SpeciesValues values{species.species, species.count, {}};
    for (const StepArray& source : species.attributes) values.attributes.push_back(values_of(job, source, read));
    part.species.push_back(std::move(values));
  }
  for (const auto& [name, bytes] : job.opaque) part.opaque.push_back({name, bytes});
  return part;
}

// Raw streams are compared while they are written.
void compare_encoded(const StepJob& job) {
  for_each_source(job, [&](const StepArray& source) {
    if (!stays_raw(job, source)) compare(job, source);
  });
}

std::optional<store::EncodedPart> encode(StepJob& job, const std::function<void(std::uint64_t)>& read) {
  if (job.failure) throw *job.failure;
  if (!has_part(job)) return {};
  store::EncodeOptions encoding = job.encoding;
  encoding.checksums = job.checksums;
  if (job.patches) {
    mesh::Part copy = part_of(job);
    read(job.lent_bytes);
    return store::encode(patches_to_octree(std::move(copy), job.patches->tree, job.patches->others), job.header,
                         encoding);
  }
  compare_encoded(job);
  return store::encode(view_of(job, read), job.header, encoding);
}

}  // namespace

std::size_t packed_bytes(const StepArray& source) {
  if (source.boxes.empty()) return packed_bytes(source.view);
  std::size_t bytes = 0;
  for (const ArrayView& box : source.boxes) bytes += packed_bytes(box);
  return bytes;
}

namespace {

bool is_on_device(const ArrayView& view) { return view.space == MemorySpace::device; }
bool is_on_device(const StepArray& source) {
  if (source.boxes.empty()) return is_on_device(source.view);
  return std::all_of(source.boxes.begin(), source.boxes.end(), [](const ArrayView& box) { return is_on_device(box); });
}

std::uint64_t pack_one(const CellsToPack& cells, bool with_checksum) {
  const StepArray& source = *cells.source;
  if (source.boxes.empty()) return pack(source.view, cells.first, cells.last, cells.out, with_checksum);
  std::size_t at = 0;
  for (const ArrayView& box : source.boxes) {
    const std::size_t bytes = packed_bytes(box);
    pack(box, cells.out.subspan(at, bytes), false);
    at += bytes;
  }
  return with_checksum ? base::checksum(cells.out) : 0;
}

// `common`: checksum and name, which all of these cells share.
void add_device_cells(std::vector<DeviceCells>& to, const CellsToPack& cells, const DeviceCells& common) {
  const StepArray& source = *cells.source;
  if (source.boxes.empty()) {
    to.push_back({source.view, cells.first, cells.last, cells.out, common.sum, common.name});
    return;
  }
  std::size_t at = 0;
  for (const ArrayView& box : source.boxes) {
    const std::size_t bytes = packed_bytes(box);
    to.push_back({box, 0, box.cells, cells.out.subspan(at, bytes), common.sum, common.name});
    at += bytes;
  }
}

}  // namespace

std::string name_in_errors(const StepArray& source) {
  return (source.info.centring == mesh::Centring::particle ? "attribute " : "field ") + source.info.name;
}

void pack(std::span<CellsToPack> all, bool with_checksums) {
  struct OnItsWay {
    CellsToPack* cells;
    std::string name;
    base::RunningChecksum sum;
  };
  std::deque<OnItsWay> on_their_way;
  std::vector<DeviceCells> device;
  for (CellsToPack& cells : all) {
    if (is_on_device(*cells.source)) {
      OnItsWay& one = on_their_way.emplace_back(OnItsWay{&cells, name_in_errors(*cells.source), {}});
      DeviceCells common;
      common.sum = with_checksums ? &one.sum : nullptr;
      common.name = &one.name;
      add_device_cells(device, cells, common);
    } else {
      cells.checksum = naming(*cells.source, [&] { return pack_one(cells, with_checksums); });
    }
  }
  pack_from_device(device);
  for (const OnItsWay& one : on_their_way) one.cells->checksum = with_checksums ? one.sum.value() : 0;
}

std::uint64_t pack(const StepArray& source, std::span<std::byte> out, bool with_checksum) {
  CellsToPack all{&source, 0, source.view.cells, out, 0};
  pack({&all, 1}, with_checksum);
  return all.checksum;
}

namespace {

// The cells that fields of one order share.
struct HeldCells {
  std::optional<std::vector<codec::Range>> ranges;  // none: all cells are there
  std::shared_ptr<const std::vector<std::uint32_t>> order;
};

// Where the cells of the ranges are.
std::shared_ptr<const std::vector<std::uint32_t>> order_of(const std::vector<codec::Range>& ranges,
                                                           std::span<const std::uint32_t> order) {
  auto out = std::make_shared<std::vector<std::uint32_t>>();
  std::size_t cells = 0;
  for (const codec::Range& range : ranges) cells += range.last - range.first;
  out->reserve(cells);
  for (const codec::Range& range : ranges)
    for (std::size_t i = range.first; i < range.last; ++i)
      out->push_back(order.empty() ? static_cast<std::uint32_t>(i) : order[i]);
  return out;
}

void leave_out(StepArray& source, HeldCells& places) {
  const auto order = source.view.order;
  if (!places.ranges || !worth_it(*places.ranges, source.view)) return;
  if (order.empty() && !others_are_zero(*places.ranges, source.view)) return;
  if (!places.order) places.order = order_of(*places.ranges, order);
  source.there = places.ranges;
  source.order = places.order;
  source.view.order = *places.order;
  source.view.cells = places.order->size();
}

}  // namespace

void leave_out(StepJob& job) try {
  if (!job.tree || num_cells(*job.tree) >= ArrayView::nowhere) return;
  HeldCells ordered, owned;
  const std::uint32_t* last = nullptr;  // fields usually share one order
  if (std::any_of(job.fields.begin(), job.fields.end(), [](const StepArray& s) { return s.view.order.empty(); }))
    owned.ranges = ranges_owned(*job.tree);
  for (StepArray& source : job.fields) {
    const auto order = source.view.order;
    if (!order.empty() && std::exchange(last, order.data()) != order.data())
      ordered = {ranges_where(order.size(), [&](std::size_t i) { return order[i] != ArrayView::nowhere; }), {}};
    naming(source, [&] { leave_out(source, order.empty() ? owned : ordered); });
  }
} catch (const Error&) {
  job.failure = base::current_error();  // the device failed
} catch (const std::bad_alloc&) {
  // Other fields are written in full, which only costs space.
}

std::uint64_t bytes_of(const StepJob& job) {
  std::uint64_t bytes = 0;
  for_each_source(job, [&](const StepArray& source) { bytes += packed_bytes(source); });
  return bytes;
}

namespace {

// Cells that carry_out() reads together. The order is that in which store::encode() and store::write_streams() take the
// streams of a tree. A wrong order would only hold lent arrays longer, since every lent byte is counted.
struct ReadUnit {
  std::pair<int, std::size_t> when;  // encoded arrays one after another, then raw streams, coarse ones first
  std::size_t source = 0, first = 0, last = 0, cell = 0;
};

std::vector<ReadUnit> in_order_of_reading(const StepJob& job) {
  std::vector<ReadUnit> units;
  std::size_t number = 0;
  for_each_source(job, [&](const StepArray& source) {
    const auto cuts = cuts_of(job, source);
    const std::size_t cell = bytes_of_cell(source), me = number++;
    if (!stays_raw(job, source)) return units.push_back({{0, me}, me, 0, cuts.back(), cell});
    const bool is_cells = source.info.centring != mesh::Centring::particle;
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
      units.push_back({{is_cells ? 1 : 2, is_cells ? i : me}, me, cuts[i], cuts[i + 1], cell});
  });
  std::stable_sort(units.begin(), units.end(), [](const ReadUnit& a, const ReadUnit& b) { return a.when < b.when; });
  return units;
}

std::size_t cells_of(const StepArray& source) { return source.boxes.empty() ? source.view.cells : 1; }

}  // namespace

std::vector<std::size_t> first_staged_cells(const StepJob& job, std::uint64_t limit) {
  std::vector<std::size_t> first;
  std::uint64_t all = 0;
  for_each_source(job, [&](const StepArray& source) {
    first.push_back(cells_of(source));
    all += aligned(packed_bytes(source));
  });
  if (all <= limit) return std::vector<std::size_t>(first.size(), 0);
  // Each array's copy begins at a multiple of the alignment.
  std::uint64_t left = limit - std::min<std::uint64_t>(limit, first.size() * Staging::alignment);
  const std::vector<ReadUnit> units = in_order_of_reading(job);
  for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
    if (unit->cell == 0) continue;
    const std::size_t cells = std::min<std::uint64_t>(unit->last - unit->first, left / unit->cell);
    first[unit->source] = unit->last - cells;
    left -= cells * unit->cell;
    if (cells < unit->last - unit->first) break;
  }
  return first;
}

namespace {

void keep_checksums(StepJob& job, const std::vector<CellsToPack>& packed) {
  if (!job.checksums) return;
  auto next = packed.begin();
  for_each_source(job, [&](StepArray& source) {
    for (; next != packed.end() && next->source == &source; ++next) source.checksums.push_back(next->checksum);
  });
}

}  // namespace

double stage(StepJob& job, Staging& staging) {
  if (job.failure) return 0;
  const std::vector<std::size_t> first = first_staged_cells(job, staging.limit());
  std::uint64_t bytes = 0;
  std::size_t next = 0;
  job.lent_bytes = 0;
  for_each_source(job, [&](StepArray& source) {
    source.lent = first[next++];
    bytes += aligned((cells_of(source) - source.lent) * bytes_of_cell(source));
    job.lent_bytes += source.lent * bytes_of_cell(source);
  });
  const Staging::Block block = staging.take(bytes);
  job.block = block.bytes;
  std::uint64_t used = 0;
  std::vector<CellsToPack> on_device;  // read together, after the host's
  for_each_source(job, [&](StepArray& source) {
    source.staged = job.block.subspan(used, (cells_of(source) - source.lent) * bytes_of_cell(source));
    used += aligned(source.staged.size());
    std::vector<CellsToPack> ranges;
    for_each_staged_range(job, source, [&](std::size_t from, std::size_t to, std::span<std::byte> out) {
      ranges.push_back({&source, from, to, out, 0});
    });
    if (is_on_device(source)) {
      on_device.insert(on_device.end(), ranges.begin(), ranges.end());
      return;
    }
    // Values that only we hold are freed once they are staged.
    const std::vector<std::byte> folded = source.lent == 0 ? std::move(source.folded) : std::vector<std::byte>();
    pack(ranges, job.checksums);
    if (job.checksums)
      for (const CellsToPack& range : ranges) source.checksums.push_back(range.checksum);
  });
  pack(on_device, job.checksums);
  keep_checksums(job, on_device);
  return block.waited;
}

WrittenSegment carry_out(StepJob& job, Group& group, Staging& staging, const std::function<void()>& released) {
  // Each way out of this function must give the block back and call `released`, once: the main thread waits for both.
  bool held = true, told = false;
  const auto tell = [&] {
    if (!std::exchange(told, true) && released) released();
  };
  const auto release = [&] {
    if (std::exchange(held, false)) staging.give_back(std::exchange(job.block, {}));
    tell();
  };
  std::uint64_t unread = job.lent_bytes;
  const auto read = [&](std::uint64_t bytes) {
    unread -= std::min(unread, bytes);
    // A segment that takes a detour is written again, from the same arrays.
    if (job.lent_bytes > 0 && unread == 0 && !job.detour) tell();
  };
  double seconds_encoding = 0;
  const auto encode_and_free = [&] {
    const Timer timer(seconds_encoding);
    auto part = encode(job, read);
    // Encoded values have memory of their own, so the memory of this step is free for the next before it is on disk.
    if (!part || !store::has_raw_streams(*part)) release();
    return part;
  };
  try {
    WrittenSegment written =
        group.write_segment(job.plan, job.header, encode_and_free, release, job.detour ? &*job.detour : nullptr);
    written.seconds_encoding = seconds_encoding;
    release();
    return written;
  } catch (Error& error) {
    release();
    throw error.at(store::to_string(job.plan.flow) + " step " + std::to_string(job.plan.step));
  } catch (...) {
    release();
    throw;
  }
}

// ------------------------------------------------------------------ for foreign formats

std::span<const std::byte> packed_values(const StepJob& job, const StepArray& source, std::vector<std::byte>& scratch) {
  if (!source.staged.empty() && source.lent == 0) {
    compare(job, source);
    return source.staged;
  }
  if (!source.staged.empty()) {
    scratch.resize(packed_bytes(source));
    pack_lent(job, source, 0, scratch);
    return scratch;
  }
  if (source.boxes.empty())
    if (const auto packed = as_packed(source.view)) return *packed;
  scratch.resize(packed_bytes(source));
  pack(source, scratch, false);
  return scratch;
}

mesh::Field field_of(const StepJob& job, const StepArray& source) {
  mesh::Field field{source.info, {}};
  const auto values = packed_values(job, source, field.bytes);
  if (field.bytes.empty()) field.bytes.assign(values.begin(), values.end());
  return field;
}

mesh::Particles particles_of(const StepJob& job, const SpeciesSource& species) {
  mesh::Particles particles{species.species, species.count, {}};
  for (const StepArray& source : species.attributes) particles.attributes.push_back(field_of(job, source));
  return particles;
}

mesh::Part part_of(const StepJob& job) {
  mesh::Part part;
  part.index = job.part;
  if (job.tree)
    part.mesh = *job.tree;
  else if (job.patches)
    part.mesh = job.patches->mine;
  part.opaque = job.opaque;
  for (const StepArray& source : job.fields) part.fields.push_back(field_of(job, source));
  for (const SpeciesSource& species : job.species) part.particles.push_back(particles_of(job, species));
  return part;
}

}  // namespace octavo::engine
