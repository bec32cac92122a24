!> Pieces of a mesh of triangles, as the writers and C have them. See octavo.f90.
module octavo_pieces
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: c_series_mesh, piece_in_c, hold_piece

  type, bind(c) :: c_series_mesh
    integer(c_int64_t) :: points = 0, triangles = 0
    integer(c_int) :: planes = 1
    type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, connectivity = c_null_ptr, global_point = c_null_ptr, &
                   global_element = c_null_ptr, boundary = c_null_ptr, geometry = c_null_ptr
  end type

  type :: piece_in_c
    real(real64), allocatable :: x(:), y(:)
    integer(int64), allocatable :: nodes(:, :), points(:), elements(:)
  end type

contains

  ! A piece of a mesh as C has it; the mesh refers to `held`, which must stay. Numbers count from 1.
  subroutine hold_piece(held, mesh, x, y, triangles, global_point, planes, global_triangle)
    type(piece_in_c), intent(inout), target :: held
    type(c_series_mesh), intent(inout) :: mesh
    real(real64), intent(in) :: x(:), y(:)
    integer, intent(in) :: triangles(:, :), global_point(:)
    integer, intent(in), optional :: planes, global_triangle(:)
    held%x = x
    held%y = y
    held%nodes = int(triangles, int64) - 1
    held%points = int(global_point, int64) - 1
    mesh%points = size(x, kind=c_int64_t)
    mesh%triangles = size(triangles, 2, kind=c_int64_t)
    if (present(planes)) mesh%planes = int(planes, c_int)
    mesh%x = c_loc(held%x)
    mesh%y = c_loc(held%y)
    mesh%connectivity = c_loc(held%nodes)
    mesh%global_point = c_loc(held%points)
    if (.not. present(global_triangle)) return
    held%elements = int(global_triangle, int64) - 1
    mesh%global_element = c_loc(held%elements)
  end subroutine
end module octavo_pieces
