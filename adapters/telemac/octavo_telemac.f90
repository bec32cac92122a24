!> TELEMAC's results, written by all ranks into one file each while TELEMAC computes on (README.md).
!>
!> The linker's option --wrap=NAME_ makes TELEMAC call __wrap_NAME_ in the place of NAME, a procedure of hermes, its library
!> of formats; __real_NAME_ is hermes' own. So Octavo is one more format to every module of TELEMAC, and no source of
!> TELEMAC changes. The lengths of texts stand behind the other arguments, as compilers pass them.
module octavo_telemac
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit
  use mpi, only: MPI_COMM_WORLD
  use octavo_telemac_mpi, only: rank, ranks, setting, count_time
  use octavo, only: octavo_writer, octavo_target, octavo_serafin, octavo_med
  implicit none
  private
  public :: result_file, is_ours  ! for octavo_telemac_groups.f90

  interface
    module subroutine open_mesh(fformat, name, id, mode, ierr, part, format_length, name_length, mode_length) &
        bind(c, name='__wrap_open_mesh_')
      character(c_char), intent(inout) :: fformat(8)
      character(c_char), intent(in) :: name(*), mode(9)
      integer(c_int), intent(out) :: id, ierr
      type(c_ptr), value :: part
      integer(c_size_t), value :: format_length, name_length, mode_length
    end subroutine
    module subroutine set_header(fformat, id, title, nvar, names, ierr, format_length, title_length, name_length) &
        bind(c, name='__wrap_set_header_')
      character(c_char), intent(in) :: fformat(8), title(80), names(32, *)
      integer(c_int), intent(in) :: id, nvar
      integer(c_int), intent(out) :: ierr
      integer(c_size_t), value :: format_length, title_length, name_length
    end subroutine
    module subroutine set_mesh(fformat, id, dim, typelm, ndp, nptfr, nptir, nelem, npoin, ikle, ipobo, knolg, x, y, nplan, &
                               date, time, x_orig, y_orig, ierr, z, in_place, format_length) bind(c, name='__wrap_set_mesh_')
      character(c_char), intent(in) :: fformat(8)
      integer(c_int), intent(in) :: id, npoin, knolg(*), nplan, date(3), time(3)
      type(c_ptr), value :: dim, typelm, ndp, nptfr, nptir, nelem, ikle, ipobo, x_orig, y_orig, z, in_place
      real(c_double), intent(in) :: x(*), y(*)
      integer(c_int), intent(out) :: ierr
      integer(c_size_t), value :: format_length
    end subroutine
    module subroutine add_data(fformat, id, name, time, record, first, values, n, ierr, format_length, name_length) &
        bind(c, name='__wrap_add_data_')
      character(c_char), intent(in) :: fformat(8), name(32)
      integer(c_int), intent(in) :: id, record, first, n
      real(c_double), intent(in) :: time, values(*)
      integer(c_int), intent(out) :: ierr
      integer(c_size_t), value :: format_length, name_length
    end subroutine
    module subroutine close_bnd(fformat, id, ierr, part, format_length) bind(c, name='__wrap_close_bnd_')
      character(c_char), intent(in) :: fformat(8)
      integer(c_int), intent(in) :: id
      integer(c_int), intent(out) :: ierr
      type(c_ptr), value :: part
      integer(c_size_t), value :: format_length
    end subroutine
    module subroutine close_mesh(fformat, id, ierr, part, format_length) bind(c, name='__wrap_close_mesh_')
      character(c_char), intent(in) :: fformat(8)
      integer(c_int), intent(in) :: id
      integer(c_int), intent(out) :: ierr
      type(c_ptr), value :: part
      integer(c_size_t), value :: format_length
    end subroutine
    module subroutine transfer_group_info(fformat, from, id, typelm, typelm_bnd, ikle_bnd, nelebd, ndp, of_elements, of_points, &
                                          ierr, format_length) bind(c, name='__wrap_transfer_group_info_')
      character(c_char), intent(in) :: fformat(8)
      integer(c_int), intent(in) :: id
      type(c_ptr), value :: from, typelm, typelm_bnd, ikle_bnd, nelebd, ndp, of_elements, of_points
      integer(c_int), intent(out) :: ierr
      integer(c_size_t), value :: format_length
    end subroutine
  end interface

  procedure(open_mesh), bind(c, name='__real_open_mesh_') :: hermes_open_mesh
  procedure(set_header), bind(c, name='__real_set_header_') :: hermes_set_header
  procedure(set_mesh), bind(c, name='__real_set_mesh_') :: hermes_set_mesh
  procedure(add_data), bind(c, name='__real_add_data_') :: hermes_add_data
  procedure(close_bnd), bind(c, name='__real_close_bnd_') :: hermes_close_bnd
  procedure(close_mesh), bind(c, name='__real_close_mesh_') :: hermes_close_mesh

  !> A result that Octavo writes.
  type :: result_file
    character(:), allocatable :: path
    character(72) :: title
    character(80), allocatable :: variables(:, :)    !< (2, n): name and unit
    integer :: put = 0                               !< variables of the step that is being written
    integer :: steps = 0
    type(octavo_writer) :: writer
  end type

  integer, parameter :: most_files = 32, first_id = 1000000  !< hermes' own files have numbers of Fortran's units
  type(result_file), target :: files(most_files)
  integer :: num_files = 0

contains

  module procedure open_mesh
    character(:), allocatable :: path
    path = text(name(:name_length))
    ierr = 0
    if (ranks == 0 .and. text(mode(:5)) == 'READ') call end_if_merged(path)
    if (text(mode(:5)) == 'WRITE' .and. result_of(path) /= '') then
      call add_file(path, id)
    else
      call hermes_open_mesh(fformat, name, id, mode, ierr, part, format_length, name_length, mode_length)
    end if
  end procedure

  module procedure set_header
    type(result_file), pointer :: file
    integer :: i
    ierr = 0
    if (.not. is_ours(id, file)) then
      call hermes_set_header(fformat, id, title, nvar, names, ierr, format_length, title_length, name_length)
      return
    end if
    file%title = text(title(:72))
    allocate (file%variables(2, nvar))
    do i = 1, nvar
      file%variables(1, i) = text(names(:16, i))
      file%variables(2, i) = text(names(17:, i))
    end do
  end procedure

  module procedure set_mesh
    type(result_file), pointer :: file
    ierr = 0
    call count_time(-1)
    if (is_ours(id, file)) then
      call open_writer(file, text(fformat), npoin/max(nplan, 1), max(nplan, 1), knolg, x, y, [date, time])
    else
      call hermes_set_mesh(fformat, id, dim, typelm, ndp, nptfr, nptir, nelem, npoin, ikle, ipobo, knolg, x, y, nplan, date, &
                           time, x_orig, y_orig, ierr, z, in_place, format_length)
    end if
    call count_time(1)
  end procedure

  module procedure add_data
    type(result_file), pointer :: file
    ierr = 0
    call count_time(-1)
    if (is_ours(id, file)) then
      if (record /= file%steps) call fail(file%path//': steps are not written one after another')
      if (first /= 0) call file%writer%begin_step(time)
      file%put = merge(1, file%put + 1, first /= 0)
      call file%writer%put_field(text(name(:16)), values(:n))
      if (file%put == size(file%variables, 2)) then
        call file%writer%end_step()
        file%steps = file%steps + 1
      end if
    else
      call hermes_add_data(fformat, id, name, time, record, first, values, n, ierr, format_length, name_length)
    end if
    call count_time(1)
  end procedure

  module procedure close_bnd
    type(result_file), pointer :: file
    ierr = 0
    if (.not. is_ours(id, file)) call hermes_close_bnd(fformat, id, ierr, part, format_length)
  end procedure

  module procedure close_mesh
    type(result_file), pointer :: file
    ierr = 0
    call count_time(-1)
    if (is_ours(id, file)) then
      call file%writer%close()
    else
      call hermes_close_mesh(fformat, id, ierr, part, format_length)
    end if
    call count_time(1)
  end procedure

  !> Whether OCTAVO_TELEMAC has TELEMAC's name of this result in its list, or says all.
  logical function chosen(path)
    character(*), intent(in) :: path
    character(:), allocatable :: list
    list = ' '//trim(setting('OCTAVO_TELEMAC'))//' '
    chosen = index(list, ' '//path(index(path, '/', back=.true.) + 1:)//' ') > 0 .or. index(list, ' all ') > 0
  end function

  !> The name of a chosen result, without the ending of this rank's piece (00003-00001), which a file of one rank lacks; or ''.
  function result_of(path) result(whole)
    character(*), intent(in) :: path
    character(:), allocatable :: whole
    character(11) :: ending
    integer :: length
    whole = ''
    length = len(path)
    if (ranks > 1) then
      write (ending, '(i5.5,"-",i5.5)') ranks - 1, rank
      length = len(path) - len(ending)
      if (length < 1 .or. index(path, ending, back=.true.) /= length + 1) return
    end if
    if (ranks > 0 .and. chosen(path(:length))) whole = path(:length)
  end function

  !> gretel, which starts no MPI, finds no pieces of a result that was written whole: its work is done.
  subroutine end_if_merged(path)
    character(*), intent(in) :: path
    integer :: length
    logical :: has_pieces, is_whole
    length = len(path) - 11
    if (length < 1) return
    if (path(length + 6:length + 6) /= '-' .or. verify(path(length + 1:), '0123456789-') > 0) return
    inquire (file=path, exist=has_pieces)
    inquire (file=path(:length), exist=is_whole)
    if (has_pieces .or. .not. (is_whole .and. chosen(path(:length)))) return
    print '(a)', ' octavo: '//path(:length)//' is whole, nothing is to be merged'
    stop
  end subroutine

  logical function is_ours(id, file)
    integer, intent(in) :: id
    type(result_file), pointer, intent(out) :: file
    is_ours = id > first_id
    file => files(max(1, id - first_id))
  end function

  !> Files of an earlier run go, as TELEMAC would have written over them: gretel would merge old pieces.
  subroutine add_file(path, id)
    character(*), intent(in) :: path
    integer, intent(out) :: id
    if (num_files == most_files) call fail(path//': more than 32 results')
    num_files = num_files + 1
    id = first_id + num_files
    files(num_files)%path = result_of(path)
    call remove(path)
    if (rank == 0) call remove(files(num_files)%path)
  end subroutine

  subroutine open_writer(file, fformat, points, planes, knolg, x, y, date)
    type(result_file), intent(inout) :: file
    character(*), intent(in) :: fformat
    integer, intent(in) :: points, planes, knolg(*), date(6)
    real(c_double), intent(in) :: x(*), y(*)
    type(octavo_target) :: target
    integer :: i
    select case (fformat)
    case ('SERAFIN', 'SERAFIND')
      target%kind = octavo_serafin
    case ('MED')
      target%kind = octavo_med
    case default
      call fail(file%path//': format '//fformat//' is not written by adapters/telemac')
    end select
    target%path = file%path
    target%title = file%title
    target%variables = file%variables
    target%double_precision = fformat /= 'SERAFIN'  ! TELEMAC reads no other MED
    target%sync = .false.  ! as TELEMAC itself
    target%writers = number('OCTAVO_TELEMAC_WRITERS')
    if (any(date /= 0)) target%date = date
    target%mesh%planes = planes
    target%mesh%x = x(:points)
    target%mesh%y = y(:points)
    allocate (target%mesh%triangles(3, 0))  ! the geometry has them, in the order of the whole mesh
    target%mesh%global_point = knolg(:points)
    if (ranks == 1) target%mesh%global_point = [(i, i=1, points)]
    target%mesh%geometry = file%path(:len(file%path) - 3)//'GEO'
    call file%writer%open(MPI_COMM_WORLD, target)
  end subroutine

  !> A number in the environment; 0 without it.
  integer function number(name)
    character(*), intent(in) :: name
    character(:), allocatable :: value
    integer :: ios
    number = 0
    value = trim(setting(name))
    if (value == '') return
    read (value, *, iostat=ios) number
    if (ios /= 0 .or. number < 0) call fail(name//': expected a number, found '//value)
  end function

  function text(characters) result(out)
    character(c_char), intent(in) :: characters(:)
    character(:), allocatable :: out
    out = trim(transfer(characters, repeat(' ', size(characters))))
  end function

  subroutine remove(path)
    character(*), intent(in) :: path
    integer :: unit, ios
    open (newunit=unit, file=path, status='old', iostat=ios)
    if (ios == 0) close (unit, status='delete')
  end subroutine

  subroutine fail(message)
    character(*), intent(in) :: message
    write (error_unit, '(a)') 'octavo: '//message
    error stop 1
  end subroutine

end module octavo_telemac
