#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

/// Small AMReX outputs built by hand from the format notes: nothing here is shared with the reader or the writer.
///
/// Level 0 is 8 x 4 (x 4) cells in two boxes, which stand in the file in the opposite order; level 1 refines the cells
/// 2 <= x < 6 in two boxes that are split where the boxes of level 0 are.
namespace octavo::testing {

/// Contents by path below the output.
using AmrexFiles = std::map<std::string, std::string>;

struct AmrexFixture {
  int dim = 2;
  int ratio = 2;
  int version = 1;  ///< of the VisMF headers
  bool big_endian = false, single = false;
  std::array<int, 3> ghost{0, 0, 0};
  std::array<int, 3> nodal{0, 0, 0};
  std::array<int, 3> corner{0, 0, 0};  ///< lower corner of the domain of level 0
  bool packed = false;                 ///< particles of version 2.1, else 2.0
  bool with_particles = false;
  std::int64_t first_id = 1;
};

/// The value of a cell; exact in 4 bytes.
inline double amrex_value(std::size_t level, int component, const std::array<int, 3>& at) {
  return 1000 * static_cast<double>(level + 1) + 500 * component + at[0] + 16 * at[1] + 0.25 * at[2];
}

struct AmrexBox {
  std::array<int, 3> lo{0, 0, 0}, hi{0, 0, 0};  ///< both included
};

namespace detail {

inline std::string tuple(const std::array<int, 3>& v, int dim) {
  std::string text = "(";
  for (int a = 0; a < dim; ++a) text += (a == 0 ? "" : ",") + std::to_string(v[static_cast<std::size_t>(a)]);
  return text + ")";
}
inline std::string box_text(const AmrexBox& box, const AmrexFixture& f) {
  return "(" + tuple(box.lo, f.dim) + " " + tuple(box.hi, f.dim) + " " + tuple(f.nodal, f.dim) + ")";
}
inline std::string boxes_text(const std::vector<AmrexBox>& boxes, const AmrexFixture& f) {
  std::string text = "(" + std::to_string(boxes.size()) + " 0\n";
  for (const auto& box : boxes) text += box_text(box, f) + "\n";
  return text + ")";
}
inline std::string format_text(const AmrexFixture& f) {
  const std::string bits = f.single ? "(8, (32 8 23 0 1 9 0 127))" : "(8, (64 11 52 0 1 12 0 1023))";
  const std::string order =
      f.single ? (f.big_endian ? "1 2 3 4" : "4 3 2 1") : (f.big_endian ? "1 2 3 4 5 6 7 8" : "8 7 6 5 4 3 2 1");
  return "(" + bits + ",(" + (f.single ? "4" : "8") + ", (" + order + ")))";
}
template <class T>
void put(std::string& to, T value, bool big_endian) {
  std::string bytes(reinterpret_cast<const char*>(&value), sizeof(T));
  if (big_endian) std::reverse(bytes.begin(), bytes.end());
  to += bytes;
}
inline std::string fab(const AmrexBox& valid, std::size_t level, const AmrexFixture& f) {
  AmrexBox box = valid;
  for (std::size_t a = 0; a < static_cast<std::size_t>(f.dim); ++a) {
    box.lo[a] -= f.ghost[a];
    box.hi[a] += f.ghost[a];
  }
  std::string text;
  if (f.version == 1) text = "FAB " + format_text(f) + box_text(box, f) + " 2\n";
  for (int c = 0; c < 2; ++c)
    for (int z = box.lo[2]; z <= box.hi[2]; ++z)
      for (int y = box.lo[1]; y <= box.hi[1]; ++y)
        for (int x = box.lo[0]; x <= box.hi[0]; ++x) {
          const double value = amrex_value(level, c, {x, y, z});
          if (f.single)
            put(text, static_cast<float>(value), f.big_endian);
          else
            put(text, value, f.big_endian);
        }
  return text;
}

}  // namespace detail

/// Boxes of a level, and its domain, where `refined` cells are those of level 0 times the ratio.
inline std::vector<AmrexBox> amrex_boxes(std::size_t level, const AmrexFixture& f) {
  const int r = level == 0 ? 1 : f.ratio;
  std::vector<AmrexBox> boxes(2);
  const int x[2][2] = {{level == 0 ? 0 : 2, 4}, {4, level == 0 ? 8 : 6}};
  for (std::size_t b = 0; b < 2; ++b) {
    boxes[b].lo[0] = (f.corner[0] + x[b][0]) * r;
    boxes[b].hi[0] = (f.corner[0] + x[b][1]) * r - 1 + f.nodal[0];
    for (std::size_t a = 1; a < static_cast<std::size_t>(f.dim); ++a) {
      boxes[b].lo[a] = f.corner[a] * r;
      boxes[b].hi[a] = (f.corner[a] + 4) * r - 1 + f.nodal[a];
    }
  }
  return boxes;
}
inline AmrexBox amrex_domain(std::size_t level, const AmrexFixture& f) {
  AmrexFixture cells = f;
  cells.nodal = {0, 0, 0};
  AmrexBox domain = amrex_boxes(level, cells)[0];
  domain.lo[0] = f.corner[0] * (level == 0 ? 1 : f.ratio);
  domain.hi[0] = (f.corner[0] + 8) * (level == 0 ? 1 : f.ratio) - 1;
  return domain;
}

/// The header and data file of one MultiFab of two components.
inline void add_amrex_multifab(AmrexFiles& files, std::size_t level, const std::string& name, const AmrexFixture& f) {
  const auto boxes = amrex_boxes(level, f);
  const std::string folder = "Level_" + std::to_string(level) + "/";
  const std::string second = detail::fab(boxes[1], level, f), first = detail::fab(boxes[0], level, f);
  files[folder + name + "_D_00000"] = second + first;
  const bool same = f.ghost[0] == f.ghost[1] && (f.dim < 3 || f.ghost[0] == f.ghost[2]);
  std::string text = std::to_string(f.version) + "\n1\n2\n" +
                     (same ? std::to_string(f.ghost[0]) : detail::tuple(f.ghost, f.dim)) + "\n" +
                     detail::boxes_text(boxes, f) + "\n2\nFabOnDisk: " + name + "_D_00000 " +
                     std::to_string(second.size()) + "\nFabOnDisk: " + name + "_D_00000 0\n\n";
  if (f.version == 1 || f.version == 3)
    text += "2,2\n1.0e+00,2.0e+00,\n1.0e+00,2.0e+00,\n\n2,2\n3.0e+00,4.0e+00,\n3.0e+00,4.0e+00,\n\n";
  if (f.version == 4) text += "1.0e+00,2.0e+00,\n3.0e+00,4.0e+00,\n";
  if (f.version != 1) text += detail::format_text(f);
  files[folder + name + "_H"] = text;
}

/// Three particles in each box of level 0, none on level 1.
inline void add_amrex_particles(AmrexFiles& files, const AmrexFixture& f) {
  const auto boxes = amrex_boxes(0, f);
  std::string data, grids;
  std::int64_t id = f.first_id;
  for (int grid = 0; grid < 2; ++grid) {
    grids += "0 3 " + std::to_string(data.size()) + "\n";
    for (int p = 0; p < 3; ++p, ++id) {
      if (f.packed) {
        const std::uint64_t whole =
            std::uint64_t{1} << 63 | static_cast<std::uint64_t>(id) << 24 | static_cast<std::uint64_t>(grid);
        detail::put(data, static_cast<std::uint32_t>(whole >> 32), false);
        detail::put(data, static_cast<std::uint32_t>(whole & 0xFFFFFFFFU), false);
      } else {
        detail::put(data, static_cast<std::int32_t>(id), false);
        detail::put(data, static_cast<std::int32_t>(grid), false);
      }
      detail::put(data, static_cast<std::int32_t>(10 * p), false);
    }
    for (int p = 0; p < 3; ++p) {
      detail::put(data, 0.125 + 0.5 * grid + 0.125 * p, false);
      for (int a = 1; a < f.dim; ++a) detail::put(data, 0.25, false);
      detail::put(data, 1.5 + p, false);
    }
  }
  files["tracer/Header"] = std::string("Version_Two_Dot_") + (f.packed ? "One" : "Zero") + "_double\n" +
                           std::to_string(f.dim) + "\n1\nmass\n1\nkind\n1\n6\n" + std::to_string(id) + "\n1\n2\n2\n" +
                           grids + "0 0 0\n0 0 0\n";
  files["tracer/Level_0/Particle_H"] = detail::boxes_text(boxes, f) + "\n";
  files["tracer/Level_0/DATA_00000"] = data;
}

/// A plotfile of two levels, fields "density" and "two words".
inline AmrexFiles amrex_plotfile(const AmrexFixture& f) {
  AmrexFiles files;
  std::string text = "HyperCLaw-V1.1\n2\ndensity\ntwo words\n" + std::to_string(f.dim) + "\n0.5\n1\n";
  const std::string zeros[] = {"0 ", "0 0 ", "0 0 0 "}, ones[] = {"1 ", "1 0.5 ", "1 0.5 0.5 "};
  text += zeros[f.dim - 1] + "\n" + ones[f.dim - 1] + "\n" + std::to_string(f.ratio) + " \n";
  text += detail::box_text(amrex_domain(0, f), f) + " " + detail::box_text(amrex_domain(1, f), f) + " \n7 14 \n";
  for (int level = 0; level < 2; ++level) text += ones[f.dim - 1] + "\n";
  text += "0\n0\n";
  for (int level = 0; level < 2; ++level) {
    text += std::to_string(level) + " 2 0.5\n7\n";
    for (int line = 0; line < 2 * f.dim; ++line) text += "0 1\n";
    text += "Level_" + std::to_string(level) + "/Cell\n";
    add_amrex_multifab(files, static_cast<std::size_t>(level), "Cell", f);
  }
  files["Header"] = text + "1.0e-6\n1.0e-6\n";
  if (f.with_particles) add_amrex_particles(files, f);
  return files;
}

/// A checkpoint of the AmrLevel family; the application has appended a line to each level's entry.
inline AmrexFiles amrex_level_checkpoint(const AmrexFixture& f) {
  AmrexFiles files;
  const std::string reals[] = {"(0)", "(0,0)", "(0,0,0)"}, box[] = {"0 1 ", "0 1 0 0.5 ", "0 1 0 0.5 0 0.5 "};
  const auto geometry = [&](std::size_t level) {
    return "(0 " + reals[f.dim - 1] + reals[f.dim - 1] + " 1)\n(RealBox " + box[f.dim - 1] + ")" +
           detail::box_text(amrex_domain(level, f), f) + "P" + detail::tuple({1, 0, 1}, f.dim);
  };
  std::string text = "CheckPointVersion_1.0\n" + std::to_string(f.dim) + "\n0.5\n2\n1\n" + geometry(0) + " " +
                     geometry(1) + " " + geometry(1) + " \n" + detail::tuple({f.ratio, f.ratio, f.ratio}, f.dim) + " " +
                     detail::tuple({2, 2, 2}, f.dim) + " \n0.1 0.05 0.02 \n0.1 0.05 0.02 \n1 2 2 \n7 14 0 \n1 2 0 \n";
  for (std::size_t level = 0; level < 2; ++level) {
    const std::string boxes = detail::boxes_text(amrex_boxes(level, f), f);
    text += std::to_string(level) + "\n" + geometry(level) + "\n" + boxes + "1\n" +
            detail::box_text(amrex_domain(level, f), f) + "\n" + boxes + "0.4\n0.4\n0.5\n0.5\n1\nLevel_" +
            std::to_string(level) + "/SD_0_New_MF\nthe application's own 3.14\n";
    add_amrex_multifab(files, level, "SD_0_New_MF", f);
  }
  files["Header"] = text;
  if (f.with_particles) add_amrex_particles(files, f);
  return files;
}

/// A checkpoint of a code on AmrCore: State with ghost cells, nodal values, and values on the faces along each axis.
inline AmrexFiles amrex_core_checkpoint(const AmrexFixture& f) {
  AmrexFiles files;
  AmrexFixture nodal = f;
  for (std::size_t a = 0; a < static_cast<std::size_t>(f.dim); ++a) nodal.nodal[a] = 1;
  std::string text = "Checkpoint file for a test\n1\n7 14 \n0.1 0.05 \n0.5 0.5 \n";
  for (std::size_t level = 0; level < 2; ++level) {
    text += detail::boxes_text(amrex_boxes(level, f), f) + "\n";
    add_amrex_multifab(files, level, "State", f);
    add_amrex_multifab(files, level, "Nodal", nodal);
    for (std::size_t a = 0; a < static_cast<std::size_t>(f.dim); ++a) {
      AmrexFixture face = f;
      face.nodal[a] = 1;
      add_amrex_multifab(files, level, "Face" + std::to_string(a), face);
    }
  }
  files["Header"] = text;
  if (f.with_particles) add_amrex_particles(files, f);
  return files;
}

inline void put_files(const std::filesystem::path& path, const AmrexFiles& files) {
  for (const auto& [name, bytes] : files) {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }
}

}  // namespace octavo::testing
