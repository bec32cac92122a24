/* What a peer that lives in a module of its own offers: its libraries must not meet Octavo's in one name space. Functions
 * return 0, or a code with `message` filled in. */
#pragma once
#include <mpi.h>
#include <stddef.h>

enum octavo_peer_way { OCTAVO_PEER_ALONE = 0, OCTAVO_PEER_INDEPENDENT = 1, OCTAVO_PEER_COLLECTIVE = 2 };

struct octavo_peer_step {
  MPI_Comm comm;
  const char* path;   /* of the rank (alone), or of all */
  int way;            /* octavo_peer_way */
  int fields;
  size_t values;      /* of a field, on each rank the same */
  size_t pieces;      /* data sets a field is cut into; divides `values` (alone) */
  int sync;           /* to disk before it returns */
  double* const* data; /* a pointer a field */
};

struct octavo_peer {
  size_t size; /* of this struct: a module of another build is not taken */
  const char* version;
  int shares; /* it can write one file with all ranks */
  int (*write)(const struct octavo_peer_step* step, char* message, size_t size);
  int (*read)(const struct octavo_peer_step* step, char* message, size_t size);
};
/* The module's one symbol: `const struct octavo_peer* octavo_peer_table(void)`. */
