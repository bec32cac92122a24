# For a wheel, which is built once and runs with the MPI of the machine it comes to. OCTAVO_MPI_KINDS lists the libraries
# whose binary interface the wheel shall know, as NAME=PREFIX (openmpi=/opt/openmpi): PREFIX/include/mpi.h and
# PREFIX/lib/libmpi.so. For each, ranks and engine are compiled once more, and module _mpi is linked again; it lands in the
# package's folder mpi/NAME. python/octavo/ranks.py loads the module of the library that runs the program.
set(OCTAVO_MPI_KINDS "" CACHE STRING "Libraries of MPI beside the one of this build, as NAME=PREFIX, for wheels")

# octavo_room_of_kind(ROOM KIND): octavo_ROOM_KIND, of the same sources and over the same rooms, with KIND's mpi.h.
function(octavo_room_of_kind room kind)
  set(target octavo_${room}_${kind})
  get_target_property(sources octavo_${room} SOURCES)
  get_target_property(links octavo_${room} INTERFACE_LINK_LIBRARIES)
  list(FILTER links EXCLUDE REGEX "LINK_ONLY")
  list(TRANSFORM links REPLACE "^MPI::MPI_CXX$" octavo_mpi_${kind})
  list(TRANSFORM links REPLACE "^octavo_ranks$" octavo_ranks_${kind})
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${sources})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${links} PRIVATE octavo_warnings)
  octavo_compile_together(${target} NO_KERNELS)
endfunction()

foreach(entry ${OCTAVO_MPI_KINDS})
  string(REGEX MATCH "^([a-z]+)=(.+)$" entry "${entry}")
  set(kind ${CMAKE_MATCH_1})
  set(prefix ${CMAKE_MATCH_2})
  if(NOT EXISTS ${prefix}/include/mpi.h OR NOT EXISTS ${prefix}/lib/libmpi.so)
    message(FATAL_ERROR "OCTAVO_MPI_KINDS: expected NAME=PREFIX with PREFIX/include/mpi.h and PREFIX/lib/libmpi.so, found '${entry}'")
  endif()
  add_library(octavo_mpi_${kind} INTERFACE)
  target_include_directories(octavo_mpi_${kind} SYSTEM INTERFACE ${prefix}/include)
  target_link_libraries(octavo_mpi_${kind} INTERFACE ${prefix}/lib/libmpi.so)
  octavo_room_of_kind(ranks ${kind})
  octavo_room_of_kind(engine ${kind})

  nanobind_add_module(_mpi_${kind} NB_STATIC NOMINSIZE ${octavo_mpi_sources})
  set_target_properties(_mpi_${kind} PROPERTIES OUTPUT_NAME _mpi LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${kind})
  target_link_libraries(_mpi_${kind} PRIVATE octavo_engine_${kind})
  install(TARGETS _mpi_${kind} LIBRARY DESTINATION mpi/${kind} COMPONENT python EXCLUDE_FROM_ALL)
  add_dependencies(octavo_python _mpi_${kind})
endforeach()
