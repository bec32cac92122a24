# What a build goes without, and libraries that were not there when it was last configured.

# octavo_without(TEXT): a line of build/PRESET/without.txt, which scripts/build shows behind every build.
function(octavo_without text)
  message(STATUS "building without ${text}")
  set_property(GLOBAL APPEND PROPERTY OCTAVO_WITHOUT "${text}")
endfunction()

# At the end of the top CMakeLists.txt.
function(octavo_write_without)
  get_property(lines GLOBAL PROPERTY OCTAVO_WITHOUT)
  list(REMOVE_DUPLICATES lines)
  list(JOIN lines "\n" text)
  file(WRITE ${PROJECT_BINARY_DIR}/without.txt "${text}\n")
endfunction()

# What was not found is looked for again: it may have been installed since. check_language() alone would not look.
get_cmake_property(cached CACHE_VARIABLES)
foreach(name ${cached})
  if("$CACHE{${name}}" MATCHES "NOTFOUND$")
    unset(${name} CACHE)
  endif()
endforeach()
