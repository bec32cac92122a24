#pragma once
/// AMReX's boxes and centrings as Octavo has them, and back.
#include <AMReX.H>
#include <AMReX_MultiFab.H>
#include <AMReX_ParallelDescriptor.H>
#include <AMReX_Version.H>

#include <algorithm>
#include <string>
#include <vector>

#include "octavo/base/base.hpp"
#include "octavo/mesh/mesh.hpp"
#include "octavo/ranks/ranks.hpp"

#if AMREX_SPACEDIM == 1
#error "octavo_amrex.hpp knows AMReX in 2-D and 3-D"
#endif
#ifdef AMREX_USE_GPU
#error "octavo_amrex.hpp knows AMReX with arrays in the memory of the host; this AMReX was built for accelerators"
#endif
#if defined(AMREX_RELEASE_NUMBER) && AMREX_RELEASE_NUMBER < 240000
#error "octavo_amrex.hpp knows AMReX from 24.01 on; it was tried with 24.10"
#endif

namespace octavo::amrex {

namespace ax = ::amrex;
using base::Error;
using base::Kind;
using Names = ax::Vector<std::string>;

namespace within {

inline MPI_Comm comm() { return ax::ParallelContext::CommunicatorSub(); }

inline mesh::IndexBox box_of(const ax::Box& cells) {
  mesh::IndexBox box{{0, 0, 0}, {1, 1, 1}};
  for (int a = 0; a < AMREX_SPACEDIM; ++a) box.lo[a] = cells.smallEnd(a), box.hi[a] = cells.bigEnd(a) + 1;
  return box;
}
inline ax::Box box_of(const mesh::IndexBox& cells) {
  ax::IntVect lo, hi;
  for (int a = 0; a < AMREX_SPACEDIM; ++a)
    lo[a] = static_cast<int>(cells.lo[a]), hi[a] = static_cast<int>(cells.hi[a]) - 1;
  return {lo, hi};
}

inline mesh::Centring centring_of(const ax::IndexType& type, const std::string& name) {
  if (type.cellCentered()) return mesh::Centring::cell;
  if (type.nodeCentered()) return mesh::Centring::node;
  for (int a = 0; a < AMREX_SPACEDIM; ++a)
    if (type.toIntVect() == ax::IntVect::TheDimensionVector(a)) return static_cast<mesh::Centring>(1 + a);
  throw Error(Kind::unsupported, "a MultiFab on edges; cells, faces and nodes can be written").at(name);
}

/// Calls f(name, centring, side) for each side of a cell on which values stand: itself, two faces or 2^dim nodes.
template <class F>
void for_each_side(const ax::IndexType& type, const std::string& name, F&& f) {
  const mesh::Centring centring = centring_of(type, name);
  const ax::Box sides(ax::IntVect(0), type.toIntVect());
  for (ax::IntVect side = sides.smallEnd(); sides.contains(side); sides.next(side)) {
    unsigned high = 0;
    for (int a = 0; a < AMREX_SPACEDIM; ++a) high |= static_cast<unsigned>(side[a]) << a;
    f(centring == mesh::Centring::cell ? name : mesh::name_of_side(name, centring, high), centring, side);
  }
}

/// A box of a level, with its number there and its rank. Each rank's part of a store keeps those of that rank.
struct Numbered {
  std::int64_t level = 0, number = 0, rank = 0;
  ax::Box cells;
};
inline constexpr const char* own_boxes = "amrex boxes";
/// Names of bytes in a store: files of a checkpoint, and ghosts of a MultiFab.
inline constexpr const char *file_prefix = "amrex/file/", *ghost_prefix = "amrex/ghosts/";

/// Collective. The boxes of all ranks, level after level by their numbers.
inline std::vector<Numbered> gathered(const std::vector<Numbered>& mine) {
  std::vector<Numbered> all;
  for (const std::string& text : ranks::ranks_of(comm()).all_gather(base::packed(mine))) {
    const auto some = base::unpacked<std::vector<Numbered>>(text);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::stable_sort(all.begin(), all.end(), [](const Numbered& a, const Numbered& b) {
    return std::pair(a.level, a.number) < std::pair(b.level, b.number);
  });
  return all;
}

/// The boxes of a level, and their ranks.
struct Level {
  ax::BoxArray boxes;
  ax::DistributionMapping ranks;
};
inline std::vector<Level> levels_of(const std::vector<Numbered>& all, bool new_ranks) {
  std::vector<Level> levels;
  for (std::size_t i = 0; i < all.size();) {
    ax::BoxList boxes;
    ax::Vector<int> owners;
    for (const auto level = static_cast<std::int64_t>(levels.size()); i < all.size() && all[i].level == level; ++i) {
      boxes.push_back(all[i].cells);
      owners.push_back(static_cast<int>(all[i].rank));
    }
    if (boxes.isEmpty())
      throw Error(Kind::corrupt, "a level without boxes").at("level " + std::to_string(levels.size()));
    Level& level = levels.emplace_back();
    level.boxes.define(std::move(boxes));
    if (new_ranks)
      level.ranks.define(level.boxes, ax::ParallelContext::NProcsSub());
    else
      level.ranks.define(std::move(owners));
  }
  return levels;
}

}  // namespace within
}  // namespace octavo::amrex
