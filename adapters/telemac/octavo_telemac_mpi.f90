!> The start and the end of MPI in programs of TELEMAC, and what the adapter keeps between them. Programs without hermes take
!> this file alone.
module octavo_telemac_mpi
  use, intrinsic :: iso_c_binding, only: c_int
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi
  implicit none
  private
  public :: rank, ranks, setting, count_time

  integer :: rank = 0, ranks = 0                     !< 0: TELEMAC has not started MPI
  integer(int64) :: ticks = 0                        !< in calls that write results, whoever writes them

contains

  !> The writer's threads need MPI_THREAD_FUNNELED.
  subroutine start_mpi(ierr) bind(c, name='__wrap_mpi_init_')
    integer(c_int), intent(out) :: ierr
    integer :: provided
    call MPI_INIT_THREAD(MPI_THREAD_FUNNELED, provided, ierr)
    call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierr)
    call MPI_COMM_SIZE(MPI_COMM_WORLD, ranks, ierr)
  end subroutine

  subroutine end_mpi(ierr) bind(c, name='__wrap_mpi_finalize_')
    integer(c_int), intent(out) :: ierr
    integer(int64) :: longest, second
    call MPI_REDUCE(ticks, longest, 1, MPI_INTEGER8, MPI_MAX, 0, MPI_COMM_WORLD, ierr)
    call system_clock(count_rate=second)
    if (rank == 0 .and. setting('OCTAVO_TELEMAC_TIMES') /= '') &
      print '(a,f0.3,a)', ' octavo: results took ', real(longest)/real(second), ' s'
    call PMPI_FINALIZE(ierr)
  end subroutine

  function setting(name) result(value)
    character(*), intent(in) :: name
    character(1024) :: value
    call get_environment_variable(name, value)
  end function

  subroutine count_time(sign)
    integer, intent(in) :: sign
    integer(int64) :: now
    call system_clock(now)
    ticks = ticks + sign*now
  end subroutine

end module octavo_telemac_mpi
