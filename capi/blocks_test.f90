!> Part of octavo_test: what it expects; and blocks, boxes and faces, which come back on another number of ranks.
module blocks_test
  use mpi
  use octavo
  use, intrinsic :: iso_c_binding, only: c_loc, c_ptr
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  private
  public :: check_blocks, expect, wrong

  ! A domain of 8 x 4 cells in two blocks of 4 x 4, the first of which is refined once: level and corner of each block.
  integer, parameter :: level_of(6) = [0, 0, 1, 1, 1, 1], x_of(6) = [0, 4, 0, 4, 0, 4], y_of(6) = [0, 0, 0, 0, 4, 4]
  integer :: rank, wrong = 0  !< how many things were not as expected

contains

  subroutine check_blocks(store)
    character(*), intent(in) :: store
    real(real64), target :: unk(2, 0:5, 0:5, 6), faces(4, 5, 6)
    integer :: ranks, ierror, b, i, j, writers, comm
    logical :: mine(6)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    unk = -1e300_real64 ! ghosts
    do b = 1, 6
      do j = 1, 5
        do i = 1, 4
          if (j < 5) unk(:, i, j, b) = value_at(b, i, j)*[1, -1]
          faces(i, j, b) = value_at(b, i, j)
        end do
      end do
    end do
    ! Written by fewer ranks than there are.
    writers = max(1, ranks - 1)
    call MPI_Comm_split(MPI_COMM_WORLD, merge(0, MPI_UNDEFINED, rank < writers), 0, comm, ierror)
    mine = [(mod(b, writers) == rank, b=1, 6)]
    if (rank < writers) call write_tree(comm, store//'_tree', unk, faces, mine)
    if (rank < writers) call write_boxes(comm, store//'_boxes', unk, mine)
    if (rank < writers) call write_blocks(comm, store//'_blocks', unk, faces, mine)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    call read_tree(store//'_tree', .true.)
    call read_boxes(store//'_tree')
    call read_tree(store//'_boxes', .false.)
    call read_tree(store//'_blocks', .true.)
    call read_boxes(store//'_boxes')
    call errors_on_all_ranks(store//'_wrong', unk)
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, ierror)
  end subroutine

  real(real64) function value_at(block, i, j)
    integer, intent(in) :: block, i, j
    value_at = 10000*level_of(block) + 100*(y_of(block) + j) + x_of(block) + i
  end function

  subroutine open_and_begin(writer, comm, store)
    type(octavo_writer), intent(inout) :: writer
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_domain) :: domain
    type(octavo_target) :: to
    domain%dim = 2
    domain%roots(1) = 2
    domain%block(:2) = 4
    to%path = store
    call writer%open(comm, to, domain)
    call writer%begin_step(octavo_checkpoint, 7, 0.5_real64)
  end subroutine

  subroutine put_tree(writer, mine)
    type(octavo_writer), intent(in) :: writer
    logical, intent(in) :: mine(6)
    call writer%put_tree(octavo_tree([2_int64, 4_int64], [.true., spread(.false., 1, 5)], mine))
  end subroutine

  subroutine write_tree(comm, store, unk, faces, mine)
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    real(real64), intent(in), target :: unk(:, 0:, 0:, :), faces(:, :, :)
    logical, intent(in) :: mine(6)
    type(octavo_writer) :: writer
    real(real64), allocatable, target :: backwards(:, :, :)  ! this rank's blocks alone
    integer :: b, n, order(6)
    call open_and_begin(writer, comm, store)
    call put_tree(writer, mine)
    call writer%put_field('dens', unk(1, 1:4, 1:4, :), unit='g/cm^3', space=octavo_host)
    call writer%put_field('temp', unk(2, 1:4, 1:4, :))
    call writer%put_field('mag', faces, centring=octavo_face_y)
    n = 0
    order = 0
    allocate (backwards(4, 4, count(mine)))
    do b = 6, 1, -1
      if (.not. mine(b)) cycle
      n = n + 1
      order(b) = n
      backwards(:, :, n) = unk(1, 1:4, 1:4, b)
    end do
    call writer%put_field('ordered', backwards, order=order)
    call writer%end_step()
    call writer%close()
  end subroutine

  !> This rank's blocks alone, the last first.
  subroutine write_blocks(comm, store, unk, faces, mine)
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    real(real64), intent(in) :: unk(:, 0:, 0:, :), faces(:, :, :)
    logical, intent(in) :: mine(6)
    type(octavo_writer) :: writer
    type(octavo_blocks) :: blocks
    real(real64), allocatable, target :: own(:, :, :, :), own_faces(:, :, :)
    integer, allocatable :: list(:)
    integer :: b
    list = pack([(b, b=6, 1, -1)], mine(6:1:-1))
    own = unk(:, :, :, list)
    own_faces = faces(:, :, list)
    blocks%level = level_of(list)
    blocks%position = reshape([(x_of(list(b))/4, y_of(list(b))/4, 0, b=1, size(list))], [3, size(list)])
    blocks%refined = list == 1
    call open_and_begin(writer, comm, store)
    call writer%put_blocks(blocks)
    call writer%put_field('dens', own(1, 2:5, 2:5, :), unit='g/cm^3')
    call writer%put_field('temp', own(2, 2:5, 2:5, :))
    call writer%put_field('mag', own_faces, centring=octavo_face_y)
    call writer%put_field('ordered', own(1, 2:5, 2:5, :))
    call writer%end_step()
    call writer%close()
  end subroutine

  subroutine write_boxes(comm, store, unk, mine)
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    real(real64), intent(in), target :: unk(:, 0:, 0:, :)
    logical, intent(in) :: mine(6)
    type(octavo_writer) :: writer
    integer(int64) :: domain(3, 2, 2), boxes(3, 2, count(mine)), boxes_of_level(2)
    real(real64), allocatable, target :: flat(:)
    type(c_ptr) :: arrays(count(mine))
    integer :: b, n
    domain = reshape([0, 0, 0, 8, 4, 1, 0, 0, 0, 16, 8, 1], [3, 2, 2])
    allocate (flat(0))
    n = 0
    do b = 1, 6
      if (.not. mine(b)) cycle
      n = n + 1
      boxes(:, :, n) = reshape([x_of(b), y_of(b), 0, x_of(b) + 4, y_of(b) + 4, 1], [3, 2])
      arrays(n) = c_loc(unk(1, 0, 0, b))
      flat = [flat, reshape(unk(2, 1:4, 1:4, b), [16])]
    end do
    boxes_of_level = [count(mine .and. level_of == 0), count(mine .and. level_of == 1)]
    call open_and_begin(writer, comm, store)
    call writer%put_boxes(octavo_boxes(domain, [2], boxes_of_level, boxes))
    call writer%put_arrays('dens', arrays, real64, ghost=1, stride=2)
    call writer%put_field('temp', flat)
    call writer%end_step()
    call writer%close()
  end subroutine

  ! Each of the 96 values is owned once, and what was put.
  subroutine read_tree(store, with_faces)
    character(*), intent(in) :: store
    logical, intent(in) :: with_faces
    type(octavo_restart) :: from
    type(octavo_tree) :: tree
    real(real64), allocatable :: dens(:), temp(:), low(:), high(:), ordered(:)
    integer, allocatable :: block(:)
    integer :: cell, v, first
    call from%open(MPI_COMM_WORLD, store)
    call from%get_tree(tree)
    call from%get_field('dens', dens)
    call from%get_field('temp', temp)
    if (with_faces) call from%get_field('mag_left', low)
    if (with_faces) call from%get_field('mag_right', high)
    if (with_faces) call from%get_field('ordered', ordered)
    ! The roots are blocks 1 and 2, children of the first one blocks 3 to 6: a share that lacks them is pruned.
    block = [1, 2]
    if (tree%refined(1)) block = [block, 3, 4, 5, 6]
    call expect(size(block) == size(tree%owned) .and. size(dens) == 16*size(tree%owned), 'blocks of a share')
    do cell = 1, size(tree%owned)
      first = 16*(cell - 1)
      do v = 1, 16
        if (.not. tree%owned(cell)) exit
        call expect(dens(first + v) == expected(block(cell), v, 0), 'dens of '//store)
        call expect(temp(first + v) == -expected(block(cell), v, 0), 'temp of '//store)
        if (.not. with_faces) cycle
        call expect(ordered(first + v) == dens(first + v), 'an array in another order')
        call expect(low(first + v) == expected(block(cell), v, 0), 'low faces')
        call expect(high(first + v) == expected(block(cell), v, 1), 'high faces')
      end do
    end do
    call expect(sum_of_all(16*count(tree%owned)) == 96, 'each cell of a tree on one rank')
    call from%free()
  end subroutine

  subroutine read_boxes(store)
    character(*), intent(in) :: store
    type(octavo_restart) :: from
    type(octavo_boxes) :: boxes
    real(real64), allocatable :: dens(:)
    integer :: b, x, y, n, level
    call from%open(MPI_COMM_WORLD, store, octavo_restart_options(boxes=.true.))
    call from%get_boxes(boxes)
    call from%get_field('dens', dens)
    call expect(size(boxes%ratio) == 1 .and. all(boxes%ratio == 2) .and. all(boxes%domain(:2, 2, 2) == [16, 8]), &
                'levels of boxes')
    n = 0
    do b = 1, size(boxes%boxes, 3)
      level = merge(0, 1, b <= boxes%boxes_of_level(1))
      do y = int(boxes%boxes(2, 1, b)) + 1, int(boxes%boxes(2, 2, b))
        do x = int(boxes%boxes(1, 1, b)) + 1, int(boxes%boxes(1, 2, b))
          n = n + 1
          call expect(dens(n) == 10000*level + 100*y + x, 'dens of boxes of '//store)
        end do
      end do
    end do
    call expect(sum_of_all(n) == 96, 'each cell of boxes on one rank')
    call from%free()
  end subroutine

  subroutine errors_on_all_ranks(store, unk)
    character(*), intent(in) :: store
    real(real64), intent(in), target :: unk(:, 0:, 0:, :)
    type(octavo_writer) :: writer
    type(octavo_error) :: error
    call open_and_begin(writer, MPI_COMM_WORLD, store)
    call put_tree(writer, spread(rank == 0, 1, 6))
    call writer%put_field('dens', unk(1, 1:merge(3, 4, rank == 0), 1:4, :))
    call writer%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'field dens') > 0, 'blocks of another size')
    call writer%begin_step(octavo_checkpoint, 8, 0.5_real64)
    call put_tree(writer, spread(rank == 0, 1, 6))
    call writer%put_arrays('dens', [c_loc(unk)], real64, ghost=1, stride=2, error=error)
    call writer%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'no boxes were put') > 0, 'arrays of boxes that are none')
    call writer%begin_step(octavo_checkpoint, 9, 0.5_real64)
    call put_tree(writer, spread(rank == 0, 1, 6))
    call writer%put_field('dens', unk(1, 1:4, 1:4, :), order=[1, 2, 3, 4, 5, merge(7, 6, rank == 0)], error=error)
    call writer%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'order: expected 0 to 6, found 7') > 0, 'an order too far')
    call writer%close()
  end subroutine

  real(real64) function expected(block, v, above)
    integer, intent(in) :: block, v, above
    expected = value_at(block, mod(v - 1, 4) + 1, (v - 1)/4 + 1 + above)
  end function

  integer function sum_of_all(mine) result(all)
    integer, intent(in) :: mine
    integer :: ierror
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  end function

  subroutine expect(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    integer :: ierror
    if (condition) return
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    print '(a, i0, 2a)', 'rank ', rank, ': not as expected: ', what
    wrong = wrong + 1
  end subroutine

end module blocks_test
