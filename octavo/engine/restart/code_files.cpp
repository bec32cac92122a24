#include "octavo/engine/restart/code_files.hpp"

#include <unistd.h>

#include "octavo/formats/flash/flash.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/target.hpp"

namespace octavo::engine {

step::RamsesFiles write_ramses(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                               const std::filesystem::path& folder) {
  // The same name on all nodes, and one that no other run of the node has.
  const std::string name = ranks::from_first(comm, "octavo-" + std::to_string(::getpid()));
  std::optional<step::RamsesFiles> files;
  try {
    ranks::agree(comm, [&] {
      files =
          step::write_ramses_domain(store, restart.id.step, folder / name, ranks::rank_in(comm), ranks::size_of(comm));
    });
    ranks::agree(comm, [&] {
      // The links come last: all domains are there when the code sees the output.
      if (ranks::rank_in(comm) == 0) step::link_ramses_output(*files);
    });
  } catch (...) {
    if (files) step::remove(*files);
    throw;
  }
  return *files;
}

void write_flash(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                 const std::filesystem::path& path) {
  mesh::Dataset dataset;
  ranks::agree(comm, [&] {
    dataset = step::open(store, {restart.flow, restart.id.step});
    std::vector<std::string> notes;
    step::require_exact_values(dataset, false, notes);
  });
  formats::flash::WriteOptions options;
  options.ranks = ranks::ranks_of(comm);
  formats::flash::write_flash(dataset, path, options);
}

}  // namespace octavo::engine
