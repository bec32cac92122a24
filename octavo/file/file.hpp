#pragma once
/// Bytes in files: positioned reads and writes, preallocation, sync, locks and Fortran records; hdf5/ has HDF5.
/// It may touch the file system, and base.
/// It never interprets bytes as a mesh or a step, and never retries a sync that failed.

#include "octavo/file/directory_lock.hpp"
#include "octavo/file/fortran_record.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/file/whole.hpp"
