#pragma once
#include <functional>
#include <string>
#include <utility>

#include "capi/arguments.hpp"
#include "capi/layout.hpp"
#include "capi/objects.hpp"
#include "octavo/mesh/sides.hpp"

/// The put functions that octavo_writer and octavo_native_writer share. `Handle` is either of them; put() also takes
/// octavo_series. If a put or a begin_step fails on one rank, the writer keeps the error and end_step returns it on all
/// ranks. A begin_step that succeeds clears the error of an earlier begin_step.
namespace octavo::capi {

inline std::string unit_of(const char* unit) { return unit == nullptr ? "" : unit; }

template <class Handle, class Work>
int put(Handle* writer, octavo_error* error, const char* place, Work&& work) noexcept {
  return guard(error, [&] {
    Handle& mine = checked(writer, "writer");
    try {
      work(mine);
    } catch (...) {
      Error problem = base::current_error();
      mine.writer.put_error(problem.at(place));
      throw problem;
    }
  });
}

template <class Handle, class Work>
int begin(Handle* writer, octavo_error* error, Work&& work) noexcept {
  return guard(error, [&] {
    Handle& mine = checked(writer, "writer");
    try {
      work(mine);
    } catch (...) {
      Error problem = base::current_error();
      mine.writer.begin_error(problem.at("begin_step"));
      throw problem;
    }
  });
}

template <class Handle>
int put_attribute(Handle* writer, const char* name, const std::function<mesh::Attribute()>& value,
                  octavo_error* error) noexcept {
  return put(writer, error, "an attribute",
             [&](Handle& to) { to.writer.put_attribute(&checked(name, "name"), value()); });
}

template <class Handle>
int put_tree(Handle* writer, int levels, const std::int64_t* cells_of_level, const std::uint8_t* refined,
             const std::uint8_t* owned, octavo_error* error) noexcept {
  return put(writer, error, "the mesh", [&](Handle& to) {
    to.writer.put_mesh(tree_from(to.dim, to.roots, to.block, levels, cells_of_level, refined, owned));
    to.boxes.reset();
  });
}

template <class Handle>
int put_boxes(Handle* writer, int levels, const std::int64_t* domain, const int* ratio,
              const std::int64_t* boxes_of_level, const std::int64_t* boxes, octavo_error* error) noexcept {
  return put(writer, error, "the boxes", [&](Handle& to) {
    const mesh::Patches patches = patches_from(to.dim, levels, domain, ratio, boxes_of_level, boxes);
    to.writer.put_mesh(patches);
    to.boxes = sizes_of(patches);
  });
}

/// Copied: it is read as late as the array is.
template <class Handle>
std::span<const std::uint32_t> keep_order(Handle& to, const std::int64_t* order, std::int64_t cells) {
  if (order == nullptr) return {};
  return to.orders.emplace_back(order_from(order, cells));
}

template <class Handle>
int put_array(Handle* writer, const char* name, const char* unit, const octavo_array* array,
              octavo_error* error) noexcept {
  return put(writer, error, "a field", [&](Handle& to) {
    const octavo_array& from = checked(array, "array");
    engine::ArrayView view = view_of(from, to.boxes ? mesh::Index3{1, 1, 1} : to.block);
    view.order = keep_order(to, from.order, from.cells);
    to.writer.put_field(&checked(name, "name"), view, unit_of(unit), centring_of(from.centring));
  });
}

/// `view` gives an ArrayView or FieldViews; it may throw.
template <class Handle, class View>
int put_view(Handle* writer, const char* name, const char* unit, View&& view, octavo_error* error) noexcept {
  return put(writer, error, "a field", [&](Handle& to) {
    const FieldViews views = view(to);
    std::visit([&](const auto& of) { to.writer.put_field(&checked(name, "name"), of, unit_of(unit)); }, views);
  });
}

template <class Handle>
int put_blocks(Handle* writer, const char* name, const char* unit, int type, const void* values, std::int64_t count,
               int ghost, std::int64_t stride, int space, octavo_error* error) noexcept {
  const auto view = [&](const Handle& to) {
    return views_in_a_row({type, to.dim, ghost, stride, space}, to.boxes, to.block, values, count);
  };
  return put_view(writer, name, unit, view, error);
}

template <class Handle>
int put_arrays(Handle* writer, const char* name, const char* unit, int type, const void* const* values,
               std::int64_t count, int ghost, std::int64_t stride, int space, octavo_error* error) noexcept {
  const auto view = [&](const Handle& to) {
    return views_of_boxes({type, to.dim, ghost, stride, space}, to.boxes, values, count);
  };
  return put_view(writer, name, unit, view, error);
}

/// Of a tree: arrays with one value more along `axis`.
template <class Handle, class View>
int put_face_view(Handle* writer, const char* name, const char* unit, int axis, View&& view,
                  octavo_error* error) noexcept {
  return put(writer, error, "a field", [&](Handle& to) {
    const mesh::Centring centring = faces_along(axis, to.dim);
    to.writer.put_field(&checked(name, "name"), view(to), unit_of(unit), centring);
  });
}

template <class Handle>
int put_faces(Handle* writer, const char* name, const char* unit, int axis, int type, const void* values,
              std::int64_t count, int ghost, std::int64_t stride, int space, octavo_error* error) noexcept {
  const auto view = [&](const Handle& to) {
    mesh::Index3 faces = to.block;
    ++faces[static_cast<std::size_t>(axis)];
    return view_of_arrays({type, to.dim, ghost, stride, space}, values, count, faces);
  };
  return put_face_view(writer, name, unit, axis, view, error);
}

template <class Handle>
int put_species(Handle* writer, const char* species, const char* attribute,
                const std::function<engine::ArrayView()>& view, octavo_error* error) noexcept {
  return put(writer, error, "particles", [&](Handle& to) {
    to.writer.put_particles(&checked(species, "species"), &checked(attribute, "attribute"), view());
  });
}

}  // namespace octavo::capi
