#ifdef OCTAVO_HAVE_HDF5
#include "octavo/file/hdf5/hdf5_overlay.hpp"

#if H5_VERSION_GE(1, 13, 0)
#include <H5FDdevelop.h>
#endif

#include <algorithm>
#include <array>
#include <iterator>

namespace octavo::file::hdf5 {

void forget(Overlay& overlay, std::uint64_t at, std::uint64_t size) {
  auto& changed = overlay.changed;
  const std::uint64_t past = at + size;
  auto next = changed.upper_bound(at);
  if (next != changed.begin()) --next;
  while (next != changed.end() && next->first < past) {
    const auto old = next++;
    const std::uint64_t begin = old->first, end = begin + old->second.size();
    if (end <= at) continue;
    const std::vector<std::byte> was = std::move(old->second);
    changed.erase(old);
    const auto upto = [&](std::uint64_t place) { return was.begin() + static_cast<std::ptrdiff_t>(place - begin); };
    if (begin < at) changed[begin] = {was.begin(), upto(at)};
    if (end > past) changed[past] = {upto(past), was.end()};
  }
}

void put(Overlay& overlay, std::uint64_t at, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  forget(overlay, at, bytes.size());
  overlay.changed[at] = {bytes.begin(), bytes.end()};
}

void get(const Overlay& overlay, std::uint64_t at, std::span<std::byte> out) {
  const std::size_t found = pread_some(overlay.file, at, out);
  std::fill(out.begin() + static_cast<std::ptrdiff_t>(found), out.end(), std::byte{0});
  const std::uint64_t past = at + out.size();
  auto next = overlay.changed.upper_bound(at);
  if (next != overlay.changed.begin()) --next;
  for (; next != overlay.changed.end() && next->first < past; ++next) {
    const std::uint64_t begin = std::max(at, next->first), end = std::min(past, next->first + next->second.size());
    if (begin >= end) continue;
    std::copy_n(next->second.begin() + static_cast<std::ptrdiff_t>(begin - next->first), end - begin,
                out.begin() + static_cast<std::ptrdiff_t>(begin - at));
  }
}

// ------------------------------------------------------------------ a driver of HDF5's virtual file layer

namespace {

struct Driven {
  H5FD_t common{};  // the library expects it first
  Overlay* overlay = nullptr;
};

Overlay& overlay_of(const H5FD_t* file) { return *reinterpret_cast<const Driven*>(file)->overlay; }

H5FD_t* open_driven(const char*, unsigned, hid_t access, haddr_t) {
  const auto* overlay = static_cast<Overlay* const*>(H5Pget_driver_info(access));
  if (overlay == nullptr) return nullptr;
  auto* driven = new Driven;
  driven->overlay = *overlay;
  return &driven->common;
}

herr_t close_driven(H5FD_t* file) {
  delete reinterpret_cast<Driven*>(file);
  return 0;
}

/// Runs work that may throw, and returns HDF5's return code: the library does not know exceptions.
template <class Work>
herr_t status_of(Work&& work) {
  try {
    work();
    return 0;
  } catch (...) {
    return -1;
  }
}

herr_t read_driven(H5FD_t* file, H5FD_mem_t, hid_t, haddr_t at, size_t size, void* out) {
  return status_of([&] { get(overlay_of(file), at, {static_cast<std::byte*>(out), size}); });
}

/// Runs `work`, which changes the file on disk, unless an earlier change failed.
template <class Work>
void on_disk(Overlay& overlay, Work&& work) {
  if (!overlay.through || overlay.failed) return;
  try {
    work();
  } catch (const base::Error& error) {
    overlay.failed = error;
  }
}

void write(Overlay& overlay, H5FD_mem_t kind, std::uint64_t at, std::span<const std::byte> bytes) {
  on_disk(overlay, [&] { pwrite_all(overlay.file, at, bytes); });
  if (overlay.through) overlay.length = std::max<std::uint64_t>(overlay.length, at + bytes.size());
  // The library reads its metadata back and must find them as it wrote them, even after the disk has failed. It does
  // not look at values again.
  if (!overlay.through || (overlay.failed && kind != H5FD_MEM_DRAW)) put(overlay, at, bytes);
}

herr_t write_driven(H5FD_t* file, H5FD_mem_t kind, hid_t, haddr_t at, size_t size, const void* bytes) {
  return status_of([&] { write(overlay_of(file), kind, at, {static_cast<const std::byte*>(bytes), size}); });
}

herr_t truncate_driven(H5FD_t* file, hid_t, hbool_t) {
  Overlay& overlay = overlay_of(file);
  if (overlay.length == overlay.end) return 0;
  overlay.length = overlay.end;
  return status_of([&] { on_disk(overlay, [&] { resize(overlay.file, overlay.end); }); });
}

/// With `through` we set the flags of HDF5's own driver, so that files get the same layout.
herr_t query_driven(const H5FD_t* file, unsigned long* flags) {
  if (flags == nullptr) return 0;
  *flags = H5FD_FEAT_AGGREGATE_METADATA;
  if (file != nullptr && overlay_of(file).through)
    *flags |= H5FD_FEAT_ACCUMULATE_METADATA | H5FD_FEAT_DATA_SIEVE | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

H5FD_class_t driver_class() {
  constexpr H5FD_mem_t kinds[] = H5FD_FLMAP_DICHOTOMY;  // keeps values and metadata apart
  H5FD_class_t driver{};
#ifdef H5FD_CLASS_VERSION
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(401);
#endif
  driver.name = "octavo_overlay";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.fapl_size = sizeof(Overlay*);
  driver.open = open_driven;
  driver.close = close_driven;
  driver.query = query_driven;
  driver.get_eoa = [](const H5FD_t* file, H5FD_mem_t) -> haddr_t { return overlay_of(file).end; };
  driver.set_eoa = [](H5FD_t* file, H5FD_mem_t, haddr_t end) -> herr_t {
    overlay_of(file).end = end;
    return 0;
  };
  driver.get_eof = [](const H5FD_t* file, H5FD_mem_t) -> haddr_t { return overlay_of(file).length; };
  driver.read = read_driven;
  driver.write = write_driven;
  driver.truncate = truncate_driven;
  std::copy(std::begin(kinds), std::end(kinds), std::begin(driver.fl_map));
  return driver;
}

/// We register the driver once, since the library keeps it.
hid_t driver_id() {
  static const H5FD_class_t driver = driver_class();
  static hid_t id = -1;
  if (H5Iget_type(id) != H5I_VFL) id = H5FDregister(&driver);
  if (id < 0) throw failure("register a file driver");
  return id;
}

}  // namespace

Id overlay_access(Overlay& overlay) {
  Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make a property list");
  Overlay* pointer = &overlay;
  check(H5Pset_driver(access(), driver_id(), &pointer), "choose a file driver");
  return access;
}

}  // namespace octavo::file::hdf5
#endif
