#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "octavo/mesh/dataset.hpp"

namespace octavo::step {

/// The parts of a step that could not be read. For any number of threads.
class DamageLog {
 public:
  void note(int number, const std::string& what);
  /// By number in the step, from 0: the error's text.
  std::map<int, std::string> parts() const;

 private:
  mutable std::mutex mutex_;
  std::map<int, std::string> parts_;
};

/// A data set that reads on behind damage: a part whose bytes are not as they must be, or that the system cannot read,
/// is noted in the log and read as one without cells and particles. A result of several passes is whole only if the log
/// stayed empty; else ask again without the parts that it lists (only_parts). Damage of a mesh of triangles,
/// which is one part, stays an error.
mesh::Dataset past_damage(const mesh::Dataset& dataset, const std::shared_ptr<DamageLog>& log);

}  // namespace octavo::step
