#pragma once
// For the files that call Scotch alone, behind its own header.
#include <memory>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::partition {

inline void require_scotch(int status, const char* what) {
  if (status != 0) throw base::Error(base::Kind::unsupported, std::string("Scotch failed in ") + what);
}

/// Makes Scotch repeat itself. Without it threads, and messages that arrive in another order, give another cut each
/// time. Does nothing before Scotch 7, which introduced both.
class RepeatableScotch {
 public:
#ifdef SCOTCH_OPTIONNUMDETERMINISTIC
  RepeatableScotch() {
    require_scotch(SCOTCH_contextInit(&context_), "contextInit");
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMDETERMINISTIC, 1);
    SCOTCH_contextOptionSetNum(&context_, SCOTCH_OPTIONNUMRANDOMFIXEDSEED, 1);
    require_scotch(SCOTCH_contextRandomClone(&context_), "contextRandomClone");
    SCOTCH_contextRandomReset(&context_);
  }
  ~RepeatableScotch() { SCOTCH_contextExit(&context_); }
  RepeatableScotch(const RepeatableScotch&) = delete;
  RepeatableScotch& operator=(const RepeatableScotch&) = delete;
  SCOTCH_Context* context() { return &context_; }

 private:
  SCOTCH_Context context_;
#endif
};

}  // namespace octavo::partition
