#include "octavo/engine/restart/restart.hpp"

#include <algorithm>
#include <iterator>

#include "octavo/base/error.hpp"
#include "octavo/base/release.hpp"
#include "octavo/engine/restart/failed_restarts.hpp"
#include "octavo/engine/restart/nearest.hpp"
#include "octavo/engine/restart/reshape.hpp"
#include "octavo/engine/restart/shares.hpp"
#include "octavo/engine/restart/triangle_restart.hpp"
#include "octavo/engine/tiers/rescue.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/patches/octree_to_patches.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/ranks/halves.hpp"
#include "octavo/step/regrid.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/store.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using formats::attribute;
using Integers = std::vector<std::int64_t>;

// The number in the step of the part that the writer's rank of this number put; -1 unless there is one part a rank.
int own_part(MPI_Comm comm, StepParts& step) {
  const int ranks = ranks::size_of(comm);
  // The parts of a code's output are cut by its reader, not put by ranks.
  if (!step.stored || num_parts(step) != ranks) return -1;
  const int rank = ranks::rank_in(comm);  // also the number of the part that is dealt to it
  int index = 0;
  ranks::agree(comm, [&] { index = entry_of(step, rank).part().index; });
  // Usually parts are in the order of ranks. Else the ranks to which parts are dealt tell those that put them.
  if (ranks::lowest_where(comm, index != rank) == ranks) return rank;
  if (ranks::lowest_where(comm, index < 0 || index >= ranks) < ranks) return -1;
  const std::vector<int> own = tell_parts(comm, step, {{index, rank}});
  return ranks::lowest_where(comm, own.size() != 1) == ranks ? own[0] : -1;
}

void check_options(const RestartOptions& options) {
  if (options.refine < 0)
    throw Error(Kind::usage, "refine: expected 0 or more, found " + std::to_string(options.refine));
  if (options.block && options.refine != 0) throw Error(Kind::usage, "other blocks do not go together with refine");
}

// Collective. Reads this rank's share of the step in other blocks, and sets the header accordingly.
mesh::Part read_in_blocks(MPI_Comm comm, StepParts& step, const RestartOptions& options, Restart& out) {
  mesh::Request request;
  request.fields = options.fields;
  Reblocked mine = read_blocks(comm, step, options, request);
  if (mine.fills != 0)
    out.notes.push_back(std::to_string(mine.fills) +
                        " cells were not in the step: they are made from the coarser cell they lie in");
  if (options.particles) mine.part.particles = read_particles(comm, step, mine.shares, mine.header);
  out.header = mine.header;
  return std::move(mine.part);
}

// The requested fields, and the fields that refining them needs.
std::vector<std::string> fields_to_refine(const mesh::Header& header, const RestartOptions& options) {
  const auto asked = mesh::select_fields(header, options.fields);
  std::vector<std::string> names;
  for (const std::size_t f : step::with_partners(header.fields, formats::specific_of(header, options.per_mass), asked))
    names.push_back(header.fields[f].name);
  return names;
}

void keep_asked(mesh::Part& part, const RestartOptions& options) {
  if (!options.fields) return;
  std::erase_if(part.fields, [&](const mesh::Field& field) {
    return std::find(options.fields->begin(), options.fields->end(), field.info.name) == options.fields->end();
  });
}

mesh::Part read_mine(MPI_Comm comm, StepParts& step, const RestartOptions& options) {
  mesh::Request request;
  request.fields = options.fields;
  if (options.refine > 0) ranks::agree(comm, [&] { request.fields = fields_to_refine(step.dataset.header, options); });
  const int own = options.keep_parts ? own_part(comm, step) : -1;
  // Values go straight into the caller's memory only if they are not changed after the read. put_in_place() copies the
  // others at the end.
  const bool straight = options.as == MeshKind::octree && options.refine == 0;
  const store::Place place = straight ? options.place : store::Place{};
  mesh::Part part;
  if (own >= 0) {
    request.particles = options.particles;
    ranks::agree(comm, [&] { part = read_part(step, own, request, place); });
    if (options.refine == 0) return part;
  }
  const Shares shares = plan_shares(comm, step, options.curve, options.refine);
  if (own < 0) {
    ranks::agree(comm, [&] { part = read_share(step, shares, ranks::rank_in(comm), request, place); });
    if (options.particles) part.particles = read_particles(comm, step, shares, step.dataset.header);
  }
  request.particles = false;
  if (options.refine > 0) part = refine_share(comm, step, shares, std::move(part), options, request);
  keep_asked(part, options);
  return part;
}

// Collective: all ranks have the same levels.
mesh::Part as_patches(MPI_Comm comm, const mesh::Part& part, const mesh::Header& header, std::int64_t max_box) {
  mesh::PatchOptions options;
  options.levels = num_levels(std::get<mesh::Octree>(part.mesh));
  MPI_Allreduce(MPI_IN_PLACE, &options.levels, 1, MPI_INT, MPI_MAX, comm);
  options.unfolded = header.unfolded;
  options.max_box = max_box;
  // The levels must include the finest ones, even if they had no boxes.
  int deepest = header.unfolded;
  for (std::int64_t ratio : attribute<Integers>(header, "patches/ratio").value_or(Integers{})) {
    options.ratio.push_back(static_cast<int>(ratio));
    deepest += ratio == 4 ? 2 : 1;
  }
  options.levels = std::max(options.levels, deepest + 1);
  const auto corner = attribute<Integers>(header, "patches/corner").value_or(Integers{});
  std::copy_n(corner.begin(), std::min<std::size_t>(3, corner.size()), options.corner.begin());
  mesh::Part patches;
  ranks::agree(comm, [&] { patches = octree_to_patches(part, options); });
  return patches;
}

// Moves values that are not in the caller's memory yet.
void put_in_place(mesh::Part& part, const store::Place& place) {
  for (mesh::Field& field : part.fields) {
    const auto memory = given_memory(field.info, field.bytes.size(), place);
    if (memory.empty()) continue;
    std::copy(field.bytes.begin(), field.bytes.end(), memory.begin());
    base::release(field.bytes);
  }
}

// The steps that rank 0 found. All ranks know how many there are, and the notes.
struct Candidates {
  std::vector<StepParts> steps;
  int count = 0;
  int failed_before = 0;  // left out
  int had_steps = 0;      // 1: the flow had durable steps or has complete ones
  std::vector<std::string> notes;
};

// Steps from which an earlier start failed are left out, unless the caller names one.
void leave_out_failed(Candidates& found, const std::filesystem::path& store) {
  std::erase_if(found.steps, [&](const StepParts& step) {
    if (!restart_failed_before(store, step.found.flow, {step.found.step, step.found.attempt})) return false;
    found.notes.push_back("left out: a run has started from " + name_of(step.found) +
                          " before and has not got further");
    ++found.failed_before;
    return true;
  });
}

std::vector<std::string> share_notes(MPI_Comm comm, const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += note + '\0';
  text = ranks::from_first(comm, std::move(text));
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1)
    out.push_back(text.substr(at, text.find('\0', at) - at));
  return out;
}

// Collective. If the store cannot be written to, we read it nevertheless and return a note.
std::vector<std::string> remember(MPI_Comm comm, const StepParts& step, const std::filesystem::path& store) {
  std::vector<std::string> notes;
  try {
    if (ranks::rank_in(comm) == 0)
      remember_restart(store, step.found.flow, {step.found.step, step.found.attempt}, Mark::started);
  } catch (const Error& error) {
    notes.push_back(std::string("this start cannot be remembered: ") + error.what());
  }
  return share_notes(comm, notes);
}

// On rank 0. Forgets the restart: no step could have met the request, so this step is not to blame.
void acquit(const StepParts& step, const std::filesystem::path& store) try {
  forget_restart(store, step.found.flow, {step.found.step, step.found.attempt}, Mark::started);
} catch (const Error&) {
}

Candidates find(MPI_Comm comm, const std::filesystem::path& store, const RestartOptions& options) {
  Candidates found;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return;
    found.steps = find_steps(store, options.flow, found.notes);
    found.had_steps = store::is_marked_durable(store::store_of(store), options.flow) || !found.steps.empty() ? 1 : 0;
    if (options.remember_failed && !options.step) leave_out_failed(found, store);
    if (options.step)
      std::erase_if(found.steps, [&](const StepParts& step) { return step.found.step != *options.step; });
    if (options.step && found.steps.empty())
      throw Error(Kind::usage,
                  "there is no complete " + store::to_string(options.flow) + " step " + std::to_string(*options.step))
          .at(store.string());
  });
  found.count = static_cast<int>(found.steps.size());
  MPI_Bcast(&found.count, 1, MPI_INT, 0, comm);
  MPI_Bcast(&found.failed_before, 1, MPI_INT, 0, comm);
  MPI_Bcast(&found.had_steps, 1, MPI_INT, 0, comm);
  found.notes = share_notes(comm, found.notes);
  return found;
}

// A part's bytes of one name.
struct OwnBytes {
  int part = 0;
  std::string name;
  std::vector<std::byte> bytes;
};

template <class Way>
void both(Way& way, OwnBytes& own) {
  using base::both;
  both(way, own.part, own.name, own.bytes);
}

// Collective. Each rank reads its own bytes, or those of the parts that are dealt to it. All ranks then get these, but
// for names with the prefix `dealt`.
void read_opaque(MPI_Comm comm, StepParts& step, const std::string& dealt, Restart& out) {
  const int own = own_part(comm, step);
  const Deal mine = own >= 0 ? Deal{own, own + 1} : deal(num_parts(step), ranks::size_of(comm), ranks::rank_in(comm));
  std::vector<OwnBytes> all;
  ranks::agree(comm, [&] {
    mesh::Request request;
    request.fields = std::vector<std::string>{};
    request.opaque = true;
    for (int part = mine.first; part < mine.last; ++part) {
      mesh::Part read = step.dataset.read(part, request);
      for (auto& [name, bytes] : read.opaque)
        if (own < 0 && !dealt.empty() && name.starts_with(dealt))
          out.opaque[read.index].emplace(name, std::move(bytes));
        else
          all.push_back({read.index, name, std::move(bytes)});
    }
  });
  if (own < 0 && ranks::lowest_where(comm, !all.empty()) < ranks::size_of(comm))
    all = ranks::merged(comm, std::move(all), [](auto lower, auto upper) {
      std::move(upper.begin(), upper.end(), std::back_inserter(lower));
      return lower;
    });
  for (OwnBytes& one : all) out.opaque[one.part].emplace(std::move(one.name), std::move(one.bytes));
}

// Collective. Reads this rank's share of a step according to the options.
Restart start_from(MPI_Comm comm, const std::filesystem::path& store, StepParts& step, const RestartOptions& options) {
  if (options.check) ranks::agree(comm, [&] { options.check(step.dataset.header); });
  Restart out;
  out.id = {step.found.step, step.found.attempt};
  out.flow = options.flow;
  out.header = step.dataset.header;
  if (has_triangles(step))
    read_triangles(comm, step, store, options, out);
  else
    out.part = options.block ? read_in_blocks(comm, step, options, out) : read_mine(comm, step, options);
  if (options.opaque && step.stored) read_opaque(comm, step, options.opaque_dealt, out);
  if (options.as == MeshKind::patches) out.part = as_patches(comm, out.part, out.header, options.max_box);
  if (options.place) ranks::agree(comm, [&] { put_in_place(out.part, options.place); });
  return out;
}

Restart start_from_output(MPI_Comm comm, const std::filesystem::path& path, const RestartOptions& options) {
  StepParts step;
  ranks::agree(comm, [&] { step = open_output(path, options.step, options.own_names); });
  Restart out = start_from(comm, path, step, options);
  out.notes.insert(out.notes.begin(), step.dataset.notes.begin(), step.dataset.notes.end());
  return out;
}

bool is_damage(const Error& error) { return error.kind() == Kind::corrupt || error.kind() == Kind::unreadable; }

// Collective. Starts from the disks of the nodes. Returns nothing if the step has to go through the store; `notes` say
// so if that is because of damage.
std::optional<Restart> start_from_nodes(MPI_Comm comm, const LocalTier& tier, const std::filesystem::path& store,
                                        const RestartOptions& options, std::vector<std::string>& notes) {
  if (!options.keep_parts || options.block || options.refine != 0) return {};
  std::optional<StepParts> step;
  try {
    step = nearest_step(comm, tier, store, options);
    if (!step) return {};
    std::vector<std::string> remembered;
    if (options.remember_failed) remembered = remember(comm, *step, store);
    Restart out = start_from(comm, store, *step, options);
    out.from_local_disks = true;
    out.notes.insert(out.notes.begin(), remembered.begin(), remembered.end());
    return out;
  } catch (const Error& error) {
    if (step && ranks::rank_in(comm) == 0) acquit(*step, store);
    if (!is_damage(error)) throw;
    notes.push_back(std::string("passed over on the local disks: ") + error.what());
  }
  return {};
}

// A step that the index and the mark vouch for is lost if its footers cannot be read. Known on rank 0.
std::string why_not(const StepParts& step) {
  const bool unread = step.stored && step.stored->files.unread;
  return unread ? "lost: " + name_of(step.found) + " was durable: " : "passed over: ";
}

}  // namespace

bool is_output(MPI_Comm comm, const std::filesystem::path& path) {
  int output = 0;
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) == 0) output = !store::recognise(path) && formats::format_there(path) != nullptr;
  });
  MPI_Bcast(&output, 1, MPI_INT, 0, comm);
  return output != 0;
}

RestartOptions restart_options(const Options& options) {
  RestartOptions out;
  out.staging_directory = options.staging_directory;
  out.ranks_per_node = options.ranks_per_node;
  out.remember_failed = options.remember_failed_restarts;
  return out;
}

std::optional<Restart> restart(MPI_Comm comm, const std::filesystem::path& store, const RestartOptions& options) {
  ranks::agree(comm, [&] { check_options(options); });
  if (is_output(comm, store)) return start_from_output(comm, store, options);
  std::vector<std::string> rescued;
  if (!options.staging_directory.empty()) {
    const LocalTier tier = local_tier(comm, options.staging_directory, store, options.ranks_per_node);
    if (auto nearest = start_from_nodes(comm, tier, store, options, rescued)) return nearest;
    const std::vector<std::string> notes = rescue(comm, tier, store).notes;
    rescued.insert(rescued.begin(), notes.begin(), notes.end());
  }
  Candidates found = find(comm, store, options);
  found.notes.insert(found.notes.begin(), rescued.begin(), rescued.end());
  for (int c = 0; c < found.count; ++c) {
    StepParts mine;
    if (ranks::rank_in(comm) == 0) mine = std::move(found.steps[static_cast<std::size_t>(c)]);
    if (options.remember_failed)
      for (std::string& note : remember(comm, mine, store)) found.notes.push_back(std::move(note));
    try {
      StepParts step = share_step(comm, mine);
      Restart out = start_from(comm, store, step, options);
      out.notes.insert(out.notes.begin(), found.notes.begin(), found.notes.end());
      return out;
    } catch (const Error& error) {
      // All ranks throw the same. Only damage is a reason to try an older step: an impossible request or lack of memory
      // would fail for every step.
      const bool is_sound = error.kind() == Kind::usage || error.kind() == Kind::unsupported;
      if (is_sound && ranks::rank_in(comm) == 0) acquit(mine, store);
      if (options.step || !is_damage(error)) throw;
      for (std::string& note : share_notes(comm, {why_not(mine) + error.what()}))
        found.notes.push_back(std::move(note));
    }
  }
  if (found.failed_before > 0)
    throw Error(Kind::usage,
                "starts from all " + store::to_string(options.flow) + " steps that are left are remembered as failed")
        .at(store.string())
        .hint("ask for a step by number, or forget_failed_restarts()");
  const bool local_damage =
      std::any_of(rescued.begin(), rescued.end(), [](const std::string& note) { return note.starts_with("damage: "); });
  if (found.had_steps == 0 && !local_damage) return {};
  std::string text = "no undamaged " + store::to_string(options.flow) + " step is left";
  for (const std::string& note : found.notes) text += "\n    " + note;
  Error lost(Kind::corrupt, text);
  lost.hint("a store of another name to start anew, or remove " + store::durable_mark(store, options.flow).string() +
            " if its steps shall be given up");
  throw std::move(lost.at(store.string()));
}

}  // namespace octavo::engine
