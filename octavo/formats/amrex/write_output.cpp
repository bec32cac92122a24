#include <algorithm>
#include <array>

#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/step_file.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;
using mesh::ScalarType;

/// Text in the making: numbers as AMReX writes them, a blank behind each.
struct HeaderWords {
  std::string text;
  HeaderWords& word(const std::string& word) {
    text.append(word).append(" ");
    return *this;
  }
  HeaderWords& number(double value) { return word(to_text(value)); }
  HeaderWords& number(std::int64_t value) { return word(std::to_string(value)); }
  void end() { text.append("\n"); }
  void line(const std::string& line) { text.append(line).append("\n"); }
};

template <class T>
const T* attribute(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

/// Numbers of the levels, that go on as they began where there are more levels now: 20 40, 80.
template <class T>
std::vector<T> continued(std::vector<T> values, std::size_t levels) {
  while (values.size() < levels) {
    const T last = values.back(), before = values.size() > 1 ? values[values.size() - 2] : last;
    values.push_back(before == T{0} ? last : last * last / before);
  }
  return values;
}

std::vector<std::int64_t> level_steps(const mesh::Header& header, std::size_t levels) {
  if (const auto* steps = attribute<std::vector<std::int64_t>>(header, "level_steps"); steps && !steps->empty())
    return continued(*steps, levels);
  const auto* step = attribute<std::int64_t>(header, "step");
  return std::vector<std::int64_t>(levels, step != nullptr ? *step : 0);
}

std::int64_t coordinate_system(const mesh::Header& header) {
  const auto* number = attribute<std::int64_t>(header, "coordinate_system");
  return number == nullptr ? 0 : *number;
}

/// Physical edge lengths of a level's cells, and of where its cell 0 begins.
struct LevelGeometry {
  mesh::Point3 size{1, 1, 1};
  mesh::Point3 corner(const mesh::Header& header, const IndexBox& domain, const mesh::Index3& at) const {
    mesh::Point3 out{0, 0, 0};
    for (std::size_t axis = 0; axis < 3; ++axis)
      out[axis] = header.lo[axis] + static_cast<double>(at[axis] - domain.lo[axis]) * size[axis];
    return out;
  }
};
LevelGeometry frame_of(const mesh::Header& header, const IndexBox& domain) {
  LevelGeometry frame;
  for (std::size_t axis = 0; axis < static_cast<std::size_t>(header.dim); ++axis)
    frame.size[axis] = (header.hi[axis] - header.lo[axis]) / static_cast<double>(domain.hi[axis] - domain.lo[axis]);
  return frame;
}

/// Texts of where cells begin along the axes. Boxes share their corners with those before them: of each axis the last
/// two are kept.
class Positions {
 public:
  Positions(const mesh::Header& header, const IndexBox& domain)
      : header_(header), domain_(domain), frame_(frame_of(header, domain)) {}
  const std::string& operator()(std::size_t axis, const mesh::Index3& at) {
    for (const Known& known : last_[axis])
      if (known.index == at[axis] && !known.text.empty()) return known.text;
    Known& next = last_[axis][turn_[axis]++ % 2];
    next = {at[axis], to_text(frame_.corner(header_, domain_, at)[axis])};
    return next.text;
  }

 private:
  struct Known {
    std::int64_t index = 0;
    std::string text;
  };
  const mesh::Header& header_;
  const IndexBox& domain_;
  LevelGeometry frame_;
  std::array<std::array<Known, 2>, 3> last_;
  std::array<std::size_t, 3> turn_{0, 0, 0};
};

void add_level_entry(HeaderWords& out, const mesh::Header& header, const mesh::Patches& patches, std::size_t level,
                     std::int64_t step) {
  const auto dim = static_cast<std::size_t>(header.dim);
  Positions position(header, patches.domain[level]);
  out.line(std::to_string(level) + " " + std::to_string(patches.boxes[level].size()) + " " + to_text(header.time));
  out.line(std::to_string(step));
  for (const IndexBox& box : patches.boxes[level])
    for (std::size_t axis = 0; axis < dim; ++axis) {
      out.text.append(position(axis, box.lo)).append(" ");
      out.line(position(axis, box.hi));
    }
  out.line(level_name(level) + "/" + std::string(plotfile_multifab));
}

}  // namespace

std::string plotfile_header(const mesh::Header& header, const std::vector<std::string>& fields,
                            const mesh::Patches& patches) {
  const auto dim = static_cast<std::size_t>(header.dim);
  const std::size_t levels = patches.boxes.size();
  const auto steps = level_steps(header, levels);
  HeaderWords out;
  out.line("HyperCLaw-V1.1");
  out.line(std::to_string(fields.size()));
  for (const std::string& field : fields) out.line(field);
  out.line(std::to_string(header.dim));
  out.line(to_text(header.time));
  out.line(std::to_string(levels - 1));
  for (const auto* corner : {&header.lo, &header.hi}) {
    for (std::size_t axis = 0; axis < dim; ++axis) out.number((*corner)[axis]);
    out.end();
  }
  for (int ratio : patches.ratio) out.number(std::int64_t{ratio});
  out.end();
  for (const IndexBox& domain : patches.domain) out.word(to_text(domain, {0, 0, 0}, header.dim));
  out.end();
  for (std::size_t level = 0; level < levels; ++level) out.number(steps[level]);
  out.end();
  for (const IndexBox& domain : patches.domain) {
    const LevelGeometry frame = frame_of(header, domain);
    for (std::size_t axis = 0; axis < dim; ++axis) out.number(frame.size[axis]);
    out.end();
  }
  out.line(std::to_string(coordinate_system(header)));
  out.line("0");
  for (std::size_t level = 0; level < levels; ++level) add_level_entry(out, header, patches, level, steps[level]);
  return out.text;
}

std::vector<double> level_dt(const mesh::Header& header, std::size_t levels) {
  const auto* known = attribute<std::vector<double>>(header, "level_dt");
  if (known == nullptr || known->empty())
    throw Error(Kind::usage, "the step does not say its time step, which a checkpoint of AMReX has")
        .hint("--dt DT gives it; in a program the attribute \"level_dt\", one number a level");
  for (const double dt : *known)
    if (!(dt > 0)) throw Error(Kind::usage, "a time step: expected more than 0, found " + to_text(dt)).hint("--dt DT");
  return continued(*known, levels);
}

std::string checkpoint_header(const std::string& title, const mesh::Header& header, const mesh::Patches& patches) {
  const std::size_t levels = patches.boxes.size();
  const std::vector<double> dt = level_dt(header, levels);
  auto steps = level_steps(header, levels);
  // Codes that allow more levels than there are list all of them.
  steps.resize(dt.size(), 0);
  HeaderWords out;
  out.line(title);
  out.line(std::to_string(levels - 1));
  for (const std::int64_t step : steps) out.number(step);
  out.end();
  for (const double step : dt) out.number(step);
  out.end();
  for (std::size_t level = 0; level < dt.size(); ++level) out.number(header.time);
  out.end();
  for (const auto& boxes : patches.boxes) out.line(to_text(BoxArray{boxes, {0, 0, 0}, header.dim}));
  return out.text;
}

void check_info(const mesh::FieldInfo& info) {
  const std::string where = "field " + info.name;
  if (info.type != ScalarType::float64 && info.type != ScalarType::float32)
    throw Error(Kind::unsupported, "AMReX outputs hold fields of float64 and float32 only").at(where);
  if (info.name.find('\n') != std::string::npos) throw Error(Kind::usage, "a name of two lines").at(where);
  if (info.centring != mesh::Centring::cell || info.components != 1 || info.ghost != 0)
    throw Error(Kind::unsupported, "a field that is not of cells, or has components or ghost cells")
        .at(where)
        .hint("leave it out (--field)");
}

namespace {

void give_name(const fs::path& partial, const fs::path& path, bool sync) {
  if (sync)
    for (const auto& entry : fs::recursive_directory_iterator(partial))
      if (entry.is_directory()) file::sync_directory(entry.path());
  if (sync) file::sync_directory(partial);
  file::rename(partial, path);
  if (sync) file::sync_directory(path.has_parent_path() ? path.parent_path() : fs::path("."));
}

/// Whether the species came from a checkpoint that has it as plotfiles do.
bool has_plain_ids(const mesh::Header& header, const std::string& species) {
  const auto* version = attribute<std::string>(header, "amrex/version/" + species);
  return version != nullptr && version->starts_with("Version_Two_Dot_Zero");
}

}  // namespace

fs::path partial_name(const fs::path& path) { return path.string() + ".partial"; }

fs::path begin_output(const fs::path& path, bool sync) {
  if (fs::exists(path)) throw Error(Kind::usage, "the output exists already").at(path.string());
  const fs::path partial = partial_name(path);
  std::error_code ignored;
  fs::remove_all(partial, ignored);
  make_directories(partial, sync);
  return partial;
}

void write_step_file(const fs::path& checkpoint, const mesh::Header& header, const mesh::Patches& patches, bool sync) {
  if (header.attributes.contains("amrex/corners")) return;
  write_text(checkpoint / step_file_name, step_text(header, patches), sync);
}

void finish_output(const fs::path& path, const std::string& text, bool checkpoint, const mesh::Header& header,
                   const mesh::Part& part, const WriteOptions& options) {
  const fs::path partial = partial_name(path);
  const auto& patches = std::get<mesh::Patches>(part.mesh);
  for (const mesh::Particles& particles : part.particles)
    write_particles(partial / particles.species, particles, header, patches,
                    checkpoint && !has_plain_ids(header, particles.species), options);
  write_text(partial / "Header", text, options.sync);
  give_name(partial, path, options.sync);
}

}  // namespace octavo::formats::amrex
