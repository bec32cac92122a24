# octavo_precompile(TARGET [WITH_GTEST])
#
# The standard headers that most sources include (and GoogleTest's, for test programs) are compiled once: in octavo_base
# and in octavo_base_test, whose compiled headers all others take. It saves a quarter of a build's time. A source still
# includes what it uses: preset `serial` builds without compiled headers.
function(octavo_precompile target)
  cmake_parse_arguments(precompile "WITH_GTEST" "" "" ${ARGN})
  set(first octavo_base)
  set(headers <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdint> <cstring> <filesystem> <fstream>
              <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <string>
              <string_view> <thread> <vector>)
  if(precompile_WITH_GTEST)
    set(first octavo_base_test)
    list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${headers})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
endfunction()
