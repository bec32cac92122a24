# MED through libmedC: its header is needed by octavo/formats/med alone, and the library is loaded when the first MED file
# is opened, so that nothing else pays for it and its parallel HDF5. Without the header the same functions answer
# Error(unsupported).
option(OCTAVO_MED "Read and write MED files" ON)
if(OCTAVO_MED)
  find_path(MED_INCLUDE med.h)
  find_library(MED_LIBRARY medC)
  find_path(MED_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/openmpi hdf5/mpich hdf5/serial)
  find_package(MPI QUIET COMPONENTS C)
endif()

function(octavo_link_med target)
  if(NOT (OCTAVO_MED AND MED_INCLUDE AND MED_LIBRARY AND MED_HDF5_INCLUDE))
    octavo_without("MED files")
    return()
  endif()
  file(REAL_PATH "${MED_LIBRARY}" library)
  get_filename_component(library "${library}" NAME)
  string(REGEX MATCH "^libmedC\\.so\\.[0-9]+" soname "${library}")
  target_include_directories(${target} SYSTEM PRIVATE ${MED_INCLUDE} ${MED_HDF5_INCLUDE} ${MPI_C_INCLUDE_DIRS})
  target_compile_definitions(${target} PRIVATE OCTAVO_HAVE_MED OCTAVO_MED_LIBRARY="${soname}")
  target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
endfunction()
