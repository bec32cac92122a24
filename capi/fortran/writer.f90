!> Steps of a store, written behind the run. See octavo.f90.
module octavo_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use octavo_arguments
  use octavo_pieces
  use octavo_reading, only: octavo_restart
  implicit none
  private
  public :: octavo_writer

  type :: octavo_writer
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => writer_open            !< collective: (comm, store, domain [, options, from, error])
    procedure :: due                            !< logical (flow, step, time [, error]); ask at every step, on all ranks
    procedure :: begin_step                     !< (flow, step, time [, error])
    procedure, private :: put_int, put_real, put_text, put_ints, put_reals, put_texts
    generic :: put_attribute => put_int, put_real, put_text, put_ints, put_reals, put_texts  !< (name, value [, error])
    procedure :: put_mesh                       !< (cells_of_level, refined, owned [, error])
    procedure :: put_triangles                  !< (x, y, triangles, global_point [, planes, global_triangle, error])
    procedure :: put_field                      !< (name, values [, unit, error, space])
    procedure :: put_particles                  !< (species, attribute, values [, error, space])
    procedure :: end_step                       !< collective ([error])
    procedure :: wait => writer_wait            !< collective ([error])
    procedure :: statistics => writer_statistics  !< collective: allocates JSON (text [, error])
    procedure :: close => writer_close          !< collective ([error])
  end type

  ! ------------------------------------------------------------------ as C has it

  interface
    integer(c_int) function c_due(writer, flow, step, time, is_due, error) bind(c, name='octavo_writer_due')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      integer(c_int), intent(out) :: is_due
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_ints(writer, name, values, number, error) bind(c, name='octavo_writer_put_ints')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_doubles(writer, name, values, number, error) bind(c, name='octavo_writer_put_doubles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_texts(writer, name, values, number, error) bind(c, name='octavo_writer_put_texts')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_statistics(writer, text, size, error) bind(c, name='octavo_writer_statistics')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_writer_open(comm, store, domain, options, from, writer, error) &
        bind(c, name='octavo_fortran_writer_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*), options(*)
      type(c_domain), intent(in) :: domain
      type(c_ptr), value :: from
      type(c_ptr), intent(out) :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_begin_step(writer, flow, step, time, error) bind(c, name='octavo_writer_begin_step')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_int(writer, name, number, error) bind(c, name='octavo_writer_put_int')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_double(writer, name, number, error) bind(c, name='octavo_writer_put_double')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_text(writer, name, text, error) bind(c, name='octavo_writer_put_text')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), text(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_triangles(writer, mesh, error) bind(c, name='octavo_writer_put_triangles')
      import
      type(c_ptr), value :: writer
      type(c_series_mesh), intent(in) :: mesh
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_mesh(writer, levels, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_writer_put_mesh')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: cells_of_level(*)
      integer(c_int8_t), intent(in) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_field(writer, name, unit, values, space, error) &
        bind(c, name='octavo_fortran_writer_put_field')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(*), intent(in) :: values(..)
      integer(c_int), value :: space
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_particles(writer, species, attribute, values, space, error) &
        bind(c, name='octavo_fortran_writer_put_particles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(in) :: values(..)
      integer(c_int), value :: space
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_end_step(writer, error) bind(c, name='octavo_writer_end_step')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_wait(writer, error) bind(c, name='octavo_writer_wait')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_close(writer, error) bind(c, name='octavo_writer_close')
      import
      type(c_ptr), intent(inout) :: writer
      type(c_error), intent(out) :: error
    end function
  end interface

contains

  subroutine writer_open(self, comm, store, domain, options, from, error)
    class(octavo_writer), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_domain), intent(in) :: domain
    character(*), intent(in), optional :: options  !< a TOML file
    type(octavo_restart), intent(in), optional :: from  !< what this run continues
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(:), allocatable :: file
    type(c_domain) :: in_c
    type(c_error) :: what
    type(c_ptr) :: resumed
    in_c = domain_in_c(domain, code)
    resumed = c_null_ptr
    if (present(from)) resumed = from%handle
    file = ''
    if (present(options)) file = options
    call check(c_writer_open(comm, text(store), in_c, text(file), resumed, self%handle, what), what, error)
  end subroutine

  subroutine begin_step(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_begin_step(self%handle, int(flow, c_int), int(step, c_int64_t), time, what), what, error)
  end subroutine

  subroutine put_int(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_int(self%handle, text(name), int(value, c_int64_t), what), what, error)
  end subroutine

  subroutine put_real(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_double(self%handle, text(name), value, what), what, error)
  end subroutine

  subroutine put_text(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name, value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_text(self%handle, text(name), text(value), what), what, error)
  end subroutine

  subroutine put_ints(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_ints(self%handle, text(name), int(value, c_int64_t), size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_reals(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_texts(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)  !< without their trailing blanks
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr) :: first(size(value))
    type(c_error) :: what
    call point_at(value, texts, first)
    call check(c_put_texts(self%handle, text(name), first, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  logical function due(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    integer(c_int) :: is_due
    type(c_error) :: what
    is_due = 0
    call check(c_due(self%handle, int(flow, c_int), int(step, c_int64_t), time, is_due, what), what, error)
    due = is_due /= 0
  end function

  subroutine writer_statistics(self, json, error)
    class(octavo_writer), intent(in) :: self
    character(:), allocatable, intent(out) :: json
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char) :: in_c(2048)
    type(c_error) :: what
    in_c = c_null_char
    call check(c_statistics(self%handle, in_c, size(in_c, kind=c_size_t), what), what, error)
    json = from_c(in_c)
  end subroutine

  !> This rank's piece of a mesh of triangles, maybe without points, on every rank. Numbers count from 1. Fields then
  !> have a value a point, plane after plane, as put_field takes arrays of one dimension.
  subroutine put_triangles(self, x, y, triangles, global_point, planes, global_triangle, error)
    class(octavo_writer), intent(in) :: self
    real(real64), intent(in) :: x(:), y(:)               !< points of this rank, of one plane
    integer, intent(in) :: triangles(:, :)               !< (3, triangles): points of this rank
    integer, intent(in) :: global_point(:)               !< number of each point in the whole mesh
    integer, intent(in), optional :: planes              !< 3-D: values stand plane after plane, from the bottom
    integer, intent(in), optional :: global_triangle(:)  !< numbers in the whole mesh; without: by their lowest point
    type(octavo_error), intent(inout), optional :: error
    type(piece_in_c), target :: held
    type(c_series_mesh) :: mesh
    type(c_error) :: what
    call hold_piece(held, mesh, x, y, triangles, global_point, planes, global_triangle)
    call check(c_put_triangles(self%handle, mesh, what), what, error)
  end subroutine

  subroutine put_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_writer), intent(in) :: self
    integer(int64), intent(in) :: cells_of_level(:)
    logical, intent(in) :: refined(:), owned(:)  !< of all levels, one after another
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_mesh(self%handle, size(cells_of_level, kind=c_int), cells_of_level, &
                          merge(1_c_int8_t, 0_c_int8_t, refined), merge(1_c_int8_t, 0_c_int8_t, owned), what), what, error)
  end subroutine

  !> `values`: one value a tree cell, real64, real32, int64 or int32; any stride.
  subroutine put_field(self, name, values, unit, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_put_field(self%handle, text(name), text(in_units), values, space_in_c(space), what), what, error)
  end subroutine

  subroutine put_particles(self, species, attribute, values, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_error) :: what
    call check(c_put_particles(self%handle, text(species), text(attribute), values, space_in_c(space), what), what, error)
  end subroutine

  integer(c_int) function space_in_c(space)
    integer, intent(in), optional :: space
    space_in_c = host
    if (present(space)) space_in_c = int(space, c_int)
  end function

  subroutine end_step(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_end_step(self%handle, what), what, error)
  end subroutine

  subroutine writer_wait(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_wait(self%handle, what), what, error)
  end subroutine

  subroutine writer_close(self, error)
    class(octavo_writer), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_close(self%handle, what), what, error)
  end subroutine

end module octavo_writing
