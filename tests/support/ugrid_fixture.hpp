#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "octavo/base/byte_order.hpp"

/// A UGRID file built by hand.
namespace octavo::testing {

/// Words of a classic file, put one after another by hand: nothing here is shared with reader or writer.
struct Classic {
  std::string bytes;
  template <class T>
  Classic& put(T value) {
    std::array<std::byte, sizeof(T)> raw{};
    base::store(raw.data(), value, std::endian::big);
    bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
    return *this;
  }
  Classic& word(std::int32_t value) { return put(value); }
  Classic& name(const std::string& text) {
    word(static_cast<std::int32_t>(text.size()));
    bytes += text;
    bytes.resize((bytes.size() + 3) / 4 * 4, '\0');
    return *this;
  }
  Classic& text(const std::string& attribute, const std::string& value) { return name(attribute).word(2).name(value); }
  Classic& number(const std::string& attribute, std::int32_t value) {
    return name(attribute).word(4).word(1).word(value);
  }
};

/// CDF-1: a quadrangle and a triangle, depth at points and level in cells, two steps (records) and a bed without.
///   3---2
///   |   | \ .
///   0---1--4
inline std::string two_cells(std::int32_t start = 0, std::int32_t fourth = 3, std::int32_t records = 2) {
  Classic f;
  f.bytes = std::string("CDF\1", 4);
  f.word(records);
  f.word(10).word(4).name("time").word(0).name("nodes").word(5).name("faces").word(2).name("most").word(4);
  f.word(12).word(1).text("title", "two cells");
  constexpr std::int32_t variables = 8;
  // The header's length is known once it is made: it is made twice.
  std::int32_t data = 0;
  const std::string before = f.bytes;
  for (int pass = 0; pass < 2; ++pass) {
    f.bytes = before;
    f.word(11).word(variables);
    f.name("mesh").word(0).word(12).word(4).text("cf_role", "mesh_topology").number("topology_dimension", 2);
    f.text("node_coordinates", "x y").text("face_node_connectivity", "fn").word(4).word(4).word(data);
    f.name("x").word(1).word(1).word(12).word(1).text("units", "m").word(6).word(40).word(data + 4);
    f.name("y").word(1).word(1).word(0).word(0).word(6).word(40).word(data + 44);
    f.name("fn").word(2).word(2).word(3).word(12).word(2).number("start_index", start).number("_FillValue", -999);
    f.word(4).word(32).word(data + 84);
    f.name("bed").word(1).word(1).word(12).word(2).text("mesh", "mesh").text("location", "node").word(5).word(20);
    f.word(data + 116);
    f.name("time").word(1).word(0).word(12).word(1).text("units", "hours since 2001-02-03").word(6).word(8);
    f.word(data + 136);
    f.name("depth").word(2).word(0).word(1).word(12).word(3).text("mesh", "mesh").text("location", "node");
    f.text("units", "m").word(5).word(20).word(data + 144);
    f.name("level").word(2).word(0).word(2).word(12).word(2).text("mesh", "mesh").text("location", "face").word(6);
    f.word(16).word(data + 164);
    data = static_cast<std::int32_t>(f.bytes.size());
  }
  f.word(7);
  for (const double x : {0, 1, 1, 0, 2}) f.put(x);
  for (const double y : {0, 0, 1, 1, 0}) f.put(y);
  for (const std::int32_t point : {0, 1, 2, fourth, 1, 4, 2}) f.word(point + start);
  f.word(-999);
  for (int i = 0; i < 5; ++i) f.put(static_cast<float>(-i));
  for (int step = 0; step < 2; ++step) {
    f.put(1.0 + step);
    for (int i = 0; i < 5; ++i) f.put(static_cast<float>(10 * step + i));
    f.put(100.0 + step).put(200.0 + step);
  }
  return f.bytes;
}

}  // namespace octavo::testing
