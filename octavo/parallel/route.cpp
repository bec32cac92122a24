#include "octavo/parallel/route.hpp"

#include <array>

#include "octavo/parallel/step_puts.hpp"

namespace octavo::parallel {

void require_same(MPI_Comm comm, const std::string& mine, const std::string& what) {
  std::array<std::int64_t, 2> range{hash_of(mine), -hash_of(mine)};
  MPI_Allreduce(MPI_IN_PLACE, range.data(), 2, MPI_INT64_T, MPI_MAX, comm);
  if (range[0] == -range[1]) return;
  const auto all = ranks_of(comm).all_gather(mine);
  for (std::size_t r = 1; r < all.size(); ++r)
    if (all[r] != all[0])
      throw base::Error(base::Kind::usage, "ranks disagree about " + what + ": rank 0 has " + all[0] + " rank " +
                                               std::to_string(r) + " has " + all[r]);
}

void require_ended(MPI_Comm comm, const std::optional<base::Error>& put_error, bool in_step) {
  agree(comm, [&] {
    if (put_error) throw *put_error;
  });
  agree(comm, [&] {
    if (in_step) throw base::Error(base::Kind::usage, "the last step was begun and not ended: it is not written");
  });
}

}  // namespace octavo::parallel
