#include "octavo/parallel/output_restart.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/jobs/open.hpp"
#include "octavo/jobs/regrid.hpp"
#include "octavo/jobs/translate.hpp"
#include "octavo/mesh/merge.hpp"
#include "octavo/mesh/octree_to_patches.hpp"
#include "octavo/parallel/communicator.hpp"
#include "octavo/parallel/shares.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;

bool is_output(MPI_Comm comm, const std::filesystem::path& path) {
  int is = 0;
  if (rank_in(comm) == 0) {
    const auto table = formats::table();
    is = std::any_of(table.begin(), table.end(), [&](const formats::Format& f) { return f.recognise(path); }) ? 1 : 0;
  }
  MPI_Bcast(&is, 1, MPI_INT, 0, comm);
  return is != 0;
}

// The output in Octavo's words and in the blocks that are wanted.
struct Source {
  mesh::Dataset words;  // with the particles
  mesh::Dataset tree;   // with the values
};

Source open_source(const mesh::Dataset& output, const RestartOptions& options, const HeaderCheck& check,
                   std::vector<std::string>& notes) {
  if (output.unstructured)
    throw Error(Kind::unsupported, "a run on cells does not go on from a mesh of triangles").at(output.path);
  jobs::TranslateOptions how;
  how.to = jobs::Code::ramses;
  how.particles = options.particles;
  Source source;
  source.words = jobs::translate(output, how, notes);
  if (check) {
    mesh::Header header = source.words.header;
    header.code = output.header.code;
    header.attributes = output.header.attributes;
    check(header);
  }
  source.tree = source.words;
  if (!options.block) return source;
  jobs::RegridJob job;
  job.how.block = *options.block;
  job.how.root = output.header.unfolded;
  job.how.fill = options.fill;
  job.how.by = options.fill_by;
  const jobs::Regridded made = jobs::regrid(source.words, job);
  if (made.plan.fills != 0)
    notes.push_back(std::to_string(made.plan.fills) +
                    " cells were not in the output: they are made from the coarser cell they lie in");
  source.tree = made.dataset;
  return source;
}

mesh::SplitPlan plan_of(const mesh::Dataset& tree, mesh::Curve curve, int ranks) {
  mesh::Part whole;
  whole.mesh = jobs::whole_tree(tree);
  return mesh::plan_split(std::span(&whole, 1), ranks, curve);
}

// The cells of a part that lie in a rank's share, if any do.
std::optional<mesh::Part> piece_of(const mesh::Part& part, const mesh::SplitPlan& mine) {
  mesh::Part piece = std::move(mesh::split(std::span(&part, 1), mine)[1]);
  for (const base::BitArray& owned : std::get<mesh::Octree>(piece.mesh).owned)
    if (owned.count() > 0) return piece;
  return {};
}

mesh::Part share_of(const mesh::Dataset& tree, const mesh::SplitPlan& plan, int rank, const mesh::Request& request) {
  const mesh::SplitPlan mine = only_share(plan, rank);
  mesh::Request mesh_alone;
  mesh_alone.fields = std::vector<std::string>{};
  std::vector<mesh::Part> pieces;
  for (int part = 0; part < tree.num_parts; ++part)
    if (piece_of(tree.read(part, mesh_alone), mine)) pieces.push_back(*piece_of(tree.read(part, request), mine));
  mesh::Part share = pieces.empty() ? empty_part(tree.header, request) : mesh::merge(pieces);
  share.index = rank;
  return share;
}

std::vector<mesh::Particles> particles_of(const Source& source, const mesh::SplitPlan& plan, int rank) {
  std::vector<mesh::Particles> mine;
  for (const mesh::Particles& species : mesh::gather_particles(source.words))
    mine.push_back(std::move(split_particles(species, source.tree.header, plan)[static_cast<std::size_t>(rank)]));
  return mine;
}

// Collective: all ranks have the same levels.
mesh::Part as_patches(MPI_Comm comm, const mesh::Part& part, int unfolded, std::int64_t max_box) {
  mesh::PatchOptions options;
  options.unfolded = unfolded;
  options.max_box = max_box;
  options.levels = num_levels(std::get<mesh::Octree>(part.mesh));
  MPI_Allreduce(MPI_IN_PLACE, &options.levels, 1, MPI_INT, MPI_MAX, comm);
  mesh::Part patches;
  agree(comm, [&] { patches = octree_to_patches(part, options); });
  return patches;
}

std::int64_t step_of(const mesh::Dataset& words, const mesh::Dataset& output) {
  const auto found = words.header.attributes.find("nstep_coarse");
  if (found != words.header.attributes.end())
    if (const auto* number = std::get_if<std::int64_t>(&found->second)) return *number;
  return jobs::step_number(output).value_or(0);
}

}  // namespace

std::optional<Restart> restart_from_output(MPI_Comm comm, const std::filesystem::path& path,
                                           const RestartOptions& options, const HeaderCheck& check) {
  if (!is_output(comm, path)) return {};
  Restart out;
  agree(comm, [&] {
    const mesh::Dataset output = formats::open(path);
    const Source source = open_source(output, options, check, out.notes);
    const mesh::SplitPlan plan = plan_of(source.tree, options.curve, size_of(comm));
    mesh::Request request;
    request.fields = options.fields;
    out.part = share_of(source.tree, plan, rank_in(comm), request);
    if (options.particles) out.part.particles = particles_of(source, plan, rank_in(comm));
    out.header = source.tree.header;
    out.header.code = output.header.code;
    out.header.attributes = output.header.attributes;
    out.id.step = step_of(source.words, output);
  });
  if (options.as == MeshKind::patches) out.part = as_patches(comm, out.part, out.header.unfolded, options.max_box);
  return out;
}

}  // namespace octavo::parallel
