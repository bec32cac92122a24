#include "octavo/engine/hints.hpp"

#include "octavo/base/error.hpp"

namespace octavo::engine {

MPI_Info info_of(const Options& options) {
  if (options.mpi_io_hints.empty()) return MPI_INFO_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [name, value] : options.mpi_io_hints) {
    if (name.size() < MPI_MAX_INFO_KEY && value.size() < MPI_MAX_INFO_VAL &&
        MPI_Info_set(info, name.c_str(), value.c_str()) == MPI_SUCCESS)
      continue;
    MPI_Info_free(&info);
    throw base::Error(base::Kind::usage, "MPI takes no such hint").at("option mpi_io_hint." + name);
  }
  return info;
}

}  // namespace octavo::engine
