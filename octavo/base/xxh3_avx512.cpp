// Compiled with AVX-512 where the compiler can (CMakeLists.txt): nothing that other files share may be inlined here.
#include "octavo/base/xxh3.hpp"

#if defined(__AVX512F__)
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace octavo::base {
const Xxh3 xxh3_avx512{[](const void* bytes, std::size_t size) -> std::uint64_t { return XXH3_64bits(bytes, size); },
                       [](void* state, const void* bytes, std::size_t size) {
                         XXH3_64bits_update(static_cast<XXH3_state_t*>(state), bytes, size);
                       }};
}  // namespace octavo::base
#else
namespace octavo::base {
const Xxh3 xxh3_avx512{nullptr, nullptr};
}
#endif
