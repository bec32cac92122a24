#pragma once
#include <mpi.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/write/keep.hpp"

namespace octavo::engine {

/// The slots, which checkpoints overwrite in turn. All ranks have the same state, because all see the same steps go in,
/// become durable and fail.
class Slots {
 public:
  Slots() = default;
  explicit Slots(int keep) : keep_(static_cast<std::size_t>(keep)) {}
  /// All ranks learn which slots rank 0 has `found`. A resumed run keeps the step that it continues from; later steps
  /// of the abandoned run are not needed any more. Collective.
  void find(MPI_Comm comm, const std::filesystem::path& store, const FoundCheckpoints& found,
            const std::optional<store::StepId>& resumed_from);

  /// A slot for the step of this number: one that holds none of the newest `keep` durable steps and no step that is
  /// still on its way. Nothing if there is none yet: then a step on its way must first become durable or fail.
  std::optional<std::string> take(std::int64_t number);
  /// The slots that take() may give as long as no further step is durable.
  std::vector<std::string> unneeded() const;
  void durable(std::int64_t number);
  void failed(std::int64_t number);

 private:
  struct Slot {
    enum class Use : std::uint8_t { free, writing, holds } use = Use::free;
    std::int64_t number = 0;  ///< of the step: larger ones are newer; negative: written before this run
  };
  bool is_needed(const Slot& slot) const;
  void set(std::int64_t number, Slot::Use use);
  std::size_t keep_ = 0;
  std::vector<Slot> slots_;
};

/// "checkpoint/slot.000"
std::string slot_name(std::size_t slot);

}  // namespace octavo::engine
