!> What the modules share: errors, texts and the description of a run, as Fortran and as C have them.
module octavo_arguments
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int64, real64
  implicit none
  public

  integer, parameter :: octavo_checkpoint = 0, octavo_analysis = 1
  integer, parameter :: octavo_flash = 0, octavo_amrex_plotfile = 1, octavo_amrex_checkpoint = 2
  integer, parameter :: octavo_host = 0  !< memory space of arrays that are put; the only one so far
  integer(c_int), parameter :: host = 0, float64 = 0, float32 = 1, t_int64 = 2, t_int32 = 3

  type :: octavo_error
    integer :: code = 0
    character(:), allocatable :: message
  end type

  !> What all steps of a run have in common.
  type :: octavo_domain
    character(80) :: code = ''
    integer :: dim = 3
    integer(int64) :: roots(3) = 1_int64             !< cells of level 0; 1 beyond dim
    real(real64) :: lo(3) = 0, hi(3) = 1             !< corners [code length]
    logical :: periodic(3) = .false.
    real(real64) :: unit_length = 1, unit_density = 1, unit_time = 1  !< one code unit: [cm], [g/cm^3], [s]
  end type

  type, bind(c) :: c_error
    integer(c_int) :: code
    character(kind=c_char) :: message(2048)
  end type

  type, bind(c) :: c_domain
    type(c_ptr) :: code
    integer(c_int) :: dim
    integer(c_int64_t) :: roots(3)
    real(c_double) :: lo(3), hi(3)
    integer(c_int) :: periodic(3)
    real(c_double) :: unit_length, unit_density, unit_time
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

  ! Texts as C has them: where each one begins.
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

  ! What C has written, up to its closing 0.
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

  ! `code` has room for the name and its closing 0, and stays as long as the result.
  type(c_domain) function domain_in_c(domain, code) result(out)
    type(octavo_domain), intent(in) :: domain
    character(kind=c_char), intent(out), target, contiguous :: code(:)
    code = ' '
    code(:len_trim(domain%code) + 1) = text(domain%code)
    out = c_domain(c_loc(code), int(domain%dim, c_int), domain%roots, domain%lo, domain%hi, &
                   merge(1_c_int, 0_c_int, domain%periodic), domain%unit_length, domain%unit_density, domain%unit_time)
  end function

end module octavo_arguments
