// BP5 as ADIOS2 ships it: one variable a field, its default aggregation. An ADIOS2 without MPI writes a file a rank.
#include <adios2.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>

#include "peer.h"

namespace {

#if ADIOS2_USE_MPI
constexpr bool with_mpi = true;
#else
constexpr bool with_mpi = false;
#endif

// Where this rank's values are among those of all that share its file.
struct Share {
  std::size_t rank = 0, ranks = 1;
};

Share share_of(const octavo_peer_step& step) {
  if (!with_mpi) return {};
  int rank = 0, ranks = 1;
  MPI_Comm_rank(step.comm, &rank);
  MPI_Comm_size(step.comm, &ranks);
  return {static_cast<std::size_t>(rank), static_cast<std::size_t>(ranks)};
}

adios2::ADIOS start([[maybe_unused]] const octavo_peer_step& step) {
#if ADIOS2_USE_MPI
  return adios2::ADIOS(step.comm);
#else
  return adios2::ADIOS();
#endif
}

std::string name_of(int field) { return "field" + std::to_string(field); }

template <class Work>
int guarded(char* message, std::size_t size, Work&& work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::snprintf(message, size, "ADIOS2: %s", error.what());
    return 1;
  }
}

// BP5 leaves its files in the page cache.
void sync_files(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const int file = open(entry.path().c_str(), O_RDWR | O_CLOEXEC);
    const bool failed = file < 0 || fdatasync(file) != 0;
    if (file >= 0) close(file);
    if (failed) throw std::runtime_error("cannot sync " + entry.path().string());
  }
}

int write_step(const octavo_peer_step* step, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    const Share share = share_of(*step);
    const std::size_t values = step->values;
    adios2::ADIOS adios = start(*step);
    adios2::IO io = adios.DeclareIO("bench");
    io.SetEngine("BP5");
    adios2::Engine engine = io.Open(step->path, adios2::Mode::Write);
    engine.BeginStep();
    for (int f = 0; f < step->fields; ++f) {
      auto variable = io.DefineVariable<double>(name_of(f), {share.ranks * values}, {share.rank * values}, {values});
      engine.Put(variable, static_cast<const double*>(step->data[f]));
    }
    engine.EndStep();
    engine.Close();
    if (step->sync && share.rank == 0) sync_files(step->path);
  });
}

int read_step(const octavo_peer_step* step, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    const Share share = share_of(*step);
    adios2::ADIOS adios = start(*step);
    adios2::IO io = adios.DeclareIO("bench");
    io.SetEngine("BP5");
    adios2::Engine engine = io.Open(step->path, adios2::Mode::Read);
    engine.BeginStep();
    for (int f = 0; f < step->fields; ++f) {
      auto variable = io.InquireVariable<double>(name_of(f));
      variable.SetSelection({{share.rank * step->values}, {step->values}});
      engine.Get(variable, step->data[f]);
    }
    engine.EndStep();
    engine.Close();
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const octavo_peer* octavo_peer_table() {
  static const octavo_peer table = {sizeof table, ADIOS2_VERSION_STR, with_mpi ? 1 : 0, write_step, read_step};
  return &table;
}
