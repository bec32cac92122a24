# octavo_mpi_tests(TARGET SUITES suite ... RANKS n ... [ENVIRONMENT NAME=VALUE ...] [LABEL text])
#
# Runs the suites of a GoogleTest program under mpirun, one ctest case for each suite and number of ranks. Open MPI
# refuses root, and more ranks than cores, unless told otherwise: tests do both. Ranks that wait give up their core, so
# that four ranks on two cores take a third of the time; much of a test is waiting, so that more ranks
# than two count as two processes.
# Without MPI they run as one process, and those of more ranks do not run.
function(octavo_mpi_tests target)
  cmake_parse_arguments(mpi "" "LABEL" "SUITES;RANKS;ENVIRONMENT" ${ARGN})
  if(NOT TARGET ${target})
    return()
  endif()
  foreach(suite ${mpi_SUITES})
    foreach(ranks ${mpi_RANKS})
      set(processors 2)
      if(ranks EQUAL 1)
        set(processors 1)
      endif()
      if(ranks GREATER 1 AND NOT OCTAVO_HAVE_MPI)
        continue()
      endif()
      set(name mpi${mpi_LABEL}.${suite}.${ranks})
      add_test(NAME ${name} COMMAND ${octavo_mpiexec} -n ${ranks} $<TARGET_FILE:${target}>
                                    --gtest_filter=${suite}.* --gtest_brief=1)
      set_tests_properties(${name} PROPERTIES TIMEOUT 1500 PROCESSORS ${processors} ENVIRONMENT
        "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_mpi_yield_when_idle=1;OMPI_MCA_pml=ob1;OMPI_MCA_odls_base_sigkill_timeout=0;OMPI_MCA_btl_vader_single_copy_mechanism=none;${mpi_ENVIRONMENT}")
    endforeach()
  endforeach()
endfunction()
