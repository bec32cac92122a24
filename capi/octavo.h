/* Octavo for C: write steps behind a simulation's back, start again from them on any number of ranks (docs/engine.md).
 *
 * Every function returns 0, or a code > 0 with the message in the caller's octavo_error (which may be NULL). Functions
 * marked "collective" are called by all ranks of the communicator, and all get the same code and message. They return
 * OCTAVO_USAGE before MPI_Init and after MPI_Finalize; close still frees the writer then. */
#ifndef OCTAVO_H
#define OCTAVO_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define OCTAVO_API __attribute__((visibility("default")))

enum octavo_code {
  OCTAVO_OK = 0,
  OCTAVO_USAGE = 2,       /* the request itself is wrong */
  OCTAVO_UNREADABLE = 3,  /* the operating system refused */
  OCTAVO_CORRUPT = 6,     /* the bytes are not what the format demands */
  OCTAVO_UNSUPPORTED = 4, /* valid, but not something this version can do */
  OCTAVO_NO_SPACE = 5,    /* memory or disk is full */
  OCTAVO_INTERRUPTED = 130
};
typedef struct octavo_error {
  int code;
  char message[2048]; /* what, where, and what to do; ends with 0, cut off where too long */
} octavo_error;

enum octavo_flow { OCTAVO_CHECKPOINT = 0, OCTAVO_ANALYSIS = 1 };
enum octavo_type { /* of array elements */
                   OCTAVO_FLOAT64 = 0,
                   OCTAVO_FLOAT32 = 1,
                   OCTAVO_INT64 = 2,
                   OCTAVO_INT32 = 3,
                   OCTAVO_INT16 = 4,
                   OCTAVO_INT8 = 5,
                   OCTAVO_UINT64 = 6,
                   OCTAVO_UINT8 = 7
};
enum octavo_space { OCTAVO_HOST = 0 }; /* whose memory an array is in */

/* Facts that all steps of a run have in common. Start from octavo_domain_default(). */
typedef struct octavo_domain {
  const char* code;    /* name of the simulation code */
  int dim;             /* 1-3 */
  int64_t roots[3];    /* cells of level 0; 1 beyond dim */
  double lo[3], hi[3]; /* corners [code length] */
  int periodic[3];
  double unit_length, unit_density, unit_time; /* one code unit: [cm], [g/cm^3], [s] */
} octavo_domain;
OCTAVO_API octavo_domain octavo_domain_default(void);

typedef struct octavo_writer octavo_writer;
typedef struct octavo_restart octavo_restart;
/* Start from octavo_writer_options_default(). */
typedef struct octavo_writer_options {
  const char* options;        /* a TOML file, or NULL; OCTAVO_* variables have the last word */
  const octavo_restart* from; /* what this run continues, or NULL */
  int64_t block[3];           /* values of a tree cell; 1 beyond dim. Boxes are made of whole blocks */
  int unfolded;               /* boxes: their level 0 is that many levels below the roots. So the domain has
                                 cells of level 0 / (block << unfolded) roots along each axis */
} octavo_writer_options;
OCTAVO_API octavo_writer_options octavo_writer_options_default(void);

/* ---- writing */

/* Collective. `options`: a TOML file, or NULL; OCTAVO_* variables have the last word. `from`: what this run continues,
 * or NULL. OCTAVO_USAGE on all ranks for a domain that cannot be: dim, roots, block, or a corner that is not finite or
 * not above the other. The thread that initialised MPI makes all calls; MPI_THREAD_FUNNELED, or mode = "sync". */
OCTAVO_API int octavo_writer_open(MPI_Comm comm, const char* store, const octavo_domain* domain, const char* options,
                                  const octavo_restart* from, octavo_writer** writer, octavo_error* error);
/* The same of trees with blocks, and of boxes. */
OCTAVO_API int octavo_writer_open_as(MPI_Comm comm, const char* store, const octavo_domain* domain,
                                     const octavo_writer_options* options, octavo_writer** writer, octavo_error* error);
/* Sets *due to 1 where the options checkpoint.every or analysis.every ask for this step of the flow, else to 0. Call it
 * at every step of the simulation; collective where wall time decides. */
OCTAVO_API int octavo_writer_due(octavo_writer* writer, int flow, int64_t step, double time, int* due,
                                 octavo_error* error);
/* If begin_step fails, end_step returns that error on all ranks, unless another begin_step succeeds before. */
OCTAVO_API int octavo_writer_begin_step(octavo_writer* writer, int flow, int64_t step, double time,
                                        octavo_error* error);
OCTAVO_API int octavo_writer_put_int(octavo_writer* writer, const char* name, int64_t value, octavo_error* error);
OCTAVO_API int octavo_writer_put_double(octavo_writer* writer, const char* name, double value, octavo_error* error);
OCTAVO_API int octavo_writer_put_text(octavo_writer* writer, const char* name, const char* value, octavo_error* error);
/* Arrays; copied. */
OCTAVO_API int octavo_writer_put_ints(octavo_writer* writer, const char* name, const int64_t* values, int64_t count,
                                      octavo_error* error);
OCTAVO_API int octavo_writer_put_doubles(octavo_writer* writer, const char* name, const double* values, int64_t count,
                                         octavo_error* error);
OCTAVO_API int octavo_writer_put_texts(octavo_writer* writer, const char* name, const char* const* values,
                                       int64_t count, octavo_error* error);
/* The tree of this rank, level by level: cells_of_level[levels]; for each cell of all levels, one after another,
 * whether it is refined and whether this rank owns it (0 or 1). Children of the k-th refined cell of a level are the
 * 2^dim cells from k * 2^dim on of the next, x fastest. Copied. */
OCTAVO_API int octavo_writer_put_mesh(octavo_writer* writer, int levels, const int64_t* cells_of_level,
                                      const uint8_t* refined, const uint8_t* owned, octavo_error* error);
/* Or boxes of this rank, as AMReX has them (docs/engine.md). Corners are half-open, in cells of their level, three
 * entries each (0 and 1 beyond dim): domain[levels][2][3], all cells of a level; ratio[levels - 1], of a level to the
 * next, 2 or 4; boxes_of_level[levels]; and boxes[..][2][3], one level's after another's. Boxes, and the coarse cells
 * under finer ones, are made of whole blocks. Copied. */
OCTAVO_API int octavo_writer_put_boxes(octavo_writer* writer, int levels, const int64_t* domain, const int* ratio,
                                       const int64_t* boxes_of_level, const int64_t* boxes, octavo_error* error);
/* One value on each tree cell (blocks: octavo_writer_put_blocks) or on each cell of all boxes, one after another,
 * `stride` elements apart (0: 1; may be negative). Read in end_step: must stay until then. */
OCTAVO_API int octavo_writer_put_field(octavo_writer* writer, const char* name, const char* unit, int type,
                                       const void* values, int64_t cells, int64_t stride, int space,
                                       octavo_error* error);
/* A field of the mesh put before: `count` tree cells (blocks) or boxes, one after another in one piece of memory, each
 * an array, x fastest, with `ghost` cells more on each side along each dimension. `stride`: elements from one value to
 * the next (0: 1); the number of variables where they stand together. Read in end_step: must stay until then. */
OCTAVO_API int octavo_writer_put_blocks(octavo_writer* writer, const char* name, const char* unit, int type,
                                        const void* values, int64_t count, int ghost, int64_t stride, int space,
                                        octavo_error* error);
/* The same of boxes whose arrays lie anywhere: values[count]. Blocks that lie anywhere are put as boxes. */
OCTAVO_API int octavo_writer_put_arrays(octavo_writer* writer, const char* name, const char* unit, int type,
                                        const void* const* values, int64_t count, int ghost, int64_t stride, int space,
                                        octavo_error* error);
/* Of a tree: a face variable, whose arrays have one value more along `axis` (0, 1, 2); otherwise as
 * octavo_writer_put_blocks. It is the fields NAME_left and NAME_right: of each cell the low and the high face. */
OCTAVO_API int octavo_writer_put_faces(octavo_writer* writer, const char* name, const char* unit, int axis, int type,
                                       const void* values, int64_t count, int ghost, int64_t stride, int space,
                                       octavo_error* error);
/* One attribute of `count` particles; positions are position_x, position_y, position_z. */
OCTAVO_API int octavo_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute, int type,
                                           const void* values, int64_t count, int64_t stride, int space,
                                           octavo_error* error);
/* Collective. Returns, on all ranks, an error of a put on any rank or of the background. If the error names an earlier
* step, this step is taken all the same; each failed step is reported once. A put itself returns only errors of its own
* arguments (NULL, a negative count, an unknown type). It returns 0 for errors that only the whole step shows (too few
* values, a tree that does not fit the domain, a put outside of a step). */
OCTAVO_API int octavo_writer_end_step(octavo_writer* writer, octavo_error* error);
/* Collective: all steps so far are durable (on the local disks, where there is a staging directory; close drains them).
 */
OCTAVO_API int octavo_writer_wait(octavo_writer* writer, octavo_error* error);
/* Collective. Fills `text`, of `size` bytes (2048 suffice), with JSON: {"rank": {...}, "total": {...}}, this rank's and
 * all ranks' together; keys are those of docs/engine.md. */
OCTAVO_API int octavo_writer_statistics(octavo_writer* writer, char* text, size_t size, octavo_error* error);
/* Collective: as wait; then frees the writer, also where it fails. Sets *writer to NULL. */
OCTAVO_API int octavo_writer_close(octavo_writer** writer, octavo_error* error);

/* ---- arrays that lie in any way: in the application's own order of cells, with any strides, of several components */

enum octavo_centring { OCTAVO_CELL = 0, OCTAVO_FACE_X = 1, OCTAVO_FACE_Y = 2, OCTAVO_FACE_Z = 3, OCTAVO_NODE = 4 };
/* Value (cell, x, y, z, component) is, in elements, at values + place * stride_cell + (x + ghost) * stride[0] +
 * (y + ghost) * stride[1] + (z + ghost) * stride[2] + component * stride_component, where place is order[cell], or
 * cell. Start from octavo_array_default(): one packed value a cell. */
typedef struct octavo_array {
  int type, space, centring;
  int components;
  int ghost;          /* values more on each side of a block, along the axes that have more than one */
  const void* values; /* ghosts included; read in end_step: must stay until then */
  int64_t cells;      /* tree cells (blocks), cells of all boxes, points, or particles */
  int64_t stride_cell, stride[3], stride_component; /* may be negative; all 0: packed, components fastest, then x */
  const int64_t* order; /* [cells] place of each tree cell in memory, from 0; -1: nowhere, as of another rank's roots,
                           which cost a store no bytes. NULL: in the tree's order. Copied */
} octavo_array;
OCTAVO_API octavo_array octavo_array_default(void);
/* A field of the mesh put before; of boxes one value a cell, box after box. */
OCTAVO_API int octavo_writer_put_array(octavo_writer* writer, const char* name, const char* unit,
                                       const octavo_array* array, octavo_error* error);
/* An attribute of particles. */
OCTAVO_API int octavo_writer_put_particle_array(octavo_writer* writer, const char* species, const char* attribute,
                                                const char* unit, const octavo_array* array, octavo_error* error);

/* ---- FLASH and AMReX outputs, written by all ranks (docs/engine.md): a step is a file or a directory of its own */

enum octavo_native_format { OCTAVO_FLASH = 0, OCTAVO_AMREX_PLOTFILE = 1, OCTAVO_AMREX_CHECKPOINT = 2 };
/* Start from octavo_native_options_default(). Flags are 0 or 1. */
typedef struct octavo_native_options {
  int format;
  int64_t block[3];              /* values of a tree cell, FLASH's nxb, nyb, nzb; 1 beyond dim */
  int background;                /* 0: written inside end_step */
  int sync;                      /* steps are on disk when they bear their name */
  int checksums;                 /* of each array while it is copied, compared before it is written */
  int collect;                   /* FLASH: rank 0 alone writes, in end_step */
  int files;                     /* AMReX: data files a level; 0: one for each GiB */
  int64_t max_box;               /* AMReX, of a tree: boxes are at most that long [cells] */
  const char* title;             /* AMReX checkpoint: first line of its Header; NULL: AmrCore's */
  const char* multifab;          /* AMReX checkpoint: name of the MultiFab of all fields; NULL: phi */
  int bound_thread;              /* the background thread stays on the cores its rank is bound to */
  const char* const (*names)[2]; /* FLASH: [num_names] name of a field, and the file's own for it; NULL: none */
  int64_t num_names;
} octavo_native_options;
OCTAVO_API octavo_native_options octavo_native_options_default(int format);

typedef struct octavo_native_writer octavo_native_writer;

/* Collective. The thread that initialised MPI makes all calls; MPI_THREAD_FUNNELED, or background = 0. */
OCTAVO_API int octavo_native_open(MPI_Comm comm, const octavo_domain* domain, const octavo_native_options* options,
                                  octavo_native_writer** writer, octavo_error* error);
/* `path` must not exist. Until the step is complete on all ranks it is called PATH.partial; it gets its name in the
 * next collective call after that. */
OCTAVO_API int octavo_native_begin_step(octavo_native_writer* writer, const char* path, int64_t step, double time,
                                        octavo_error* error);
/* Put attributes of the step, as for octavo_writer: FLASH's lists ("real scalars/dt"), AMReX's "level_steps" and
* "level_dt". An AMReX checkpoint needs "level_dt": doubles, the time step of each level, or one for all levels. */
OCTAVO_API int octavo_native_put_int(octavo_native_writer* writer, const char* name, int64_t value,
                                     octavo_error* error);
OCTAVO_API int octavo_native_put_double(octavo_native_writer* writer, const char* name, double value,
                                        octavo_error* error);
OCTAVO_API int octavo_native_put_text(octavo_native_writer* writer, const char* name, const char* value,
                                      octavo_error* error);
OCTAVO_API int octavo_native_put_ints(octavo_native_writer* writer, const char* name, const int64_t* values,
                                      int64_t count, octavo_error* error);
OCTAVO_API int octavo_native_put_doubles(octavo_native_writer* writer, const char* name, const double* values,
                                         int64_t count, octavo_error* error);
OCTAVO_API int octavo_native_put_texts(octavo_native_writer* writer, const char* name, const char* const* values,
                                       int64_t count, octavo_error* error);
/* The tree of this rank, as octavo_writer_put_mesh has it. */
OCTAVO_API int octavo_native_put_mesh(octavo_native_writer* writer, int levels, const int64_t* cells_of_level,
                                      const uint8_t* refined, const uint8_t* owned, octavo_error* error);
/* Or boxes of this rank, as octavo_writer_put_boxes has them; any. FLASH cuts them into the tree's blocks. */
OCTAVO_API int octavo_native_put_boxes(octavo_native_writer* writer, int levels, const int64_t* domain,
                                       const int* ratio, const int64_t* boxes_of_level, const int64_t* boxes,
                                       octavo_error* error);
/* A cell-centred field of the mesh put before, OCTAVO_FLOAT64 or OCTAVO_FLOAT32, in blocks or boxes as
 * octavo_writer_put_blocks has them: FLASH's unk, with its ghosts and a stride of its number of variables. */
OCTAVO_API int octavo_native_put_field(octavo_native_writer* writer, const char* name, const char* unit, int type,
                                       const void* values, int64_t count, int ghost, int64_t stride, int space,
                                       octavo_error* error);
/* The same of boxes whose arrays lie anywhere: values[count]. */
OCTAVO_API int octavo_native_put_arrays(octavo_native_writer* writer, const char* name, const char* unit, int type,
                                        const void* const* values, int64_t count, int ghost, int64_t stride, int space,
                                        octavo_error* error);
/* FLASH, of a tree: a face variable (facevarx, facevary, facevarz for axis 0, 1, 2), whose arrays have one value more
 * along `axis`; otherwise as octavo_native_put_field. */
OCTAVO_API int octavo_native_put_faces(octavo_native_writer* writer, const char* name, const char* unit, int axis,
                                       int type, const void* values, int64_t count, int ghost, int64_t stride,
                                       int space, octavo_error* error);
/* A field as octavo_writer_put_array has it, of one component. */
OCTAVO_API int octavo_native_put_array(octavo_native_writer* writer, const char* name, const char* unit,
                                       const octavo_array* array, octavo_error* error);
/* One attribute of `count` particles. FLASH: one species, in leaf blocks that this rank owns; AMReX: wherever a box of
 * any rank is. */
OCTAVO_API int octavo_native_put_particles(octavo_native_writer* writer, const char* species, const char* attribute,
                                           int type, const void* values, int64_t count, int64_t stride, int space,
                                           octavo_error* error);
/* Collective. Returns, on all ranks, an error of a put on any rank or of the background. If the step before failed,
* this step is taken all the same, as octavo_writer takes it. */
OCTAVO_API int octavo_native_end_step(octavo_native_writer* writer, octavo_error* error);
/* Collective. Sets *all to 1 if nothing is in flight any more, else to 0; does not wait. */
OCTAVO_API int octavo_native_finished(octavo_native_writer* writer, int* all, octavo_error* error);
/* Collective: all steps have their names. */
OCTAVO_API int octavo_native_wait(octavo_native_writer* writer, octavo_error* error);
/* Collective: as wait; then frees the writer, also where it fails. Sets *writer to NULL. */
OCTAVO_API int octavo_native_close(octavo_native_writer** writer, octavo_error* error);

/* ---- one SERAFIN or MED file of a run on a distributed unstructured mesh */

/* Start from octavo_series_options_default(). Flags are 0 or 1. */
typedef struct octavo_series_options {
  int double_precision; /* SERAFIND: values of 8 bytes, not 4 */
  int little_endian;
  const char* title; /* up to 72 characters; NULL: none */
  int dated;         /* `date` is put in the file: year, month, day, hour, minute, second */
  int date[6];
  int origin[2];     /* added to x and y by who reads the file [m] */
  int background;    /* 0: written inside end_step */
  int sync;          /* a step is on disk before the file shows it */
  int writers;       /* ranks that write; 0: one a host */
  int64_t alignment; /* no two writers touch one such unit of the file [bytes] */
  int resume;        /* the file is there: go on behind the last step whose time is no later than resume_time */
  double resume_time;
  int ranks_per_node; /* hosts are imitated, so many ranks each; 0: they are what they are */
  int bound_thread;   /* the background thread stays on the cores its rank is bound to */
} octavo_series_options;
OCTAVO_API octavo_series_options octavo_series_options_default(void);

/* This rank's share of the mesh: triangles, or planes of them. Several ranks may hold the same points and triangles. */
typedef struct octavo_series_mesh {
  int64_t points, triangles;     /* of one plane */
  int planes;                    /* 1: 2-D; more: prisms between them, values plane after plane from the bottom */
  const double *x, *y;           /* [points] */
  const int64_t* connectivity;   /* [triangles][3] points of this rank, from 0 */
  const int64_t* global_point;   /* [points] numbers in the file, from 0; NULL: the same */
  const int64_t* global_element; /* [triangles] numbers in the file, from 0; NULL on all ranks: by their lowest point */
  const int32_t* boundary;       /* [points] IPOBO: place on the boundary from 1, 0 inside; or NULL */
  const char*
      geometry; /* a SERAFIN file of the whole mesh, whose coordinates, connectivity and IPOBO are taken; or NULL */
} octavo_series_mesh;

typedef struct octavo_series octavo_series;

/* Collective: makes the file, or opens it to go on. `names` and `units`: up to 16 characters each. Arrays are copied.
 * MED where `path` ends in ".med" (OCTAVO_UNSUPPORTED without libmedC), else SERAFIN. */
OCTAVO_API int octavo_series_open(MPI_Comm comm, const char* path, int variables, const char* const* names,
                                  const char* const* units, const octavo_series_mesh* mesh,
                                  const octavo_series_options* options, octavo_series** series, octavo_error* error);
OCTAVO_API int octavo_series_begin_step(octavo_series* series, double time, octavo_error* error);
/* One value a point of this rank, plane after plane, OCTAVO_FLOAT64 or OCTAVO_FLOAT32: `count` of them, `stride`
 * elements from one to the next (0: 1). Copied: the array may change right away. */
OCTAVO_API int octavo_series_put(octavo_series* series, const char* name, int type, const void* values, int64_t count,
                                 int64_t stride, int space, octavo_error* error);
/* Collective. Put all variables before. Returns, on all ranks, an error of any rank or of the background. If the step
* before failed, this step is taken all the same, as octavo_writer takes it. */
OCTAVO_API int octavo_series_end_step(octavo_series* series, octavo_error* error);
/* Collective. Sets *all to 1 if nothing is in flight any more, else to 0; does not wait. */
OCTAVO_API int octavo_series_finished(octavo_series* series, int* all, octavo_error* error);
/* Collective: all steps are in the file. */
OCTAVO_API int octavo_series_wait(octavo_series* series, octavo_error* error);
/* Whole steps in the file, those that were there when it was opened too. */
OCTAVO_API int octavo_series_steps(const octavo_series* series, int64_t* steps, octavo_error* error);
/* Collective: as wait; then frees it, also where it fails. Sets *series to NULL. */
OCTAVO_API int octavo_series_close(octavo_series** series, octavo_error* error);

/* ---- reading */

/* Collective. This rank's share of the newest complete and undamaged step (`step` < 0), or of that step. *restart is
 * NULL where there is none yet. */
OCTAVO_API int octavo_restart_open(MPI_Comm comm, const char* store, int flow, int64_t step, octavo_restart** restart,
                                   octavo_error* error);
/* The same with a TOML file of options, or NULL: those of the writer that say something about a restart, which are
 * staging_directory, ranks_per_node and remember_failed_restarts. octavo_restart_open takes them from OCTAVO_*
 * variables. */
OCTAVO_API int octavo_restart_open_with(MPI_Comm comm, const char* store, const char* options, int flow, int64_t step,
                                        octavo_restart** restart, octavo_error* error);

/* How a rank wants its share. Start from octavo_restart_options_default(). Flags are 0 or 1. */
typedef struct octavo_restart_options {
  int flow;                  /* of a store */
  int64_t step;              /* < 0: the newest that is complete and undamaged */
  const char* options;       /* a TOML file as for octavo_restart_open_with, or NULL */
  const char* const* fields; /* [num_fields] names; NULL: all */
  int64_t num_fields;
  int particles;
  int refine;       /* to go on with a finer mesh: the leaves of the finest level are refined so often; vectors on faces
                       keep their divergence */
  int64_t block[3]; /* blocks of so many cells, 1 beyond dim; {1, 1, 1}: cells; {0, 0, 0}: as stored */
  int fill;         /* block: cells that the step does not hold may be made of the coarser ones */
  int constant;     /* refine and fill: with the coarser value, not with limited slopes */
  int boxes;        /* the share as boxes, for octavo_restart_boxes */
  int64_t max_box;  /* boxes are at most that long [cells] */
  const int64_t* points; /* [num_points] of a step of triangles: this rank gets the points of these numbers, in this
                            order, and no triangles; on all ranks or none. NULL: equal numbers of triangles along the
                            Hilbert curve */
  int64_t num_points;
} octavo_restart_options;
OCTAVO_API octavo_restart_options octavo_restart_options_default(void);
/* The same, as the options say. `path`: a store, or an output of a code: a FLASH checkpoint, an AMReX or RAMSES
 * directory (docs/cross-restart.md). */
OCTAVO_API int octavo_restart_open_as(MPI_Comm comm, const char* path, const octavo_restart_options* options,
                                      octavo_restart** restart, octavo_error* error);
/* Collective. The run cannot go on from this step: with remember_failed_restarts the next one takes an older. */
OCTAVO_API int octavo_restart_failed(MPI_Comm comm, const char* store, const octavo_restart* restart,
                                     octavo_error* error);
/* One process: all steps may be started from again. */
OCTAVO_API int octavo_forget_failed_restarts(const char* store, octavo_error* error);
/* One process. The complete steps of a flow, ascending: fills steps[] and times[] (either may be NULL) as far as
 * `capacity` goes, and *count with how many there are. */
OCTAVO_API int octavo_list_steps(const char* store, int flow, int64_t capacity, int64_t* steps, double* times,
                                 int64_t* count, octavo_error* error);
/* Of NULL, as there is before the first checkpoint: step -1, time 0, and of all that is counted 0. */
OCTAVO_API int64_t octavo_restart_step(const octavo_restart* restart);
OCTAVO_API double octavo_restart_time(const octavo_restart* restart);
/* Notes for the user, the same on all ranks: damage, steps passed over, local disks. The restart owns the texts.
* Returns NULL if there are no more. */
OCTAVO_API const char* octavo_restart_note(const octavo_restart* restart, int64_t index);
/* The domain of the step; the restart owns `code`. block[3]: values of a tree cell along each axis; may be NULL. */
OCTAVO_API int octavo_restart_domain(const octavo_restart* restart, octavo_domain* domain, int64_t block[3],
                                     octavo_error* error);
OCTAVO_API int octavo_restart_levels(const octavo_restart* restart);        /* 0 of triangles */
OCTAVO_API int64_t octavo_restart_cells(const octavo_restart* restart);     /* of a tree, all levels; otherwise 0 */
OCTAVO_API int64_t octavo_restart_num_boxes(const octavo_restart* restart); /* of all levels; 0 of a tree */
OCTAVO_API int64_t octavo_restart_values(const octavo_restart* restart);    /* of a field of one component */
typedef struct octavo_field_info {
  char name[128], unit[64]; /* cut off where too long */
  char species[128];        /* "" for a field of cells */
  int type, components;
} octavo_field_info;
/* Fields, then the attributes of all species. */
OCTAVO_API int64_t octavo_restart_num_fields(const octavo_restart* restart);
OCTAVO_API int octavo_restart_field_info(const octavo_restart* restart, int64_t index, octavo_field_info* info,
                                         octavo_error* error);
/* Fills cells_of_level[levels], refined[cells] and owned[cells], as put_mesh has them. */
OCTAVO_API int octavo_restart_mesh(const octavo_restart* restart, int64_t* cells_of_level, uint8_t* refined,
                                   uint8_t* owned, octavo_error* error);
/* Of boxes: fills domain[levels][2][3], ratio[levels - 1], boxes_of_level[levels] and boxes[num_boxes][2][3], as
 * octavo_native_put_boxes has them. */
OCTAVO_API int octavo_restart_boxes(const octavo_restart* restart, int64_t* domain, int* ratio, int64_t* boxes_of_level,
                                    int64_t* boxes, octavo_error* error);
/* Fills values[count], octavo_restart_values() times the field's components: the block of each tree cell, or the cells
* of each box, x fastest, components fastest of all. The type must be the field's. For a float32 field float64 is also
* allowed, because a store written with single_precision holds float64 fields as float32. */
OCTAVO_API int octavo_restart_field(const octavo_restart* restart, const char* name, int type, void* values,
                                    int64_t count, octavo_error* error);
/* How many particles of the species this rank has; 0 for one that the step does not have. */
OCTAVO_API int64_t octavo_restart_count(const octavo_restart* restart, const char* species);
OCTAVO_API int octavo_restart_particles(const octavo_restart* restart, const char* species, const char* attribute,
                                        int type, void* values, int64_t count, octavo_error* error);
OCTAVO_API int octavo_restart_get_int(const octavo_restart* restart, const char* name, int64_t* value,
                                      octavo_error* error);
OCTAVO_API int octavo_restart_get_double(const octavo_restart* restart, const char* name, double* value,
                                         octavo_error* error);
/* Elements of an attribute, 1 for a number or a text; -1 where there is none of this name. */
OCTAVO_API int64_t octavo_restart_attribute_count(const octavo_restart* restart, const char* name);
/* Fill values[count]: arrays, and numbers as arrays of one. */
OCTAVO_API int octavo_restart_get_ints(const octavo_restart* restart, const char* name, int64_t* values, int64_t count,
                                       octavo_error* error);
OCTAVO_API int octavo_restart_get_doubles(const octavo_restart* restart, const char* name, double* values,
                                          int64_t count, octavo_error* error);
/* The `index`-th text of an attribute, with its closing 0, into `size` bytes; an error where it is longer. */
OCTAVO_API int octavo_restart_get_text(const octavo_restart* restart, const char* name, int64_t index, char* text,
                                       size_t size, octavo_error* error);
/* Local. Sets *restart to NULL. */
OCTAVO_API void octavo_restart_free(octavo_restart** restart);

/* ---- meshes of triangles in a store */

/* This rank's piece, maybe without points, on every rank; `boundary` and `geometry` must be NULL. The domain has one
 * root. Fields of octavo_writer_put_field then have a value a point, plane after plane; integer ones belong to the
 * mesh. Copied. */
OCTAVO_API int octavo_writer_put_triangles(octavo_writer* writer, const octavo_series_mesh* mesh, octavo_error* error);
/* An error where the step is not of triangles. octavo_restart_values gives points times planes. */
OCTAVO_API int octavo_restart_triangle_counts(const octavo_restart* restart, int64_t* points, int64_t* triangles,
                                              int* planes, octavo_error* error);
/* Fills x, y and global_point [points], connectivity [triangles][3] with this rank's points from 0, and global_element
 * [triangles]; any may be NULL. */
OCTAVO_API int octavo_restart_triangles(const octavo_restart* restart, double* x, double* y, int64_t* connectivity,
                                        int64_t* global_point, int64_t* global_element, octavo_error* error);

/* The surroundings of this rank's share, as TELEMAC's PAR and CLI files give them. Points and triangles are numbered in
* the share, from 0; ranks are the communicator's. The library owns the arrays until octavo_neighbours_free. */
typedef struct octavo_neighbours {
  int64_t shared;              /* points that other ranks have, too, by ascending number in the whole mesh */
  const int32_t* shared_point; /* [shared] */
  const int64_t* first;        /* [shared + 1] the ranks of the i-th are rank[first[i]] to rank[first[i + 1]] */
  const int32_t* rank;
  int64_t halo;                   /* triangles with an edge to another rank's: what lies behind points 0-1, 1-2, 2-0 */
  const int32_t* halo_triangle;   /* [halo] */
  const int32_t* behind_rank;     /* [halo][3] -1: nothing */
  const int32_t* behind_triangle; /* [halo][3] as that rank numbers it, -1: nothing */
  int64_t boundary;               /* points on the boundary, along it, where the store holds it; else 0 */
  const int32_t* boundary_point;  /* [boundary] */
  const int32_t* place;           /* [boundary] along the whole boundary, from 0 */
  const int32_t* liquid;          /* [boundary] number of the liquid boundary from 1, 0: a wall */
  const int64_t* next; /* [boundary] number in the whole mesh of the next point along the boundary, where the edge
                          to it is another rank's; else -1 */
  const int64_t* previous;
  const int32_t* codes;  /* [boundary][4] LIHBOR, LIUBOR, LIVBOR, LITBOR */
  const double* values;  /* [boundary][7] HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR */
  const int32_t* colour; /* [boundary] the boundary file's last number */
  void* owner;
} octavo_neighbours;
/* Collective. An error where the step is not of triangles, or was read by points. */
OCTAVO_API int octavo_restart_neighbours(MPI_Comm comm, const octavo_restart* restart, octavo_neighbours* neighbours,
                                         octavo_error* error);
OCTAVO_API void octavo_neighbours_free(octavo_neighbours* neighbours);

#ifdef __cplusplus
}
#endif
#endif
