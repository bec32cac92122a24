# What our own code is compiled with; link octavo_warnings PRIVATE. Headers of others are not ours to warn about.
add_library(octavo_warnings INTERFACE)
target_compile_options(octavo_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual
  -Wdouble-promotion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>  # gcc 12 finds overlaps in std::string that are not there (its bug 105651)
  $<$<BOOL:${OCTAVO_WERROR}>:-Werror>)

# Values must not depend on whether a compiler fuses multiply and add (docs/format.md, "Arithmetic").
add_compile_options(-ffp-contract=off)
