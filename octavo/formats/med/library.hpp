#pragma once
// For formats/med alone, in builds that have MED's header.
#include <med.h>

#include <mutex>

namespace octavo::formats::med {

/// The functions that we call in libmedC and in its HDF5. That HDF5 is the parallel one; symbols of both are versioned,
/// so our own works beside it.
#define OCTAVO_MED_FUNCTIONS(each)                                                                                   \
  each(MEDfileOpen) each(MEDfileVersionOpen) each(MEDfileClose) each(MEDfileNumVersionRd) each(MEDlibraryNumVersion) \
      each(MEDfileCommentRd) each(MEDfileCommentWr) each(MEDnMesh) each(MEDmeshInfo) each(MEDmeshnAxis)              \
          each(MEDmeshnEntity) each(MEDmeshCr) each(MEDmeshNodeCoordinateRd) each(MEDmeshNodeCoordinateWr)           \
              each(MEDmeshElementConnectivityRd) each(MEDmeshElementConnectivityWr) each(MEDmeshGlobalNumberRd)      \
                  each(MEDmeshGlobalNumberWr) each(MEDmeshEntityFamilyNumberRd) each(MEDmeshEntityFamilyNumberWr)    \
                      each(MEDnFamily) each(MEDnFamilyGroup) each(MEDfamilyInfo) each(MEDfamilyCr) each(MEDnField)   \
                          each(MEDfieldnComponent) each(MEDfieldInfo) each(MEDfieldComputingStepInfo)                \
                              each(MEDfieldnValue) each(MEDfieldValueRd) each(MEDfieldCr) each(MEDfieldValueWr)      \
                                  each(MEDnParameter) each(MEDparameterInfo) each(MEDparameterValueRd)               \
                                      each(MEDparameterCr) each(MEDparameterValueWr) each(H5Fflush)                  \
                                          each(H5Fget_filesize) each(H5Fget_vfd_handle) each(H5Eset_auto2)

struct Library {
#define OCTAVO_MED_POINTER(name) decltype(&::name) name = nullptr;
  OCTAVO_MED_FUNCTIONS(OCTAVO_MED_POINTER)
#undef OCTAVO_MED_POINTER
};

/// Loads the library at the first call. Throws Error(unsupported) if this machine does not have it.
const Library& library();
/// The lock that every use must hold, because neither libmedC nor its HDF5 is thread-safe.
std::mutex& lock();

}  // namespace octavo::formats::med
