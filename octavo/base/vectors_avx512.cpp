// Compiled with AVX-512 where the compiler can (cmake/vectors.cmake).
#if defined(__AVX512F__)
#include "octavo/base/vectors_here.hpp"

namespace octavo::base {
const Vectors vectors_avx512 = vectors_here;
}
#else
#include "octavo/base/vectors.hpp"

namespace octavo::base {
const Vectors vectors_avx512{};
}
#endif
