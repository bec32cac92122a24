#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/liquid.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "octavo/partition/contour.hpp"
#include "octavo/partition/cut.hpp"
#include "octavo/partition/graph.hpp"
#include "tests/support/serafin_fixture.hpp"

// Input: a byte that chooses one of the sound files, then edits of it (where, in two bytes; what; a value). Odd first
// bytes edit its boundary file. A file that opens is read whole, cut and traced.
namespace {

using namespace octavo;
using namespace octavo::formats::serafin;
namespace fs = std::filesystem;

struct Sound {
  std::string series, boundary;
};

std::vector<Sound> sound_files() {
  std::vector<Sound> all;
  for (std::uint32_t kind = 0; kind < 8; ++kind) {
    testing::SerafinFixture f;
    f.mesh = testing::random_triangles(kind, 4, 3, kind % 2 == 0);
    f.big_endian = (kind & 1) == 0;
    f.doubles = (kind & 2) != 0;
    f.planes = (kind & 4) != 0 ? 2 : 1;
    f.date = kind % 3 == 0;
    all.push_back({serafin_bytes(f), testing::boundary_text(testing::boundary_of(f.mesh))});
  }
  return all;
}

void edit(std::string& bytes, const std::uint8_t* what) {
  if (bytes.empty()) return;
  const std::size_t at = static_cast<std::size_t>(what[0] * 256 + what[1]) % bytes.size();
  switch (what[2] % 6) {
    case 0: bytes[at] = static_cast<char>(what[3]); break;
    case 1: bytes[at] = static_cast<char>(bytes[at] ^ static_cast<char>(what[3])); break;
    case 2: bytes.insert(at, std::string(1 + what[3] % 12, static_cast<char>(what[3]))); break;
    case 3: bytes.erase(at, 1 + what[3] % 24); break;
    case 4: bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), what[3])); break;
    default: bytes.replace(at / 4 * 4, 4, {'\0', '\0', '\0', static_cast<char>(what[3])});
  }
}

void trace(const mesh::Unstructured& read, const std::vector<std::int32_t>& connectivity, const fs::path& path) {
  const auto points = static_cast<std::int32_t>(read.x.size());
  std::vector<std::int32_t> on;
  std::vector<double> x, y;
  const auto boundary = read_boundary(path, points);
  for (const BoundaryPoint& p : boundary) {
    on.push_back(p.point - 1);
    x.push_back(read.x[static_cast<std::size_t>(on.back())]);
    y.push_back(read.y[static_cast<std::size_t>(on.back())]);
  }
  number_liquid(boundary, partition::trace_contour(connectivity, points, on).next, x, y);
}

void read_all(const fs::path& path, const fs::path& boundary) {
  const SerafinSeries series = open_series(path);
  for (std::int64_t step = 0; step < std::min<std::int64_t>(series.steps, 20); ++step) {
    read_time(series, step);
    std::vector<double> values(static_cast<std::size_t>(series.header.points));
    for (std::size_t v = 0; v < series.header.variables.size(); ++v) read_values(series, step, v, 0, values);
  }
  const mesh::Unstructured read = read_mesh(series);
  const std::vector<std::int32_t> connectivity(read.connectivity.begin(), read.connectivity.end());
  const auto parts = static_cast<std::int32_t>(1 + read.x.size() % 5);
  const auto points = static_cast<std::int32_t>(read.x.size());
  partition::list_parts(partition::cut_hilbert(connectivity, read.x, read.y, parts), parts);
  partition::find_behind(connectivity, points);
  partition::find_boundary(connectivity, read.x, read.y);
  trace(read, connectivity, boundary);
}

struct Files {
  fs::path series, boundary;
  Files() {
    const fs::path memory = "/dev/shm";
    const std::string base = ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
                              ("octavo-fuzz-serafin-" + std::to_string(::getpid())))
                                 .string();
    series = base + ".slf";
    boundary = base + ".cli";
  }
  ~Files() {
    std::error_code ignored;
    fs::remove(series, ignored);
    fs::remove(boundary, ignored);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Files files;
  static const std::vector<Sound> sound = sound_files();
  if (size < 1) return 0;
  Sound edited = sound[data[0] / 2 % sound.size()];
  for (std::size_t i = 1; i + 4 <= size; i += 4) edit(data[0] % 2 == 0 ? edited.series : edited.boundary, data + i);
  testing::put_file(files.series, edited.series);
  testing::put_file(files.boundary, edited.boundary);
  try {
    looks_like_series(files.series);
    read_all(files.series, files.boundary);
  } catch (const base::Error&) {
  }
  return 0;
}
