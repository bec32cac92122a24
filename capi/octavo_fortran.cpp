// What the Fortran module needs beside octavo.h: communicators as Fortran has them.
#include "capi/octavo.h"

extern "C" {

OCTAVO_API int octavo_fortran_writer_open(const MPI_Fint* comm, const char* store, const octavo_domain* domain,
                                          const char* options, const octavo_restart* from, octavo_writer** writer,
                                          octavo_error* error) {
  return octavo_writer_open(MPI_Comm_f2c(*comm), store, domain, options[0] == '\0' ? nullptr : options, from, writer,
                            error);
}

OCTAVO_API int octavo_fortran_restart_open(const MPI_Fint* comm, const char* store, const char* options, int flow,
                                           int64_t step, octavo_restart** restart, octavo_error* error) {
  return octavo_restart_open_with(MPI_Comm_f2c(*comm), store, options[0] == '\0' ? nullptr : options, flow, step,
                                  restart, error);
}

OCTAVO_API int octavo_fortran_restart_failed(const MPI_Fint* comm, const char* store, const octavo_restart* restart,
                                             octavo_error* error) {
  return octavo_restart_failed(MPI_Comm_f2c(*comm), store, restart, error);
}

}  // extern "C"
