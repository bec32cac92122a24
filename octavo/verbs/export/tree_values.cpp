#include "octavo/verbs/export/tree_values.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "octavo/base/equal_shares.hpp"
#include "octavo/formats/vtkhdf/field_type.hpp"
#include "octavo/mesh/tree/hyper_trees.hpp"
#include "octavo/mesh/tree/merge.hpp"

namespace octavo::verbs::detail {
namespace {

constexpr std::uint32_t nowhere = 0xFFFFFFFFU;
constexpr std::uint64_t batch = 65536;  // values

mesh::Octree without_owners(mesh::Octree tree) {
  tree.owned.clear();
  return tree;
}

/// The bytes of a value of a hidden cell.
std::vector<std::byte> hidden_value(mesh::ScalarType type) {
  std::vector<std::byte> bytes(mesh::size_of(type));
  const float narrow = std::numeric_limits<float>::quiet_NaN();
  const double wide = std::numeric_limits<double>::quiet_NaN();
  if (type == mesh::ScalarType::float32) std::memcpy(bytes.data(), &narrow, sizeof narrow);
  if (type == mesh::ScalarType::float64) std::memcpy(bytes.data(), &wide, sizeof wide);
  return bytes;
}

/// The part's roots on level 0 of another tree.
std::vector<std::uint32_t> places_of_roots(const mesh::Octree& part, const mesh::Octree& whole) {
  const mesh::RootIndex roots(mesh::held_roots(whole));
  std::vector<std::uint32_t> places;
  for (const mesh::RootInterval& interval : mesh::held_roots(part))
    for (std::int64_t root = interval.begin; root < interval.end; ++root) {
      const auto found = roots.find(root);
      places.push_back(found ? static_cast<std::uint32_t>(*found) : nowhere);
    }
  return places;
}

}  // namespace

TreeValues::TreeValues(const ExportJob& job, mesh::Octree tree)
    : job_(job),
      block_(mesh::block_size(tree)),
      unfolded_(mesh::levels_in_block(tree).value()),
      in_block_(mesh::unfolded_order(tree)),
      cells_(without_owners(mesh::unfold_blocks(tree))),
      index_(cells_),
      order_(cells_) {}

void TreeValues::open(const std::filesystem::path& path, formats::vtkhdf::HyperTreeFile file) {
  file_ = file::open_write(path);
  places_ = std::move(file);
}

void TreeValues::hide_all() const {
  const auto cells = static_cast<std::int64_t>(order_.num_cells());
  const auto [first, last] = base::share(cells, job_.workers.ranks.rank, job_.workers.ranks.size);
  base::agree(job_.workers.ranks, [&, first = first, last = last] {
    for (std::size_t f = 0; f < job_.fields.size(); ++f) {
      if (mesh::is_integer(job_.fields[f].type)) continue;  // a new file is full of zeros
      const std::vector<std::byte> one = hidden_value(job_.fields[f].type);
      std::vector<std::byte> many;
      for (std::uint64_t i = 0; i < batch; ++i) many.insert(many.end(), one.begin(), one.end());
      for (auto at = static_cast<std::uint64_t>(first); at < static_cast<std::uint64_t>(last); at += batch) {
        const std::uint64_t count = std::min(batch, static_cast<std::uint64_t>(last) - at);
        file::pwrite_all(file_, places_.fields[f] + at * one.size(), std::span(many).first(count * one.size()));
      }
    }
  });
}

/// The cells that the part owns and the tree has: runs of tree cells, blocks where there are any.
mesh::CellRuns TreeValues::runs_of(const mesh::Octree& part) const {
  mesh::CellRuns runs(part.refined.size());
  std::vector<std::uint32_t> places = places_of_roots(part, cells_);
  const auto family = static_cast<std::uint32_t>(mesh::family_size(part));
  for (std::size_t level = 0; level < part.refined.size(); ++level) {
    part.owned[level].for_each_set([&](std::size_t i) {
      if (places[i] == nowhere) return;
      std::vector<mesh::CellRun>& here = runs[level];
      const auto from = static_cast<std::uint32_t>(i);
      if (!here.empty() && here.back().from + here.back().count == from &&
          here.back().to + here.back().count == places[i])
        ++here.back().count;
      else
        here.push_back({from, places[i], 1});
    });
    if (level + 1 == part.refined.size()) break;
    const std::size_t unfolded = level + static_cast<std::size_t>(unfolded_);
    std::vector<std::uint32_t> children;
    children.reserve(part.refined[level + 1].size());
    part.refined[level].for_each_set([&](std::size_t i) {
      std::uint32_t first = nowhere;
      if (places[i] != nowhere && cells_.refined[unfolded][places[i] * block_])
        first =
            static_cast<std::uint32_t>(index_.family(static_cast<int>(unfolded), places[i] * block_) / block_) * family;
      for (std::uint32_t c = 0; c < family; ++c) children.push_back(first == nowhere ? nowhere : first + c);
    });
    places = std::move(children);
  }
  return runs;
}

std::vector<CellRange> TreeValues::shown_by(const mesh::Octree& part, const mesh::CellRuns& runs,
                                            const base::BitArray& selected) const {
  std::vector<CellRange> shown;
  const auto add = [&](int level, std::uint64_t first, std::uint64_t count) {
    if (!shown.empty() && shown.back().level == level && shown.back().first + shown.back().count == first)
      shown.back().count += count;
    else
      shown.push_back({level, first, count});
  };
  const auto offsets = mesh::level_offsets(part);
  for (std::size_t l = 0; l < runs.size(); ++l) {
    const int level = static_cast<int>(l) + unfolded_;
    for (const mesh::CellRun& run : runs[l])
      for (std::uint32_t k = 0; k < run.count; ++k) {
        const std::uint64_t first = std::uint64_t{run.to + k} * block_;
        const std::size_t value = (offsets[l] + run.from + k) * block_;
        if (cells_.refined[static_cast<std::size_t>(level)][first]) {
          add(level, first, block_);
          continue;
        }
        for (std::size_t c = 0; c < block_; ++c)
          if (selected[value + in_block_[c]]) add(level, first + c, 1);
      }
  }
  return shown;
}

/// The field's values of the runs, one run after another, in the order of the file.
std::vector<std::byte> TreeValues::gathered(const mesh::Octree& part, std::size_t level,
                                            const std::vector<mesh::CellRun>& runs, const mesh::Field& field,
                                            const base::BitArray& selected) const {
  const std::size_t width = mesh::size_of(field.info.type), first = mesh::level_offsets(part)[level];
  const std::vector<std::byte> hidden = hidden_value(field.info.type);
  const base::BitArray& refined = cells_.refined[level + static_cast<std::size_t>(unfolded_)];
  std::size_t cells = 0;
  for (const mesh::CellRun& run : runs) cells += run.count;
  std::vector<std::byte> out(cells * block_ * width);
  std::byte* to = out.data();
  for (const mesh::CellRun& run : runs)
    for (std::uint32_t k = 0; k < run.count; ++k) {
      const bool all = refined[std::uint64_t{run.to + k} * block_];
      const std::size_t value = (first + run.from + k) * block_;
      for (std::size_t c = 0; c < block_; ++c, to += width) {
        const std::size_t at = value + in_block_[c];
        std::memcpy(to, all || selected[at] ? field.bytes.data() + at * width : hidden.data(), width);
      }
    }
  return out;
}

void TreeValues::put(std::size_t field, int level, const CellRange& range, const std::byte* values) const {
  const std::size_t width = mesh::size_of(job_.fields[field].type);
  order_.for_each_stretch(level, range.first, range.count,
                          [&](std::uint64_t place, std::uint64_t first, std::uint64_t count) {
                            file::pwrite_all(file_, places_.fields[field] + place * width,
                                             {values + (first - range.first) * width, count * width});
                          });
}

std::vector<std::byte> TreeValues::get(std::size_t field, const CellRange& range) const {
  const std::size_t width = mesh::size_of(job_.fields[field].type);
  std::vector<std::byte> values(range.count * width);
  order_.for_each_stretch(range.level, range.first, range.count,
                          [&](std::uint64_t place, std::uint64_t first, std::uint64_t count) {
                            file::pread_all(file_, places_.fields[field] + place * width,
                                            {values.data() + (first - range.first) * width, count * width});
                          });
  return values;
}

std::vector<CellRange> TreeValues::write(const mesh::Part& part, const base::BitArray& selected) const {
  const mesh::Octree& tree = mesh::octree_of(part);
  const mesh::CellRuns runs = runs_of(tree);
  for (std::size_t f = 0; f < job_.fields.size(); ++f) {
    const mesh::Field& field = analysis::cell_field(part, job_.fields[f].name);
    const bool same = field.info.type == job_.fields[f].type;
    const mesh::Field other = same ? mesh::Field{} : formats::vtkhdf::as_in_file(field, job_.fields[f].type);
    for (std::size_t level = 0; level < runs.size(); ++level) {
      const std::vector<std::byte> values = gathered(tree, level, runs[level], same ? field : other, selected);
      const std::byte* from = values.data();
      for (const mesh::CellRun& run : runs[level]) {
        const CellRange range{static_cast<int>(level) + unfolded_, run.to * block_, run.count * block_};
        put(f, range.level, range, from);
        from += range.count * mesh::size_of(job_.fields[f].type);
      }
    }
  }
  return shown_by(tree, runs, selected);
}

template <class T>
void TreeValues::write_means(std::size_t field, const CellRange& parents, const base::BitArray& shown_below) const {
  const std::size_t family = mesh::family_size(cells_);
  const CellRange children{parents.level + 1, index_.family(parents.level, parents.first) * family,
                           parents.count * family};
  const std::vector<std::byte> bytes = get(field, children);
  const auto* value = reinterpret_cast<const T*>(bytes.data());
  std::vector<T> means;
  for (std::uint64_t child = children.first; child < children.first + children.count; child += family) {
    double sum = 0;
    int count = 0;
    for (std::size_t c = 0; c < family; ++c, ++value)
      if (shown_below[child + c]) {
        sum += static_cast<double>(*value);
        ++count;
      }
    const double mean = sum / count;
    if constexpr (std::is_floating_point_v<T>)
      means.push_back(static_cast<T>(mean));
    else
      means.push_back(count == 0 ? T{0} : static_cast<T>(std::llround(mean)));
  }
  put(field, parents.level, parents, std::as_bytes(std::span(means)).data());
}

std::int64_t TreeValues::write_means(std::vector<base::BitArray>& shown) const {
  std::int64_t made = 0;
  const auto write = [&](const CellRange& parents) {
    const base::BitArray& below = shown[static_cast<std::size_t>(parents.level) + 1];
    for (std::size_t f = 0; f < job_.fields.size(); ++f) switch (job_.fields[f].type) {
        case mesh::ScalarType::float64: write_means<double>(f, parents, below); break;
        case mesh::ScalarType::float32: write_means<float>(f, parents, below); break;
        case mesh::ScalarType::int32: write_means<std::int32_t>(f, parents, below); break;
        case mesh::ScalarType::uint8: write_means<std::uint8_t>(f, parents, below); break;
        default: write_means<std::int64_t>(f, parents, below);
      }
    const std::size_t family = mesh::family_size(cells_);
    std::size_t child = index_.family(parents.level, parents.first) * family;
    for (std::uint64_t i = parents.first; i < parents.first + parents.count; ++i, child += family) {
      if (below.find(true, child) >= child + family) continue;  // a corner of a block in which no cell is selected
      shown[static_cast<std::size_t>(parents.level)].set(i);
      ++made;
    }
  };
  for (std::size_t level = cells_.refined.size(); level-- > 0;) {
    const base::BitArray& refined = cells_.refined[level];
    for (std::size_t i = refined.find(true, 0); i < refined.size(); i = refined.find(true, i)) {
      const std::size_t next = shown[level].find(false, i), end = std::min(refined.find(false, i), i + batch);
      if (next > i) {
        i = next;
        continue;
      }
      const std::size_t last = std::min(end, shown[level].find(true, i));
      write({static_cast<int>(level), i, last - i});
      i = last;
    }
  }
  return made;
}

void TreeValues::write_mask(const std::vector<base::BitArray>& shown) const {
  std::vector<std::uint8_t> mask((order_.num_cells() + 7) / 8);
  std::uint64_t at = 0;
  for (std::size_t root = 0; root < order_.num_roots(); ++root)
    for (std::size_t level = 0; level < shown.size(); ++level)
      for (std::uint64_t i = order_.begin(static_cast<int>(level), root);
           i < order_.begin(static_cast<int>(level), root + 1); ++i, ++at)
        if (!cells_.refined[level][i] && !shown[level][i]) mask[at / 8] |= static_cast<std::uint8_t>(0x80U >> (at % 8));
  file::pwrite_all(file_, places_.mask, std::as_bytes(std::span(mask)));
}

}  // namespace octavo::verbs::detail
