!> The restart. See octavo.f90.
module octavo_reading
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  use octavo_arguments
  implicit none
  private
  public :: octavo_restart, octavo_field_info, octavo_list_steps, octavo_forget_failed_restarts

  !> A field of cells, or where `species` is not empty an attribute of particles.
  type :: octavo_field_info
    character(:), allocatable :: name, unit, species
    integer :: type = 0  !< as enum octavo_type of octavo.h: 0 real64, 1 real32, 2 int64, 3 int32 ...
    integer :: components = 1
  end type

  type :: octavo_restart
    type(c_ptr) :: handle = c_null_ptr  !< the library's own
  contains
    procedure :: open => restart_open           !< collective: see restart_open
    procedure :: failed => restart_failed       !< collective: the run cannot go on from here (comm, store [, error])
    procedure :: found                          !< whether there was a step
    procedure :: step => restart_step
    procedure :: time => restart_time
    procedure :: domain => restart_domain       !< (domain [, block, error]): what the step says of itself
    procedure :: notes => restart_notes         !< writes to a unit what a user should know (unit)
    procedure :: fields => restart_fields       !< allocates what there is (info)
    procedure, private :: get_int, get_real, get_text, get_ints, get_reals
    generic :: get_attribute => get_int, get_real, get_text, get_ints, get_reals
                                                !< (name, value [, error]); arrays and texts are allocated
    procedure :: mesh => restart_mesh           !< allocates (cells_of_level, refined, owned [, error])
    procedure :: triangles => restart_triangles  !< allocates (x, y, triangles, global_point [, planes, global_triangle, error])
    procedure :: boxes => restart_boxes         !< allocates (domain, ratio, boxes_of_level, boxes [, error]), for put_boxes
    procedure, private :: field_r64, field_r32, field_i64, field_i32
    generic :: field => field_r64, field_r32, field_i64, field_i32  !< allocates (name, values [, error]):
                                                !< a tree cell's block, or a box, after the other, x fastest
    procedure, private :: particles_r64, particles_r32, particles_i64, particles_i32
    generic :: particles => particles_r64, particles_r32, particles_i64, particles_i32
                                                !< allocates (species, attribute, values [, error])
    procedure :: free => restart_free
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_restart_options
    integer(c_int) :: flow = octavo_checkpoint
    integer(c_int64_t) :: step = -1
    type(c_ptr) :: options = c_null_ptr, fields = c_null_ptr
    integer(c_int64_t) :: num_fields = 0
    integer(c_int) :: particles = 1, refine = 0
    integer(c_int64_t) :: block(3) = 0
    integer(c_int) :: fill = 0, constant = 0, boxes = 0
    integer(c_int64_t) :: max_box = 64
    type(c_ptr) :: points = c_null_ptr
    integer(c_int64_t) :: num_points = 0
  end type

  type, bind(c) :: c_field_info
    character(kind=c_char) :: name(128), unit(64), species(128)
    integer(c_int) :: kind, components
  end type

  interface
    integer(c_int) function c_list_steps(store, flow, capacity, steps, times, number, error) &
        bind(c, name='octavo_list_steps')
      import
      character(kind=c_char), intent(in) :: store(*)
      integer(c_int), value :: flow
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: steps(*)
      real(c_double), intent(out) :: times(*)
      integer(c_int64_t), intent(out) :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_failed(comm, store, restart, error) &
        bind(c, name='octavo_fortran_restart_failed')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*)
      type(c_ptr), value :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_forget(store, error) bind(c, name='octavo_forget_failed_restarts')
      import
      character(kind=c_char), intent(in) :: store(*)
      type(c_error), intent(out) :: error
    end function
    type(c_ptr) function c_note(restart, at) bind(c, name='octavo_restart_note')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), value :: at
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
    integer(c_int64_t) function c_num_fields(restart) bind(c, name='octavo_restart_num_fields')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_field_info_of(restart, at, info, error) bind(c, name='octavo_restart_field_info')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), value :: at
      type(c_field_info), intent(out) :: info
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_attribute_count(restart, name) bind(c, name='octavo_restart_attribute_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_get_ints(restart, name, values, number, error) bind(c, name='octavo_restart_get_ints')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_doubles(restart, name, values, number, error) &
        bind(c, name='octavo_restart_get_doubles')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_text(restart, name, at, text, size, error) bind(c, name='octavo_restart_get_text')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: at
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_open(comm, store, options, restart, error) &
        bind(c, name='octavo_fortran_restart_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*)
      type(c_restart_options), intent(in) :: options
      type(c_ptr), intent(out) :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_restart_step(restart) bind(c, name='octavo_restart_step')
      import
      type(c_ptr), value :: restart
    end function
    real(c_double) function c_restart_time(restart) bind(c, name='octavo_restart_time')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_restart_levels(restart) bind(c, name='octavo_restart_levels')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int64_t) function c_restart_values(restart) bind(c, name='octavo_restart_values')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int64_t) function c_restart_num_boxes(restart) bind(c, name='octavo_restart_num_boxes')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_restart_domain(restart, domain, block, error) bind(c, name='octavo_restart_domain')
      import
      type(c_ptr), value :: restart
      type(c_domain), intent(out) :: domain
      integer(c_int64_t), intent(out) :: block(3)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_triangle_counts(restart, points, triangles, planes, error) &
        bind(c, name='octavo_restart_triangle_counts')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(out) :: points, triangles
      integer(c_int), intent(out) :: planes
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_triangles(restart, x, y, connectivity, global_point, global_element, error) &
        bind(c, name='octavo_restart_triangles')
      import
      type(c_ptr), value :: restart
      real(c_double), intent(out) :: x(*), y(*)
      integer(c_int64_t), intent(out) :: connectivity(*), global_point(*), global_element(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_boxes(restart, domain, ratio, boxes_of_level, boxes, error) &
        bind(c, name='octavo_restart_boxes')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(out) :: domain(3, 2, *), boxes_of_level(*), boxes(3, 2, *)
      integer(c_int), intent(out) :: ratio(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_restart_cells(restart) bind(c, name='octavo_restart_cells')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_restart_mesh(restart, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_restart_mesh')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(out) :: cells_of_level(*)
      integer(c_int8_t), intent(out) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_field(restart, name, values, error) bind(c, name='octavo_fortran_restart_field')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_restart_count(restart, species) bind(c, name='octavo_restart_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: species(*)
    end function
    integer(c_int) function c_restart_particles(restart, species, attribute, values, error) &
        bind(c, name='octavo_fortran_restart_particles')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(inout) :: values(..)
      type(c_error), intent(out) :: error
    end function
    subroutine c_restart_free(restart) bind(c, name='octavo_restart_free')
      import
      type(c_ptr), intent(inout) :: restart
    end subroutine
  end interface

contains

  ! `store` may also be an output of a code: a FLASH checkpoint, an AMReX or RAMSES directory (docs/cross-restart.md).
  subroutine restart_open(self, comm, store, flow, step, options, error, refine, block, fill, boxes, max_box, fields, &
                          particles, points)
    class(octavo_restart), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    integer, intent(in), optional :: flow, step    !< without: checkpoint, the newest
    character(*), intent(in), optional :: options  !< a TOML file, the writer's
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: refine        !< so many levels more: the leaves of the finest level are refined
    integer, intent(in), optional :: block(:)      !< blocks of so many cells along each axis; 1: cells
    logical, intent(in), optional :: fill          !< block: missing cells may be made of the coarser ones
    logical, intent(in), optional :: boxes         !< the share as boxes: see procedure boxes
    integer, intent(in), optional :: max_box       !< boxes are at most that long [cells]
    character(*), intent(in), optional :: fields(:)  !< without: all
    logical, intent(in), optional :: particles     !< without: yes
    integer, intent(in), optional :: points(:)     !< of a step of triangles: the numbers of those wanted, from 1
    character(kind=c_char), allocatable, target :: file(:), names(:, :)
    type(c_ptr), allocatable, target :: first(:)
    integer(c_int64_t), allocatable, target :: numbers(:)
    type(c_restart_options) :: chosen
    type(c_error) :: what
    if (present(flow)) chosen%flow = int(flow, c_int)
    if (present(step)) chosen%step = int(step, c_int64_t)
    if (present(refine)) chosen%refine = int(refine, c_int)
    if (present(block)) chosen%block = 1
    if (present(block)) chosen%block(:size(block)) = int(block, c_int64_t)
    if (present(fill)) chosen%fill = merge(1, 0, fill)
    if (present(boxes)) chosen%boxes = merge(1, 0, boxes)
    if (present(max_box)) chosen%max_box = int(max_box, c_int64_t)
    if (present(particles)) chosen%particles = merge(1, 0, particles)
    if (present(options)) then
      file = text(options)
      chosen%options = c_loc(file)
    end if
    if (present(fields)) then
      allocate (names(len(fields) + 1, size(fields)), first(size(fields) + 1))
      call point_at(fields, names, first(:size(fields)))
      chosen%fields = c_loc(first)
      chosen%num_fields = size(fields)
    end if
    if (present(points)) then
      numbers = [int(points, c_int64_t) - 1, 0_c_int64_t]  ! one more, so that there is a place to point at
      chosen%points = c_loc(numbers)
      chosen%num_points = size(points)
    end if
    call check(c_restart_open(comm, text(store), chosen, self%handle, what), what, error)
  end subroutine

  subroutine restart_failed(self, comm, store, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_restart_failed(comm, text(store), self%handle, what), what, error)
  end subroutine

  subroutine octavo_forget_failed_restarts(store, error)
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_forget(text(store), what), what, error)
  end subroutine

  subroutine octavo_list_steps(store, flow, steps, times, error)
    character(*), intent(in) :: store
    integer, intent(in) :: flow
    integer(int64), allocatable, intent(out) :: steps(:)
    real(real64), allocatable, intent(out), optional :: times(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable :: found(:)
    real(c_double), allocatable :: at(:)
    integer(c_int64_t) :: number, capacity
    type(c_error) :: what
    number = 64
    do
      capacity = number
      if (allocated(found)) deallocate (found, at)
      allocate (found(capacity), at(capacity))
      number = 0
      call check(c_list_steps(text(store), int(flow, c_int), capacity, found, at, number, what), what, error)
      if (number <= capacity) exit
    end do
    steps = found(:number)
    if (present(times)) times = at(:number)
  end subroutine

  subroutine restart_notes(self, unit)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: unit
    character(kind=c_char), pointer :: note(:)
    type(c_ptr) :: first
    integer(c_int64_t) :: i
    i = 0
    do
      first = c_note(self%handle, i)
      if (.not. c_associated(first)) exit
      call c_f_pointer(first, note, [c_strlen(first)])
      write (unit, '(*(a))') note
      i = i + 1
    end do
  end subroutine

  subroutine restart_fields(self, info)
    class(octavo_restart), intent(in) :: self
    type(octavo_field_info), allocatable, intent(out) :: info(:)
    type(c_field_info) :: in_c
    type(c_error) :: what
    integer :: i
    allocate (info(c_num_fields(self%handle)))
    do i = 1, size(info)
      call check(c_field_info_of(self%handle, int(i - 1, c_int64_t), in_c, what), what)
      info(i)%name = from_c(in_c%name)
      info(i)%unit = from_c(in_c%unit)
      info(i)%species = from_c(in_c%species)
      info(i)%type = int(in_c%kind)
      info(i)%components = int(in_c%components)
    end do
  end subroutine

  subroutine get_int(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t) :: in_c(1)
    type(c_error) :: what
    in_c = 0
    call check(c_get_ints(self%handle, text(name), in_c, 1_c_int64_t, what), what, error)
    value = int(in_c(1))
  end subroutine

  subroutine get_real(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    real(c_double) :: in_c(1)
    type(c_error) :: what
    in_c = 0
    call check(c_get_doubles(self%handle, text(name), in_c, 1_c_int64_t, what), what, error)
    value = in_c(1)
  end subroutine

  subroutine get_text(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char) :: in_c(4096)
    type(c_error) :: what
    in_c = c_null_char
    call check(c_get_text(self%handle, text(name), 0_c_int64_t, in_c, size(in_c, kind=c_size_t), what), what, error)
    value = from_c(in_c)
  end subroutine

  subroutine get_ints(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable :: in_c(:)
    type(c_error) :: what
    allocate (in_c(max(0_c_int64_t, c_attribute_count(self%handle, text(name)))))
    in_c = 0
    call check(c_get_ints(self%handle, text(name), in_c, size(in_c, kind=c_int64_t), what), what, error)
    value = int(in_c)
  end subroutine

  subroutine get_reals(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (value(max(0_c_int64_t, c_attribute_count(self%handle, text(name)))))
    call check(c_get_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  logical function found(self)
    class(octavo_restart), intent(in) :: self
    found = c_associated(self%handle)
  end function

  integer function restart_step(self) result(step)
    class(octavo_restart), intent(in) :: self
    step = int(c_restart_step(self%handle))
  end function

  real(real64) function restart_time(self) result(time)
    class(octavo_restart), intent(in) :: self
    time = c_restart_time(self%handle)
  end function

  subroutine restart_domain(self, domain, block, error)
    class(octavo_restart), intent(in) :: self
    type(octavo_domain), intent(out) :: domain
    integer(int64), intent(out), optional :: block(3)  !< values of a tree cell along each axis
    type(octavo_error), intent(inout), optional :: error
    type(c_domain) :: in_c
    character(kind=c_char), pointer :: code(:)
    integer(c_int64_t) :: cells(3)
    type(c_error) :: what
    cells = 1
    call check(c_restart_domain(self%handle, in_c, cells, what), what, error)
    if (present(block)) block = cells
    if (what%code /= 0) return
    call c_f_pointer(in_c%code, code, [c_strlen(in_c%code)])
    domain = octavo_domain(from_c(code), int(in_c%dim), in_c%roots, in_c%lo, in_c%hi, in_c%periodic /= 0, &
                           in_c%unit_length, in_c%unit_density, in_c%unit_time)
  end subroutine

  subroutine restart_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_restart), intent(in) :: self
    integer(int64), allocatable, intent(out) :: cells_of_level(:)
    logical, allocatable, intent(out) :: refined(:), owned(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int8_t), allocatable :: refined_in_c(:), owned_in_c(:)
    integer(int64) :: cells
    type(c_error) :: what
    cells = c_restart_cells(self%handle)
    allocate (cells_of_level(c_restart_levels(self%handle)), refined_in_c(cells), owned_in_c(cells))
    call check(c_restart_mesh(self%handle, cells_of_level, refined_in_c, owned_in_c, what), what, error)
    refined = refined_in_c /= 0
    owned = owned_in_c /= 0
  end subroutine

  subroutine restart_boxes(self, domain, ratio, boxes_of_level, boxes, error)
    class(octavo_restart), intent(in) :: self
    integer(int64), allocatable, intent(out) :: domain(:, :, :), boxes_of_level(:), boxes(:, :, :)
    integer, allocatable, intent(out) :: ratio(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int), allocatable :: ratio_in_c(:)
    integer :: levels
    type(c_error) :: what
    levels = int(c_restart_levels(self%handle))
    allocate (domain(3, 2, levels), boxes_of_level(levels), boxes(3, 2, c_restart_num_boxes(self%handle)), &
              ratio_in_c(levels - 1))
    call check(c_restart_boxes(self%handle, domain, ratio_in_c, boxes_of_level, boxes, what), what, error)
    ratio = int(ratio_in_c)
  end subroutine

  !> This rank's share of a mesh of triangles, numbers from 1. Fields have a value a point, plane after plane.
  subroutine restart_triangles(self, x, y, triangles, global_point, planes, global_triangle, error)
    class(octavo_restart), intent(in) :: self
    real(real64), allocatable, intent(out) :: x(:), y(:)
    integer, allocatable, intent(out) :: triangles(:, :), global_point(:)
    integer, intent(out), optional :: planes
    integer, allocatable, intent(out), optional :: global_triangle(:)
    type(octavo_error), intent(inout), optional :: error
    integer(int64), allocatable :: nodes(:), points(:), elements(:)
    integer(int64) :: n, m
    integer(c_int) :: levels
    type(c_error) :: what
    n = 0
    m = 0
    levels = 1
    call check(c_triangle_counts(self%handle, n, m, levels, what), what, error)
    if (what%code /= 0) return
    allocate (x(n), y(n), nodes(3*m), points(n), elements(m))
    call check(c_triangles(self%handle, x, y, nodes, points, elements, what), what, error)
    triangles = reshape(int(nodes) + 1, [3, int(m)])
    global_point = int(points) + 1
    if (present(planes)) planes = int(levels)
    if (present(global_triangle)) global_triangle = int(elements) + 1
  end subroutine

  subroutine field_r64(self, name, values, error)
    real(real64), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_r64(self, species, attribute, values, error)
    real(real64), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine field_r32(self, name, values, error)
    real(real32), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_r32(self, species, attribute, values, error)
    real(real32), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine field_i64(self, name, values, error)
    integer(int64), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_i64(self, species, attribute, values, error)
    integer(int64), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine field_i32(self, name, values, error)
    integer(int32), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_i32(self, species, attribute, values, error)
    integer(int32), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine restart_free(self)
    class(octavo_restart), intent(inout) :: self
    call c_restart_free(self%handle)
  end subroutine

end module octavo_reading
