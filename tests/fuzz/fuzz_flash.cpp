#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "tests/fuzz/fuzz_cross.hpp"
#include "tests/support/flash_fixture.hpp"

// Input: a byte of flags, then edits of a sound file, six bytes each. The flags choose the dimension, and whether what
// was read is written again, or as an output of some code. Edits are of values, shapes and names: the file stays sound
// HDF5.
namespace {

using namespace octavo;
using testing::FlashFile;
using testing::FlashSet;
namespace fs = std::filesystem;

const fs::path& scratch() {
  // Never destroyed: it is needed when the process ends, to remove the files.
  static const auto* path = new fs::path(fs::path(fs::exists("/dev/shm") ? "/dev/shm" : "/tmp") /
                                         ("octavo_fuzz_flash_hdf5_chk_" + std::to_string(::getpid())));
  return *path;
}

const FlashFile& sound(int dim) {
  static const std::array<FlashFile, 3> files = [] {
    std::array<FlashFile, 3> made;
    for (int d = 1; d <= 3; ++d) {
      testing::FlashSpec spec;
      spec.dim = d;
      spec.block = {4, d > 1 ? 2 : 1, d > 2 ? 2 : 1};
      spec.faces = true;
      spec.refine = [](const auto& box) { return box.level < 3 && box.lo[0] == 0 && box.lo[1] == 0 && box.lo[2] == 0; };
      FlashFile& file = made[static_cast<std::size_t>(d - 1)] = testing::flash_file(spec);
      const std::uint64_t blocks = file.sets["refine level"].shape[0];
      file.sets["a row a block"] = testing::flash_set('d', {blocks}, std::vector<double>(blocks, 1));
      file.sets["others"] = testing::flash_set('i', {3, 2}, std::vector<std::int32_t>(6, 7));
    }
    return made;
  }();
  return files[static_cast<std::size_t>(dim - 1)];
}

/// Values that break things more often than random ones.
std::int32_t integer_of(std::uint8_t a, std::uint8_t b) {
  constexpr std::array<std::int32_t, 8> odd{
      -1, 0, 1, -32, -20, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min(), 31};
  return a < 64 ? odd[b % odd.size()] : static_cast<std::int32_t>(b) - 8;
}
double real_of(std::uint8_t a, std::uint8_t b) {
  constexpr std::array<double, 8> odd{
      0,      -1, 1e300, -1e300, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN(),
      1e-300, 2};
  return a < 64 ? odd[b % odd.size()] : static_cast<double>(b) / 64;
}

void edit_set(FlashSet& set, std::size_t place, std::uint8_t a, std::uint8_t b) {
  const std::size_t width = set.kind == 's' ? 1 : set.kind == 'd' ? 8 : 4, count = set.bytes.size() / width;
  if (count == 0) return;
  if (set.kind == 'i') set.as<std::int32_t>()[place % count] = integer_of(a, b);
  if (set.kind == 'd') set.as<double>()[place % count] = real_of(a, b);
  if (set.kind == 's') set.bytes[place % count] = b;
}

/// Gives a data set another shape, with as many rows as its bytes allow.
void reshape(FlashSet& set, std::size_t place, std::uint8_t b) {
  set.shape[place % set.shape.size()] = b % 32;
  std::uint64_t items = 1;
  for (std::uint64_t extent : set.shape) items *= extent;
  set.bytes.resize(static_cast<std::size_t>(items) * set.width);
}

void edit(FlashFile& file, const std::uint8_t* e) {
  const std::size_t place = static_cast<std::size_t>(e[2]) << 8 | e[3];
  if (e[0] % 16 == 0) {
    auto& list = file.lists.integers["integer scalars"];
    auto at = list.begin();
    std::advance(at, place % list.size());
    at->second = integer_of(e[4], e[5]);
    return;
  }
  if (file.sets.empty()) return;
  auto at = file.sets.begin();
  std::advance(at, e[1] % file.sets.size());
  if (e[0] % 16 == 1)
    file.sets.erase(at);
  else if (e[0] % 16 == 2)
    reshape(at->second, place, e[5]);
  else
    edit_set(at->second, place, e[4], e[5]);
}

void edit_bytes(const std::uint8_t* data, std::size_t size) {
  const file::File file = file::open_write(scratch());
  const std::uint64_t length = file::size(file);
  for (; size >= 6; data += 6, size -= 6) {
    // Metadata is in the first pages, and object headers lie between the values, so most edits go there.
    const std::uint64_t place =
        (static_cast<std::uint64_t>(data[0]) << 16 | static_cast<std::uint64_t>(data[1]) << 8 | data[2]) % length;
    file::pwrite_all(file, place, std::as_bytes(std::span(data + 3, 1 + data[5] % 2)));
  }
}

void read_all(bool write, bool cross, unsigned flags) {
  const mesh::Dataset dataset = formats::flash::open_flash(scratch(), {5});
  dataset.parts_touching(mesh::Box{});
  for (int part = 0; part < dataset.num_parts; ++part) {
    dataset.part_bytes(part);
    mesh::validate(std::get<mesh::Octree>(dataset.read(part, {}).mesh));
    try {
      dataset.read(part, {std::vector<std::string>{}, 2, true});
    } catch (const base::Error&) {
    }
  }
  if (cross) testing::cross_somewhere(dataset, scratch().string() + ".cross", flags);
  if (!write) return;
  fs::path out = scratch();
  out += ".out";
  fs::remove(out);
  formats::flash::write_flash(dataset, out);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool clean_up = std::atexit([] {
                                 fs::remove(scratch());
                                 fs::remove(scratch().string() + ".out");
                               }) == 0;
  if (size < 1 || !clean_up) return 0;
  const std::uint8_t flags = data[0];
  // We edit HDF5's own structures only on request, because the C library itself does not survive all such edits.
  static const bool raw = std::getenv("OCTAVO_FUZZ_HDF5_BYTES") != nullptr;
  FlashFile file = sound(1 + flags % 3);
  if (!raw)
    for (std::size_t at = 1; at + 6 <= size; at += 6) edit(file, data + at);
  testing::write_fixture(scratch(), file);
  if (raw) edit_bytes(data + 1, size - 1);
  try {
    read_all(flags % 16 >= 8, flags % 4 == 1, flags / 16 + (size < 2 ? 0U : data[size - 1]));
  } catch (const base::Error&) {
  }
  return 0;
}
