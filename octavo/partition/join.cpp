#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>
#include <queue>

#include "octavo/base/at.hpp"
#include "octavo/partition/axis.hpp"
#include "octavo/partition/graph.hpp"

/// Repeated halving, each improved by moves. A pass looks at all edges once, and again at those of vertices that move.
namespace octavo::partition {
namespace {

using Vertex = std::int32_t;
using Order = std::vector<Vertex>;

using base::at;

template <class F>
void each_edge(const Graph& graph, Vertex v, F&& f) {
  for (std::int64_t i = graph.first[at(v)]; i < graph.first[at(v) + 1]; ++i)
    f(graph.to[at(i)], graph.edge_weight[at(i)]);
}

/// The two sides of a halved graph.
struct GraphHalves {
  std::vector<char> far;  ///< of each vertex: 1 if it is on the far side
  std::int64_t cut = 0;   ///< weight of the edges between the sides
  std::int64_t off = 0;   ///< weight of the near side minus its intended weight
};

struct BalanceLimits {
  std::int64_t near;   ///< intended weight of the near side
  std::int64_t good;   ///< largest |off| of acceptable halves
  std::int64_t drift;  ///< largest |off| on the way to better halves
};

/// Whether the first of two cuts is better. The balance decides, unless both cuts are balanced well enough; then the
/// cut edges decide.
bool better(std::int64_t cut, std::int64_t off, std::int64_t than_cut, std::int64_t than_off, std::int64_t good) {
  off = std::max(std::abs(off), good);
  than_off = std::max(std::abs(than_off), good);
  return off != than_off ? off < than_off : cut < than_cut;
}

/// The vertices of one side, ordered by the gain of moving them; among equals, the lowest comes first. top() discards
/// entries that are out of date.
class Queue {
 public:
  void push(std::int64_t gain, Vertex v) { entries_.emplace(gain, -v); }
  template <class IsCurrent>
  Vertex top(IsCurrent&& is_current) {
    while (!entries_.empty() && !is_current(entries_.top().first, -entries_.top().second)) entries_.pop();
    return entries_.empty() ? -1 : -entries_.top().second;
  }

 private:
  std::priority_queue<std::pair<std::int64_t, Vertex>> entries_;
};

/// One pass over two halves. It always moves the vertex with the largest gain of those that may move, even at a loss,
/// and each vertex at most once. Then it returns to the best halves on the way.
class BisectionPass {
 public:
  BisectionPass(const Graph& graph, const BalanceLimits& balance, GraphHalves& halves)
      : graph_(graph), balance_(balance), halves_(halves), gain_(halves.far.size()), has_moved_(halves.far.size(), 0) {}

  void run() {
    for (std::size_t v = 0; v < gain_.size(); ++v) enter(static_cast<Vertex>(v));
    // Most moves late in a pass are taken back. It ends after this number of moves without better halves.
    const std::size_t patience = std::max<std::size_t>(100, gain_.size() / 20);
    std::int64_t best_cut = halves_.cut, best_off = halves_.off;
    std::size_t best = 0;
    while (moves_.size() < best + patience) {
      const Vertex v = choose();
      if (v < 0) break;
      move(v);
      if (!better(halves_.cut, halves_.off, best_cut, best_off, balance_.good)) continue;
      best = moves_.size();
      best_cut = halves_.cut;
      best_off = halves_.off;
    }
    for (; moves_.size() > best; moves_.pop_back()) flip(moves_.back());
    halves_.cut = best_cut;
    halves_.off = best_off;
  }

 private:
  void enter(Vertex v) {
    bool is_border = false;
    gain_[at(v)] = 0;
    each_edge(graph_, v, [&](Vertex to, std::int32_t weight) {
      const bool cut = halves_.far[at(to)] != halves_.far[at(v)];
      is_border = is_border || cut;
      gain_[at(v)] += cut ? weight : -weight;
    });
    if (is_border) queue(v);
  }
  void queue(Vertex v) { queues_[at(halves_.far[at(v)])].push(gain_[at(v)], v); }

  bool may_move(Vertex v) const {
    if (v < 0) return false;
    const std::int64_t weight = graph_.weight[at(v)], off = halves_.off + (halves_.far[at(v)] != 0 ? weight : -weight);
    return std::abs(off) <= balance_.drift || std::abs(off) < std::abs(halves_.off);
  }
  Vertex choose() {
    std::array<Vertex, 2> top{};
    for (std::size_t side = 0; side < 2; ++side) {
      top[side] = queues_[side].top([&](std::int64_t gain, Vertex v) {
        return has_moved_[at(v)] == 0 && at(halves_.far[at(v)]) == side && gain == gain_[at(v)];
      });
      if (!may_move(top[side])) top[side] = -1;
    }
    if (top[0] < 0 || top[1] < 0) return std::max(top[0], top[1]);
    const std::int64_t gain_0 = gain_[at(top[0])], gain_1 = gain_[at(top[1])];
    if (gain_0 != gain_1) return gain_0 > gain_1 ? top[0] : top[1];
    return halves_.off > 0 ? top[0] : top[1];
  }
  void flip(Vertex v) { halves_.far[at(v)] = static_cast<char>(1 - halves_.far[at(v)]); }
  void move(Vertex v) {
    halves_.off += halves_.far[at(v)] != 0 ? graph_.weight[at(v)] : -graph_.weight[at(v)];
    halves_.cut -= gain_[at(v)];
    flip(v);
    has_moved_[at(v)] = 1;
    moves_.push_back(v);
    each_edge(graph_, v, [&](Vertex to, std::int32_t weight) {
      if (has_moved_[at(to)] != 0) return;
      gain_[at(to)] += halves_.far[at(to)] == halves_.far[at(v)] ? -2 * weight : 2 * weight;
      // The entry with the old gain stays in the queue: top() drops it.
      queue(to);
    });
  }

  const Graph& graph_;
  const BalanceLimits& balance_;
  GraphHalves& halves_;
  std::vector<std::int64_t> gain_;  ///< by vertex: weight of cut edges that moving it saves
  std::vector<char> has_moved_;
  std::array<Queue, 2> queues_;
  std::vector<Vertex> moves_;
};

/// Puts the first vertices of an order on the near side. Their number is the one that comes nearest to the intended
/// weight.
GraphHalves halve_along(const Graph& graph, const Order& order, const BalanceLimits& balance) {
  GraphHalves halves{std::vector<char>(order.size(), 1), 0, -balance.near};
  for (const Vertex v : order) {
    const std::int64_t weight = graph.weight[at(v)];
    if (2 * halves.off + weight >= 0) break;
    halves.far[at(v)] = 0;
    halves.off += weight;
  }
  for (std::size_t v = 0; v < order.size(); ++v)
    each_edge(graph, static_cast<Vertex>(v), [&](Vertex to, std::int32_t weight) {
      if (halves.far[v] < halves.far[at(to)]) halves.cut += weight;
    });
  return halves;
}

/// Vertices by their distance from one vertex, breadth first. Vertices without a path to it follow.
Order by_distance(const Graph& graph, Vertex from) {
  const auto count = static_cast<Vertex>(graph.weight.size());
  Order order;
  order.reserve(at(count));
  std::vector<char> met(at(count), 0);
  const auto meet = [&](Vertex v) {
    if (met[at(v)] != 0) return;
    met[at(v)] = 1;
    order.push_back(v);
  };
  meet(from);
  std::size_t next = 0;
  for (Vertex other = 0; other < count; ++other) {
    for (; next < order.size(); ++next) each_edge(graph, order[next], [&](Vertex to, std::int32_t) { meet(to); });
    meet(other);
  }
  return order;
}

/// Vertices by their distance from an end of the graph. We find the end by going to the farthest vertex twice.
Order from_the_end(const Graph& graph) {
  const Vertex far = by_distance(graph, 0).back();
  return by_distance(graph, by_distance(graph, far).back());
}

/// Vertices along the axis on which their places vary most.
Order along_axis(const Graph& graph) {
  const auto [dx, dy] = principal_axis(graph.place);
  std::vector<float> where;
  for (const Graph::Point& place : graph.place) where.push_back(place.x * dx + place.y * dy);
  Order order(where.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](Vertex a, Vertex b) { return where[at(a)] < where[at(b)]; });
  return order;
}

/// The orders to try; the first is that of the vertex numbers.
std::vector<Order> orders_of(const Graph& graph) {
  std::vector<Order> orders{Order(graph.weight.size()), from_the_end(graph)};
  std::iota(orders[0].begin(), orders[0].end(), 0);
  if (!graph.place.empty()) orders.push_back(along_axis(graph));
  return orders;
}

GraphHalves halve(const Graph& graph, const BalanceLimits& balance) {
  GraphHalves best;
  for (const Order& order : orders_of(graph)) {
    GraphHalves halves = halve_along(graph, order, balance);
    for (int pass = 0; pass < 4; ++pass) {
      const std::int64_t cut = halves.cut, off = halves.off;
      BisectionPass(graph, balance, halves).run();
      if (!better(halves.cut, halves.off, cut, off, balance.good)) break;
    }
    if (best.far.empty() || better(halves.cut, halves.off, best.cut, best.off, balance.good)) best = std::move(halves);
  }
  return best;
}

/// Some vertices of a graph, with their numbers in the whole graph.
struct Subgraph {
  Graph graph;
  Order whole;
};

Subgraph side_of(const Subgraph& from, const std::vector<char>& far, char side) {
  Subgraph part;
  Order number(far.size(), -1);
  for (std::size_t v = 0; v < far.size(); ++v)
    if (far[v] == side) {
      number[v] = static_cast<Vertex>(part.whole.size());
      part.whole.push_back(from.whole[v]);
      part.graph.weight.push_back(from.graph.weight[v]);
      if (!from.graph.place.empty()) part.graph.place.push_back(from.graph.place[v]);
    }
  part.graph.first.push_back(0);
  for (std::size_t v = 0; v < far.size(); ++v) {
    if (far[v] != side) continue;
    each_edge(from.graph, static_cast<Vertex>(v), [&](Vertex to, std::int32_t weight) {
      if (number[at(to)] < 0) return;
      part.graph.to.push_back(number[at(to)]);
      part.graph.edge_weight.push_back(weight);
    });
    part.graph.first.push_back(static_cast<std::int64_t>(part.graph.to.size()));
  }
  return part;
}

void join(Subgraph some, std::int32_t first_part, std::int32_t parts, PartVector& part_of) {
  if (parts == 1) {
    for (const Vertex v : some.whole) part_of[at(v)] = first_part;
    return;
  }
  const std::vector<std::int32_t>& weight = some.graph.weight;
  const std::int64_t total = std::accumulate(weight.begin(), weight.end(), std::int64_t{0});
  const std::int32_t near_parts = parts / 2;
  const std::int64_t good = total / parts / 100;
  const BalanceLimits balance{total * near_parts / parts, good, good + *std::max_element(weight.begin(), weight.end())};
  const std::vector<char> far = halve(some.graph, balance).far;
  Subgraph beyond = side_of(some, far, 1);
  some = side_of(some, far, 0);
  join(std::move(some), first_part, near_parts, part_of);
  join(std::move(beyond), first_part + near_parts, parts - near_parts, part_of);
}

}  // namespace

PartVector join_to_parts(const Graph& graph, std::int32_t parts) {
  PartVector part_of(graph.weight.size());
  Order all(graph.weight.size());
  std::iota(all.begin(), all.end(), 0);
  join({graph, std::move(all)}, 0, parts, part_of);
  return part_of;
}

}  // namespace octavo::partition
