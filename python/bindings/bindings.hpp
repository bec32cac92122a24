#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/base/progress.hpp"
#include "text.hpp"

namespace nb = nanobind;

namespace octavo::bindings {

void bind_codec(nb::module_& m);
void bind_mesh(nb::module_& m);
void bind_store(nb::module_& m);
void bind_verbs(nb::module_& m);
void bind_analysis(nb::module_& m);
void bind_particles(nb::module_& m);
void bind_diff(nb::module_& m);
void bind_slices(nb::module_& m);
void bind_export(nb::module_& m);
void bind_telemac(nb::module_& m);
void bind_triangles(nb::module_& m);

/// Makes a NumPy array that takes over the vector without a copy.
template <class T>
nb::object to_array(std::vector<T>&& values, std::vector<std::size_t> shape) {
  auto* owned = new std::vector<T>(std::move(values));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(owned->data(), shape.size(), shape.data(), owner));
}

/// While an object lives, Ctrl-C and SIGTERM ask the running job to stop. They cannot wait for the interpreter, because
/// the job keeps it from running. The destructor restores the earlier handlers.
class StopOnSignal {
 public:
  StopOnSignal();
  ~StopOnSignal();
  StopOnSignal(const StopOnSignal&) = delete;
  StopOnSignal& operator=(const StopOnSignal&) = delete;
};

/// Progress from Python: a callable (done, total) or None. It also answers "stop" once a signal has come, so that a job
/// without a callable can be stopped too. Called without the GIL, from any thread.
base::Progress progress_from(nb::object callable);

}  // namespace octavo::bindings
