!> The restart. See octavo.f90.
module octavo_reading
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  use octavo_arguments
  implicit none
  private
  public :: octavo_restart, octavo_restart_options, octavo_restart_info, octavo_field_info, octavo_neighbours, &
            octavo_box, octavo_read_box, octavo_points, octavo_read_points, octavo_list_steps, &
            octavo_forget_failed_restarts

  !> Options of a restart. The struct octavo_restart_options of octavo.h explains each component.
  type :: octavo_restart_options
    integer :: flow = octavo_checkpoint
    integer :: step = -1                         !< < 0: the newest that is complete and undamaged
    character(:), allocatable :: options         !< the writer's TOML file
    character(80), allocatable :: fields(:)      !< not allocated: all
    logical :: particles = .true., keep_parts = .true.
    integer :: refine = 0                        !< number of finer levels to add
    integer :: block(3) = 0                      !< cells of a block along each axis; 1: single cells; 0: as stored
    logical :: fill = .false., constant = .false.
    character(80), allocatable :: per_mass(:)
    logical :: boxes = .false.                   !< the share comes as boxes
    integer :: max_box = 64                      !< longest side of a box [cells]
    integer, allocatable :: points(:)            !< triangles: numbers of the points that this rank gets, from 1
    logical :: opaque = .false.                  !< read the bytes of put_bytes, too
    logical :: held_roots = .false.              !< level 0 of a tree has only the roots that this rank holds
    logical :: once = .false.                    !< a field's memory is freed when it was copied
  end type

  type :: octavo_restart_info
    integer :: step = -1                         !< -1: there is none
    real(real64) :: time = 0                     !< [code time]
    type(octavo_domain) :: domain                !< the step's
    integer :: mesh = octavo_mesh_none           !< kind of mesh of this rank's share
    integer :: levels = 0                        !< of a tree or of boxes
    integer(int64) :: cells = 0, boxes = 0       !< on all levels
    integer(int64) :: values = 0                 !< values of a one-component field
    integer :: num_fields = 0                    !< fields, and attributes of all species
    character(1000), allocatable :: notes(:)     !< messages to the user: damage, skipped steps
  end type

  !> A field of the mesh; or an attribute of particles if `species` is not empty.
  type :: octavo_field_info
    character(:), allocatable :: name, unit, species
    integer :: type = octavo_float64             !< octavo_float32, octavo_uint32 ...
    integer :: centring = octavo_cell
    integer :: components = 1
    integer(int64) :: count = 0                  !< for a species: its particles on this rank
  end type

  !> A box of cells of one level. Cells count from 1 at the domain's lower corner; the box includes both its ends.
  type :: octavo_box
    integer :: flow = octavo_checkpoint          !< stores only
    integer :: step = -1                         !< stores only; < 0: the newest that is complete and undamaged
    integer :: level = 0                         !< the code's own number
    integer :: lower(3) = 1, upper(3) = 1        !< 1 beyond dim
  end type

  !> A box of coordinates in a mesh of triangles, the points inside, and the triangles whose three points are all inside.
  type :: octavo_points
    integer :: flow = octavo_checkpoint          !< stores only
    integer :: step = -1                         !< < 0: the newest; in a file of many steps its number from 0
    real(real64) :: lower(2) = 0, upper(2) = 1   !< half-open, of x and y
    integer(int64), allocatable :: number(:)     !< in the whole mesh, ascending
    real(real64), allocatable :: x(:), y(:)
    real(real64), allocatable :: values(:, :)    !< (points, planes) of the field
    integer(int64), allocatable :: triangle(:)   !< in the whole mesh, ascending
    integer(int64), allocatable :: corners(:, :) !< (3, triangles) positions in `number`
    integer :: planes = 1
  end type

  !> The neighbours of this rank's triangles: the contents of TELEMAC's PAR and CLI files. Points, triangles and places
  !> count from 1, MPI's ranks from 0.
  type :: octavo_neighbours
    integer, allocatable :: shared_point(:)        !< points that other ranks have, too; by number in the whole mesh
    integer, allocatable :: first(:), rank(:)      !< other ranks of the i-th: rank(first(i) : first(i+1) - 1)
    integer, allocatable :: halo_triangle(:)       !< triangles that share an edge with another rank's triangle
    integer, allocatable :: behind_rank(:, :)      !< (3, halo) rank behind edges 1-2, 2-3, 3-1; -1: nothing
    integer, allocatable :: behind_triangle(:, :)  !< (3, halo) triangle there, as that rank numbers it; 0: nothing
    integer, allocatable :: boundary_point(:)      !< in order along the boundary; empty if the store holds no boundary
    integer, allocatable :: place(:)               !< position along the whole boundary
    integer, allocatable :: liquid(:)              !< number of the liquid boundary; 0: a wall
    integer, allocatable :: next(:), previous(:)   !< next and previous point along the boundary, by their number in
                                                   !< the whole mesh, if another rank has the edge to it; else 0
    integer, allocatable :: codes(:, :)            !< (4, boundary) LIHBOR, LIUBOR, LIVBOR, LITBOR
    real(real64), allocatable :: values(:, :)      !< (7, boundary) HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
    integer, allocatable :: colour(:)              !< last number of the line in the boundary file
  end type

  type :: octavo_restart
    type(c_ptr) :: handle = c_null_ptr           !< the library's restart
  contains
    procedure :: open => restart_open            !< collective: (comm, path [, options, error]); path: a store, a FLASH
                                                 !< checkpoint, an AMReX or RAMSES directory
    procedure :: found                           !< logical: there was a step
    procedure :: get_info                        !< (info [, error])
    procedure :: get_field_info                  !< (index, info [, error]); from 1: fields, then attributes of all species
    procedure, private :: get_int, get_real, get_text, get_ints, get_reals, get_texts
    generic :: get_attribute => get_int, get_real, get_text, get_ints, get_reals, get_texts
                                                 !< (name, value [, error]); arrays and texts are allocated
    procedure :: get_attribute_count             !< (name): elements; 1 for a number or a text; -1: there is none
    procedure :: get_bytes                       !< (rank, name, bytes [, error]): the bytes that put_bytes took
    procedure :: get_tree                        !< (tree [, error])
    procedure :: get_boxes                       !< (boxes [, error]): as put_boxes takes them
    procedure :: get_triangles                   !< (triangles [, error])
    procedure, private :: field_r64, field_r32, field_i64, field_i32, field_i16, field_i8, field_bool
    generic :: get_field => field_r64, field_r32, field_i64, field_i32, field_i16, field_i8, field_bool
                                                 !< (name, values [, error]): allocates `values`, one tree cell's block
                                                 !< (or one box) after the other, components fastest, then x. Reals
                                                 !< take narrower ones, too; integers take the bits of unsigned
                                                 !< integers, floats of 16 bits and logicals of their width
    procedure, private :: particles_r64, particles_r32, particles_i64, particles_i32, particles_i16, particles_i8, &
                          particles_bool
    generic :: get_particles => particles_r64, particles_r32, particles_i64, particles_i32, particles_i16, &
                                particles_i8, particles_bool
                                                 !< (species, attribute, values [, error]): allocates `values`
    procedure :: get_particle_count              !< (species)
    procedure :: get_neighbours                  !< collective: (comm, neighbours [, error])
    procedure :: failed => restart_failed        !< collective: (comm, store [, error]): the run cannot go on from here
    procedure :: write => restart_write          !< collective: (comm, store, format, path [, error]): the step as files
                                                 !< of a code; 'ramses': for as many ranks as there are, until `free`
    procedure :: free => restart_free
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_restart_options
    integer(c_size_t) :: size
    integer(c_int) :: flow
    integer(c_int64_t) :: step
    type(c_ptr) :: options = c_null_ptr, fields = c_null_ptr
    integer(c_int64_t) :: num_fields = 0
    integer(c_int) :: particles, keep_parts, refine
    integer(c_int64_t) :: block(3)
    integer(c_int) :: fill, constant
    type(c_ptr) :: per_mass = c_null_ptr
    integer(c_int64_t) :: num_per_mass = 0
    integer(c_int) :: boxes
    integer(c_int64_t) :: max_box
    type(c_ptr) :: points = c_null_ptr
    integer(c_int64_t) :: num_points = 0
    integer(c_int) :: opaque, held_roots, once
  end type

  type, bind(c) :: c_restart_info
    integer(c_size_t) :: size
    integer(c_int64_t) :: step = -1
    real(c_double) :: time = 0
    type(c_ptr) :: domain = c_null_ptr
    integer(c_int) :: mesh = 0, levels = 0
    integer(c_int64_t) :: cells = 0, boxes = 0, values = 0, num_fields = 0, num_notes = 0
    type(c_ptr) :: notes = c_null_ptr
  end type

  type, bind(c) :: c_field_info
    integer(c_size_t) :: size
    type(c_ptr) :: name = c_null_ptr, unit = c_null_ptr, species = c_null_ptr
    integer(c_int) :: kind = 0, centring = 0, components = 1
    integer(c_int64_t) :: count = 0
  end type

  type, bind(c) :: c_box
    integer(c_size_t) :: size
    integer(c_int) :: flow
    integer(c_int64_t) :: step
    integer(c_int) :: level
    integer(c_int64_t) :: lower(3), upper(3)
  end type

  type, bind(c) :: c_points
    integer(c_size_t) :: size
    integer(c_int) :: flow
    integer(c_int64_t) :: step
    real(c_double) :: lower(2), upper(2)
    integer(c_int64_t) :: capacity = 0
    type(c_ptr) :: number = c_null_ptr, x = c_null_ptr, y = c_null_ptr, values = c_null_ptr
    integer(c_int64_t) :: triangle_capacity = 0
    type(c_ptr) :: triangle = c_null_ptr, corners = c_null_ptr
    integer(c_int64_t) :: points = 0, triangles = 0
    integer(c_int) :: planes = 1
  end type

  type, bind(c) :: c_neighbours
    integer(c_size_t) :: size
    integer(c_int64_t) :: shared = 0
    type(c_ptr) :: shared_point, first, rank
    integer(c_int64_t) :: halo = 0
    type(c_ptr) :: halo_triangle, behind_rank, behind_triangle
    integer(c_int64_t) :: boundary = 0
    type(c_ptr) :: boundary_point, place, liquid, next, previous, codes, values, colour
  end type

  interface octavo_read_box
    procedure read_one_field, read_fields
  end interface

  interface
    integer(c_int) function c_read_box(path, box, num_fields, fields, values, cells, missing, error) &
        bind(c, name='octavo_fortran_read_box')
      import
      character(kind=c_char), intent(in) :: path(*)
      type(c_box), intent(in) :: box
      integer(c_int64_t), value :: num_fields, cells
      type(c_ptr), intent(in) :: fields(*)
      real(c_double), intent(inout) :: values(*)
      integer(c_int64_t), intent(inout) :: missing(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_read_points(path, field, points, error) bind(c, name='octavo_read_points')
      import
      character(kind=c_char), intent(in) :: path(*), field(*)
      type(c_points), intent(inout) :: points
      type(c_error), intent(out) :: error
    end function
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
    integer(c_int) function c_forget(store, error) bind(c, name='octavo_forget_failed_restarts')
      import
      character(kind=c_char), intent(in) :: store(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_failed(comm, store, restart, error) bind(c, name='octavo_fortran_restart_failed')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*)
      type(c_ptr), value :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_write(comm, store, restart, format, path, error) &
        bind(c, name='octavo_fortran_restart_write')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*), format(*), path(*)
      type(c_ptr), value :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_open(comm, path, options, restart, error) bind(c, name='octavo_fortran_restart_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      type(c_restart_options), intent(in) :: options
      type(c_ptr), intent(out) :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_info(restart, info, error) bind(c, name='octavo_restart_get_info')
      import
      type(c_ptr), value :: restart
      type(c_restart_info), intent(inout) :: info
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_field_info(restart, at, info, error) bind(c, name='octavo_restart_get_field_info')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), value :: at
      type(c_field_info), intent(inout) :: info
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_attribute_count(restart, name) bind(c, name='octavo_restart_get_attribute_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_get_attribute(restart, name, kind, values, number, error) &
        bind(c, name='octavo_restart_get_attribute')
      import
      type(c_ptr), value :: restart, values
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: kind
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_bytes(restart, rank, name, bytes, number, error) &
        bind(c, name='octavo_restart_get_bytes')
      import
      type(c_ptr), value :: restart
      integer(c_int), value :: rank
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(out) :: bytes
      integer(c_int64_t), intent(out) :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_tree(restart, tree, error) bind(c, name='octavo_restart_get_tree')
      import
      type(c_ptr), value :: restart
      type(c_tree), intent(inout) :: tree
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_boxes(restart, boxes, error) bind(c, name='octavo_restart_get_boxes')
      import
      type(c_ptr), value :: restart
      type(c_boxes), intent(inout) :: boxes
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_triangles(restart, triangles, error) bind(c, name='octavo_restart_get_triangles')
      import
      type(c_ptr), value :: restart
      type(c_triangles), intent(inout) :: triangles
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_field(restart, name, values, error) bind(c, name='octavo_fortran_restart_get_field')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(inout) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_particle_count(restart, species) bind(c, name='octavo_restart_get_particle_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: species(*)
    end function
    integer(c_int) function c_get_particles(restart, species, attribute, values, error) &
        bind(c, name='octavo_fortran_restart_get_particles')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(inout) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_neighbours(comm, restart, neighbours, error) &
        bind(c, name='octavo_fortran_restart_get_neighbours')
      import
      integer(c_int), intent(in) :: comm
      type(c_ptr), value :: restart
      type(c_neighbours), intent(inout) :: neighbours
      type(c_error), intent(out) :: error
    end function
    subroutine c_free(restart) bind(c, name='octavo_restart_free')
      import
      type(c_ptr), intent(inout) :: restart
    end subroutine
  end interface

contains

  subroutine restart_open(self, comm, path, options, error)
    class(octavo_restart), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    type(octavo_restart_options), intent(in), optional :: options  !< if absent: the newest checkpoint, all of it
    type(octavo_error), intent(inout), optional :: error
    type(octavo_restart_options) :: wanted
    character(kind=c_char), allocatable, target :: file(:), names(:, :), masses(:, :)
    type(c_ptr), allocatable, target :: name_at(:), mass_at(:)
    integer(c_int64_t), allocatable, target :: numbers(:)
    type(c_restart_options) :: chosen
    type(c_error) :: what
    if (present(options)) wanted = options
    chosen = c_restart_options(0, int(wanted%flow, c_int), int(wanted%step, c_int64_t), particles=flag(wanted%particles), &
                               keep_parts=flag(wanted%keep_parts), refine=int(wanted%refine, c_int), &
                               block=int(wanted%block, c_int64_t), fill=flag(wanted%fill), &
                               constant=flag(wanted%constant), boxes=flag(wanted%boxes), &
                               max_box=int(wanted%max_box, c_int64_t), opaque=flag(wanted%opaque), &
                               held_roots=flag(wanted%held_roots), once=flag(wanted%once))
    chosen%size = c_sizeof(chosen)
    if (any(wanted%block /= 0)) chosen%block = max(1_c_int64_t, chosen%block)
    if (allocated(wanted%options)) then
      file = text(wanted%options)
      chosen%options = c_loc(file)
    end if
    if (allocated(wanted%fields)) call hold_names(wanted%fields, names, name_at, chosen%fields, chosen%num_fields)
    if (allocated(wanted%per_mass)) &
      call hold_names(wanted%per_mass, masses, mass_at, chosen%per_mass, chosen%num_per_mass)
    if (allocated(wanted%points)) then
      numbers = [int(wanted%points, c_int64_t) - 1, 0_c_int64_t]  ! one more, because c_loc needs an element
      chosen%points = c_loc(numbers)
      chosen%num_points = size(wanted%points)
    end if
    call check(c_open(comm, text(path), chosen, self%handle, what), what, error)
  end subroutine

  subroutine hold_names(names, held, held_at, first, count)
    character(*), intent(in) :: names(:)
    character(kind=c_char), allocatable, target, intent(inout) :: held(:, :)
    type(c_ptr), allocatable, target, intent(inout) :: held_at(:)
    type(c_ptr), intent(out) :: first
    integer(c_int64_t), intent(out) :: count
    allocate (held(len(names) + 1, size(names)), held_at(size(names) + 1))
    call point_at(names, held, held_at(:size(names)))
    first = c_loc(held_at)
    count = size(names, kind=c_int64_t)
  end subroutine

  subroutine restart_failed(self, comm, store, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_failed(comm, text(store), self%handle, what), what, error)
  end subroutine

  subroutine restart_write(self, comm, store, format, path, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store, format, path
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_write(comm, text(store), self%handle, text(format), text(path), what), what, error)
  end subroutine

  subroutine octavo_forget_failed_restarts(store, error)
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_forget(text(store), what), what, error)
  end subroutine

  subroutine read_one_field(path, box, field, values, missing, error)
    character(*), intent(in) :: path, field
    type(octavo_box), intent(in) :: box
    real(real64), allocatable, intent(out) :: values(:, :, :)
    integer(int64), intent(out), optional :: missing
    type(octavo_error), intent(inout), optional :: error
    real(real64), allocatable :: all(:, :, :, :)
    integer(int64) :: without(1)
    call read_fields(path, box, [field], all, without, error)
    values = all(:, :, :, 1)
    if (present(missing)) missing = without(1)
  end subroutine

  subroutine read_fields(path, box, fields, values, missing, error)
    character(*), intent(in) :: path, fields(:)
    type(octavo_box), intent(in) :: box
    real(real64), allocatable, intent(out) :: values(:, :, :, :)
    integer(int64), intent(out), optional :: missing(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_box) :: in_c
    type(c_error) :: what
    integer(c_int64_t) :: without(size(fields))
    character(kind=c_char), target :: names(len(fields) + 1, size(fields))
    type(c_ptr) :: first(size(fields))
    integer :: extent(3)
    in_c%size = c_sizeof(in_c)
    in_c%flow = int(box%flow, c_int)
    in_c%step = box%step
    in_c%level = int(box%level, c_int)
    in_c%lower = box%lower - 1
    in_c%upper = box%upper
    extent = max(0, box%upper - box%lower + 1)
    allocate (values(extent(1), extent(2), extent(3), size(fields)))
    values = 0
    without = 0
    call point_at(fields, names, first)
    call check(c_read_box(text(path), in_c, size(fields, kind=c_int64_t), first, values, &
                          product(int(extent, c_int64_t)), without, what), what, error)
    if (present(missing)) missing = without
  end subroutine

  !> Reads the points of a mesh of triangles with lower <= (x, y) < upper, and a field's values at them.
  subroutine octavo_read_points(path, field, points, error)
    character(*), intent(in) :: path, field
    type(octavo_points), intent(inout), target :: points
    type(octavo_error), intent(inout), optional :: error
    type(c_points) :: found
    type(c_error) :: what
    found%size = c_sizeof(found)
    found%flow = int(points%flow, c_int)
    found%step = points%step
    found%lower = points%lower
    found%upper = points%upper
    call check(c_read_points(text(path), text(field), found, what), what, error)
    if (allocated(points%number)) &
      deallocate (points%number, points%x, points%y, points%values, points%triangle, points%corners)
    allocate (points%number(found%points), points%x(found%points), points%y(found%points), &
              points%values(found%points, found%planes), points%triangle(found%triangles), &
              points%corners(3, found%triangles))
    points%planes = found%planes
    if (found%points == 0) return
    found%capacity = found%points
    found%triangle_capacity = found%triangles
    found%number = c_loc(points%number)
    found%x = c_loc(points%x)
    found%y = c_loc(points%y)
    found%values = c_loc(points%values)
    if (found%triangles > 0) then
      found%triangle = c_loc(points%triangle)
      found%corners = c_loc(points%corners)
    end if
    call check(c_read_points(text(path), text(field), found, what), what, error)
    points%number = points%number + 1
    points%triangle = points%triangle + 1
    points%corners = points%corners + 1
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

  logical function found(self)
    class(octavo_restart), intent(in) :: self
    found = c_associated(self%handle)
  end function

  subroutine get_info(self, info, error)
    class(octavo_restart), intent(in) :: self
    type(octavo_restart_info), intent(out) :: info
    type(octavo_error), intent(inout), optional :: error
    type(c_restart_info) :: in_c
    type(c_domain), pointer :: domain
    type(c_ptr), pointer :: notes(:)
    type(c_error) :: what
    integer :: i
    in_c%size = c_sizeof(in_c)
    call check(c_get_info(self%handle, in_c, what), what, error)
    info%step = int(in_c%step)
    info%time = in_c%time
    info%mesh = int(in_c%mesh)
    info%levels = int(in_c%levels)
    info%cells = in_c%cells
    info%boxes = in_c%boxes
    info%values = in_c%values
    info%num_fields = int(in_c%num_fields)
    allocate (info%notes(in_c%num_notes))
    if (c_associated(in_c%notes)) call c_f_pointer(in_c%notes, notes, [in_c%num_notes])
    do i = 1, size(info%notes)
      info%notes(i) = text_at(notes(i))
    end do
    if (.not. c_associated(in_c%domain)) return
    call c_f_pointer(in_c%domain, domain)
    info%domain = octavo_domain(text_at(domain%code), int(domain%dim), domain%roots, domain%block, int(domain%unfolded), &
                                domain%lo, domain%hi, domain%periodic /= 0, domain%unit_length, domain%unit_density, &
                                domain%unit_time, int(domain%first_level))
  end subroutine

  subroutine get_field_info(self, index, info, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: index
    type(octavo_field_info), intent(out) :: info
    type(octavo_error), intent(inout), optional :: error
    type(c_field_info) :: in_c
    type(c_error) :: what
    in_c%size = c_sizeof(in_c)
    call check(c_get_field_info(self%handle, int(index - 1, c_int64_t), in_c, what), what, error)
    if (what%code /= 0) return
    info%name = text_at(in_c%name)
    info%unit = text_at(in_c%unit)
    info%species = text_at(in_c%species)
    info%type = int(in_c%kind)
    info%centring = int(in_c%centring)
    info%components = int(in_c%components)
    info%count = in_c%count
  end subroutine

  ! Returns the size that an array needs for the field on this rank; 0 if there is no such field.
  integer(int64) function values_of(self, species, name) result(values)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species, name
    type(octavo_restart_info) :: all
    type(octavo_field_info) :: info
    integer :: i
    values = 0
    call self%get_info(all)
    do i = 1, all%num_fields
      call self%get_field_info(i, info)
      if (info%name /= name .or. info%species /= species) cycle
      values = info%components*merge(info%count, all%values, species /= '')
    end do
  end function

  subroutine get_int(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), target :: in_c
    type(c_error) :: what
    in_c = 0
    call check(c_get_attribute(self%handle, text(name), octavo_int64, c_loc(in_c), 1_c_int64_t, what), what, error)
    value = int(in_c)
  end subroutine

  subroutine get_real(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    real(c_double), target :: in_c
    type(c_error) :: what
    in_c = 0
    call check(c_get_attribute(self%handle, text(name), octavo_float64, c_loc(in_c), 1_c_int64_t, what), what, error)
    value = in_c
  end subroutine

  subroutine get_text(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_ptr), target :: in_c
    type(c_error) :: what
    value = ''
    call check(c_get_attribute(self%handle, text(name), octavo_text, c_loc(in_c), 1_c_int64_t, what), what, error)
    if (what%code == 0) value = text_at(in_c)
  end subroutine

  integer function get_attribute_count(self, name) result(count)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    count = int(c_attribute_count(self%handle, text(name)))
  end function

  subroutine get_ints(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable, target :: in_c(:)
    integer :: count
    type(c_error) :: what
    count = max(0, self%get_attribute_count(name))
    allocate (in_c(count + 1), source=0_c_int64_t)
    call check(c_get_attribute(self%handle, text(name), octavo_int64, c_loc(in_c), int(count, c_int64_t), what), what, error)
    value = int(in_c(:count))
  end subroutine

  subroutine get_reals(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    real(c_double), allocatable, target :: in_c(:)
    integer :: count
    type(c_error) :: what
    count = max(0, self%get_attribute_count(name))
    allocate (in_c(count + 1), source=0.0_c_double)
    call check(c_get_attribute(self%handle, text(name), octavo_float64, c_loc(in_c), int(count, c_int64_t), what), what, error)
    value = in_c(:count)
  end subroutine

  subroutine get_texts(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    character(*), allocatable, intent(out) :: value(:)  !< longer texts are cut off
    type(octavo_error), intent(inout), optional :: error
    type(c_ptr), allocatable, target :: in_c(:)
    integer :: count, i
    type(c_error) :: what
    count = max(0, self%get_attribute_count(name))
    allocate (in_c(count + 1), value(count))
    call check(c_get_attribute(self%handle, text(name), octavo_text, c_loc(in_c), int(count, c_int64_t), what), what, error)
    do i = 1, merge(count, 0, what%code == 0)
      value(i) = text_at(in_c(i))
    end do
  end subroutine

  subroutine get_bytes(self, rank, name, bytes, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: rank
    character(*), intent(in) :: name
    integer(int8), allocatable, intent(out) :: bytes(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int8_t), pointer :: in_c(:)
    type(c_ptr) :: first
    integer(c_int64_t) :: number
    type(c_error) :: what
    integer :: code
    code = c_get_bytes(self%handle, int(rank, c_int), text(name), first, number, what)
    if (code == 0) then
      call c_f_pointer(first, in_c, [number])
      bytes = in_c
    end if
    call check(code, what, error)
  end subroutine

  subroutine get_tree(self, tree, error)
    class(octavo_restart), intent(in) :: self
    type(octavo_tree), intent(out) :: tree
    type(octavo_error), intent(inout), optional :: error
    type(c_tree) :: in_c
    type(c_error) :: what
    in_c%size = c_sizeof(in_c)
    call check(c_get_tree(self%handle, in_c, what), what, error)
    tree%cells_of_level = long_integers(in_c%cells_of_level, int(in_c%levels, c_int64_t))
    tree%refined = logicals(in_c%refined, sum(tree%cells_of_level))
    tree%owned = logicals(in_c%owned, sum(tree%cells_of_level))
    if (in_c%num_intervals > 0) then
      tree%held = reshape(long_integers(in_c%held, 2 * in_c%num_intervals), [2, int(in_c%num_intervals)])
      tree%held(1, :) = tree%held(1, :) + 1
    end if
  end subroutine

  subroutine get_boxes(self, boxes, error)
    class(octavo_restart), intent(in) :: self
    type(octavo_boxes), intent(out) :: boxes
    type(octavo_error), intent(inout), optional :: error
    type(c_boxes) :: in_c
    integer(c_int64_t) :: levels, count
    type(c_error) :: what
    in_c%size = c_sizeof(in_c)
    call check(c_get_boxes(self%handle, in_c, what), what, error)
    levels = in_c%levels
    boxes%boxes_of_level = long_integers(in_c%boxes_of_level, levels)
    count = sum(boxes%boxes_of_level)
    boxes%domain = reshape(long_integers(in_c%domain, 6*levels), [3, 2, int(levels)])
    boxes%ratio = integers(in_c%ratio, max(0_c_int64_t, levels - 1))
    boxes%boxes = reshape(long_integers(in_c%boxes, 6*count), [3, 2, int(count)])
  end subroutine

  !> Gives this rank's triangles. Fields then have a value per point, plane after plane.
  subroutine get_triangles(self, triangles, error)
    class(octavo_restart), intent(in) :: self
    type(octavo_triangles), intent(out) :: triangles
    type(octavo_error), intent(inout), optional :: error
    type(c_triangles) :: in_c
    type(c_error) :: what
    in_c%size = c_sizeof(in_c)
    call check(c_get_triangles(self%handle, in_c, what), what, error)
    triangles%planes = int(in_c%planes)
    triangles%x = reals(in_c%x, in_c%points)
    triangles%y = reals(in_c%y, in_c%points)
    triangles%triangles = reshape(int(long_integers(in_c%connectivity, 3*in_c%triangles)) + 1, [3, int(in_c%triangles)])
    triangles%global_point = int(long_integers(in_c%global_point, in_c%points)) + 1
    triangles%global_triangle = int(long_integers(in_c%global_triangle, in_c%triangles)) + 1
  end subroutine

  integer function get_particle_count(self, species) result(count)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species
    count = int(c_particle_count(self%handle, text(species)))
  end function

  !> Gives an error if the step has no triangles, or was read by points.
  subroutine get_neighbours(self, comm, neighbours, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: comm
    type(octavo_neighbours), intent(out) :: neighbours
    type(octavo_error), intent(inout), optional :: error
    type(c_neighbours) :: around
    type(c_error) :: what
    around%size = c_sizeof(around)
    call check(c_get_neighbours(comm, self%handle, around, what), what, error)
    if (what%code /= 0) return
    neighbours%shared_point = integers(around%shared_point, around%shared) + 1
    neighbours%first = int(long_integers(around%first, around%shared + 1)) + 1
    neighbours%rank = integers(around%rank, int(neighbours%first(around%shared + 1) - 1, c_int64_t))
    neighbours%halo_triangle = integers(around%halo_triangle, around%halo) + 1
    neighbours%behind_rank = reshape(integers(around%behind_rank, 3*around%halo), [3, int(around%halo)])
    neighbours%behind_triangle = reshape(integers(around%behind_triangle, 3*around%halo) + 1, [3, int(around%halo)])
    neighbours%boundary_point = integers(around%boundary_point, around%boundary) + 1
    neighbours%place = integers(around%place, around%boundary) + 1
    neighbours%liquid = integers(around%liquid, around%boundary)
    neighbours%next = int(long_integers(around%next, around%boundary)) + 1
    neighbours%previous = int(long_integers(around%previous, around%boundary)) + 1
    neighbours%codes = reshape(integers(around%codes, 4*around%boundary), [4, int(around%boundary)])
    neighbours%values = reshape(reals(around%values, 7*around%boundary), [7, int(around%boundary)])
    neighbours%colour = integers(around%colour, around%boundary)
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

  subroutine field_i16(self, name, values, error)
    integer(int16), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_i16(self, species, attribute, values, error)
    integer(int16), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine field_i8(self, name, values, error)
    integer(int8), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_i8(self, species, attribute, values, error)
    integer(int8), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine field_bool(self, name, values, error)
    logical(c_bool), allocatable, intent(out) :: values(:)
    include 'field.inc'
  end subroutine

  subroutine particles_bool(self, species, attribute, values, error)
    logical(c_bool), allocatable, intent(out) :: values(:)
    include 'particles.inc'
  end subroutine

  subroutine restart_free(self)
    class(octavo_restart), intent(inout) :: self
    call c_free(self%handle)
  end subroutine

end module octavo_reading
