! Procedures in the place of RAMSES' own. The linker's option --wrap=NAME_ makes RAMSES call __wrap_NAME_; __real_NAME_ is RAMSES' own.

!> The writer's threads need MPI_THREAD_FUNNELED.
subroutine mpi_init_for_octavo(ierr) bind(c, name='__wrap_mpi_init_')
  use mpi_mod
  implicit none
  integer, intent(out) :: ierr
  integer :: provided
  call MPI_INIT_THREAD(MPI_THREAD_FUNNELED, provided, ierr)
end subroutine

subroutine read_params_and_restart() bind(c, name='__wrap_read_params_')
  use octavo_ramses
  implicit none
  interface
    subroutine ramses_read_params() bind(c, name='__real_read_params_')
    end subroutine
  end interface
  call ramses_read_params
  call read_options
  call refuse_what_is_lost
  call find_restart
end subroutine

!> Each coarse step. RAMSES calls it for finer levels itself, past the linker.
subroutine amr_step_and_analysis(ilevel, icount) bind(c, name='__wrap_amr_step_')
  use octavo_ramses
  use octavo, only: octavo_analysis
  implicit none
  integer, intent(in) :: ilevel, icount
  interface
    subroutine ramses_amr_step(ilevel, icount) bind(c, name='__real_amr_step_')
      integer, intent(in) :: ilevel, icount
    end subroutine
  end interface
  call start_writing
  if (analysis) then
    if (due()) call put_step(octavo_analysis)
  end if
  call ramses_amr_step(ilevel, icount)
end subroutine

!> RAMSES counts its outputs here, so the adapter does, where it writes in RAMSES' place.
subroutine dump_all_to_octavo() bind(c, name='__wrap_dump_all_')
  use amr_commons
  use octavo_ramses
  use octavo, only: octavo_checkpoint
  implicit none
  interface
    subroutine ramses_dump_all() bind(c, name='__real_dump_all_')
    end subroutine
  end interface
  if (nstep_coarse == nstep_coarse_old .and. nstep_coarse > 0) return
  if (nstep_coarse == 0 .and. nrestart > 0) return
  if (native) then
    call ramses_dump_all
  else
    call write_screen
    ifout = ifout + 1
    if (t >= tout(iout) .or. aexp >= aout(iout)) iout = iout + 1
    if (t >= tout_next) tout_next = tout_next + delta_tout
    if (aexp >= aout_next) aout_next = aout_next + delta_aout
    output_done = .true.
  end if
  call put_step(octavo_checkpoint)
end subroutine

subroutine clean_end_with_octavo() bind(c, name='__wrap_clean_end_')
  use octavo_ramses
  implicit none
  interface
    subroutine ramses_clean_end() bind(c, name='__real_clean_end_')
    end subroutine
  end interface
  call close_store
  call ramses_clean_end
end subroutine
