#pragma once

/// Marks of outputs of codes that Octavo wrote itself (step/replaceable.hpp). Readers do not keep them with a step, as
/// a simulation that goes on from it writes outputs of its own.
namespace octavo::formats {

inline constexpr const char* signature_file = "octavo_files.txt";  ///< in a folder: its other files and their sizes
inline constexpr const char* signature_attribute = "octavo";       ///< of an HDF5 file

}  // namespace octavo::formats
