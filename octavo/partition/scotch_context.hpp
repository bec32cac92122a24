#pragma once
// For the files that call Scotch. They must include Scotch's own header before this one.
#include <memory>
#include <string>

#include "octavo/base/error.hpp"

namespace octavo::partition {

inline void require_scotch(int status, const char* what) {
  if (status != 0) throw base::Error(base::Kind::unsupported, std::string("Scotch failed in ") + what);
}

/// Makes Scotch return the same cut each time. Otherwise threads, and the order in which messages arrive, change the
/// cut. It does nothing before Scotch 7, which introduced both threads and this option.
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
