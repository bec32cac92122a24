!> The names of Flash-X that adapters/flashx uses, with their types, and nothing else: python/tests/test_adapters.py compiles the
!> adapter against them, so that a change of Octavo's interface shows without a tree of Flash-X.
#include "constants.h"
#include "Simulation.h"

module IO_data
  implicit none
  integer :: io_outputSplitNum, io_acrossNumProcs, io_globalComm, io_globalMe, io_globalNumProcs, io_splitNumBlks, io_splitParts
  integer :: io_checkpointFileNumber, io_plotFileNumber, io_forcedPlotFileNumber, io_fileFormatVersion, io_nPlotVars
  integer :: io_ilo, io_ihi, io_jlo, io_jhi, io_klo, io_khi
  integer :: io_numIntParms, io_numRealParms, io_numStrParms, io_numLogParms
  integer :: io_numIntScalars, io_numRealScalars, io_numStrScalars, io_numLogScalars
  logical :: io_chkGuardCellsOutput, io_chkGuardCellsInput, io_plotfileGridQuantityDP, io_plotfileMetadataDP
  character(4), allocatable :: io_unklabelsGlobal(:), io_plotVarStr(:), io_scratchGridVarlabels(:)
  character(4), allocatable :: io_faceXVarLabels(:), io_faceYVarLabels(:), io_faceZVarLabels(:)
  character(MAX_STRING_LENGTH) :: io_baseName, io_setupCall, io_fileCreationTime, io_flashRelease, io_buildDate, io_buildDir
  character(MAX_STRING_LENGTH) :: io_buildMachine, io_cflags, io_fflags, io_setupTimeStamp, io_buildTimeStamp
  character(MAX_STRING_LENGTH), allocatable, dimension(:) :: io_intParmNames, io_realParmNames, io_strParmNames, io_logParmNames
  character(MAX_STRING_LENGTH), allocatable, dimension(:) :: io_intScalarNames, io_realScalarNames, io_strScalarNames
  character(MAX_STRING_LENGTH), allocatable, dimension(:) :: io_logScalarNames, io_strParmValues, io_strScalarValues
  integer, allocatable, dimension(:) :: io_intParmValues, io_logToIntParmValues, io_intScalarValues, io_logToIntScalarValues
  real, allocatable, dimension(:) :: io_realParmValues, io_realScalarValues
end module

module Grid_data
  implicit none
  integer :: gr_domainBC(2, 3), gr_globalNumBlocks
  real :: gr_imin, gr_imax, gr_jmin, gr_jmax, gr_kmin, gr_kmax
end module

module gr_specificData
  implicit none
  integer :: gr_nblockX, gr_nblockY, gr_nblockZ
  real, allocatable :: scratch(:, :, :, :, :)
end module

module tree
  implicit none
  integer :: lrefine(MAXBLOCKS), nodetype(MAXBLOCKS)
  real :: bnd_box(2, 3, MAXBLOCKS), bsize(3, MAXBLOCKS)
end module

module physicaldata
  implicit none
  real, allocatable, dimension(:, :, :, :, :) :: unk, facevarx, facevary, facevarz
end module

module Particles_data
  implicit none
  real, allocatable :: particles(:, :)
end module

module Driver_interface
  implicit none
  interface
    subroutine Driver_abort(message)
      character(*), intent(in) :: message
    end subroutine
    subroutine Driver_getNStep(step)
      integer, intent(out) :: step
    end subroutine
    subroutine Driver_getSimTime(time)
      real, intent(out) :: time
    end subroutine
  end interface
end module

module Grid_interface
  implicit none
  interface
    subroutine Grid_getLocalNumBlks(blocks)
      integer, intent(out) :: blocks
    end subroutine
  end interface
end module

module Simulation_interface
  implicit none
  interface
    subroutine Simulation_mapStrToInt(text, key, map)
      character(*), intent(in) :: text
      integer, intent(out) :: key
      integer, intent(in) :: map
    end subroutine
  end interface
end module

module RuntimeParameters_interface
  implicit none
  interface RuntimeParameters_get
    subroutine get_text(name, value)
      character(*), intent(in) :: name
      character(*), intent(inout) :: value
    end subroutine
    subroutine get_integer(name, value)
      character(*), intent(in) :: name
      integer, intent(inout) :: value
    end subroutine
  end interface
end module
