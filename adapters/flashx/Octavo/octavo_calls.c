/* Procedures in the place of Flash-X's own. The linker's option --wrap=NAME_ makes Flash-X call __wrap_NAME_; __real_NAME_ is
 * Flash-X's own. Arguments are pointers, and the lengths of texts come last, as Fortran compilers pass them. The procedures
 * octavo_... are those of octavo_flashx.F90. */
#include <mpi.h>
#include <string.h>

#include "hdf5.h"

#define OCTAVO_FILE (-20261) /* in the place of HDF5's number of an open file */

int octavo_begin_file(int kind, const int* number, const char* name);
void octavo_put_file(void), octavo_end_file(void), octavo_show_files(void), octavo_close(void), octavo_remove_file(void);
int octavo_make_file(void);
void octavo_base_name(int restarting);

/* The writer's threads need MPI_THREAD_FUNNELED. */
void __wrap_mpi_init_(MPI_Fint* error) {
  int provided;
  *error = MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided);
}

void io_getoutputname_(const int* number, const char* format, const char* type, char* name, const int* forced,
                       size_t format_length, size_t type_length, size_t name_length);
void __real_io_initfile_(const int* number, hid_t* file, char* name, const char* type, const int* forced,
                         size_t name_length, size_t type_length);
void __wrap_io_initfile_(const int* number, hid_t* file, char* name, const char* type, const int* forced,
                         size_t name_length, size_t type_length) {
  const int kind = strncmp(type, "_chk_", type_length) == 0 ? 1 : strncmp(type, "_plt_cnt_", type_length) == 0 ? 2 : 0;
  if (kind != 0) io_getoutputname_(number, "hdf5", type, name, forced, 4, type_length, name_length);
  if (kind != 0 && octavo_begin_file(kind, number, name))
    *file = OCTAVO_FILE;
  else
    __real_io_initfile_(number, file, name, type, forced, name_length, type_length);
}

void __real_io_writedata_(const hid_t* file);
void __wrap_io_writedata_(const hid_t* file) {
  if (*file == OCTAVO_FILE)
    octavo_put_file();
  else
    __real_io_writedata_(file);
}

#ifdef OCTAVO_PARTICLES
void octavo_put_particles(const int* all, const int* count, const char* labels);
void __real_io_ptwriteparticledata_(const hid_t* file, const int* all, const int* count, const int* offset,
                                    const char* labels, const int* to_checkpoint, size_t label_length);
void __wrap_io_ptwriteparticledata_(const hid_t* file, const int* all, const int* count, const int* offset,
                                    const char* labels, const int* to_checkpoint, size_t label_length) {
  if (*file == OCTAVO_FILE)
    octavo_put_particles(all, count, labels);
  else
    __real_io_ptwriteparticledata_(file, all, count, offset, labels, to_checkpoint, label_length);
}
#endif

void __real_io_closefile_(const hid_t* file);
void __wrap_io_closefile_(const hid_t* file) {
  if (*file == OCTAVO_FILE) {
    octavo_end_file();
  } else {
    __real_io_closefile_(file);
    octavo_remove_file();
  }
}

/* A restart from a store: Flash-X reads a file that Octavo has made of the step. */
void __real_io_readdata_(void);
void __wrap_io_readdata_(void) {
  const int made = octavo_make_file();
  if (made) octavo_base_name(1);
  __real_io_readdata_();
  if (made) octavo_base_name(0);
}

/* After each step of Flash-X. */
void __real_io_output_(const void* time, const void* dt, const void* step, const void* begin, void* end, const void* type);
void __wrap_io_output_(const void* time, const void* dt, const void* step, const void* begin, void* end, const void* type) {
  octavo_show_files();
  __real_io_output_(time, dt, step, begin, end, type);
}

void __real_io_finalize_(void);
void __wrap_io_finalize_(void) {
  octavo_close();
  __real_io_finalize_();
}
