// Compiled with AVX2 where the compiler can (cmake/vectors.cmake).
#if defined(__AVX2__)
#include "octavo/base/vectors_here.hpp"

namespace octavo::base {
const Vectors vectors_avx2 = vectors_here;
}
#else
#include "octavo/base/vectors.hpp"

namespace octavo::base {
const Vectors vectors_avx2{};
}
#endif
