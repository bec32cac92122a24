! A solver that writes a checkpoint in the background every few steps, and starts again where it stopped.
!     mpirun -n 4 write_f90 run.octavo 20     then, on any number of ranks:     mpirun -n 3 write_f90 run.octavo 40
program write
  use mpi
  use octavo
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: edge = 16, all = edge**3
  type(octavo_domain) :: domain
  type(octavo_target) :: to
  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  type(octavo_restart_info) :: info
  type(octavo_tree) :: tree
  real(real64), allocatable, target :: density(:)
  character(1000) :: store, steps
  integer :: provided, rank, ranks, ierror, step, first, last, i

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call get_command_argument(1, store)
  call get_command_argument(2, steps)
  read (steps, *) last

  call from%open(MPI_COMM_WORLD, store)
  if (from%found()) then
    call from%get_info(info)
    first = info%step + 1
    call from%get_tree(tree)
    call from%get_field('density', density)
  else ! the cells of one level, all on every rank, of which each owns its share
    first = 1
    tree%cells_of_level = [int(all, int64)]
    tree%refined = [(.false., i=1, all)]
    tree%owned = [((i - 1)*ranks/all == rank, i=1, all)]
    density = [(1.0_real64, i=1, all)]
  end if

  domain%code = 'example'
  domain%roots = edge
  to%path = store
  call writer%open(MPI_COMM_WORLD, to, domain, from)
  call from%free()
  do step = first, last
    density = 1.01_real64*density ! the physics
    if (mod(step, 5) /= 0) cycle
    call writer%begin_step(octavo_checkpoint, step, 0.1_real64*step)
    call writer%put_tree(tree)
    call writer%put_field('density', density, unit='g/cm^3')
    call writer%end_step() ! the solver goes on; the step is written behind its back
  end do
  call writer%close()
  call MPI_Finalize(ierror)
end program write
