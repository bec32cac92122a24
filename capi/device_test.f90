! Run by ctest on several ranks, linked with the stand-in for CUDA's driver: arrays in device memory. Prints nothing but
! what is wrong.
program device_test
  use mpi
  use octavo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  interface
    integer(c_int) function allocate_on_device(pointer, bytes) bind(c, name='cuMemAlloc_v2')
      import
      integer(c_intptr_t), intent(out) :: pointer
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function create_stream(stream, flags) bind(c, name='cuStreamCreate')
      import
      type(c_ptr), intent(out) :: stream
      integer(c_int), value :: flags
    end function
    integer(c_int) function kernel(stream, device, from, bytes) bind(c, name='standin_kernel')
      import
      type(c_ptr), value :: stream, device, from
      integer(c_size_t), value :: bytes
    end function
    integer(c_int) function poke(device, from, bytes) bind(c, name='standin_poke')
      import
      type(c_ptr), value :: device, from
      integer(c_size_t), value :: bytes
    end function
  end interface
  type(octavo_domain) :: domain
  type(octavo_target) :: to
  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  type(octavo_error) :: error
  type(c_ptr) :: stream, wide_there, x_there
  real(real64), target :: wide(3, 8), other(24) = -1, x(2) = [0.25_real64, 0.75_real64]
  real(real64), pointer :: wide_device(:, :), x_device(:)
  real(real64), allocatable :: r64(:)
  character(1000) :: store
  integer :: provided, rank, ierror, i, particles

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, store)
  wide = reshape([(real(i, real64), i=1, 24)], [3, 8])
  particles = merge(2, 0, rank == 0)
  call expect(create_stream(stream, 1_c_int) == 0, 'a stream')
  wide_there = on_device(c_loc(wide), 24 * 8_c_size_t)
  x_there = on_device(c_loc(x), 2 * 8_c_size_t)
  call c_f_pointer(wide_there, wide_device, [3, 8])
  call c_f_pointer(x_there, x_device, [2])

  domain%roots = 2
  to%path = trim(store)
  call writer%open(MPI_COMM_WORLD, to, domain)
  call begin(1)
  call writer%put_field('strided', wide_device(2, :), space=octavo_device, stream=stream)
  call writer%put_field('reversed', wide_device(3, 8:1:-1), space=octavo_device, stream=stream)
  call writer%put_particles('stars', 'mass', x_device(:particles), space=octavo_device, stream=stream)
  call writer%end_step()
  call expect(poke(wide_there, c_loc(other), 24 * 8_c_size_t) == 0, 'arrays change')
  call begin(2)
  if (rank == 0) then
    call writer%put_field('strided', wide_device(2, :))
  else
    call writer%put_field('strided', wide(2, :))
  end if
  call writer%end_step(error)
  call expect(error%code == 2 .and. index(error%message, 'field strided') > 0 .and. &
              index(error%message, 'lies in device memory') > 0, 'a device array given as host')
  call begin(3)
  call writer%put_field('strided', wide(2, :), error=error, space=7)
  call writer%end_step(error)
  call expect(error%code == 2 .and. index(error%message, 'space: expected 0 or 1, found 7') > 0, 'no such space')
  call writer%close()

  call from%open(MPI_COMM_WORLD, store)
  call from%get_field('strided', r64)
  call expect(all(r64 == wide(2, :)), 'strided')
  call from%get_field('reversed', r64)
  call expect(all(r64 == wide(3, 8:1:-1)), 'reversed')
  call from%get_particles('stars', 'mass', r64)
  call expect(size(r64) == particles .and. all(r64 == x(:particles)), 'particles')
  call from%free()
  call MPI_Finalize(ierror)

contains
  subroutine begin(step)
    integer, intent(in) :: step
    call writer%begin_step(octavo_checkpoint, step, 0.5_real64)
    call writer%put_tree(octavo_tree([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8)))
  end subroutine

  !> A copy in device memory, whose values come late, on the stream.
  type(c_ptr) function on_device(host, bytes) result(there)
    type(c_ptr), intent(in) :: host
    integer(c_size_t), intent(in) :: bytes
    integer(c_intptr_t) :: pointer
    call expect(allocate_on_device(pointer, bytes) == 0, 'device memory')
    there = transfer(pointer, there)
    call expect(kernel(stream, there, host, bytes) == 0, 'a kernel')
  end function

  subroutine expect(is_so, what)
    logical, intent(in) :: is_so
    character(*), intent(in) :: what
    if (is_so) return
    print '(2a)', 'wrong: ', what
    if (allocated(error%message)) print '(a)', error%message
    error stop 1
  end subroutine
end program
