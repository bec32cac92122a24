!> Octavo for Fortran: the verbs of octavo.h with assumed-shape arrays and no C types in sight (docs/engine.md).
!>
!> Every procedure takes an optional `error` (type octavo_error): its code is 0, or as octavo.h has it, and its message says
!> what happened. Without it, an error ends the program with the message. Strided arrays are taken as they are; arrays that
!> are put must stay, and be targets, until end_step returns. Sizes and step numbers are default or 64-bit integers.
module octavo
  use octavo_arguments, only: octavo_error, octavo_domain, octavo_checkpoint, octavo_analysis, &
    octavo_flash, octavo_amrex_plotfile, octavo_amrex_checkpoint, octavo_host
  use octavo_writing, only: octavo_writer
  use octavo_native_writing, only: octavo_native_writer
  use octavo_series_writing, only: octavo_series
  use octavo_reading, only: octavo_restart, octavo_field_info, &
    octavo_list_steps, &            !< (store, flow, steps [, times, error]): allocates the complete steps, ascending
    octavo_forget_failed_restarts   !< (store [, error]): by one process
  use octavo_around, only: octavo_neighbours
  implicit none
  public
end module octavo
