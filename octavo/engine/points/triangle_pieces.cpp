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
std::vector<std::byte> bytes_of(std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> coordinates(const std::vector<double>& values, bool single) {
  if (!single) return bytes_of<double>(values);
  return bytes_of<float>(std::vector<float>(values.begin(), values.end()));
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

std::vector<std::int64_t> stretch_bounds(std::int64_t total, std::size_t stretch, int ranks) {
  std::vector<std::int64_t> bounds;
  for (int r = 0; r <= ranks; ++r) bounds.push_back(std::min(total, r * static_cast<std::int64_t>(stretch)));
  return bounds;
}

void plan_exchanges(MPI_Comm comm, const mesh::Unstructured& piece, const OwnedPoints& owned, std::int64_t points,
                    TriangleShares& shares) {
  std::vector<Ordered> along, by_number;
  ranks::agree(comm, [&] {
    for (std::size_t k = 0; k < owned.number.size(); ++k) {
      const std::uint32_t i = owned.local[k];
      along.push_back({mesh::point_key(shares.box, piece.x[i], piece.y[i]), owned.number[k]});
      by_number.push_back({0, owned.number[k]});
    }
  });
  const int ranks = ranks::size_of(comm);
  shares.along_curve = plan_stretches(comm, along, owned.local, stretch_bounds(points, shares.stretch, ranks));
  shares.by_number = plan_stretches(comm, by_number, owned.local, even_bounds(points, ranks));
  ranks::agree(comm, [&] {
    for (const auto* peers : {&shares.along_curve.to, &shares.along_curve.from})
      require_countable(*peers, static_cast<std::size_t>(piece.planes));
  });
}

Source held_array(mesh::FieldInfo info, std::vector<std::byte> values, std::int64_t values_a_cell) {
  Source source;
  const std::size_t scalar = mesh::size_of(info.type);
  source.info = std::move(info);
  source.folded = std::move(values);
  source.view.data = source.folded.data();
  source.view.type = source.info.type;
  source.view.block = {values_a_cell, 1, 1};
  source.view.cells = source.folded.size() / (scalar * static_cast<std::size_t>(values_a_cell));
  return source;
}

Source attribute_array(const std::string& name, mesh::ScalarType type, int components, std::vector<std::byte> values) {
  Source source = held_array({name, "", type, mesh::Centring::particle, components, 0}, std::move(values), 1);
  source.view.components = components;
  source.view.cells /= static_cast<std::size_t>(components);
  return source;
}

std::vector<std::byte> moved(MPI_Comm comm, const Source& source, const SeriesExchange& exchange, std::size_t planes,
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
  out.triangles = sizes.triangles;
  out.points = shared.x.size();
  out.box = box_of_all(comm, shared.x, shared.y);
  out.stretch = store::stretch_of(static_cast<std::size_t>(sizes.points), ranks::size_of(comm));
  ranks::agree(comm, [&] {
    if (out.stretch * static_cast<std::size_t>(mesh.piece.planes) >= store::most_triangle_points)
      throw Error(Kind::unsupported, "a rank's share is up to " + std::to_string(store::most_triangle_points - 1) +
                                         " points of all planes, found " + std::to_string(out.stretch))
          .hint("more ranks");
  });
  plan_exchanges(comm, mesh.piece, shared.owned, sizes.points, out);
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
  for (const Source& source : job.fields) {
    if (!store::is_integer(source.info)) continue;
    std::vector<std::byte> bytes(packed_bytes(source));
    sum = sum * 31 + pack(source, bytes, true) + 1;
  }
  return sum;
}

void fold(MPI_Comm comm, StepJob& job, const TriangleShares& shares, std::optional<std::int64_t> mesh_step) {
  const auto planes = static_cast<std::size_t>(job.triangles->planes);
  const auto share = static_cast<std::int64_t>(shares.points);
  const mesh::ScalarType real = shares.single ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  SpeciesSource points{store::points_species, share, {}};
  SpeciesSource triangles{store::triangles_species, static_cast<std::int64_t>(shares.steps.size() / 3), {}};
  ranks::agree(comm, [&] {
    if (mesh_step) return;
    points.attributes.push_back(attribute_array("x", real, 1, shares.x));
    points.attributes.push_back(attribute_array("y", real, 1, shares.y));
    triangles.attributes.push_back(
        attribute_array("points", mesh::ScalarType::int32, 3, bytes_of<std::int32_t>(shares.steps)));
  });
  std::vector<Source> fields;
  for (Source& source : job.fields) {
    if (!store::is_integer(source.info)) {
      source.info.centring = mesh::Centring::node;
      auto values = moved(comm, source, shares.along_curve, planes, shares.stretch);
      fields.push_back(held_array(source.info, std::move(values), static_cast<std::int64_t>(shares.stretch * planes)));
    } else if (!mesh_step) {
      auto values = moved(comm, source, shares.by_number, planes, shares.points);
      points.attributes.push_back(
          attribute_array(source.info.name, source.info.type, static_cast<int>(planes), std::move(values)));
    }
  }
  job.fields = std::move(fields);
  job.tree = store::one_cell(job.triangles->planes, ranks::rank_in(comm) == 0);
  auto& attributes = job.header.attributes;
  attributes["triangles"] = shares.triangles;
  attributes["planes"] = static_cast<std::int64_t>(planes);
  job.header.dim = planes > 1 ? 3 : 2;
  job.header.lo[0] = shares.box.x_lo, job.header.hi[0] = shares.box.x_hi;
  job.header.lo[1] = shares.box.y_lo, job.header.hi[1] = shares.box.y_hi;
  if (mesh_step) {
    attributes[store::mesh_step_attribute] = *mesh_step;
    attributes[store::mesh_checksum_attribute] = shares.checksum;
    return;
  }
  job.species.push_back(std::move(points));
  job.species.push_back(std::move(triangles));
}

}  // namespace octavo::engine
