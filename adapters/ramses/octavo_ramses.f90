!> RAMSES' outputs go to an Octavo store, and RAMSES restarts from it on any number of ranks (README.md).
!>
!> octavo_calls.f90 calls this module, in the place of RAMSES' own procedures, so that no source of RAMSES changes.
module octavo_ramses
  use amr_commons
  use pm_commons
  use hydro_commons
  use poisson_commons
#ifdef RT
  use rt_parameters
  use rt_hydro_commons
#endif
#if USE_TURB==1
  use turb_parameters
#endif
  use mpi_mod
  use octavo, only: octavo_writer, octavo_restart, octavo_restart_options, octavo_target, octavo_domain, octavo_tree, &
                    octavo_checkpoint, octavo_analysis
  implicit none
  private
  public :: read_options, refuse_what_is_lost, find_restart, start_writing, put_step, close_store, native, analysis, due

  integer, parameter :: text_length = 256
  character(text_length) :: store = 'run.octavo'      !< the store
  character(text_length) :: options = ''              !< TOML file of the writer's options
  character(text_length) :: scratch = '/dev/shm'      !< directory for the files of a restart, the same on all nodes
  integer :: restart = -1                             !< coarse step to restart from; -1: the newest; 0: never
  logical :: native = .false.                         !< RAMSES writes its own outputs, too
  logical :: analysis = .false.                       !< analysis steps, when the option analysis.every says so
  namelist /octavo_params/ store, options, scratch, restart, native, analysis

  type(octavo_writer) :: writer
  type(octavo_restart) :: from
  logical :: is_open = .false.
  integer(1), allocatable :: family(:), tag(:)        !< of the particles: gfortran does not pass typep%family in place
  character(*), parameter :: species = 'particles', wall_species = 'wall octs'
  ! The step that is being put:
  integer, allocatable :: cells(:)                    !< place of each tree cell in RAMSES' arrays; 0: another rank's
  integer(1), allocatable :: octs(:)                  !< 2: this rank's; 1: above them, and children of their cells
  integer, allocatable :: walls(:), levels(:)         !< octs in walls
  real(kind=8), allocatable :: centres(:, :)
  real(dp), allocatable :: wall_values(:, :, :)       !< (cell, oct, variable): a layer of the mesh
  integer :: wall_variables

contains

  subroutine read_options
    integer :: unit, ios
    character(text_length) :: why
    open (newunit=unit, file=namelist_file, status='old', action='read')
    read (unit, nml=octavo_params, iostat=ios, iomsg=why)
    close (unit)
    if (ios > 0) call refuse(.true., '&OCTAVO_PARAMS: '//trim(why))
    if (nrestart > 0) restart = 0  ! RAMSES' own outputs
  end subroutine

  subroutine refuse(condition, what)
    logical, intent(in) :: condition
    character(*), intent(in) :: what
    if (.not. condition) return
    if (myid == 1) write (*, *) 'octavo: '//what
    call clean_stop
  end subroutine

  !> State that RAMSES keeps in its outputs and this adapter does not: a run with it would lose it.
  subroutine refuse_what_is_lost
    character(*), parameter :: lost = ' is not carried by adapters/ramses'
    call refuse(any([icoarse_max - icoarse_min, jcoarse_max - jcoarse_min, kcoarse_max - kcoarse_min] > 0), &
                'a box of several coarse cells (nx, ny, nz)'//lost)
    call refuse(MC_tracer, 'Monte Carlo tracers (MC_tracer)'//lost)
    call refuse(strict_equilibrium > 0, 'strict_equilibrium'//lost)
    call refuse(make_mergertree, 'the merger tree (make_mergertree)'//lost)
    call refuse(aton, 'radiation of ATON'//lost)
    call refuse(overload > 1, 'overload above 1'//lost)
    call refuse(ordering /= 'hilbert' .and. ordering /= 'planar', 'ordering='//trim(ordering)//lost)
    call refuse(IOGROUPSIZEREP > 0, 'IOGROUPSIZEREP'//lost)
#ifdef QUADHILBERT
    call refuse(.true., 'QUADHILBERT'//lost)
#endif
#ifdef SOLVERrhd
    call refuse(.true., 'SOLVER=rhd'//lost)
#endif
#ifdef OUTPUT_PARTICLE_DENSITY
    call refuse(.true., 'OUTPUT_PARTICLE_DENSITY'//lost)
#endif
  end subroutine

  ! ------------------------------------------------------------------------------------------------------- restarting

  !> Makes RAMSES' own files of the step, for as many ranks as there are now, under the name where RAMSES looks.
  subroutine find_restart
    character(80) :: none(0)
    type(octavo_restart_options) :: wanted
#ifdef RT
    logical :: good
#endif
    if (restart == 0) return
    wanted%step = restart
    wanted%fields = none
    wanted%particles = .false.
    if (options /= '') wanted%options = trim(options)
    call from%open(MPI_COMM_WORLD, trim(store), wanted)
    if (.not. from%found()) return
    call from%write(MPI_COMM_WORLD, trim(store), 'ramses', trim(scratch))
    call from%get_attribute('output_number', nrestart)
#ifdef RT
    ! It has looked at nrestart: a restart keeps the ionisation of its output.
    open (1, file=namelist_file, status='old', action='read')
    good = .true.
    call read_rt_params(good)
    close (1)
#endif
    if (myid == 1) write (*, '(a,a,a,i5.5)') ' octavo: restart from ', trim(store), ' as output_', nrestart
  end subroutine

  !> RAMSES has read its files: they are removed.
  subroutine start_writing
    if (is_open) return
    call open_store
    call from%free()
  end subroutine

  ! ---------------------------------------------------------------------------------------------------------- writing

  subroutine open_store
    type(octavo_target) :: target
    type(octavo_domain) :: box
    target%path = trim(store)
    if (options /= '') target%options = trim(options)
    box%code = 'RAMSES'
    box%dim = ndim
    box%first_level = 1
    box%roots(1:ndim) = 2
    box%hi(1:ndim) = boxlen
    box%periodic = [nx, ny, nz] == 1 .and. [1, 2, 3] <= ndim
    if (from%found()) then
      call writer%open(MPI_COMM_WORLD, target, box, from)
    else
      call writer%open(MPI_COMM_WORLD, target, box)
    end if
    is_open = .true.
  end subroutine

  logical function due()
    due = writer%due(octavo_analysis, nstep_coarse, dble(t))
  end function

  subroutine close_store
    if (is_open) call writer%close()
    is_open = .false.
  end subroutine

  subroutine put_step(flow)
    integer, intent(in) :: flow
    type(octavo_tree) :: tree
    call writer%begin_step(flow, nstep_coarse, dble(t))
    call find_tree(tree)
    call writer%put_tree(tree)
    if (flow == octavo_checkpoint) call put_order(tree)
    deallocate (tree%refined, tree%owned)
    call put_run
    if (simple_boundary .and. flow == octavo_checkpoint) call put_walls
    if (hydro) call put_gas
    if (poisson) call put_gravity
#ifdef RT
    if (rt .or. neq_chem) call put_radiation
#endif
    if (pic) call put_particles
#if USE_TURB==1
    if (turb .and. flow == octavo_checkpoint) call put_forcing
#endif
    call writer%end_step()
    if (allocated(family)) deallocate (family, tag)
    if (allocated(walls)) deallocate (walls, centres, levels, wall_values)
  end subroutine

  !> The tree of this rank's octs, level after level, without octs that only ghosts need. cells: the place of each tree
  !> cell in RAMSES' arrays; 0 for a cell of another rank.
  subroutine find_tree(tree)
    type(octavo_tree), intent(out) :: tree
    integer :: level, last, c, child, n, i
    logical :: is_own
    call mark_octs
    n = count(octs > 0)*twotondim
    if (allocated(cells)) deallocate (cells)
    allocate (cells(n), tree%refined(n), tree%owned(n), tree%cells_of_level(nlevelmax))
    n = 0
    c = 0
    call add_oct(son(real_cell()), n)
    do level = 1, nlevelmax
      last = n
      tree%cells_of_level(level) = last - c
      do while (c < last)
        is_own = octs(oct_of(cells(c + 1))) == 2
        do i = 1, twotondim
          c = c + 1
          child = son(cells(c))
          tree%refined(c) = .false.
          if (child > 0) tree%refined(c) = octs(child) > 0
          tree%owned(c) = is_own
          if (tree%refined(c)) call add_oct(child, n)
          if (.not. is_own) cells(c) = 0
        end do
      end do
    end do
    n = count(tree%cells_of_level > 0)
    tree%cells_of_level = tree%cells_of_level(:n)
    tree%refined = tree%refined(:last)
    tree%owned = tree%owned(:last)
    cells = cells(:last)
  end subroutine

  subroutine mark_octs
    integer :: level, i, oct, above, ind, child
    if (.not. allocated(octs)) allocate (octs(ngridmax))
    octs = 0
    octs(son(real_cell())) = 1  ! on every rank
    do level = 1, nlevelmax
      oct = headl(myid, level)
      do i = 1, numbl(myid, level)
        above = oct
        do while (octs(above) == 0)
          octs(above) = 1
          above = oct_of(father(above))
        end do
        octs(oct) = 2
        do ind = 1, twotondim
          child = son(ncoarse + (ind - 1)*ngridmax + oct)
          if (child > 0) octs(child) = max(octs(child), 1_1)
        end do
        oct = next(oct)
      end do
    end do
  end subroutine

  !> The coarse cell that is no wall.
  integer function real_cell()
    real_cell = 1 + icoarse_min + nx*(jcoarse_min + ny*kcoarse_min)
  end function

  integer function oct_of(cell)
    integer, intent(in) :: cell
    oct_of = 0
    if (cell > ncoarse) oct_of = mod(cell - ncoarse - 1, ngridmax) + 1
  end function

  !> The order in which RAMSES' lists have the own octs of each level: it draws random numbers in this order. Each oct by
  !> its place in the tree, from 0; as differences of neighbours.
  subroutine put_order(tree)
    type(octavo_tree), intent(in) :: tree
    integer, allocatable :: place(:), order(:)
    integer :: level, cell, last, own, oct, i, n
    allocate (place(ngridmax), order(count(tree%owned)/twotondim))
    n = 0
    last = 0
    do level = 1, size(tree%cells_of_level)
      own = 0
      do cell = last + 1, last + tree%cells_of_level(level), twotondim
        if (.not. tree%owned(cell)) cycle
        place(oct_of(cells(cell))) = own
        own = own + 1
      end do
      last = last + tree%cells_of_level(level)
      oct = headl(myid, level)
      do i = 1, own
        n = n + 1
        order(n) = place(oct)
        oct = next(oct)
      end do
    end do
    call writer%put_bytes('.ramses/oct_order', transfer(order - eoshift(order, -1), [0_1]))
  end subroutine

  subroutine add_oct(oct, n)
    integer, intent(in) :: oct
    integer, intent(inout) :: n
    integer :: ind
    do ind = 1, twotondim
      n = n + 1
      cells(n) = ncoarse + (ind - 1)*ngridmax + oct
    end do
  end subroutine

  ! ----------------------------------------------------------------------------------------------------------- values

  !> The numbers that RAMSES writes at the head of its files. They have the names that Octavo's reader of RAMSES gives them.
  subroutine put_run
    real(dp) :: scale_l, scale_t, scale_d, scale_v, scale_nH, scale_T2
    call units(scale_l, scale_t, scale_d, scale_v, scale_nH, scale_T2)
    call writer%put_units(dble(scale_l), dble(scale_d), dble(scale_t))  ! with cosmology they change with time
    call writer%put_attribute('output_number', ifout - 1)
    call writer%put_attribute('levelmin', levelmin)
    call writer%put_attribute('nlevelmax', nlevelmax)
    call writer%put_attribute('ngridmax', ngridmax)
    call writer%put_attribute('boxlen', dble(boxlen))
    call writer%put_attribute('aexp', dble(aexp))
    call writer%put_attribute('H0', dble(h0))
    call writer%put_attribute('omega_m', dble(omega_m))
    call writer%put_attribute('omega_l', dble(omega_l))
    call writer%put_attribute('omega_k', dble(omega_k))
    call writer%put_attribute('omega_b', dble(omega_b))
    call writer%put_attribute('ncpu', ncpu)
    call writer%put_attribute('coarse_cells', [nx, ny, nz])
    call writer%put_attribute('coarse_cpu_map', cpu_map(1:ncoarse))
    call writer%put_attribute('nboundary', nboundary)
    call writer%put_attribute('output_counts', [noutput, iout, ifout])
    call writer%put_attribute('tout', dble(tout(1:noutput)))
    call writer%put_attribute('aout', dble(aout(1:noutput)))
    call writer%put_attribute('dtold', dble(dtold(1:nlevelmax)))
    call writer%put_attribute('dtnew', dble(dtnew(1:nlevelmax)))
    call writer%put_attribute('nstep', [nstep, nstep_coarse])
    call writer%put_attribute('energy', dble([einit, mass_tot_0, rho_tot]))
    call writer%put_attribute('cosmology', dble([omega_m, omega_l, omega_k, omega_b, h0, aexp_ini, boxlen_ini]))
    call writer%put_attribute('expansion', dble([aexp, hexp, aexp_old, epot_tot_int, epot_tot_old]))
    call writer%put_attribute('mass_sph', dble(mass_sph))
    call writer%put_attribute('ordering', trim(ordering))
    call writer%put_attribute('real_bytes', kind(boxlen))
    call writer%put_attribute('bound_key', dble(bound_key(0:ndomain)))
    call put_text_of('namelist', namelist_file)
  end subroutine

  !> A field with one value a cell, and the same of the octs in walls. `values` is an array of RAMSES.
  subroutine put_cells(name, values, unit, face)
    character(*), intent(in) :: name, unit
    real(dp), intent(in) :: values(:)
    integer, intent(in), optional :: face
    integer :: n, ind
    call writer%put_field(name, values, unit, order=cells, centring=face)
    if (.not. allocated(walls)) return
    wall_variables = wall_variables + 1
    do n = 1, size(walls)
      wall_values(:, n, wall_variables) = [(values(ncoarse + (ind - 1)*ngridmax + walls(n)), ind=1, twotondim)]
    end do
    call writer%put_particles(wall_species, name, wall_values(:, :, wall_variables), unit)
  end subroutine

  !> The octs in walls: RAMSES extrapolates the potential there in time, so a restart needs their values.
  subroutine put_walls
    integer :: regions(ncoarse), all_regions(ncoarse), level, bound, oct, i, n, ierr
    real(kind=8) :: corner(3)
    n = sum(numbb(1:nboundary, 1:nlevelmax))
    allocate (walls(n), levels(n), centres(n, ndim))
    allocate (wall_values(twotondim, n, nvar + 3 + ndim + 1 + radiation_variables()))
    wall_variables = 0
    corner = [icoarse_min, jcoarse_min, kcoarse_min]
    regions = 0
    n = 0
    do level = 1, nlevelmax
      do bound = 1, nboundary
        oct = headb(bound, level)
        do i = 1, numbb(bound, level)
          n = n + 1
          walls(n) = oct
          levels(n) = level
          centres(n, :) = (xg(oct, 1:ndim) - corner(1:ndim))*boxlen
          if (level == 1) regions(father(oct)) = bound
          oct = next(oct)
        end do
      end do
    end do
    call MPI_ALLREDUCE(regions, all_regions, ncoarse, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierr)
    call writer%put_attribute('coarse_boundary', all_regions)
    do i = 1, ndim
      call writer%put_particles(wall_species, 'position_'//axis(i), centres(:, i))
    end do
    call writer%put_particles(wall_species, 'level', levels)
  end subroutine

  integer function radiation_variables()
    radiation_variables = 0
#ifdef RT
    radiation_variables = nGroups*(ndim + 1)
#endif
  end function

  !> The values of RAMSES' hydro files, with its own formulae. They stand in unew, which a step of RAMSES sets before it
  !> reads it: the adapter needs no array of its own.
  subroutine put_gas
#ifdef SOLVERmhd
    integer, parameter :: scalars = 9 + nener, energy = 5, velocities = 3
    logical, parameter :: magnetic = .true.
#else
    integer, parameter :: scalars = ndim + 3 + nener, energy = ndim + 2, velocities = ndim
    logical, parameter :: magnetic = .false.
#endif
    character(*), parameter :: pressures = 'code_mass/code_length/code_time**2'
    character(21) :: names(size(unew, 2))
    integer :: n, i, ivar
    ! In the order of memory: all first cells of octs, then all second ones. Siblings lie ngridmax apart.
    do i = 0, twotondim - 1
      do n = 1, ngridmax
        if (octs(n) == 2) call set(ncoarse + i*ngridmax + n)
      end do
    end do
    if (allocated(walls)) then
      do n = 1, size(walls)
        do i = 0, twotondim - 1
          call set(ncoarse + i*ngridmax + walls(n))
        end do
      end do
    end if
    names = ''
    n = 0
    call put('density', uold(:, 1), 'code_mass/code_length**3')
    do ivar = 2, velocities + 1
      call put('velocity_'//axis(ivar - 1), unew(:, ivar), 'code_length/code_time')
    end do
#ifdef SOLVERmhd
    do ivar = 1, 3
      call put('B_'//axis(ivar)//'_left', uold(:, ivar + 5), '', ivar)
    end do
    do ivar = 1, 3
      call put('B_'//axis(ivar)//'_right', uold(:, nvar + ivar), '', ivar)
    end do
#endif
    do ivar = scalars - nener, scalars - 1
#ifdef SOLVERmhd
      call put(numbered('non_thermal_energy_', ivar - 8), unew(:, ivar), pressures)
#else
      call put(numbered('non_thermal_energy_', ivar - 3), unew(:, ivar), pressures)
#endif
    end do
    call put('pressure', unew(:, energy), pressures)
    do ivar = scalars, nvar
      if (imetal == ivar .and. (metal .or. magnetic)) then
        call put('metallicity', unew(:, ivar), '')
      else
        call put(numbered('scalar_', ivar - scalars), unew(:, ivar), '')
      end if
    end do
    call writer%put_attribute('gamma', dble(gamma))
    call writer%put_attribute('hydro_variables', names(:n))
  contains
    subroutine set(i)
      integer, intent(in) :: i
      real(dp) :: d
      d = max(uold(i, 1), smallr)
      unew(i, 2:velocities + 1) = uold(i, 2:velocities + 1)/d
      unew(i, scalars - nener:scalars - 1) = (gamma_rad(1:nener) - 1d0)*uold(i, scalars - nener:scalars - 1)
      unew(i, energy) = thermal_pressure(i, d)
      unew(i, scalars:nvar) = uold(i, scalars:nvar)/d
    end subroutine
    subroutine put(name, values, unit, face)
      character(*), intent(in) :: name, unit
      real(dp), intent(in) :: values(:)
      integer, intent(in), optional :: face
      n = n + 1
      names(n) = name
      call put_cells(name, values, unit, face)
    end subroutine
  end subroutine

  real(dp) function thermal_pressure(i, d) result(e)
    integer, intent(in) :: i
    real(dp), intent(in) :: d
#ifdef SOLVERmhd
    real(dp) :: u, v, w, A, B, C
    u = uold(i, 2)/d
    v = uold(i, 3)/d
    w = uold(i, 4)/d
    A = 0.5*(uold(i, 6) + uold(i, nvar + 1))
    B = 0.5*(uold(i, 7) + uold(i, nvar + 2))
    C = 0.5*(uold(i, 8) + uold(i, nvar + 3))
    e = uold(i, 5) - 0.5*d*(u**2 + v**2 + w**2) - 0.5*(A**2 + B**2 + C**2)
    e = e - sum(uold(i, 9:8 + nener))
#else
    integer :: k
    e = uold(i, ndim + 2)
    do k = 2, ndim + 1
      e = e - 0.5d0*uold(i, k)**2/d
    end do
    do k = ndim + 3, ndim + 2 + nener
      e = e - uold(i, k)
    end do
#endif
    e = (gamma - 1d0)*e
  end function

  character function axis(number)
    integer, intent(in) :: number
    axis = 'xyz' (number:number)
  end function

  character(21) function numbered(name, number)
    character(*), intent(in) :: name
    integer, intent(in) :: number
    write (numbered, '(a,i0.2)') name, number
  end function

  subroutine put_gravity
    character(9) :: names(ndim + 1)
    integer :: i
    names = [character(9) :: 'potential', ('force_'//axis(i), i=1, ndim)]
    call put_cells('potential', phi, 'code_length**2/code_time**2')
    do i = 1, ndim
      call put_cells(trim(names(i + 1)), f(:, i), 'code_length/code_time**2')
    end do
    call writer%put_attribute('grav_variables', names)
  end subroutine

#ifdef RT
  !> Photon densities in units of a flux, as in RAMSES' rt files; they stand in rtunew.
  subroutine put_radiation
    external :: output_rtInfo
    character(21) :: names(nGroups*(ndim + 1))
    integer :: group, i, n
    n = 0
    do group = 1, nGroups
      rtunew(:, iGroups(group)) = rt_c*rtuold(:, iGroups(group))
      n = n + 1
      names(n) = numbered('photon_flux_', group)
      call put_cells(trim(names(n)), rtunew(:, iGroups(group)), '')
      do i = 1, ndim
        n = n + 1
        names(n) = trim(numbered('photon_flux_', group))//'_'//axis(i)
        call put_cells(trim(names(n)), rtuold(:, iGroups(group) + i), '')
      end do
    end do
    call writer%put_attribute('rt_variables', names)
    call put_written('info_rt', output_rtInfo)
  end subroutine
#endif

  subroutine put_particles
    integer, allocatable :: order(:)
    integer :: i, ierr, seeds(IRandNumSize, ncpu)
    real(kind=8) :: stars(2)
#if NDIM==3
    external :: output_sink_csv, output_stellar_csv
#endif
    order = pack([(i, i=1, npartmax)], levelp(1:npartmax) > 0)
    do i = 1, ndim
      call writer%put_particles(species, 'position_'//axis(i), xp(:, i), 'code_length', order=order)
    end do
    do i = 1, ndim
      call writer%put_particles(species, 'velocity_'//axis(i), vp(:, i), 'code_length/code_time', order=order)
    end do
    call writer%put_particles(species, 'mass', mp, 'code_mass', order=order)
    call writer%put_particles(species, 'identity', idp, order=order)
    call writer%put_particles(species, 'levelp', levelp, order=order)
    family = typep(order)%family
    tag = typep(order)%tag
    call writer%put_particles(species, 'family', family)
    call writer%put_particles(species, 'tag', tag)
#ifdef OUTPUT_PARTICLE_POTENTIAL
    call writer%put_particles(species, 'potential', ptcl_phi, order=order)
#endif
    if (star .or. sink) call writer%put_particles(species, 'birth_time', tp, order=order)
    if ((star .or. sink) .and. metal) call writer%put_particles(species, 'metallicity', zp, order=order)
    call MPI_ALLGATHER(localseed, IRandNumSize, MPI_INTEGER, seeds, IRandNumSize, MPI_INTEGER, MPI_COMM_WORLD, ierr)
    call MPI_ALLREDUCE(dble([mstar_tot, mstar_lost]), stars, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    call writer%put_attribute('localseed', seeds(:, 1))
    if (ncpu > 1) call writer%put_attribute('localseeds', reshape(seeds, [size(seeds)]))
    call writer%put_attribute('nstar_tot', int(nstar_tot))
    call writer%put_attribute('mstar_tot', stars(1))
    call writer%put_attribute('mstar_lost', stars(2))
    call writer%put_attribute('nsink', nsink)
#if NDIM==3
    if (sink) call put_written('sink_csv', output_sink_csv)
    if (stellar) call put_written('stellar_csv', output_stellar_csv)
#endif
  end subroutine

#if USE_TURB==1
  !> The state of the turbulent forcing: three files that RAMSES' first rank writes, and reads when it restarts.
  subroutine put_forcing
    external :: write_turb_fields
    character(*), parameter :: folder = '.octavo_', files(3) = [character(15) :: 'turb_fields.dat', 'turb_last.0.dat', &
                                                                'turb_next.0.dat']
    integer(1), allocatable :: bytes(:)
    integer :: unit, i, length
    if (myid /= 1) return
    call write_turb_fields(folder)
    do i = 1, size(files)
      open (newunit=unit, file=folder//trim(files(i)), access='stream', status='old', action='readwrite')
      inquire (unit, size=length)
      if (allocated(bytes)) deallocate (bytes)
      allocate (bytes(length))
      read (unit) bytes
      close (unit, status='delete')
      call writer%put_bytes('ramses/run/'//trim(files(i)), bytes)
    end do
  end subroutine
#endif

  !> A text that RAMSES writes itself.
  subroutine put_written(name, write_table)
    character(*), intent(in) :: name
    external :: write_table
    character(80) :: file
    integer :: unit
    file = '.octavo_text'
    if (myid == 1) call write_table(file)
    call put_text_of(name, file)
    if (myid /= 1) return
    open (newunit=unit, file=file)
    close (unit, status='delete')
  end subroutine

  !> A text that RAMSES reads from its output when it restarts.
  subroutine put_text_of(name, file)
    character(*), intent(in) :: name, file
    character(:), allocatable :: text
    integer :: unit, length, ierr
    length = 0
    if (myid == 1) then
      open (newunit=unit, file=file, access='stream', status='old', action='read')
      inquire (unit, size=length)
    end if
    call MPI_BCAST(length, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    allocate (character(length) :: text)
    if (myid == 1) then
      read (unit) text
      close (unit)
    end if
    call MPI_BCAST(text, length, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierr)
    call writer%put_attribute(name, text)
  end subroutine

end module octavo_ramses
