#include "capi/arguments.hpp"
#include "capi/objects.hpp"

namespace {

using namespace octavo;
using namespace octavo::capi;

const mesh::Unstructured& triangles_of(const octavo_restart* restart) {
  const auto* mesh = std::get_if<mesh::Unstructured>(&checked(restart, "restart").value.part.mesh);
  if (mesh == nullptr) throw Error(Kind::usage, "the step is not of triangles");
  return *mesh;
}

template <class T>
void copy(const std::vector<T>& from, T* to) {
  if (to != nullptr) std::copy(from.begin(), from.end(), to);
}

}  // namespace

int octavo_writer_put_triangles(octavo_writer* writer, const octavo_series_mesh* mesh, octavo_error* error) {
  return guard(error, [&] {
    engine::Writer& to = checked(writer, "writer").writer;
    try {
      const engine::SeriesMesh piece = mesh_from(checked(mesh, "mesh"));
      if (mesh->boundary != nullptr || mesh->geometry != nullptr)
        throw Error(Kind::usage, "put_triangles: boundary and geometry are for SERAFIN files")
            .hint("a boundary is an integer field");
      to.put_mesh(piece.piece, piece.global_element);
    } catch (const Error& wrong) {
      to.put_error(wrong);  // end_step() tells all ranks
      throw;
    }
  });
}

int octavo_restart_triangle_counts(const octavo_restart* restart, int64_t* points, int64_t* triangles, int* planes,
                                   octavo_error* error) {
  return guard(error, [&] {
    const mesh::Unstructured& mesh = triangles_of(restart);
    checked(points, "points") = static_cast<std::int64_t>(mesh.x.size());
    checked(triangles, "triangles") = static_cast<std::int64_t>(mesh.connectivity.size() / 3);
    checked(planes, "planes") = mesh.planes;
  });
}

int octavo_restart_triangles(const octavo_restart* restart, double* x, double* y, int64_t* connectivity,
                             int64_t* global_point, int64_t* global_element, octavo_error* error) {
  return guard(error, [&] {
    const mesh::Unstructured& mesh = triangles_of(restart);
    copy(mesh.x, x);
    copy(mesh.y, y);
    copy(mesh.connectivity, connectivity);
    copy(mesh.global_point, global_point);
    copy(restart->value.global_element, global_element);
  });
}
