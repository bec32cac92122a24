#pragma once

namespace octavo::simulated {

/// While it lives, allocations are the simulator's, not those of the virtual rank that runs.
class Uncounted {
 public:
  Uncounted();
  ~Uncounted();
  Uncounted(const Uncounted&) = delete;
  Uncounted& operator=(const Uncounted&) = delete;
  /// Ends all of them, for a function that is left by a jump.
  static void end_all();

 private:
  bool before_;
};

}  // namespace octavo::simulated
