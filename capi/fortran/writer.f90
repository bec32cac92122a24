!> Writes the steps of a run in the background. See octavo.f90.
module octavo_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int8, int64, real64
  use octavo_arguments
  use octavo_reading, only: octavo_restart
  implicit none
  private
  public :: octavo_writer

  type :: octavo_writer
    type(c_ptr) :: handle = c_null_ptr          !< the library's writer
  contains
    procedure :: open => writer_open            !< collective: (comm, target [, domain, from, error])
    procedure :: is_open                        !< logical
    procedure :: due                            !< logical (flow, step, time [, error]); ask at every step, on all ranks
    procedure, private :: begin_flow, begin_path, begin_time
    generic :: begin_step => begin_flow, begin_path, begin_time
                                                !< store: (flow, step, time [, error]); FLASH, AMReX: (path, step, time
                                                !< [, error]); SERAFIN, MED: (time [, error])
    procedure, private :: put_int, put_real, put_text, put_ints, put_reals, put_texts
    generic :: put_attribute => put_int, put_real, put_text, put_ints, put_reals, put_texts  !< (name, value [, error])
    procedure, private :: list_ints, list_reals, list_texts
    generic :: put_list => list_ints, list_reals, list_texts  !< (list, names, values [, error])
    procedure :: put_units                      !< (length, density, time [, error]): of this step, cgs
    procedure :: put_tree                       !< (tree [, error])
    procedure :: put_blocks                     !< (blocks [, error])
    procedure :: put_boxes                      !< (boxes [, error])
    procedure :: put_triangles                  !< (triangles [, error])
    procedure :: put_field                      !< (name, values [, unit, error, space, order, centring, stream,
                                                !< type])
    procedure :: put_arrays                     !< (name, values, kind, ghost, stride [, unit, error, space, stream])
    procedure :: put_particles                  !< (species, attribute, values [, unit, error, space, order, stream,
                                                !< type])
    procedure :: put_bytes                      !< (name, bytes [, error])
    procedure :: end_step                       !< collective ([error])
    procedure :: finished                       !< collective: logical ([error]): all steps are written
    procedure :: wait => writer_wait            !< collective ([error])
    procedure :: get_steps                      !< integer ([error]): steps that are durable, and those
                                                !< that a SERAFIN or MED file had when it was opened
    procedure :: newest_safe                    !< logical (flow, safety, step [, error]): the newest durable step that
                                                !< survives that: octavo_safe_local ...; .false.: there is none yet
    procedure :: get_statistics                 !< collective: (text [, error]): allocates `text`, JSON
    procedure :: close => writer_close          !< collective ([error])
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_target
    integer(c_size_t) :: size
    integer(c_int) :: kind
    type(c_ptr) :: path = c_null_ptr, options = c_null_ptr, from = c_null_ptr
    integer(c_int) :: background, sync, bound_thread, checksums, collect
    type(c_ptr) :: names = c_null_ptr
    integer(c_int64_t) :: num_names = 0
    integer(c_int) :: files
    integer(c_int64_t) :: max_box
    type(c_ptr) :: multifab = c_null_ptr, title = c_null_ptr, mesh = c_null_ptr, variables = c_null_ptr
    integer(c_int64_t) :: num_variables = 0
    integer(c_int) :: double_precision, little_endian, dated = 0, date(6) = 0, origin(2), writers
    integer(c_int64_t) :: alignment
    integer(c_int) :: ranks_per_node, resume = 0
    real(c_double) :: resume_time = 0
    integer(c_int64_t) :: staging_bytes
    integer(c_int) :: replace
  end type

  type, bind(c) :: c_array
    integer(c_size_t) :: size
    integer(c_int) :: type, space, centring = 0, components = 1, ghost
    type(c_ptr) :: values = c_null_ptr
    integer(c_int64_t) :: cells, stride_cell = 0, stride(3) = 0, stride_component = 0
    type(c_ptr) :: order = c_null_ptr, boxes = c_null_ptr, stream = c_null_ptr
  end type

  interface
    integer(c_int) function c_newest_safe(writer, flow, safety, any, step, error) bind(c, name='octavo_writer_newest_safe')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow, safety
      integer(c_int), intent(out) :: any
      integer(c_int64_t), intent(inout) :: step
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_open(comm, target, domain, writer, error) bind(c, name='octavo_fortran_writer_open')
      import
      integer(c_int), intent(in) :: comm
      type(c_target), intent(in) :: target
      type(c_ptr), value :: domain
      type(c_ptr), intent(out) :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_due(writer, flow, step, time, is_due, error) bind(c, name='octavo_writer_due')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      integer(c_int), intent(out) :: is_due
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_begin_step(writer, flow, path, step, time, error) bind(c, name='octavo_writer_begin_step')
      import
      type(c_ptr), value :: writer, path
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_attribute(writer, name, kind, values, number, error) &
        bind(c, name='octavo_writer_put_attribute')
      import
      type(c_ptr), value :: writer, values
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: kind
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_list(writer, list, names, kind, values, number, error) &
        bind(c, name='octavo_writer_put_list')
      import
      type(c_ptr), value :: writer, names, values
      character(kind=c_char), intent(in) :: list(*)
      integer(c_int), value :: kind
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_bytes(writer, name, bytes, number, error) bind(c, name='octavo_writer_put_bytes')
      import
      type(c_ptr), value :: writer, bytes
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_units(writer, length, density, time, error) bind(c, name='octavo_writer_put_units')
      import
      type(c_ptr), value :: writer
      real(c_double), value :: length, density, time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_tree(writer, tree, error) bind(c, name='octavo_writer_put_tree')
      import
      type(c_ptr), value :: writer
      type(c_tree), intent(in) :: tree
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_blocks(writer, blocks, error) bind(c, name='octavo_writer_put_blocks')
      import
      type(c_ptr), value :: writer
      type(c_blocks), intent(in) :: blocks
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_boxes(writer, boxes, error) bind(c, name='octavo_writer_put_boxes')
      import
      type(c_ptr), value :: writer
      type(c_boxes), intent(in) :: boxes
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_triangles(writer, mesh, error) bind(c, name='octavo_writer_put_triangles')
      import
      type(c_ptr), value :: writer
      type(c_triangles), intent(in) :: mesh
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_field(writer, name, unit, centring, values, order, cells, space, stream, type, error) &
        bind(c, name='octavo_fortran_writer_put_field')
      import
      type(c_ptr), value :: writer, order
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: centring, space, type
      type(c_ptr), value :: stream
      type(*), intent(in) :: values(..)
      integer(c_int64_t), value :: cells
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_array(writer, name, unit, array, error) bind(c, name='octavo_writer_put_field')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(c_array), intent(in) :: array
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_particles(writer, species, attribute, unit, values, order, particles, space, stream, &
                                            type, error) &
        bind(c, name='octavo_fortran_writer_put_particles')
      import
      type(c_ptr), value :: writer, order
      character(kind=c_char), intent(in) :: species(*), attribute(*), unit(*)
      type(*), intent(in) :: values(..)
      integer(c_int64_t), value :: particles
      integer(c_int), value :: space, type
      type(c_ptr), value :: stream
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_end_step(writer, error) bind(c, name='octavo_writer_end_step')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_finished(writer, all, error) bind(c, name='octavo_writer_finished')
      import
      type(c_ptr), value :: writer
      integer(c_int), intent(out) :: all
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_wait(writer, error) bind(c, name='octavo_writer_wait')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_steps(writer, steps, error) bind(c, name='octavo_writer_get_steps')
      import
      type(c_ptr), value :: writer
      integer(c_int64_t), intent(out) :: steps
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_statistics(writer, text, size, error) bind(c, name='octavo_writer_get_statistics')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_close(writer, error) bind(c, name='octavo_writer_close')
      import
      type(c_ptr), intent(inout) :: writer
      type(c_error), intent(out) :: error
    end function
  end interface

contains

  subroutine writer_open(self, comm, target, domain, from, error)
    class(octavo_writer), intent(inout) :: self
    integer, intent(in) :: comm
    type(octavo_target), intent(in) :: target
    type(octavo_domain), intent(in), optional :: domain  !< not for SERAFIN and MED
    type(octavo_restart), intent(in), optional :: from   !< store: the restart that this run continues
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), allocatable, target :: path(:), options(:), multifab(:), title(:), names(:, :), &
                                                   variables(:, :)
    character(kind=c_char), target :: code(81)
    type(c_ptr), allocatable, target :: name_at(:), variable_at(:)
    type(held_triangles), target :: held
    type(c_triangles), target :: mesh
    type(c_domain), target :: in_c
    type(c_ptr) :: domain_at
    type(c_target) :: to
    type(c_error) :: what
    to = c_target(0, int(target%kind, c_int), background=flag(target%background), sync=flag(target%sync), &
                  bound_thread=flag(target%bound_thread), checksums=flag(target%checksums), &
                  collect=flag(target%collect), files=int(target%files, c_int), max_box=target%max_box, &
                  double_precision=flag(target%double_precision), little_endian=flag(target%little_endian), &
                  origin=int(target%origin, c_int), writers=int(target%writers, c_int), alignment=target%alignment, &
                  ranks_per_node=int(target%ranks_per_node, c_int), staging_bytes=target%staging_bytes, &
                  replace=flag(target%replace))
    to%size = c_sizeof(to)
    if (present(from)) to%from = from%handle
    if (allocated(target%path)) call hold_text(target%path, path, to%path)
    if (allocated(target%options)) call hold_text(target%options, options, to%options)
    if (allocated(target%multifab)) call hold_text(target%multifab, multifab, to%multifab)
    if (allocated(target%title)) call hold_text(target%title, title, to%title)
    if (allocated(target%names)) call hold_pairs(target%names, names, name_at, to%names, to%num_names)
    if (allocated(target%variables)) &
      call hold_pairs(target%variables, variables, variable_at, to%variables, to%num_variables)
    call hold_triangles(target%mesh, held, mesh)
    to%mesh = c_loc(mesh)
    if (allocated(target%date)) then
      to%dated = 1
      to%date = int(target%date, c_int)
    end if
    if (allocated(target%resume_time)) then
      to%resume = 1
      to%resume_time = target%resume_time
    end if
    domain_at = c_null_ptr
    if (present(domain)) then
      in_c = domain_in_c(domain, code)
      domain_at = c_loc(in_c)
    end if
    call check(c_open(comm, to, domain_at, self%handle, what), what, error)
  end subroutine

  subroutine hold_text(string, held, first)
    character(*), intent(in) :: string
    character(kind=c_char), allocatable, target, intent(inout) :: held(:)
    type(c_ptr), intent(out) :: first
    held = text(string)
    first = c_loc(held)
  end subroutine

  subroutine hold_pairs(pairs, held, held_at, first, count)
    character(*), intent(in) :: pairs(:, :)
    character(kind=c_char), allocatable, target, intent(inout) :: held(:, :)
    type(c_ptr), allocatable, target, intent(inout) :: held_at(:)
    type(c_ptr), intent(out) :: first
    integer(c_int64_t), intent(out) :: count
    first = c_null_ptr
    count = size(pairs, 2, kind=c_int64_t)
    allocate (held(len(pairs) + 1, size(pairs)), held_at(size(pairs)))
    call point_at(reshape(pairs, [size(pairs)]), held, held_at)
    if (count > 0) first = c_loc(held_at)
  end subroutine

  logical function is_open(self)
    class(octavo_writer), intent(in) :: self
    is_open = c_associated(self%handle)
  end function

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

  subroutine begin_flow(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_begin_step(self%handle, int(flow, c_int), c_null_ptr, int(step, c_int64_t), time, what), what, error)
  end subroutine

  subroutine begin_path(self, path, step, time, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: path  !< must not exist
    integer, intent(in) :: step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: in_c(len_trim(path) + 1)
    type(c_error) :: what
    in_c = text(path)
    call check(c_begin_step(self%handle, int(octavo_checkpoint, c_int), c_loc(in_c), int(step, c_int64_t), time, what), &
               what, error)
  end subroutine

  subroutine begin_time(self, time, error)
    class(octavo_writer), intent(in) :: self
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    call begin_flow(self, octavo_checkpoint, 0, time, error)
  end subroutine

  subroutine put_int(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), target :: in_c
    type(c_error) :: what
    in_c = value
    call check(c_put_attribute(self%handle, text(name), octavo_int64, c_loc(in_c), scalar, what), what, error)
  end subroutine

  subroutine put_real(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in), target :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_attribute(self%handle, text(name), octavo_float64, c_loc(value), scalar, what), what, error)
  end subroutine

  ! The copy has one more element than the array, because c_loc needs an element to point at even if the array is empty.
  subroutine put_ints(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), target :: in_c(size(value) + 1)
    type(c_error) :: what
    in_c = [int(value, c_int64_t), 0_c_int64_t]
    call check(c_put_attribute(self%handle, text(name), octavo_int64, c_loc(in_c), size(value, kind=c_int64_t), what), what, &
               error)
  end subroutine

  subroutine put_reals(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    real(c_double), target :: in_c(size(value) + 1)
    type(c_error) :: what
    in_c = [value, 0.0_c_double]
    call check(c_put_attribute(self%handle, text(name), octavo_float64, c_loc(in_c), size(value, kind=c_int64_t), what), what, &
               error)
  end subroutine

  subroutine put_units(self, length, density, time, error)
    class(octavo_writer), intent(in) :: self
    real(real64), intent(in) :: length, density, time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_units(self%handle, length, density, time, what), what, error)
  end subroutine

  subroutine put_bytes(self, name, bytes, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int8), intent(in) :: bytes(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int8_t), target :: in_c(size(bytes) + 1)
    type(c_error) :: what
    in_c = [bytes, 0_int8]
    call check(c_put_bytes(self%handle, text(name), c_loc(in_c), size(bytes, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_text(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    call put_words(self, name, [value], scalar, error)
  end subroutine

  subroutine put_texts(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    call put_words(self, name, value, size(value, kind=c_int64_t), error)
  end subroutine

  subroutine put_words(self, name, value, number, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)
    integer(c_int64_t), intent(in) :: number
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr), target :: first(size(value) + 1)
    type(c_error) :: what
    call point_at(value, texts, first(:size(value)))
    call check(c_put_attribute(self%handle, text(name), octavo_text, c_loc(first), number, what), what, error)
  end subroutine

  subroutine list_ints(self, list, names, values, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: list, names(:)
    integer, intent(in) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), target :: in_c(size(values) + 1)
    in_c = [int(values, c_int64_t), 0_c_int64_t]
    call put_entries(self, list, names, octavo_int64, c_loc(in_c), size(values), error)
  end subroutine

  subroutine list_reals(self, list, names, values, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: list, names(:)
    real(real64), intent(in) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    real(c_double), target :: in_c(size(values) + 1)
    in_c = [values, 0.0_c_double]
    call put_entries(self, list, names, octavo_float64, c_loc(in_c), size(values), error)
  end subroutine

  subroutine list_texts(self, list, names, values, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: list, names(:), values(:)
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), allocatable, target :: texts(:, :)
    type(c_ptr), target :: first(size(values) + 1)
    allocate (texts(len(values) + 1, size(values)))
    call point_at(values, texts, first(:size(values)))
    call put_entries(self, list, names, octavo_text, c_loc(first), size(values), error)
  end subroutine

  subroutine put_entries(self, list, names, kind, values, number, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: list, names(:)
    integer(c_int), intent(in) :: kind
    type(c_ptr), intent(in) :: values
    integer, intent(in) :: number
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), allocatable, target :: texts(:, :)
    type(c_ptr), target :: first(size(names) + 1)
    type(c_error) :: what
    allocate (texts(len(names) + 1, size(names)))
    call point_at(names, texts, first(:size(names)))
    call check(c_put_list(self%handle, text(list), c_loc(first), kind, values, &
                          int(min(number, size(names)), c_int64_t), what), what, error)
  end subroutine

  subroutine put_tree(self, tree, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_tree), intent(in) :: tree
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable, target :: cells_of_level(:), held(:, :)
    integer(c_int8_t), allocatable, target :: refined(:), owned(:)
    type(c_tree) :: in_c
    type(c_error) :: what
    cells_of_level = tree%cells_of_level
    refined = [merge(1_c_int8_t, 0_c_int8_t, tree%refined), 0_c_int8_t]
    owned = [merge(1_c_int8_t, 0_c_int8_t, tree%owned), 0_c_int8_t]
    in_c%size = c_sizeof(in_c)
    in_c%levels = size(cells_of_level, kind=c_int)
    if (in_c%levels > 0) in_c%cells_of_level = c_loc(cells_of_level)
    in_c%refined = c_loc(refined)
    in_c%owned = c_loc(owned)
    if (allocated(tree%held)) then
      held = tree%held
      held(1, :) = held(1, :) - 1
      in_c%num_intervals = size(held, 2, kind=c_int64_t)
      if (in_c%num_intervals > 0) in_c%held = c_loc(held)
    end if
    call check(c_put_tree(self%handle, in_c, what), what, error)
  end subroutine

  subroutine put_blocks(self, blocks, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_blocks), intent(in) :: blocks
    type(octavo_error), intent(inout), optional :: error
    integer(c_int32_t), allocatable, target :: level(:)
    integer(c_int64_t), allocatable, target :: position(:)
    integer(c_int8_t), allocatable, target :: refined(:)
    type(c_blocks) :: in_c
    type(c_error) :: what
    level = [int(blocks%level, c_int32_t), 0_c_int32_t]
    position = [int(reshape(blocks%position, [size(blocks%position)]), c_int64_t), 0_c_int64_t]
    refined = [merge(1_c_int8_t, 0_c_int8_t, blocks%refined), 0_c_int8_t]
    in_c = c_blocks(c_sizeof(in_c), size(blocks%level, kind=c_int64_t), c_loc(level), c_loc(position), c_loc(refined))
    call check(c_put_blocks(self%handle, in_c, what), what, error)
  end subroutine

  subroutine put_boxes(self, boxes, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_boxes), intent(in) :: boxes
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable, target :: domain(:), boxes_of_level(:), corners(:)
    integer(c_int), allocatable, target :: ratio(:)
    type(c_boxes) :: in_c
    type(c_error) :: what
    domain = [reshape(boxes%domain, [size(boxes%domain)]), 0_c_int64_t]
    ratio = [int(boxes%ratio, c_int), 0_c_int]
    boxes_of_level = [boxes%boxes_of_level, 0_c_int64_t]
    corners = [reshape(boxes%boxes, [size(boxes%boxes)]), 0_c_int64_t]
    in_c = c_boxes(c_sizeof(in_c), size(boxes%boxes_of_level, kind=c_int), c_loc(domain), c_loc(ratio), &
                   c_loc(boxes_of_level), c_loc(corners))
    call check(c_put_boxes(self%handle, in_c, what), what, error)
  end subroutine

  !> Gives this rank's piece, which may have no points; every rank calls it. Fields then have a value per point, plane
  !> after plane, as put_field takes arrays of one dimension.
  subroutine put_triangles(self, triangles, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_triangles), intent(in) :: triangles
    type(octavo_error), intent(inout), optional :: error
    type(held_triangles), target :: held
    type(c_triangles) :: mesh
    type(c_error) :: what
    call hold_triangles(triangles, held, mesh)
    call check(c_put_triangles(self%handle, mesh, what), what, error)
  end subroutine

  !> Gives a field of real64, real32, int64, int32, int16, int8 or logical(c_bool) values. Trees: values(cell), one value
  !> per cell; or whole blocks, such as unk(1, 5:12, 5:12, 1, :), with the axes (x, y, z, cell), of which those beyond dim
  !> may be left out. After put_blocks: the blocks in that order. Boxes: values(cell), box after box. Triangles:
  !> values(point) or values(point, plane).
  subroutine put_field(self, name, values, unit, error, space, order, centring, stream, type)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    integer, intent(in), optional :: order(:)  !< position in `values` of each tree cell, from 1; 0: it has none
    integer, intent(in), optional :: centring  !< octavo_face_x, _y or _z for a face variable: it has one more value
                                               !< along the axis, and becomes the fields NAME_left and NAME_right
    type(c_ptr), intent(in), optional :: stream  !< of device memory: the CUDA stream whose work the values wait for
    integer, intent(in), optional :: type      !< octavo_uint32, octavo_float16 ...: the integers hold such values' bits
    integer(c_int64_t), allocatable, target :: places(:)
    type(c_ptr) :: first
    type(c_error) :: what
    call hold_order(order, places, first)
    call check(c_put_field(self%handle, text(name), unit_in_c(unit), number_in_c(centring), values, first, &
                           size(places, kind=c_int64_t) - 1, number_in_c(space), stream_in_c(stream), &
                           type_in_c(type), what), what, error)
  end subroutine

  !> Gives a field on boxes that each have an array of their own. `values`: c_loc of each array's first element, ghosts
  !> included.
  subroutine put_arrays(self, name, values, kind, ghost, stride, unit, error, space, stream)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: values(:)
    integer, intent(in) :: kind    !< kind of the elements: real64 or real32
    integer, intent(in) :: ghost   !< ghost cells on each side along each dimension
    integer, intent(in) :: stride  !< elements from one value to the next: 1, or the number of interleaved variables
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_ptr), intent(in), optional :: stream
    type(c_ptr), target :: boxes(size(values) + 1)
    type(c_array) :: array
    type(c_error) :: what
    boxes = [values, c_null_ptr]
    array = c_array(c_sizeof(array), merge(octavo_float64, octavo_float32, kind == real64), number_in_c(space), &
                    ghost=int(ghost, c_int), cells=size(values, kind=c_int64_t), &
                    stride=[int(stride, c_int64_t), 0_c_int64_t, 0_c_int64_t], boxes=c_loc(boxes), stream=stream_in_c(stream))
    call check(c_put_array(self%handle, text(name), unit_in_c(unit), array, what), what, error)
  end subroutine

  !> Gives an attribute: values(particle) or values(component, particle).
  subroutine put_particles(self, species, attribute, values, unit, error, space, order, stream, type)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    integer, intent(in), optional :: order(:)  !< position in `values` of each particle, from 1
    type(c_ptr), intent(in), optional :: stream
    integer, intent(in), optional :: type      !< as in put_field
    integer(c_int64_t), allocatable, target :: places(:)
    type(c_ptr) :: first
    type(c_error) :: what
    call hold_order(order, places, first)
    call check(c_put_particles(self%handle, text(species), text(attribute), unit_in_c(unit), values, first, &
                               size(places, kind=c_int64_t) - 1, number_in_c(space), stream_in_c(stream), type_in_c(type), &
                               what), what, error)
  end subroutine

  ! The copy has one more element, because an empty array has no address.
  subroutine hold_order(order, places, first)
    integer, intent(in), optional :: order(:)
    integer(c_int64_t), allocatable, target, intent(inout) :: places(:)
    type(c_ptr), intent(out) :: first
    first = c_null_ptr
    if (.not. present(order)) then
      allocate (places(1))
      return
    end if
    allocate (places(size(order) + 1))
    places(:size(order)) = int(order, c_int64_t) - 1
    first = c_loc(places)
  end subroutine

  type(c_ptr) function stream_in_c(stream) result(out)
    type(c_ptr), intent(in), optional :: stream
    out = c_null_ptr
    if (present(stream)) out = stream
  end function

  function unit_in_c(unit) result(out)
    character(*), intent(in), optional :: unit
    character(kind=c_char), allocatable :: out(:)
    out = [c_null_char]
    if (present(unit)) out = text(unit)
  end function

  integer(c_int) function type_in_c(type)
    integer, intent(in), optional :: type
    type_in_c = -1
    if (present(type)) type_in_c = int(type, c_int)
  end function

  integer(c_int) function number_in_c(number)
    integer, intent(in), optional :: number
    number_in_c = 0
    if (present(number)) number_in_c = int(number, c_int)
  end function

  subroutine end_step(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_end_step(self%handle, what), what, error)
  end subroutine

  logical function finished(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int) :: all
    all = 0
    call check(c_finished(self%handle, all, what), what, error)
    finished = all /= 0
  end function

  subroutine writer_wait(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_wait(self%handle, what), what, error)
  end subroutine

  integer function get_steps(self, error) result(steps)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int64_t) :: in_c
    in_c = 0
    call check(c_get_steps(self%handle, in_c, what), what, error)
    steps = int(in_c)
  end function

  logical function newest_safe(self, flow, safety, step, error) result(any)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, safety
    integer, intent(inout) :: step
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int) :: found
    integer(c_int64_t) :: number
    found = 0
    number = step
    call check(c_newest_safe(self%handle, int(flow, c_int), int(safety, c_int), found, number, what), what, error)
    any = found /= 0
    step = int(number)
  end function

  subroutine get_statistics(self, json, error)
    class(octavo_writer), intent(in) :: self
    character(:), allocatable, intent(out) :: json
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char) :: in_c(2048)
    type(c_error) :: what
    in_c = c_null_char
    call check(c_get_statistics(self%handle, in_c, size(in_c, kind=c_size_t), what), what, error)
    json = from_c(in_c)
  end subroutine

  subroutine writer_close(self, error)
    class(octavo_writer), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_close(self%handle, what), what, error)
  end subroutine

end module octavo_writing
