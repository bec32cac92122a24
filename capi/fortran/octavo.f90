!> Octavo for Fortran: the names and structs of octavo.h, with assumed-shape arrays and no C types (docs/languages.md).
!> The C function octavo_writer_put_tree is the procedure put_tree of an octavo_writer here, and so on. Points,
!> triangles, roots and fields are numbered from 1.
!>
!> Every procedure takes an optional `error` (type octavo_error). Its code is 0 or a code of octavo.h, and its message
!> says what happened. Without it, an error ends the program with the message. Arrays may be strided. Arrays that are
!> put must be targets, and must stay until end_step returns; with the option `lend` of a store, until begin_step, wait
!> or close returns. Sizes and step numbers are default or 64-bit integers.
module octavo
  use octavo_arguments, only: octavo_error, octavo_domain, octavo_tree, octavo_blocks, octavo_boxes, octavo_triangles, &
    octavo_target, &
    octavo_checkpoint, octavo_analysis, octavo_safe_local, octavo_safe_partner, octavo_safe_xor, octavo_safe_rs, &
    octavo_safe_store, octavo_store, octavo_flash, octavo_amrex_plotfile, octavo_amrex_checkpoint, &
    octavo_serafin, octavo_med, octavo_cell, octavo_face_x, octavo_face_y, octavo_face_z, octavo_node, &
    octavo_float64, octavo_float32, octavo_int64, octavo_int32, octavo_int16, octavo_int8, octavo_uint64, octavo_uint8, &
    octavo_uint32, octavo_bool, octavo_float16, octavo_bfloat16, octavo_text, &
    octavo_host, octavo_device, octavo_mesh_none, octavo_mesh_tree, octavo_mesh_boxes, octavo_mesh_triangles, &
    octavo_version                  !< (): version of the library
  use octavo_writing, only: octavo_writer
  use octavo_reading, only: octavo_restart, octavo_restart_options, octavo_restart_info, octavo_field_info, &
    octavo_neighbours, &
    octavo_box, &
    octavo_read_box, &              !< (path, box, field, values [, missing, error]): allocates values(x, y, z), real64, of
                                    !< a field of one component; `missing` counts cells without a value, which are 0.
                                    !< For an array of fields it opens the step once: values(x, y, z, field)
    octavo_points, &
    octavo_read_points, &           !< (path, field, points [, error]): the points of a mesh of triangles in a box
    octavo_list_steps, &            !< (store, flow, steps [, times, error]): allocates the complete steps, ascending
    octavo_forget_failed_restarts   !< (store [, error]): called by one process
  implicit none
  public
end module octavo
