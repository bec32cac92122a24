#include "octavo/engine/restart/triangle_restart.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/engine/points/point_exchange.hpp"
#include "octavo/engine/restart/shares.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/route.hpp"
#include "octavo/store/read/triangles.hpp"

/// A restart on a mesh of triangles. The mesh is stored by number and fields along the curve, each cut among the parts.
/// A rank reads an equal run of parts; exchanges then move values from the curve to their numbers, and from there to
/// the ranks that want the points. No rank holds the mesh as a whole, but each holds the boundary.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

void check_options(MPI_Comm comm, const RestartOptions& options) {
  ranks::agree(comm, [&] {
    if (options.as != MeshKind::octree || options.block || options.refine != 0)
      throw Error(Kind::usage, "the step is of triangles: there are no patches, blocks or levels");
  });
  ranks::require_same(comm, options.points ? "points that it wants" : "none", "the points wanted");
}

std::vector<std::int64_t> starts_of(MPI_Comm comm, std::size_t mine) {
  std::vector<std::int64_t> starts(static_cast<std::size_t>(ranks::size_of(comm)) + 1, 0);
  const auto count = static_cast<std::int64_t>(mine);
  MPI_Allgather(&count, 1, MPI_INT64_T, starts.data() + 1, 1, MPI_INT64_T, comm);
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

// ------------------------------------------------------------------ what is stored

/// The parts of a step that this rank reads: consecutive numbers.
struct Dealt {
  std::vector<int> places;   ///< in the step
  std::size_t on_curve = 0;  ///< points of the stretch of the curve that the parts have values of
};

/// Parts are numbered along the curve, and may be anywhere in the step. The ranks to which places are dealt tell those
/// to which numbers are dealt.
Dealt deal_parts(MPI_Comm comm, StepParts& step) {
  const int parts = num_parts(step), ranks = ranks::size_of(comm);
  const Deal mine = deal(parts, ranks, ranks::rank_in(comm));
  const auto expect = [&](bool good, int found) {
    if (!good)
      throw Error(Kind::corrupt, "a mesh of triangles: expected parts 0 to " + std::to_string(parts - 1) +
                                     ", each once, found " + std::to_string(found));
  };
  std::vector<std::pair<int, int>> told;
  ranks::agree(comm, [&] {
    for (int p = mine.first; p < mine.last; ++p) {
      const PartEntry entry = entry_of(step, p);
      const int index = entry.part().index;
      if (!entry.segment->table.triangles)
        throw Error(Kind::corrupt, "a part of cells in a step of triangles").at(entry.segment->path.string());
      expect(index >= 0 && index < parts, index);
      told.emplace_back(static_cast<int>(base::owner(index, parts, ranks)), p);
    }
    std::sort(told.begin(), told.end());
  });
  Dealt dealt{tell_parts(comm, step, told), 0};
  ranks::agree(comm, [&] {
    const auto index = [&](int place) { return entry_of(step, place).part().index; };
    std::sort(dealt.places.begin(), dealt.places.end(), [&](int a, int b) { return index(a) < index(b); });
    int number = mine.first;
    for (const int place : dealt.places) {
      expect(index(place) == number++, index(place));
      dealt.on_curve += static_cast<std::size_t>(entry_of(step, place).part().share.places);
    }
  });
  return dealt;
}

/// Reads a part's mesh alone or its fields alone.
store::StoredTriangles read_stored(StepParts& step, int place, const mesh::Request& request) {
  const PartEntry entry = entry_of(step, place);
  const store::Table& table = entry.segment->table;
  try {
    const auto file = open_file_of(step, entry);
    store::PartSource source = store::source_of(*file);
    const auto own = [&] {
      mesh::Request only;
      only.fields.emplace();
      const store::StoredTriangles part = store::decode_triangles(table, entry.row, only, store::source_of(*file));
      return store::mesh_of(part.mesh, part.arrays, {&part, 1});
    };
    source.neighbours = store::neighbours_of_step(*table.triangles, own, step.stored->store, step.found.flow);
    return store::decode_triangles(table, entry.row, request, source);
  } catch (Error& error) {
    throw error.at(entry.segment->path.string());
  }
}

/// This rank's share of the mesh: points and triangles by number.
struct MeshShare : store::StoredMesh {  // the boundary: all of it
  std::vector<std::int64_t> points;     ///< number of each rank's first one; one more than ranks
  std::vector<std::int64_t> triangles;
  mesh::PlaneBox box;
};

void check_share(const MeshShare& share, const store::TriangleMesh& whole) {
  if (share.points.back() != whole.points || share.triangles.back() != whole.triangles)
    throw Error(Kind::corrupt, "a mesh of " + std::to_string(whole.points) + " points and " +
                                   std::to_string(whole.triangles) + " triangles: its parts have " +
                                   std::to_string(share.points.back()) + " and " +
                                   std::to_string(share.triangles.back()));
  for (const mesh::Field& field : share.numbers) {
    const std::size_t width = mesh::size_of(field.info.type);
    if (width != 4 && width != 8)
      throw Error(Kind::unsupported, "expected values of 4 or 8 bytes, found " + std::to_string(width))
          .at("field " + field.info.name);
  }
}

/// Joins the boundary lines that ranks have read, one rank after another.
store::BoundaryArrays gather_boundary(MPI_Comm comm, const store::BoundaryArrays& mine) {
  auto lines = static_cast<std::int64_t>(mine.point.size());
  MPI_Allreduce(MPI_IN_PLACE, &lines, 1, MPI_INT64_T, MPI_SUM, comm);
  if (lines == 0) return {};
  const base::Ranks ranks = ranks::ranks_of(comm);
  return {base::gather(ranks, mine.point), base::gather(ranks, mine.codes), base::gather(ranks, mine.values),
          base::gather(ranks, mine.colour)};
}

MeshShare read_mesh(MPI_Comm comm, StepParts& step) {
  const Dealt mine = deal_parts(comm, step);
  const store::Table& table = step.stored->head;
  MeshShare share;
  ranks::agree(comm, [&] {
    mesh::Request only;
    only.fields.emplace();
    std::vector<store::StoredTriangles> parts;
    for (const int place : mine.places) parts.push_back(read_stored(step, place, only));
    if (table.triangles->origin)
      throw Error(Kind::corrupt, "the step has no mesh of triangles, though another step takes it from there");
    // A rank that reads no part has fields without values.
    static_cast<store::StoredMesh&>(share) = store::mesh_of(*table.triangles, table.mesh, parts);
  });
  share.boundary = gather_boundary(comm, share.boundary);
  share.points = starts_of(comm, share.mesh.x.size());
  share.triangles = starts_of(comm, share.mesh.connectivity.size() / 3);
  share.box = box_of_all(comm, share.mesh.x, share.mesh.y);
  ranks::agree(comm, [&] { check_share(share, *table.triangles); });
  return share;
}

/// Finds the step that holds the mesh.
StepParts find_mesh_step(MPI_Comm comm, const StepParts& step, const std::filesystem::path& store,
                         std::int64_t number) {
  const auto expect = [&](bool good) {
    if (!good)
      throw Error(Kind::corrupt, "the mesh is stored with step " + std::to_string(number) +
                                     ", which is not there, or not of triangles")
          .at(store.string());
  };
  StepParts found;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    std::vector<std::string> notes;
    std::vector<StepParts> steps = find_steps(store, step.found.flow, notes);
    std::erase_if(steps, [&](const StepParts& other) { return other.found.step != number; });
    expect(!steps.empty());
    found = std::move(steps.front());
  });
  StepParts shared = share_step(comm, found);
  ranks::agree(comm, [&] { expect(has_triangles(shared)); });
  return shared;
}

MeshShare find_mesh(MPI_Comm comm, StepParts& step, const std::filesystem::path& store) {
  const std::optional<store::MeshOrigin> origin = store::origin_in(step.dataset.header);
  if (!origin) return read_mesh(comm, step);
  StepParts other = find_mesh_step(comm, step, store, origin->step);
  MeshShare share = read_mesh(comm, other);
  store::check_origin(*origin,
                      mesh_checksum(comm, share.mesh.x, share.mesh.y, share.mesh.connectivity, share.mesh.planes));
  return share;
}

/// Reads the fields of this rank's parts: its stretch of the curve, plane after plane.
std::vector<mesh::Field> read_stretch(StepParts& step, const Dealt& mine, const mesh::Request& request,
                                      const MeshShare& share, std::size_t length) {
  const auto planes = static_cast<std::size_t>(share.mesh.planes);
  std::vector<mesh::Field> fields;
  std::size_t first = 0;
  for (std::size_t p = 0; p < mine.places.size(); ++p) {
    const store::StoredTriangles part = read_stored(step, mine.places[p], request);
    const auto places = static_cast<std::size_t>(part.share.places);
    for (std::size_t f = 0; f < part.fields.size(); ++f) {
      const mesh::Field& field = part.fields[f];
      const std::size_t size = mesh::size_of(field.info.type);
      if (p == 0) fields.push_back(mesh::make_field(field.info, length * planes));
      for (std::size_t plane = 0; plane < planes; ++plane)
        std::copy_n(field.bytes.begin() + static_cast<std::ptrdiff_t>(plane * places * size), places * size,
                    fields[f].bytes.begin() + static_cast<std::ptrdiff_t>((plane * length + first) * size));
    }
    first += places;
  }
  return fields;
}

/// Plans the way from points by number to the stretches of the curve that the ranks' parts have.
SeriesExchange plan_curve(MPI_Comm comm, const MeshShare& share, std::size_t on_curve,
                          std::vector<std::int64_t>& bounds) {
  const std::int64_t all = share.points.back();
  bounds = starts_of(comm, on_curve);
  ranks::agree(comm, [&] {
    if (bounds.back() != all)
      throw Error(Kind::corrupt, "a mesh of triangles: expected values of " + std::to_string(all) +
                                     " points in all parts, found " + std::to_string(bounds.back()));
  });
  std::vector<Ordered> items;
  std::vector<std::uint32_t> local(share.mesh.x.size());
  std::iota(local.begin(), local.end(), 0u);
  const std::int64_t first = share.points[static_cast<std::size_t>(ranks::rank_in(comm))];
  for (const std::uint32_t i : local)
    // The writer ordered the points by the same key in the same box, equal keys by number; the places on the curve
    // follow from that, so they are not stored.
    items.push_back({mesh::point_key(share.box, share.mesh.x[i], share.mesh.y[i]), first + i});
  return plan_stretches(comm, items, local, bounds);
}

// ------------------------------------------------------------------ what is wanted

struct GlobalTriangle {
  std::int64_t number = 0;
  std::array<std::int64_t, 3> points{};
};

std::vector<std::int64_t> sorted_once(std::vector<std::int64_t> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

std::size_t position(const std::vector<std::int64_t>& sorted, std::int64_t number) {
  return static_cast<std::size_t>(std::lower_bound(sorted.begin(), sorted.end(), number) - sorted.begin());
}

/// The triangles that this rank has read, ordered along the curve by their centres.
std::vector<std::pair<Ordered, GlobalTriangle>> ordered_triangles(MPI_Comm comm, const MeshShare& share) {
  const std::vector<std::int64_t> corners = sorted_once(share.mesh.connectivity);
  const SeriesExchange fetch = plan_fetch(comm, share.points, corners);
  const auto x = move_values<double>(comm, fetch, share.mesh.x, corners.size());
  const auto y = move_values<double>(comm, fetch, share.mesh.y, corners.size());
  const std::int64_t first = share.triangles[static_cast<std::size_t>(ranks::rank_in(comm))];
  std::vector<std::pair<Ordered, GlobalTriangle>> triangles(share.mesh.connectivity.size() / 3);
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    GlobalTriangle& element = triangles[t].second;
    element.number = first + static_cast<std::int64_t>(t);
    double cx = 0, cy = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      element.points[k] = share.mesh.connectivity[3 * t + k];
      const std::size_t at = position(corners, element.points[k]);
      cx += x[at] / 3, cy += y[at] / 3;
    }
    triangles[t].first = {mesh::point_key(share.box, cx, cy), element.number};
  }
  std::sort(triangles.begin(), triangles.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return triangles;
}

/// Shares the triangles out equally along the curve; each rank gets its own sorted by number.
std::vector<GlobalTriangle> share_triangles(MPI_Comm comm, const MeshShare& share) {
  const auto mine = ordered_triangles(comm, share);
  std::vector<Ordered> order;
  std::vector<GlobalTriangle> elements;
  for (const auto& [place, element] : mine) {
    order.push_back(place);
    elements.push_back(element);
  }
  const int ranks = ranks::size_of(comm);
  std::vector<std::int64_t> bounds;
  for (int r = 0; r <= ranks; ++r) bounds.push_back(base::share_begin(share.triangles.back(), ranks, r));
  const std::vector<std::size_t> cuts = cut_sorted(comm, order, bounds);
  std::vector<int> counts;
  for (std::size_t r = 0; r + 1 < cuts.size(); ++r) counts.push_back(static_cast<int>(cuts[r + 1] - cuts[r]));
  std::vector<GlobalTriangle> came = ranks::route<GlobalTriangle>(comm, elements, counts).values;
  std::sort(came.begin(), came.end(),
            [](const GlobalTriangle& a, const GlobalTriangle& b) { return a.number < b.number; });
  return came;
}

/// Whether the mesh was cut for this number of ranks, and all ranks know the cut.
bool is_cut(MPI_Comm comm, const StepParts& step, const MeshShare& share) {
  const auto found = step.dataset.header.attributes.find(store::cut_attribute);
  const auto* parts =
      found == step.dataset.header.attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  int all =
      parts != nullptr && *parts == ranks::size_of(comm) && 3 * share.part_of.size() == share.mesh.connectivity.size();
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, comm);
  return all != 0;
}

/// Gives each rank one of the parts into which the mesh was cut, its triangles sorted by number.
std::vector<GlobalTriangle> keep_cut(MPI_Comm comm, const MeshShare& share) {
  const std::size_t triangles = share.mesh.connectivity.size() / 3;
  const int ranks = ranks::size_of(comm);
  ranks::agree(comm, [&] {
    const auto [least, most] = std::minmax_element(share.part_of.begin(), share.part_of.end());
    if (triangles > 0 && (*least < 0 || *most >= ranks))
      throw Error(Kind::corrupt, "the cut of the mesh: expected a part from 0 to " + std::to_string(ranks - 1) +
                                     ", found " + std::to_string(*least) + " to " + std::to_string(*most));
  });
  const std::int64_t first = share.triangles[static_cast<std::size_t>(ranks::rank_in(comm))];
  std::vector<std::vector<GlobalTriangle>> to(static_cast<std::size_t>(ranks));
  for (std::size_t t = 0; t < triangles; ++t) {
    const auto corner = share.mesh.connectivity.begin() + static_cast<std::ptrdiff_t>(3 * t);
    to[static_cast<std::size_t>(share.part_of[t])].push_back(
        {first + static_cast<std::int64_t>(t), {corner[0], corner[1], corner[2]}});
  }
  std::vector<GlobalTriangle> elements;
  std::vector<int> counts;
  for (const std::vector<GlobalTriangle>& some : to) {
    elements.insert(elements.end(), some.begin(), some.end());
    counts.push_back(static_cast<int>(some.size()));
  }
  return ranks::route<GlobalTriangle>(comm, elements, counts).values;  // by rank, and each rank's by number
}

/// Points without a triangle stay with the rank that has read them.
void add_lone_points(MPI_Comm comm, const MeshShare& share, std::vector<std::int64_t>& wanted) {
  std::vector<std::uint8_t> asked(share.mesh.x.size(), 0);
  for (const std::uint32_t point : plan_fetch(comm, share.points, wanted).send) asked[point] = 1;
  const std::int64_t first = share.points[static_cast<std::size_t>(ranks::rank_in(comm))];
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] == 0) wanted.push_back(first + static_cast<std::int64_t>(i));
  std::sort(wanted.begin(), wanted.end());
}

/// Plans the way from points by number to the points that this rank asked for.
SeriesExchange plan_points(MPI_Comm comm, const MeshShare& share, const std::vector<std::int64_t>& points) {
  ranks::agree(comm, [&] {
    for (const std::int64_t point : points)
      if (point < 0 || point >= share.points.back())
        throw Error(Kind::usage, "points wanted: expected 0 to " + std::to_string(share.points.back() - 1) +
                                     ", found " + std::to_string(point));
  });
  std::vector<std::uint32_t> order(points.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return points[a] < points[b]; });
  std::vector<std::int64_t> sorted;
  for (const std::uint32_t i : order) sorted.push_back(points[i]);
  SeriesExchange exchange = plan_fetch(comm, share.points, sorted);
  exchange.place = std::move(order);
  return exchange;
}

void set_mesh(MPI_Comm comm, const MeshShare& share, bool as_cut, const RestartOptions& options,
              mesh::Unstructured& mesh, std::vector<std::int64_t>& global_element) {
  mesh.planes = share.mesh.planes;
  if (options.points) {
    mesh.global_point = *options.points;
    return;
  }
  const std::vector<GlobalTriangle> mine = as_cut ? keep_cut(comm, share) : share_triangles(comm, share);
  for (const GlobalTriangle& element : mine) {
    global_element.push_back(element.number);
    mesh.connectivity.insert(mesh.connectivity.end(), element.points.begin(), element.points.end());
  }
  mesh.global_point = sorted_once(mesh.connectivity);
  add_lone_points(comm, share, mesh.global_point);
  for (std::int64_t& point : mesh.connectivity) point = static_cast<std::int64_t>(position(mesh.global_point, point));
}

mesh::Field moved(MPI_Comm comm, const SeriesExchange& exchange, const mesh::FieldInfo& info,
                  std::span<const std::byte> bytes, std::size_t planes, std::size_t points) {
  const std::size_t width = mesh::size_of(info.type);
  return {info, move_values(comm, exchange, {bytes, bytes.size() / (width * planes), planes, width}, points)};
}

/// Reads the requested fields on the wanted points: from the curve to the points by number, and from there to the ranks
/// that want them.
std::vector<mesh::Field> read_fields(MPI_Comm comm, StepParts& step, const MeshShare& share,
                                     const std::vector<std::size_t>& chosen, const mesh::Header& header,
                                     const SeriesExchange& fetch, std::size_t points) {
  std::vector<std::int64_t> bounds;
  const Dealt mine = deal_parts(comm, step);
  const SeriesExchange back = reversed(plan_curve(comm, share, mine.on_curve, bounds));
  const std::size_t stored = step.dataset.header.fields.size(), planes = static_cast<std::size_t>(share.mesh.planes);
  mesh::Request request;
  request.mesh = false;
  request.fields.emplace();
  for (const std::size_t f : chosen)
    if (f < stored) request.fields->push_back(header.fields[f].name);
  const auto rank = static_cast<std::size_t>(ranks::rank_in(comm));
  std::vector<mesh::Field> read, out;
  ranks::agree(comm, [&] {
    read = read_stretch(step, mine, request, share, static_cast<std::size_t>(bounds[rank + 1] - bounds[rank]));
    read.resize(request.fields->size());  // none, where this rank reads no part
  });
  std::size_t next = 0;
  for (const std::size_t f : chosen) {
    const mesh::FieldInfo& info = header.fields[f];
    const mesh::Field by_number = f < stored ? moved(comm, back, info, read[next++].bytes, planes, share.mesh.x.size())
                                             : share.numbers[f - stored];
    out.push_back(moved(comm, fetch, info, by_number.bytes, planes, points));
  }
  return out;
}

}  // namespace

bool has_triangles(const StepParts& step) { return step.stored && step.stored->triangles; }

void read_triangles(MPI_Comm comm, StepParts& step, const std::filesystem::path& store, const RestartOptions& options,
                    Restart& out) {
  check_options(comm, options);
  const MeshShare share = find_mesh(comm, step, store);
  mesh::Unstructured mesh;
  out.by_points = options.points.has_value();
  const bool as_cut = is_cut(comm, step, share);
  set_mesh(comm, share, as_cut && options.keep_parts, options, mesh, out.global_element);
  const SeriesExchange fetch = plan_points(comm, share, mesh.global_point);
  const std::size_t points = mesh.global_point.size();
  mesh.x = move_values<double>(comm, fetch, share.mesh.x, points);
  mesh.y = move_values<double>(comm, fetch, share.mesh.y, points);
  for (const mesh::Field& field : share.numbers) out.header.fields.push_back(field.info);
  std::vector<std::size_t> chosen;
  ranks::agree(comm, [&] { chosen = mesh::select_fields(out.header, options.fields); });
  out.part.fields = read_fields(comm, step, share, chosen, out.header, fetch, points);
  out.boundary = share.boundary;
  out.part.index = ranks::rank_in(comm);
  out.part.mesh = std::move(mesh);
}

}  // namespace octavo::engine
