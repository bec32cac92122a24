# octavo_manual_pages(CORE): a wheel brings manual pages, made from the help of the command, by the package with the module
# CORE in it.
function(octavo_manual_pages core)
  set(package ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../python/octavo)
  set(whole ${CMAKE_CURRENT_BINARY_DIR}/whole)
  add_custom_target(octavo_man
    COMMAND ${CMAKE_COMMAND} -E copy_directory ${package} ${whole}/octavo
    COMMAND ${CMAKE_COMMAND} -E copy ${core} ${whole}/octavo
    COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH=${whole} PYTHONDONTWRITEBYTECODE=1
            ${Python_EXECUTABLE} -c "from octavo.cli import main; raise SystemExit(main(['man', '--into', '${whole}/man1']))"
    VERBATIM)
  add_dependencies(octavo_python octavo_man)
  install(DIRECTORY ${whole}/man1 DESTINATION ${SKBUILD_DATA_DIR}/share/man COMPONENT python EXCLUDE_FROM_ALL)
endfunction()
