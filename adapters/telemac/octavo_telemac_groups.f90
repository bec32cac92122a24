!> Groups of a geometry in MED, which TELEMAC copies into a result of one process: the writer has taken them from the
!> geometry. An object of its own, because some programs (partel) have no such procedure in their hermes.
submodule(octavo_telemac) octavo_telemac_groups
  implicit none
  procedure(transfer_group_info), bind(c, name='__real_transfer_group_info_') :: hermes_transfer_group_info
contains
  module procedure transfer_group_info
    type(result_file), pointer :: file
    ierr = 0
    if (.not. is_ours(id, file)) &
      call hermes_transfer_group_info(fformat, from, id, typelm, typelm_bnd, ikle_bnd, nelebd, ndp, of_elements, of_points, &
                                      ierr, format_length)
  end procedure
end submodule
