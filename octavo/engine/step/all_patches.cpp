#include "octavo/engine/step/all_patches.hpp"

#include <algorithm>

#include "octavo/mesh/pack.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::engine {

std::vector<mesh::Patches> gather_patches(MPI_Comm comm, const mesh::Patches* mine) {
  std::string text;
  ranks::agree(comm, [&] { text = base::packed(mine == nullptr ? mesh::Patches{} : *mine); });
  const std::vector<std::string> texts = ranks::ranks_of(comm).all_gather(text);
  std::vector<mesh::Patches> all;
  ranks::agree(comm, [&] {
    for (const std::string& other : texts) all.push_back(base::unpacked<mesh::Patches>(other));
  });
  return all;
}

mesh::Patches patches_of_others(const std::vector<mesh::Patches>& all, int rank) {
  mesh::Patches others;
  for (std::size_t r = 0; r < all.size(); ++r) {
    // A rank knows the domains of its own levels only. The longest list names all.
    if (all[r].domain.size() > others.domain.size()) {
      others.domain = all[r].domain;
      others.ratio = all[r].ratio;
      others.dim = all[r].dim;
    }
    others.boxes.resize(std::max(others.boxes.size(), all[r].boxes.size()));
    if (static_cast<int>(r) == rank) continue;
    for (std::size_t level = 0; level < all[r].boxes.size(); ++level)
      others.boxes[level].insert(others.boxes[level].end(), all[r].boxes[level].begin(), all[r].boxes[level].end());
  }
  return others;
}

}  // namespace octavo::engine
