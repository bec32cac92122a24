#include "apps/patches/owners.hpp"

#include <algorithm>
#include <cmath>

#include "octavo/ranks/communicator.hpp"

namespace octavo::patches {
namespace {

struct Letter {
  std::int64_t id;
  euler::Point3 position;
};

Index3 cell_at(const Shape& shape, int level, const euler::Point3& at) {
  Index3 cell{0, 0, 0};
  const mesh::Point3 width = cell_size(shape, level);
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    const auto number = static_cast<std::int64_t>(std::floor((at[axis] - shape.lo[axis]) / width[axis]));
    cell[axis] = std::clamp<std::int64_t>(number, 0, (shape.cells[axis] << level) - 1);  // the quotient may round up
  }
  return cell;
}

bool in_domain(const Shape& shape, const euler::Point3& at) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis)
    if (!(at[axis] >= shape.lo[axis]) || !(at[axis] < shape.hi[axis])) return false;
  return true;
}

std::vector<Letter> deliver(MPI_Comm comm, const std::vector<std::vector<Letter>>& by_rank) {
  std::vector<Letter> sent;
  std::vector<int> sent_bytes, received_bytes(by_rank.size()), sent_at, received_at;
  for (const auto& letters : by_rank) {
    sent_at.push_back(static_cast<int>(sent.size() * sizeof(Letter)));
    sent.insert(sent.end(), letters.begin(), letters.end());
    sent_bytes.push_back(static_cast<int>(letters.size() * sizeof(Letter)));
  }
  MPI_Alltoall(sent_bytes.data(), 1, MPI_INT, received_bytes.data(), 1, MPI_INT, comm);
  int total = 0;
  for (int bytes : received_bytes) {
    received_at.push_back(total);
    total += bytes;
  }
  std::vector<Letter> received(static_cast<std::size_t>(total) / sizeof(Letter));
  MPI_Alltoallv(sent.data(), sent_bytes.data(), sent_at.data(), MPI_BYTE, received.data(), received_bytes.data(),
                received_at.data(), MPI_BYTE, comm);
  return received;
}

}  // namespace

std::optional<Home> find_box(const Hierarchy& mesh, const euler::Point3& at) {
  if (!in_domain(mesh.shape, at)) return std::nullopt;
  for (std::size_t l = mesh.levels.size(); l-- > 0;) {
    const Index3 cell = cell_at(mesh.shape, static_cast<int>(l), at);
    const IndexBox one{cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
    for (std::size_t i : boxes_touching(mesh.levels[l].index, one))
      return Home{mesh.levels[l].owner[i], l, mesh.levels[l].slot[i]};
  }
  return std::nullopt;
}

void wrap(const Shape& shape, euler::Point3& at) {
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(shape.dim); ++axis) {
    if (shape.boundary[axis] != Boundary::periodic) continue;
    const double extent = shape.hi[axis] - shape.lo[axis];
    if (at[axis] < shape.lo[axis]) at[axis] += extent;
    if (at[axis] >= shape.hi[axis]) at[axis] -= extent;
    // Just below the lower side, adding the extent may give the upper one.
    at[axis] = std::max(at[axis], shape.lo[axis]);
  }
}

void send_home(const Hierarchy& mesh, euler::Tracers& tracers) {
  std::vector<std::vector<Letter>> by_rank(static_cast<std::size_t>(ranks::size_of(mesh.comm)));
  for (std::size_t i = 0; i < tracers.id.size(); ++i)
    if (const auto home = find_box(mesh, tracers.position[i]))
      by_rank[static_cast<std::size_t>(home->rank)].push_back({tracers.id[i], tracers.position[i]});
  std::vector<Letter> mine = deliver(mesh.comm, by_rank);
  std::sort(mine.begin(), mine.end(), [](const Letter& a, const Letter& b) { return a.id < b.id; });
  tracers = {};
  for (const Letter& letter : mine) {
    tracers.id.push_back(letter.id);
    tracers.position.push_back(letter.position);
  }
}

}  // namespace octavo::patches
