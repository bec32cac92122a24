! A solver on triangles whose ranks write one SERAFIN file together, in the background: the same bytes on any number of
! ranks, no pieces and no merging.     mpirun -n 4 series_f90 channel.slf 10
program series
  use mpi
  use octavo
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: columns = 60, rows = 12
  type(octavo_target) :: to
  type(octavo_writer) :: file
  real(real64), allocatable :: x(:), y(:), work(:)
  integer, allocatable :: triangles(:, :), knolg(:)
  character(1000) :: path, steps
  integer :: provided, rank, ranks, ierror, step, last_step, first, last, i, j, a, b, n

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, path)
  call get_command_argument(2, steps)
  read (steps, *) last_step

  ! A channel of squares, each of two triangles; a rank has some columns of them. Points between two ranks are on both.
  first = columns*rank/ranks
  last = columns*(rank + 1)/ranks
  n = merge((last - first + 1)*(rows + 1), 0, last > first)
  allocate (x(n), y(n), knolg(n), work(n), triangles(3, 2*(last - first)*rows))
  do i = first, merge(last, first - 1, last > first)
    do j = 0, rows
      a = (i - first)*(rows + 1) + j + 1
      x(a) = 5.0_real64*i
      y(a) = 5.0_real64*j
      knolg(a) = i*(rows + 1) + j + 1 ! the number in the file: all that is needed
    end do
  end do
  n = 0
  do i = 0, last - first - 1
    do j = 0, rows - 1
      a = i*(rows + 1) + j + 1
      b = a + rows + 1
      triangles(:, n + 1) = [a, b, b + 1]
      triangles(:, n + 2) = [a, b + 1, a + 1]
      n = n + 2
    end do
  end do

  to%kind = octavo_serafin
  to%path = path
  to%title = 'A CHANNEL'
  to%variables = reshape([character(80) :: 'WATER DEPTH', 'M', 'VELOCITY U', 'M/S'], [2, 2])
  to%mesh = octavo_triangles(x, y, triangles, knolg)
  call file%open(MPI_COMM_WORLD, to)
  do step = 0, last_step - 1
    call file%begin_step(0.5_real64*step)
    work = 2 + x/1024 + step/64.0_real64 ! the physics
    call file%put_field('WATER DEPTH', work)  ! copied: one array for all variables
    work = y/256 - step/32.0_real64
    call file%put_field('VELOCITY U', work)
    call file%end_step() ! the solver goes on; the step is written behind its back
  end do
  call file%close()
  call MPI_Finalize(ierror)
end program series
