# Lists the optional libraries that a build lacks, and looks again for those that the last configure did not find.

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

# Forget the names that were not found, so that CMake looks again: the library may be installed by now. check_language()
# would not look a second time by itself.
get_cmake_property(cached CACHE_VARIABLES)
foreach(name ${cached})
  if("$CACHE{${name}}" MATCHES "NOTFOUND$")
    unset(${name} CACHE)
  endif()
endforeach()
