!> The names of RAMSES that adapters/ramses uses, with their types, and nothing else: python/tests/test_adapters.py compiles the
!> adapter against them, so that a change of Octavo's interface shows without a tree of RAMSES.
module amr_commons
  implicit none
  integer, parameter :: dp = 8, ndim = 3, twotondim = 8, nvector = 32
  integer :: nrestart, myid, ncpu, nx, ny, nz, ncoarse, ngridmax, levelmin, nlevelmax, nboundary, noutput, iout, ifout
  integer :: nstep, nstep_coarse, nstep_coarse_old, ndomain, overload, IOGROUPSIZEREP
  integer :: icoarse_min, jcoarse_min, kcoarse_min, icoarse_max, jcoarse_max, kcoarse_max
  logical :: hydro, poisson, pic, rt, neq_chem, aton, MC_tracer, make_mergertree, simple_boundary, output_done
  logical :: star, sink, stellar, metal
  character(80) :: namelist_file, ordering
  real(dp) :: t, boxlen, aexp, aexp_ini, aexp_old, boxlen_ini, h0, hexp, omega_m, omega_l, omega_k, omega_b, mass_sph
  real(dp) :: einit, mass_tot_0, rho_tot, epot_tot_int, epot_tot_old, tout_next, delta_tout, aout_next, delta_aout
  integer, allocatable :: son(:), father(:), next(:), cpu_map(:)
  integer, allocatable :: headl(:, :), numbl(:, :), headb(:, :), numbb(:, :)
  real(dp), allocatable :: xg(:, :), tout(:), aout(:), dtold(:), dtnew(:), bound_key(:)
end module

module pm_commons
  implicit none
  integer, parameter :: pm_dp = 8, IRandNumSize = 4
  type :: part_t
    integer(1) :: family, tag
  end type
  integer :: npartmax, nsink, localseed(IRandNumSize)
  integer(8) :: nstar_tot
  real(pm_dp) :: mstar_tot, mstar_lost
  real(pm_dp), allocatable :: xp(:, :), vp(:, :), mp(:), tp(:), zp(:), ptcl_phi(:)
  integer, allocatable :: idp(:), levelp(:)
  type(part_t), allocatable :: typep(:)
end module

module hydro_commons
  implicit none
  integer, parameter :: nener = 0, imetal = 6
#ifdef SOLVERmhd
  integer, parameter :: nvar = 8
#else
  integer, parameter :: nvar = 5
#endif
  integer :: strict_equilibrium
  real(8) :: gamma, smallr, gamma_rad(1)
  real(8), allocatable :: uold(:, :), unew(:, :)
end module

module poisson_commons
  implicit none
  real(8), allocatable :: phi(:), f(:, :)
end module

module rt_parameters
  implicit none
  integer, parameter :: nGroups = 3, iGroups(nGroups) = [1, 5, 9]
  real(8) :: rt_c
end module

module rt_hydro_commons
  implicit none
  real(8), allocatable :: rtuold(:, :), rtunew(:, :)
end module

module turb_parameters
  implicit none
  logical :: turb
end module

module mpi_mod
  use mpi
end module
