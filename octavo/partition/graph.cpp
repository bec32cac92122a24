#include "octavo/partition/graph.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "octavo/base/at.hpp"

namespace octavo::partition {
namespace {

using base::at;

}  // namespace

std::vector<std::int32_t> find_behind(Connectivity connectivity, std::int32_t points) {
  constexpr std::int32_t none = -1;
  // Sides that wait for their other element form a list at their lower point. The list's links use the places of the
  // results.
  std::vector<std::int32_t> behind(connectivity.size()), waiting(at(points), none);
  const auto next_corner = [](std::size_t i) { return i % 3 == 2 ? i - 2 : i + 1; };
  for (std::size_t i = 0; i < connectivity.size(); ++i) {
    const auto [low, high] = std::minmax(connectivity[i], connectivity[next_corner(i)]);
    std::int32_t* link = &waiting[at(low)];
    while (*link != none) {
      const std::size_t k = at(*link);
      if (std::max(connectivity[k], connectivity[next_corner(k)]) == high) break;
      link = &behind[k];
    }
    if (*link == none) {
      behind[i] = waiting[at(low)];
      waiting[at(low)] = static_cast<std::int32_t>(i);
      continue;
    }
    const std::size_t k = at(*link);
    *link = behind[k];
    behind[k] = static_cast<std::int32_t>(i / 3);
    behind[i] = static_cast<std::int32_t>(k / 3);
  }
  for (std::int32_t side : waiting)
    while (side != none) side = std::exchange(behind[at(side)], none);
  return behind;
}

std::vector<GroupEdge> add_up(std::vector<GroupEdge> edges) {
  std::sort(edges.begin(), edges.end(),
            [](const GroupEdge& x, const GroupEdge& y) { return x.a != y.a ? x.a < y.a : x.b < y.b; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (kept > 0 && edges[kept - 1].a == edges[i].a && edges[kept - 1].b == edges[i].b)
      edges[kept - 1].edges += edges[i].edges;
    else
      edges[kept++] = edges[i];
  }
  edges.resize(kept);
  edges.shrink_to_fit();
  return edges;
}

Graph graph_of(const std::vector<GroupEdge>& edges, std::vector<std::int32_t> weight) {
  Graph graph{{}, std::move(weight), {}, {}, {}};
  graph.first.assign(graph.weight.size() + 1, 0);
  for (const GroupEdge& edge : edges) {
    ++graph.first[at(edge.a) + 1];
    ++graph.first[at(edge.b) + 1];
  }
  std::partial_sum(graph.first.begin(), graph.first.end(), graph.first.begin());
  graph.to.resize(2 * edges.size());
  graph.edge_weight.resize(graph.to.size());
  std::vector<std::int64_t> next(graph.first.begin(), graph.first.end() - 1);
  const auto add = [&](std::int32_t from, std::int32_t to, std::int32_t edges_between) {
    const std::size_t i = at(next[at(from)]++);
    graph.to[i] = to;
    graph.edge_weight[i] = edges_between;
  };
  for (const GroupEdge& edge : edges) {
    add(edge.a, edge.b, edge.edges);
    add(edge.b, edge.a, edge.edges);
  }
  return graph;
}

std::int32_t stretches_a_part(std::int64_t elements, std::int32_t parts) {
  const auto many = static_cast<std::int32_t>(std::min<std::int64_t>(256, elements / std::max(parts, 1)));
  return many < 8 ? 1 : many;
}

std::vector<std::int64_t> no_sums(std::int32_t stretches) { return std::vector<std::int64_t>(2 * at(stretches), 0); }

void add_cell(std::vector<std::int64_t>& sums, std::int32_t stretch, const CurveCells::Cell& cell) {
  sums[at(stretch)] += cell[0];
  sums[sums.size() / 2 + at(stretch)] += cell[1];
}

PartVector join_stretches(const std::vector<GroupEdge>& edges, const std::vector<std::int64_t>& sums,
                          std::int64_t elements, std::int32_t parts) {
  const auto stretches = static_cast<std::int64_t>(sums.size() / 2);
  std::vector<std::int32_t> weight;
  for (std::int64_t s = 0; s < stretches; ++s)
    weight.push_back(static_cast<std::int32_t>((s + 1) * elements / stretches - s * elements / stretches));
  Graph graph = graph_of(edges, std::move(weight));
  for (std::size_t s = 0; s < graph.weight.size(); ++s) {
    const auto mean = [&](std::size_t i) {
      return static_cast<float>(static_cast<double>(sums[i]) / static_cast<double>(graph.weight[s]));
    };
    graph.place.push_back({mean(s), mean(at(stretches) + s)});
  }
  return join_to_parts(graph, parts);
}

}  // namespace octavo::partition
