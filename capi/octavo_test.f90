! Run by ctest on several ranks: strided and reversed arrays, all types, particles, errors. Prints nothing but what is wrong.
program octavo_test
  use mpi
  use octavo
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  implicit none
  type(octavo_domain) :: domain
  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  type(octavo_error) :: error
  character(1000) :: store
  real(real64), target :: wide(3, 8), x(2) = [0.25_real64, 0.75_real64]
  real(real32), target :: single(8)
  integer(int64), target :: long(8), id(2) = [7_int64, 8_int64]
  integer(int32), target :: short(8)
  real(real64), allocatable :: r64(:)
  real(real32), allocatable :: r32(:)
  integer(int64), allocatable :: i64(:), levels(:)
  integer(int32), allocatable :: i32(:)
  logical, allocatable :: refined(:), owned(:)
  logical :: failed = .false.
  integer :: provided, rank, ierror, i, particles

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, store)
  wide = reshape([(real(i, real64), i=1, 24)], [3, 8])
  single = [(real(i)/2, i=1, 8)]
  long = [(i*10_int64**10, i=1, 8)]
  short = [(-i, i=1, 8)]
  particles = merge(2, 0, rank == 0)

  domain%roots = 2
  call writer%open(MPI_COMM_WORLD, store, domain)
  call writer%begin_step(octavo_checkpoint, 3, 1.5_real64)
  call writer%put_attribute('cycle', 17)
  call writer%put_attribute('dt', 0.5_real64)
  call writer%put_attribute('who', 'a test')
  call writer%put_mesh([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8))
  call writer%put_field('strided', wide(2, :), unit='cm')
  call writer%put_field('single', single)
  call writer%put_field('long', long)
  call writer%put_field('reversed', short(8:1:-1))
  call writer%put_particles('stars', 'position_x', x(:particles))
  call writer%put_particles('stars', 'position_y', x(:particles))
  call writer%put_particles('stars', 'position_z', x(:particles))
  call writer%put_particles('stars', 'id', id(:particles))
  call writer%end_step()
  call writer%wait()
  ! One rank's field is too short: all are told.
  call writer%begin_step(octavo_checkpoint, 4, 2.0_real64)
  call writer%put_mesh([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8))
  call writer%put_field('single', single(:merge(7, 8, rank == 0)))
  call writer%end_step(error)
  call expect(error%code == 2 .and. index(error%message, 'field single') > 0, 'an error on all ranks')
  call writer%close()

  call from%open(MPI_COMM_WORLD, store)
  call expect(from%found() .and. from%step() == 3 .and. from%time() == 1.5_real64, 'the newest step')
  call from%mesh(levels, refined, owned)
  call expect(all(levels == [8_int64]) .and. .not. any(refined) .and. (all(owned) .eqv. rank == 0), 'mesh')
  call from%field('strided', r64)
  call expect(all(r64 == wide(2, :)), 'strided')
  call from%field('single', r32)
  call expect(all(r32 == single), 'single')
  call from%field('long', i64)
  call expect(all(i64 == long), 'long')
  call from%field('reversed', i32)
  call expect(all(i32 == short(8:1:-1)), 'reversed')
  call from%particles('stars', 'id', i64)
  call expect(size(i64) == particles .and. all(i64 == id(:particles)), 'particles')
  call from%field('nothing', r64, error)
  call expect(error%code == 2, 'an unknown field')
  call from%free()
  call MPI_Finalize(ierror)
  if (failed) error stop 1

contains

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition) return
    print '(a, i0, 2a)', 'rank ', rank, ': not as expected: ', what
    failed = .true.
  end subroutine

end program octavo_test
