# Checksums and copies run on the widest vectors that the machine has; which that is is found out when the program runs
# (octavo/base/checksum.cpp).
include(CheckCXXCompilerFlag)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  check_cxx_compiler_flag(-mavx2 OCTAVO_COMPILES_AVX2)
  check_cxx_compiler_flag(-mavx512f OCTAVO_COMPILES_AVX512)
  set_source_files_properties(octavo/base/vectors_avx2.cpp octavo/base/vectors_avx512.cpp PROPERTIES
                              SKIP_PRECOMPILE_HEADERS ON)
  if(OCTAVO_COMPILES_AVX2)
    set_source_files_properties(octavo/base/vectors_avx2.cpp PROPERTIES COMPILE_OPTIONS -mavx2)
  endif()
  # gcc 12 warns of its own intrinsics (its bug 105593).
  if(OCTAVO_COMPILES_AVX512)
    set_source_files_properties(octavo/base/vectors_avx512.cpp PROPERTIES COMPILE_OPTIONS "-mavx512f;-Wno-uninitialized;-Wno-maybe-uninitialized")
  endif()
endif()
