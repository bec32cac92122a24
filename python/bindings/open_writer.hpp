#pragma once
#include <optional>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "octavo/engine/statistics.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::bindings {

/// A writer of the engine, and who shares it, until an exception leaves it.
template <class Writer>
class OpenWriter {
 public:
  template <class... Arguments>
  void open(MPI_Comm comm, Arguments&&... arguments) {
    comm_ = comm;
    writer_.emplace(comm, std::forward<Arguments>(arguments)...);
  }
  /// Throws Error(usage) once abandoned.
  Writer* operator->() {
    if (!writer_) throw base::Error(base::Kind::usage, "the writer was left by an exception");
    return &*writer_;
  }
  /// Without the GIL.
  template <class Work>
  auto call(Work&& work) {
    Writer& mine = *operator->();
    nb::gil_scoped_release release;
    return work(mine);
  }
  /// Waits for this rank's own work, tells nobody.
  void abandon() {
    nb::gil_scoped_release release;
    writer_.reset();
  }
  std::string statistics() { return to_json(operator->()->statistics()); }
  /// Collective: of all ranks.
  std::string total_statistics() {
    const engine::Statistics mine = operator->()->statistics();
    nb::gil_scoped_release release;
    return to_json(total(mine, comm_));
  }

 private:
  std::optional<Writer> writer_;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace octavo::bindings
