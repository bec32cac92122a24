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
#define OCTAVO_INT : int /* a caller may pass any int; functions refuse values that they do not know */
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
 * have their defaults. A function returns OCTAVO_UNSUPPORTED if a member that this library does not know is not 0.
 * Flags are 0 or 1. The library copies the texts and lists it gets, unless a comment says how long they must stay. */

typedef enum octavo_type OCTAVO_INT {
  OCTAVO_FLOAT64 = 0,
  OCTAVO_FLOAT32 = 1,
  OCTAVO_INT64 = 2,
  OCTAVO_INT32 = 3,
  OCTAVO_INT16 = 4,
  OCTAVO_INT8 = 5,
  OCTAVO_UINT64 = 6,
  OCTAVO_UINT8 = 7,
  OCTAVO_UINT32 = 8,
  OCTAVO_BOOL = 9,          /* C's bool: a byte, 0 or 1 */
  OCTAVO_FLOAT16 = 10,      /* IEEE 754 binary16 [2 bytes]; stored bit for bit, as is the next */
  OCTAVO_BFLOAT16 = 11,     /* the upper half of a float32 [2 bytes] */
  OCTAVO_TEXT = 100         /* const char*, ends with 0; for attributes only */
} octavo_type;

/* The properties that all steps of a run share. */
typedef struct octavo_domain {
  size_t size;              /* sizeof(octavo_domain) */
  const char* code;         /* name of the simulation code */
  int dim;                  /* 1-3 */
  int64_t roots[3];         /* cells of level 0; 1 beyond dim */
  int64_t block[3];         /* values of a tree cell (FLASH's nxb, nyb, nzb); 1 beyond dim */
  int unfolded;             /* boxes only: their level 0 lies this many levels below the roots. Along each axis the
                               domain has (cells of level 0) / (block << unfolded) roots */
  double lo[3], hi[3];      /* corners [code length] */
  int periodic[3];          /* flags */
  double unit_length;       /* one code unit [cm] */
  double unit_density;      /* one code unit [g/cm^3] */
  double unit_time;         /* one code unit [s] */
  int first_level;          /* the code's own number of level 0 (of the boxes' level 0) */
} octavo_domain;

/* A tree: this rank's cells, level after level. The k-th refined cell of a level (k from 0) has 2^dim children: cells
 * k * 2^dim to (k + 1) * 2^dim - 1 of the next level, x fastest. */
typedef struct octavo_tree {
  size_t size;                    /* sizeof(octavo_tree) */
  int levels;
  const int64_t* cells_of_level;  /* [levels] */
  const uint8_t* refined;         /* [cells] flag */
  const uint8_t* owned;           /* [cells] flag: this rank owns the cell; each leaf has one owner */
  int64_t num_intervals;          /* level 0 holds these intervals of roots; 0: it holds all roots of the domain, or
                                     none where it has no cells. Roots are numbered from 0, x fastest */
  const int64_t* held;            /* [num_intervals][2] ascending: first root, one past the last root */
} octavo_tree;

/* This rank's blocks of a tree, refined ones too, in any order. The library finds the tree; fields that are put
 * afterwards have their values in this order, and no `order` of their own. */
typedef struct octavo_blocks {
  size_t size;                    /* sizeof(octavo_blocks) */
  int64_t blocks;
  const int32_t* level;           /* [blocks] the code's own numbers */
  const int64_t* position;        /* [blocks][3] in blocks of the level, from 0; 0 beyond dim */
  const uint8_t* refined;         /* [blocks] flag: the block has children, on this rank or another */
} octavo_blocks;

/* This rank's boxes, as in AMReX. They are half-open and count cells of their level; beyond dim they span 0 to 1. */
typedef struct octavo_boxes {
  size_t size;                    /* sizeof(octavo_boxes) */
  int levels;
  const int64_t* domain;          /* [levels][2][3] the box of all cells of each level: lower corner, upper corner */
  const int* ratio;               /* [levels - 1] refinement from each level to the next; a store takes 2 and 4 */
  const int64_t* boxes_of_level;  /* [levels] */
  const int64_t* boxes;           /* [boxes][2][3] level after level; stores and FLASH need whole blocks */
} octavo_boxes;

/* This rank's triangles, or its prisms between planes of triangles. Several ranks may hold the same point or triangle,
 * but at least one rank holds each number from 0 up. */
typedef struct octavo_triangles {
  size_t size;                    /* sizeof(octavo_triangles) */
  int64_t points;                 /* in one plane; may be 0 */
  int64_t triangles;              /* in one plane */
  int planes;                     /* 1: 2-D; more: 3-D, with values plane after plane from the bottom up */
  const double* x;                /* [points] */
  const double* y;                /* [points] */
  const int64_t* connectivity;    /* [triangles][3] numbers of points on this rank, from 0 */
  const int64_t* global_point;    /* [points] numbers in the whole mesh, from 0; NULL: same as on this rank */
  const int64_t* global_triangle; /* [triangles] numbers in the whole mesh, from 0; NULL on all ranks: numbered by
                                     their lowest point */
  const int32_t* boundary;        /* SERAFIN: [points] IPOBO: position on the boundary from 1, 0 inside; or NULL */
  const char* geometry;           /* SERAFIN, MED: a file of the whole mesh that gives connectivity, IPOBO, origin and,
                                     in MED, groups; or NULL */
} octavo_triangles;

typedef enum octavo_space OCTAVO_INT {
  OCTAVO_HOST = 0,
  OCTAVO_DEVICE = 1         /* memory of an accelerator, of CUDA's driver: for puts (docs/devices.md) */
} octavo_space;

typedef enum octavo_centring OCTAVO_INT {
  OCTAVO_CELL = 0,
  OCTAVO_FACE_X = 1,        /* trees only: a block has one more value along the axis. The step stores the low and */
  OCTAVO_FACE_Y = 2,        /* high faces of each cell as the fields NAME_left and NAME_right. A field that is put */
  OCTAVO_FACE_Z = 3,        /* under one of these two names has one value per cell */
  OCTAVO_NODE = 4
} octavo_centring;

/* The memory that holds the values of a field or particle attribute. Counted in elements, value (cell, x, y, z,
 * component) is at values + place * stride_cell + (x + ghost) * stride[0] + (y + ghost) * stride[1]
 * + (z + ghost) * stride[2] + component * stride_component. Here place is order[cell], or cell if order is NULL.
 * end_step reads the values of a put: they must stay until it returns. With the option `lend` of a store they must stay
 * until begin_step, wait or close returns. Device memory too may change as soon as end_step returns. */
typedef struct octavo_array {
  size_t size;                    /* sizeof(octavo_array) */
  octavo_type type;
  octavo_space space;             /* the memory that `values` or `boxes` points to; managed memory counts as either */
  octavo_centring centring;       /* for fields */
  int components;
  int ghost;                      /* ghost values on each side of a block or box, along each dimension */
  void* values;                   /* first element, ghosts included; puts read, gets write; may be NULL for 0 cells */
  int64_t cells;                  /* tree cells (blocks), points of all planes, particles; boxes, or cells of all boxes */
  int64_t stride_cell;            /* strides may be negative. A stride of 0 means packed: it then follows from the */
  int64_t stride[3];              /* strides before it, in the order component, x, y, z, cell */
  int64_t stride_component;
  const int64_t* order;           /* [cells] place of each tree cell in memory, from 0; -1: it has none, such as a root
                                     of another rank; NULL: the tree's order */
  void* const* boxes;             /* [cells] for boxes with separate arrays: the `values` of each box; or NULL */
  void* stream;                   /* of device memory: the CUstream (cudaStream_t) whose work so far the values wait for;
                                     NULL: the default stream. end_step asks for this work; in a series, the put does */
} octavo_array;

/* ---- targets: where a writer writes to, and how */

typedef struct octavo_writer octavo_writer;
typedef struct octavo_restart octavo_restart;

typedef enum octavo_kind OCTAVO_INT {
  OCTAVO_STORE = 0,               /* Octavo's own: any mesh; checkpoints and analysis steps */
  OCTAVO_FLASH = 1,               /* one FLASH checkpoint file per step: trees, boxes */
  OCTAVO_AMREX_PLOTFILE = 2,      /* one directory per step: boxes, trees */
  OCTAVO_AMREX_CHECKPOINT = 3,    /* one directory per step: boxes, trees; needs the attribute level_dt */
  OCTAVO_SERAFIN = 4,             /* one file for all steps: triangles */
  OCTAVO_MED = 5                  /* one file for all steps: triangles */
} octavo_kind;

typedef struct octavo_target {
  size_t size;                    /* sizeof(octavo_target) */
  octavo_kind kind;
  const char* path;               /* store, SERAFIN, MED; FLASH and AMReX: NULL, as begin_step gets each step's path */
  const char* options;            /* store: a TOML file, or NULL; OCTAVO_* environment variables override it */
  const octavo_restart* from;     /* store: the restart that this run continues, or NULL; used only while opening */
  int background;                 /* other targets: 0: end_step itself writes the step */
  int sync;                       /* other targets: a step is on disk before it gets its name or the file shows it */
  int bound_thread;               /* other targets: the background thread stays on the cores its rank is bound to */
  int checksums;                  /* FLASH, AMReX: each array gets one while it is copied, compared before writing */
  int collect;                    /* FLASH: rank 0 alone writes, in end_step */
  const char* const (*names)[2];  /* FLASH: [num_names] name of a field, its name in the file; or NULL */
  int64_t num_names;
  int files;                      /* AMReX: data files per level; 0: one per GiB */
  int64_t max_box;                /* AMReX, from a tree: longest side of a box [cells] */
  const char* multifab;           /* AMReX checkpoint: name of the MultiFab that holds all fields; NULL: phi */
  const char* title;              /* SERAFIN, MED: up to 72 characters; AMReX checkpoint: line 1 of Header; or NULL */
  const octavo_triangles* mesh;   /* SERAFIN, MED: the mesh of all steps */
  const char* const (*variables)[2]; /* SERAFIN, MED: [num_variables] name, unit; up to 16 characters each */
  int64_t num_variables;
  int double_precision;           /* SERAFIN, MED: 0: values of 4 bytes, 1: of 8 */
  int little_endian;              /* SERAFIN */
  int dated;                      /* SERAFIN, MED: the file gets `date` */
  int date[6];                    /* year, month, day, hour, minute, second */
  int origin[2];                  /* SERAFIN, MED: readers add it to x and y [m] */
  int writers;                    /* SERAFIN, MED: ranks that write; 0: one per host */
  int64_t alignment;              /* SERAFIN, MED: each unit of this size in the file has one writer only [bytes] */
  int ranks_per_node;             /* SERAFIN, MED: groups of this many ranks act as hosts; 0: the real hosts */
  int resume;                     /* SERAFIN, MED: append to an existing file, after its last step up to resume_time */
  double resume_time;             /* [s] default 1e300: append after the last step */
  int64_t staging_bytes;          /* FLASH, AMReX: memory for the copy of a step; end_step writes a larger one itself */
  int replace;                    /* FLASH: a file that has the step's name stays until the step is complete, and is
                                     then replaced */
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

/* Losses that a step survives: options partner_every, xor_every, rs_every and drain_every of a run with a staging
 * directory. */
typedef enum octavo_safety OCTAVO_INT {
  OCTAVO_SAFE_LOCAL = 0,    /* the end of the job */
  OCTAVO_SAFE_PARTNER = 1,  /* the loss of a node: another has a copy */
  OCTAVO_SAFE_XOR = 2,      /* the loss of any one node of a group */
  OCTAVO_SAFE_RS = 3,       /* the loss of any two nodes of a group */
  OCTAVO_SAFE_STORE = 4     /* the loss of all nodes */
} octavo_safety;

/* Tells whether to write this step. A store's options checkpoint.every and analysis.every decide; other targets take
 * every step. Call it at every step of the simulation. It is collective if the options count wall time. */
OCTAVO_API int octavo_writer_due(
    octavo_writer* writer,
    octavo_flow flow,
    int64_t step,
    double time,
    int* due,                     /* out: flag */
    octavo_error* error);

/* If it fails on one rank, end_step returns the error on all, unless another begin_step succeeds first. */
OCTAVO_API int octavo_writer_begin_step(
    octavo_writer* writer,
    octavo_flow flow,             /* store */
    const char* path,             /* FLASH, AMReX: this step's file or directory, which must not exist (FLASH: unless
                                     `replace`); others: NULL */
    int64_t step,                 /* store, FLASH, AMReX */
    double time,                  /* [code time]; SERAFIN, MED: [s] */
    octavo_error* error);

#define OCTAVO_SCALAR (-1)        /* as `count`: a single value, not an array */

/* Adds a named value to the step, the same on all ranks. FLASH: an entry of its lists ("real scalars/dt"). AMReX:
 * "level_steps", and "level_dt" (doubles): the time step of each level, or one for all levels. FLASH: "flash/kind"
 * ("plotfile": particles are left out), "flash/metadata bytes" (4: positions of blocks in single precision). */
OCTAVO_API int octavo_writer_put_attribute(
    octavo_writer* writer,
    const char* name,
    octavo_type type,             /* OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT */
    const void* values,           /* [count] int64_t, double or const char*; copied */
    int64_t count,                /* or OCTAVO_SCALAR */
    octavo_error* error);

/* Gives the units of this step, if they are not the domain's: those of a comoving box change with time. */
OCTAVO_API int octavo_writer_put_units(
    octavo_writer* writer,
    double length,                /* [cm] */
    double density,               /* [g/cm^3] */
    double time,                  /* [s] */
    octavo_error* error);

/* Adds a list of named values, as FLASH has them: the attribute LIST holds the names, LIST/NAME the value of each. */
OCTAVO_API int octavo_writer_put_list(
    octavo_writer* writer,
    const char* list,
    const char* const* names,     /* [count] */
    octavo_type type,             /* OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT */
    const void* values,           /* [count] int64_t, double or const char*; copied */
    int64_t count,
    octavo_error* error);

/* Gives this rank's mesh, before its fields, by one of these four. The library copies it. SERAFIN and MED take theirs
 * from octavo_target. */
OCTAVO_API int octavo_writer_put_tree(octavo_writer* writer, const octavo_tree* tree, octavo_error* error);
OCTAVO_API int octavo_writer_put_blocks(octavo_writer* writer, const octavo_blocks* blocks, octavo_error* error);
OCTAVO_API int octavo_writer_put_boxes(octavo_writer* writer, const octavo_boxes* boxes, octavo_error* error);
OCTAVO_API int octavo_writer_put_triangles(octavo_writer* writer, const octavo_triangles* triangles, octavo_error* error);

/* Gives a field on the mesh: a block of values per tree cell, a value per cell of each box, or a value per point.
 * SERAFIN and MED copy it at once. A put returns errors in its own arguments (NULL, a negative count, an unknown type);
 * end_step returns errors that only the whole step shows. */
OCTAVO_API int octavo_writer_put_field(
    octavo_writer* writer,
    const char* name,
    const char* unit,             /* or NULL */
    const octavo_array* array,
    octavo_error* error);

/* Gives an attribute of this rank's particles. Positions are called position_x, position_y, position_z. FLASH: one
 * species only, and each particle lies in a leaf block that this rank owns. AMReX: a particle may lie in any rank's
 * box. */
OCTAVO_API int octavo_writer_put_particles(
    octavo_writer* writer,
    const char* species,
    const char* attribute,
    const char* unit,             /* or NULL */
    const octavo_array* array,
    octavo_error* error);

/* Gives bytes of this rank alone, such as the state of its random numbers. The library copies them. Stores only. */
OCTAVO_API int octavo_writer_put_bytes(
    octavo_writer* writer,
    const char* name,
    const void* bytes,
    int64_t count,
    octavo_error* error);

/* Collective. Takes the step for writing. All ranks get the error if a put failed on any rank; the step is then not
 * taken. All ranks also get the error if an earlier step failed in the background. The message names that step, and
 * this step is still taken. */
OCTAVO_API int octavo_writer_end_step(octavo_writer* writer, octavo_error* error);

/* Collective. Tells whether all ranks have written all steps; does not wait. Each step that is complete gets its name:
 * until then a FLASH file or AMReX directory is called PATH.partial. */
OCTAVO_API int octavo_writer_finished(
    octavo_writer* writer,
    int* all,                     /* out: flag */
    octavo_error* error);

/* Collective. Waits until all steps so far are durable and have their names. With a staging directory, a step is
 * durable once it is on the local disks. */
OCTAVO_API int octavo_writer_wait(octavo_writer* writer, octavo_error* error);

/* Counts the steps that are durable, and those that a SERAFIN or MED file had when it was opened. */
OCTAVO_API int octavo_writer_get_steps(
    const octavo_writer* writer,
    int64_t* steps,               /* out */
    octavo_error* error);

/* Gives the newest step of a flow that all ranks know to be durable and to survive at least what `safety` says. Not
 * collective, and it does not wait. Analysis steps survive the loss of a node only in the store. */
OCTAVO_API int octavo_writer_newest_safe(
    const octavo_writer* writer,
    octavo_flow flow,             /* targets other than a store: OCTAVO_CHECKPOINT */
    octavo_safety safety,         /* OCTAVO_SAFE_LOCAL: durable; OCTAVO_SAFE_STORE: drained to the store itself */
    int* any,                     /* out: flag: there is one */
    int64_t* step,                /* out, if there is one */
    octavo_error* error);

/* Collective. Gives figures of this rank and of all ranks as JSON: {"rank": {...}, "total": {...}}. docs/measuring.md
 * lists the keys. */
OCTAVO_API int octavo_writer_get_statistics(
    octavo_writer* writer,
    char* text,                   /* out, with its closing 0 */
    size_t size,                  /* of text [bytes]; 2048 suffice */
    octavo_error* error);

/* Collective. Waits as octavo_writer_wait does, and until the staging directory is drained. Then frees the writer, even
 * if it fails. */
OCTAVO_API int octavo_writer_close(
    octavo_writer** writer,       /* becomes NULL */
    octavo_error* error);

/* ---- restarting: a rank's share of a step, whatever number of ranks wrote it */

typedef struct octavo_restart_options {
  size_t size;                    /* sizeof(octavo_restart_options) */
  octavo_flow flow;               /* of a store */
  int64_t step;                   /* < 0: the newest that is complete and undamaged */
  const char* options;            /* the writer's TOML file, or NULL. Only staging_directory, ranks_per_node and
                                     remember_failed_restarts are used; OCTAVO_* environment variables override it */
  const char* const* fields;      /* [num_fields] names; NULL: all */
  int64_t num_fields;
  int particles;                  /* 0: none are read */
  int keep_parts;                 /* 1: with as many ranks as parts, rank i gets part i; 0: always equal shares */
  int refine;                     /* refine the leaves of the finest level this many times, to go on with a finer mesh;
                                     vectors on faces keep their divergence */
  int64_t block[3];               /* cells of a block, 1 beyond dim; {1, 1, 1}: single cells; {0, 0, 0}: as stored */
  int fill;                       /* with `block`: cells that the step does not hold may be filled from coarser ones */
  int constant;                   /* refine and fill: 1: copy the coarser value; 0: use limited slopes */
  const char* const* per_mass;    /* refine and fill: [num_per_mass] more fields that are amounts per mass; or NULL */
  int64_t num_per_mass;
  int boxes;                      /* 1: the share comes as boxes */
  int64_t max_box;                /* longest side of a box [cells] */
  const int64_t* points;          /* triangles: [num_points] this rank gets the points of these numbers, in this order,
                                     and no triangles; on all ranks or none. NULL: equal numbers of triangles */
  int64_t num_points;
  int opaque;                     /* 1: read the bytes of octavo_writer_put_bytes, too */
  int held_roots;                 /* trees: 1: level 0 has only the roots that this rank holds, listed in octavo_tree;
                                     0: all roots of the domain, with zeros for those of other ranks */
  int once;                       /* 1: a field's memory is freed when octavo_restart_get_field or _get_particles has copied
                                     it, so that a rank holds its share and one field more; a second call for the field
                                     returns OCTAVO_USAGE. 0: the restart keeps all values until it is freed */
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

/* The restart owns the memory behind the pointers. */
typedef struct octavo_restart_info {
  size_t size;                    /* sizeof(octavo_restart_info) */
  int64_t step;                   /* -1: there is none */
  double time;                    /* [code time] */
  const octavo_domain* domain;    /* the step's */
  octavo_mesh mesh;               /* kind of mesh of this rank's share */
  int levels;                     /* of a tree or of boxes */
  int64_t cells;                  /* of a tree, on all levels */
  int64_t boxes;                  /* on all levels */
  int64_t values;                 /* values of a one-component field: in all blocks, all boxes, or at all points */
  int64_t num_fields;             /* fields, and attributes of all species */
  int64_t num_notes;
  const char* const* notes;       /* [num_notes] messages to the user, the same on all ranks: damage, skipped steps */
} octavo_restart_info;

/* If restart is NULL (there is no checkpoint yet), step is -1 and all else is empty. */
OCTAVO_API int octavo_restart_get_info(const octavo_restart* restart, octavo_restart_info* info, octavo_error* error);

/* The restart owns the texts. */
typedef struct octavo_field_info {
  size_t size;                    /* sizeof(octavo_field_info) */
  const char* name;
  const char* unit;
  const char* species;            /* "" for a field of the mesh */
  octavo_type type;
  octavo_centring centring;
  int components;
  int64_t count;                  /* for a species: its particles on this rank */
} octavo_field_info;

OCTAVO_API int octavo_restart_get_field_info(
    const octavo_restart* restart,
    int64_t index,                /* from 0: fields, then the attributes of all species */
    octavo_field_info* info,
    octavo_error* error);

/* Returns the number of elements of an attribute: 1 for a number or a text, -1 if there is none of this name. */
OCTAVO_API int64_t octavo_restart_get_attribute_count(const octavo_restart* restart, const char* name);

OCTAVO_API int octavo_restart_get_attribute(
    const octavo_restart* restart,
    const char* name,
    octavo_type type,             /* OCTAVO_INT64, OCTAVO_FLOAT64 or OCTAVO_TEXT: the type it was put with */
    void* values,                 /* out: [count] int64_t, double or const char*; the restart owns the texts */
    int64_t count,                /* as octavo_restart_get_attribute_count returns it */
    octavo_error* error);

/* Gives this rank's share of the mesh. The restart owns the arrays. Returns OCTAVO_USAGE for another kind of mesh. */
OCTAVO_API int octavo_restart_get_tree(octavo_restart* restart, octavo_tree* tree, octavo_error* error);
OCTAVO_API int octavo_restart_get_boxes(octavo_restart* restart, octavo_boxes* boxes, octavo_error* error);
OCTAVO_API int octavo_restart_get_triangles(octavo_restart* restart, octavo_triangles* triangles, octavo_error* error);

/* Fills the array and leaves its ghosts as they are. The array has the field's type, or a wider one that holds each value
 * exactly: float32 may be read as float64 (a store written with single_precision holds float64 fields as float32),
 * float16 and bfloat16 as float32 or float64, bool as uint8. Returns OCTAVO_USAGE for any other type. */
OCTAVO_API int octavo_restart_get_field(
    octavo_restart* restart,
    const char* name,
    const octavo_array* array,
    octavo_error* error);

/* Returns the number of particles of a species on this rank; 0 if the step does not have the species. */
OCTAVO_API int64_t octavo_restart_get_particle_count(const octavo_restart* restart, const char* species);

/* Fills the array with an attribute of this rank's particles, as octavo_restart_get_field does with a field. */
OCTAVO_API int octavo_restart_get_particles(
    octavo_restart* restart,
    const char* species,
    const char* attribute,
    const octavo_array* array,
    octavo_error* error);

/* Gives the bytes that octavo_writer_put_bytes took, if the restart was opened with `opaque`. Returns OCTAVO_USAGE if
 * there are none. */
OCTAVO_API int octavo_restart_get_bytes(
    const octavo_restart* restart,
    int rank,                     /* of the run that wrote the step; with as many ranks now: this rank's own number */
    const char* name,
    const void** bytes,           /* out; the restart owns them */
    int64_t* count,               /* out */
    octavo_error* error);

/* The neighbours of this rank's triangles: the contents of TELEMAC's PAR and CLI files. Points and triangles have their
 * numbers in this rank's share, from 0. Ranks are those of the communicator. The restart owns the arrays. */
typedef struct octavo_neighbours {
  size_t size;                    /* sizeof(octavo_neighbours) */
  int64_t shared;                 /* points that other ranks have, too; ascending by their number in the whole mesh */
  const int32_t* shared_point;    /* [shared] */
  const int64_t* first;           /* [shared + 1] other ranks of the i-th: rank[first[i]] to rank[first[i + 1] - 1] */
  const int32_t* rank;
  int64_t halo;                   /* triangles that share an edge with another rank's triangle */
  const int32_t* halo_triangle;   /* [halo] */
  const int32_t* behind_rank;     /* [halo][3] rank behind the edge of points 0-1, 1-2, 2-0; -1: nothing */
  const int32_t* behind_triangle; /* [halo][3] triangle there, as that rank numbers it; -1: nothing */
  int64_t boundary;               /* boundary points, in order along the boundary; 0 if the store holds no boundary */
  const int32_t* boundary_point;  /* [boundary] */
  const int32_t* place;           /* [boundary] position along the whole boundary, from 0 */
  const int32_t* liquid;          /* [boundary] number of the liquid boundary from 1; 0: a wall */
  const int64_t* next;            /* [boundary] next point along the boundary, by its number in the whole mesh, if
                                     another rank has the edge to it; else -1 */
  const int64_t* previous;        /* [boundary] the same for the point before */
  const int32_t* codes;           /* [boundary][4] LIHBOR, LIUBOR, LIVBOR, LITBOR */
  const double* values;           /* [boundary][7] HBOR, UBOR, VBOR, AUBOR, TBOR, ATBOR, BTBOR */
  const int32_t* colour;          /* [boundary] last number of the line in the boundary file */
} octavo_neighbours;

/* Collective. Returns OCTAVO_USAGE if the step has no triangles, or was read by points. */
OCTAVO_API int octavo_restart_get_neighbours(
    MPI_Comm comm,
    octavo_restart* restart,
    octavo_neighbours* neighbours,
    octavo_error* error);

/* Collective. Records that the run cannot go on from this step. With remember_failed_restarts, the next restart takes
 * an older one. */
OCTAVO_API int octavo_restart_failed(
    MPI_Comm comm,
    const char* store,
    const octavo_restart* restart,
    octavo_error* error);

/* Collective. Makes files of the store's step that `restart` found, for a code that starts from files of its own. The
 * restart need not have read any field. Returns OCTAVO_USAGE for a step that was stored with a loss.
 *
 * "ramses": an output for as many ranks as there are: rank i writes the files of domain i + 1. output_NNNNN in the
 * current directory is then a link to the output; NNNNN is the step's attribute output_number. octavo_restart_free
 * removes the files and the link: call it on all ranks once RAMSES has read them.
 * Any other format of cells ("flash", "amrex"): a checkpoint that all ranks write, with the bytes of `octavo convert`. */
OCTAVO_API int octavo_restart_write(
    MPI_Comm comm,
    const char* store,
    octavo_restart* restart,
    const char* format,           /* as `octavo convert --to` has it */
    const char* path,             /* the checkpoint's, which must not exist and which all ranks see; of "ramses" a folder,
                                     of the same name on all nodes, such as /dev/shm or a local disk */
    octavo_error* error);

/* Local. */
OCTAVO_API void octavo_restart_free(octavo_restart** restart); /* becomes NULL */

/* ---- stores: called by one process, which needs no MPI */

/* Lists the complete steps of a flow, ascending. */
OCTAVO_API int octavo_list_steps(
    const char* store,
    octavo_flow flow,
    int64_t capacity,             /* elements of steps and of times */
    int64_t* steps,               /* out: [capacity], or NULL */
    double* times,                /* out: [capacity], or NULL */
    int64_t* count,               /* out: number of steps, which may exceed capacity */
    octavo_error* error);

/* A box of cells of one level, counted from 0 at the domain's lower corner. */
typedef struct octavo_box {
  size_t size;                    /* sizeof(octavo_box) */
  octavo_flow flow;               /* stores only */
  int64_t step;                   /* stores only; < 0: the newest that is complete and undamaged */
  int level;                      /* the code's own number */
  int64_t lower[3], upper[3];     /* half-open, in cells of the level; 0 and 1 beyond dim */
} octavo_box;

/* Opens a step and reads the values of fields on a box of cells. A coarser leaf gives its value to all cells inside it; a
 * refined cell gives the value that the step holds for it. One call for all fields opens the step's files once; a call
 * for each field opens them as many times. Returns OCTAVO_UNSUPPORTED for triangles. */
OCTAVO_API int octavo_read_box(
    const char* path,             /* a store, or an output of FLASH, AMReX or RAMSES */
    const octavo_box* box,
    int64_t num_fields,
    const char* const* fields,    /* [num_fields] names */
    const octavo_array* arrays,   /* [num_fields], each of one array cell with upper - lower values along each axis;
                                     ghosts stay as they are. Its type is the field's, or a wider one as in
                                     octavo_restart_get_field */
    int64_t* missing,             /* out: [num_fields] cells without a value, whose memory stays as it is; may be NULL */
    octavo_error* error);

/* A box of coordinates in a mesh of triangles, and the caller's memory for the points inside and for the triangles whose
 * three points are all inside. */
typedef struct octavo_points {
  size_t size;                    /* sizeof(octavo_points) */
  octavo_flow flow;               /* stores only */
  int64_t step;                   /* < 0: the newest; in a file of many steps its number from 0 */
  double lower[2], upper[2];      /* half-open, of x and y [code length]; SERAFIN, MED: [m] */
  int64_t capacity;               /* points for which the arrays have room; 0: count only */
  int64_t* number;                /* out: [capacity] in the whole mesh from 0, ascending; or NULL */
  double* x;                      /* out: [capacity], or NULL */
  double* y;                      /* out: [capacity], or NULL */
  double* values;                 /* out: [planes][capacity] of the field, or NULL */
  int64_t triangle_capacity;      /* triangles for which the arrays have room */
  int64_t* triangle;              /* out: [triangle_capacity] in the whole mesh from 0, ascending; or NULL */
  int64_t* corners;               /* out: [triangle_capacity][3] indices of points in `number`; or NULL */
  int64_t points, triangles;      /* out: how many there are, which may exceed the capacities */
  int planes;                     /* out */
} octavo_points;

/* Opens a step and reads the points of a mesh of triangles in a box, with a field's values. Call it with the capacities
 * 0 to learn how much memory it takes. Returns OCTAVO_UNSUPPORTED for cells. */
OCTAVO_API int octavo_read_points(
    const char* path,             /* a store, or a SERAFIN, MED or VTKHDF file */
    const char* field,            /* or NULL: no values */
    octavo_points* points,
    octavo_error* error);

/* Forgets the steps that octavo_restart_failed recorded: restarts may take them again. */
OCTAVO_API int octavo_forget_failed_restarts(const char* store, octavo_error* error);

/* ---- defaults: inline functions, so that the sizes are those that the program was compiled with */

static inline octavo_domain octavo_domain_default(void) { /* a cube of one cell */
  octavo_domain it = {sizeof(octavo_domain), "", 3, {1, 1, 1}, {1, 1, 1}, 0, {0, 0, 0}, {1, 1, 1}, {0, 0, 0}, 1, 1, 1,
                      0};
  return it;
}
static inline octavo_tree octavo_tree_default(void) { /* no levels */
  octavo_tree it = {sizeof(octavo_tree), 0, NULL, NULL, NULL, 0, NULL};
  return it;
}
static inline octavo_blocks octavo_blocks_default(void) { /* no blocks */
  octavo_blocks it = {sizeof(octavo_blocks), 0, NULL, NULL, NULL};
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
/* Values of all cells, one cell after another; within a cell, components vary fastest, then x. */
static inline octavo_array octavo_array_packed(octavo_type type, const void* values, int64_t cells) {
  octavo_array it = {sizeof(octavo_array), OCTAVO_FLOAT64, OCTAVO_HOST, OCTAVO_CELL, 1, 0, NULL, 0, 0, {0, 0, 0}, 0,
                     NULL, NULL, NULL};
  it.type = type;
  it.values = (void*)(uintptr_t)values;
  it.cells = cells;
  return it;
}
static inline octavo_target octavo_target_default(octavo_kind kind) { /* in the background, synced, with checksums */
  octavo_target it = {sizeof(octavo_target), OCTAVO_STORE, NULL, NULL, NULL, 1, 1, 0, 1, 0, NULL, 0, 0, 64, NULL, NULL,
                      NULL, NULL, 0, 0, 0, 0, {0, 0, 0, 0, 0, 0}, {0, 0}, 0, 4096, 0, 0, 1e300, 268435456, 0};
  it.kind = kind;
  return it;
}
static inline octavo_restart_options octavo_restart_options_default(void) { /* the newest checkpoint, all of it */
  octavo_restart_options it = {sizeof(octavo_restart_options), OCTAVO_CHECKPOINT, -1, NULL, NULL, 0, 1, 1, 0, {0, 0, 0},
                               0, 0, NULL, 0, 0, 64, NULL, 0, 0, 0, 0};
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
static inline octavo_points octavo_points_default(void) { /* a square of the newest checkpoint, and no memory */
  octavo_points it = {sizeof(octavo_points), OCTAVO_CHECKPOINT, -1, {0, 0}, {1, 1}, 0, NULL, NULL, NULL, NULL, 0, NULL, NULL, 0, 0, 0};
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
