#include "octavo/formats/flash/row.hpp"

#include <array>

#include "octavo/base/threads.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/formats/flash/foreign.hpp"
#include "octavo/formats/flash/lists.hpp"

namespace octavo::formats::flash {
namespace {

using mesh::Index3;

constexpr std::array<Word, 13> field_words{{{"dens", "density"},
                                            {"pres", "pressure"},
                                            {"velx", "velocity_x"},
                                            {"vely", "velocity_y"},
                                            {"velz", "velocity_z"},
                                            {"temp", "temperature"},
                                            {"ener", "total_energy"},
                                            {"eint", "internal_energy"},
                                            {"gpot", "potential"},
                                            {"metl", "metallicity"},
                                            {"magx", "B_x"},
                                            {"magy", "B_y"},
                                            {"magz", "B_z"}}};
constexpr std::array<Word, 3> particle_words{{{"velx", "velocity_x"}, {"vely", "velocity_y"}, {"velz", "velocity_z"}}};
constexpr std::array<std::string_view, 5> reserved{"tag", "id", "cpu", "blk", "proc"};
constexpr std::array<std::string_view, 2> made{"blk", "proc"};

constexpr std::array<std::string_view, 2> kinds{"checkpoint", "plotfile"};
constexpr std::array<std::string_view, 3> target_options{"collect", "replace", "names"};
constexpr std::array<OutputKind, 1> outputs{{{"flash", "a FLASH file", target_options}}};

void set_step(mesh::Header& header, std::int64_t step) {
  set_value(header.attributes, "integer scalars", "nstep", step);
}

/// The number in a file's name counts files; the run counts its steps in nstep.
std::optional<std::int64_t> counted_step(const mesh::Header& header) {
  return attribute<std::int64_t>(header, "integer scalars/nstep");
}

Index3 cube(int dim, std::int64_t side) { return {side, dim > 1 ? side : 1, dim > 2 ? side : 1}; }

}  // namespace

const Words words{.code = "FLASH",
                  .fields = field_words,
                  .particle_attributes = particle_words,
                  .reserved = reserved,
                  .identity = "tag",
                  .made = made,
                  .three_positions = true,
                  .energies_per_mass = true,
                  .gives_source = true,
                  .in_cgs = true,
                  .counted_step = &counted_step,
                  .output_number = "flash/file number",
                  .set_step = &set_step};

std::optional<Index3> blocks_before(const mesh::Header& header) {
  const auto block = attribute<std::vector<std::int64_t>>(header, "source/block");
  if (text_attribute(header, "source/code") != words.code || !block || block->size() != 3 ||
      attribute<double>(header, "source/time") != header.time)
    return {};
  return Index3{(*block)[0], (*block)[1], (*block)[2]};
}

namespace {

std::string misfit(const mesh::FieldInfo& field, const std::string&, const WriteRequest&) {
  return field.centring == mesh::Centring::node ? "FLASH has no variables on nodes" : "";
}

/// Returns blocks: a FLASH file's own, or one cell for a particle file. `step` is in FLASH's words.
WantedMesh wanted_mesh(const mesh::Dataset& step, const WriteRequest& request) {
  WantedMesh wanted{.level_origin = 1};
  if (request.block == 0 && request.refine == 0 && !text_attribute(request.source, "flash/kind").empty()) return wanted;
  const mesh::Header& header = step.header;
  for (const std::int64_t side : {16, 8, 4}) wanted.blocks.push_back(cube(header.dim, side));
  const std::optional<Index3> before = blocks_before(request.source);
  if (before) wanted.blocks.insert(wanted.blocks.begin(), *before);
  if (header.block != Index3{1, 1, 1}) wanted.blocks = {header.block};
  if (request.block != 0) wanted.blocks = {cube(header.dim, request.block)};
  wanted.root = request.source.unfolded;
  // FLASH's mesh packages differ in their rule for corners. A mesh that we complete anyway follows the strictest, so
  // that none can refuse it.
  wanted.balance = request.fill ? mesh::Balance::corners : mesh::Balance::faces;
  wanted.own = before;
  wanted.forget_layout = true;
  return wanted;
}

void write(const Series& steps, const std::filesystem::path& path, const WriteRequest& request,
           formats::WriteReport& report) {
  WriteOptions how;
  how.kind = request.kind;
  how.single_precision = request.single_precision;
  how.threads = base::thread_count(request.threads);
  how.ranks = request.ranks;
  const flash::FlashReport written = write_flash(steps.first, path, how);
  report.notes.insert(report.notes.end(), written.notes.begin(), written.notes.end());
  if (written.outside != 0 && request.same_words)
    report.notes.push_back(std::to_string(written.outside) + " particles are outside of the domain");
}

bool goes_on(const WriteRequest& request) {
  if (!request.kind.empty()) return request.kind == "checkpoint";
  return text_attribute(request.source, "flash/kind") != "plotfile";
}

/// Returns a note if neither FLASH nor yt looks for this name; else empty.
std::string name_note(const WriteRequest& request) {
  const std::filesystem::path& out = request.out;
  const std::string name = out.filename().string();
  if (name.find("hdf5_chk") != std::string::npos || name.find("hdf5_plt_cnt") != std::string::npos) return {};
  return "FLASH and yt look for names like " + out.string() + "_hdf5_chk_0000 or " + out.string() +
         "_hdf5_plt_cnt_0000";
}

/// Removes attributes that list blocks. A note names the data sets that are lost with them.
void forget_layout(mesh::Header& header, std::vector<std::string>& notes) {
  if (std::string left = forget_blocks(header.attributes); !left.empty()) notes.push_back(std::move(left));
}

/// Returns a note that names foreign objects (foreign.hpp) of a step that goes to another code; else empty.
std::string lost_note(const mesh::Header& header) {
  const std::string left = foreign_names(header.attributes);
  return left.empty() ? left : "left out is what FLASH does not know of its file: " + left;
}

}  // namespace

constinit const Format row{
    .name = "flash",
    .title = "FLASH",
    .recognise = &recognise,
    .open = &open_one<&open>,
    .understand = &understand,
    .outputs = outputs,
    .kinds = kinds,
    .write = &write,
    .words = &words,
    .misfit = &misfit,
    .wanted_mesh = &wanted_mesh,
    .goes_on = &goes_on,
    .name_note = &name_note,
    .forget_layout = &forget_layout,
    .lost_note = &lost_note,
};

}  // namespace octavo::formats::flash
