#pragma once
#include <mpi.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include "keywords.hpp"
#include "octavo/engine/options.hpp"
#include "octavo/engine/step/array_view.hpp"
#include "octavo/mesh/unstructured.hpp"

/// Arguments that Python passes to a writer: a communicator, and arrays that are read after the call that passes them.
namespace octavo::bindings {

void bind_writer(nb::module_& m);

/// None means all processes of mpirun (and starts MPI if nobody has); else a Fortran handle, as mpi4py's py2f gives it.
MPI_Comm comm_from(std::optional<int> handle);

/// The memory of an object with the buffer protocol; keeps it, its size and its place until this is gone.
class Buffer {
 public:
  explicit Buffer(nb::handle object) : view_(new Py_buffer) {
    if (PyObject_GetBuffer(object.ptr(), view_.get(), PyBUF_STRIDES) != 0) {
      view_.reset();
      throw nb::python_error();
    }
  }
  ~Buffer() {
    if (view_) PyBuffer_Release(view_.get());
  }
  Buffer(Buffer&&) noexcept = default;
  Buffer& operator=(Buffer&&) = delete;
  const Py_buffer& get() const { return *view_; }

 private:
  std::unique_ptr<Py_buffer> view_;
};

/// A buffer of shape (cells, z, y, x, components), whose strides are whole elements and not 0 (octavo.parallel sees to
/// it).
engine::ArrayView view_of_buffer(const Py_buffer& buffer, mesh::ScalarType type);

/// "cell", "face_x", "face_y", "face_z", "node"; Error(usage) for any other.
mesh::Centring centring_named(const std::string& name);

/// Options by name; a file of options and variables override them.
using Settings = std::vector<std::pair<std::string, std::string>>;
engine::Options options_from(const Settings& settings, const std::filesystem::path& file);

/// "background" or "sync"; Error(usage) for any other.
engine::Mode mode_named(const std::string& name);

using Doubles = nb::ndarray<const double, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const std::int64_t, nb::c_contig, nb::device::cpu>;

/// A rank's piece of a mesh of triangles: (points,), (points,), (triangles, 3), (points,).
mesh::Unstructured piece_from(const Doubles& x, const Doubles& y, const Numbers& triangles,
                              const std::optional<Numbers>& number, int planes);

/// An error found in Python, as octavo.errors takes it apart: kind, message, places, hint.
using Problem = std::tuple<int, std::string, std::vector<std::string>, std::string>;
base::Error error_from(const Problem& problem);

}  // namespace octavo::bindings
