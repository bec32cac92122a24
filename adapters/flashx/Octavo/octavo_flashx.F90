!> Flash-X's checkpoints and plot files are written by Octavo, and Flash-X restarts from them (../README.md). octavo_calls.c
!> calls this module, in the place of Flash-X's own procedures.

!!REORDER(5): unk, facevar[xyz], scratch

#include "constants.h"
#include "Simulation.h"

module octavo_flashx
  use mpi
  use IO_data
  use Grid_data, only: gr_domainBC, gr_imin, gr_imax, gr_jmin, gr_jmax, gr_kmin, gr_kmax, &
    gr_globalNumBlocks
  use gr_specificData, only: gr_nblockX, gr_nblockY, gr_nblockZ, scratch
  use tree, only: lrefine, nodetype, bnd_box, bsize
  use physicaldata, only: unk, facevarx, facevary, facevarz
  use Driver_interface, only: Driver_abort, Driver_getNStep, Driver_getSimTime
  use Grid_interface, only: Grid_getLocalNumBlks
  use RuntimeParameters_interface, only: RuntimeParameters_get
  use Simulation_interface, only: Simulation_mapStrToInt
#ifdef OCTAVO_PARTICLES
  use Particles_data, only: particles
#endif
  use octavo
  use, intrinsic :: iso_c_binding, only: c_char
  use, intrinsic :: iso_fortran_env, only: int64, real32
  implicit none
  private

  integer, parameter :: width = MAX_STRING_LENGTH, checkpoint = 1, plotfile = 2
  character(width) :: target_name = ' ', store_path, options
  type(octavo_writer) :: files(2), store          !< HDF5: one for each kind, so that neither waits for the other
  logical :: is_pending(2) = .false.
  integer :: last_step(2) = -1                    !< of each kind, in the store
  type(octavo_restart) :: from
  character(width) :: made = ' ', base_name       !< the file that a restart from the store reads; Flash-X's names
  ! The file between begin_file and end_file:
  integer :: kind, number, num_singles
  logical :: to_hdf5, to_store
  real(real32), allocatable, target :: singles(:, :, :, :, :)

contains

  subroutine read_parameters
    if (target_name /= ' ') return
    call RuntimeParameters_get('octavo_target', target_name)
    call RuntimeParameters_get('octavo_store', store_path)
    call RuntimeParameters_get('octavo_options', options)
    call refuse(io_outputSplitNum /= 1, 'outputSplitNum above 1')
    call refuse(io_chkGuardCellsOutput .or. io_chkGuardCellsInput, 'chkGuardCellsOutput or chkGuardCellsInput')
    call refuse(io_acrossNumProcs > 1, 'meshCopyCount above 1')
  end subroutine

  subroutine refuse(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (condition .and. target_name /= 'native') &
      call Driver_abort('octavo: '//what//' is not carried by adapters/flashx, unless octavo_target is "native"')
  end subroutine

  ! ---------------------------------------------------------------------------------------------------------- writing

  !> Returns 1 if Octavo writes the file.
  integer function begin_file(file_kind, file_number, name) bind(c, name='octavo_begin_file')
    integer, value :: file_kind
    integer, intent(in) :: file_number
    character(kind=c_char), intent(in) :: name(width)
    character(width) :: path
    integer :: step
    real :: time
    call read_parameters
    begin_file = merge(0, 1, target_name == 'native')
    if (begin_file == 0) return
    kind = file_kind
    number = file_number
    call Driver_getNStep(step)
    call Driver_getSimTime(time)
    to_hdf5 = target_name /= 'store'
    to_store = target_name /= 'hdf5' .and. step /= last_step(kind)
    if (to_hdf5) then
      path = transfer(name, path)
      if (.not. files(kind)%is_open()) call open_writer(files(kind), octavo_flash)
      call files(kind)%begin_step(trim(path), step, time)
    end if
    if (to_store) then
      if (.not. store%is_open()) call open_writer(store, octavo_store)
      last_step(kind) = step
      call store%begin_step(merge(octavo_checkpoint, octavo_analysis, kind == checkpoint), step, time)
    end if
  end function

  subroutine open_writer(writer, target_kind)
    type(octavo_writer), intent(inout) :: writer
    integer, intent(in) :: target_kind
    type(octavo_target) :: to
    type(octavo_domain) :: box
    box = octavo_domain('FLASH', NDIM, roots=int([gr_nblockX, gr_nblockY, gr_nblockZ], int64), &
                        block=int([NXB, NYB, NZB], int64), lo=[gr_imin, gr_jmin, gr_kmin], &
                        hi=[gr_imax, gr_jmax, gr_kmax], periodic=gr_domainBC(LOW, :) == PERIODIC, first_level=1)
    to%kind = target_kind
    if (target_kind == octavo_store) then
      to%path = trim(store_path)
      if (options /= ' ') to%options = trim(options)
      if (from%found()) then
        call writer%open(io_globalComm, to, box, from)
        return
      end if
    else
      to%replace = .true.  ! as Flash-X does
      to%sync = kind == checkpoint
      to%staging_bytes = bytes_of_a_file()
    end if
    call writer%open(io_globalComm, to, box)
  end subroutine

  !> At most: cells, faces and scratch variables of all blocks, and the particles, in double precision.
  integer(int64) function bytes_of_a_file() result(bytes)
    bytes = 8_int64*MAXBLOCKS*(NXB + 1)*(NYB + K2D)*(NZB + K3D)*(NUNK_VARS + NDIM*NFACE_VARS + NSCRATCH_GRID_VARS)
#ifdef OCTAVO_PARTICLES
    bytes = bytes + 8_int64*size(particles, kind=int64)
#endif
  end function

  subroutine put_file() bind(c, name='octavo_put_file')
    integer :: num_blocks
    call Grid_getLocalNumBlks(num_blocks)
    allocate (singles(NXB, NYB, NZB, merge(num_blocks, 0, in_single()), io_nPlotVars + NSCRATCH_GRID_VARS))
#ifdef IO_HDF5_PARALLEL
    io_splitNumBlks = gr_globalNumBlocks  ! a scalar of the next file
#endif
    call io_prepareListsWrite
    if (to_hdf5) call put_all(files(kind), num_blocks)
    if (to_store) call put_all(store, num_blocks)
    call io_finalizeListsWrite
  end subroutine

  logical function in_single()
    in_single = kind == plotfile .and. .not. io_plotfileGridQuantityDP
  end function

  !> What Flash-X's file of this kind has.
  subroutine put_all(to, n)
    type(octavo_writer), intent(in) :: to
    integer, intent(in) :: n  !< blocks on this rank
    type(octavo_blocks) :: blocks
    real :: corner(3)
    logical :: chosen
    integer :: u, i, b
    call put_run(to)
    corner = [gr_imin, gr_jmin, gr_kmin]
    blocks%level = lrefine(:n)
    blocks%refined = nodetype(:n) /= 1
    allocate (blocks%position(3, n), source=0)
    do b = 1, n
      blocks%position(:NDIM, b) = nint((bnd_box(LOW, :NDIM, b) - corner(:NDIM))/bsize(:NDIM, b))
    end do
    call to%put_blocks(blocks)
    call put_root_order(to, blocks)
    num_singles = 0
    do u = 1, size(io_unklabelsGlobal)
      call Simulation_mapStrToInt(io_unklabelsGlobal(u), i, MAPBLOCK_UNK)
      chosen = kind == checkpoint .or. any(io_unklabelsGlobal(u) == io_plotVarStr(:io_nPlotVars))
      if (chosen) call put_cells(to, io_unklabelsGlobal(u), unk(i, io_ilo:io_ihi, io_jlo:io_jhi, io_klo:io_khi, :n))
    end do
#if NSCRATCH_GRID_VARS > 0
    do i = SCRATCH_GRID_VARS_BEGIN, SCRATCH_GRID_VARS_END
      call io_isPlotVar(i, chosen, MAPBLOCK_SCRATCH)
      if (chosen) call put_cells(to, io_scratchGridVarlabels(i), scratch(i, io_ilo:io_ihi, io_jlo:io_jhi, io_klo:io_khi, :n))
    end do
#endif
#if NFACE_VARS > 0
    do i = 1, merge(NFACE_VARS, 0, kind == checkpoint)
      call to%put_field(io_faceXVarLabels(i), facevarx(i, io_ilo:io_ihi + 1, io_jlo:io_jhi, io_klo:io_khi, :n), &
                        centring=octavo_face_x)
#if NDIM > 1
      call to%put_field(io_faceYVarLabels(i), facevary(i, io_ilo:io_ihi, io_jlo:io_jhi + 1, io_klo:io_khi, :n), &
                        centring=octavo_face_y)
#endif
#if NDIM > 2
      call to%put_field(io_faceZVarLabels(i), facevarz(i, io_ilo:io_ihi, io_jlo:io_jhi, io_klo:io_khi + 1, :n), &
                        centring=octavo_face_z)
#endif
    end do
#endif
  end subroutine

  !> Numbers of the root blocks, x fastest, in PARAMESH's order.
  subroutine put_root_order(to, blocks)
    type(octavo_writer), intent(in) :: to
    type(octavo_blocks), intent(in) :: blocks
    integer, allocatable :: mine(:)
    integer :: all(gr_nblockX*gr_nblockY*gr_nblockZ), counts(io_globalNumProcs), i, ierr
    mine = pack(blocks%position(1, :) + gr_nblockX*(blocks%position(2, :) + gr_nblockY*blocks%position(3, :)), &
                blocks%level == 1)
    call MPI_Allgather(size(mine), 1, MPI_INTEGER, counts, 1, MPI_INTEGER, io_globalComm, ierr)
    call MPI_Allgatherv(mine, size(mine), MPI_INTEGER, all, counts, [(sum(counts(:i - 1)), i=1, size(counts))], &
                        MPI_INTEGER, io_globalComm, ierr)
    if (any(all(2:) < all(:size(all) - 1))) call to%put_attribute('flash/root order', all)
  end subroutine

  subroutine put_cells(to, label, values)
    type(octavo_writer), intent(in) :: to
    character(*), intent(in) :: label
    real, intent(in), target :: values(:, :, :, :)
    if (in_single()) then
      num_singles = num_singles + 1
      singles(:, :, :, :, num_singles) = real(values, real32)
      call to%put_field(label, singles(:, :, :, :, num_singles))
    else
      call to%put_field(label, values)
    end if
  end subroutine

  !> The lists of Flash-X's files, under the names that Octavo's reader of these files gives them. As in Flash-X the values
  !> are those of rank 0.
  subroutine put_run(to)
    type(octavo_writer), intent(in) :: to
    integer :: ierr
    call to%put_attribute('flash/kind', trim(merge('checkpoint', 'plotfile  ', kind == checkpoint)))
    call to%put_attribute('flash/metadata bytes', merge(8, 4, kind == checkpoint .or. io_plotfileMetadataDP))
    call to%put_attribute('flash/file number', number)
    call to%put_attribute('flash/boundary', reshape(gr_domainBC(:, :NDIM), [2*NDIM]))
    if (kind == checkpoint) call to%put_attribute('flash/unknown names', io_unklabelsGlobal)
    if (kind == plotfile) call to%put_attribute('flash/unknown names', io_plotVarStr(:io_nPlotVars))
    call MPI_Bcast(io_fileCreationTime, width, MPI_CHARACTER, 0, io_globalComm, ierr)
    call to%put_attribute('sim info/file format version', io_fileFormatVersion)
    call to%put_list('sim info', [character(18) :: 'setup call', 'file creation time', 'flash version', 'build date', &
                                  'build dir', 'build machine', 'cflags', 'fflags', 'setup time stamp', &
                                  'build time stamp'], &
                     [character(400) :: io_setupCall, io_fileCreationTime, io_flashRelease, io_buildDate, io_buildDir, &
                      io_buildMachine, io_cflags, io_fflags, io_setupTimeStamp, io_buildTimeStamp])
    call put_lists('runtime parameters', io_intParmNames(:io_numIntParms), io_intParmValues, &
                   io_realParmNames(:io_numRealParms), io_realParmValues, io_strParmNames(:io_numStrParms), &
                   io_strParmValues, io_logParmNames(:io_numLogParms), io_logToIntParmValues)
    call put_lists('scalars', io_intScalarNames(:io_numIntScalars), io_intScalarValues, &
                   io_realScalarNames(:io_numRealScalars), io_realScalarValues, io_strScalarNames(:io_numStrScalars), &
                   io_strScalarValues, io_logScalarNames(:io_numLogScalars), io_logToIntScalarValues)
  contains
    subroutine put_lists(what, int_names, ints, real_names, reals, text_names, texts, flag_names, flags)
      character(*), intent(in) :: what, int_names(:), real_names(:), text_names(:), flag_names(:)
      integer, intent(inout) :: ints(:), flags(:)
      real, intent(inout) :: reals(:)
      character(*), intent(inout) :: texts(:)
      call MPI_Bcast(ints, size(ints), MPI_INTEGER, 0, io_globalComm, ierr)
      call MPI_Bcast(reals, size(reals), MPI_DOUBLE_PRECISION, 0, io_globalComm, ierr)
      call MPI_Bcast(texts, len(texts)*size(texts), MPI_CHARACTER, 0, io_globalComm, ierr)
      call MPI_Bcast(flags, size(flags), MPI_INTEGER, 0, io_globalComm, ierr)
      call to%put_list('integer '//what, int_names, ints)
      call to%put_list('real '//what, real_names, reals)
      call to%put_list('string '//what, text_names, texts)
      call to%put_list('logical '//what, flag_names, flags)
    end subroutine
  end subroutine

#ifdef OCTAVO_PARTICLES
  subroutine put_particles(all, count, labels) bind(c, name='octavo_put_particles')
    integer, intent(in) :: all, count
    character(kind=c_char), intent(in) :: labels(OUTPUT_PROP_LENGTH, NPART_PROPS)
    character(OUTPUT_PROP_LENGTH) :: name
    integer :: i
#ifdef IO_HDF5_PARALLEL
    io_splitParts = all
#endif
    do i = 1, NPART_PROPS
      name = transfer(labels(:, i), name)
      if (name(:3) == 'pos') name = 'position_'//name(4:)
      if (to_hdf5) call files(kind)%put_particles('particles', name, particles(i, :count))
      if (to_store) call store%put_particles('particles', name, particles(i, :count))
    end do
  end subroutine
#endif

  subroutine end_file() bind(c, name='octavo_end_file')
    if (to_hdf5) call files(kind)%end_step()
    if (to_store) call store%end_step()
    is_pending(kind) = to_hdf5
    deallocate (singles)
  end subroutine

  !> Files that are complete get their names.
  subroutine show_files() bind(c, name='octavo_show_files')
    integer :: i
    do i = 1, 2
      if (is_pending(i)) is_pending(i) = .not. files(i)%finished()
    end do
  end subroutine

  subroutine close_all() bind(c, name='octavo_close')
    integer :: i
    do i = 1, 2
      if (files(i)%is_open()) call files(i)%close()
    end do
    if (store%is_open()) call store%close()
    call from%free()
  end subroutine

  ! ------------------------------------------------------------------------------------------------------- restarting

  !> Makes Flash-X's file of a step of the store and returns 1, if Flash-X is to restart from one.
  integer function make_file() bind(c, name='octavo_make_file')
    type(octavo_restart_options) :: wanted
    call read_parameters
    call RuntimeParameters_get('octavo_restartStep', wanted%step)
    make_file = 0
    if (wanted%step == -2 .or. target_name == 'native' .or. target_name == 'hdf5') return
    allocate (wanted%fields(0))
    wanted%particles = .false.
    if (options /= ' ') wanted%options = trim(options)
    call from%open(io_globalComm, trim(store_path), wanted)
    if (.not. from%found()) return
    make_file = 1
    call from%get_attribute('flash/file number', io_checkpointFileNumber)
    call from%get_attribute('integer scalars/plotfilenumber', io_plotFileNumber)
    call from%get_attribute('integer scalars/forcedplotfilenumber', io_forcedPlotFileNumber)
    call use_base_name(1)
    call io_getOutputName(io_checkpointFileNumber, 'hdf5', '_chk_', made, .false.)
    call use_base_name(0)
    call delete_made  ! of a run that was killed
    call from%write(io_globalComm, trim(store_path), 'flash', trim(made))
    if (io_globalMe == MASTER_PE) print '(4a)', ' octavo: restart from ', trim(store_path), ' as ', trim(made)
  end function

  !> Flash-X calls its files octavo_restart_hdf5_chk_0001 and so on, or as usual.
  subroutine use_base_name(restarting) bind(c, name='octavo_base_name')
    integer, value :: restarting
    if (restarting /= 0) base_name = io_baseName
    io_baseName = merge('octavo_restart_'//repeat(' ', width - 15), base_name, restarting /= 0)
  end subroutine

  !> Flash-X has closed the file.
  subroutine remove_file() bind(c, name='octavo_remove_file')
    integer :: ierr
    if (made == ' ') return
    call MPI_Barrier(io_globalComm, ierr)
    call delete_made
    made = ' '
  end subroutine

  subroutine delete_made
    integer :: unit, ios
    if (io_globalMe /= MASTER_PE) return
    open (newunit=unit, file=made, status='old', iostat=ios)
    if (ios == 0) close (unit, status='delete')
  end subroutine

end module octavo_flashx
