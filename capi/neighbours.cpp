#include <memory>

#include "capi/arguments.hpp"
#include "capi/objects.hpp"
#include "octavo/engine/restart/neighbour_arrays.hpp"
#include "octavo/ranks/communicator.hpp"

using namespace octavo;
using namespace octavo::capi;

int octavo_restart_neighbours(MPI_Comm comm, const octavo_restart* restart, octavo_neighbours* neighbours,
                              octavo_error* error) {
  return guard(error, [&] {
    ranks::agree(comm, [&] {
      checked(restart, "restart");
      checked(neighbours, "neighbours") = {};
    });
    auto own =
        std::make_unique<engine::NeighbourArrays>(engine::arrays_of(engine::find_neighbours(comm, restart->value)));
    *neighbours = {std::ssize(own->shared),
                   own->shared.data(),
                   own->first.data(),
                   own->ranks.data(),
                   std::ssize(own->halo_triangle),
                   own->halo_triangle.data(),
                   own->behind_rank.data(),
                   own->behind_triangle.data(),
                   std::ssize(own->boundary_point),
                   own->boundary_point.data(),
                   own->place.data(),
                   own->liquid.data(),
                   own->next.data(),
                   own->previous.data(),
                   own->codes.data(),
                   own->values.data(),
                   own->colour.data(),
                   nullptr};
    neighbours->owner = own.release();
  });
}

void octavo_neighbours_free(octavo_neighbours* neighbours) {
  if (neighbours == nullptr) return;
  delete static_cast<engine::NeighbourArrays*>(neighbours->owner);
  *neighbours = {};
}
