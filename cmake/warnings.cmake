add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
                    -Woverloaded-virtual -Wdouble-promotion>")
# Values must not depend on whether a compiler fuses multiply and add (docs/format.md, "Arithmetic").
add_compile_options(-ffp-contract=off)
if(OCTAVO_WERROR)
  add_compile_options(-Werror)
endif()
