# HDF5, serial C library: used by octavo/file/hdf5*.cpp alone. Without it (OCTAVO_HDF5 off, or none found) the same
# functions answer Error(unsupported), so everything else builds and passes.
#
# Linked as a shared library and privately: an HDF5 that another module brings into the process (h5py's wheel has its own,
# renamed) keeps its own symbols.
option(OCTAVO_HDF5 "Read and write HDF5 formats (FLASH)" ON)
if(OCTAVO_HDF5)
  # Debian keeps the serial library apart from the MPI ones: hdf5-serial.pc; elsewhere it is plain hdf5.pc.
  pkg_search_module(hdf5 QUIET IMPORTED_TARGET hdf5-serial hdf5)
  if(NOT hdf5_FOUND)
    octavo_without("HDF5: no FLASH and VTKHDF files")
  endif()
endif()

# octavo_link_hdf5(TARGET ...): for octavo_file, and for tests that make HDF5 files themselves.
function(octavo_link_hdf5)
  if(OCTAVO_HDF5 AND hdf5_FOUND)
    foreach(target ${ARGN})
      if(TARGET ${target})
        target_link_libraries(${target} PRIVATE PkgConfig::hdf5)
        target_compile_definitions(${target} PRIVATE OCTAVO_HAVE_HDF5)
      endif()
    endforeach()
  endif()
endfunction()
