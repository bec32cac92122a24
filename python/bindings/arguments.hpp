#pragma once
#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "bindings.hpp"
#include "octavo/parallel/array_view.hpp"

/// What Python hands to a writer: a communicator, and arrays that are read later than they are handed over.
namespace octavo::bindings {

void bind_native(nb::module_& m);

/// None is all processes of mpirun (MPI is started where nobody has); else a Fortran handle, as mpi4py's py2f gives it.
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
parallel::ArrayView view_of_buffer(const Py_buffer& buffer, mesh::ScalarType type);

/// "cell", "face_x", "face_y", "face_z", "node"; Error(usage) for any other.
mesh::Centring centring_named(const std::string& name);

/// An error found in Python, as octavo.parallel takes it apart.
base::Error error_from(int kind, const std::string& message, const std::vector<std::string>& places,
                       const std::string& hint);

}  // namespace octavo::bindings
