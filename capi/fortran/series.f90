!> SERAFIN and MED files of a run. See octavo.f90.
module octavo_series_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use octavo_arguments
  use octavo_pieces
  implicit none
  private
  public :: octavo_series

  !> One SERAFIN file, or MED where its name ends in .med, written by all ranks of a run on a distributed mesh of triangles, or of planes of them.
  type :: octavo_series
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => series_open            !< collective: see series_open
    procedure :: begin_step => series_begin_step  !< (time [, error])
    procedure :: put_field => series_put_field  !< (name, values [, error]); copied: the array may change right away
    procedure :: end_step => series_end_step    !< collective ([error])
    procedure :: finished => series_finished    !< collective: logical ([error]), nothing is in flight any more
    procedure :: wait => series_wait            !< collective ([error])
    procedure :: steps => series_steps          !< integer ([error]): whole ones in the file
    procedure :: close => series_close          !< collective ([error])
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_series_options
    integer(c_int) :: double_precision = 0, little_endian = 0
    type(c_ptr) :: title = c_null_ptr
    integer(c_int) :: dated = 0, date(6) = 0, origin(2) = 0, background = 1, sync = 1, writers = 0
    integer(c_int64_t) :: alignment = 4096
    integer(c_int) :: resume = 0
    real(c_double) :: resume_time = 0
    integer(c_int) :: ranks_per_node = 0, bound_thread = 0
  end type

  interface
    integer(c_int) function c_series_open(comm, path, variables, names, units, mesh, options, series, error) &
        bind(c, name='octavo_fortran_series_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: variables
      type(c_ptr), intent(in) :: names(*), units(*)
      type(c_series_mesh), intent(in) :: mesh
      type(c_series_options), intent(in) :: options
      type(c_ptr), intent(out) :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_begin_step(series, time, error) bind(c, name='octavo_series_begin_step')
      import
      type(c_ptr), value :: series
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_put(series, name, values, error) bind(c, name='octavo_fortran_series_put')
      import
      type(c_ptr), value :: series
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_end_step(series, error) bind(c, name='octavo_series_end_step')
      import
      type(c_ptr), value :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_finished(series, all, error) bind(c, name='octavo_series_finished')
      import
      type(c_ptr), value :: series
      integer(c_int), intent(out) :: all
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_wait(series, error) bind(c, name='octavo_series_wait')
      import
      type(c_ptr), value :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_steps(series, steps, error) bind(c, name='octavo_series_steps')
      import
      type(c_ptr), value :: series
      integer(c_int64_t), intent(out) :: steps
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_close(series, error) bind(c, name='octavo_series_close')
      import
      type(c_ptr), intent(inout) :: series
      type(c_error), intent(out) :: error
    end function
  end interface

contains

  !> Makes the file, or opens it to go on. Numbers count from 1, as TELEMAC's IKLE, KNOLG and IPOBO.
  subroutine series_open(self, comm, path, names, units, x, y, triangles, global_point, planes, global_triangle, boundary, &
                         geometry, double_precision, title, date, origin, background, sync, writers, alignment, &
                         resume_time, error, ranks_per_node, bound_thread)
    class(octavo_series), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in) :: names(:), units(:)         !< of the variables, up to 16 characters each
    real(real64), intent(in) :: x(:), y(:)                 !< points of this rank, of one plane
    integer, intent(in) :: triangles(:, :)                 !< (3, triangles): points of this rank
    integer, intent(in) :: global_point(:)                 !< number of each point in the file: KNOLG
    integer, intent(in), optional :: planes                !< 3-D: values stand plane after plane, from the bottom
    integer, intent(in), optional :: global_triangle(:)    !< numbers in the file; without: by their lowest point
    integer, intent(in), optional :: boundary(:)           !< IPOBO of each point: place on the boundary, or 0
    character(*), intent(in), optional :: geometry         !< a SERAFIN file of the whole mesh: IKLE, IPOBO, X, Y are its own
    logical, intent(in), optional :: double_precision
    character(*), intent(in), optional :: title            !< up to 72 characters
    integer, intent(in), optional :: date(6)               !< year, month, day, hour, minute, second
    integer, intent(in), optional :: origin(2)
    logical, intent(in), optional :: background, sync      !< .true.: not inside end_step; on disk before the file shows it
    integer, intent(in), optional :: writers, alignment    !< ranks that write (0: one a host); [bytes]
    real(real64), intent(in), optional :: resume_time      !< the file is there: go on behind the last step up to this time
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: ranks_per_node        !< hosts are imitated, so many ranks each
    logical, intent(in), optional :: bound_thread          !< the thread stays on the cores its rank is bound to
    character(kind=c_char), target :: in_names(len(names) + 1, size(names)), in_units(len(units) + 1, size(units))
    character(kind=c_char), allocatable, target :: first_line(:), file(:)
    integer(int32), allocatable, target :: on_boundary(:)
    type(piece_in_c), target :: held
    type(c_ptr) :: name_at(size(names)), unit_at(size(units))
    type(c_series_mesh) :: mesh
    type(c_series_options) :: options
    type(c_error) :: what
    call point_at(names, in_names, name_at)
    call point_at(units, in_units, unit_at)
    call hold_piece(held, mesh, x, y, triangles, global_point, planes, global_triangle)
    if (present(boundary)) then
      on_boundary = int(boundary, int32)
      mesh%boundary = c_loc(on_boundary)
    end if
    if (present(geometry)) then
      file = text(geometry)
      mesh%geometry = c_loc(file)
    end if
    if (present(double_precision)) options%double_precision = merge(1_c_int, 0_c_int, double_precision)
    if (present(title)) then
      first_line = text(title)
      options%title = c_loc(first_line)
    end if
    if (present(date)) then
      options%dated = 1
      options%date = int(date, c_int)
    end if
    if (present(origin)) options%origin = int(origin, c_int)
    if (present(background)) options%background = merge(1_c_int, 0_c_int, background)
    if (present(sync)) options%sync = merge(1_c_int, 0_c_int, sync)
    if (present(writers)) options%writers = int(writers, c_int)
    if (present(alignment)) options%alignment = int(alignment, c_int64_t)
    if (present(ranks_per_node)) options%ranks_per_node = int(ranks_per_node, c_int)
    if (present(bound_thread)) options%bound_thread = merge(1_c_int, 0_c_int, bound_thread)
    if (present(resume_time)) then
      options%resume = 1
      options%resume_time = resume_time
    end if
    call check(c_series_open(comm, text(path), size(names, kind=c_int), name_at, unit_at, mesh, options, self%handle, &
                             what), what, error)
  end subroutine

  subroutine series_begin_step(self, time, error)
    class(octavo_series), intent(in) :: self
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_begin_step(self%handle, time, what), what, error)
  end subroutine

  !> real64 or real32: (point), or (point, plane); any section is taken as it is.
  subroutine series_put_field(self, name, values, error)
    class(octavo_series), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_put(self%handle, text(name), values, what), what, error)
  end subroutine

  subroutine series_end_step(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_end_step(self%handle, what), what, error)
  end subroutine

  logical function series_finished(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int) :: all
    all = 0
    call check(c_series_finished(self%handle, all, what), what, error)
    series_finished = all /= 0
  end function

  subroutine series_wait(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_wait(self%handle, what), what, error)
  end subroutine

  integer function series_steps(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int64_t) :: steps
    steps = 0
    call check(c_series_steps(self%handle, steps, what), what, error)
    series_steps = int(steps)
  end function

  subroutine series_close(self, error)
    class(octavo_series), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_close(self%handle, what), what, error)
  end subroutine

end module octavo_series_writing
