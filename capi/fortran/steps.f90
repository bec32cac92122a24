!> What the writers of steps have in common: puts, and the ends of a step. See octavo.f90.
module octavo_steps
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use octavo_arguments
  implicit none
  private
  public :: step_writer

  !> Of a store, or (`native`) of FLASH and AMReX outputs.
  type :: step_writer
    type(c_ptr) :: handle = c_null_ptr  !< the library's own
    integer(c_int) :: native = 0
  contains
    procedure, private :: put_int, put_real, put_text, put_ints, put_reals, put_texts
    generic :: put_attribute => put_int, put_real, put_text, put_ints, put_reals, put_texts  !< (name, value [, error])
    procedure :: put_mesh                       !< (cells_of_level, refined, owned [, error])
    procedure :: put_boxes                      !< (domain, ratio, boxes_of_level, boxes [, error])
    procedure :: put_field                      !< (name, values [, unit, error, space, order])
    procedure :: put_faces                      !< (name, values, axis [, unit, error, space])
    procedure :: put_arrays                     !< (name, values, kind, ghost, stride [, unit, error, space])
    procedure :: put_particles                  !< (species, attribute, values [, error, space])
  end type

  ! ------------------------------------------------------------------ as C has it; a number of -1: not an array

  interface
    integer(c_int) function c_put_ints(native, writer, name, values, number, error) bind(c, name='octavo_fortran_put_ints')
      import
      integer(c_int), value :: native
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_doubles(native, writer, name, values, number, error) &
        bind(c, name='octavo_fortran_put_doubles')
      import
      integer(c_int), value :: native
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_texts(native, writer, name, values, number, error) bind(c, name='octavo_fortran_put_texts')
      import
      integer(c_int), value :: native
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_mesh(native, writer, levels, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_fortran_put_mesh')
      import
      integer(c_int), value :: native, levels
      type(c_ptr), value :: writer
      integer(c_int64_t), intent(in) :: cells_of_level(*)
      integer(c_int8_t), intent(in) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_boxes(native, writer, levels, domain, ratio, boxes_of_level, boxes, error) &
        bind(c, name='octavo_fortran_put_boxes')
      import
      integer(c_int), value :: native, levels
      type(c_ptr), value :: writer
      integer(c_int64_t), intent(in) :: domain(*), boxes_of_level(*), boxes(*)
      integer(c_int), intent(in) :: ratio(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_field(native, writer, name, unit, values, order, cells, space, error) &
        bind(c, name='octavo_fortran_put_field')
      import
      integer(c_int), value :: native, space
      integer(c_int64_t), value :: cells
      type(c_ptr), value :: writer, order
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_faces(native, writer, name, unit, axis, values, space, error) &
        bind(c, name='octavo_fortran_put_faces')
      import
      integer(c_int), value :: native, axis, space
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_arrays(native, writer, name, unit, kind, values, number, ghost, stride, space, error) &
        bind(c, name='octavo_fortran_put_arrays')
      import
      integer(c_int), value :: native, kind, ghost, space
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number, stride
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_particles(native, writer, species, attribute, values, space, error) &
        bind(c, name='octavo_fortran_put_particles')
      import
      integer(c_int), value :: native, space
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
  end interface

contains

  subroutine put_int(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_ints(self%native, self%handle, text(name), [int(value, c_int64_t)], -1_c_int64_t, what), what, error)
  end subroutine

  subroutine put_real(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_doubles(self%native, self%handle, text(name), [value], -1_c_int64_t, what), what, error)
  end subroutine

  subroutine put_ints(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_ints(self%native, self%handle, text(name), int(value, c_int64_t), size(value, kind=c_int64_t), what), &
               what, error)
  end subroutine

  subroutine put_reals(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_doubles(self%native, self%handle, text(name), value, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_text(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name, value
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: in_c(len_trim(value) + 1)
    type(c_error) :: what
    in_c = text(value)
    call check(c_put_texts(self%native, self%handle, text(name), [c_loc(in_c)], -1_c_int64_t, what), what, error)
  end subroutine

  subroutine put_texts(self, name, value, error)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)  !< without their trailing blanks
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr) :: first(size(value))
    type(c_error) :: what
    call point_at(value, texts, first)
    call check(c_put_texts(self%native, self%handle, text(name), first, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_mesh(self, cells_of_level, refined, owned, error)
    class(step_writer), intent(in) :: self
    integer(int64), intent(in) :: cells_of_level(:)
    logical, intent(in) :: refined(:), owned(:)  !< of all levels, one after another
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_mesh(self%native, self%handle, size(cells_of_level, kind=c_int), cells_of_level, &
                          merge(1_c_int8_t, 0_c_int8_t, refined), merge(1_c_int8_t, 0_c_int8_t, owned), what), what, error)
  end subroutine

  !> Boxes of this rank, as AMReX has them. In a store they, and the coarse cells under finer ones, are made of whole blocks.
  subroutine put_boxes(self, domain, ratio, boxes_of_level, boxes, error)
    class(step_writer), intent(in) :: self
    integer(int64), intent(in) :: domain(:, :, :)    !< (3, 2, levels): first cell and the one after the last, from 0
    integer, intent(in) :: ratio(:)                  !< of each level to the next
    integer(int64), intent(in) :: boxes_of_level(:)  !< of this rank
    integer(int64), intent(in) :: boxes(:, :, :)     !< (3, 2, boxes), level after level
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_boxes(self%native, self%handle, size(boxes_of_level, kind=c_int), domain, int(ratio, c_int), &
                           boxes_of_level, boxes, what), what, error)
  end subroutine

  !> real64 or real32, in a store also int64 or int32. Of a tree: (x, y, z, cell) as far as there are dimensions, or (cell)
  !> without blocks; of boxes: (cell) of all boxes, one after another. Any section is taken as it is:
  !> unk(1, 5:12, 5:12, 1, :) leaves its ghosts away.
  subroutine put_field(self, name, values, unit, error, space, order)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    integer, intent(in), optional :: order(:)  !< of each tree cell which cell of `values` it is, from 1; 0: none
    integer(c_int64_t), allocatable, target :: places(:)
    type(c_ptr) :: first
    type(c_error) :: what
    first = c_null_ptr
    allocate (places(1))
    if (present(order)) then
      places = [int(order, c_int64_t) - 1, -1_c_int64_t]  ! one more: what has no element has no address
      first = c_loc(places)
    end if
    call check(c_put_field(self%native, self%handle, text(name), unit_in_c(unit), values, first, &
                           size(places, kind=c_int64_t) - 1, space_in_c(space), what), what, error)
  end subroutine

  !> Of a tree: a face variable. One value more along its axis (1, 2 or 3), otherwise as put_field:
  !> facevarx(1, 5:13, 5:12, 1, :) of blocks of 8 x 8 has axis 1. In a store it is the fields NAME_left and NAME_right.
  subroutine put_faces(self, name, values, axis, unit, error, space)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    integer, intent(in) :: axis
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_error) :: what
    call check(c_put_faces(self%native, self%handle, text(name), unit_in_c(unit), int(axis - 1, c_int), values, &
                           space_in_c(space), what), what, error)
  end subroutine

  !> Of boxes whose arrays lie anywhere: c_loc of each one's first element, ghosts included.
  subroutine put_arrays(self, name, values, kind, ghost, stride, unit, error, space)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: values(:)
    integer, intent(in) :: kind    !< of the elements: real64 or real32
    integer, intent(in) :: ghost   !< cells more on each side along each dimension
    integer, intent(in) :: stride  !< elements from one value to the next: 1, or the number of variables that stand together
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_error) :: what
    call check(c_put_arrays(self%native, self%handle, text(name), unit_in_c(unit), merge(float64, float32, kind == real64), &
                            values, size(values, kind=c_int64_t), int(ghost, c_int), int(stride, c_int64_t), &
                            space_in_c(space), what), what, error)
  end subroutine

  !> One value a particle; reals and integers of 32 and 64 bits.
  subroutine put_particles(self, species, attribute, values, error, space)
    class(step_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_error) :: what
    call check(c_put_particles(self%native, self%handle, text(species), text(attribute), values, space_in_c(space), what), &
               what, error)
  end subroutine

  function unit_in_c(unit) result(out)
    character(*), intent(in), optional :: unit
    character(kind=c_char), allocatable :: out(:)
    out = [c_null_char]
    if (present(unit)) out = text(unit)
  end function

  integer(c_int) function space_in_c(space)
    integer, intent(in), optional :: space
    space_in_c = host
    if (present(space)) space_in_c = int(space, c_int)
  end function

end module octavo_steps
