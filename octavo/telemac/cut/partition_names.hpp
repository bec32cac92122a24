#pragma once
#include <filesystem>

#include "octavo/telemac/cut/partition.hpp"

namespace octavo::telemac {

/// Throws Error(usage), which names both, where a file or store that partitioning would make is the mesh, the boundary,
/// a further input or a side file, also by way of a link. To be asked before anything is written, with the number of
/// parts known. Lists the folder of the prefix, which is to be there. The same for a file there that does not begin as
/// a piece of any kind does, unless it may be replaced.
void require_inputs_stay(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                         const PartitionOptions& options);

/// Throws Error(usage) where the folder that a prefix, or a file, is to be made in is not there.
void require_folder(const std::filesystem::path& prefix);

/// Throws Error(usage), which names both, where one of `outs` is one of the inputs, also by way of a link.
void require_inputs_stay(const std::vector<std::filesystem::path>& outs,
                         const std::vector<std::filesystem::path>& inputs);

/// Throws Error(usage) for what is there and does not begin as pieces do: SERAFIN, an index, lines of numbers, MED, a
/// store; nor is empty, as the lines of a part without boundary are.
void require_piece(const std::filesystem::path& path);

/// Throws Error(usage), which names the mesh, for more parts than elements, or for none; Error(corrupt) for more where
/// a cut was given, which is another mesh's then.
void require_parts(const PartitionOptions& options, std::int64_t elements, const std::filesystem::path& mesh);
/// Throws Error(usage) where `boundary_first` would leave parts empty: `along` elements all go to the first part.
void require_parts_off_boundary(std::int64_t along, std::int64_t elements, const PartitionOptions& options);

/// Throws Error(corrupt) for a cut of another number of elements than the mesh has, where it was given.
void require_cut_of(std::int64_t entries, std::int64_t elements, const PartitionOptions& options);
/// The same for a part that is not there, by the highest number of a part.
void require_part(std::int32_t part, const PartitionOptions& options);
/// The same where so many parts of a cut have no element: TELEMAC cannot run them.
void require_no_empty(std::int64_t empty, const PartitionOptions& options);

}  // namespace octavo::telemac
