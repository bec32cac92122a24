#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// Small RAMSES outputs, pushed byte by byte as the format's description has them: for what no real output at hand
/// covers. Shares no code with the reader or the writer, so that they cannot agree on an error.
namespace octavo::testing {

struct RamsesFixture {
  int ndim = 3;
  int ncpu = 2;
  int levels = 3;
  std::array<int, 3> real{1, 1, 1};     ///< coarse cells of the domain
  std::array<int, 3> wall_lo{0, 0, 0};  ///< 1: a wall's coarse cells before them
  std::array<int, 3> wall_hi{0, 0, 0};
  std::size_t marker = 4;
  bool big_endian = false;
  std::size_t subrecord = 0;   ///< longest subrecord; 0: never split
  std::size_t real_bytes = 8;  ///< 4: NPRE=4
  std::string ordering = "hilbert";
  bool quad_keys = false;
  int group_size = 0;  ///< ranks a group_GGGGG folder
  std::vector<std::string> hydro{"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
  bool hydro_descriptor = true;
  bool old_descriptor = false;          ///< "variable #  1: density"
  int grav = 0, rt = 0;                 ///< variables of those files; 0: no files
  std::vector<std::string> rt_names{};  ///< empty: no descriptor
  bool particles = false;
  bool old_particles = false;  ///< no family, tag, descriptor; text of old header files
  std::size_t identity_bytes = 4;
  int particles_a_domain = 5;

  std::int64_t cell_value(int variable, int level, std::array<std::int64_t, 3> cell) const {
    return (variable * 97 + level * 31 + cell[0] * 7 + cell[1] * 5 + cell[2] * 3) % 4096;
  }
};

/// An oct: position in units of its own size, counted from the first real coarse cell. Level 1 is a coarse cell's.
struct FixtureOct {
  int level = 1;
  std::array<std::int64_t, 3> at{0, 0, 0};
  int owner = 0;         ///< from 0; ncpu: a wall
  std::vector<int> son;  ///< per cell: position in the list of octs, or -1
  std::int32_t index = 0;
};

/// Bytes with Fortran's records.
class FixtureFile {
 public:
  explicit FixtureFile(const RamsesFixture& f) : f_(f) {}
  template <class T>
  void record(const std::vector<T>& values) {
    std::string payload;
    for (const T& value : values) payload += raw(&value, sizeof(T));
    put(payload);
  }
  void reals(const std::vector<double>& values) {
    if (f_.real_bytes == 4)
      record(std::vector<float>(values.begin(), values.end()));
    else
      record(values);
  }
  void text(std::string value, std::size_t width) {
    value.resize(width, ' ');
    put(value);
  }
  /// IEEE quadruple precision of small non-negative integers.
  void quads(const std::vector<std::uint64_t>& values) {
    std::string payload;
    for (const std::uint64_t value : values) {
      std::array<std::uint64_t, 2> words{0, 0};  // low, high
      if (value != 0) {
        const int exponent = 63 - std::countl_zero(value);
        const std::uint64_t fraction = value ^ (std::uint64_t{1} << exponent);
        // 112 bits of fraction: 48 in the high word.
        const int up = 112 - exponent;
        words[1] = (static_cast<std::uint64_t>(16383 + exponent) << 48) |
                   (up >= 64 ? fraction << (up - 64) : fraction >> (64 - up));
        words[0] = up >= 64 ? 0 : fraction << up;
      }
      if (f_.big_endian) std::swap(words[0], words[1]);
      payload += raw(&words[0], 8) + raw(&words[1], 8);
    }
    put(payload);
  }
  const std::string& bytes() const { return bytes_; }
  std::vector<std::size_t> ends;  ///< file offset behind each record

 private:
  std::string raw(const void* from, std::size_t width) const {
    std::string out(static_cast<const char*>(from), width);
    if (f_.big_endian) std::reverse(out.begin(), out.end());
    return out;
  }
  void mark(std::int64_t value) {
    const auto narrow = static_cast<std::int32_t>(value);
    bytes_ += f_.marker == 4 ? raw(&narrow, 4) : raw(&value, 8);
  }
  void put(const std::string& payload) {
    std::size_t at = 0;
    do {
      const std::size_t left = payload.size() - at, n = f_.subrecord != 0 ? std::min(left, f_.subrecord) : left;
      mark(n < left ? -static_cast<std::int64_t>(n) : static_cast<std::int64_t>(n));
      bytes_.append(payload, at, n);
      mark(at > 0 ? -static_cast<std::int64_t>(n) : static_cast<std::int64_t>(n));
      at += n;
    } while (at < payload.size());
    ends.push_back(bytes_.size());
  }
  const RamsesFixture& f_;
  std::string bytes_;
};

inline bool fixture_refines(const RamsesFixture& f, int level, std::array<std::int64_t, 3> cell) {
  return level < f.levels && (cell[0] + 2 * cell[1] + 3 * cell[2] + level) % 3 != 0;
}

inline std::array<std::int64_t, 3> fixture_cell(const RamsesFixture& f, const FixtureOct& oct, int c) {
  std::array<std::int64_t, 3> cell{0, 0, 0};
  for (int a = 0; a < f.ndim; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    cell[axis] = 2 * oct.at[axis] + (c >> a & 1);
  }
  return cell;
}

/// All octs, level after level; numbers in memory that neither ascend nor follow one another.
inline std::vector<FixtureOct> fixture_octs(const RamsesFixture& f) {
  std::vector<FixtureOct> octs;
  for (std::int64_t k = 0; k < f.real[2]; ++k)
    for (std::int64_t j = 0; j < f.real[1]; ++j)
      for (std::int64_t i = 0; i < f.real[0]; ++i) octs.push_back({1, {i, j, k}, 0, {}, 0});
  for (std::size_t o = 0; o < octs.size(); ++o) {
    octs[o].owner = static_cast<int>((octs[o].at[0] + octs[o].at[1] + octs[o].level - 1) % f.ncpu);
    for (int c = 0; c < (1 << f.ndim); ++c) {
      const auto cell = fixture_cell(f, octs[o], c);
      const bool refine = fixture_refines(f, octs[o].level, cell);
      octs[o].son.push_back(refine ? static_cast<int>(octs.size()) : -1);
      if (refine) octs.push_back({octs[o].level + 1, cell, 0, {}, 0});
    }
  }
  const auto count = static_cast<std::int32_t>(octs.size());
  for (std::int32_t o = 0; o < count; ++o) octs[static_cast<std::size_t>(o)].index = 3 + 2 * (count - 1 - o);
  return octs;
}

/// The octs of a level and list (from 0), as positions in `octs`.
inline std::vector<int> fixture_list(const std::vector<FixtureOct>& octs, int level, int list) {
  std::vector<int> out;
  for (std::size_t o = 0; o < octs.size(); ++o)
    if (octs[o].level == level && octs[o].owner == list) out.push_back(static_cast<int>(o));
  return out;
}

class FixtureWriter {
 public:
  FixtureWriter(const RamsesFixture& f, std::filesystem::path directory)
      : f_(f), dir_(std::move(directory)), octs_(fixture_octs(f)) {
    for (std::size_t a = 0; a < 3; ++a) {
      coarse_[a] = f.wall_lo[a] + f.real[a] + f.wall_hi[a];
      walls_ += f.wall_lo[a] + f.wall_hi[a];
    }
    std::filesystem::create_directories(dir_);
  }

  void write() {
    info();
    descriptors();
    for (int d = 0; d < f_.ncpu; ++d) {
      save("amr", d, amr());
      if (!f_.hydro.empty()) save("hydro", d, cells(static_cast<int>(f_.hydro.size()), true, 0));
      if (f_.grav > 0) save("grav", d, cells(f_.grav, false, 100));
      if (f_.rt > 0) save("rt", d, cells(f_.rt, true, 200));
      if (f_.particles) save("part", d, part(d));
    }
  }

  FixtureFile amr() const {
    FixtureFile out(f_);
    out.record(std::vector<std::int32_t>{f_.ncpu});
    out.record(std::vector<std::int32_t>{f_.ndim});
    out.record(std::vector<std::int32_t>{coarse_[0], coarse_[1], coarse_[2]});
    out.record(std::vector<std::int32_t>{f_.levels});
    out.record(std::vector<std::int32_t>{1000});
    out.record(std::vector<std::int32_t>{walls_});
    out.record(std::vector<std::int32_t>{static_cast<std::int32_t>(octs_.size())});
    out.reals({2.0});
    out.record(std::vector<std::int32_t>{1, 2, 2});
    out.reals({10.0});
    out.reals({1.0});
    out.reals({0.25});
    out.reals(std::vector<double>(static_cast<std::size_t>(f_.levels), 0.5));
    out.reals(std::vector<double>(static_cast<std::size_t>(f_.levels), 0.5));
    out.record(std::vector<std::int32_t>{7, 7});
    out.reals({0, 0, 0});
    out.reals({1, 0, 0, 0.045, 1, 1, 1});
    out.reals({1, 0, 1, 0, 0});
    out.reals({0});
    list_tables(out);
    out.record(std::vector<std::int32_t>{0, 0, 0, 0, 0});
    out.text(f_.ordering, 128);
    keys(out);
    coarse(out);
    for (int level = 1; level <= f_.levels; ++level)
      for (int list = 0; list < f_.ncpu + walls_; ++list) tree_block(out, level, list);
    return out;
  }

  FixtureFile cells(int variables, bool with_gamma, int first_variable) const {
    FixtureFile out(f_);
    out.record(std::vector<std::int32_t>{f_.ncpu});
    out.record(std::vector<std::int32_t>{variables});
    if (with_gamma) out.record(std::vector<std::int32_t>{f_.ndim});
    out.record(std::vector<std::int32_t>{f_.levels});
    out.record(std::vector<std::int32_t>{walls_});
    if (with_gamma) out.reals({1.4});
    for (int level = 1; level <= f_.levels; ++level)
      for (int list = 0; list < f_.ncpu + walls_; ++list) {
        const std::size_t n = count(level, list);
        out.record(std::vector<std::int32_t>{level});
        out.record(std::vector<std::int32_t>{static_cast<std::int32_t>(n)});
        for (int c = 0; n > 0 && c < (1 << f_.ndim); ++c)
          for (int v = 0; v < variables; ++v) {
            std::vector<double> values(n, -1.0);  // a wall's
            if (list < f_.ncpu) {
              values.clear();
              for (const int o : fixture_list(octs_, level, list))
                values.push_back(static_cast<double>(
                    f_.cell_value(first_variable + v, level, fixture_cell(f_, octs_[static_cast<std::size_t>(o)], c))));
            }
            out.reals(values);
          }
      }
    return out;
  }

  FixtureFile part(int domain) const {
    FixtureFile out(f_);
    const std::int32_t n = domain == 0 ? 0 : f_.particles_a_domain;  // the first rank has none
    out.record(std::vector<std::int32_t>{f_.ncpu});
    out.record(std::vector<std::int32_t>{f_.ndim});
    out.record(std::vector<std::int32_t>{n});
    out.record(std::vector<std::int32_t>{1, 2, 3, 4});
    out.record(std::vector<std::int32_t>{0});
    out.reals({0});
    out.reals({0});
    out.record(std::vector<std::int32_t>{0});
    std::vector<double> numbers;
    for (int i = 0; i < n; ++i) numbers.push_back(domain * 10 + i);
    for (int a = 0; a < 2 * f_.ndim + 1; ++a) out.reals(numbers);
    if (f_.identity_bytes == 8)
      out.record(std::vector<std::int64_t>(static_cast<std::size_t>(n), (std::int64_t{1} << 40) + domain));
    else
      out.record(std::vector<std::int32_t>(static_cast<std::size_t>(n), 1000 + domain));
    out.record(std::vector<std::int32_t>(static_cast<std::size_t>(n), 2));
    if (f_.old_particles) return out;
    out.record(std::vector<std::int8_t>(static_cast<std::size_t>(n), 1));
    out.record(std::vector<std::int8_t>(static_cast<std::size_t>(n), 0));
    return out;
  }

  const std::vector<FixtureOct>& octs() const { return octs_; }

  static std::string numbered(const char* form, int number) {
    char text[32];
    std::snprintf(text, sizeof text, form, number);
    return text;
  }
  std::filesystem::path path(const std::string& kind, int domain) const {
    const auto folder = f_.group_size > 0 ? dir_ / numbered("group_%05d", domain / f_.group_size + 1) : dir_;
    return folder / (kind + "_00007" + numbered(".out%05d", domain + 1));
  }

 private:
  // One oct a wall, on level 1: it must not be taken for part of the domain.
  std::size_t count(int level, int list) const {
    if (list >= f_.ncpu) return level == 1 ? 1 : 0;
    return fixture_list(octs_, level, list).size();
  }

  void list_tables(FixtureFile& out) const {
    std::vector<std::int32_t> domains, walls, totals;
    for (int level = 1; level <= f_.levels; ++level) {
      std::int32_t sum = 0;
      for (int list = 0; list < f_.ncpu; ++list) {
        domains.push_back(static_cast<std::int32_t>(count(level, list)));
        sum += domains.back();
      }
      for (int list = f_.ncpu; list < f_.ncpu + walls_; ++list)
        walls.push_back(static_cast<std::int32_t>(count(level, list)));
      totals.insert(totals.end(), {sum, 0, sum, 0, 0, 0, 0, 0, 0, 0});
    }
    for (int i = 0; i < 3; ++i) out.record(i < 2 ? std::vector<std::int32_t>(domains.size(), 0) : domains);
    out.record(totals);
    for (int i = 0; walls_ > 0 && i < 3; ++i) out.record(i < 2 ? std::vector<std::int32_t>(walls.size(), 0) : walls);
  }

  void keys(FixtureFile& out) const {
    if (f_.ordering == "bisection") {
      std::vector<double> lo, hi;  // domains along x
      for (int a = 0; a < f_.ndim; ++a)
        for (int d = 0; d < f_.ncpu; ++d) {
          lo.push_back(a == 0 ? 2.0 * d / f_.ncpu : 0.0);
          hi.push_back(a == 0 ? 2.0 * (d + 1) / f_.ncpu : 2.0);
        }
      out.reals({1.0});
      out.record(std::vector<std::int32_t>{0, 0});
      out.record(std::vector<std::int32_t>{1});
      out.reals(lo);
      out.reals(hi);
      return;
    }
    const std::uint64_t all = std::uint64_t{1} << (f_.ndim * (f_.levels + 1));
    std::vector<std::uint64_t> bounds;
    for (int d = 0; d <= f_.ncpu; ++d)
      bounds.push_back(all * static_cast<std::uint64_t>(d) / static_cast<std::uint64_t>(f_.ncpu));
    if (f_.quad_keys)
      out.quads(bounds);
    else
      out.record(std::vector<double>(bounds.begin(), bounds.end()));  // 8 bytes with NPRE=4 too
  }

  void coarse(FixtureFile& out) const {
    std::vector<std::int32_t> son, flag, cpu;
    std::size_t root = 0;
    for (int k = 0; k < coarse_[2]; ++k)
      for (int j = 0; j < coarse_[1]; ++j)
        for (int i = 0; i < coarse_[0]; ++i) {
          const std::array<int, 3> at{i, j, k};
          bool real = true;
          for (std::size_t a = 0; a < 3; ++a)
            real = real && at[a] >= f_.wall_lo[a] && at[a] < f_.wall_lo[a] + f_.real[a];
          son.push_back(real ? octs_[root++].index : 900);
          flag.push_back(0);
          cpu.push_back(real ? 1 : 0);
        }
    out.record(son);
    out.record(flag);
    out.record(cpu);
  }

  // Walls are counted -x +x -y +y -z +z; the oct of one is in its first coarse cell.
  double wall_centre(int wall, std::size_t axis) const {
    for (std::size_t a = 0; a < 3; ++a)
      for (const bool low : {true, false}) {
        if ((low ? f_.wall_lo : f_.wall_hi)[a] == 0 || wall-- != 0) continue;
        if (a == axis) return low ? 0.5 : f_.wall_lo[a] + f_.real[a] + 0.5;
        return f_.wall_lo[axis] + 0.5;
      }
    return 0.5;
  }

  void tree_block(FixtureFile& out, int level, int list) const {
    const std::size_t n = count(level, list);
    if (n == 0) return;
    std::vector<int> members = list < f_.ncpu ? fixture_list(octs_, level, list) : std::vector<int>{};
    std::vector<std::int32_t> index(n, 900 + list);
    for (std::size_t i = 0; i < members.size(); ++i) index[i] = octs_[static_cast<std::size_t>(members[i])].index;
    const std::vector<std::int32_t> zeros(n, 0);
    out.record(index);
    out.record(zeros);
    out.record(zeros);
    for (int a = 0; a < f_.ndim; ++a) {
      std::vector<double> centre(n, list < f_.ncpu ? 0.5 : wall_centre(list - f_.ncpu, static_cast<std::size_t>(a)));
      for (std::size_t i = 0; i < members.size(); ++i) {
        const auto axis = static_cast<std::size_t>(a);
        const double at = static_cast<double>(octs_[static_cast<std::size_t>(members[i])].at[axis]) + 0.5;
        centre[i] = at / static_cast<double>(1 << (level - 1)) + f_.wall_lo[axis];
      }
      out.reals(centre);
    }
    for (int i = 0; i < 1 + 2 * f_.ndim; ++i) out.record(zeros);
    for (int c = 0; c < (1 << f_.ndim); ++c) {
      std::vector<std::int32_t> son(n, 0);
      for (std::size_t i = 0; i < members.size(); ++i)
        if (const int o = octs_[static_cast<std::size_t>(members[i])].son[static_cast<std::size_t>(c)]; o >= 0)
          son[i] = octs_[static_cast<std::size_t>(o)].index;
      out.record(son);
    }
    for (int i = 0; i < 2 << f_.ndim; ++i) out.record(zeros);
  }

  void save(const std::string& kind, int domain, const FixtureFile& file) const {
    const auto to = path(kind, domain);
    std::filesystem::create_directories(to.parent_path());
    std::ofstream(to, std::ios::binary) << file.bytes();
  }

  void info() const {
    std::ofstream out(dir_ / "info_00007.txt");
    out << "ncpu        =" << f_.ncpu << "\nndim        =" << f_.ndim << "\nlevelmin    =1\nlevelmax    =" << f_.levels
        << "\nngridmax    =1000\nnstep_coarse=7\n\nboxlen      =  0.200000000000000E+01\n"
        << "time        =  0.250000000000000E+00\nunit_l      =  0.300000000000000E+22\n"
        << "unit_d      =  0.166000000000000E-23\nunit_t      =  0.4D+15\n\nordering type=" << f_.ordering << "   \n";
  }

  void descriptors() const {
    if (f_.hydro_descriptor) described("hydro", f_.hydro);
    if (!f_.rt_names.empty()) described("rt", f_.rt_names);
    if (!f_.particles) return;
    const int total = (f_.ncpu - 1) * f_.particles_a_domain;
    std::ofstream header(dir_ / "header_00007.txt");
    if (f_.old_particles) {
      header << " Total number of particles\n " << total << "\n Total number of dark matter particles\n " << total
             << "\n Particle fields\n pos vel mass iord level\n";
      return;
    }
    header << "#      Family     Count\n";
    for (int family = 0; family < 12; ++family)
      header << "  family" << family << " " << (family == 6 ? total : 0) << "\n";
    header << " Particle fields\npos vel mass iord level family tag \n";
    std::vector<std::string> names;
    for (const char* vector : {"position_", "velocity_"})
      for (int a = 0; a < f_.ndim; ++a) names.push_back(vector + std::string(1, "xyz"[a]));
    for (const char* name : {"mass", "identity", "levelp", "family", "tag"}) names.emplace_back(name);
    std::ofstream out(dir_ / "part_file_descriptor.txt");
    out << "# version:  1\n# ivar, variable_name, variable_type\n";
    for (std::size_t i = 0; i < names.size(); ++i) {
      const char* type = names[i] == "identity" && f_.identity_bytes == 8 ? "q"
                         : names[i] == "identity" || names[i] == "levelp" ? "i"
                         : names[i] == "family" || names[i] == "tag"      ? "b"
                                                                          : "d";
      out << i + 1 << ", " << names[i] << ", " << type << "\n";
    }
  }

  void described(const std::string& kind, const std::vector<std::string>& names) const {
    std::ofstream out(dir_ / (kind + "_file_descriptor.txt"));
    if (!f_.old_descriptor) out << "# version:  1\n# ivar, variable_name, variable_type\n";
    if (f_.old_descriptor) out << "nvar        =          " << names.size() << "\n";
    for (std::size_t i = 0; i < names.size(); ++i)
      if (f_.old_descriptor)
        out << "variable # " << i + 1 << ": " << names[i] << "\n";
      else
        out << " " << i + 1 << ", " << names[i] << "   , d\n";
  }

  const RamsesFixture& f_;
  std::filesystem::path dir_;
  std::vector<FixtureOct> octs_;
  std::array<std::int32_t, 3> coarse_{1, 1, 1};
  int walls_ = 0;
};

}  // namespace octavo::testing
