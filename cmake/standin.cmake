# The stand-in for CUDA's driver (tests/device): octavo_link_standin(TARGET) tells a test program where it lies.
add_library(octavo_standin_cuda SHARED ${PROJECT_SOURCE_DIR}/tests/device/standin_cuda.cpp
            ${PROJECT_SOURCE_DIR}/tests/device/standin_kernel.cpp)
target_include_directories(octavo_standin_cuda PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(octavo_standin_cuda PRIVATE octavo_warnings Threads::Threads)
set_target_properties(octavo_standin_cuda PROPERTIES CXX_VISIBILITY_PRESET default)
function(octavo_link_standin target)
  if(NOT TARGET ${target})
    return()
  endif()
  add_dependencies(${target} octavo_standin_cuda)
  target_compile_definitions(${target} PRIVATE OCTAVO_STANDIN="$<TARGET_FILE:octavo_standin_cuda>")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
