#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "octavo/mesh/tree/curve.hpp"

/// Reads the amr and cell files of a RAMSES output record by record and checks what RAMSES relies on when it restarts.
/// Shares nothing with the reader and the writer but the Hilbert curve. Double precision, 4-byte markers, this
/// machine's byte order.
namespace octavo::testing {

using Ints = std::vector<std::int32_t>;

class Records {
 public:
  explicit Records(const std::filesystem::path& path) {
    std::ifstream in(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(in), {});
  }
  template <class T>
  std::vector<T> next() {
    std::int32_t size = 0;
    if (at_ + 4 > bytes_.size()) return {};
    std::memcpy(&size, bytes_.data() + at_, 4);
    std::vector<T> values(static_cast<std::size_t>(size) / sizeof(T));
    std::memcpy(values.data(), bytes_.data() + at_ + 4, values.size() * sizeof(T));
    at_ += static_cast<std::size_t>(size) + 8;
    return values;
  }
  std::int32_t integer() { return next<std::int32_t>().at(0); }
  void skip(int records) {
    for (int i = 0; i < records; ++i) next<char>();
  }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  std::vector<char> bytes_;
  std::size_t at_ = 0;
};

using Place = std::array<double, 3>;

struct CheckedOct {
  int level = 0, list = 0;
  std::int32_t next = 0, prev = 0, father = 0;
  Place centre{0, 0, 0};
  Ints nbor, son, cpu, flag;
  std::vector<double> values;  ///< of all cell files: position slowest, then variable
};

struct CheckedFile {
  int ncpu = 0, dim = 0, levels = 0, regions = 0;
  Ints coarse, headl, taill, numbl, totals, headb, tailb, numbb, coarse_son, coarse_cpu;
  std::int32_t ngridmax = 0, used = 0;
  std::vector<double> keys;
  std::map<std::int32_t, CheckedOct> octs;
  std::vector<Ints> order;  ///< ind_grid per level and list, levels slowest
  int ncoarse() const { return coarse[0] * coarse[1] * coarse[2]; }
};

inline CheckedFile read_amr_for_check(const std::filesystem::path& path) {
  Records in(path);
  CheckedFile f;
  f.ncpu = in.integer(), f.dim = in.integer(), f.coarse = in.next<std::int32_t>(), f.levels = in.integer();
  f.ngridmax = in.integer(), f.regions = in.integer(), f.used = in.integer();
  in.skip(12);
  f.headl = in.next<std::int32_t>(), f.taill = in.next<std::int32_t>(), f.numbl = in.next<std::int32_t>();
  f.totals = in.next<std::int32_t>();
  if (f.regions > 0)
    f.headb = in.next<std::int32_t>(), f.tailb = in.next<std::int32_t>(), f.numbb = in.next<std::int32_t>();
  in.skip(2);
  f.keys = in.next<double>();
  f.coarse_son = in.next<std::int32_t>();
  in.skip(1);
  f.coarse_cpu = in.next<std::int32_t>();
  for (int level = 0; level < f.levels; ++level)
    for (int list = 0; list < f.ncpu + f.regions; ++list) {
      const int n = list < f.ncpu ? f.numbl[static_cast<std::size_t>(level * f.ncpu + list)]
                                  : f.numbb[static_cast<std::size_t>(level * f.regions + list - f.ncpu)];
      f.order.emplace_back();
      if (n == 0) continue;
      f.order.back() = in.next<std::int32_t>();
      std::vector<CheckedOct> octs(static_cast<std::size_t>(n));
      const auto column = [&](auto&& put) {
        const Ints values = in.next<std::int32_t>();
        for (std::size_t i = 0; i < octs.size(); ++i) put(octs[i], values.at(i));
      };
      column([](CheckedOct& o, int v) { o.next = v; });
      column([](CheckedOct& o, int v) { o.prev = v; });
      for (std::size_t a = 0; a < static_cast<std::size_t>(f.dim); ++a) {
        const auto x = in.next<double>();
        for (std::size_t i = 0; i < octs.size(); ++i) octs[i].centre[a] = x.at(i);
      }
      column([](CheckedOct& o, int v) { o.father = v; });
      for (int side = 0; side < 2 * f.dim; ++side) column([](CheckedOct& o, int v) { o.nbor.push_back(v); });
      for (int c = 0; c < 1 << f.dim; ++c) column([](CheckedOct& o, int v) { o.son.push_back(v); });
      for (int c = 0; c < 1 << f.dim; ++c) column([](CheckedOct& o, int v) { o.cpu.push_back(v); });
      for (int c = 0; c < 1 << f.dim; ++c) column([](CheckedOct& o, int v) { o.flag.push_back(v); });
      for (std::size_t i = 0; i < octs.size(); ++i) {
        octs[i].level = level, octs[i].list = list;
        f.octs[f.order.back()[i]] = octs[i];
      }
    }
  if (!in.at_end()) f.used = -1;
  return f;
}

inline void read_cells_for_check(const std::filesystem::path& path, CheckedFile& f, int header_records) {
  Records in(path);
  in.skip(1);
  const int variables = in.integer();
  in.skip(header_records - 2);
  for (const Ints& list : f.order) {
    in.skip(2);
    for (int i = 0; i < (list.empty() ? 0 : variables << f.dim); ++i) {
      const auto values = in.next<double>();
      for (std::size_t k = 0; k < list.size(); ++k) f.octs[list[k]].values.push_back(values.at(k));
    }
  }
}

/// One file's own consistency.
class FileCheck {
 public:
  FileCheck(const CheckedFile& file, int domain, std::vector<std::string>& problems)
      : f_(file), domain_(domain), problems_(problems) {}

  void run() {
    expect(f_.used == static_cast<std::int32_t>(f_.octs.size()), "ngrid_current, or bytes after the tree", 0);
    expect(f_.used <= f_.ngridmax, "ngridmax", 0);
    expect(std::is_sorted(f_.keys.begin(), f_.keys.end()), "keys ascend", 0);
    check_lists();
    for (const auto& [index, oct] : f_.octs) cells_.insert_or_assign({oct.level, oct.centre}, index);
    for (const auto& [index, oct] : f_.octs) check_oct(index, oct);
  }

  /// Octs beside the domain's own that the file does not hold: right where the step has none there.
  std::vector<std::pair<int, Place>> absent;

 private:
  void expect(bool good, const std::string& what, std::int32_t oct) {
    if (!good && problems_.size() < 20)
      problems_.push_back("domain " + std::to_string(domain_ + 1) + ", oct " + std::to_string(oct) + ": " + what);
  }
  void check_lists() {
    for (std::size_t i = 0; i < f_.order.size(); ++i) {
      const auto lists = static_cast<std::size_t>(f_.ncpu + f_.regions), level = i / lists, list = i % lists;
      const bool wall = list >= static_cast<std::size_t>(f_.ncpu);
      const std::size_t at =
          wall ? level * static_cast<std::size_t>(f_.regions) + list - static_cast<std::size_t>(f_.ncpu)
               : level * static_cast<std::size_t>(f_.ncpu) + list;
      std::int32_t oct = (wall ? f_.headb : f_.headl)[at], last = 0;
      for (const std::int32_t expected : f_.order[i]) {
        expect(oct == expected, "linked list", expected);
        if (oct != expected) return;
        expect(f_.octs.at(oct).prev == last, "prev", oct);
        last = oct;
        oct = f_.octs.at(oct).next;
      }
      expect(oct == 0 && last == (wall ? f_.tailb : f_.taill)[at], "tail", last);
    }
  }
  double size(int level) const { return std::ldexp(1.0, -level); }  // of an oct
  /// The centre of a cell of level index `level` (-1: a coarse cell) by its number.
  Place centre(std::int32_t cell, int level) const {
    Place x{0, 0, 0};
    if (cell <= f_.ncoarse()) {
      const int i = cell - 1;
      x = {i % f_.coarse[0] + 0.5, i / f_.coarse[0] % f_.coarse[1] + 0.5, i / (f_.coarse[0] * f_.coarse[1]) + 0.5};
      for (std::size_t a = static_cast<std::size_t>(f_.dim); a < 3; ++a) x[a] = 0;
      return x;
    }
    const CheckedOct& oct = f_.octs.at(index_of(cell));
    x = oct.centre;
    for (std::size_t a = 0; a < static_cast<std::size_t>(f_.dim); ++a)
      x[a] += ((position_of(cell) >> a & 1) - 0.5) * size(level + 1);
    return x;
  }
  std::int32_t index_of(std::int32_t cell) const { return (cell - f_.ncoarse() - 1) % f_.ngridmax + 1; }
  int position_of(std::int32_t cell) const { return (cell - f_.ncoarse() - 1) / f_.ngridmax; }

  void check_oct(std::int32_t index, const CheckedOct& oct) {
    const bool top = oct.father <= f_.ncoarse(), wall = oct.list >= f_.ncpu;
    expect(top == (oct.level == 0), "level of the father", index);
    const CheckedOct* father = top ? nullptr : &f_.octs.at(index_of(oct.father));
    const auto c = static_cast<std::size_t>(top ? 0 : position_of(oct.father));
    const auto at = static_cast<std::size_t>(oct.father - 1);
    expect((top ? f_.coarse_son[at] : father->son[c]) == index, "the father's son", index);
    expect(centre(oct.father, oct.level - 1) == oct.centre, "centre", index);
    expect((top ? f_.coarse_cpu[at] : father->cpu[c]) == (wall ? 0 : oct.list + 1), "owner", index);
    for (std::size_t k = 0; k < oct.son.size(); ++k) {
      if (oct.son[k] != 0)
        expect(f_.octs.count(oct.son[k]) == 1 && oct.flag[k] == 1 &&
                   f_.octs.at(oct.son[k]).father == f_.ncoarse() + static_cast<std::int32_t>(k) * f_.ngridmax + index,
               "son", index);
      if (oct.list == domain_) expect((oct.son[k] != 0) == (oct.flag[k] == 1), "flag of an own cell", index);
      if (!wall && f_.coarse_cpu.size() == 1) expect(oct.cpu[k] == owner(oct, k), "cpu_map by key", index);
    }
    for (std::size_t side = 0; side < oct.nbor.size(); ++side) check_neighbour(index, oct, side);
  }
  /// By the key of the cell's centre, one coarse cell.
  int owner(const CheckedOct& oct, std::size_t c) const {
    mesh::Coordinate cell{0, 0, 0};
    for (std::size_t a = 0; a < static_cast<std::size_t>(f_.dim); ++a)
      cell[a] = static_cast<std::uint32_t>(
          std::floor((oct.centre[a] + (static_cast<double>(c >> a & 1) - 0.5) * size(oct.level + 1)) *
                     std::ldexp(1.0, f_.levels + 1)));
    const double key = mesh::to_double(mesh::curve_key(mesh::Curve::hilbert, f_.dim, f_.levels + 1, cell));
    const auto above = std::upper_bound(f_.keys.begin() + 1, f_.keys.end() - 1, key);
    return static_cast<int>(above - f_.keys.begin());
  }
  void check_neighbour(std::int32_t index, const CheckedOct& oct, std::size_t side) {
    Place x = oct.centre;
    const std::size_t a = side / 2;
    x[a] += side % 2 == 0 ? -size(oct.level) : size(oct.level);
    if (x[a] < 0) x[a] += f_.coarse[a];
    if (x[a] >= f_.coarse[a]) x[a] -= f_.coarse[a];
    const std::int32_t cell = oct.nbor[side];
    if (cell != 0) return expect(centre(cell, oct.level - 1) == x, "place of a neighbour", index);
    // Absent only if the oct that would hold it is.
    Place holder = x;
    for (std::size_t b = 0; b < static_cast<std::size_t>(f_.dim); ++b)
      holder[b] = (std::floor(x[b] / size(oct.level - 1)) + 0.5) * size(oct.level - 1);
    expect(cells_.count({oct.level - 1, holder}) == 0, "a neighbour that is there is not linked", index);
    if (oct.list == domain_) absent.push_back({oct.level - 1, holder});
  }

  const CheckedFile& f_;
  int domain_;
  std::vector<std::string>& problems_;
  std::map<std::pair<int, Place>, std::int32_t> cells_;
};

/// The errors found in an output; empty if there are none.
inline std::vector<std::string> check_ramses_output(const std::filesystem::path& directory, int number) {
  char suffix[32];
  std::snprintf(suffix, sizeof suffix, "_%05d.out", number);
  const auto name = [&](const char* kind, int domain) {
    char text[16];
    std::snprintf(text, sizeof text, "%05d", domain + 1);
    return directory / (std::string(kind) + suffix + text);
  };
  std::vector<std::string> problems;
  std::vector<CheckedFile> files;
  std::vector<std::pair<int, Place>> absent;
  for (int d = 0; files.empty() || d < files[0].ncpu; ++d) {
    files.push_back(read_amr_for_check(name("amr", d)));
    if (std::filesystem::exists(name("hydro", d))) read_cells_for_check(name("hydro", d), files.back(), 6);
    if (std::filesystem::exists(name("grav", d))) read_cells_for_check(name("grav", d), files.back(), 4);
    if (std::filesystem::exists(name("rt", d))) read_cells_for_check(name("rt", d), files.back(), 6);
    FileCheck check(files.back(), d, problems);
    check.run();
    absent.insert(absent.end(), check.absent.begin(), check.absent.end());
  }
  // Each domain's own octs, over all files; then the ghosts against them.
  std::map<std::pair<int, Place>, const CheckedOct*> own;
  for (int d = 0; d < files[0].ncpu; ++d)
    for (const auto& [index, oct] : files[static_cast<std::size_t>(d)].octs)
      if (oct.list == d && !own.insert({{oct.level, oct.centre}, &oct}).second)
        problems.push_back("an oct of level " + std::to_string(oct.level + 1) + " has two owners");
  for (const auto& place : absent)
    if (own.count(place) != 0 && problems.size() < 20)
      problems.push_back("beside an own oct, one of level " + std::to_string(place.first + 1) + " is not in the file");
  std::vector<std::int32_t> per_level(static_cast<std::size_t>(files[0].levels), 0);
  for (const auto& [key, oct] : own) ++per_level[static_cast<std::size_t>(key.first)];
  for (const CheckedFile& file : files) {
    for (std::size_t level = 0; level < per_level.size(); ++level)
      if (file.totals[10 * level] != per_level[level])
        problems.push_back("numbtot of level " + std::to_string(level + 1));
    if (file.keys != files[0].keys) problems.push_back("keys differ between files");
    for (const auto& [index, oct] : file.octs) {
      if (oct.list >= file.ncpu || problems.size() > 20) continue;
      const auto found = own.find({oct.level, oct.centre});
      if (found == own.end() || found->second->cpu != oct.cpu || found->second->flag != oct.flag)
        problems.push_back("a ghost differs from its oct on level " + std::to_string(oct.level + 1));
      else if (std::memcmp(found->second->values.data(), oct.values.data(), 8 * oct.values.size()) != 0)
        problems.push_back("values of a ghost on level " + std::to_string(oct.level + 1));
    }
  }
  return problems;
}

}  // namespace octavo::testing
