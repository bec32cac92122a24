#include <algorithm>
#include <exception>
#include <limits>

#include "octavo/base/error.hpp"
#include "octavo/base/pack.hpp"
#include "octavo/engine/targets/flash_step.hpp"
#include "octavo/formats/flash/flash.hpp"
#include "octavo/mesh/pack.hpp"
#include "octavo/ranks/communicator.hpp"

/// FLASH's file by rank 0 alone, through HDF5, inside end_step(). Rank 0 asks for one array of one rank at a time and
/// the others only answer, so no two ranks wait for each other, and rank 0 holds one part.
namespace octavo::engine {
namespace {

using base::Get;
using base::Put;

// A part is sent in pieces: its tree, one of its fields, or its particles. Requests other than fields have these
// numbers.
constexpr int tree_only = -1, particles_only = -2, nothing_more = -3;

// A rank that has no answer sends this instead of a size. It reports the reason at the end of the step.
constexpr std::uint64_t no_answer = std::numeric_limits<std::uint64_t>::max();

// All ranks but the first, as rank 0 sees them.
struct Others {
  MPI_Comm comm = MPI_COMM_NULL;
  bool failed = false;  // one had no answer
};

// Rank 0 says whether it has room before anything is on its way.
void send_bytes(MPI_Comm comm, const std::vector<std::byte>& bytes) {
  const auto size = static_cast<std::uint64_t>(bytes.size());
  MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, comm);
  int room = 0;
  MPI_Recv(&room, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
  if (room == 0) return;
  constexpr std::uint64_t piece = std::uint64_t{1} << 30;
  for (std::uint64_t at = 0; at < size; at += piece)
    MPI_Send(bytes.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_BYTE, 0, 0, comm);
}

std::vector<std::byte> receive_bytes(Others& others, int from) {
  const MPI_Comm comm = others.comm;
  std::uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, from, 0, comm, MPI_STATUS_IGNORE);
  others.failed = size == no_answer;
  if (others.failed)
    throw base::Error(base::Kind::no_space, "rank " + std::to_string(from) + " cannot send its values");
  std::vector<std::byte> bytes;
  int room = 0;
  try {
    bytes.resize(size);
    room = 1;
    MPI_Send(&room, 1, MPI_INT, from, 0, comm);
  } catch (...) {
    MPI_Send(&room, 1, MPI_INT, from, 0, comm);
    throw;
  }
  constexpr std::uint64_t piece = std::uint64_t{1} << 30;
  for (std::uint64_t at = 0; at < size; at += piece)
    MPI_Recv(bytes.data() + at, static_cast<int>(std::min(piece, size - at)), MPI_BYTE, from, 0, comm,
             MPI_STATUS_IGNORE);
  return bytes;
}

std::vector<std::byte> packed(const StepArray& source) {
  std::vector<std::byte> bytes(packed_bytes(source));
  pack(source, bytes, false);
  return bytes;
}

std::vector<std::byte> answer(StepJob& job, int wanted) {
  Put put;
  if (wanted == tree_only) both(put, *job.tree);
  if (wanted >= 0) return packed(job.fields[static_cast<std::size_t>(wanted)]);
  if (wanted == particles_only)
    for (SpeciesSource& species : job.species) {
      both(put, species.count);
      for (const StepArray& source : species.attributes) {
        std::vector<std::byte> bytes = packed(source);
        both(put, bytes);
      }
    }
  return std::move(put.bytes);
}

std::vector<std::byte> ask(Others& others, StepJob& job, int rank, int wanted) {
  if (rank == 0) return answer(job, wanted);
  MPI_Send(&wanted, 1, MPI_INT, rank, 0, others.comm);
  return receive_bytes(others, rank);
}

// Runs on every rank but the first, until rank 0 wants nothing more. Then throws the last error of an answer.
void serve(MPI_Comm comm, StepJob& job) {
  std::exception_ptr failure;
  for (;;) {
    int wanted = nothing_more;
    MPI_Recv(&wanted, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    if (wanted == nothing_more) break;
    std::vector<std::byte> bytes;
    try {
      bytes = answer(job, wanted);
    } catch (...) {
      failure = std::current_exception();
      MPI_Send(&no_answer, 1, MPI_UINT64_T, 0, 0, comm);
      continue;
    }
    send_bytes(comm, bytes);
  }
  if (failure) std::rethrow_exception(failure);
}

mesh::Part read(Others& others, StepJob& job, int rank, const mesh::Request& request) {
  mesh::Part part;
  part.index = rank;
  mesh::Octree tree;
  const auto bytes = ask(others, job, rank, tree_only);
  Get get{bytes};
  both(get, tree);
  part.mesh = std::move(tree);
  for (std::size_t f = 0; f < job.fields.size(); ++f) {
    const std::string& name = job.fields[f].info.name;
    const bool wanted =
        !request.fields || std::find(request.fields->begin(), request.fields->end(), name) != request.fields->end();
    if (wanted) part.fields.push_back({job.fields[f].info, ask(others, job, rank, static_cast<int>(f))});
  }
  if (!request.particles) return part;
  const auto rows = ask(others, job, rank, particles_only);
  Get from{rows};
  for (const SpeciesSource& species : job.species) {
    mesh::Particles particles{species.species, 0, {}};
    both(from, particles.count);
    for (const StepArray& source : species.attributes) {
      particles.attributes.push_back({source.info, {}});
      both(from, particles.attributes.back().bytes);
    }
    part.particles.push_back(std::move(particles));
  }
  return part;
}

mesh::Dataset dataset_of(Others& others, StepJob& job, std::int64_t particles) {
  mesh::Dataset dataset;
  dataset.header = job.header;
  settle_kind(dataset.header);
  for (const StepArray& source : job.fields) dataset.header.fields.push_back(source.info);
  dataset.num_parts = ranks::size_of(others.comm);
  dataset.species = species_of(job);
  for (mesh::SpeciesInfo& species : dataset.species) species.count = particles;
  dataset.read = [&](int part, const mesh::Request& request) { return read(others, job, part, request); };
  return dataset;
}

}  // namespace

void collect_flash(MPI_Comm comm, StepJob& job, const FlashTarget& target) {
  std::int64_t particles = job.species.empty() ? 0 : job.species[0].count;
  MPI_Allreduce(MPI_IN_PLACE, &particles, 1, MPI_INT64_T, MPI_SUM, comm);
  ranks::agree(comm, [&] {
    if (!job.tree) throw base::Error(base::Kind::unsupported, "collect: expected a tree of blocks on every rank");
  });
  ranks::agree(comm, [&] {
    if (ranks::rank_in(comm) != 0) return serve(comm, job);
    formats::flash::WriteOptions chosen;
    chosen.names = target.names;
    const auto tell_others = [&] {
      for (int r = 1; r < ranks::size_of(comm); ++r) MPI_Send(&nothing_more, 1, MPI_INT, r, 0, comm);
    };
    Others others{comm};
    try {
      write_flash(dataset_of(others, job, particles), job.path, chosen);
    } catch (...) {
      tell_others();
      if (others.failed) return;  // they report the reason
      throw;
    }
    tell_others();
  });
}

}  // namespace octavo::engine
