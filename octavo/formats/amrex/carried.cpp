#include "octavo/formats/amrex/carried.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <set>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/amrex/headers.hpp"
#include "octavo/formats/amrex/step_file.hpp"
#include "octavo/formats/amrex/writer.hpp"
#include "octavo/formats/row/signature.hpp"
#include "octavo/mesh/boxes.hpp"

namespace octavo::formats::amrex {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using mesh::IndexBox;

using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

/// Attributes stand in every file of a store: more than this is no attribute.
constexpr std::uint64_t most_kept = 16U << 20;

const std::string file_prefix = "amrex/file/", ghost_prefix = "amrex/ghosts/";

template <class T>
const T* find(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  return found == header.attributes.end() ? nullptr : std::get_if<T>(&found->second);
}

// -------------------------------------------------------------------------------------------------------------- files

/// Files whose contents Octavo reads. It keeps the other files as bytes.
std::set<fs::path> known_files(const AmrexOutput& output) {
  std::set<fs::path> known{output.path / "Header", output.path / component_names_file, output.path / step_file_name,
                           output.path / signature_file};
  for (const auto& level : output.multifabs)
    for (const MultiFab& multifab : level) {
      known.insert(multifab.prefix.string() + "_H");
      known.insert(multifab.files.begin(), multifab.files.end());
    }
  for (const ParticleFolder& folder : output.particles)
    for (const auto& entry : fs::recursive_directory_iterator(folder.path)) known.insert(entry.path());
  return known;
}

std::vector<fs::path> other_files(const AmrexOutput& output) {
  const std::set<fs::path> known = known_files(output);
  std::vector<fs::path> others;
  for (const auto& entry : fs::recursive_directory_iterator(output.path))
    if (entry.is_regular_file() && !known.contains(entry.path())) others.push_back(entry.path());
  std::sort(others.begin(), others.end());
  return others;
}

std::string bytes_of(const fs::path& path) {
  const file::File opened = file::open_read(path);
  std::string bytes(file::size(opened), '\0');
  file::pread_all(opened, 0, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

/// Texts are attributes as they are, other bytes a length and words of eight.
mesh::Attribute attribute_of(const std::string& bytes) {
  const bool plain = std::all_of(bytes.begin(), bytes.end(), [](char c) { return c > 0; });
  if (plain) return bytes;
  Integers words(1 + (bytes.size() + 7) / 8, 0);
  words[0] = static_cast<std::int64_t>(bytes.size());
  std::memcpy(words.data() + 1, bytes.data(), bytes.size());
  return words;
}

std::string bytes_of(const mesh::Attribute& attribute) {
  if (const auto* text = std::get_if<std::string>(&attribute)) return *text;
  const auto* words = std::get_if<Integers>(&attribute);
  const bool fits = words != nullptr && !words->empty() && (*words)[0] >= 0 &&
                    static_cast<std::uint64_t>((*words)[0] + 7) / 8 + 1 == words->size();
  if (!fits) throw Error(Kind::corrupt, "a kept file that is none");
  std::string bytes(static_cast<std::size_t>((*words)[0]), '\0');
  std::memcpy(bytes.data(), words->data() + 1, bytes.size());
  return bytes;
}

// -------------------------------------------------------------------------------------------------------- ghost cells

bool has_ghosts(const MultiFab& multifab) { return multifab.ghost != mesh::Index3{0, 0, 0}; }

std::string ghosts_name(std::size_t level, const std::string& multifab) {
  return ghost_prefix + level_name(level) + "/" + multifab;
}

std::uint64_t num_ghosts(const MultiFab& multifab) {
  std::int64_t cells = 0;
  for (std::size_t box = 0; box < multifab.boxes.boxes.size(); ++box)
    cells += mesh::num_cells(stored_box(multifab, box), multifab.boxes.dim) -
             mesh::num_cells(multifab.boxes.boxes[box], multifab.boxes.dim);
  return static_cast<std::uint64_t>(cells) * static_cast<std::uint64_t>(multifab.components);
}

/// The attribute: three widths, then the values.
std::vector<double> read_ghosts(const MultiFab& multifab) {
  const int dim = multifab.boxes.dim;
  std::vector<double> out(multifab.ghost.begin(), multifab.ghost.end());
  std::vector<int> components(static_cast<std::size_t>(multifab.components));
  std::iota(components.begin(), components.end(), 0);
  for (std::size_t box = 0; box < multifab.boxes.boxes.size(); ++box) {
    const IndexBox stored = mesh::flat(stored_box(multifab, box), dim);
    const IndexBox valid = mesh::flat(multifab.boxes.boxes[box], dim);
    const auto cells = static_cast<std::size_t>(mesh::num_cells(stored, dim));
    std::vector<double> values(cells * components.size());
    std::vector<std::span<std::byte>> targets;
    for (std::size_t c = 0; c < components.size(); ++c)
      targets.push_back(std::as_writable_bytes(std::span(values).subspan(c * cells, cells)));
    read_cells(multifab, {{box, stored, 0}}, components, mesh::ScalarType::float64, targets);
    for (std::size_t c = 0, next = 0; c < components.size(); ++c)
      mesh::for_each_row(stored, [&](const mesh::Index3& row, std::int64_t length) {
        for (std::int64_t x = 0; x < length; ++x, ++next)
          if (!mesh::holds(valid, {row[0] + x, row[1], row[2]}, dim)) out.push_back(values[next]);
      });
  }
  return out;
}

// ------------------------------------------------------------------------------------------------------ what it can be

/// Says why a checkpoint cannot be written exactly as it was; empty if it can.
std::string difference(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species,
                       const BoxLayout& layout, const std::string& other) {
  if (!layout.kept) return "its boxes are others";
  if (!other.empty()) return other;
  const auto* fields = find<Texts>(header, "amrex/multifabs");
  if (fields == nullptr || fields->size() != header.fields.size()) return "fields are left out";
  Texts now;
  for (const mesh::SpeciesInfo& info : species) now.push_back(info.name);
  const auto* before = find<Texts>(header, "amrex/species");
  if (before == nullptr || now != *before) return "particles are left out";
  if (const auto* why = find<std::string>(header, "amrex/not kept")) return *why;
  if (find<std::string>(header, "amrex/header") == nullptr)
    return "its Header and side files were not kept when it was converted";
  return {};
}

/// Says why a Header made anew would lack something that the code needs; empty if it would not.
std::string only_it_knows(const mesh::Header& header) {
  const auto* form = find<std::string>(header, "amrex/form");
  if (form == nullptr) return "the form of its Header is not known";
  if (*form == "AmrLevel") return "its Header is that of codes on AmrLevel";
  if (*form != "AmrCore") return "its Header has a form that only its code knows";
  if (find<std::int64_t>(header, "amrex/ghosts") != nullptr) return "its MultiFabs have ghost cells";
  if (find<Texts>(header, "amrex/others") != nullptr) return "it has MultiFabs on edges or other boxes";
  return {};
}

}  // namespace

void keep_form(const AmrexOutput& output, mesh::Header& header) {
  auto& attributes = header.attributes;
  for (const ParticleFolder& folder : output.particles)
    attributes["amrex/next_id/" + folder.path.filename().string()] = folder.next_id;
  if (output.family == OutputFamily::plotfile) return;
  attributes["amrex/form"] = std::string(output.family == OutputFamily::amr_level ? "AmrLevel"
                                         : output.common_form                     ? "AmrCore"
                                                                                  : "own");
  Texts species;
  for (const ParticleFolder& folder : output.particles) {
    species.push_back(folder.path.filename().string());
    attributes["amrex/version/" + species.back()] = folder.version;
  }
  attributes["amrex/species"] = std::move(species);
  for (const auto& level : output.multifabs)
    if (std::any_of(level.begin(), level.end(), has_ghosts)) attributes["amrex/ghosts"] = std::int64_t{1};
  if (!output.others.empty()) attributes["amrex/others"] = output.others;
}

void keep_files(const AmrexOutput& output, mesh::Header& header) {
  auto& attributes = header.attributes;
  const std::vector<fs::path> others = other_files(output);
  std::uint64_t bytes = fs::file_size(output.path / "Header");
  for (const fs::path& path : others) bytes += fs::file_size(path);
  for (const auto& level : output.multifabs)
    for (const MultiFab& multifab : level) bytes += 8 * num_ghosts(multifab);
  if (bytes > most_kept) {
    attributes["amrex/not kept"] = "ghost cells and side files of " + std::to_string(bytes) +
                                   " bytes were not kept, which is more than " + std::to_string(most_kept);
    return;
  }
  attributes["amrex/header"] = bytes_of(output.path / "Header");
  for (const fs::path& path : others)
    attributes[file_prefix + fs::relative(path, output.path).string()] = attribute_of(bytes_of(path));
  for (std::size_t level = 0; level < output.multifabs.size(); ++level)
    for (const MultiFab& multifab : output.multifabs[level])
      if (has_ghosts(multifab))
        attributes[ghosts_name(level, multifab.prefix.filename().string())] = read_ghosts(multifab);
}

GhostCells ghost_cells(const mesh::Header& header, std::size_t level, const std::string& multifab) {
  GhostCells out;
  const auto* all = find<std::vector<double>>(header, ghosts_name(level, multifab));
  if (all == nullptr || all->size() < 3) return out;
  for (std::size_t axis = 0; axis < 3; ++axis) out.width[axis] = static_cast<std::int64_t>((*all)[axis]);
  out.values.assign(all->begin() + 3, all->end());
  return out;
}

HeaderForm header_form(const mesh::Header& header, const std::vector<mesh::SpeciesInfo>& species,
                       const BoxLayout& layout, const std::string& asked) {
  const auto* kind = find<std::string>(header, "amrex/kind");
  if (header.code != "AMReX" || kind == nullptr || *kind != "checkpoint") return HeaderForm::anew;
  const std::string other = difference(header, species, layout, asked), own = only_it_knows(header);
  if (other.empty()) return HeaderForm::as_it_was;
  if (own.empty()) return HeaderForm::anew;
  throw Error(Kind::unsupported,
              "the checkpoint cannot be written again so that its code goes on from it: " + own + ", and " + other)
      .hint("with its own boxes, and all of it, it is written as it was; --kind plotfile takes any");
}

void write_kept_files(const fs::path& folder, const mesh::Header& header, bool sync) {
  for (const auto& [name, value] : header.attributes) {
    if (!name.starts_with(file_prefix)) continue;
    const std::string relative = name.substr(file_prefix.size());
    const fs::path path = path_below(folder, relative, Text("", folder));
    make_directories(path.parent_path(), sync);
    write_text(path, bytes_of(value), sync);
  }
}

}  // namespace octavo::formats::amrex
