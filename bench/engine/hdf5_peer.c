/* Contiguous data sets of doubles in HDF5: a file a rank, or one file with hyperslabs by rank. */
#include <fcntl.h>
#include <hdf5.h>
#include <stdio.h>
#include <unistd.h>

#include "peer.h"

static int failed(char* message, size_t size, const char* what) {
  snprintf(message, size, "HDF5 cannot %s", what);
  return 1;
}

static hid_t access_list(const struct octavo_peer_step* step) {
  hid_t list = H5Pcreate(H5P_FILE_ACCESS);
  if (step->way != OCTAVO_PEER_ALONE) H5Pset_fapl_mpio(list, step->comm, MPI_INFO_NULL);
  return list;
}

static hid_t transfer_list(const struct octavo_peer_step* step) {
  hid_t list = H5Pcreate(H5P_DATASET_XFER);
  if (step->way == OCTAVO_PEER_INDEPENDENT) H5Pset_dxpl_mpio(list, H5FD_MPIO_INDEPENDENT);
  if (step->way == OCTAVO_PEER_COLLECTIVE) H5Pset_dxpl_mpio(list, H5FD_MPIO_COLLECTIVE);
  return list;
}

/* One piece of one field, all ranks' in a shared file. */
static int transfer(const struct octavo_peer_step* step, hid_t file, hid_t list, const char* name, double* values,
                    size_t count, int writing) {
  int rank = 0, ranks = 1;
  if (step->way != OCTAVO_PEER_ALONE) {
    MPI_Comm_rank(step->comm, &rank);
    MPI_Comm_size(step->comm, &ranks);
  }
  const hsize_t mine = count, whole = mine * (hsize_t)ranks, begin = mine * (hsize_t)rank;
  hid_t all = H5Screate_simple(1, &whole, NULL), part = H5Screate_simple(1, &mine, NULL);
  H5Sselect_hyperslab(all, H5S_SELECT_SET, &begin, NULL, &mine, NULL);
  hid_t set = writing ? H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)
                      : H5Dopen2(file, name, H5P_DEFAULT);
  herr_t code = set < 0 ? -1
                : writing ? H5Dwrite(set, H5T_NATIVE_DOUBLE, part, all, list, values)
                          : H5Dread(set, H5T_NATIVE_DOUBLE, part, all, list, values);
  if (set >= 0 && H5Dclose(set) < 0) code = -1;
  H5Sclose(all);
  H5Sclose(part);
  return code < 0;
}

static int transfer_all(const struct octavo_peer_step* step, hid_t file, int writing) {
  const size_t count = step->values / step->pieces;
  hid_t list = transfer_list(step);
  int bad = 0;
  for (int f = 0; f < step->fields; ++f)
    for (size_t p = 0; p < step->pieces; ++p) {
      char name[64];
      snprintf(name, sizeof name, "field%d_%zu", f, p);
      bad |= transfer(step, file, list, name, step->data[f] + p * count, count, writing);
    }
  H5Pclose(list);
  return bad;
}

/* HDF5 flushes to the system, not to the disk. */
static int sync_file(const struct octavo_peer_step* step) {
  int descriptor = open(step->path, O_RDWR);
  int code = descriptor < 0 ? -1 : fdatasync(descriptor);
  if (descriptor >= 0) close(descriptor);
  return code;
}

static int write_step(const struct octavo_peer_step* step, char* message, size_t size) {
  hid_t list = access_list(step);
  hid_t file = H5Fcreate(step->path, H5F_ACC_TRUNC, H5P_DEFAULT, list);
  H5Pclose(list);
  if (file < 0) return failed(message, size, "create the file");
  int bad = transfer_all(step, file, 1);
  bad |= H5Fclose(file) < 0;
  if (bad) return failed(message, size, "write");
  return step->sync && sync_file(step) != 0 ? failed(message, size, "sync") : 0;
}

static int read_step(const struct octavo_peer_step* step, char* message, size_t size) {
  hid_t list = access_list(step);
  hid_t file = H5Fopen(step->path, H5F_ACC_RDONLY, list);
  H5Pclose(list);
  if (file < 0) return failed(message, size, "open the file");
  int bad = transfer_all(step, file, 0);
  bad |= H5Fclose(file) < 0;
  return bad ? failed(message, size, "read") : 0;
}

__attribute__((visibility("default"))) const struct octavo_peer* octavo_peer_table(void);
const struct octavo_peer* octavo_peer_table(void) {
  static const struct octavo_peer table = {sizeof table, H5_VERS_INFO, 1, write_step, read_step};
  return &table;
}
