#include "arguments.hpp"

#include <array>

#include "octavo/ranks/world.hpp"

namespace octavo::bindings {

using base::Error;
using base::Kind;

MPI_Comm comm_from(std::optional<int> handle) {
  if (!handle) ranks::world();
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (initialized == 0 || finalized != 0)
    throw Error(Kind::usage, finalized != 0 ? "MPI has been finalised"
                                            : "MPI has not been started in the library that octavo was built with")
        .hint("mpi4py must use the same MPI library: docs/languages.md, Python");
  const MPI_Comm comm = handle ? MPI_Comm_f2c(*handle) : MPI_COMM_WORLD;
  if (comm == MPI_COMM_NULL) throw Error(Kind::usage, "the communicator is null");
  return comm;
}

engine::ArrayView view_of_buffer(const Py_buffer& buffer, mesh::ScalarType type) {
  engine::ArrayView view;
  if (buffer.ndim != 5) throw Error(Kind::usage, "expected 5 axes, found " + std::to_string(buffer.ndim));
  view.data = buffer.buf;
  view.type = type;
  view.cells = static_cast<std::size_t>(buffer.shape[0]);
  view.block = {buffer.shape[3], buffer.shape[2], buffer.shape[1]};
  view.components = static_cast<int>(buffer.shape[4]);
  std::array<std::int64_t, 5> strides{};
  std::int64_t packed = 1;
  bool is_packed = true;
  for (std::size_t axis = 5; axis-- > 0;) {
    // The stride of an axis with one entry has no meaning.
    strides[axis] = buffer.shape[axis] > 1 ? buffer.strides[axis] / buffer.itemsize : packed;
    is_packed = is_packed && strides[axis] == packed;
    packed *= buffer.shape[axis];
  }
  if (!is_packed) view.stride = {strides[0], strides[3], strides[2], strides[1], strides[4]};
  return view;
}

mesh::Centring centring_named(const std::string& name) {
  using enum mesh::Centring;
  return named<mesh::Centring>(
      "centring", name, {{"cell", cell}, {"face_x", face_x}, {"face_y", face_y}, {"face_z", face_z}, {"node", node}});
}

engine::Mode mode_named(const std::string& name) {
  return named<engine::Mode>("mode", name, {{"background", engine::Mode::background}, {"sync", engine::Mode::sync}});
}

mesh::Unstructured piece_from(const Doubles& x, const Doubles& y, const Numbers& triangles,
                              const std::optional<Numbers>& number, int planes) {
  const auto copy = [](const auto& array, auto& to) { to.assign(array.data(), array.data() + array.size()); };
  mesh::Unstructured piece;
  copy(x, piece.x);
  copy(y, piece.y);
  copy(triangles, piece.connectivity);
  piece.planes = planes;
  if (number) copy(*number, piece.global_point);
  return piece;
}

engine::Options options_from(const Settings& settings, const std::filesystem::path& file) {
  engine::Options options;
  for (const auto& [name, value] : settings) engine::set_option(options, name, value);
  return engine::read_options(options, file);
}

Error error_from(const Problem& problem) {
  const auto& [kind, message, places, hint] = problem;
  Error error(static_cast<Kind>(kind), message);
  for (const std::string& place : places) error.at(place);
  if (!hint.empty()) error.hint(hint);
  return error;
}

}  // namespace octavo::bindings
