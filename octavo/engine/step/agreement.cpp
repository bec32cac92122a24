#include "octavo/engine/step/agreement.hpp"

#include <array>

#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {

// The least of some numbers is the largest of their negatives, so one message serves both.
void reduce(MPI_Comm comm, Agreement& a) {
  const std::array least{&a.finished, &a.durable, &a.drained,    &a.safe,       &a.unsafe,         &a.failed,
                         &a.lost,     &a.marked,  &a.step.least, &a.part.least, &a.triangles.least};
  const std::array most{&a.put_failed, &a.patches, &a.new_mesh, &a.step.most, &a.part.most, &a.triangles.most};
  std::array<std::int64_t, least.size() + most.size()> numbers{};
  auto at = numbers.begin();
  for (const std::int64_t* number : least) *at++ = -*number;
  for (const std::int64_t* number : most) *at++ = *number;
  ranks::largest_and_sum_of_all(comm, numbers, a.volume);
  at = numbers.begin();
  for (std::int64_t* number : least) *number = -*at++;
  for (std::int64_t* number : most) *number = *at++;
}

}  // namespace octavo::engine
