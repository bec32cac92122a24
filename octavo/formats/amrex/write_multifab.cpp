#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "octavo/base/byte_order.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;
using mesh::ScalarType;

// A write is that large: enough for the system call not to count, and values are still in the second-level cache when,
// after their range is known, they are copied or written.
constexpr std::size_t buffer_bytes = 256U << 10;
constexpr std::uint64_t bytes_a_file = 1U << 30;

static_assert(std::endian::native == std::endian::little, "files are written in native byte order, said to be little");

fs::path data_path(const fs::path& prefix, std::size_t file) {
  return prefix.parent_path() / numbered(prefix.filename().string() + "_D_", static_cast<std::int64_t>(file));
}

/// Bytes in a row, gathered and written together, from where they lie.
class BufferedStream {
 public:
  BufferedStream(const file::File& file, std::uint64_t offset) : file_(file), offset_(offset), buffer_(buffer_bytes) {}

  /// Room for up to buffer_bytes more, to be filled by the caller.
  std::byte* extend(std::size_t bytes) {
    if (used_ + bytes > buffer_bytes) flush();
    std::byte* room = buffer_.data() + used_;
    used_ += bytes;
    add({room, bytes});
    return room;
  }
  /// The bytes must stay until they are flushed. Writes end with a page of the file: a page written by two costs more.
  void put(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      if (pending_ >= room() || pieces_.size() == most_pieces) flush();
      const std::size_t n = std::min(bytes.size(), room() - pending_);
      add(bytes.first(n));
      bytes = bytes.subspan(n);
    }
  }
  void flush() {
    file::pwrite_pieces(file_, offset_, pieces_);
    offset_ += pending_;
    pieces_.clear();
    pending_ = used_ = 0;
  }

 private:
  static constexpr std::size_t most_pieces = 1000, page = 4096;
  std::size_t room() const { return buffer_bytes - static_cast<std::size_t>(offset_ % page); }
  void add(std::span<const std::byte> bytes) {
    pieces_.push_back(bytes);
    pending_ += bytes.size();
  }
  const file::File& file_;
  std::uint64_t offset_;
  std::vector<std::byte> buffer_;
  std::vector<std::span<const std::byte>> pieces_;
  std::size_t pending_ = 0, used_ = 0;
};

/// Smallest and largest of a run; NaN is passed over. In vectors of 16 bytes, which every machine has, four at a time:
/// left to itself the compiler takes one value after another. Values come from memory here, for the write that follows
/// from cache: asked for two pages ahead, since the processor's own prefetching ends with each page.
template <class T>
void widen_range(const T* values, std::size_t n, double& lo, double& hi) {
  constexpr std::size_t lanes = 16 / sizeof(T), vectors = 4;  // a cache line a turn
  constexpr std::uintptr_t ahead = 8192;
  typedef T Lanes __attribute__((vector_size(16)));
  Lanes least[vectors], most[vectors];
  for (std::size_t v = 0; v < vectors; ++v) {
    least[v] = Lanes{} + static_cast<T>(lo);
    most[v] = Lanes{} + static_cast<T>(hi);
  }
  std::size_t i = 0;
  for (; i + vectors * lanes <= n; i += vectors * lanes) {
    // By number: beyond the last value a pointer may not point. A prefetch beyond the array does nothing.
    __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(values + i) + ahead));
    for (std::size_t v = 0; v < vectors; ++v) {
      Lanes next;
      std::memcpy(&next, values + i + v * lanes, sizeof next);
      least[v] = next < least[v] ? next : least[v];
      most[v] = next > most[v] ? next : most[v];
    }
  }
  for (std::size_t v = 0; v < vectors; ++v)
    for (std::size_t l = 0; l < lanes; ++l) {
      lo = std::min(lo, static_cast<double>(least[v][l]));
      hi = std::max(hi, static_cast<double>(most[v][l]));
    }
  for (; i < n; ++i) {
    const auto value = static_cast<double>(values[i]);
    lo = value < lo ? value : lo;
    hi = value > hi ? value : hi;
  }
}

/// Range of the cells that are no ghosts.
template <class T>
void widen_range(const T* values, const IndexBox& valid, const IndexBox& stored, double& lo, double& hi) {
  const std::int64_t nx = stored.hi[0] - stored.lo[0], ny = stored.hi[1] - stored.lo[1];
  mesh::for_each_row(valid, [&](const mesh::Index3& at, std::int64_t length) {
    const std::int64_t first = ((at[2] - stored.lo[2]) * ny + at[1] - stored.lo[1]) * nx + at[0] - stored.lo[0];
    widen_range(values + first, static_cast<std::size_t>(length), lo, hi);
  });
}

void put_values(BufferedStream& stream, const ComponentValues& from, std::size_t first, std::size_t count,
                ScalarType type) {
  const std::size_t width = mesh::size_of(from.type);
  const auto bytes = from.bytes.subspan(first * width, count * width);
  if (from.type == type) return stream.put(bytes);
  const std::size_t step = buffer_bytes / 2 / mesh::size_of(type);
  for (std::size_t done = 0; done < count; done += step) {
    const std::size_t n = std::min(step, count - done);
    decode({from.type, std::endian::native}, bytes.data() + done * width, n, type,
           stream.extend(n * mesh::size_of(type)));
  }
}

/// Writes one component of one box and returns its range. A box of nothing but NaN has that of its first value.
template <class T>
std::pair<double, double> put_component(BufferedStream& stream, const ComponentValues& from, std::size_t first,
                                        const IndexBox& valid, const IndexBox& stored, ScalarType type) {
  const T* values = reinterpret_cast<const T*>(from.bytes.data()) + first;
  const auto count = static_cast<std::size_t>(mesh::num_cells(stored, 3));
  double lo = std::numeric_limits<double>::infinity(), hi = -lo;
  if (valid != stored) widen_range(values, valid, stored, lo, hi);
  constexpr std::size_t step = buffer_bytes / sizeof(T);
  for (std::size_t done = 0; done < count; done += step) {
    const std::size_t n = std::min(step, count - done);
    if (valid == stored) widen_range(values + done, n, lo, hi);
    put_values(stream, from, first + done, n, type);
  }
  if (lo > hi) lo = hi = static_cast<double>(*values);
  return {lo, hi};
}

void check_components(const MultiFabPlan& plan, std::span<const ComponentValues> components, std::size_t values) {
  if (components.size() != static_cast<std::size_t>(plan.shape.components))
    throw Error(Kind::usage, "components: expected " + std::to_string(plan.shape.components) + ", found " +
                                 std::to_string(components.size()));
  for (const ComponentValues& component : components) {
    const bool fits = component.type == plan.shape.type ||
                      (component.type == ScalarType::float32 && plan.shape.type == ScalarType::float64);
    if (!fits) throw Error(Kind::unsupported, "values of a type that the file cannot hold exactly");
    if (component.bytes.size() != values * mesh::size_of(component.type))
      throw Error(Kind::usage, "values of a component: expected " + std::to_string(values) + ", found " +
                                   std::to_string(component.bytes.size() / mesh::size_of(component.type)));
  }
}

}  // namespace

IndexBox grown_box(const IndexBox& box, const mesh::Index3& ghost, int dim) {
  IndexBox out = mesh::flat(box, dim);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(dim); ++axis) {
    out.lo[axis] -= ghost[axis];
    out.hi[axis] += ghost[axis];
  }
  return out;
}

void make_directories(const fs::path& path, bool sync) {
  if (sync) return file::make_directories(path);
  std::error_code error;
  fs::create_directories(path, error);
  if (error) throw base::system_error("make a directory", error.value()).at(path.string());
}

MultiFabPlan plan_multifab(const MultiFabShape& shape, int files) {
  MultiFabPlan plan;
  plan.shape = shape;
  std::uint64_t all = 0;
  std::vector<std::uint64_t> bytes;
  for (const IndexBox& box : shape.boxes.boxes) {
    FabLine line{.format = {shape.type, std::endian::little}, .box = {}, .components = shape.components, .bytes = 0};
    line.box = {grown_box(box, shape.ghost, shape.boxes.dim), shape.boxes.nodal, shape.boxes.dim};
    plan.lines.push_back(to_text(line));
    bytes.push_back(plan.lines.back().size() + static_cast<std::uint64_t>(mesh::num_cells(line.box.cells, 3)) *
                                                   static_cast<std::uint64_t>(shape.components) *
                                                   mesh::size_of(shape.type));
    all += bytes.back();
  }
  const std::uint64_t wanted = files > 0 ? static_cast<std::uint64_t>(files) : all / bytes_a_file + 1;
  const std::uint64_t each = all / wanted + 1;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (plan.file_bytes.empty() || plan.file_bytes.back() >= each) plan.file_bytes.push_back(0);
    const std::uint64_t offset = plan.file_bytes.back();
    plan.places.push_back({plan.file_bytes.size() - 1, offset, offset + bytes[i]});
    plan.file_bytes.back() += bytes[i];
  }
  return plan;
}

std::string table_rows(const std::vector<double>& values, int components) {
  std::string text;
  text.reserve(values.size() * 24);
  for (std::size_t i = 0; i < values.size(); ++i) {
    append_scientific(text, values[i]);
    text.append(",");
    if ((i + 1) % static_cast<std::size_t>(components) == 0) text.append("\n");
  }
  return text;
}

void write_boxes(const fs::path& prefix, const MultiFabPlan& plan, std::span<const ComponentValues> components,
                 std::size_t begin, std::size_t end, MinMax& min_max, const WriteOptions& options) {
  const int dim = plan.shape.boxes.dim;
  const auto columns = static_cast<std::size_t>(plan.shape.components);
  min_max.minima.resize((end - begin) * columns);
  min_max.maxima.resize((end - begin) * columns);
  std::size_t first = 0, all = 0;
  for (std::size_t i = begin; i < end; ++i)
    all += static_cast<std::size_t>(mesh::num_cells(grown_box(plan.shape.boxes.boxes[i], plan.shape.ghost, dim), 3));
  check_components(plan, components, all);
  for (std::size_t i = begin; i < end;) {
    const std::size_t number = plan.places[i].file;
    file::File file = file::open_write(data_path(prefix, number));
    BufferedStream stream(file, plan.places[i].offset);
    for (; i < end && plan.places[i].file == number; ++i) {
      const IndexBox valid = mesh::flat(plan.shape.boxes.boxes[i], dim),
                     stored = grown_box(valid, plan.shape.ghost, dim);
      const auto count = static_cast<std::size_t>(mesh::num_cells(stored, 3));
      stream.put(std::as_bytes(std::span(plan.lines[i])));
      for (std::size_t c = 0; c < columns; ++c) {
        const auto [lo, hi] = components[c].type == ScalarType::float64
                                  ? put_component<double>(stream, components[c], first, valid, stored, plan.shape.type)
                                  : put_component<float>(stream, components[c], first, valid, stored, plan.shape.type);
        min_max.minima[(i - begin) * columns + c] = lo;
        min_max.maxima[(i - begin) * columns + c] = hi;
      }
      first += count;
    }
    stream.flush();
    if (options.sync) file::sync(file);
    file.close();
  }
}

std::string header_text(const fs::path& prefix, const MultiFabPlan& plan, const std::string& minima,
                        const std::string& maxima) {
  const MultiFabShape& shape = plan.shape;
  const auto dim = static_cast<std::size_t>(shape.boxes.dim);
  std::string ghost = std::to_string(shape.ghost[0]);
  if (std::any_of(shape.ghost.begin(), shape.ghost.begin() + static_cast<std::ptrdiff_t>(dim),
                  [&](std::int64_t n) { return n != shape.ghost[0]; })) {
    for (std::size_t axis = 1; axis < dim; ++axis) ghost.append(",").append(std::to_string(shape.ghost[axis]));
    ghost = "(" + ghost + ")";
  }
  std::string text = "1\n1\n" + std::to_string(shape.components) + "\n" + ghost + "\n" + to_text(shape.boxes) + "\n" +
                     std::to_string(plan.places.size()) + "\n";
  for (const FabPlace& place : plan.places)
    text.append("FabOnDisk: ")
        .append(data_path(prefix, place.file).filename().string())
        .append(" ")
        .append(std::to_string(place.offset))
        .append("\n");
  const std::string extent = std::to_string(plan.places.size()) + "," + std::to_string(shape.components) + "\n";
  return text + "\n" + extent + minima + "\n" + extent + maxima + "\n";
}

}  // namespace octavo::formats::amrex
