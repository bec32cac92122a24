#pragma once
/// Bytes in files: positioned reads and writes, preallocation, sync, locks, Fortran records, and HDF5 in hdf5/.
/// It may touch the file system, and base.
/// It never interprets bytes as a mesh or a step, and never retries a sync that failed.

#include "octavo/file/directory_lock.hpp"
#include "octavo/file/fortran_record.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/file/whole.hpp"
