#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include "octavo/engine/step/step_job.hpp"
#include "octavo/engine/targets/flash_target.hpp"
#include "octavo/formats/flash/layout.hpp"

/// A FLASH file on its way: the state that laying out and writing share.
namespace octavo::engine {

/// A block that this rank owns.
struct OwnBlock {
  std::uint32_t cell = 0;  // of the tree, all levels together
  bool leaf = false;
  std::int64_t number = 0;     // Morton order, of all ranks
  std::int64_t particles = 0;  // in it
  std::int64_t first_row = 0;  // of its particles in the file
};

struct FlashStep {
  MPI_Comm comm = MPI_COMM_NULL;
  StepJob* job = nullptr;
  const FlashTarget* target = nullptr;
  std::filesystem::path partial;
  mesh::Octree tree;
  std::vector<OwnBlock> own;               // by number
  std::vector<std::uint32_t> row_of_cell;  // particle after particle of the species, its block's position in `own`
  formats::flash::OutputPlan plan;         // complete on rank 0; elsewhere frame, variables and columns
  formats::flash::Offsets offsets;         // of variables and particles
  std::vector<formats::flash::LeafRange> ranges;
  std::vector<std::int32_t> processor;  // rank 0: of each block
  std::vector<std::int64_t> per_block;  // rank 0: particles
  std::vector<std::uint32_t> order;     // tree cells of `own`, in the order of their numbers
  std::vector<std::vector<std::uint32_t>>
      orders;  // of each field: the same cells, at their places in the field's array
};

/// The species that were put, with this rank's counts.
std::vector<mesh::SpeciesInfo> species_of(const StepJob& job);
/// A file is a plotfile if the attribute "flash/kind" says so, else a checkpoint.
void settle_kind(mesh::Header& header);
/// Collective, and throws the same on all ranks. Writes a FLASH file inside this call, by rank 0 alone.
void collect_flash(MPI_Comm comm, StepJob& job, const FlashTarget& target);

/// Lists this rank's blocks for the other ranks, and counts the particles in each. Throws Error(usage) for a particle
/// that is in none of them.
std::vector<std::int64_t> list_blocks(FlashStep& step);
/// Collective. Numbers the blocks of all ranks in the file's order and sorts `own` by number. Rank 0 gets the tree.
/// Throws Error(corrupt) if the blocks are not a tree.
void number_blocks(FlashStep& step, const std::vector<std::int64_t>& list);

}  // namespace octavo::engine
