#include <nanobind/nanobind.h>

#include "octavo/parallel/world.hpp"

namespace nb = nanobind;

NB_MODULE(_mpi, m) {
  nb::module_::import_("octavo._core");  // binds Ranks
  m.def("world", &octavo::parallel::world, "The processes that mpirun started; starts MPI where nobody has.");
  m.def("abort", &octavo::parallel::abort, nb::arg("code"), "Ends all ranks with this exit code.");
}
