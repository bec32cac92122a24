!> FLASH and AMReX outputs of a run. See octavo.f90.
module octavo_native_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use octavo_arguments
  implicit none
  private
  public :: octavo_native_writer

  !> FLASH and AMReX outputs written by all ranks; a step is a file or a directory of its own.
  type :: octavo_native_writer
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => native_open            !< collective: (comm, domain, format [, block, background, sync, collect,
                                                !<  files, max_box, title, multifab, error])
    procedure :: begin_step => native_begin_step  !< (path, step, time [, error])
    procedure, private :: native_put_int, native_put_real, native_put_text, native_put_ints, native_put_reals, native_put_texts
    generic :: put_attribute => native_put_int, native_put_real, native_put_text, native_put_ints, native_put_reals, &
      native_put_texts                          !< (name, value [, error])
    procedure :: put_mesh => native_put_mesh    !< (cells_of_level, refined, owned [, error])
    procedure :: put_boxes => native_put_boxes  !< (domain, ratio, boxes_of_level, boxes [, error])
    procedure :: put_field => native_put_field  !< (name, values [, unit, error])
    procedure :: put_faces => native_put_faces  !< (name, values, axis [, unit, error])
    procedure :: put_arrays => native_put_arrays  !< (name, values, kind, ghost, stride [, unit, error])
    procedure :: put_particles => native_put_particles  !< (species, attribute, values [, error])
    procedure :: end_step => native_end_step    !< collective ([error])
    procedure :: finished => native_finished    !< collective: logical ([error]), nothing is in flight any more
    procedure :: wait => native_wait            !< collective ([error])
    procedure :: close => native_close          !< collective ([error])
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_native_options
    integer(c_int) :: format
    integer(c_int64_t) :: block(3)
    integer(c_int) :: background, sync, checksums, collect, files
    integer(c_int64_t) :: max_box
    type(c_ptr) :: title, multifab
  end type

  interface
    integer(c_int) function c_native_open(comm, domain, options, writer, error) &
        bind(c, name='octavo_fortran_native_open')
      import
      integer(c_int), intent(in) :: comm
      type(c_domain), intent(in) :: domain
      type(c_native_options), intent(in) :: options
      type(c_ptr), intent(out) :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_begin_step(writer, path, step, time, error) &
        bind(c, name='octavo_native_begin_step')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_int(writer, name, number, error) &
        bind(c, name='octavo_native_put_int')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_double(writer, name, number, error) &
        bind(c, name='octavo_native_put_double')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_text(writer, name, text, error) &
        bind(c, name='octavo_native_put_text')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), text(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_ints(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_ints')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_doubles(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_doubles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_texts(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_texts')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_mesh(writer, levels, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_native_put_mesh')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: cells_of_level(*)
      integer(c_int8_t), intent(in) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_boxes(writer, levels, domain, ratio, boxes_of_level, boxes, error) &
        bind(c, name='octavo_native_put_boxes')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: domain(*), boxes_of_level(*), boxes(*)
      integer(c_int), intent(in) :: ratio(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_array(writer, name, unit, values, error) &
        bind(c, name='octavo_fortran_native_put_field')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_faces(writer, name, unit, axis, values, error) &
        bind(c, name='octavo_fortran_native_put_faces')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: axis
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_arrays(writer, name, unit, kind, values, number, ghost, stride, space, error) &
        bind(c, name='octavo_native_put_arrays')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: kind, ghost, space
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number, stride
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_particles(writer, species, attribute, values, error) &
        bind(c, name='octavo_fortran_native_put_particles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_end_step(writer, error) &
        bind(c, name='octavo_native_end_step')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_finished(writer, all, error) &
        bind(c, name='octavo_native_finished')
      import
      type(c_ptr), value :: writer
      integer(c_int), intent(out) :: all
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_wait(writer, error) &
        bind(c, name='octavo_native_wait')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_close(writer, error) &
        bind(c, name='octavo_native_close')
      import
      type(c_ptr), intent(inout) :: writer
      type(c_error), intent(out) :: error
    end function
  end interface

contains

  subroutine native_open(self, comm, domain, format, block, background, sync, collect, files, max_box, title, multifab, error)
    class(octavo_native_writer), intent(inout) :: self
    integer, intent(in) :: comm
    type(octavo_domain), intent(in) :: domain
    integer, intent(in) :: format                     !< octavo_flash, octavo_amrex_plotfile or octavo_amrex_checkpoint
    integer, intent(in), optional :: block(:)         !< values of a tree cell: nxb, nyb, nzb as far as there are dimensions
    logical, intent(in), optional :: background, sync !< .true.: not inside end_step; on disk when it has its name
    logical, intent(in), optional :: collect          !< FLASH, .false.: rank 0 alone writes
    integer, intent(in), optional :: files, max_box   !< AMReX: data files a level, longest box of a tree
    character(*), intent(in), optional :: title, multifab  !< AMReX checkpoint
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(kind=c_char), allocatable, target :: first_line(:), name(:)
    type(c_domain) :: in_c
    type(c_native_options) :: options
    type(c_error) :: what
    in_c = domain_in_c(domain, code)
    options = c_native_options(int(format, c_int), 1_c_int64_t, 1, 1, 1, 0, 0, 64_c_int64_t, c_null_ptr, c_null_ptr)
    if (present(block)) options%block(:size(block)) = int(block, c_int64_t)
    if (present(background)) options%background = merge(1_c_int, 0_c_int, background)
    if (present(sync)) options%sync = merge(1_c_int, 0_c_int, sync)
    if (present(collect)) options%collect = merge(1_c_int, 0_c_int, collect)
    if (present(files)) options%files = int(files, c_int)
    if (present(max_box)) options%max_box = int(max_box, c_int64_t)
    if (present(title)) then
      first_line = text(title)
      options%title = c_loc(first_line)
    end if
    if (present(multifab)) then
      name = text(multifab)
      options%multifab = c_loc(name)
    end if
    call check(c_native_open(comm, in_c, options, self%handle, what), what, error)
  end subroutine

  subroutine native_begin_step(self, path, step, time, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: path  !< must not exist
    integer, intent(in) :: step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_begin_step(self%handle, text(path), int(step, c_int64_t), time, what), what, error)
  end subroutine

  subroutine native_put_int(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_int(self%handle, text(name), int(value, c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_real(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_double(self%handle, text(name), value, what), &
               what, error)
  end subroutine

  subroutine native_put_text(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_text(self%handle, text(name), text(value), what), &
               what, error)
  end subroutine

  subroutine native_put_ints(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_ints(self%handle, text(name), int(value, c_int64_t), size(value, kind=c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_reals(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_texts(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)  !< without their trailing blanks
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr) :: first(size(value))
    type(c_error) :: what
    call point_at(value, texts, first)
    call check(c_native_put_texts(self%handle, text(name), first, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine native_put_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_native_writer), intent(in) :: self
    integer(int64), intent(in) :: cells_of_level(:)
    logical, intent(in) :: refined(:), owned(:)  !< of all levels, one after another
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_mesh(self%handle, size(cells_of_level, kind=c_int), cells_of_level, &
                                 merge(1_c_int8_t, 0_c_int8_t, refined), merge(1_c_int8_t, 0_c_int8_t, owned), what), &
               what, error)
  end subroutine

  subroutine native_put_boxes(self, domain, ratio, boxes_of_level, boxes, error)
    class(octavo_native_writer), intent(in) :: self
    integer(int64), intent(in) :: domain(:, :, :)    !< (3, 2, levels): first cell and the one after the last, from 0
    integer, intent(in) :: ratio(:)                  !< of each level to the next
    integer(int64), intent(in) :: boxes_of_level(:)  !< of this rank
    integer(int64), intent(in) :: boxes(:, :, :)     !< (3, 2, boxes), level after level
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_boxes(self%handle, size(boxes_of_level, kind=c_int), domain, int(ratio, c_int), boxes_of_level, &
                                  boxes, what), what, error)
  end subroutine

  !> real64 or real32. Of a tree: (x, y, z, cell) as far as there are dimensions, or (cell) without blocks; of boxes: (cell)
  !> of all boxes, one after another. Any section is taken as it is: unk(1, 5:12, 5:12, 1, :) leaves its ghosts away.
  subroutine native_put_field(self, name, values, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_array(self%handle, text(name), text(in_units), values, what), what, error)
  end subroutine

  !> FLASH, of a tree: a face variable. One value more along its axis (1, 2 or 3), otherwise as put_field:
  !> facevarx(1, 5:13, 5:12, 1, :) of blocks of 8 x 8 has axis 1.
  subroutine native_put_faces(self, name, values, axis, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    integer, intent(in) :: axis
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_faces(self%handle, text(name), text(in_units), int(axis - 1, c_int), values, what), what, error)
  end subroutine

  !> Of boxes whose arrays lie anywhere: c_loc of each one's first element, ghosts included.
  subroutine native_put_arrays(self, name, values, kind, ghost, stride, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: values(:)
    integer, intent(in) :: kind    !< of the elements: real64 or real32
    integer, intent(in) :: ghost   !< cells more on each side along each dimension
    integer, intent(in) :: stride  !< elements from one value to the next: 1, or the number of variables that stand together
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_arrays(self%handle, text(name), text(in_units), merge(float64, float32, kind == real64), values, &
                                   size(values, kind=c_int64_t), int(ghost, c_int), int(stride, c_int64_t), host, what), &
               what, error)
  end subroutine

  !> One value a particle; reals and integers of 32 and 64 bits.
  subroutine native_put_particles(self, species, attribute, values, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_particles(self%handle, text(species), text(attribute), values, what), what, error)
  end subroutine

  logical function native_finished(self, error)
    class(octavo_native_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int) :: all
    all = 0
    call check(c_native_finished(self%handle, all, what), what, error)
    native_finished = all /= 0
  end function

  subroutine native_end_step(self, error)
    class(octavo_native_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_end_step(self%handle, what), what, error)
  end subroutine

  subroutine native_wait(self, error)
    class(octavo_native_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_wait(self%handle, what), what, error)
  end subroutine

  subroutine native_close(self, error)
    class(octavo_native_writer), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_close(self%handle, what), what, error)
  end subroutine

end module octavo_native_writing
