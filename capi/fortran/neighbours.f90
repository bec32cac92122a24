!> What lies around a rank's share of a mesh of triangles. See octavo.f90.
module octavo_around
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use octavo_arguments
  use octavo_reading, only: octavo_restart
  implicit none
  private
  public :: octavo_neighbours

  !> What TELEMAC's PAR and CLI files tell a process. Points, triangles and places count from 1, MPI's ranks from 0.
  type :: octavo_neighbours
    integer, allocatable :: shared_point(:)        !< points that other ranks have, too, by number in the whole mesh
    integer, allocatable :: first(:), rank(:)      !< the ranks of the i-th are rank(first(i) : first(i+1) - 1)
    integer, allocatable :: halo_triangle(:)       !< with an edge to another rank's triangle
    integer, allocatable :: behind_rank(:, :)      !< (3, halo) behind points 1-2, 2-3, 3-1; -1: nothing
    integer, allocatable :: behind_triangle(:, :)  !< (3, halo) as that rank numbers it; 0: nothing
    integer, allocatable :: boundary_point(:)      !< along the boundary, where the store holds it
    integer, allocatable :: place(:)               !< along the whole boundary
    integer, allocatable :: liquid(:)              !< number of the liquid boundary; 0: a wall
    integer, allocatable :: next(:), previous(:)   !< number in the whole mesh of the point after and before it along
                                                   !< the boundary, where the edge to it is another rank's; else 0
    integer, allocatable :: codes(:, :)            !< (4, boundary) LIHBOR, LIUBOR, LIVBOR, LITBOR
    real(real64), allocatable :: values(:, :)      !< (7, boundary) HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR
    integer, allocatable :: colour(:)              !< the boundary file's last number
  contains
    procedure :: find  !< collective: allocates all (comm, restart [, error])
  end type

  type, bind(c) :: c_neighbours
    integer(c_int64_t) :: shared
    type(c_ptr) :: shared_point, first, rank
    integer(c_int64_t) :: halo
    type(c_ptr) :: halo_triangle, behind_rank, behind_triangle
    integer(c_int64_t) :: boundary
    type(c_ptr) :: boundary_point, place, liquid, next, previous, codes, values, colour, owner
  end type

  interface
    integer(c_int) function c_find(comm, restart, neighbours, error) bind(c, name='octavo_fortran_restart_neighbours')
      import
      integer(c_int), intent(in) :: comm
      type(c_ptr), value :: restart
      type(c_neighbours), intent(out) :: neighbours
      type(c_error), intent(out) :: error
    end function
    subroutine c_free(neighbours) bind(c, name='octavo_neighbours_free')
      import
      type(c_neighbours), intent(inout) :: neighbours
    end subroutine
  end interface

contains

  !> An error where the step is not of triangles, or was read by points.
  subroutine find(self, comm, restart, error)
    class(octavo_neighbours), intent(inout) :: self
    integer, intent(in) :: comm
    class(octavo_restart), intent(in) :: restart
    type(octavo_error), intent(inout), optional :: error
    type(c_neighbours) :: around
    type(c_error) :: what
    call check(c_find(comm, restart%handle, around, what), what, error)
    if (what%code /= 0) return
    self%shared_point = integers(around%shared_point, around%shared) + 1
    self%first = long_integers(around%first, around%shared + 1) + 1
    self%rank = integers(around%rank, int(self%first(around%shared + 1) - 1, c_int64_t))
    self%halo_triangle = integers(around%halo_triangle, around%halo) + 1
    self%behind_rank = reshape(integers(around%behind_rank, 3*around%halo), [3, int(around%halo)])
    self%behind_triangle = reshape(integers(around%behind_triangle, 3*around%halo) + 1, [3, int(around%halo)])
    self%boundary_point = integers(around%boundary_point, around%boundary) + 1
    self%place = integers(around%place, around%boundary) + 1
    self%liquid = integers(around%liquid, around%boundary)
    self%next = long_integers(around%next, around%boundary) + 1
    self%previous = long_integers(around%previous, around%boundary) + 1
    self%codes = reshape(integers(around%codes, 4*around%boundary), [4, int(around%boundary)])
    self%values = reshape(reals(around%values, 7*around%boundary), [7, int(around%boundary)])
    self%colour = integers(around%colour, around%boundary)
    call c_free(around)
  end subroutine

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
    integer, allocatable :: out(:)
    integer(c_int64_t), pointer :: there(:)
    allocate (out(count))
    if (count == 0) return
    call c_f_pointer(from, there, [count])
    out = int(there)
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

end module octavo_around
