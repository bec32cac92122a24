#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// A mesh of Gmsh built by hand: a quadrangle and a triangle with heights, a boundary line, a point that no cell has,
/// and values that mean nothing to the reader.
namespace octavo::testing {

struct GmshBytes {
  bool binary;
  std::string bytes{};
  void line(const std::string& text) { bytes += text + "\n"; }
  template <class T>
  void raw(T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  /// Numbers of one kind: text, or binary of their type.
  template <class T>
  void put(const std::vector<double>& values, bool ends = false) {
    for (const double value : values) {
      if (binary)
        raw(static_cast<T>(value));
      else {
        std::string text = std::to_string(value);
        text.erase(text.find_last_not_of('0') + 1);
        if (text.back() == '.') text.pop_back();
        bytes += (bytes.back() == '\n' ? "" : " ") + text;
      }
    }
    if (ends && !binary) bytes += " \n";
  }
};

inline std::string gmsh_bytes(bool newer, bool binary) {
  const std::vector<std::vector<double>> points{{1, 0, 0, -1}, {2, 1, 0, -2},   {3, 1, 1, -3},
                                                {4, 0, 1, -4}, {77, 9, 9, -99}, {9, 2, 0.5, -5}};
  GmshBytes f{binary};
  f.line("$MeshFormat");
  f.line(std::string(newer ? "4.1 " : "2.2 ") + (binary ? "1" : "0") + " 8");
  if (binary) {
    f.raw(std::int32_t{1});
    f.bytes += '\n';
  }
  f.line("$EndMeshFormat");
  f.line("$Nodes");
  if (newer) {
    f.put<std::int64_t>({2, 6, 1, 77}, true);
    for (const std::size_t block : {std::size_t{0}, std::size_t{1}}) {
      f.put<std::int32_t>({block == 0 ? 1.0 : 2.0, 1, block == 0 ? 1.0 : 0.0});  // the first has a parameter
      f.put<std::int64_t>({3}, true);
      for (std::size_t i = 3 * block; i < 3 * block + 3; ++i) f.put<std::int64_t>({points[i][0]}, true);
      for (std::size_t i = 3 * block; i < 3 * block + 3; ++i) {
        f.put<double>({points[i][1], points[i][2], points[i][3]}, block == 1);
        if (block == 0) f.put<double>({0.5}, true);
      }
    }
  } else {
    f.line("6");
    for (const auto& point : points) {
      f.put<std::int32_t>({point[0]});
      f.put<double>({point[1], point[2], point[3]}, true);
    }
  }
  f.line(binary ? "\n$EndNodes" : "$EndNodes");
  f.line("$Elements");
  const std::vector<std::vector<double>> cells{
      {5, 1, 1, 2}, {6, 3, 1, 2, 3, 4}, {7, 2, 2, 9, 3}};  // number, type, points
  if (newer)
    f.put<std::int64_t>({3, 3, 5, 7}, true);
  else
    f.line("3");
  for (const auto& cell : cells) {
    const std::vector<double> corners(cell.begin() + 2, cell.end());
    if (newer) {
      f.put<std::int32_t>({2, 1, cell[1]});
      f.put<std::int64_t>({1}, true);
      f.put<std::int64_t>({cell[0]});
      f.put<std::int64_t>(corners, true);
    } else if (binary) {
      f.put<std::int32_t>({cell[1], 1, 2, cell[0], 1, 1});
      f.put<std::int32_t>(corners);
    } else {
      f.put<std::int32_t>({cell[0], cell[1], 2, 1, 1});
      f.put<std::int32_t>(corners, true);
    }
  }
  f.line(binary ? "\n$EndElements" : "$EndElements");
  f.line("$NodeData");
  f.line(binary ? "\x01$End\x02" : "nothing");
  f.line("$EndNodeData");
  return f.bytes;
}

}  // namespace octavo::testing
