# Expat reads the texts of XDMF files: used by octavo/formats/xdmf/xml.cpp alone. Without it, or with one before 2.4, which
# limits no entities, reading them answers Error(unsupported).
option(OCTAVO_EXPAT "Read XDMF files" ON)
if(OCTAVO_EXPAT)
  pkg_check_modules(expat QUIET IMPORTED_TARGET expat>=2.4)
endif()

function(octavo_link_expat target)
  if(NOT (OCTAVO_EXPAT AND expat_FOUND))
    octavo_without("expat 2.4: no XDMF files are read")
    return()
  endif()
  target_link_libraries(${target} PRIVATE PkgConfig::expat)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/octavo/formats/xdmf/xml.cpp PROPERTIES COMPILE_DEFINITIONS
                              OCTAVO_HAVE_EXPAT)
endfunction()
