!> FLASH and AMReX outputs of a run. See octavo.f90.
module octavo_native_writing
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  use octavo_arguments
  use octavo_steps
  implicit none
  private
  public :: octavo_native_writer

  !> FLASH and AMReX outputs written by all ranks; a step is a file or a directory of its own.
  type, extends(step_writer) :: octavo_native_writer
  contains
    procedure :: open => native_open            !< collective: (comm, domain, format [, block, background, sync, collect,
                                                !<  files, max_box, title, multifab, error, checksums, bound_thread,
                                                !<  names])
    procedure :: begin_step => native_begin_step  !< (path, step, time [, error])
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
    integer(c_int) :: bound_thread
    type(c_ptr) :: names
    integer(c_int64_t) :: num_names
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

  subroutine native_open(self, comm, domain, format, block, background, sync, collect, files, max_box, title, multifab, error, &
                         checksums, bound_thread, names)
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
    logical, intent(in), optional :: checksums        !< of each array while it is copied, compared before it is written
    logical, intent(in), optional :: bound_thread     !< the thread stays on the cores its rank is bound to
    character(*), intent(in), optional :: names(:, :) !< FLASH, (2, n): name of a field, and the file's own for it
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(kind=c_char), allocatable, target :: first_line(:), name(:), in_names(:, :)
    type(c_ptr), allocatable, target :: name_at(:)
    type(c_domain) :: in_c
    type(c_native_options) :: options
    type(c_error) :: what
    self%native = 1
    in_c = domain_in_c(domain, code)
    options = c_native_options(int(format, c_int), 1_c_int64_t, 1, 1, 1, 0, 0, 64_c_int64_t, c_null_ptr, c_null_ptr, 0, &
                               c_null_ptr, 0_c_int64_t)
    if (present(block)) options%block(:size(block)) = int(block, c_int64_t)
    if (present(background)) options%background = merge(1_c_int, 0_c_int, background)
    if (present(sync)) options%sync = merge(1_c_int, 0_c_int, sync)
    if (present(collect)) options%collect = merge(1_c_int, 0_c_int, collect)
    if (present(files)) options%files = int(files, c_int)
    if (present(max_box)) options%max_box = int(max_box, c_int64_t)
    if (present(checksums)) options%checksums = merge(1_c_int, 0_c_int, checksums)
    if (present(bound_thread)) options%bound_thread = merge(1_c_int, 0_c_int, bound_thread)
    if (present(names)) then
      allocate (in_names(len(names) + 1, size(names)), name_at(size(names)))
      call point_at(reshape(names, [size(names)]), in_names, name_at)
      if (size(names) > 0) options%names = c_loc(name_at)
      options%num_names = size(names, 2, kind=c_int64_t)
    end if
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
