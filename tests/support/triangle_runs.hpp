#pragma once
#include "octavo/engine/write/writer.hpp"
#include "tests/support/series_pieces.hpp"

/// For tests on any number of ranks: steps of a store of triangles.
namespace octavo::testing {

inline mesh::Header triangles_header(const SerafinFixture& f) {
  mesh::Header header;
  header.code = "test";
  header.dim = f.planes > 1 ? 3 : 2;
  return header;
}

inline double triangle_value(const SerafinFixture& f, int step, int field, int plane, std::int64_t point) {
  return serafin_value(step, field,
                       static_cast<std::size_t>(plane) * f.mesh.x.size() + static_cast<std::size_t>(point));
}

/// The arrays that a rank puts; they stay until the step is written.
struct TriangleArrays {
  engine::SeriesMesh mesh;
  std::vector<double> a;
  std::vector<float> b;
  std::vector<std::int32_t> number;
};

inline TriangleArrays arrays_of(const SerafinFixture& f, std::uint32_t seed, int step) {
  TriangleArrays out{piece_of(f, seed), {}, {}, {}};
  for (int plane = 0; plane < f.planes; ++plane)
    for (const std::int64_t point : out.mesh.piece.global_point) {
      out.a.push_back(triangle_value(f, step, 0, plane, point));
      out.b.push_back(static_cast<float>(triangle_value(f, step, 1, plane, point)));
      out.number.push_back(static_cast<std::int32_t>(10 * point + plane));
    }
  return out;
}

inline void write_triangles(engine::Writer& writer, store::Flow flow, int step, const TriangleArrays& arrays) {
  writer.begin_step(flow, step, 0.5 * step);
  writer.put_mesh(arrays.mesh.piece, arrays.mesh.global_element);
  writer.put_field("a", engine::view_of(arrays.a), "m");
  writer.put_field("b", engine::view_of(arrays.b));
  writer.put_field("number", engine::view_of(arrays.number));
  writer.end_step();
}

/// Describes the first error in a part's values, which stand at the points of its numbers; empty if there is none.
inline std::string wrong_values(const SerafinFixture& f, int step, const mesh::Part& part) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  const std::size_t points = mesh.x.size();
  if (part.fields.size() != 3) return "expected 3 fields, found " + std::to_string(part.fields.size());
  for (std::size_t i = 0; i < points; ++i) {
    const auto number = mesh.global_point.empty() ? static_cast<std::int64_t>(i) : mesh.global_point[i];
    const std::string where = "point " + std::to_string(number);
    if (mesh.x[i] != f.mesh.x[static_cast<std::size_t>(number)]) return where + ": x";
    if (mesh.y[i] != f.mesh.y[static_cast<std::size_t>(number)]) return where + ": y";
    for (int plane = 0; plane < f.planes; ++plane) {
      const std::size_t at = static_cast<std::size_t>(plane) * points + i;
      if (part.fields[0].as<double>()[at] != triangle_value(f, step, 0, plane, number)) return where + ": field a";
      if (part.fields[1].as<float>()[at] != static_cast<float>(triangle_value(f, step, 1, plane, number)))
        return where + ": field b";
      if (part.fields[2].as<std::int32_t>()[at] != 10 * number + plane) return where + ": field number";
    }
  }
  return "";
}

}  // namespace octavo::testing
