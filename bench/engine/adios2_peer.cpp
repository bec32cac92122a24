// BP5 as ADIOS2 ships it: one variable a field, its default aggregation.
#include <adios2.h>

#include <cstdio>
#include <exception>
#include <string>

extern "C" {
#include "peer.h"
}

namespace {

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

int write_step(const octavo_peer_step* step, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    int rank = 0, ranks = 1;
    MPI_Comm_rank(step->comm, &rank);
    MPI_Comm_size(step->comm, &ranks);
    adios2::ADIOS adios(step->comm);
    adios2::IO io = adios.DeclareIO("bench");
    io.SetEngine("BP5");
    adios2::Engine engine = io.Open(step->path, adios2::Mode::Write);
    const std::size_t r = static_cast<std::size_t>(rank), n = static_cast<std::size_t>(ranks);
    engine.BeginStep();
    for (int f = 0; f < step->fields; ++f) {
      auto variable = io.DefineVariable<double>(name_of(f), {n * step->values}, {r * step->values}, {step->values});
      engine.Put(variable, static_cast<const double*>(step->data[f]));
    }
    engine.EndStep();
    engine.Close();
  });
}

int read_step(const octavo_peer_step* step, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    int rank = 0;
    MPI_Comm_rank(step->comm, &rank);
    adios2::ADIOS adios(step->comm);
    adios2::IO io = adios.DeclareIO("bench");
    adios2::Engine engine = io.Open(step->path, adios2::Mode::Read);
    engine.BeginStep();
    for (int f = 0; f < step->fields; ++f) {
      auto variable = io.InquireVariable<double>(name_of(f));
      variable.SetSelection({{static_cast<std::size_t>(rank) * step->values}, {step->values}});
      engine.Get(variable, step->data[f]);
    }
    engine.EndStep();
    engine.Close();
  });
}

}  // namespace

extern "C" __attribute__((visibility("default"))) const octavo_peer* octavo_peer_table() {
  static const octavo_peer table = {"ADIOS2 BP5", write_step, read_step};
  return &table;
}
