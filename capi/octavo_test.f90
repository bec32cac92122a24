! Run by ctest on several ranks: strided and reversed arrays, all types, particles, errors. Prints nothing but what is wrong.
program octavo_test
  use mpi
  use blocks_test
  use octavo
  use, intrinsic :: iso_c_binding, only: c_bool, c_loc
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  type(octavo_domain) :: domain
  type(octavo_target) :: to
  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  type(octavo_error) :: error
  character(1000) :: store
  real(real64), target :: wide(3, 8), x(2) = [0.25_real64, 0.75_real64]
  real(real32), target :: single(8)
  integer(int64), target :: long(8), id(2) = [7_int64, 8_int64]
  integer(int32), target :: short(8)
  real(real64), allocatable :: r64(:)
  real(real32), allocatable :: r32(:)
  integer(int64), allocatable :: i64(:)
  integer(int32), allocatable :: i32(:)
  type(octavo_tree) :: tree
  integer(int8), target :: tiny(8)
  integer :: places(2) = [7, 3]
  type(octavo_restart_info) :: share
  real(real64), allocatable :: times(:)
  integer, allocatable :: sizes(:)
  type(octavo_field_info) :: info
  character(8), allocatable :: words(:)
  type(octavo_box) :: box
  real(real64), allocatable :: cube(:, :, :), cubes(:, :, :, :)
  integer(int64) :: missing
  character(:), allocatable :: who, json
  integer :: cycle_number, newest
  real(real64) :: dt
  integer :: provided, rank, ierror, i, particles

  call MPI_Init_thread(MPI_THREAD_FUNNELED, provided, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call get_command_argument(1, store)
  wide = reshape([(real(i, real64), i=1, 24)], [3, 8])
  single = [(real(i)/2, i=1, 8)]
  long = [(i*10_int64**10, i=1, 8)]
  short = [(-i, i=1, 8)]
  particles = merge(2, 0, rank == 0)
  tiny = [(int(10*i, int8), i=1, 8)]

  domain%roots = 2
  domain%first_level = 5
  to%path = trim(store)
  call writer%open(MPI_COMM_WORLD, to, domain)
  call writer%begin_step(octavo_checkpoint, 3, 1.5_real64)
  call writer%put_attribute('cycle', 17)
  call writer%put_attribute('dt', 0.5_real64)
  call writer%put_attribute('who', 'a test')
  call writer%put_attribute('sizes', [3, -4, 5])
  call writer%put_attribute('reals', [0.25_real64, 1e300_real64])
  call writer%put_attribute('names', ['one  ', 'three'])
  call writer%put_tree(octavo_tree([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8)))
  call writer%put_field('strided', wide(2, :), unit='cm')
  call writer%put_field('single', single, space=octavo_host)
  call writer%put_field('long', long)
  call writer%put_field('reversed', short(8:1:-1))
  call writer%put_particles('stars', 'position_x', x(:particles))
  call writer%put_particles('stars', 'position_y', x(:particles))
  call writer%put_particles('stars', 'position_z', x(:particles))
  call writer%put_particles('stars', 'id', id(:particles))
  call writer%put_particles('stars', 'mass', single(2:2*particles:2))
  call writer%put_particles('stars', 'kind', short(:particles))
  call writer%put_particles('stars', 'family', tiny, order=places(:particles))
  call writer%put_particles('stars', 'turned', short, order=places(:particles))
  call writer%put_particles('stars', 'three', wide, order=places(:particles))
  call writer%end_step()
  call writer%wait()
  call expect(writer%due(octavo_checkpoint, 4, 2.0_real64), 'due')
  newest = 0
  call expect(writer%newest_safe(octavo_checkpoint, octavo_safe_local, newest) .and. newest == 3, 'newest durable step')
  call expect(writer%newest_safe(octavo_checkpoint, octavo_safe_store, newest) .and. newest == 3, 'newest step in the store')
  call expect(writer%newest_safe(octavo_checkpoint, octavo_safe_rs, newest) .and. newest == 3, 'newest safe step')
  call expect(.not. writer%newest_safe(octavo_analysis, octavo_safe_local, newest), 'no analysis step')
  call writer%get_statistics(json)
  call expect(index(json, '"total": {"steps": ') > 0 .and. json(len(json):) == '}', 'statistics')
  ! One rank's field is too short: all are told.
  call writer%begin_step(octavo_checkpoint, 4, 2.0_real64)
  call writer%put_tree(octavo_tree([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8)))
  call writer%put_field('single', single(:merge(7, 8, rank == 0)))
  call writer%end_step(error)
  call expect(error%code == 2 .and. index(error%message, 'field single') > 0, 'an error on all ranks')
  call writer%close()

  box%level = 5
  box%upper = 2
  call octavo_read_box(store, box, 'single', cube, missing, error)
  call expect(missing == 0 .and. all(shape(cube) == [2, 2, 2]) .and. error%code == 0, 'a box of cells')
  call expect(all(reshape(cube, [8]) == single), 'values of a box of cells')
  call octavo_read_box(store, box, ['single ', 'strided'], cubes, error=error)
  call expect(all(shape(cubes) == [2, 2, 2, 2]) .and. all(cubes(:, :, :, 1) == cube) .and. &
              all(reshape(cubes(:, :, :, 2), [8]) == wide(2, :8)), 'two fields of a box of cells')
  box%lower = [2, 1, 2]
  call octavo_read_box(store, box, 'strided', cube)
  call expect(all(reshape(cube, [2]) == [wide(2, 6), wide(2, 8)]), 'values of a smaller box')
  box%upper = 3
  call octavo_read_box(store, box, 'single', cube, error=error)
  call expect(error%code == 2 .and. index(error%message, 'box') > 0, 'a box outside of the domain')
  call octavo_list_steps(store, octavo_checkpoint, i64, times)
  call expect(size(i64) == 1 .and. all(i64 == 3) .and. all(times == 1.5_real64), 'list of steps')
  call from%open(MPI_COMM_WORLD, store)
  call from%get_attribute('cycle', cycle_number)
  call from%get_attribute('dt', dt)
  call from%get_attribute('who', who)
  call expect(cycle_number == 17 .and. dt == 0.5_real64 .and. who == 'a test', 'attributes')
  call from%get_attribute('sizes', sizes)
  call from%get_attribute('reals', r64)
  call expect(size(sizes) == 3 .and. all(sizes == [3, -4, 5]), 'integers')
  call expect(size(r64) == 2 .and. all(r64 == [0.25_real64, 1e300_real64]), 'reals')
  call from%get_attribute('nothing', dt, error)
  call expect(error%code == 2, 'an unknown attribute')
  call from%get_attribute('names', words)
  call expect(size(words) == 2 .and. all(words == ['one     ', 'three   ']), 'texts')
  call expect(from%get_attribute_count('sizes') == 3 .and. from%get_attribute_count('nothing') == -1, 'counts')
  call from%get_info(share)
  call expect(share%num_fields == 13, 'number of fields')
  call from%get_field_info(1, info)
  call expect(info%name == 'strided' .and. info%unit == 'cm' .and. info%species == '', 'a field')
  call from%get_field_info(9, info)
  call expect(info%name == 'mass' .and. info%species == 'stars' .and. info%type == 1, 'an attribute')
  call expect(info%count == particles .and. from%get_particle_count('stars') == particles, 'count of particles')
  call from%get_field_info(14, info, error)
  call expect(error%code == 2, 'a field that there is not')
  call from%get_field_info(11, info)
  call expect(info%name == 'family' .and. info%type == 5, 'an attribute of 8 bits')
  call expect(share%domain%first_level == 5, 'the number of the first level')
  call expect(from%found() .and. share%step == 3 .and. share%time == 1.5_real64, 'the newest step')
  call expect(share%mesh == octavo_mesh_tree .and. share%levels == 1 .and. share%cells == 8, 'its mesh')
  call from%get_tree(tree)
  call expect(all(tree%cells_of_level == [8_int64]) .and. .not. any(tree%refined) .and. &
              (all(tree%owned) .eqv. rank == 0), 'tree')
  call from%get_field('strided', r64)
  call expect(all(r64 == wide(2, :)), 'strided')
  call from%get_field('single', r32)
  call expect(all(r32 == single), 'single')
  call from%get_field('long', i64)
  call expect(all(i64 == long), 'long')
  call from%get_field('reversed', i32)
  call expect(all(i32 == short(8:1:-1)), 'reversed')
  call from%get_particles('stars', 'id', i64)
  call expect(size(i64) == particles .and. all(i64 == id(:particles)), 'particles')
  call from%get_particles('stars', 'mass', r32)
  call expect(size(r32) == particles .and. all(r32 == single(2:2*particles:2)), 'particles of 32 bits')
  call from%get_particles('stars', 'kind', i32)
  call expect(size(i32) == particles .and. all(i32 == short(:particles)), 'particles of 32 bits')
  call from%get_particles('stars', 'turned', i32)
  call expect(size(i32) == particles .and. all(i32 == -places(:particles)), 'particles in an order')
  call from%get_particles('stars', 'three', r64)
  call expect(size(r64) == 3*particles .and. all(r64 == reshape(wide(:, places(:particles)), [3*particles])), 'components')
  call from%get_field('nothing', r64, error)
  call expect(error%code == 2, 'an unknown field')
  call expect(size(share%notes) == 0, 'nothing was wrong')
  call from%failed(MPI_COMM_WORLD, store)
  call from%free()
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  if (rank == 0) call octavo_forget_failed_restarts(store)
  call native_outputs()
  call options_of_a_series(trim(store)//'.slf')
  call check_triangles(trim(store)//'_triangles')
  call check_held_roots(trim(store)//'_roots')
  call check_blocks(trim(store))
  call check_types(trim(store)//'_types')
  call MPI_Finalize(ierror)
  to%path = trim(store)//'_late'
  call writer%open(MPI_COMM_WORLD, to, domain, error=error)
  call expect(error%code == 2, 'opened after MPI_Finalize')
  call expect(octavo_version() == '0.1.0', 'version')
  if (wrong > 0) error stop 1

contains

  ! Two blocks of 4 x 2 in a row, with a ghost cell around and two variables that stand together: a plotfile of the tree, one
  ! of boxes, and what is wrong on one rank. The Python tests look into such files; here their names and sizes must do.
  subroutine native_outputs()
    type(octavo_target) :: native_to
    type(octavo_writer) :: native
    real(real64), target :: unk(2, 0:5, 0:3, 2), flat(8)
    integer(int64) :: boxes(3, 2, 1), domain_of_level(3, 2, 1), number(1)
    character(1000) :: path
    logical :: exists
    integer :: b, i, j, count
    unk = -1
    do b = 1, 2
      do j = 1, 2
        do i = 1, 4
          unk(:, i, j, b) = [real(real64) :: 100*j + 4*(b - 1) + i - 1, 0.5*i]
        end do
      end do
    end do
    domain%dim = 2
    domain%roots = [2, 1, 1]
    domain%block = [4, 2, 1]
    path = trim(store)//'_plt'
    native_to = octavo_target(octavo_amrex_plotfile, sync=.false., files=1)
    call native%open(MPI_COMM_WORLD, native_to, domain)
    call native%begin_step(path, 4, 0.5_real64)
    call native%put_attribute('cycle', 17)
    call native%put_attribute('names', ['one  ', 'three'])
    call native%put_tree(octavo_tree([2_int64], spread(.false., 1, 2), spread(rank == 0, 1, 2)))
    call native%put_field('dens', unk(1, 1:4, 1:2, :))
    call native%put_field('temp', unk(2, 1:4, 1:2, :), unit='K')
    call native%put_particles('stars', 'position_x', x(:particles))
    call native%end_step(error)
    call expect(error%code == 2, 'particles without a position_y')
    call native%begin_step(path, 4, 0.5_real64)
    call native%put_tree(octavo_tree([2_int64], spread(.false., 1, 2), spread(rank == 0, 1, 2)))
    call native%put_field('dens', unk(1, 1:4, 1:2, :))
    call native%put_field('temp', unk(2, 1:4, 1:2, :), unit='K')
    call native%end_step()
    do while (.not. native%finished())
    end do
    inquire (file=trim(path)//'/Header', exist=exists)
    call expect(exists, 'a plotfile of a tree')
    call expect(value_in(trim(path)//'/Level_0/Cell_H', '2.07') == 1, 'its largest value')
    call shares_of_output(path)
    ! One box of 4 x 2, on rank 0.
    count = merge(1, 0, rank == 0)
    domain_of_level = reshape([0_int64, 0_int64, 0_int64, 4_int64, 2_int64, 1_int64], [3, 2, 1])
    boxes = domain_of_level
    number = count
    flat = reshape(unk(1, 1:4, 1:2, 1), [8])
    call native%begin_step(trim(path)//'_boxes', 5, 1.0_real64)
    call native%put_boxes(octavo_boxes(domain_of_level, [integer ::], number, boxes(:, :, :count)))
    call native%put_arrays('dens', [(c_loc(unk(1, 0, 0, 1)), b=1, count)], real64, ghost=1, stride=2)
    call native%put_field('flat', flat(:8*count))
    call native%end_step()
    call native%wait()
    inquire (file=trim(path)//'_boxes/Header', exist=exists)
    call expect(exists, 'a plotfile of boxes')
    call expect(value_in(trim(path)//'_boxes/Level_0/Cell_H', '2.03') == 1, 'their largest value')
    call native%begin_step(trim(path)//'_wrong', 6, 1.0_real64)
    call native%put_tree(octavo_tree([2_int64], spread(.false., 1, 2), spread(rank == 0, 1, 2)))
    call native%put_field('dens', unk(1, 1:merge(3, 4, rank == 0), 1:2, :))
    call native%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'field dens') > 0, 'a block of another size, on all ranks')
    call native%close()
    ! Faces along y: 4 x 3 of blocks of 4 x 2; without HDF5 the error says so.
    native_to = octavo_target(octavo_flash, sync=.false., checksums=.false., bound_thread=.true.)
    allocate (native_to%names(2, 1))
    native_to%names(:, 1) = ['soot', 'c12 ']
    call native%open(MPI_COMM_WORLD, native_to, domain)
    call native%begin_step(trim(store)//'_chk', 6, 1.0_real64)
    call native%put_tree(octavo_tree([2_int64], spread(.false., 1, 2), spread(rank == 0, 1, 2)))
    call native%put_field('dens', unk(1, 1:4, 1:2, :))
    call native%put_field('soot', unk(2, 1:4, 1:2, :))
    call native%put_field('magy', unk(1, 1:4, 1:3, :), centring=octavo_face_y)
    call native%end_step(error)
    if (error%code == 0) then
      call native%wait()
      inquire (file=trim(store)//'_chk', exist=exists)
      call expect(exists, 'a FLASH file with faces')
    else
      call expect(index(error%message, 'HDF5') > 0, 'a FLASH file with faces: '//trim(error%message))
    end if
    call native%begin_step(trim(store)//'_chk2', 7, 1.0_real64)
    call native%put_tree(octavo_tree([2_int64], spread(.false., 1, 2), spread(rank == 0, 1, 2)))
    call native%put_field('magy', unk(1, 1:4, 1:2, :), centring=octavo_face_y)
    call native%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'magy') > 0, 'no faces, but cells')
    call native%close()
  end subroutine

  ! One triangle, which all ranks hold.
  subroutine options_of_a_series(path)
    character(*), intent(in) :: path
    type(octavo_target) :: file
    type(octavo_writer) :: series
    file = octavo_target(octavo_serafin, sync=.false., ranks_per_node=1, bound_thread=.true.)
    file%path = path
    allocate (file%variables(2, 1))
    file%variables(:, 1) = ['DEPTH', 'M    ']
    file%mesh%x = [0.0_real64, 1.0_real64, 0.0_real64]
    file%mesh%y = [0.0_real64, 0.0_real64, 1.0_real64]
    file%mesh%triangles = reshape([1, 2, 3], [3, 1])
    file%mesh%global_point = [1, 2, 3]
    file%mesh%global_triangle = [1]
    call series%open(MPI_COMM_WORLD, file)
    call series%begin_step(0.0_real64)
    call series%put_field('DEPTH', [1.0_real64, 2.0_real64, 3.0_real64])
    call series%end_step()
    call series%begin_step(1.0_real64)
    if (rank == 0) call series%begin_step(1.0_real64, error)
    call expect(rank > 0 .or. error%code == 2, 'a step that cannot be begun')
    call series%put_field('DEPTH', [1.0_real64, 2.0_real64, 3.0_real64])
    call series%end_step(error)
    call expect(error%code == 2 .and. index(error%message, 'begin_step') > 0, 'a step that one rank could not begin')
    call expect(series%get_steps() == 1, 'steps of a series')
    call series%close()
  end subroutine

  ! A run goes on from the plotfile: in boxes, on a finer mesh, in cells.
  subroutine shares_of_output(path)
    character(*), intent(in) :: path
    type(octavo_restart) :: start
    type(octavo_restart_options) :: wanted
    type(octavo_restart_info) :: info
    type(octavo_field_info) :: field
    type(octavo_boxes) :: boxes
    real(real64), allocatable :: dens(:)
    wanted = octavo_restart_options(particles=.false., boxes=.true., max_box=4)
    allocate (wanted%fields(1))
    wanted%fields = 'dens'
    call start%open(MPI_COMM_WORLD, path, wanted)
    call start%get_info(info)
    call expect(info%domain%code == 'AMReX' .and. info%domain%dim == 2 .and. info%step == 4, 'what a plotfile says of itself')
    call start%get_field_info(1, field)
    call expect(info%num_fields == 1 .and. field%name == 'dens', 'the field asked for')
    call start%get_boxes(boxes)
    call expect(size(boxes%domain, 3) == 1 .and. all(boxes%domain(:2, 2, 1) == [8, 2]) .and. size(boxes%ratio) == 0, 'levels')
    call start%get_field('dens', dens)
    call expect(size(dens) == sum(product(boxes%boxes(:, 2, :) - boxes%boxes(:, 1, :), 1)), 'values of boxes')
    call expect(sum_of_all(sum(dens)) == sum(unk_of_cells()), 'all values')
    call start%free()
    wanted%boxes = .false.
    wanted%refine = 1
    wanted%block = [2, 2, 1]
    call start%open(MPI_COMM_WORLD, path, wanted, error)
    call expect(error%code == 2, 'a finer mesh in other blocks')
    wanted%block = 0
    call start%open(MPI_COMM_WORLD, path, wanted)
    call start%get_tree(tree)
    call start%get_field('dens', dens)
    call expect(abs(sum_of_all(sum(dens, tree%owned .and. .not. tree%refined)) - 4*sum(unk_of_cells())) < 1e-9, &
                'a finer mesh')
    call start%free()
    wanted%refine = 0
    wanted%block = [2, 2, 1]
    call start%open(MPI_COMM_WORLD, path, wanted)
    call start%get_info(info)
    call start%get_tree(tree)
    call start%get_field('dens', dens)
    call expect(all(info%domain%block == [2, 2, 1]) .and. size(dens) == 4*size(tree%owned), 'blocks of another size')
    call start%free()
  end subroutine

  function unk_of_cells() result(values)
    real(real64) :: values(16)
    integer :: i, j
    values = [((real(100*j + i, real64), i=0, 7), j=1, 2)]
  end function

  real(real64) function sum_of_all(mine) result(all)
    real(real64), intent(in) :: mine
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierror)
  end function

  ! Two triangles of four points, which every rank holds; read on all ranks, and by number.
  subroutine check_triangles(path)
    character(*), intent(in) :: path
    type(octavo_domain) :: plane
    type(octavo_target) :: to
    type(octavo_writer) :: writer
    type(octavo_triangles) :: mesh
    type(octavo_restart_options) :: wanted
    type(octavo_restart) :: from
    type(octavo_neighbours) :: around
    real(real64), allocatable :: depth(:)
    integer :: held(2), i, ierror
    plane%dim = 2
    to%path = path
    call writer%open(MPI_COMM_WORLD, to, plane)
    call writer%begin_step(octavo_checkpoint, 5, 2.0_real64)
    mesh%x = [0.0_real64, 1.0_real64, 0.0_real64, 1.0_real64]
    mesh%y = [0.0_real64, 0.0_real64, 1.0_real64, 1.0_real64]
    mesh%triangles = reshape([1, 2, 3, 4, 3, 2], [3, 2])
    mesh%global_point = [4, 3, 2, 1]
    mesh%global_triangle = [1, 2]
    call writer%put_triangles(mesh)
    call writer%put_field('depth', [40.0_real64, 30.0_real64, 20.0_real64, 10.0_real64])
    call writer%end_step()
    call writer%close()
    call from%open(MPI_COMM_WORLD, path)
    call from%get_triangles(mesh)
    call from%get_field('depth', depth)
    call expect(all(depth == 10*mesh%global_point), 'values by number')
    held = 0
    do i = 1, size(mesh%global_triangle)
      held(mesh%global_triangle(i)) = held(mesh%global_triangle(i)) + 1
      call expect(all(mesh%global_point(mesh%triangles(:, i)) == merge([4, 3, 2], [1, 2, 3], mesh%global_triangle(i) == 1)), &
                  'a triangle')
    end do
    call MPI_Allreduce(MPI_IN_PLACE, held, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(all(held == 1), 'each triangle on one rank')
    call check_neighbours(from, mesh%global_point, mesh%global_triangle)
    call from%free()
    wanted%points = [3, 1]
    call from%open(MPI_COMM_WORLD, path, wanted)
    call from%get_field('depth', depth)
    call expect(size(depth) == 2 .and. all(depth == [30.0_real64, 10.0_real64]), 'the points asked for')
    call from%get_neighbours(MPI_COMM_WORLD, around, error)
    call expect(error%code == 2, 'what lies around points')
    call from%free()
  end subroutine

  ! The two triangles have points 2 and 3 in common, the edge 2-3 of the first and of the second.
  subroutine check_neighbours(from, number, global_triangle)
    type(octavo_restart), intent(in) :: from
    integer, intent(in) :: number(:), global_triangle(:)
    type(octavo_neighbours) :: around
    integer :: held(2), holders(4), i, other, ierror
    call from%get_neighbours(MPI_COMM_WORLD, around)
    held = 0
    if (size(global_triangle) == 1) held(global_triangle(1)) = rank + 1
    holders = 0
    holders(number) = 1
    call MPI_Allreduce(MPI_IN_PLACE, held, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call MPI_Allreduce(MPI_IN_PLACE, holders, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call expect(all(holders(number(around%shared_point)) > 1), 'shared points are others'', too')
    call expect(size(around%shared_point) == count(holders(number) > 1), 'all of them')
    call expect(all(around%first(2:) - around%first(:size(around%shared_point)) == &
                    holders(number(around%shared_point)) - 1), 'and they are all told')
    call expect(all(around%rank /= rank), 'not this one')
    call expect(size(around%halo_triangle) == merge(1, 0, size(global_triangle) == 1), 'triangles with a border')
    do i = 1, size(around%halo_triangle)
      other = merge(2, 1, global_triangle(around%halo_triangle(i)) == 1)
      call expect(around%behind_rank(2, i) == held(other) - 1 .and. around%behind_triangle(2, i) == 1, 'what is behind')
      call expect(all(around%behind_rank(1:3:2, i) == -1 .and. around%behind_triangle(1:3:2, i) == 0), 'the outside')
    end do
    call expect(size(around%boundary_point) == 0 .and. size(around%values, 1) == 7, 'no boundary is stored')
  end subroutine

  ! Each rank holds roots 3-6 and 9-10 of its own row of 16, and gets lists of such roots again.
  subroutine check_held_roots(path)
    character(*), intent(in) :: path
    type(octavo_domain) :: cube
    type(octavo_target) :: to
    type(octavo_writer) :: writer
    type(octavo_tree) :: tree
    type(octavo_restart_options) :: wanted
    type(octavo_restart) :: from
    real(real64), allocatable :: density(:)
    real(real64) :: numbers(6)
    integer(int64) :: root
    integer :: i, next
    cube%roots = 16
    to%path = path
    call writer%open(MPI_COMM_WORLD, to, cube)
    call writer%begin_step(octavo_checkpoint, 1, 0.5_real64)
    tree = octavo_tree([6_int64], spread(.false., 1, 6), spread(.true., 1, 6))
    tree%held = 16*rank + reshape([3_int64, 6_int64, 9_int64, 10_int64], [2, 2])
    numbers = 16*rank + [3, 4, 5, 6, 9, 10]
    call writer%put_tree(tree)
    call writer%put_field('density', numbers)
    call writer%end_step()
    call writer%close()
    wanted%held_roots = .true.
    call from%open(MPI_COMM_WORLD, path, wanted)
    call from%get_tree(tree)
    call from%get_field('density', density)
    call expect(size(density) == tree%cells_of_level(1), 'values of held roots')
    next = 0
    do i = 1, size(tree%held, 2)
      do root = tree%held(1, i), tree%held(2, i)
        next = next + 1
        call expect(density(next) == root, 'a held root')
      end do
    end do
    call expect(next == size(density), 'all held roots')
    call expect(sum_of_all(sum(density, tree%owned)) == sum_of_all(sum(numbers)), 'owned roots')
    call from%free()
    call from%open(MPI_COMM_WORLD, path)
    call from%get_tree(tree)
    call expect(.not. allocated(tree%held) .and. tree%cells_of_level(1) == 16**3, 'all roots')
    call from%free()
  end subroutine

  ! Types for which Fortran has a kind, and those whose bits stand in its integers.
  subroutine check_types(path)
    character(*), intent(in) :: path
    type(octavo_domain) :: cube
    type(octavo_target) :: to
    type(octavo_writer) :: writer
    type(octavo_restart) :: from
    type(octavo_field_info) :: info
    type(octavo_error) :: error
    type(octavo_tree) :: tree
    logical(c_bool) :: flag(8)
    integer(int16) :: i16(8), half(8)
    integer(int32) :: count(8)
    integer(int8) :: i8(8)
    logical(c_bool), allocatable :: flags(:)
    integer(int8), allocatable :: bytes(:)
    integer(int16), allocatable :: bits(:)
    integer(int32), allocatable :: counts(:)
    real(real32), allocatable :: wide(:)
    integer :: i
    flag = [(modulo(i, 3) == 0, i=1, 8)]
    i16 = [(int(-1000*i, int16), i=1, 8)]
    half = int(z'3C00', int16)  ! 1 in float16
    count = [(-i, i=1, 8)]      ! 2**32 - i in uint32
    i8 = [(int(-10*i, int8), i=1, 8)]
    cube%roots = 2
    to%path = path
    call writer%open(MPI_COMM_WORLD, to, cube)
    call writer%begin_step(octavo_checkpoint, 1, 0.5_real64)
    call writer%put_tree(octavo_tree([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8)))
    call writer%put_field('flag', flag)
    call writer%put_field('i16', i16)
    call writer%put_field('i8', i8)
    call writer%put_field('half', half, type=octavo_float16)
    call writer%put_field('count', count, type=octavo_uint32)
    call writer%put_field('wrong', half, type=octavo_uint32, error=error)
    call expect(error%code == 2 .and. index(error%message, 'integers of 32 bits') > 0, 'bits of another width')
    call writer%end_step(error)
    call expect(error%code == 2, 'an error of a put')
    call writer%begin_step(octavo_checkpoint, 1, 0.5_real64)
    call writer%put_tree(octavo_tree([8_int64], spread(.false., 1, 8), spread(rank == 0, 1, 8)))
    call writer%put_field('flag', flag)
    call writer%put_field('i16', i16)
    call writer%put_field('i8', i8)
    call writer%put_field('half', half, type=octavo_float16)
    call writer%put_field('count', count, type=octavo_uint32)
    call writer%end_step()
    call writer%close()
    call from%open(MPI_COMM_WORLD, path)
    call from%get_tree(tree)
    call from%get_field_info(1, info)
    call expect(info%type == octavo_bool, 'a logical is a bool')
    call from%get_field_info(5, info)
    call expect(info%type == octavo_uint32, 'an unsigned integer')
    call from%get_field('flag', flags)
    call expect(all(pack(logical(flags .eqv. flag), tree%owned)), 'logicals')
    call from%get_field('flag', bytes)
    call expect(all(pack(bytes == merge(1, 0, flag), tree%owned)), 'logicals as bytes')
    call from%get_field('i8', bytes)
    call expect(all(pack(bytes == i8, tree%owned)), 'integers of 8 bits')
    call from%get_field('i16', bits)
    call expect(all(pack(bits == i16, tree%owned)), 'integers of 16 bits')
    call from%get_field('half', bits)
    call expect(all(pack(bits == half, tree%owned)), 'bits of float16')
    call from%get_field('half', wide)
    call expect(all(pack(wide == 1, tree%owned)), 'float16 as real32')
    call from%get_field('count', counts)
    call expect(all(pack(counts == count, tree%owned)), 'bits of uint32')
    call from%get_field('i16', flags, error)
    call expect(error%code == 2, 'integers are no logicals')
    call from%free()
  end subroutine

  ! Lines of a text file that have this text.
  integer function value_in(file, what) result(found)
    character(*), intent(in) :: file, what
    character(1000) :: line
    integer :: unit, status
    found = 0
    open (newunit=unit, file=file, action='read', status='old', iostat=status)
    do while (status == 0)
      read (unit, '(a)', iostat=status) line
      if (status == 0 .and. index(line, what) > 0) found = found + 1
    end do
    close (unit)
  end function

end program octavo_test
