#include "octavo/engine/points/triangle_pieces.hpp"

#include <algorithm>
#include <numeric>

#include "octavo/base/checksum.hpp"
#include "octavo/engine/points/point_exchange.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/store/read/triangles.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

template <class T>
std::vector<std::byte> raw_bytes(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> coordinates(const std::vector<double>& values, bool single) {
  if (!single) return raw_bytes<double>(values);
  return raw_bytes<float>(std::vector<float>(values.begin(), values.end()));
}

std::vector<std::int64_t> connectivity_of(const std::vector<std::array<std::int32_t, 3>>& triangles) {
  std::vector<std::int64_t> out;
  for (const auto& triangle : triangles) out.insert(out.end(), triangle.begin(), triangle.end());
  return out;
}

bool all_agree(MPI_Comm comm, bool mine) {
  int value = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MIN, comm);
  return value != 0;
}

std::vector<std::int64_t> even_bounds(std::int64_t total, int ranks) {
  std::vector<std::int64_t> bounds;
  for (int r = 0; r <= ranks; ++r) bounds.push_back(base::share_begin(total, ranks, r));
  return bounds;
}

void plan_exchanges(MPI_Comm comm, const mesh::Unstructured& piece, const OwnedPoints& owned, TriangleShares& shares) {
  std::vector<Ordered> along, by_number;
  ranks::agree(comm, [&] {
    for (std::size_t k = 0; k < owned.number.size(); ++k) {
      const std::uint32_t i = owned.local[k];
      along.push_back({mesh::point_key(shares.box, piece.x[i], piece.y[i]), owned.number[k]});
      // With one key for all, positions follow the numbers.
      by_number.push_back({0, owned.number[k]});
    }
  });
  const std::vector<std::int64_t> bounds = even_bounds(shares.whole.points, ranks::size_of(comm));
  const auto rank = static_cast<std::size_t>(ranks::rank_in(comm));
  shares.places = static_cast<std::size_t>(bounds[rank + 1] - bounds[rank]);
  shares.along_curve = plan_stretches(comm, along, owned.local, bounds);
  shares.by_number = plan_stretches(comm, by_number, owned.local, bounds);
  ranks::agree(comm, [&] {
    for (const auto* peers : {&shares.along_curve.to, &shares.along_curve.from})
      require_countable(*peers, static_cast<std::size_t>(piece.planes));
  });
}

StepArray held_array(mesh::FieldInfo info, std::vector<std::byte> values) {
  StepArray source;
  const std::size_t each = mesh::size_of(info.type) * static_cast<std::size_t>(info.components);
  source.info = std::move(info);
  source.folded = std::move(values);
  source.view.data = source.folded.data();
  source.view.type = source.info.type;
  source.view.components = source.info.components;
  source.view.cells = source.folded.size() / each;
  return source;
}

void add(TriangleSource& to, const store::MeshArray& array, std::vector<std::byte> values) {
  to.arrays.push_back({array.of, held_array(array.info, std::move(values))});
}

std::vector<std::byte> moved(MPI_Comm comm, const StepArray& source, const SeriesExchange& exchange, std::size_t planes,
                             std::size_t points) {
  std::vector<std::byte> copy;
  std::span<const std::byte> bytes;
  ranks::agree(comm, [&] {
    if (const auto packed = as_packed(source.view)) {
      bytes = *packed;
      return;
    }
    copy.resize(packed_bytes(source));
    pack(source, copy, false);
    bytes = copy;
  });
  const std::size_t width = mesh::size_of(source.info.type);
  return move_values(comm, exchange, {bytes, bytes.size() / (width * planes), planes, width}, points);
}

}  // namespace

std::uint64_t checksum_of(const mesh::Unstructured& piece, std::span<const std::int64_t> global_element) {
  base::RunningChecksum sum;
  const std::array<std::uint64_t, 3> sizes{piece.x.size(), piece.connectivity.size(),
                                           static_cast<std::uint64_t>(piece.planes)};
  sum.add(std::as_bytes(std::span(sizes)));
  sum.add(std::as_bytes(std::span(piece.x)));
  sum.add(std::as_bytes(std::span(piece.y)));
  sum.add(std::as_bytes(std::span(piece.connectivity)));
  sum.add(std::as_bytes(std::span(piece.global_point)));
  sum.add(std::as_bytes(global_element));
  return sum.value();
}

TriangleShares share_triangles(MPI_Comm comm, const SeriesMesh& mesh) {
  MeshSizes sizes;
  SharedMesh shared = share_pieces(comm, mesh, sizes);
  ranks::agree(comm, [&] {
    if (sizes.points == 0) throw Error(Kind::usage, "no rank holds a point of the mesh");
  });
  TriangleShares out;
  out.whole = {sizes.points, sizes.triangles, mesh.piece.planes, {}};
  out.points = shared.x.size();
  out.box = box_of_all(comm, shared.x, shared.y);
  plan_exchanges(comm, mesh.piece, shared.owned, out);
  std::vector<std::int64_t> connectivity;
  ranks::agree(comm, [&] { connectivity = connectivity_of(shared.triangles); });
  out.checksum = mesh_checksum(comm, shared.x, shared.y, connectivity, mesh.piece.planes);
  out.single = all_agree(comm, store::fit_float32(shared.x) && store::fit_float32(shared.y));
  ranks::agree(comm, [&] {
    out.steps = store::triangle_steps(connectivity);
    out.x = coordinates(shared.x, out.single);
    out.y = coordinates(shared.y, out.single);
  });
  return out;
}

std::uint64_t numbers_checksum(const StepJob& job) {
  std::uint64_t sum = 0;
  for (const StepArray& source : job.fields) {
    if (!store::is_integer(source.info)) continue;
    std::vector<std::byte> bytes(packed_bytes(source));
    sum = sum * 31 + pack(source, bytes, true) + 1;
  }
  return sum;
}

// Fields go along the curve, where neighbours in the mesh are mostly neighbours in the file and predict each other; the
// mesh and integers stay by number, as the application gave them.
void fold(MPI_Comm comm, StepJob& job, const TriangleShares& shares, std::optional<std::int64_t> mesh_step) {
  using store::MeshSet;
  TriangleSource& to = *job.triangles;
  const auto planes = static_cast<std::size_t>(to.planes);
  const mesh::ScalarType real = shares.single ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  to.whole = shares.whole;
  to.share.places = shares.places;
  if (mesh_step)
    to.whole.origin = store::MeshOrigin{*mesh_step, shares.checksum};
  else
    to.share = {shares.places, shares.points, shares.steps.size() / 3, 0};
  ranks::agree(comm, [&] {
    if (mesh_step) return;
    add(to, store::mesh_array(MeshSet::points, "x", real, 1), shares.x);
    add(to, store::mesh_array(MeshSet::points, "y", real, 1), shares.y);
    add(to, store::mesh_array(MeshSet::triangles, "connectivity", mesh::ScalarType::int32, 3),
        raw_bytes<std::int32_t>(shares.steps));
  });
  std::vector<StepArray> fields;
  for (StepArray& source : job.fields) {
    const mesh::FieldInfo& info = source.info;
    if (!store::is_integer(info)) {
      source.info.centring = mesh::Centring::node;
      fields.push_back(held_array(info, moved(comm, source, shares.along_curve, planes, shares.places)));
    } else if (!mesh_step) {
      add(to, store::mesh_array(MeshSet::points, info.name, info.type, to.planes, info.unit),
          moved(comm, source, shares.by_number, planes, shares.points));
    }
  }
  job.fields = std::move(fields);
  job.header.dim = planes > 1 ? 3 : 2;
  job.header.lo[0] = shares.box.x_lo, job.header.hi[0] = shares.box.x_hi;
  job.header.lo[1] = shares.box.y_lo, job.header.hi[1] = shares.box.y_hi;
}

}  // namespace octavo::engine
