// Libraries that simulations use. Each is loaded in a module of its own, whose symbols come before those of the process
// (RTLD_DEEPBIND): an HDF5 that knows MPI must not meet the serial one that Octavo may have brought.
#include <dlfcn.h>

#include <array>

#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"
#include "peer.h"
#include "process.hpp"
#include "ways.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;

// The module lies beside the one this code is in.
fs::path beside(const char* name) {
  Dl_info here{};
  dladdr(reinterpret_cast<const void*>(&peer_ways), &here);
  return fs::path(here.dli_fname != nullptr ? here.dli_fname : "").parent_path() / name;
}

const octavo_peer* load(const char* name) {
  void* module = dlopen(beside(name).c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (module == nullptr) return nullptr;
  using Table = const octavo_peer* (*)();
  const auto table = reinterpret_cast<Table>(dlsym(module, "octavo_peer_table"));
  const octavo_peer* peer = table != nullptr ? table() : nullptr;
  return peer != nullptr && peer->size == sizeof *peer ? peer : nullptr;
}

void call(int (*function)(const octavo_peer_step*, char*, std::size_t), const Place& place, const fs::path& path,
          octavo_peer_way kind, std::size_t pieces, const std::vector<double*>& data) {
  const std::string name = path.string();
  octavo_peer_step step{};
  step.comm = place.comm;
  step.path = name.c_str();
  step.way = kind;
  step.fields = static_cast<int>(data.size());
  step.values = values_of_field(*place.problem);
  step.pieces = pieces;
  step.sync = place.setup->sync ? 1 : 0;
  step.data = data.data();
  std::array<char, 512> message{};
  if (function(&step, message.data(), message.size()) != 0)
    throw base::Error(base::Kind::unreadable, message.data()).at(name);
}

Way peer_way(const Place& place, const octavo_peer* peer, const std::string& name, octavo_peer_way kind,
             std::size_t pieces, const char* missing) {
  const auto write = [=](const fs::path& path) {
    std::vector<double*> data;
    // The peer only reads them.
    for (const auto& field : place.problem->fields) data.push_back(const_cast<double*>(field.data()));
    throttle(bytes_of(*place.problem));
    call(peer->write, place, path, kind, pieces, data);
  };
  const auto read = [=](const fs::path& path, Values& values) {
    std::vector<double*> data;
    for (auto& field : values) data.push_back(field.data());
    call(peer->read, place, path, kind, pieces, data);
  };
  Way way = file_way(place, name, kind != OCTAVO_PEER_ALONE, write, read);
  if (peer == nullptr) way.missing = missing;
  return way;
}

}  // namespace

std::vector<Way> peer_ways(const Place& place) {
  static const octavo_peer* hdf5 = load("octavo_peer_hdf5.so");
  static const octavo_peer* adios2 = load("octavo_peer_adios2.so");
  constexpr const char* no_hdf5 = "not found: parallel HDF5 (libhdf5-openmpi-dev) when this was built";
  constexpr const char* no_adios2 = "not found: ADIOS2 when this was built";
  const bool alone = adios2 != nullptr && adios2->shares == 0;
  std::vector<Way> ways{peer_way(place, hdf5, "HDF5, file a rank", OCTAVO_PEER_ALONE, 1, no_hdf5),
                        peer_way(place, hdf5, "HDF5 independent", OCTAVO_PEER_INDEPENDENT, 1, no_hdf5),
                        peer_way(place, hdf5, "HDF5 collective", OCTAVO_PEER_COLLECTIVE, 1, no_hdf5),
                        peer_way(place, adios2, alone ? "ADIOS2 BP5, file a rank" : "ADIOS2 BP5",
                                 alone ? OCTAVO_PEER_ALONE : OCTAVO_PEER_COLLECTIVE, 1, no_adios2)};
  if (place.setup->shape.blocks > 0)
    ways.push_back(
        peer_way(place, hdf5, "HDF5, a data set a block", OCTAVO_PEER_ALONE, place.problem->blocks, no_hdf5));
  return ways;
}

}  // namespace octavo::bench
