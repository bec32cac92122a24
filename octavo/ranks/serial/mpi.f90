!> The part of MPI's Fortran module that a program of one process needs: a build without MPI takes it in place of a
!> library's. The calls are those of mpi.h beside this file.
module mpi
  use, intrinsic :: iso_c_binding
  implicit none
  private
  integer, parameter, public :: MPI_SUCCESS = 0, MPI_UNDEFINED = -32766
  integer, parameter, public :: MPI_COMM_NULL = 0, MPI_COMM_WORLD = 1, MPI_COMM_SELF = 2
  integer, parameter, public :: MPI_THREAD_SINGLE = 0, MPI_THREAD_FUNNELED = 1
  integer, parameter, public :: MPI_INTEGER = 4, MPI_INTEGER8 = 8, MPI_REAL = 4, MPI_DOUBLE_PRECISION = 8  ! bytes
  integer, parameter, public :: MPI_MAX = 1, MPI_MIN = 2, MPI_SUM = 3
  integer, target, public :: MPI_IN_PLACE = 0
  public :: MPI_Init, MPI_Init_thread, MPI_Finalize, MPI_Abort, MPI_Comm_rank, MPI_Comm_size, MPI_Comm_split
  public :: MPI_Comm_free, MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce

  interface
    integer(c_int) function c_init_thread(count, arguments, wanted, provided) bind(c, name='octavo_serial_init_thread')
      import c_int, c_ptr
      type(c_ptr), value :: count, arguments
      integer(c_int), value :: wanted
      integer(c_int) :: provided
    end function
    integer(c_int) function c_finalize() bind(c, name='octavo_serial_finalize')
      import c_int
    end function
    integer(c_int) function c_abort(comm, code) bind(c, name='octavo_serial_abort')
      import c_int
      integer(c_int), value :: comm, code
    end function
    integer(c_int) function c_rank(comm, rank) bind(c, name='octavo_serial_comm_rank')
      import c_int
      integer(c_int), value :: comm
      integer(c_int) :: rank
    end function
    integer(c_int) function c_size(comm, ranks) bind(c, name='octavo_serial_comm_size')
      import c_int
      integer(c_int), value :: comm
      integer(c_int) :: ranks
    end function
    integer(c_int) function c_split(comm, color, key, part) bind(c, name='octavo_serial_comm_split')
      import c_int
      integer(c_int), value :: comm, color, key
      integer(c_int) :: part
    end function
    integer(c_int) function c_free(comm) bind(c, name='octavo_serial_comm_free')
      import c_int
      integer(c_int) :: comm
    end function
    integer(c_int) function c_barrier(comm) bind(c, name='octavo_serial_barrier')
      import c_int
      integer(c_int), value :: comm
    end function
    integer(c_int) function c_bcast(values, count, datatype, root, comm) bind(c, name='octavo_serial_bcast')
      import c_int, c_ptr
      type(c_ptr), value :: values
      integer(c_int), value :: count, datatype, root, comm
    end function
    integer(c_int) function c_allreduce(sent, got, count, datatype, op, comm) bind(c, name='octavo_serial_allreduce')
      import c_int, c_ptr
      type(c_ptr), value :: sent, got
      integer(c_int), value :: count, datatype, op, comm
    end function
  end interface

contains

  subroutine MPI_Init(ierror)
    integer, intent(out) :: ierror
    integer :: provided
    call MPI_Init_thread(MPI_THREAD_SINGLE, provided, ierror)
  end subroutine

  subroutine MPI_Init_thread(required, provided, ierror)
    integer, intent(in) :: required
    integer, intent(out) :: provided, ierror
    ierror = c_init_thread(c_null_ptr, c_null_ptr, required, provided)
  end subroutine

  subroutine MPI_Finalize(ierror)
    integer, intent(out) :: ierror
    ierror = c_finalize()
  end subroutine

  subroutine MPI_Abort(comm, code, ierror)
    integer, intent(in) :: comm, code
    integer, intent(out) :: ierror
    ierror = c_abort(comm, code)
  end subroutine

  subroutine MPI_Comm_rank(comm, rank, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: rank, ierror
    ierror = c_rank(comm, rank)
  end subroutine

  subroutine MPI_Comm_size(comm, ranks, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: ranks, ierror
    ierror = c_size(comm, ranks)
  end subroutine

  subroutine MPI_Comm_split(comm, color, key, part, ierror)
    integer, intent(in) :: comm, color, key
    integer, intent(out) :: part, ierror
    ierror = c_split(comm, color, key, part)
  end subroutine

  subroutine MPI_Comm_free(comm, ierror)
    integer, intent(inout) :: comm
    integer, intent(out) :: ierror
    ierror = c_free(comm)
  end subroutine

  subroutine MPI_Barrier(comm, ierror)
    integer, intent(in) :: comm
    integer, intent(out) :: ierror
    ierror = c_barrier(comm)
  end subroutine

  subroutine MPI_Bcast(values, count, datatype, root, comm, ierror)
    type(*), target, intent(inout) :: values(..)
    integer, intent(in) :: count, datatype, root, comm
    integer, intent(out) :: ierror
    ierror = c_bcast(c_loc(values), count, datatype, root, comm)
  end subroutine

  subroutine MPI_Reduce(sent, got, count, datatype, op, root, comm, ierror)
    type(*), target, intent(in) :: sent(..)
    type(*), target, intent(inout) :: got(..)
    integer, intent(in) :: count, datatype, op, root, comm
    integer, intent(out) :: ierror
    call MPI_Allreduce(sent, got, count, datatype, op, comm, ierror)
    if (root /= 0) ierror = MPI_UNDEFINED
  end subroutine

  subroutine MPI_Allreduce(sent, got, count, datatype, op, comm, ierror)
    type(*), target, intent(in) :: sent(..)
    type(*), target, intent(inout) :: got(..)
    integer, intent(in) :: count, datatype, op, comm
    integer, intent(out) :: ierror
    type(c_ptr) :: from
    from = c_loc(sent)
    if (c_associated(from, c_loc(MPI_IN_PLACE))) from = c_loc(got)
    ierror = c_allreduce(from, c_loc(got), count, datatype, op, comm)
  end subroutine
end module
