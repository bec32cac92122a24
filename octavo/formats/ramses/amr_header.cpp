#include "octavo/formats/ramses/amr_header.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

namespace octavo::formats::ramses {
namespace {

using file::RecordReader;

constexpr int most_levels = 64;
constexpr std::size_t ordering_bytes = 128;

// Returns a count in [low, high]. Otherwise throws Error(corrupt) at the record just read.
std::int64_t in_range(const RecordReader& reader, std::int64_t value, std::int64_t low, std::int64_t high,
                      std::string_view what) {
  if (value >= low && value <= high) return value;
  throw reader.error("the record before: expected " + std::string(what) + " from " + std::to_string(low) + " to " +
                     std::to_string(high) + ", found " + std::to_string(value));
}

int count(RecordReader& reader, std::int64_t low, std::int64_t high, std::string_view what) {
  return static_cast<int>(in_range(reader, reader.scalar<std::int32_t>(what), low, high, what));
}

std::vector<std::int64_t> widen(const std::vector<std::int32_t>& values) { return {values.begin(), values.end()}; }

void read_sizes(RecordReader& reader, AmrHeader& header) {
  // Every domain has a column in every list table of the file.
  const auto most_lists = static_cast<std::int64_t>(std::min<std::uint64_t>(reader.file_size() / 4, INT32_MAX / 2));
  header.ncpu = count(reader, 1, most_lists, "ncpu");
  header.ndim = count(reader, 1, 3, "ndim");
  const auto coarse = reader.array<std::int32_t>(3, "nx, ny, nz");
  for (std::size_t axis = 0; axis < 3; ++axis)
    header.coarse[axis] = in_range(reader, coarse[axis], 1, 1 << 20, "nx, ny or nz");
  for (auto axis = static_cast<std::size_t>(header.ndim); axis < 3; ++axis)
    in_range(reader, coarse[axis], 1, 1, "coarse cells along an unused axis");
  header.nlevelmax = count(reader, 1, most_levels, "nlevelmax");
  header.ngridmax = count(reader, 1, INT32_MAX, "ngridmax");
  header.nboundary = count(reader, 0, most_lists, "nboundary");
  header.ngrid_current = count(reader, 0, INT32_MAX, "ngrid_current");
}

double one_real(RecordReader& reader, std::string_view what) { return reader.reals(1, what).front(); }

void read_state(RecordReader& reader, AmrHeader& header) {
  const auto levels = static_cast<std::uint64_t>(header.nlevelmax);
  header.real_bytes = reader.peek("boxlen") == sizeof(float) ? 4 : 8;
  header.boxlen = one_real(reader, "boxlen");
  if (!std::isfinite(header.boxlen) || header.boxlen <= 0)
    throw reader.error("the record before: expected a positive boxlen, found " + std::to_string(header.boxlen));
  header.output_counts = widen(reader.array<std::int32_t>(3, "noutput, iout, ifout"));
  const auto outputs = static_cast<std::uint64_t>(in_range(reader, header.output_counts[0], 0, INT32_MAX, "noutput"));
  header.tout = reader.reals(outputs, "tout");
  header.aout = reader.reals(outputs, "aout");
  header.time = one_real(reader, "t");
  header.dtold = reader.reals(levels, "dtold");
  header.dtnew = reader.reals(levels, "dtnew");
  header.steps = widen(reader.array<std::int32_t>(2, "nstep, nstep_coarse"));
  header.start = reader.reals(3, "einit, mass_tot_0, rho_tot");
  header.cosmology = reader.reals(7, "omega_m, omega_l, omega_k, omega_b, h0, aexp_ini, boxlen_ini");
  header.expansion = reader.reals(5, "aexp, hexp, aexp_old, epot_tot_int, epot_tot_old");
  header.mass_sph = one_real(reader, "mass_sph");
}

std::vector<std::int32_t> read_list_table(RecordReader& reader, int lists, int levels, std::string_view what) {
  reader.skip(2, std::uint64_t{4} * static_cast<std::uint64_t>(lists) * static_cast<std::uint64_t>(levels), what);
  return reader.array<std::int32_t>(static_cast<std::uint64_t>(lists) * static_cast<std::uint64_t>(levels), what);
}

// Puts the rows of the domains' and the walls' tables behind one another, level by level.
std::vector<std::int32_t> join_rows(const std::vector<std::int32_t>& domains, const std::vector<std::int32_t>& walls,
                                    const AmrHeader& header) {
  std::vector<std::int32_t> joined;
  joined.reserve(domains.size() + walls.size());
  for (int level = 0; level < header.nlevelmax; ++level) {
    joined.insert(joined.end(), domains.begin() + std::ptrdiff_t{level} * header.ncpu,
                  domains.begin() + std::ptrdiff_t{level + 1} * header.ncpu);
    joined.insert(joined.end(), walls.begin() + std::ptrdiff_t{level} * header.nboundary,
                  walls.begin() + std::ptrdiff_t{level + 1} * header.nboundary);
  }
  return joined;
}

// The octs of all lists need room for their records in this file.
void check_list_sizes(const RecordReader& reader, const AmrHeader& header) {
  const std::uint64_t ints_an_oct = 4 + 2 * static_cast<std::uint64_t>(header.ndim) + (3U << header.ndim);
  std::uint64_t room = reader.file_size() / (4 * ints_an_oct);
  for (const std::int32_t octs : header.numbl) {
    in_range(reader, octs, 0, INT32_MAX, "octs of a list");
    if (static_cast<std::uint64_t>(octs) > room)
      throw reader.error("the list tables before: they ask for more octs than the file's " +
                         std::to_string(reader.file_size()) + " bytes hold");
    room -= static_cast<std::uint64_t>(octs);
  }
}

void read_lists(RecordReader& reader, AmrHeader& header) {
  const auto domains = read_list_table(reader, header.ncpu, header.nlevelmax, "headl, taill, numbl");
  // The first of the ten numbers of a level is the sum over all domains.
  const auto totals = reader.integers(10 * static_cast<std::uint64_t>(header.nlevelmax), "numbtot");
  for (std::size_t level = 0; level < static_cast<std::size_t>(header.nlevelmax); ++level)
    header.total_octs.push_back(in_range(reader, totals[10 * level], 0, std::int64_t{1} << 58, "octs of a level"));
  std::vector<std::int32_t> walls;
  if (header.nboundary > 0) walls = read_list_table(reader, header.nboundary, header.nlevelmax, "headb, tailb, numbb");
  header.numbl = join_rows(domains, walls, header);
  check_list_sizes(reader, header);
  reader.next(20, "headf, tailf, numbf, used_mem, used_mem_tot");
}

// A 16-byte real as the sum of two doubles: exact for the integers up to 2^101 that Hilbert keys are.
void append_quad(std::span<const std::byte> raw, std::endian order, AmrHeader& header) {
  const bool little = order == std::endian::little;
  const auto high = base::load<std::uint64_t>(raw.data() + (little ? 8 : 0), order);
  const auto low = base::load<std::uint64_t>(raw.data() + (little ? 0 : 8), order);
  const int exponent = static_cast<int>(high >> 48 & 0x7fff) - 16383;
  if (high == 0 && low == 0) return header.bound_key.push_back(0), header.bound_key_low.push_back(0);
  const double sign = high >> 63 != 0 ? -1 : 1;
  const auto leading = static_cast<double>((std::uint64_t{1} << 48) | (high & 0xffffffffffffU));
  const double first = std::ldexp(leading, exponent - 48), rest = std::ldexp(static_cast<double>(low), exponent - 112);
  const double sum = first + rest;
  header.bound_key.push_back(sign * sum);
  header.bound_key_low.push_back(sign * ((first - sum) + rest));
}

// Returns the bytes of a key, given the bytes of the record, which has (ncpu * overload + 1) keys; 0 if none fits. Keys
// are doubles even if the rest of the file is single precision. A QUADHILBERT build writes 16 bytes.
std::uint64_t key_width(std::uint64_t bytes, std::uint64_t ncpu) {
  if (bytes == 16 * (ncpu + 1)) return 16;
  for (const std::uint64_t width : {8U, 16U, 4U})
    if (bytes % width == 0 && bytes / width > ncpu && (bytes / width - 1) % ncpu == 0) return width;
  return 0;
}

void read_bound_keys(RecordReader& reader, AmrHeader& header) {
  const std::uint64_t bytes = reader.peek("bound_key");
  const std::uint64_t width = key_width(bytes, static_cast<std::uint64_t>(header.ncpu));
  if (width == 0)
    throw reader.error("bound_key: " + std::to_string(bytes) + " bytes are no table of keys of " +
                       std::to_string(header.ncpu) + " domains");
  if (width != 16) {
    header.bound_key = reader.reals(bytes / width, "bound_key");
    return;
  }
  std::vector<std::byte> raw(static_cast<std::size_t>(bytes));
  reader.read_bytes(reader.next("bound_key"), 0, raw);
  for (std::size_t at = 0; at < raw.size(); at += 16)
    append_quad(std::span(raw).subspan(at, 16), reader.format().order, header);
}

void read_bisection(RecordReader& reader, AmrHeader& header) {
  const auto real = static_cast<std::uint64_t>(header.real_bytes);
  const auto corners = static_cast<std::uint64_t>(header.ncpu) * static_cast<std::uint64_t>(header.ndim);
  header.bisection_wall = reader.reals(reader.peek("bisec_wall") / real, "bisec_wall");
  header.bisection_next = widen(reader.array<std::int32_t>("bisec_next"));
  header.bisection_indx = widen(reader.array<std::int32_t>("bisec_indx"));
  header.cpubox_min = reader.reals(corners, "bisec_cpubox_min");
  header.cpubox_max = reader.reals(corners, "bisec_cpubox_max");
}

void read_ordering(RecordReader& reader, AmrHeader& header) {
  const auto text = reader.array<char>(ordering_bytes, "ordering");
  header.ordering.assign(text.begin(), text.end());
  header.ordering.erase(std::min(header.ordering.size(), header.ordering.find_last_not_of(std::string(" \0", 2)) + 1));
  if (header.ordering == "bisection")
    read_bisection(reader, header);
  else
    read_bound_keys(reader, header);
}

void read_coarse_cells(RecordReader& reader, AmrHeader& header) {
  const auto cells = static_cast<std::uint64_t>(header.coarse[0]) * static_cast<std::uint64_t>(header.coarse[1]) *
                     static_cast<std::uint64_t>(header.coarse[2]);
  header.coarse_son = reader.array<std::int32_t>(cells, "son of the coarse cells");
  header.coarse_flag = reader.array<std::int32_t>(cells, "flag1 of the coarse cells");
  header.coarse_cpu = reader.array<std::int32_t>(cells, "cpu_map of the coarse cells");
}

}  // namespace

// In the order of RAMSES' backup_amr (amr/output_amr.f90).
AmrHeader read_amr_header(RecordReader& reader) {
  AmrHeader header;
  read_sizes(reader, header);
  read_state(reader, header);
  read_lists(reader, header);
  read_ordering(reader, header);
  read_coarse_cells(reader, header);
  return header;
}

RealCells find_real_cells(const AmrHeader& header) {
  const mesh::Index3& n = header.coarse;
  mesh::Index3 lo = n, hi{0, 0, 0};
  std::int64_t real = 0, at = 0;
  for (std::int64_t k = 0; k < n[2]; ++k)
    for (std::int64_t j = 0; j < n[1]; ++j)
      for (std::int64_t i = 0; i < n[0]; ++i) {
        if (header.coarse_cpu[static_cast<std::size_t>(at++)] < 1) continue;
        ++real;
        const mesh::Index3 cell{i, j, k};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          lo[axis] = std::min(lo[axis], cell[axis]);
          hi[axis] = std::max(hi[axis], cell[axis] + 1);
        }
      }
  const mesh::Index3 extent{hi[0] - lo[0], hi[1] - lo[1], hi[2] - lo[2]};
  if (real == 0 || real != extent[0] * extent[1] * extent[2])
    throw base::Error(base::Kind::corrupt, "the coarse cells of a domain (cpu_map >= 1) do not fill a box: " +
                                               std::to_string(real) + " of " + std::to_string(at));
  return {lo, extent};
}

void require_same_output(const AmrHeader& expected, const AmrHeader& found, const RecordReader& reader) {
  const auto require = [&](bool same, std::string_view what) {
    if (!same)
      throw base::Error(base::Kind::corrupt,
                        "files of different outputs: " + std::string(what) + " differs from that of domain 1")
          .at(reader.path().string());
  };
  require(expected.ncpu == found.ncpu, "ncpu");
  require(expected.ndim == found.ndim, "ndim");
  require(expected.coarse == found.coarse, "nx, ny or nz");
  require(expected.nlevelmax == found.nlevelmax, "nlevelmax");
  require(expected.nboundary == found.nboundary, "nboundary");
  require(expected.boxlen == found.boxlen, "boxlen");
  require(expected.time == found.time, "the time");
  require(expected.steps == found.steps, "the step number");
  require(expected.total_octs == found.total_octs, "the number of octs");
  require(expected.ordering == found.ordering, "the ordering");
  require(expected.bound_key == found.bound_key, "the table of keys");
  require((expected.coarse_cpu.size() == found.coarse_cpu.size()), "the coarse grid");
}

}  // namespace octavo::formats::ramses
