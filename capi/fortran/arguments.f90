!> Definitions that the modules share: errors, texts and the description of a run, in Fortran types and in C types.
module octavo_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real64
  implicit none
  public

  ! Names and numbers of octavo.h's enums.
  integer, parameter :: octavo_checkpoint = 0, octavo_analysis = 1
  !> What a step survives: the end of the job; the loss of a node; of one node of a group; of two; of all nodes.
  integer, parameter :: octavo_safe_local = 0, octavo_safe_partner = 1, octavo_safe_xor = 2, octavo_safe_rs = 3, &
    octavo_safe_store = 4
  integer, parameter :: octavo_store = 0, octavo_flash = 1, octavo_amrex_plotfile = 2, octavo_amrex_checkpoint = 3, &
                        octavo_serafin = 4, octavo_med = 5
  integer, parameter :: octavo_cell = 0, octavo_face_x = 1, octavo_face_y = 2, octavo_face_z = 3, octavo_node = 4
  integer, parameter :: octavo_mesh_none = 0, octavo_mesh_tree = 1, octavo_mesh_boxes = 2, octavo_mesh_triangles = 3
  integer, parameter :: octavo_host = 0, octavo_device = 1  !< memory space of arrays that are put
  !> Types of values. A put with `type` takes unsigned integers and floats of 16 bits from integers of their width.
  integer(c_int), parameter :: octavo_float64 = 0, octavo_float32 = 1, octavo_int64 = 2, octavo_int32 = 3, &
    octavo_int16 = 4, octavo_int8 = 5, octavo_uint64 = 6, octavo_uint8 = 7, octavo_uint32 = 8, octavo_bool = 9, &
    octavo_float16 = 10, octavo_bfloat16 = 11, octavo_text = 100
  integer(c_int), parameter :: host = 0
  integer(c_int64_t), parameter :: scalar = -1

  type :: octavo_error
    integer :: code = 0
    character(:), allocatable :: message
  end type

  !> The properties that all steps of a run share.
  type :: octavo_domain
    character(80) :: code = ''
    integer :: dim = 3
    integer(int64) :: roots(3) = 1_int64             !< cells of level 0; 1 beyond dim
    integer(int64) :: block(3) = 1_int64             !< values of a tree cell (nxb, nyb, nzb); 1 beyond dim
    integer :: unfolded = 0                          !< boxes only: their level 0 lies this many levels below the roots
    real(real64) :: lo(3) = 0, hi(3) = 1             !< corners [code length]
    logical :: periodic(3) = .false.
    real(real64) :: unit_length = 1, unit_density = 1, unit_time = 1  !< one code unit: [cm], [g/cm^3], [s]
    integer :: first_level = 0                       !< the code's own number of level 0
  end type

  !> The tree of this rank, level after level. The k-th refined cell of a level (k from 1) has 2**dim children: cells
  !> 2**dim * (k - 1) + 1 to 2**dim * k of the next level, x fastest.
  type :: octavo_tree
    integer(int64), allocatable :: cells_of_level(:)
    logical, allocatable :: refined(:), owned(:)     !< one flag per cell, level after level
    integer(int64), allocatable :: held(:, :)        !< (2, intervals) first and last root that level 0 holds, from 1;
                                                     !< not allocated: all roots of the domain
  end type

  !> This rank's blocks of a tree, refined ones too, in any order. Fields that are put afterwards have their values in
  !> this order.
  type :: octavo_blocks
    integer, allocatable :: level(:)                 !< the code's own numbers
    integer, allocatable :: position(:, :)           !< (3, blocks) in blocks of the level, from 0; 0 beyond dim
    logical, allocatable :: refined(:)               !< the block has children, on this rank or another
  end type

  !> This rank's boxes, as in AMReX. They are half-open and count cells of their level from 0; beyond dim they span 0
  !> to 1.
  type :: octavo_boxes
    integer(int64), allocatable :: domain(:, :, :)   !< (3, 2, levels) the box of all cells of each level
    integer, allocatable :: ratio(:)                 !< (levels - 1) refinement from each level to the next
    integer(int64), allocatable :: boxes_of_level(:)
    integer(int64), allocatable :: boxes(:, :, :)    !< (3, 2, boxes) level after level
  end type

  !> This rank's piece of a mesh of triangles, or of prisms between planes. Numbers count from 1, as in TELEMAC's IKLE,
  !> KNOLG and IPOBO.
  type :: octavo_triangles
    real(real64), allocatable :: x(:), y(:)          !< points of this rank in one plane
    integer, allocatable :: triangles(:, :)          !< (3, triangles) numbers of points on this rank
    integer, allocatable :: global_point(:)          !< number of each point in the whole mesh
    integer :: planes = 1                            !< more than 1: 3-D; values come plane after plane, bottom first
    integer, allocatable :: global_triangle(:)       !< not allocated on any rank: numbered by their lowest point
    integer, allocatable :: boundary(:)              !< SERAFIN: position of each point on the boundary; 0: inside
    character(:), allocatable :: geometry            !< SERAFIN, MED: a file of the whole mesh
  end type

  !> The target of a writer and its options. octavo.h's struct octavo_target says which target uses which component.
  type :: octavo_target
    integer :: kind = octavo_store
    character(:), allocatable :: path
    character(:), allocatable :: options             !< a TOML file
    logical :: background = .true., sync = .true., bound_thread = .false., checksums = .true., collect = .false.
    character(80), allocatable :: names(:, :)        !< (2, n): name of a field, and its name in the file
    integer :: files = 0
    integer(int64) :: max_box = 64
    character(:), allocatable :: multifab, title
    type(octavo_triangles) :: mesh
    character(80), allocatable :: variables(:, :)    !< (2, n): name and unit
    logical :: double_precision = .false., little_endian = .false.
    integer, allocatable :: date(:)                  !< year, month, day, hour, minute, second
    integer :: origin(2) = 0, writers = 0
    integer(int64) :: alignment = 4096
    integer :: ranks_per_node = 0
    real(real64), allocatable :: resume_time         !< append to an existing file, after its last step up to this time
    integer(int64) :: staging_bytes = 268435456_int64
    logical :: replace = .false.
  end type

  ! ------------------------------------------------------------------ as C has it

  type, bind(c) :: c_error
    integer(c_int) :: code
    character(kind=c_char) :: message(2048)
  end type

  type, bind(c) :: c_domain
    integer(c_size_t) :: size
    type(c_ptr) :: code
    integer(c_int) :: dim
    integer(c_int64_t) :: roots(3), block(3)
    integer(c_int) :: unfolded
    real(c_double) :: lo(3), hi(3)
    integer(c_int) :: periodic(3)
    real(c_double) :: unit_length, unit_density, unit_time
    integer(c_int) :: first_level
  end type

  type, bind(c) :: c_tree
    integer(c_size_t) :: size
    integer(c_int) :: levels = 0
    type(c_ptr) :: cells_of_level = c_null_ptr, refined = c_null_ptr, owned = c_null_ptr
    integer(c_int64_t) :: num_intervals = 0
    type(c_ptr) :: held = c_null_ptr
  end type

  type, bind(c) :: c_blocks
    integer(c_size_t) :: size
    integer(c_int64_t) :: blocks = 0
    type(c_ptr) :: level = c_null_ptr, position = c_null_ptr, refined = c_null_ptr
  end type

  type, bind(c) :: c_boxes
    integer(c_size_t) :: size
    integer(c_int) :: levels = 0
    type(c_ptr) :: domain = c_null_ptr, ratio = c_null_ptr, boxes_of_level = c_null_ptr, boxes = c_null_ptr
  end type

  type, bind(c) :: c_triangles
    integer(c_size_t) :: size
    integer(c_int64_t) :: points = 0, triangles = 0
    integer(c_int) :: planes = 1
    type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, connectivity = c_null_ptr, global_point = c_null_ptr, &
                   global_triangle = c_null_ptr, boundary = c_null_ptr, geometry = c_null_ptr
  end type

  ! The arrays that a c_triangles points to.
  type :: held_triangles
    real(real64), allocatable :: x(:), y(:)
    integer(int64), allocatable :: nodes(:, :), points(:), elements(:)
    integer(int32), allocatable :: boundary(:)
    character(kind=c_char), allocatable :: geometry(:)
  end type

contains

  function text(string) result(out)
    character(*), intent(in) :: string
    character(kind=c_char) :: out(len_trim(string) + 1)
    integer :: i
    do i = 1, len_trim(string)
      out(i) = string(i:i)
    end do
    out(size(out)) = c_null_char
  end function

  ! Pointers to the first character of each text, as C takes lists of texts.
  subroutine point_at(strings, texts, first)
    character(*), intent(in) :: strings(:)
    character(kind=c_char), intent(out), target, contiguous :: texts(:, :)
    type(c_ptr), intent(out) :: first(:)
    integer :: i
    do i = 1, size(strings)
      texts(:len_trim(strings(i)) + 1, i) = text(strings(i))
      first(i) = c_loc(texts(1, i))
    end do
  end subroutine

  ! The text that C wrote, up to its closing 0.
  function from_c(characters) result(out)
    character(kind=c_char), intent(in) :: characters(:)
    character(:), allocatable :: out
    integer :: i, length
    length = 0
    do while (length < size(characters))
      if (characters(length + 1) == c_null_char) exit
      length = length + 1
    end do
    allocate (character(length) :: out)
    do i = 1, length
      out(i:i) = characters(i)
    end do
  end function

  subroutine check(code, what, error)
    integer(c_int), intent(in) :: code
    type(c_error), intent(in) :: what
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: message
    if (code == 0 .and. .not. present(error)) return
    message = from_c(what%message)
    if (present(error)) then
      error%code = int(code)
      error%message = message
    else
      write (error_unit, '(a)') message
      error stop 1
    end if
  end subroutine

  ! `code` has room for the name and its closing 0. The result points to it, so it must live as long.
  type(c_domain) function domain_in_c(domain, code) result(out)
    type(octavo_domain), intent(in) :: domain
    character(kind=c_char), intent(out), target, contiguous :: code(:)
    code = ' '
    code(:len_trim(domain%code) + 1) = text(domain%code)
    out = c_domain(0, c_loc(code), int(domain%dim, c_int), domain%roots, domain%block, int(domain%unfolded, c_int), &
                   domain%lo, domain%hi, merge(1_c_int, 0_c_int, domain%periodic), domain%unit_length, &
                   domain%unit_density, domain%unit_time, int(domain%first_level, c_int))
    out%size = c_sizeof(out)
  end function

  ! The result points into `held`, which must live as long.
  subroutine hold_triangles(mesh, held, out)
    type(octavo_triangles), intent(in) :: mesh
    type(held_triangles), intent(inout), target :: held
    type(c_triangles), intent(out) :: out
    out%size = c_sizeof(out)
    out%planes = int(mesh%planes, c_int)
    if (allocated(mesh%x)) then
      held%x = mesh%x
      held%y = mesh%y
      held%nodes = int(mesh%triangles, int64) - 1
      held%points = int(mesh%global_point, int64) - 1
      out%points = size(mesh%x, kind=c_int64_t)
      out%triangles = size(mesh%triangles, 2, kind=c_int64_t)
      out%x = c_loc(held%x)
      out%y = c_loc(held%y)
      out%connectivity = c_loc(held%nodes)
      out%global_point = c_loc(held%points)
    end if
    if (allocated(mesh%global_triangle)) then
      held%elements = int(mesh%global_triangle, int64) - 1
      out%global_triangle = c_loc(held%elements)
    end if
    if (allocated(mesh%boundary)) then
      held%boundary = int(mesh%boundary, int32)
      out%boundary = c_loc(held%boundary)
    end if
    if (allocated(mesh%geometry)) then
      held%geometry = text(mesh%geometry)
      out%geometry = c_loc(held%geometry)
    end if
  end subroutine

  function octavo_version() result(version)
    character(:), allocatable :: version
    interface
      type(c_ptr) function c_version() bind(c, name='octavo_version')
        import
      end function
    end interface
    version = text_at(c_version())
  end function

  integer(c_int) function flag(condition)
    logical, intent(in) :: condition
    flag = merge(1_c_int, 0_c_int, condition)
  end function

  ! Copies of arrays that the library owns.
  function integers(from, count) result(out)
    type(c_ptr), intent(in) :: from
    integer(c_int64_t), intent(in) :: count
    integer, allocatable :: out(:)
    integer(c_int32_t), pointer :: there(:)
    allocate (out(count))
    if (count == 0) return
    call c_f_pointer(from, there, [count])
    out = there
  end function

  function long_integers(from, count) result(out)
    type(c_ptr), intent(in) :: from
    integer(c_int64_t), intent(in) :: count
    integer(int64), allocatable :: out(:)
    integer(c_int64_t), pointer :: there(:)
    allocate (out(count))
    if (count == 0) return
    call c_f_pointer(from, there, [count])
    out = there
  end function

  function logicals(from, count) result(out)
    type(c_ptr), intent(in) :: from
    integer(c_int64_t), intent(in) :: count
    logical, allocatable :: out(:)
    integer(c_int8_t), pointer :: there(:)
    allocate (out(count))
    if (count == 0) return
    call c_f_pointer(from, there, [count])
    out = there /= 0
  end function

  function reals(from, count) result(out)
    type(c_ptr), intent(in) :: from
    integer(c_int64_t), intent(in) :: count
    real(real64), allocatable :: out(:)
    real(c_double), pointer :: there(:)
    allocate (out(count))
    if (count == 0) return
    call c_f_pointer(from, there, [count])
    out = there
  end function

  function text_at(from) result(out)
    type(c_ptr), intent(in) :: from
    character(:), allocatable :: out
    character(kind=c_char), pointer :: there(:)
    interface
      integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
        import
        type(c_ptr), value :: text
      end function
    end interface
    call c_f_pointer(from, there, [c_strlen(from)])
    out = from_c(there)
  end function

end module octavo_arguments
