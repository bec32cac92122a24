!> Octavo for Fortran: the verbs of octavo.h with assumed-shape arrays and no C types in sight (docs/engine.md).
!>
!> Every procedure takes an optional `error` (type octavo_error): its code is 0, or as octavo.h has it, and its message says
!> what happened. Without it, an error ends the program with the message. Strided arrays are taken as they are; arrays that
!> are put must stay, and be targets, until end_step returns. Sizes and step numbers are default or 64-bit integers.
module octavo
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: error_unit, int8, int32, int64, real32, real64
  implicit none
  private
  public :: octavo_error, octavo_domain, octavo_writer, octavo_restart, octavo_field_info, octavo_native_writer, &
    octavo_series
  public :: octavo_list_steps              !< (store, flow, steps [, times, error]): allocates the complete steps, ascending
  public :: octavo_forget_failed_restarts  !< (store [, error]): by one process

  integer, parameter, public :: octavo_checkpoint = 0, octavo_analysis = 1
  integer, parameter, public :: octavo_flash = 0, octavo_amrex_plotfile = 1, octavo_amrex_checkpoint = 2
  integer, parameter, public :: octavo_host = 0  !< memory space of arrays that are put; the only one so far
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

  !> A field of cells, or where `species` is not empty an attribute of particles.
  type :: octavo_field_info
    character(:), allocatable :: name, unit, species
    integer :: type = 0  !< as enum octavo_type of octavo.h: 0 real64, 1 real32, 2 int64, 3 int32 ...
    integer :: components = 1
  end type

  type :: octavo_writer
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => writer_open            !< collective: (comm, store, domain [, options, from, error])
    procedure :: due                            !< logical (flow, step, time [, error]); ask at every step, on all ranks
    procedure :: begin_step                     !< (flow, step, time [, error])
    procedure, private :: put_int, put_real, put_text, put_ints, put_reals, put_texts
    generic :: put_attribute => put_int, put_real, put_text, put_ints, put_reals, put_texts  !< (name, value [, error])
    procedure :: put_mesh                       !< (cells_of_level, refined, owned [, error])
    procedure :: put_triangles                  !< (x, y, triangles, global_point [, planes, global_triangle, error])
    procedure, private :: put_field_r64, put_field_r32, put_field_i64, put_field_i32
    generic :: put_field => put_field_r64, put_field_r32, put_field_i64, put_field_i32  !< (name, values [, unit, error, space])
    procedure, private :: put_particles_r64, put_particles_r32, put_particles_i64, put_particles_i32
    generic :: put_particles => put_particles_r64, put_particles_r32, put_particles_i64, put_particles_i32
                                                !< (species, attribute, values [, error, space])
    procedure :: end_step                       !< collective ([error])
    procedure :: wait => writer_wait            !< collective ([error])
    procedure :: statistics => writer_statistics  !< collective: allocates JSON (text [, error])
    procedure :: close => writer_close          !< collective ([error])
  end type

  !> FLASH and AMReX outputs written by all ranks; a step is a file or a directory of its own.
  type :: octavo_native_writer
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => native_open            !< collective: (comm, domain, format [, block, background, sync, collect,
                                                !<  files, max_box, title, multifab, error])
    procedure :: begin_step => native_begin_step  !< (path, step, time [, error])
    procedure, private :: native_put_int, native_put_real, native_put_text, native_put_ints, native_put_reals, native_put_texts
    generic :: put_attribute => native_put_int, native_put_real, native_put_text, native_put_ints, native_put_reals, &
      native_put_texts                          !< (name, value [, error])
    procedure :: put_mesh => native_put_mesh    !< (cells_of_level, refined, owned [, error])
    procedure :: put_boxes => native_put_boxes  !< (domain, ratio, boxes_of_level, boxes [, error])
    procedure :: put_field => native_put_field  !< (name, values [, unit, error])
    procedure :: put_faces => native_put_faces  !< (name, values, axis [, unit, error])
    procedure :: put_arrays => native_put_arrays  !< (name, values, kind, ghost, stride [, unit, error])
    procedure :: put_particles => native_put_particles  !< (species, attribute, values [, error])
    procedure :: end_step => native_end_step    !< collective ([error])
    procedure :: finished => native_finished    !< collective: logical ([error]), nothing is in flight any more
    procedure :: wait => native_wait            !< collective ([error])
    procedure :: close => native_close          !< collective ([error])
  end type

  !> One SERAFIN file, written by all ranks of a run on a distributed mesh of triangles, or of planes of them.
  type :: octavo_series
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => series_open            !< collective: see series_open
    procedure :: begin_step => series_begin_step  !< (time [, error])
    procedure :: put_field => series_put_field  !< (name, values [, error]); copied: the array may change right away
    procedure :: end_step => series_end_step    !< collective ([error])
    procedure :: finished => series_finished    !< collective: logical ([error]), nothing is in flight any more
    procedure :: wait => series_wait            !< collective ([error])
    procedure :: steps => series_steps          !< integer ([error]): whole ones in the file
    procedure :: close => series_close          !< collective ([error])
  end type

  type :: octavo_restart
    private
    type(c_ptr) :: handle = c_null_ptr
  contains
    procedure :: open => restart_open           !< collective: (comm, store [, flow, step, options, points, error])
    procedure :: failed => restart_failed       !< collective: the run cannot go on from here (comm, store [, error])
    procedure :: found                          !< whether there was a step
    procedure :: step => restart_step
    procedure :: time => restart_time
    procedure :: notes => restart_notes         !< writes to a unit what a user should know (unit)
    procedure :: fields => restart_fields       !< allocates what there is (info)
    procedure, private :: get_int, get_real, get_text, get_ints, get_reals
    generic :: get_attribute => get_int, get_real, get_text, get_ints, get_reals
                                                !< (name, value [, error]); arrays and texts are allocated
    procedure :: mesh => restart_mesh           !< allocates (cells_of_level, refined, owned [, error])
    procedure :: triangles => restart_triangles  !< allocates (x, y, triangles, global_point [, planes, global_triangle, error])
    procedure, private :: field_r64, field_r32, field_i64, field_i32
    generic :: field => field_r64, field_r32, field_i64, field_i32  !< allocates (name, values [, error])
    procedure, private :: particles_r64, particles_r32, particles_i64, particles_i32
    generic :: particles => particles_r64, particles_r32, particles_i64, particles_i32
                                                !< allocates (species, attribute, values [, error])
    procedure :: free => restart_free
  end type

  ! ------------------------------------------------------------------ as C has it

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

  type, bind(c) :: c_native_options
    integer(c_int) :: format
    integer(c_int64_t) :: block(3)
    integer(c_int) :: background, sync, checksums, collect, files
    integer(c_int64_t) :: max_box
    type(c_ptr) :: title, multifab
  end type

  type, bind(c) :: c_series_options
    integer(c_int) :: double_precision = 0, little_endian = 0
    type(c_ptr) :: title = c_null_ptr
    integer(c_int) :: dated = 0, date(6) = 0, origin(2) = 0, background = 1, sync = 1, writers = 0
    integer(c_int64_t) :: alignment = 4096
    integer(c_int) :: resume = 0
    real(c_double) :: resume_time = 0
  end type

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

  type, bind(c) :: c_field_info
    character(kind=c_char) :: name(128), unit(64), species(128)
    integer(c_int) :: kind, components
  end type

  interface
    integer(c_int) function c_due(writer, flow, step, time, is_due, error) bind(c, name='octavo_writer_due')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      integer(c_int), intent(out) :: is_due
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_ints(writer, name, values, number, error) bind(c, name='octavo_writer_put_ints')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_doubles(writer, name, values, number, error) bind(c, name='octavo_writer_put_doubles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_texts(writer, name, values, number, error) bind(c, name='octavo_writer_put_texts')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_statistics(writer, text, size, error) bind(c, name='octavo_writer_statistics')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_list_steps(store, flow, capacity, steps, times, number, error) &
        bind(c, name='octavo_list_steps')
      import
      character(kind=c_char), intent(in) :: store(*)
      integer(c_int), value :: flow
      integer(c_int64_t), value :: capacity
      integer(c_int64_t), intent(out) :: steps(*)
      real(c_double), intent(out) :: times(*)
      integer(c_int64_t), intent(out) :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_failed(comm, store, restart, error) &
        bind(c, name='octavo_fortran_restart_failed')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*)
      type(c_ptr), value :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_forget(store, error) bind(c, name='octavo_forget_failed_restarts')
      import
      character(kind=c_char), intent(in) :: store(*)
      type(c_error), intent(out) :: error
    end function
    type(c_ptr) function c_note(restart, at) bind(c, name='octavo_restart_note')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), value :: at
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name='strlen')
      import
      type(c_ptr), value :: text
    end function
    integer(c_int64_t) function c_num_fields(restart) bind(c, name='octavo_restart_num_fields')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_field_info_of(restart, at, info, error) bind(c, name='octavo_restart_field_info')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), value :: at
      type(c_field_info), intent(out) :: info
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_attribute_count(restart, name) bind(c, name='octavo_restart_attribute_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_get_ints(restart, name, values, number, error) bind(c, name='octavo_restart_get_ints')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_doubles(restart, name, values, number, error) &
        bind(c, name='octavo_restart_get_doubles')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(out) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_get_text(restart, name, at, text, size, error) bind(c, name='octavo_restart_get_text')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: at
      character(kind=c_char), intent(out) :: text(*)
      integer(c_size_t), value :: size
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_writer_open(comm, store, domain, options, from, writer, error) &
        bind(c, name='octavo_fortran_writer_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*), options(*)
      type(c_domain), intent(in) :: domain
      type(c_ptr), value :: from
      type(c_ptr), intent(out) :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_begin_step(writer, flow, step, time, error) bind(c, name='octavo_writer_begin_step')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_int(writer, name, number, error) bind(c, name='octavo_writer_put_int')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_double(writer, name, number, error) bind(c, name='octavo_writer_put_double')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_text(writer, name, text, error) bind(c, name='octavo_writer_put_text')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), text(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_mesh(writer, levels, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_writer_put_mesh')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: cells_of_level(*)
      integer(c_int8_t), intent(in) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_triangles(writer, mesh, error) bind(c, name='octavo_writer_put_triangles')
      import
      type(c_ptr), value :: writer
      type(c_series_mesh), intent(in) :: mesh
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_open_points(comm, store, options, flow, step, points, number, restart, error) &
        bind(c, name='octavo_fortran_restart_open_points')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*), options(*)
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step, number
      integer(c_int64_t), intent(in) :: points(*)
      type(c_ptr), intent(out) :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_triangle_counts(restart, points, triangles, planes, error) &
        bind(c, name='octavo_restart_triangle_counts')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(out) :: points, triangles
      integer(c_int), intent(out) :: planes
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_triangles(restart, x, y, connectivity, global_point, global_element, error) &
        bind(c, name='octavo_restart_triangles')
      import
      type(c_ptr), value :: restart
      real(c_double), intent(out) :: x(*), y(*)
      integer(c_int64_t), intent(out) :: connectivity(*), global_point(*), global_element(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_field(writer, name, unit, kind, values, cells, stride, space, error) &
        bind(c, name='octavo_writer_put_field')
      import
      type(c_ptr), value :: writer, values
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: kind, space
      integer(c_int64_t), value :: cells, stride
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_put_particles(writer, species, attribute, kind, values, number, stride, space, error) &
        bind(c, name='octavo_writer_put_particles')
      import
      type(c_ptr), value :: writer, values
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      integer(c_int), value :: kind, space
      integer(c_int64_t), value :: number, stride
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_end_step(writer, error) bind(c, name='octavo_writer_end_step')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_wait(writer, error) bind(c, name='octavo_writer_wait')
      import
      type(c_ptr), value :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_close(writer, error) bind(c, name='octavo_writer_close')
      import
      type(c_ptr), intent(inout) :: writer
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_open(comm, store, options, flow, step, restart, error) &
        bind(c, name='octavo_fortran_restart_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: store(*), options(*)
      integer(c_int), value :: flow
      integer(c_int64_t), value :: step
      type(c_ptr), intent(out) :: restart
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_restart_step(restart) bind(c, name='octavo_restart_step')
      import
      type(c_ptr), value :: restart
    end function
    real(c_double) function c_restart_time(restart) bind(c, name='octavo_restart_time')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_restart_levels(restart) bind(c, name='octavo_restart_levels')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int64_t) function c_restart_cells(restart) bind(c, name='octavo_restart_cells')
      import
      type(c_ptr), value :: restart
    end function
    integer(c_int) function c_restart_mesh(restart, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_restart_mesh')
      import
      type(c_ptr), value :: restart
      integer(c_int64_t), intent(out) :: cells_of_level(*)
      integer(c_int8_t), intent(out) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_restart_field(restart, name, kind, values, cells, error) &
        bind(c, name='octavo_restart_field')
      import
      type(c_ptr), value :: restart, values
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: kind
      integer(c_int64_t), value :: cells
      type(c_error), intent(out) :: error
    end function
    integer(c_int64_t) function c_restart_count(restart, species) bind(c, name='octavo_restart_count')
      import
      type(c_ptr), value :: restart
      character(kind=c_char), intent(in) :: species(*)
    end function
    integer(c_int) function c_restart_particles(restart, species, attribute, kind, values, number, error) &
        bind(c, name='octavo_restart_particles')
      import
      type(c_ptr), value :: restart, values
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      integer(c_int), value :: kind
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    subroutine c_restart_free(restart) bind(c, name='octavo_restart_free')
      import
      type(c_ptr), intent(inout) :: restart
    end subroutine
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
    integer(c_int) function c_native_put_int(writer, name, number, error) &
        bind(c, name='octavo_native_put_int')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_double(writer, name, number, error) &
        bind(c, name='octavo_native_put_double')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_text(writer, name, text, error) &
        bind(c, name='octavo_native_put_text')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), text(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_ints(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_ints')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_doubles(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_doubles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      real(c_double), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_texts(writer, name, values, number, error) &
        bind(c, name='octavo_native_put_texts')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_mesh(writer, levels, cells_of_level, refined, owned, error) &
        bind(c, name='octavo_native_put_mesh')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: cells_of_level(*)
      integer(c_int8_t), intent(in) :: refined(*), owned(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_boxes(writer, levels, domain, ratio, boxes_of_level, boxes, error) &
        bind(c, name='octavo_native_put_boxes')
      import
      type(c_ptr), value :: writer
      integer(c_int), value :: levels
      integer(c_int64_t), intent(in) :: domain(*), boxes_of_level(*), boxes(*)
      integer(c_int), intent(in) :: ratio(*)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_array(writer, name, unit, values, error) &
        bind(c, name='octavo_fortran_native_put_field')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_faces(writer, name, unit, axis, values, error) &
        bind(c, name='octavo_fortran_native_put_faces')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: axis
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_arrays(writer, name, unit, kind, values, number, ghost, stride, space, error) &
        bind(c, name='octavo_native_put_arrays')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: name(*), unit(*)
      integer(c_int), value :: kind, ghost, space
      type(c_ptr), intent(in) :: values(*)
      integer(c_int64_t), value :: number, stride
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_native_put_particles(writer, species, attribute, values, error) &
        bind(c, name='octavo_fortran_native_put_particles')
      import
      type(c_ptr), value :: writer
      character(kind=c_char), intent(in) :: species(*), attribute(*)
      type(*), intent(in) :: values(..)
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
    integer(c_int) function c_series_open(comm, path, variables, names, units, mesh, options, series, error) &
        bind(c, name='octavo_fortran_series_open')
      import
      integer(c_int), intent(in) :: comm
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: variables
      type(c_ptr), intent(in) :: names(*), units(*)
      type(c_series_mesh), intent(in) :: mesh
      type(c_series_options), intent(in) :: options
      type(c_ptr), intent(out) :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_begin_step(series, time, error) bind(c, name='octavo_series_begin_step')
      import
      type(c_ptr), value :: series
      real(c_double), value :: time
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_put(series, name, values, error) bind(c, name='octavo_fortran_series_put')
      import
      type(c_ptr), value :: series
      character(kind=c_char), intent(in) :: name(*)
      type(*), intent(in) :: values(..)
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_end_step(series, error) bind(c, name='octavo_series_end_step')
      import
      type(c_ptr), value :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_finished(series, all, error) bind(c, name='octavo_series_finished')
      import
      type(c_ptr), value :: series
      integer(c_int), intent(out) :: all
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_wait(series, error) bind(c, name='octavo_series_wait')
      import
      type(c_ptr), value :: series
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_steps(series, steps, error) bind(c, name='octavo_series_steps')
      import
      type(c_ptr), value :: series
      integer(c_int64_t), intent(out) :: steps
      type(c_error), intent(out) :: error
    end function
    integer(c_int) function c_series_close(series, error) bind(c, name='octavo_series_close')
      import
      type(c_ptr), intent(inout) :: series
      type(c_error), intent(out) :: error
    end function
  end interface

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

  ! Elements from one value to the next; a strided array is described, not copied.
  integer(c_int64_t) function stride_of(first, second, bytes) result(stride)
    type(c_ptr), intent(in) :: first, second
    integer, intent(in) :: bytes
    stride = (transfer(second, 0_c_intptr_t) - transfer(first, 0_c_intptr_t))/bytes
  end function

  ! ------------------------------------------------------------------ writing

  subroutine writer_open(self, comm, store, domain, options, from, error)
    class(octavo_writer), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_domain), intent(in) :: domain
    character(*), intent(in), optional :: options  !< a TOML file
    type(octavo_restart), intent(in), optional :: from  !< what this run continues
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(:), allocatable :: file
    type(c_domain) :: in_c
    type(c_error) :: what
    type(c_ptr) :: resumed
    code = ' '
    code(:len_trim(domain%code) + 1) = text(domain%code)
    in_c = c_domain(c_loc(code), int(domain%dim, c_int), domain%roots, domain%lo, domain%hi, &
                    merge(1_c_int, 0_c_int, domain%periodic), domain%unit_length, domain%unit_density, domain%unit_time)
    resumed = c_null_ptr
    if (present(from)) resumed = from%handle
    file = ''
    if (present(options)) file = options
    call check(c_writer_open(comm, text(store), in_c, text(file), resumed, self%handle, what), what, error)
  end subroutine

  subroutine begin_step(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_begin_step(self%handle, int(flow, c_int), int(step, c_int64_t), time, what), what, error)
  end subroutine

  subroutine put_int(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_int(self%handle, text(name), int(value, c_int64_t), what), what, error)
  end subroutine

  subroutine put_real(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_double(self%handle, text(name), value, what), what, error)
  end subroutine

  subroutine put_text(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name, value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_text(self%handle, text(name), text(value), what), what, error)
  end subroutine

  subroutine put_ints(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_ints(self%handle, text(name), int(value, c_int64_t), size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_reals(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine put_texts(self, name, value, error)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)  !< without their trailing blanks
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr) :: first(size(value))
    type(c_error) :: what
    call point_at(value, texts, first)
    call check(c_put_texts(self%handle, text(name), first, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  logical function due(self, flow, step, time, error)
    class(octavo_writer), intent(in) :: self
    integer, intent(in) :: flow, step
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    integer(c_int) :: is_due
    type(c_error) :: what
    is_due = 0
    call check(c_due(self%handle, int(flow, c_int), int(step, c_int64_t), time, is_due, what), what, error)
    due = is_due /= 0
  end function

  subroutine writer_statistics(self, json, error)
    class(octavo_writer), intent(in) :: self
    character(:), allocatable, intent(out) :: json
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char) :: in_c(2048)
    type(c_error) :: what
    in_c = c_null_char
    call check(c_statistics(self%handle, in_c, size(in_c, kind=c_size_t), what), what, error)
    json = from_c(in_c)
  end subroutine

  ! A piece of a mesh as C has it; the mesh refers to `held`, which must stay.
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

  !> This rank's piece of a mesh of triangles, maybe without points, on every rank. Numbers count from 1. Fields then
  !> have a value a point, plane after plane, as put_field takes arrays of one dimension.
  subroutine put_triangles(self, x, y, triangles, global_point, planes, global_triangle, error)
    class(octavo_writer), intent(in) :: self
    real(real64), intent(in) :: x(:), y(:)               !< points of this rank, of one plane
    integer, intent(in) :: triangles(:, :)               !< (3, triangles): points of this rank
    integer, intent(in) :: global_point(:)               !< number of each point in the whole mesh
    integer, intent(in), optional :: planes              !< 3-D: values stand plane after plane, from the bottom
    integer, intent(in), optional :: global_triangle(:)  !< numbers in the whole mesh; without: by their lowest point
    type(octavo_error), intent(inout), optional :: error
    type(piece_in_c), target :: held
    type(c_series_mesh) :: mesh
    type(c_error) :: what
    call hold_piece(held, mesh, x, y, triangles, global_point, planes, global_triangle)
    call check(c_put_triangles(self%handle, mesh, what), what, error)
  end subroutine

  subroutine put_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_writer), intent(in) :: self
    integer(int64), intent(in) :: cells_of_level(:)
    logical, intent(in) :: refined(:), owned(:)  !< of all levels, one after another
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_put_mesh(self%handle, size(cells_of_level, kind=c_int), cells_of_level, &
                          merge(1_c_int8_t, 0_c_int8_t, refined), merge(1_c_int8_t, 0_c_int8_t, owned), what), what, error)
  end subroutine

  subroutine put_any(self, name, unit, kind, first, second, bytes, number, species, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name, unit, species  !< species: empty for a field
    integer(c_int), intent(in) :: kind
    type(c_ptr), intent(in) :: first, second
    integer, intent(in) :: bytes
    integer(c_int64_t), intent(in) :: number
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_error) :: what
    integer(c_int64_t) :: stride
    integer(c_int) :: in_space
    in_space = host
    if (present(space)) in_space = int(space, c_int)
    stride = 1
    if (number > 1) stride = stride_of(first, second, bytes)
    if (species == '') then
      call check(c_put_field(self%handle, text(name), text(unit), kind, first, number, stride, in_space, what), what, error)
    else
      call check(c_put_particles(self%handle, text(species), text(name), kind, first, number, stride, in_space, what), &
                 what, error)
    end if
  end subroutine

  subroutine put_field_r64(self, name, values, unit, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in), target :: values(:)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    character(:), allocatable :: in_units
    type(c_ptr) :: first, second
    in_units = ''
    if (present(unit)) in_units = unit
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, name, in_units, float64, first, second, 8, size(values, kind=c_int64_t), '', error, space)
  end subroutine

  subroutine put_field_r32(self, name, values, unit, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real32), intent(in), target :: values(:)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    character(:), allocatable :: in_units
    type(c_ptr) :: first, second
    in_units = ''
    if (present(unit)) in_units = unit
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, name, in_units, float32, first, second, 4, size(values, kind=c_int64_t), '', error, space)
  end subroutine

  subroutine put_field_i64(self, name, values, unit, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), intent(in), target :: values(:)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    character(:), allocatable :: in_units
    type(c_ptr) :: first, second
    in_units = ''
    if (present(unit)) in_units = unit
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, name, in_units, t_int64, first, second, 8, size(values, kind=c_int64_t), '', error, space)
  end subroutine

  subroutine put_field_i32(self, name, values, unit, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer(int32), intent(in), target :: values(:)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    character(:), allocatable :: in_units
    type(c_ptr) :: first, second
    in_units = ''
    if (present(unit)) in_units = unit
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, name, in_units, t_int32, first, second, 4, size(values, kind=c_int64_t), '', error, space)
  end subroutine

  subroutine put_particles_r64(self, species, attribute, values, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    real(real64), intent(in), target :: values(:)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_ptr) :: first, second
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, attribute, '', float64, first, second, 8, size(values, kind=c_int64_t), species, error, space)
  end subroutine

  subroutine put_particles_r32(self, species, attribute, values, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    real(real32), intent(in), target :: values(:)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_ptr) :: first, second
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, attribute, '', float32, first, second, 4, size(values, kind=c_int64_t), species, error, space)
  end subroutine

  subroutine put_particles_i64(self, species, attribute, values, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    integer(int64), intent(in), target :: values(:)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_ptr) :: first, second
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, attribute, '', t_int64, first, second, 8, size(values, kind=c_int64_t), species, error, space)
  end subroutine

  subroutine put_particles_i32(self, species, attribute, values, error, space)
    class(octavo_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    integer(int32), intent(in), target :: values(:)
    type(octavo_error), intent(inout), optional :: error
    integer, intent(in), optional :: space
    type(c_ptr) :: first, second
    first = c_null_ptr
    second = c_null_ptr
    if (size(values) > 0) first = c_loc(values(1))
    if (size(values) > 1) second = c_loc(values(2))
    call put_any(self, attribute, '', t_int32, first, second, 4, size(values, kind=c_int64_t), species, error, space)
  end subroutine

  subroutine end_step(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_end_step(self%handle, what), what, error)
  end subroutine

  subroutine writer_wait(self, error)
    class(octavo_writer), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_wait(self%handle, what), what, error)
  end subroutine

  subroutine writer_close(self, error)
    class(octavo_writer), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_close(self%handle, what), what, error)
  end subroutine

  ! ------------------------------------------------------------------ FLASH and AMReX outputs

  subroutine native_open(self, comm, domain, format, block, background, sync, collect, files, max_box, title, multifab, error)
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
    character(kind=c_char), target :: code(len(domain%code) + 1)
    character(kind=c_char), allocatable, target :: first_line(:), name(:)
    type(c_domain) :: in_c
    type(c_native_options) :: options
    type(c_error) :: what
    code = ' '
    code(:len_trim(domain%code) + 1) = text(domain%code)
    in_c = c_domain(c_loc(code), int(domain%dim, c_int), domain%roots, domain%lo, domain%hi, &
                    merge(1_c_int, 0_c_int, domain%periodic), domain%unit_length, domain%unit_density, domain%unit_time)
    options = c_native_options(int(format, c_int), 1_c_int64_t, 1, 1, 1, 0, 0, 64_c_int64_t, c_null_ptr, c_null_ptr)
    if (present(block)) options%block(:size(block)) = int(block, c_int64_t)
    if (present(background)) options%background = merge(1_c_int, 0_c_int, background)
    if (present(sync)) options%sync = merge(1_c_int, 0_c_int, sync)
    if (present(collect)) options%collect = merge(1_c_int, 0_c_int, collect)
    if (present(files)) options%files = int(files, c_int)
    if (present(max_box)) options%max_box = int(max_box, c_int64_t)
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

  subroutine native_put_int(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_int(self%handle, text(name), int(value, c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_real(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_double(self%handle, text(name), value, what), &
               what, error)
  end subroutine

  subroutine native_put_text(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_text(self%handle, text(name), text(value), what), &
               what, error)
  end subroutine

  subroutine native_put_ints(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_ints(self%handle, text(name), int(value, c_int64_t), size(value, kind=c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_reals(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(in) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), &
               what, error)
  end subroutine

  subroutine native_put_texts(self, name, value, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    character(*), intent(in) :: value(:)  !< without their trailing blanks
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: texts(len(value) + 1, size(value))
    type(c_ptr) :: first(size(value))
    type(c_error) :: what
    call point_at(value, texts, first)
    call check(c_native_put_texts(self%handle, text(name), first, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine native_put_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_native_writer), intent(in) :: self
    integer(int64), intent(in) :: cells_of_level(:)
    logical, intent(in) :: refined(:), owned(:)  !< of all levels, one after another
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_mesh(self%handle, size(cells_of_level, kind=c_int), cells_of_level, &
                                 merge(1_c_int8_t, 0_c_int8_t, refined), merge(1_c_int8_t, 0_c_int8_t, owned), what), &
               what, error)
  end subroutine

  subroutine native_put_boxes(self, domain, ratio, boxes_of_level, boxes, error)
    class(octavo_native_writer), intent(in) :: self
    integer(int64), intent(in) :: domain(:, :, :)    !< (3, 2, levels): first cell and the one after the last, from 0
    integer, intent(in) :: ratio(:)                  !< of each level to the next
    integer(int64), intent(in) :: boxes_of_level(:)  !< of this rank
    integer(int64), intent(in) :: boxes(:, :, :)     !< (3, 2, boxes), level after level
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_boxes(self%handle, size(boxes_of_level, kind=c_int), domain, int(ratio, c_int), boxes_of_level, &
                                  boxes, what), what, error)
  end subroutine

  !> real64 or real32. Of a tree: (x, y, z, cell) as far as there are dimensions, or (cell) without blocks; of boxes: (cell)
  !> of all boxes, one after another. Any section is taken as it is: unk(1, 5:12, 5:12, 1, :) leaves its ghosts away.
  subroutine native_put_field(self, name, values, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_array(self%handle, text(name), text(in_units), values, what), what, error)
  end subroutine

  !> FLASH, of a tree: a face variable. One value more along its axis (1, 2 or 3), otherwise as put_field:
  !> facevarx(1, 5:13, 5:12, 1, :) of blocks of 8 x 8 has axis 1.
  subroutine native_put_faces(self, name, values, axis, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    integer, intent(in) :: axis
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_faces(self%handle, text(name), text(in_units), int(axis - 1, c_int), values, what), what, error)
  end subroutine

  !> Of boxes whose arrays lie anywhere: c_loc of each one's first element, ghosts included.
  subroutine native_put_arrays(self, name, values, kind, ghost, stride, unit, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: values(:)
    integer, intent(in) :: kind    !< of the elements: real64 or real32
    integer, intent(in) :: ghost   !< cells more on each side along each dimension
    integer, intent(in) :: stride  !< elements from one value to the next: 1, or the number of variables that stand together
    character(*), intent(in), optional :: unit
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: in_units
    type(c_error) :: what
    in_units = ''
    if (present(unit)) in_units = unit
    call check(c_native_put_arrays(self%handle, text(name), text(in_units), merge(float64, float32, kind == real64), values, &
                                   size(values, kind=c_int64_t), int(ghost, c_int), int(stride, c_int64_t), host, what), &
               what, error)
  end subroutine

  !> One value a particle; reals and integers of 32 and 64 bits.
  subroutine native_put_particles(self, species, attribute, values, error)
    class(octavo_native_writer), intent(in) :: self
    character(*), intent(in) :: species, attribute
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_native_put_particles(self%handle, text(species), text(attribute), values, what), what, error)
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

  ! ------------------------------------------------------------------ a series

  !> Makes the file, or opens it to go on. Numbers count from 1, as TELEMAC's IKLE, KNOLG and IPOBO.
  subroutine series_open(self, comm, path, names, units, x, y, triangles, global_point, planes, global_triangle, boundary, &
                         geometry, double_precision, title, date, origin, background, sync, writers, alignment, &
                         resume_time, error)
    class(octavo_series), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: path
    character(*), intent(in) :: names(:), units(:)         !< of the variables, up to 16 characters each
    real(real64), intent(in) :: x(:), y(:)                 !< points of this rank, of one plane
    integer, intent(in) :: triangles(:, :)                 !< (3, triangles): points of this rank
    integer, intent(in) :: global_point(:)                 !< number of each point in the file: KNOLG
    integer, intent(in), optional :: planes                !< 3-D: values stand plane after plane, from the bottom
    integer, intent(in), optional :: global_triangle(:)    !< numbers in the file; without: by their lowest point
    integer, intent(in), optional :: boundary(:)           !< IPOBO of each point: place on the boundary, or 0
    character(*), intent(in), optional :: geometry         !< a SERAFIN file of the whole mesh: IKLE, IPOBO, X, Y are its own
    logical, intent(in), optional :: double_precision
    character(*), intent(in), optional :: title            !< up to 72 characters
    integer, intent(in), optional :: date(6)               !< year, month, day, hour, minute, second
    integer, intent(in), optional :: origin(2)
    logical, intent(in), optional :: background, sync      !< .true.: not inside end_step; on disk before the file shows it
    integer, intent(in), optional :: writers, alignment    !< ranks that write (0: one a host); [bytes]
    real(real64), intent(in), optional :: resume_time      !< the file is there: go on behind the last step up to this time
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char), target :: in_names(len(names) + 1, size(names)), in_units(len(units) + 1, size(units))
    character(kind=c_char), allocatable, target :: first_line(:), file(:)
    integer(int32), allocatable, target :: on_boundary(:)
    type(piece_in_c), target :: held
    type(c_ptr) :: name_at(size(names)), unit_at(size(units))
    type(c_series_mesh) :: mesh
    type(c_series_options) :: options
    type(c_error) :: what
    call point_at(names, in_names, name_at)
    call point_at(units, in_units, unit_at)
    call hold_piece(held, mesh, x, y, triangles, global_point, planes, global_triangle)
    if (present(boundary)) then
      on_boundary = int(boundary, int32)
      mesh%boundary = c_loc(on_boundary)
    end if
    if (present(geometry)) then
      file = text(geometry)
      mesh%geometry = c_loc(file)
    end if
    if (present(double_precision)) options%double_precision = merge(1_c_int, 0_c_int, double_precision)
    if (present(title)) then
      first_line = text(title)
      options%title = c_loc(first_line)
    end if
    if (present(date)) then
      options%dated = 1
      options%date = int(date, c_int)
    end if
    if (present(origin)) options%origin = int(origin, c_int)
    if (present(background)) options%background = merge(1_c_int, 0_c_int, background)
    if (present(sync)) options%sync = merge(1_c_int, 0_c_int, sync)
    if (present(writers)) options%writers = int(writers, c_int)
    if (present(alignment)) options%alignment = int(alignment, c_int64_t)
    if (present(resume_time)) then
      options%resume = 1
      options%resume_time = resume_time
    end if
    call check(c_series_open(comm, text(path), size(names, kind=c_int), name_at, unit_at, mesh, options, self%handle, &
                             what), what, error)
  end subroutine

  subroutine series_begin_step(self, time, error)
    class(octavo_series), intent(in) :: self
    real(real64), intent(in) :: time
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_begin_step(self%handle, time, what), what, error)
  end subroutine

  !> real64 or real32: (point), or (point, plane); any section is taken as it is.
  subroutine series_put_field(self, name, values, error)
    class(octavo_series), intent(in) :: self
    character(*), intent(in) :: name
    type(*), intent(in), target :: values(..)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_put(self%handle, text(name), values, what), what, error)
  end subroutine

  subroutine series_end_step(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_end_step(self%handle, what), what, error)
  end subroutine

  logical function series_finished(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int) :: all
    all = 0
    call check(c_series_finished(self%handle, all, what), what, error)
    series_finished = all /= 0
  end function

  subroutine series_wait(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_wait(self%handle, what), what, error)
  end subroutine

  integer function series_steps(self, error)
    class(octavo_series), intent(in) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    integer(c_int64_t) :: steps
    steps = 0
    call check(c_series_steps(self%handle, steps, what), what, error)
    series_steps = int(steps)
  end function

  subroutine series_close(self, error)
    class(octavo_series), intent(inout) :: self
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_series_close(self%handle, what), what, error)
  end subroutine

  ! ------------------------------------------------------------------ reading

  subroutine restart_open(self, comm, store, flow, step, options, points, error)
    class(octavo_restart), intent(inout) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    integer, intent(in), optional :: flow, step  !< without: checkpoint, the newest
    character(*), intent(in), optional :: options  !< a TOML file, the writer's
    integer, intent(in), optional :: points(:)     !< of a step of triangles: the numbers of those wanted, from 1
    type(octavo_error), intent(inout), optional :: error
    character(:), allocatable :: file
    integer(c_int) :: which
    integer(c_int64_t) :: number
    type(c_error) :: what
    which = octavo_checkpoint
    if (present(flow)) which = int(flow, c_int)
    number = -1
    if (present(step)) number = int(step, c_int64_t)
    file = ''
    if (present(options)) file = options
    if (present(points)) then
      call check(c_restart_open_points(comm, text(store), text(file), which, number, int(points, int64) - 1, &
                                       size(points, kind=c_int64_t), self%handle, what), what, error)
      return
    end if
    call check(c_restart_open(comm, text(store), text(file), which, number, self%handle, what), what, error)
  end subroutine

  subroutine restart_failed(self, comm, store, error)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: comm
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_restart_failed(comm, text(store), self%handle, what), what, error)
  end subroutine

  subroutine octavo_forget_failed_restarts(store, error)
    character(*), intent(in) :: store
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    call check(c_forget(text(store), what), what, error)
  end subroutine

  subroutine octavo_list_steps(store, flow, steps, times, error)
    character(*), intent(in) :: store
    integer, intent(in) :: flow
    integer(int64), allocatable, intent(out) :: steps(:)
    real(real64), allocatable, intent(out), optional :: times(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable :: found(:)
    real(c_double), allocatable :: at(:)
    integer(c_int64_t) :: number, capacity
    type(c_error) :: what
    number = 64
    do
      capacity = number
      if (allocated(found)) deallocate (found, at)
      allocate (found(capacity), at(capacity))
      number = 0
      call check(c_list_steps(text(store), int(flow, c_int), capacity, found, at, number, what), what, error)
      if (number <= capacity) exit
    end do
    steps = found(:number)
    if (present(times)) times = at(:number)
  end subroutine

  subroutine restart_notes(self, unit)
    class(octavo_restart), intent(in) :: self
    integer, intent(in) :: unit
    character(kind=c_char), pointer :: note(:)
    type(c_ptr) :: first
    integer(c_int64_t) :: i
    i = 0
    do
      first = c_note(self%handle, i)
      if (.not. c_associated(first)) exit
      call c_f_pointer(first, note, [c_strlen(first)])
      write (unit, '(*(a))') note
      i = i + 1
    end do
  end subroutine

  subroutine restart_fields(self, info)
    class(octavo_restart), intent(in) :: self
    type(octavo_field_info), allocatable, intent(out) :: info(:)
    type(c_field_info) :: in_c
    type(c_error) :: what
    integer :: i
    allocate (info(c_num_fields(self%handle)))
    do i = 1, size(info)
      call check(c_field_info_of(self%handle, int(i - 1, c_int64_t), in_c, what), what)
      info(i)%name = from_c(in_c%name)
      info(i)%unit = from_c(in_c%unit)
      info(i)%species = from_c(in_c%species)
      info(i)%type = int(in_c%kind)
      info(i)%components = int(in_c%components)
    end do
  end subroutine

  subroutine get_int(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t) :: in_c(1)
    type(c_error) :: what
    in_c = 0
    call check(c_get_ints(self%handle, text(name), in_c, 1_c_int64_t, what), what, error)
    value = int(in_c(1))
  end subroutine

  subroutine get_real(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    real(c_double) :: in_c(1)
    type(c_error) :: what
    in_c = 0
    call check(c_get_doubles(self%handle, text(name), in_c, 1_c_int64_t, what), what, error)
    value = in_c(1)
  end subroutine

  subroutine get_text(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    character(:), allocatable, intent(out) :: value
    type(octavo_error), intent(inout), optional :: error
    character(kind=c_char) :: in_c(4096)
    type(c_error) :: what
    in_c = c_null_char
    call check(c_get_text(self%handle, text(name), 0_c_int64_t, in_c, size(in_c, kind=c_size_t), what), what, error)
    value = from_c(in_c)
  end subroutine

  subroutine get_ints(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer, allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int64_t), allocatable :: in_c(:)
    type(c_error) :: what
    allocate (in_c(max(0_c_int64_t, c_attribute_count(self%handle, text(name)))))
    in_c = 0
    call check(c_get_ints(self%handle, text(name), in_c, size(in_c, kind=c_int64_t), what), what, error)
    value = int(in_c)
  end subroutine

  subroutine get_reals(self, name, value, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), allocatable, intent(out) :: value(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (value(max(0_c_int64_t, c_attribute_count(self%handle, text(name)))))
    call check(c_get_doubles(self%handle, text(name), value, size(value, kind=c_int64_t), what), what, error)
  end subroutine

  logical function found(self)
    class(octavo_restart), intent(in) :: self
    found = c_associated(self%handle)
  end function

  integer function restart_step(self) result(step)
    class(octavo_restart), intent(in) :: self
    step = int(c_restart_step(self%handle))
  end function

  real(real64) function restart_time(self) result(time)
    class(octavo_restart), intent(in) :: self
    time = c_restart_time(self%handle)
  end function

  subroutine restart_mesh(self, cells_of_level, refined, owned, error)
    class(octavo_restart), intent(in) :: self
    integer(int64), allocatable, intent(out) :: cells_of_level(:)
    logical, allocatable, intent(out) :: refined(:), owned(:)
    type(octavo_error), intent(inout), optional :: error
    integer(c_int8_t), allocatable :: refined_in_c(:), owned_in_c(:)
    integer(int64) :: cells
    type(c_error) :: what
    cells = c_restart_cells(self%handle)
    allocate (cells_of_level(c_restart_levels(self%handle)), refined_in_c(cells), owned_in_c(cells))
    call check(c_restart_mesh(self%handle, cells_of_level, refined_in_c, owned_in_c, what), what, error)
    refined = refined_in_c /= 0
    owned = owned_in_c /= 0
  end subroutine

  !> This rank's share of a mesh of triangles, numbers from 1. Fields have a value a point, plane after plane.
  subroutine restart_triangles(self, x, y, triangles, global_point, planes, global_triangle, error)
    class(octavo_restart), intent(in) :: self
    real(real64), allocatable, intent(out) :: x(:), y(:)
    integer, allocatable, intent(out) :: triangles(:, :), global_point(:)
    integer, intent(out), optional :: planes
    integer, allocatable, intent(out), optional :: global_triangle(:)
    type(octavo_error), intent(inout), optional :: error
    integer(int64), allocatable :: nodes(:), points(:), elements(:)
    integer(int64) :: n, m
    integer(c_int) :: levels
    type(c_error) :: what
    n = 0
    m = 0
    levels = 1
    call check(c_triangle_counts(self%handle, n, m, levels, what), what, error)
    if (what%code /= 0) return
    allocate (x(n), y(n), nodes(3*m), points(n), elements(m))
    call check(c_triangles(self%handle, x, y, nodes, points, elements, what), what, error)
    triangles = reshape(int(nodes) + 1, [3, int(m)])
    global_point = int(points) + 1
    if (present(planes)) planes = int(levels)
    if (present(global_triangle)) global_triangle = int(elements) + 1
  end subroutine

  subroutine field_r64(self, name, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real64), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (values(c_restart_cells(self%handle)))
    call check(c_restart_field(self%handle, text(name), float64, c_loc(values), size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine field_r32(self, name, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    real(real32), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (values(c_restart_cells(self%handle)))
    call check(c_restart_field(self%handle, text(name), float32, c_loc(values), size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine field_i64(self, name, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer(int64), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (values(c_restart_cells(self%handle)))
    call check(c_restart_field(self%handle, text(name), t_int64, c_loc(values), size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine field_i32(self, name, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: name
    integer(int32), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    allocate (values(c_restart_cells(self%handle)))
    call check(c_restart_field(self%handle, text(name), t_int32, c_loc(values), size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine particles_r64(self, species, attribute, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species, attribute
    real(real64), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    type(c_ptr) :: first
    allocate (values(c_restart_count(self%handle, text(species))))
    first = c_null_ptr
    if (size(values) > 0) first = c_loc(values)
    call check(c_restart_particles(self%handle, text(species), text(attribute), float64, first, &
                                   size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine particles_r32(self, species, attribute, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species, attribute
    real(real32), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    type(c_ptr) :: first
    allocate (values(c_restart_count(self%handle, text(species))))
    first = c_null_ptr
    if (size(values) > 0) first = c_loc(values)
    call check(c_restart_particles(self%handle, text(species), text(attribute), float32, first, &
                                   size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine particles_i64(self, species, attribute, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species, attribute
    integer(int64), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    type(c_ptr) :: first
    allocate (values(c_restart_count(self%handle, text(species))))
    first = c_null_ptr
    if (size(values) > 0) first = c_loc(values)
    call check(c_restart_particles(self%handle, text(species), text(attribute), t_int64, first, &
                                   size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine particles_i32(self, species, attribute, values, error)
    class(octavo_restart), intent(in) :: self
    character(*), intent(in) :: species, attribute
    integer(int32), allocatable, target, intent(out) :: values(:)
    type(octavo_error), intent(inout), optional :: error
    type(c_error) :: what
    type(c_ptr) :: first
    allocate (values(c_restart_count(self%handle, text(species))))
    first = c_null_ptr
    if (size(values) > 0) first = c_loc(values)
    call check(c_restart_particles(self%handle, text(species), text(attribute), t_int32, first, &
                                   size(values, kind=c_int64_t), what), what, error)
  end subroutine

  subroutine restart_free(self)
    class(octavo_restart), intent(inout) :: self
    call c_restart_free(self%handle)
  end subroutine

end module octavo
