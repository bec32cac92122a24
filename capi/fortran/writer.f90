!> Steps of a store, written behind the run. See octavo.f90.
module octavo_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use octavo_arguments
  use octavo_pieces
  use octavo_steps
  use octavo_reading, only: octavo_restart
  implicit none
  private
  public :: octavo_writer

  type, extends(step_writer) :: octavo_writer
  contains
    procedure :: open => writer_open            !< collective: (comm, store, domain [, options, from, error, block, unfolded])
    procedure :: due                            !< logical (flow, step, time [, error]); ask at every step, on all ranks
    procedure :: begin_step                     !< (flow, step, time [, error])
    procedure :: put_triangles                  !< (x, y, triangles, global_point [, planes, global_triangle, error])
    procedure :: end_step                       !< collective ([error]); an error that names an earlier step says that
                                                !< that one failed: this step is taken all the same
    procedure :: wait => writer_wait            !< collective ([error])
    procedure :: statistics => writer_statistics  !< collective: allocates JSON (text [, error])
    procedure :: close => writer_close          !< collective ([error])
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_writer_options
    type(c_ptr) :: options = c_null_ptr, from = c_null_ptr
    integer(c_int64_t) :: block(3) = 1
    integer(c_int) :: unfolded = 0
  end type

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
    integer(c_int) function c_statistics(writer, text, size, error) bind(c, name='octavo_writer_statistics')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_writer_open(comm, store, domain, options, writer, error) &
        bind(c, name='octavo_fortran_writer_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*)
      type(c_domain), intent(in) :: domain
      type(c_writer_options), intent(in) :: options
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
    integer(c_int) function c_put_triangles(writer, mesh, error) bind(c, name='octavo_writer_put_triangles')
      import
      type(c_ptr), value :: writer
      type(c_series_mesh), intent(in) :: mesh
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

  subroutine writer_open(self, comm, store, domain, options, from, error, block, unfolded)
    class(octavo_writer), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_domain), intent(in) :: domain
    character(*), intent(in), optional :: options  !< a TOML file
    type(octavo_restart), intent(in), optional :: from  !< what this run continues
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: block(:)  !< values of a tree cell, as far as there are dimensions; boxes are whole blocks
    integer, intent(in), optional :: unfolded  !< boxes: their level 0 is that many levels below the roots. So the domain has
                                               !< cells of level 0 / (block * 2**unfolded) roots along each axis
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(kind=c_char), allocatable, target :: file(:)
    type(c_domain) :: in_c
    type(c_writer_options) :: chosen
    type(c_error) :: what
    in_c = domain_in_c(domain, code)
    if (present(from)) chosen%from = from%handle
    if (present(options)) file = text(options)
    if (present(options)) chosen%options = c_loc(file)
    if (present(block)) chosen%block(:size(block)) = int(block, c_int64_t)
    if (present(unfolded)) chosen%unfolded = int(unfolded, c_int)
    call check(c_writer_open(comm, text(store), in_c, chosen, self%handle, what), what, error)
  end subroutine

  subroutine begin_step(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_begin_step(self%handle, int(flow, c_int), int(step, c_int64_t), time, what), what, error)
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
