! A solver on triangles that writes checkpoints into a store in the background, and goes on from the newest on any number
! of ranks with the cut that it likes.     mpirun -n 3 triangles_f90 channel.octavo 10; mpirun -n 2 ... 20
program triangles
  use mpi
  use octavo
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: columns = 60, rows = 12
  type(octavo_domain) :: domain
  type(octavo_target) :: to
  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  type(octavo_restart_options) :: wanted
  type(octavo_restart_info) :: info
  type(octavo_points) :: points
  real(real64), allocatable :: x(:), y(:), depth(:)
  integer, allocatable :: nodes(:, :), knolg(:)
  character(1000) :: store, steps
  real(real64) :: deepest
  integer :: provided, rank, ranks, ierror, step, start, last_step, first, last, i, j, a

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, store)
  call get_command_argument(2, steps)
  read (steps, *) last_step
  ! A channel of squares, each of two triangles; a rank has some columns of them, and the points on their borders.
  first = columns*rank/ranks
  last = columns*(rank + 1)/ranks
  x = [((5.0_real64*i, j=0, rows), i=first, last)]
  y = [((5.0_real64*j, j=0, rows), i=first, last)]
  knolg = [((i*(rows + 1) + j + 1, j=0, rows), i=first, last)] ! numbers in the whole mesh
  depth = [(2.0_real64, i=1, size(x))]
  allocate (nodes(3, 2*rows*(last - first)))
  do i = 0, last - first - 1
    do j = 1, rows
      a = i*(rows + 1) + j
      nodes(:, 2*(i*rows + j) - 1:2*(i*rows + j)) = reshape([a, a + rows + 1, a + rows + 2, a, a + rows + 2, a + 1], [3, 2])
    end do
  end do

  wanted%points = knolg
  call from%open(MPI_COMM_WORLD, store, wanted)
  start = 0
  if (from%found()) then
    call from%get_info(info)
    start = info%step
    call from%get_field('WATER DEPTH', depth)
  end if
  domain%code = 'channel'
  domain%dim = 2
  to%path = store
  call writer%open(MPI_COMM_WORLD, to, domain, from)
  call from%free()
  do step = start + 1, last_step
    depth = depth + x/1024 ! the physics
    call writer%begin_step(octavo_checkpoint, step, 0.5_real64*step)
    call writer%put_triangles(octavo_triangles(x, y, nodes, knolg))
    call writer%put_field('WATER DEPTH', depth, unit='m')
    call writer%end_step() ! the solver goes on; the step is written behind its back
  end do
  call writer%close()
  call MPI_Allreduce(maxval(depth), deepest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierror)
  if (rank == 0) then ! the points with x < 10 in the newest step, read by one rank
    points%upper = [10.0_real64, 1000.0_real64]
    call octavo_read_points(store, 'WATER DEPTH', points)
    if (any(points%x >= 10) .or. size(points%number) /= 2*(rows + 1) .or. size(points%triangle) /= 2*rows .or. &
        any(points%values(:, 1) /= 2 + last_step*points%x/1024)) error stop 'points in a box'
  end if
  if (rank == 0) print '(a, i0, a, f0.9)', 'step ', last_step, ', deepest ', deepest
  call MPI_Finalize(ierror)
end program triangles
