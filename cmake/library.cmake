# The library for other people's programs (component `library` of an install): one archive of all rooms and the C
# functions, liboctavo.a, one of the Fortran module, headers, a CMake package and pkg-config files. Target octavo_library
# builds it. There are archives only, so what they need is said in full, as paths found when this was configured.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(library_package ${CMAKE_INSTALL_LIBDIR}/cmake/octavo)

# octavo_merged(TARGET NAME part ...): one archive libNAME.a of the objects of the parts.
function(octavo_merged target name)
  set(objects)
  foreach(part ${ARGN})
    list(APPEND objects $<TARGET_OBJECTS:${part}>)
  endforeach()
  add_library(${target} STATIC ${objects})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME ${name}
                        ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/library)
  install(TARGETS ${target} EXPORT ${target} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(EXPORT ${target} NAMESPACE octavo:: FILE ${target}-targets.cmake DESTINATION ${library_package}
          COMPONENT library)
endfunction()

get_property(rooms GLOBAL PROPERTY OCTAVO_ROOMS)
set(parts ${rooms} octavo_c)
set(library_serial)  # below include: mpi.h of a build without MPI
if(NOT OCTAVO_HAVE_MPI)
  list(APPEND parts octavo_serial)
  set(library_serial octavo/ranks/serial)
  set(library_serial_flag " -I\${includedir}/${library_serial}")
  install(FILES octavo/ranks/serial/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${library_serial} COMPONENT library)
endif()
octavo_merged(octavo octavo ${parts})
target_include_directories(octavo INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
if(library_serial)
  target_include_directories(octavo INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/${library_serial}>)
endif()
target_compile_features(octavo INTERFACE cxx_std_20)

# Libraries of others that the parts link: pkg-config's modules and libraries found by path become paths.
set(needed)
foreach(part ${parts})
  get_target_property(links ${part} LINK_LIBRARIES)
  if(links)  # a part may link nothing
    list(APPEND needed ${links})
  endif()
endforeach()
list(FILTER needed EXCLUDE REGEX "^(octavo_|MPI::|Threads::|::@)")
list(REMOVE_DUPLICATES needed)
set(libraries)
foreach(item ${needed})
  if(item MATCHES "^PkgConfig::(.*)")
    list(APPEND libraries ${${CMAKE_MATCH_1}_LINK_LIBRARIES})
  elseif(IS_ABSOLUTE "${item}")
    list(APPEND libraries ${item})
  else()
    list(APPEND libraries -l${item})
  endif()
endforeach()
target_link_libraries(octavo INTERFACE ${libraries} Threads::Threads)
if(OCTAVO_HAVE_MPI)
  target_link_libraries(octavo INTERFACE MPI::MPI_CXX)
endif()

# The public headers: each room's own, which opens with what the room does. With them goes what they include, and no more.
set(public_headers)
foreach(room ${rooms})
  string(REGEX REPLACE "^octavo_" "" room ${room})
  list(APPEND public_headers octavo/${room}/${room}.hpp)
endforeach()
configure_file(cmake/install_headers.cmake.in library/install_headers.cmake @ONLY)
install(SCRIPT ${PROJECT_BINARY_DIR}/library/install_headers.cmake COMPONENT library)
install(DIRECTORY adapters/amrex/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/octavo_amrex COMPONENT library
        FILES_MATCHING PATTERN "*.hpp")
add_custom_target(octavo_library DEPENDS octavo)

# For who links with mpicc or mpifort: the C++ run-time library, and MPI's C++ library where mpi.h has C++ bindings.
set(runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER runtime INCLUDE REGEX "^(stdc\\+\\+|c\\+\\+|c\\+\\+abi|m)$")
list(TRANSFORM runtime PREPEND -l)
foreach(name ${MPI_CXX_LIB_NAMES})
  list(APPEND libraries ${MPI_${name}_LIBRARY})
endforeach()
list(JOIN libraries " " library_paths)
list(JOIN runtime " " library_runtime)
file(RELATIVE_PATH library_up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" library_up "${library_up}")
set(library_modules octavo/modules)  # below include: .mod files
function(octavo_pkg_config name)
  configure_file(cmake/${name}.pc.in library/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/library/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endfunction()
octavo_pkg_config(octavo)

install(FILES capi/octavo.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library)
if(TARGET octavo_fortran)
  enable_language(Fortran)
  octavo_find_fortran(found)
  set(fortran_parts octavo_fortran)
  if(NOT OCTAVO_HAVE_MPI)
    list(APPEND fortran_parts octavo_serial_fortran)
  endif()
  octavo_merged(octavo_modules octavo_fortran ${fortran_parts})
  set_target_properties(octavo_modules PROPERTIES EXPORT_NAME fortran)
  target_include_directories(octavo_modules INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/${library_modules}>)
  target_link_libraries(octavo_modules INTERFACE octavo)
  if(OCTAVO_HAVE_MPI)
    target_link_libraries(octavo_modules INTERFACE MPI::MPI_Fortran)
  endif()
  install(DIRECTORY ${PROJECT_BINARY_DIR}/capi/modules/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${library_modules}
          COMPONENT library FILES_MATCHING PATTERN "*.mod")
  add_dependencies(octavo_library octavo_modules)
  octavo_pkg_config(octavo-fortran)
endif()

configure_package_config_file(cmake/octavo-config.cmake.in library/octavo-config.cmake
                              INSTALL_DESTINATION ${library_package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(library/octavo-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/library/octavo-config.cmake ${PROJECT_BINARY_DIR}/library/octavo-config-version.cmake
        DESTINATION ${library_package} COMPONENT library)

# Built against what is installed, as users do it.
if(OCTAVO_TESTS)
  set(with_fortran $<$<TARGET_EXISTS:octavo_fortran>:fortran>)
  if(OCTAVO_HAVE_MPI)
    get_filename_component(wrappers ${MPI_CXX_COMPILER} DIRECTORY)
    set(compilers "c ${wrappers}/mpicc" "cpp ${MPI_CXX_COMPILER}" "f90 ${MPI_Fortran_COMPILER}")
  else()
    set(compilers "c ${CMAKE_C_COMPILER}" "cpp ${CMAKE_CXX_COMPILER}" "f90 ${CMAKE_Fortran_COMPILER}")
  endif()
  foreach(try ${compilers} "cmake none")
    separate_arguments(try)
    list(GET try 0 how)
    list(GET try -1 wrapper)
    add_test(NAME examples.installed.${how}
             COMMAND ${PROJECT_SOURCE_DIR}/examples/run_installed ${PROJECT_BINARY_DIR} ${octavo_mpiexec} ${wrapper}
                     ${how} ${with_fortran})
    set_tests_properties(examples.installed.${how} PROPERTIES TIMEOUT 600 PROCESSORS 2 SKIP_RETURN_CODE 77)
  endforeach()
endif()
