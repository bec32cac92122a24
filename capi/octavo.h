/* clang-format off */
/* Octavo for C: a simulation writes its steps in the background, and starts again from them on any number of ranks.
 *
 * Every function that returns int returns 0, or an octavo_code with the message in the caller's octavo_error (which may
 * be NULL). All ranks of the communicator call a "collective" function, and all get the same code and message. Collective
 * functions return OCTAVO_USAGE before MPI_Init and after MPI_Finalize. The thread that initialised MPI makes all calls.
 * A library built without MPI brings an mpi.h of its own, for programs of one process; these need no MPI_Init.
 * docs/writing.md says what happens when. */
#ifndef OCTAVO_H
#define OCTAVO_H

#include <mpi.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define OCTAVO_INT : int /* any int may be passed to a function, which refuses those that it does not know */
#else
#define OCTAVO_INT
#endif

#if defined(__GNUC__)
#define OCTAVO_API __attribute__((visibility("default")))
#else
#define OCTAVO_API
#endif

/* ---- version: of this header, and of the library that the program runs with */

#define OCTAVO_VERSION_MAJOR 0
#define OCTAVO_VERSION_MINOR 1
#define OCTAVO_VERSION_PATCH 0
#define OCTAVO_VERSION "0.1.0"

/* "MAJOR.MINOR.PATCH" of the library. */
OCTAVO_API const char* octavo_version(void);

/* ---- errors: a code to act on, and a message to read */

typedef enum octavo_code OCTAVO_INT {
  OCTAVO_OK = 0,
  OCTAVO_USAGE = 2,         /* the request itself is wrong */
  OCTAVO_UNREADABLE = 3,    /* the operating system refused */
  OCTAVO_UNSUPPORTED = 4,   /* valid, but this version or build cannot do it */
  OCTAVO_NO_SPACE = 5,      /* memory or disk is full */
  OCTAVO_CORRUPT = 6,       /* the bytes are not what the format demands */
  OCTAVO_INTERRUPTED = 130
} octavo_code;

typedef struct octavo_error {
  int code;                 /* octavo_code */
  char message[2048];       /* what, where, and what to do; ends with 0; cut off if it is too long */
} octavo_error;

/* ---- structs: the first member is the struct's size, so that later versions can add members at the end
 *
 * Start from octavo_NAME_default(), which sets the size. The library reads and fills `size` bytes; members beyond them
 * have their defaults. OCTAVO_UNSUPPORTED for a member that this library does not know, unless it is 0. Flags are 0 or
 * 1. The library copies texts and lists that it is given, unless a line says until when they must stay. */

typedef enum octavo_type OCTAVO_INT {
  OCTAVO_FLOAT64 = 0,
  OCTAVO_FLOAT32 = 1,
  OCTAVO_INT64 = 2,
  OCTAVO_INT32 = 3,
  OCTAVO_INT16 = 4,
  OCTAVO_INT8 = 5,
  OCTAVO_UINT64 = 6,
  OCTAVO_UINT8 = 7,
  OCTAVO_TEXT = 100         /* const char*, ends with 0; for attributes only */
} octavo_type;

/* What all steps of a run have in common. */
typedef struct octavo_domain {
  size_t size;              /* sizeof(octavo_domain) */
  const char* code;         /* name of the simulation code */
  int dim;                  /* 1-3 */
  int64_t roots[3];         /* cells of level 0; 1 beyond dim */
  int64_t block[3];         /* values of a tree cell (FLASH's nxb, nyb, nzb); 1 beyond dim */
  int unfolded;             /* boxes: level 0 of the boxes is this many levels below the roots, so that the domain has
                               cells of level 0 / (block << unfolded) roots along each axis */
  double lo[3], hi[3];      /* corners [code length] */
  int periodic[3];          /* flags */
  double unit_length;       /* one code unit [cm] */
  double unit_density;      /* one code unit [g/cm^3] */
  double unit_time;         /* one code unit [s] */
} octavo_domain;

/* A tree: this rank's cells of all levels, one after another. Children of the k-th refined cell of a level are the 2^dim
 * cells from k * 2^dim on of the next level, x fastest. */
typedef struct octavo_tree {
  size_t size;                    /* sizeof(octavo_tree) */
  int levels;
  const int64_t* cells_of_level;  /* [levels] */
  const uint8_t* refined;         /* [cells] flag */
  const uint8_t* owned;           /* [cells] flag: this rank owns the cell; each leaf has one owner */
  int64_t num_intervals;          /* intervals of roots that level 0 holds; 0: it holds all roots of the domain */
  const int64_t* held;            /* [num_intervals][2] ascending: first root, one past the last root */
} octavo_tree;

/* Boxes of this rank as AMReX has them. Corners are half-open, in cells of their level; 0 and 1 beyond dim. */
typedef struct octavo_boxes {
  size_t size;                    /* sizeof(octavo_boxes) */
  int levels;
  const int64_t* domain;          /* [levels][2][3] all cells of a level: lower corner, upper corner */
  const int* ratio;               /* [levels - 1] of a level to the next; a store takes 2 and 4 */
  const int64_t* boxes_of_level;  /* [levels] */
  const int64_t* boxes;           /* [boxes][2][3] level after level; in a store and FLASH they are whole blocks */
} octavo_boxes;

/* Triangles of this rank, or prisms between planes of them. Several ranks may hold a point or a triangle; each number
 * from 0 up is held by one rank at least. */
typedef struct octavo_triangles {
  size_t size;                    /* sizeof(octavo_triangles) */
  int64_t points;                 /* of one plane; may be 0 */
  int64_t triangles;              /* of one plane */
  int planes;                     /* 1: 2-D; more: 3-D, values stand plane after plane from the bottom */
  const double* x;                /* [points] */
  const double* y;                /* [points] */
  const int64_t* connectivity;    /* [triangles][3] points of this rank, from 0 */
  const int64_t* global_point;    /* [points] numbers in the whole mesh, from 0; NULL: the same */
  const int64_t* global_triangle; /* [triangles] numbers in the whole mesh; NULL on all ranks: by their lowest point */
  const int32_t* boundary;        /* SERAFIN: [points] IPOBO, place on the boundary from 1, 0 inside; or NULL */
  const char* geometry;           /* SERAFIN: a file of the whole mesh, which gives coordinates, connectivity and IPOBO;
                                     or NULL */
} octavo_triangles;

typedef enum octavo_space OCTAVO_INT { OCTAVO_HOST = 0 } octavo_space;

typedef enum octavo_centring OCTAVO_INT {
  OCTAVO_CELL = 0,
  OCTAVO_FACE_X = 1,        /* of trees: blocks have one value more along the axis. The step has the low and the high */
  OCTAVO_FACE_Y = 2,        /* faces of cells as fields NAME_left and NAME_right. A field that is put by such a name */
  OCTAVO_FACE_Z = 3,        /* has one value a cell */
  OCTAVO_NODE = 4
} octavo_centring;

/* Where the values of a field or of an attribute of particles lie. Value (cell, x, y, z, component) is, in elements, at
 * values + place * stride_cell + (x + ghost) * stride[0] + (y + ghost) * stride[1] + (z + ghost) * stride[2] + component
 * * stride_component; place is order[cell], or cell. A put reads values in end_step: they must stay until then. */
typedef struct octavo_array {
  size_t size;                    /* sizeof(octavo_array) */
  octavo_type type;
  octavo_space space;             /* whose memory it is */
  octavo_centring centring;       /* of a field */
  int components;
  int ghost;                      /* values more on each side of a block or box, along each dimension */
  void* values;                   /* ghosts included; puts read it, gets fill it; may be NULL for 0 cells */
  int64_t cells;                  /* tree cells (blocks), points of all planes, particles; boxes, or cells of all boxes */
  int64_t stride_cell;            /* strides may be negative; 0: packed, of components, x, y, z, cells in this order, */
  int64_t stride[3];              /* each behind the strides before it */
  int64_t stride_component;
  const int64_t* order;           /* [cells] place of each tree cell in memory, from 0; -1: nowhere, such as a root of
                                     another rank; NULL: in the tree's order */
  void* const* boxes;             /* [cells] boxes whose arrays lie anywhere: each one's `values`; or NULL */
} octavo_array;

/* ---- targets: where a writer writes to, and how */

typedef struct octavo_writer octavo_writer;
typedef struct octavo_restart octavo_restart;

typedef enum octavo_kind OCTAVO_INT {
  OCTAVO_STORE = 0,               /* Octavo's own: any mesh; checkpoints and analysis steps */
  OCTAVO_FLASH = 1,               /* a FLASH checkpoint file a step: trees, boxes */
  OCTAVO_AMREX_PLOTFILE = 2,      /* a directory a step: boxes, trees */
  OCTAVO_AMREX_CHECKPOINT = 3,    /* a directory a step: boxes, trees; needs the attribute level_dt */
  OCTAVO_SERAFIN = 4,             /* one file of all steps: triangles */
  OCTAVO_MED = 5                  /* one file of all steps, its name ends in .med: triangles */
} octavo_kind;

typedef struct octavo_target {
  size_t size;                    /* sizeof(octavo_target) */
  octavo_kind kind;
  const char* path;               /* store, SERAFIN, MED; FLASH and AMReX: NULL, begin_step names each step's */
  const char* options;            /* store: a TOML file, or NULL; OCTAVO_* variables have the last word */
  const octavo_restart* from;     /* store: what this run continues, or NULL; used by octavo_writer_open only */
  int background;                 /* the others: 0: steps are written inside end_step */
  int sync;                       /* the others: a step is on disk before it has its name or the file shows it */
  int bound_thread;               /* the others: the background thread stays on the cores its rank is bound to */
  int checksums;                  /* FLASH, AMReX: of each array while it is copied, compared before it is written */
  int collect;                    /* FLASH: rank 0 alone writes, in end_step */
  const char* const (*names)[2];  /* FLASH: [num_names] name of a field, the file's own name for it; or NULL */
  int64_t num_names;
  int files;                      /* AMReX: data files a level; 0: one for each GiB */
  int64_t max_box;                /* AMReX, of a tree: boxes are at most that long [cells] */
  const char* multifab;           /* AMReX checkpoint: name of the MultiFab of all fields; NULL: phi */
  const char* title;              /* SERAFIN, MED: up to 72 characters; AMReX checkpoint: its Header's first line; or NULL */
  const octavo_triangles* mesh;   /* SERAFIN, MED: of all steps */
  const char* const (*variables)[2]; /* SERAFIN, MED: [num_variables] name, unit; up to 16 characters each */
  int64_t num_variables;
  int double_precision;           /* SERAFIN, MED: values of 8 bytes, not 4 */
  int little_endian;              /* SERAFIN */
  int dated;                      /* SERAFIN, MED: `date` goes into the file */
  int date[6];                    /* year, month, day, hour, minute, second */
  int origin[2];                  /* SERAFIN, MED: readers add it to x and y [m] */
  int writers;                    /* SERAFIN, MED: ranks that write; 0: one a host */
  int64_t alignment;              /* SERAFIN, MED: no two writers touch one such unit of the file [bytes] */
  int ranks_per_node;             /* SERAFIN, MED: hosts are imitated, this many ranks each; 0: they are what they are */
  int resume;                     /* SERAFIN, MED: the file exists; go on behind the last step up to resume_time */
  double resume_time;             /* [s] 1e300, the default: behind the last step */
} octavo_target;

/* ---- writing: open, then begin_step, put, end_step for each step, then close */

/* Collective. A program with background threads needs MPI_THREAD_FUNNELED. */
OCTAVO_API int octavo_writer_open(
    MPI_Comm comm,
    const octavo_target* target,
    const octavo_domain* domain,  /* NULL for SERAFIN and MED, which have none */
    octavo_writer** writer,       /* out: free it with octavo_writer_close; NULL if this fails */
    octavo_error* error);

typedef enum octavo_flow OCTAVO_INT { OCTAVO_CHECKPOINT = 0, OCTAVO_ANALYSIS = 1 } octavo_flow;

/* Whether a store's options checkpoint.every or analysis.every ask for a step; of other targets every step. Call it at
 * every step of the simulation; collective where wall time decides. */
OCTAVO_API int octavo_writer_due(
    octavo_writer* writer,
    octavo_flow flow,
    int64_t step,
    double time,
    int* due,                     /* out: flag */
    octavo_error* error);

/* If it fails on one rank, end_step returns the error on all, unless another begin_step succeeds before. */
OCTAVO_API int octavo_writer_begin_step(
    octavo_writer* writer,
    octavo_flow flow,             /* store */
    const char* path,             /* FLASH, AMReX: this step's file or directory, which must not exist; others: NULL */
    int64_t step,                 /* store, FLASH, AMReX */
    double time,                  /* [code time]; SERAFIN, MED: [s] */
    octavo_error* error);

#define OCTAVO_SCALAR (-1)        /* as `count`: one value that is not an array */

/* Facts about the step beside its fields, the same on all ranks. FLASH: its lists ("real scalars/dt"). AMReX:
 * "level_steps", and "level_dt", doubles: the time step of each level, or of all. */
OCTAVO_API int octavo_writer_put_attribute(
    octavo_writer* writer,
    const char* name,
    octavo_type type,             /* OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT */
    const void* values,           /* [count] int64_t, double or const char*; copied */
    int64_t count,                /* or OCTAVO_SCALAR */
    octavo_error* error);

/* This rank's mesh, before its fields: one of the three. Copied. SERAFIN and MED have theirs from octavo_target. */
OCTAVO_API int octavo_writer_put_tree(octavo_writer* writer, const octavo_tree* tree, octavo_error* error);
OCTAVO_API int octavo_writer_put_boxes(octavo_writer* writer, const octavo_boxes* boxes, octavo_error* error);
OCTAVO_API int octavo_writer_put_triangles(octavo_writer* writer, const octavo_triangles* triangles, octavo_error* error);

/* A field of the mesh that was put before: a block of values on each tree cell, values on each cell of each box, or a
 * value on each point. SERAFIN and MED copy it at once. A put returns errors of its own arguments (NULL, a negative
 * count, an unknown type); end_step returns those that only the whole step shows. */
OCTAVO_API int octavo_writer_put_field(
    octavo_writer* writer,
    const char* name,
    const char* unit,             /* or NULL */
    const octavo_array* array,
    octavo_error* error);

/* An attribute of particles; positions are position_x, position_y, position_z. FLASH: one species, in leaf blocks that
 * this rank owns; AMReX: wherever a box of any rank is. */
OCTAVO_API int octavo_writer_put_particles(
    octavo_writer* writer,
    const char* species,
    const char* attribute,
    const char* unit,             /* or NULL */
    const octavo_array* array,
    octavo_error* error);

/* Bytes of this rank alone, such as the state of its random numbers; copied. A store only. */
OCTAVO_API int octavo_writer_put_bytes(
    octavo_writer* writer,
    const char* name,
    const void* bytes,
    int64_t count,
    octavo_error* error);

/* Collective. Takes the step. Returns, on all ranks, an error of a put on any rank, and then the step is not taken; or an
 * error of an earlier step in the background, which the message names, and then this step is taken all the same. */
OCTAVO_API int octavo_writer_end_step(octavo_writer* writer, octavo_error* error);

/* Collective. Whether no step is on its way any more, on any rank; does not wait. A step that is complete is shown: until
 * then the one of FLASH or AMReX is called PATH.partial. */
OCTAVO_API int octavo_writer_finished(
    octavo_writer* writer,
    int* all,                     /* out: flag */
    octavo_error* error);

/* Collective. Waits until all steps so far are durable (on the local disks, where there is a staging directory) and have
 * their names. */
OCTAVO_API int octavo_writer_wait(octavo_writer* writer, octavo_error* error);

/* Steps that are durable, and those that a SERAFIN or MED file had when it was opened. */
OCTAVO_API int octavo_writer_get_steps(
    const octavo_writer* writer,
    int64_t* steps,               /* out */
    octavo_error* error);

/* The newest step of a flow of which all ranks know that it is durable. Not collective, and it does not wait. */
OCTAVO_API int octavo_writer_newest_durable(
    const octavo_writer* writer,
    octavo_flow flow,             /* targets other than a store: OCTAVO_CHECKPOINT */
    int* any,                     /* out: flag, whether there is one yet */
    int64_t* step,                /* out, where there is */
    octavo_error* error);

/* The same, of steps in the store itself: they outlive a node, and so its staging directory. */
OCTAVO_API int octavo_writer_newest_drained(
    const octavo_writer* writer,
    octavo_flow flow,
    int* any,                     /* out: flag */
    int64_t* step,                /* out, where there is one */
    octavo_error* error);

/* Collective. JSON: {"rank": {...}, "total": {...}}, of this rank and of all; docs/measuring.md has the keys. */
OCTAVO_API int octavo_writer_get_statistics(
    octavo_writer* writer,
    char* text,                   /* out, with its closing 0 */
    size_t size,                  /* of text [bytes]; 2048 suffice */
    octavo_error* error);

/* Collective. As wait, and drains a staging directory; then frees the writer, also if it fails. */
OCTAVO_API int octavo_writer_close(
    octavo_writer** writer,       /* becomes NULL */
    octavo_error* error);

/* ---- restarting: a rank's share of a step, whatever number of ranks wrote it */

typedef struct octavo_restart_options {
  size_t size;                    /* sizeof(octavo_restart_options) */
  octavo_flow flow;               /* of a store */
  int64_t step;                   /* < 0: the newest that is complete and undamaged */
  const char* options;            /* a TOML file, or NULL: of the writer's options staging_directory, ranks_per_node and
                                     remember_failed_restarts count; OCTAVO_* variables have the last word */
  const char* const* fields;      /* [num_fields] names; NULL: all */
  int64_t num_fields;
  int particles;                  /* 0: none */
  int keep_parts;                 /* as many ranks as parts: each gets the part of its number; 0: always equal shares */
  int refine;                     /* to go on with a finer mesh: the leaves of the finest level are refined so often;
                                     vectors on faces keep their divergence */
  int64_t block[3];               /* blocks of so many cells, 1 beyond dim; {1, 1, 1}: cells; {0, 0, 0}: as stored */
  int fill;                       /* block: cells that the step does not hold may be made of the coarser ones */
  int constant;                   /* refine and fill: with the coarser value, not with limited slopes */
  const char* const* per_mass;    /* refine and fill: [num_per_mass] more fields that are amounts per mass; or NULL */
  int64_t num_per_mass;
  int boxes;                      /* the share as boxes */
  int64_t max_box;                /* boxes are at most that long [cells] */
  const int64_t* points;          /* triangles: [num_points] numbers of the points that this rank gets, in this order, and
                                     no triangles; on all ranks or none. NULL: equal numbers of triangles */
  int64_t num_points;
  int opaque;                     /* 1: bytes of ranks, too */
  int held_roots;                 /* of a tree: 1: level 0 has the roots that this rank holds, listed in octavo_tree; 0: all
                                     roots of the domain, with zeros where other ranks have theirs */
} octavo_restart_options;

/* Collective. */
OCTAVO_API int octavo_restart_open(
    MPI_Comm comm,
    const char* path,             /* a store, a FLASH checkpoint, an AMReX or RAMSES directory */
    const octavo_restart_options* options, /* or NULL: the newest checkpoint, all of it */
    octavo_restart** restart,     /* out: NULL if there is no step yet; free it with octavo_restart_free */
    octavo_error* error);

typedef enum octavo_mesh OCTAVO_INT {
  OCTAVO_MESH_NONE = 0,
  OCTAVO_MESH_TREE = 1,
  OCTAVO_MESH_BOXES = 2,
  OCTAVO_MESH_TRIANGLES = 3
} octavo_mesh;

/* Pointers are the restart's. */
typedef struct octavo_restart_info {
  size_t size;                    /* sizeof(octavo_restart_info) */
  int64_t step;                   /* -1: there is none */
  double time;                    /* [code time] */
  const octavo_domain* domain;    /* of the step */
  octavo_mesh mesh;               /* of this rank's share */
  int levels;                     /* of a tree or of boxes */
  int64_t cells;                  /* of a tree, all levels */
  int64_t boxes;                  /* of all levels */
  int64_t values;                 /* of a field of one component: in blocks, boxes, points of all planes */
  int64_t num_fields;             /* fields, and attributes of all species */
  int64_t num_notes;
  const char* const* notes;       /* [num_notes] for the user, the same on all ranks: damage, steps passed over */
} octavo_restart_info;

/* A restart of NULL, as there is before the first checkpoint, has step -1 and nothing else. */
OCTAVO_API int octavo_restart_get_info(const octavo_restart* restart, octavo_restart_info* info, octavo_error* error);

/* Texts are the restart's. */
typedef struct octavo_field_info {
  size_t size;                    /* sizeof(octavo_field_info) */
  const char* name;
  const char* unit;
  const char* species;            /* "" for a field of the mesh */
  octavo_type type;
  octavo_centring centring;
  int components;
  int64_t count;                  /* of a species: particles of this rank */
} octavo_field_info;

OCTAVO_API int octavo_restart_get_field_info(
    const octavo_restart* restart,
    int64_t index,                /* from 0: fields, then the attributes of all species */
    octavo_field_info* info,
    octavo_error* error);

/* Elements of an attribute, 1 for a number or a text; -1 if there is none of this name. */
OCTAVO_API int64_t octavo_restart_get_attribute_count(const octavo_restart* restart, const char* name);

OCTAVO_API int octavo_restart_get_attribute(
    const octavo_restart* restart,
    const char* name,
    octavo_type type,             /* OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT: as it was put */
    void* values,                 /* out: [count] int64_t, double or const char*; texts are the restart's */
    int64_t count,                /* as octavo_restart_get_attribute_count has it */
    octavo_error* error);

/* This rank's share of the mesh; arrays are the restart's. OCTAVO_USAGE if the share is of another kind. */
OCTAVO_API int octavo_restart_get_tree(octavo_restart* restart, octavo_tree* tree, octavo_error* error);
OCTAVO_API int octavo_restart_get_boxes(octavo_restart* restart, octavo_boxes* boxes, octavo_error* error);
OCTAVO_API int octavo_restart_get_triangles(octavo_restart* restart, octavo_triangles* triangles, octavo_error* error);

/* Fills the array, wherever its values lie; ghosts are left as they are. The type is the field's. A float32 field may
 * also be read as float64: a store written with single_precision holds float64 fields as float32. */
OCTAVO_API int octavo_restart_get_field(
    const octavo_restart* restart,
    const char* name,
    const octavo_array* array,
    octavo_error* error);

/* Particles of a species that this rank has; 0 for a species that the step does not have. */
OCTAVO_API int64_t octavo_restart_get_particle_count(const octavo_restart* restart, const char* species);

/* An attribute of this rank's particles, as octavo_restart_get_field. */
OCTAVO_API int octavo_restart_get_particles(
    const octavo_restart* restart,
    const char* species,
    const char* attribute,
    const octavo_array* array,
    octavo_error* error);

/* Bytes that octavo_writer_put_bytes took, if the restart was opened with `opaque`. OCTAVO_USAGE if there are none. */
OCTAVO_API int octavo_restart_get_bytes(
    const octavo_restart* restart,
    int rank,                     /* of the run that wrote the step; this rank's own number alone if ranks are as many */
    const char* name,
    const void** bytes,           /* out: the restart's */
    int64_t* count,               /* out */
    octavo_error* error);

/* What surrounds this rank's triangles, as TELEMAC's PAR and CLI files say it. Points and triangles are numbered in the
 * share, from 0; ranks are the communicator's. Arrays are the restart's. */
typedef struct octavo_neighbours {
  size_t size;                    /* sizeof(octavo_neighbours) */
  int64_t shared;                 /* points that other ranks have, too, by ascending number in the whole mesh */
  const int32_t* shared_point;    /* [shared] */
  const int64_t* first;           /* [shared + 1] the ranks of the i-th are rank[first[i]] to rank[first[i + 1]] */
  const int32_t* rank;
  int64_t halo;                   /* triangles with an edge to another rank's; behind: of points 0-1, 1-2, 2-0 */
  const int32_t* halo_triangle;   /* [halo] */
  const int32_t* behind_rank;     /* [halo][3] -1: nothing */
  const int32_t* behind_triangle; /* [halo][3] as that rank numbers it; -1: nothing */
  int64_t boundary;               /* points on the boundary, along it, if the store holds it; else 0 */
  const int32_t* boundary_point;  /* [boundary] */
  const int32_t* place;           /* [boundary] along the whole boundary, from 0 */
  const int32_t* liquid;          /* [boundary] number of the liquid boundary from 1; 0: a wall */
  const int64_t* next;            /* [boundary] number in the whole mesh of the next point along the boundary, if the edge
                                     to it is another rank's; else -1 */
  const int64_t* previous;        /* [boundary] the same of the point before */
  const int32_t* codes;           /* [boundary][4] LIHBOR, LIUBOR, LIVBOR, LITBOR */
  const double* values;           /* [boundary][7] HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR */
  const int32_t* colour;          /* [boundary] the boundary file's last number */
} octavo_neighbours;

/* Collective. OCTAVO_USAGE if the step is not of triangles, or was read by points. */
OCTAVO_API int octavo_restart_get_neighbours(
    MPI_Comm comm,
    octavo_restart* restart,
    octavo_neighbours* neighbours,
    octavo_error* error);

/* Collective. The run cannot go on from this step: with remember_failed_restarts the next restart takes an older. */
OCTAVO_API int octavo_restart_failed(
    MPI_Comm comm,
    const char* store,
    const octavo_restart* restart,
    octavo_error* error);

/* Local. */
OCTAVO_API void octavo_restart_free(octavo_restart** restart); /* becomes NULL */

/* ---- stores: called by one process, which needs no MPI */

/* The complete steps of a flow, ascending. */
OCTAVO_API int octavo_list_steps(
    const char* store,
    octavo_flow flow,
    int64_t capacity,             /* of steps and times */
    int64_t* steps,               /* out: [capacity], or NULL */
    double* times,                /* out: [capacity], or NULL */
    int64_t* count,               /* out: how many there are, which may be more than capacity */
    octavo_error* error);

/* The cells of a level, counted from 0 at the domain's lower corner. */
typedef struct octavo_box {
  size_t size;                    /* sizeof(octavo_box) */
  octavo_flow flow;               /* of a store */
  int64_t step;                   /* of a store; < 0: the newest that is complete and undamaged */
  int level;                      /* the code's own number */
  int64_t lower[3], upper[3];     /* half-open, in cells of the level; 0 and 1 beyond dim */
} octavo_box;

/* Reads a field's values on a box of cells, and opens the step to do so. A coarser leaf gives its value to all cells in
 * it; a cell that is refined gives the value that the step has for it. OCTAVO_UNSUPPORTED for triangles. */
OCTAVO_API int octavo_read_box(
    const char* path,             /* a store, or an output of FLASH, AMReX or RAMSES */
    const octavo_box* box,
    const char* field,
    const octavo_array* array,    /* one cell of upper - lower values along each axis; ghosts are left as they are. The
                                     type is the field's, or OCTAVO_FLOAT64 for OCTAVO_FLOAT32 */
    int64_t* missing,             /* out: cells without a value, whose memory is left as it is; may be NULL */
    octavo_error* error);

/* A run may start from any step again, also from those that octavo_restart_failed named. */
OCTAVO_API int octavo_forget_failed_restarts(const char* store, octavo_error* error);

/* ---- defaults: these functions belong to the program, so that sizes are those that it was compiled with */

static inline octavo_domain octavo_domain_default(void) { /* a cube of one cell */
  octavo_domain it = {sizeof(octavo_domain), "", 3, {1, 1, 1}, {1, 1, 1}, 0, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1};
  return it;
}
static inline octavo_tree octavo_tree_default(void) { /* no levels */
  octavo_tree it = {sizeof(octavo_tree), 0, NULL, NULL, NULL, 0, NULL};
  return it;
}
static inline octavo_boxes octavo_boxes_default(void) { /* no levels */
  octavo_boxes it = {sizeof(octavo_boxes), 0, NULL, NULL, NULL, NULL};
  return it;
}
static inline octavo_triangles octavo_triangles_default(void) { /* no points, one plane */
  octavo_triangles it = {sizeof(octavo_triangles), 0, 0, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  return it;
}
/* Values of all cells one after another; in a cell components are fastest, then x. */
static inline octavo_array octavo_array_packed(octavo_type type, const void* values, int64_t cells) {
  octavo_array it = {sizeof(octavo_array), OCTAVO_FLOAT64, OCTAVO_HOST, OCTAVO_CELL, 1, 0, NULL, 0, 0, {0, 0, 0}, 0,
                     NULL, NULL};
  it.type = type;
  it.values = (void*)(uintptr_t)values;
  it.cells = cells;
  return it;
}
static inline octavo_target octavo_target_default(octavo_kind kind) { /* in the background, synced, with checksums */
  octavo_target it = {sizeof(octavo_target), OCTAVO_STORE, NULL, NULL, NULL, 1, 1, 0, 1, 0, NULL, 0, 0, 64, NULL, NULL,
                      NULL, NULL, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0}, {0, 0}, 0, 4096, 0, 0, 1e300};
  it.kind = kind;
  return it;
}
static inline octavo_restart_options octavo_restart_options_default(void) { /* the newest checkpoint, all of it */
  octavo_restart_options it = {sizeof(octavo_restart_options), OCTAVO_CHECKPOINT, -1, NULL, NULL, 0, 1, 1, 0, {0, 0, 0},
                               0, 0, NULL, 0, 0, 64, NULL, 0, 0, 0};
  return it;
}
static inline octavo_restart_info octavo_restart_info_default(void) { /* no step */
  octavo_restart_info it = {sizeof(octavo_restart_info), -1, 0, NULL, OCTAVO_MESH_NONE, 0, 0, 0, 0, 0, 0, NULL};
  return it;
}
static inline octavo_field_info octavo_field_info_default(void) { /* no name */
  octavo_field_info it = {sizeof(octavo_field_info), NULL, NULL, NULL, OCTAVO_FLOAT64, OCTAVO_CELL, 1, 0};
  return it;
}
static inline octavo_box octavo_box_default(void) { /* a cell of the newest checkpoint's level 0 */
  octavo_box it = {sizeof(octavo_box), OCTAVO_CHECKPOINT, -1, 0, {0, 0, 0}, {1, 1, 1}};
  return it;
}
static inline octavo_neighbours octavo_neighbours_default(void) { /* none */
  octavo_neighbours it = {sizeof(octavo_neighbours), 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, 0, NULL, NULL, NULL, NULL,
                          NULL, NULL, NULL, NULL};
  return it;
}

#ifdef __cplusplus
}
#endif
#endif
