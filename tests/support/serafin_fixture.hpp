#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <utility>
#include <vector>

/// Small triangle meshes, and SERAFIN files built by hand from the format notes: nothing here is shared with the reader
/// or the writer.
namespace octavo::testing {

/// Triangles, points from 0, counter-clockwise.
struct Triangles {
  std::vector<double> x, y;
  std::vector<std::int32_t> connectivity;
};

/// A grid of columns x rows squares, each cut along either diagonal, points and elements in random order; the square in
/// the middle is left out where `hole` says so (an island). Coordinates are exact in 4 bytes.
inline Triangles random_triangles(std::uint32_t seed, std::int32_t columns, std::int32_t rows, bool hole = false) {
  std::mt19937 random(seed);
  const std::int32_t count = (columns + 1) * (rows + 1);
  std::vector<std::int32_t> name(static_cast<std::size_t>(count));
  for (std::int32_t i = 0; i < count; ++i) name[static_cast<std::size_t>(i)] = i;
  std::shuffle(name.begin(), name.end(), random);
  Triangles mesh;
  mesh.x.resize(name.size());
  mesh.y.resize(name.size());
  const auto point = [&](std::int32_t i, std::int32_t j) {
    return name[static_cast<std::size_t>(i + j * (columns + 1))];
  };
  for (std::int32_t j = 0; j <= rows; ++j)
    for (std::int32_t i = 0; i <= columns; ++i) {
      const bool inside = i > 0 && j > 0 && i < columns && j < rows;
      const auto p = static_cast<std::size_t>(point(i, j));
      mesh.x[p] = i + (inside ? static_cast<double>(random() % 64) / 256 : 0);
      mesh.y[p] = j + (inside ? static_cast<double>(random() % 64) / 256 : 0);
    }
  std::vector<std::array<std::int32_t, 3>> elements;
  for (std::int32_t j = 0; j < rows; ++j)
    for (std::int32_t i = 0; i < columns; ++i) {
      if (hole && i == columns / 2 && j == rows / 2) continue;
      const std::int32_t a = point(i, j), b = point(i + 1, j), c = point(i + 1, j + 1), d = point(i, j + 1);
      const bool rising = random() % 2 == 0;
      elements.push_back(rising ? std::array{a, b, c} : std::array{a, b, d});
      elements.push_back(rising ? std::array{a, c, d} : std::array{b, c, d});
    }
  std::shuffle(elements.begin(), elements.end(), random);
  for (auto& element : elements) {
    std::rotate(element.begin(), element.begin() + random() % 3, element.end());
    mesh.connectivity.insert(mesh.connectivity.end(), element.begin(), element.end());
  }
  return mesh;
}

struct SerafinFixture {
  Triangles mesh;
  std::vector<std::int32_t> numbers;  ///< IPOBO; empty: zeros
  bool big_endian = true;
  bool doubles = false;
  int planes = 1;
  int variables = 2;
  int steps = 3;
  bool date = false;
  std::string tag = "SERAFIN ";
};

/// The value of a point of a variable at a step; exact in 4 bytes.
inline double serafin_value(int step, int variable, std::size_t point) {
  return 1024.0 * step + 64.0 * variable + static_cast<double>(point) / 16 - 7;
}

/// Appends records in a byte order.
struct SerafinBytes {
  bool big;
  std::string bytes;
  template <class T>
  void put(T value) {
    std::string raw(reinterpret_cast<const char*>(&value), sizeof(T));
    if (big == (std::endian::native == std::endian::little)) std::reverse(raw.begin(), raw.end());
    bytes += raw;
  }
  template <class T>
  void record(const std::vector<T>& values) {
    put(static_cast<std::int32_t>(values.size() * sizeof(T)));
    for (const T value : values) put(value);
    put(static_cast<std::int32_t>(values.size() * sizeof(T)));
  }
  void text(const std::string& value) { record(std::vector<char>(value.begin(), value.end())); }
  void reals(const std::vector<double>& values, bool doubles) {
    doubles ? record(values) : record(std::vector<float>(values.begin(), values.end()));
  }
};

inline std::string padded(const std::string& text, std::size_t size) {
  std::string out(size, ' ');
  text.copy(out.data(), size);
  return out;
}

inline std::string serafin_bytes(const SerafinFixture& f) {
  SerafinBytes out{f.big_endian, {}};
  const std::size_t points = f.mesh.x.size(), planes = static_cast<std::size_t>(f.planes);
  const auto repeated = [&](const auto& once) {
    auto all = once;
    for (std::size_t p = 1; p < planes; ++p) all.insert(all.end(), once.begin(), once.end());
    return all;
  };
  out.text(padded("A MESH MADE BY HAND", 72) + f.tag);
  out.record(std::vector<std::int32_t>{f.variables, 0});
  for (int v = 0; v < f.variables; ++v) out.text(padded("VARIABLE " + std::to_string(v), 16) + padded("M", 16));
  out.record(std::vector<std::int32_t>{1, 0, 0, 0, 0, 0, f.planes > 1 ? f.planes : 0, 0, 0, f.date ? 1 : 0});
  if (f.date) out.record(std::vector<std::int32_t>{2026, 11, 21, 9, 30, 0});
  std::vector<std::int32_t> connectivity;
  for (std::size_t plane = 0; plane < std::max<std::size_t>(1, planes - 1); ++plane)
    for (std::size_t e = 0; e < f.mesh.connectivity.size(); e += 3)
      for (std::size_t above = 0; above < (planes > 1 ? 2U : 1U); ++above)
        for (std::size_t k = 0; k < 3; ++k)
          connectivity.push_back(f.mesh.connectivity[e + k] + 1 + static_cast<std::int32_t>((plane + above) * points));
  const std::int32_t nodes = planes > 1 ? 6 : 3;
  out.record(std::vector<std::int32_t>{static_cast<std::int32_t>(connectivity.size()) / nodes,
                                       static_cast<std::int32_t>(points * planes), nodes, 1});
  out.record(connectivity);
  std::vector<std::int32_t> numbers = f.numbers;
  numbers.resize(points, 0);
  out.record(repeated(numbers));
  out.reals(repeated(f.mesh.x), f.doubles);
  out.reals(repeated(f.mesh.y), f.doubles);
  for (int step = 0; step < f.steps; ++step) {
    out.reals({1.5 * step}, f.doubles);
    for (int v = 0; v < f.variables; ++v) {
      std::vector<double> values(points * planes);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = serafin_value(step, v, i);
      out.reals(values, f.doubles);
    }
  }
  return out.bytes;
}

inline void put_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

inline std::string bytes_of_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The boundary as its edges run, outer line and islands: points in order, by walking edges that one element has.
inline std::vector<std::int32_t> boundary_of(const Triangles& mesh) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::size_t i = 0; i < mesh.connectivity.size(); ++i)
    edges.emplace_back(mesh.connectivity[i], mesh.connectivity[i % 3 == 2 ? i - 2 : i + 1]);
  std::sort(edges.begin(), edges.end());
  std::vector<std::int32_t> next(mesh.x.size(), -1);
  for (const auto& [a, b] : edges)
    if (!std::binary_search(edges.begin(), edges.end(), std::pair(b, a))) next[static_cast<std::size_t>(a)] = b;
  std::vector<std::int32_t> order;
  for (std::size_t start = 0; start < next.size(); ++start)
    for (std::size_t i = start; next[i] >= 0;) {
      order.push_back(static_cast<std::int32_t>(i));
      i = static_cast<std::size_t>(std::exchange(next[i], -1));
    }
  return order;
}

/// IPOBO: each point's rank on that boundary, 0 inside.
inline std::vector<std::int32_t> ranks_of(const Triangles& mesh) {
  std::vector<std::int32_t> ranks(mesh.x.size(), 0);
  std::int32_t rank = 0;
  for (const std::int32_t point : boundary_of(mesh)) ranks[static_cast<std::size_t>(point)] = ++rank;
  return ranks;
}

/// The first element that has both points.
inline std::size_t element_with(const Triangles& mesh, std::int32_t a, std::int32_t b) {
  const auto has = [&](std::size_t e, std::int32_t point) {
    const auto first = mesh.connectivity.begin() + static_cast<std::ptrdiff_t>(3 * e);
    return std::find(first, first + 3, point) != first + 3;
  };
  std::size_t e = 0;
  while (!has(e, a) || !has(e, b)) ++e;
  return e;
}

/// Boundary file: walls everywhere.
inline std::string boundary_text(const std::vector<std::int32_t>& boundary) {
  std::string text;
  for (std::size_t k = 0; k < boundary.size(); ++k)
    text += "2 2 2 0. 0. 0. 0. 2 0. 0. 0. " + std::to_string(boundary[k] + 1) + " " + std::to_string(k + 1) + "\n";
  return text;
}

}  // namespace octavo::testing
