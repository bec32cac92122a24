# octavo_compile_together(TARGET [WITH_GTEST] [NO_KERNELS])
#
# Two things make a clean build short. (1) The standard headers that most sources include (and GoogleTest's, for test
# programs) are compiled once, in octavo_base and in octavo_base_test, whose compiled headers all others take. (2) A
# compiler reads eight sources as one, which takes 0.6 of the CPU time. A function in an unnamed namespace then takes part
# in the calls of other sources of its room: give it a name that no call there could mean, above all if it takes a string
# or a path (python/tests/test_together.py finds pairs of such functions). A source still includes what it uses: preset
# `serial` builds each on its own, without compiled headers. With -DOCTAVO_TOGETHER=OFF a change of one source compiles
# that source alone.
#
# A release is compiled with -O3. Rooms of NO_KERNELS, whose time goes into files and into other rooms, take -O2, which
# compiles in 0.9 of the time. Test programs take -O1: they compile in two thirds of the time and run as long.
function(octavo_compile_together target)
  cmake_parse_arguments(together "WITH_GTEST;NO_KERNELS" "" "" ${ARGN})
  set(first octavo_base)
  set(headers <algorithm> <array> <atomic> <bit> <charconv> <cmath> <cstdint> <cstring> <filesystem> <fstream>
              <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span> <string>
              <string_view> <thread> <vector>)
  if(together_WITH_GTEST)
    set(first octavo_base_test)
    list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  elseif(together_NO_KERNELS)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${headers})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OCTAVO_TOGETHER} UNITY_BUILD_BATCH_SIZE 8)
endfunction()
