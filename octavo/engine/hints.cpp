#include "octavo/engine/hints.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

// ROMIO's names (its user guide, "Hints"), and the option of Octavo that does the same for a store.
struct Replacement {
  std::string_view hint, option;
};
constexpr std::array replacements{
    Replacement{"cb_nodes", "writers_per_node and contributors_per_file"},
    Replacement{"cb_config_list", "writers_per_node and contributors_per_file"},
    Replacement{"romio_cb_write", "contributors_per_file"},
    Replacement{"romio_no_indep_rw", "contributors_per_file"},
    Replacement{"cb_buffer_size", "staging_bytes"},
    Replacement{"ind_wr_buffer_size", "staging_bytes"},
    Replacement{"direct_write", "direct_io"},
    Replacement{"romio_ds_write", "alignment"},
};

constexpr std::array followed{"striping_factor", "striping_unit", "start_iodevice"};

// The hint's number, or `missing`. `fits` says whether Lustre can have it.
template <class Fits>
std::int64_t number_of(const Options& options, const std::string& hint, std::int64_t missing,
                       const std::string& expected, Fits&& fits) {
  const auto given = options.mpi_io_hints.find(hint);
  if (given == options.mpi_io_hints.end()) return missing;
  const std::string& text = given->second;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || !fits(number))
    throw Error(Kind::usage, "expected " + expected + ", found '" + text + "'").at("option mpi_io_hint." + hint);
  return number;
}

}  // namespace

file::Striping striping_of(const Options& options) {
  constexpr std::int64_t largest = std::int64_t{1} << 32;
  file::Striping striping;
  striping.count =
      static_cast<int>(number_of(options, "striping_factor", 0, "a number of storage targets, 1 to 2000, or -1 for all",
                                 [](std::int64_t n) { return n == -1 || (n >= 1 && n <= file::most_stripes); }));
  striping.size = number_of(options, "striping_unit", 0, "bytes of a stripe, a multiple of 65536 below 4 GiB",
                            [](std::int64_t n) { return n > 0 && n < largest && n % file::least_stripe == 0; });
  striping.first =
      static_cast<int>(number_of(options, "start_iodevice", -1, "the number of a storage target, or -1 for any",
                                 [](std::int64_t n) { return n >= -1 && n < 0xffff; }));
  return striping;
}

std::int64_t alignment_of(const Options& options, int ranks) {
  const std::int64_t stripe = striping_of(options).size;
  // A stripe that several writers share is locked back and forth between them, and a page that they share is read
  // again: so parts begin at stripes, or at pages.
  const auto usual = options.direct_io || ranks > 1 ? static_cast<std::int64_t>(file::direct_alignment) : 8;
  return options.alignment.value_or(stripe > 0 ? stripe : usual);
}

std::vector<std::string> hints_not_followed(const Options& options) {
  std::vector<std::string> lines;
  for (const auto& hint : options.mpi_io_hints) {
    const std::string& name = hint.first;
    if (std::find(followed.begin(), followed.end(), name) != followed.end()) continue;
    const auto own = std::find_if(replacements.begin(), replacements.end(),
                                  [&](const Replacement& replacement) { return replacement.hint == name; });
    lines.push_back("mpi_io_hint." + name + ": a store is not written through MPI-IO, so it does not follow this hint" +
                    (own == replacements.end() ? std::string() : "; see option " + std::string(own->option)));
  }
  return lines;
}

MPI_Info info_of(const Options& options) {
  if (options.mpi_io_hints.empty()) return MPI_INFO_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [name, value] : options.mpi_io_hints) {
    if (name.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL &&
        MPI_Info_set(info, name.c_str(), value.c_str()) == MPI_SUCCESS)
      continue;
    MPI_Info_free(&info);
    throw Error(Kind::usage, "MPI takes no such hint").at("option mpi_io_hint." + name);
  }
  return info;
}

}  // namespace octavo::engine
