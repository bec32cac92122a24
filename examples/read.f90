! The mass in the newest checkpoint of a run, on any number of ranks.     mpirun -n 2 read_f90 run.octavo
program read
  use mpi
  use octavo
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  type(octavo_restart) :: from
  type(octavo_restart_info) :: info
  type(octavo_tree) :: tree
  real(real64), allocatable :: density(:)
  character(1000) :: store
  real(real64) :: mass, total, volume
  integer :: ierror, rank, level, begin, end

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, store)
  call from%open(MPI_COMM_WORLD, store)
  if (.not. from%found()) error stop 'there is no checkpoint yet'
  call from%get_info(info)
  call from%get_tree(tree)
  call from%get_field('density', density)

  ! Owned leaves count; the domain is a cube of volume 1.
  mass = 0
  volume = 1.0_real64/tree%cells_of_level(1)
  begin = 1
  do level = 1, size(tree%cells_of_level)
    end = begin + int(tree%cells_of_level(level)) - 1
    mass = mass + volume*sum(density(begin:end), mask=tree%owned(begin:end) .and. .not. tree%refined(begin:end))
    begin = end + 1
    volume = volume/8
  end do
  call MPI_Reduce(mass, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) print '(a, i0, a, f0.9)', 'step ', info%step, ', mass ', total
  call from%free()
  call MPI_Finalize(ierror)
end program read
