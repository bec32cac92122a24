# The options of our own code; link octavo_warnings PRIVATE. Headers of others are not ours to warn about.
add_library(octavo_warnings INTERFACE)
target_compile_options(octavo_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual -Wdouble-promotion
  # A local name may be that of a function of another source that is compiled together with this one.
  $<IF:$<AND:$<BOOL:${OCTAVO_TOGETHER}>,$<CXX_COMPILER_ID:GNU>>,-Wshadow=local,-Wshadow>
  $<$<AND:$<BOOL:${OCTAVO_TOGETHER}>,$<CXX_COMPILER_ID:GNU>>:-Wno-subobject-linkage>
  # gcc 12 finds overlaps and overflows in std::string that are not there (its bugs 105651 and 105329), and members of a
  # variant that are not set when another alternative is moved.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overread>
  $<$<BOOL:${OCTAVO_WERROR}>:-Werror>)

# Values must not depend on whether a compiler fuses multiply and add (docs/format.md, "Arithmetic").
add_compile_options(-ffp-contract=off)
