# octavo_room(NAME [NO_KERNELS] [ENTERS room ...] [LIBRARIES target ...])
#
# A static library octavo_NAME from octavo/NAME/**/*.cpp, and from the *_test.cpp beside the sources one test program
# octavo_NAME_test. A room links what it may enter and nothing else, so an arrow that runs up does not link; the include
# lines are checked by python/tests/test_layering.py.
function(octavo_room name)
  cmake_parse_arguments(room "NO_KERNELS" "" "ENTERS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/octavo/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$|/serial/")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(TRANSFORM room_ENTERS PREPEND octavo_)
  if(NOT sources)
    add_library(octavo_${name} INTERFACE)
    target_link_libraries(octavo_${name} INTERFACE ${room_ENTERS} ${room_LIBRARIES})
    return()
  endif()
  add_library(octavo_${name} STATIC ${sources})
  set_property(GLOBAL APPEND PROPERTY OCTAVO_ROOMS octavo_${name})
  target_include_directories(octavo_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(octavo_${name} PUBLIC ${room_ENTERS} ${room_LIBRARIES} PRIVATE octavo_warnings)
  set(kernels "")
  if(room_NO_KERNELS)
    set(kernels NO_KERNELS)
  endif()
  octavo_compile_together(octavo_${name} ${kernels})
  if(OCTAVO_TESTS AND tests)
    add_executable(octavo_${name}_test ${tests})
    target_link_libraries(octavo_${name}_test PRIVATE octavo_${name} octavo_warnings GTest::gtest_main GTest::gmock
                                                      nlohmann_json::nlohmann_json)
    octavo_compile_together(octavo_${name}_test WITH_GTEST)
    # Suites ...Mpi run under mpirun, one process each: a process a test would be hundreds of MPI_Finalize, in which Open
    # MPI 4 crashes about once in a thousand times (its issue 10117).
    gtest_discover_tests(octavo_${name}_test TEST_PREFIX ${name}. TEST_FILTER -*Mpi.* DISCOVERY_TIMEOUT 600)
  endif()
endfunction()
