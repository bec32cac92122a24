#pragma once
#include <filesystem>

#include "octavo/telemac/cut/partition.hpp"

namespace octavo::telemac {

/// Throws Error(usage) if partitioning would replace one of its inputs (the mesh, the boundary, a further input or a
/// side file), also through a link. The message names both. It also throws if partitioning would replace a file that
/// does not begin like a piece, unless options.overwrite allows this. Call it before anything is written, when the
/// number of parts is known. It lists the folder of the prefix, which must exist.
void require_inputs_stay(const std::filesystem::path& mesh, const std::filesystem::path& prefix,
                         const PartitionOptions& options);

/// Throws Error(usage) if the folder of a prefix or of a new file does not exist.
void require_folder(const std::filesystem::path& prefix);

/// Throws Error(usage) if one of `outs` is one of the inputs, also through a link. The message names both.
void require_inputs_stay(const std::vector<std::filesystem::path>& outs,
                         const std::vector<std::filesystem::path>& inputs);

/// Throws Error(usage) if the path exists and does not begin like a piece: SERAFIN, an index, lines of numbers, MED or
/// a store. An empty file is a piece, too: the lines of a part without boundary.
void require_piece(const std::filesystem::path& path);

/// Throws Error(usage) that names the mesh for no parts, or for more parts than elements. If a cut was given, more
/// parts than elements are Error(corrupt), because the cut then belongs to another mesh.
void require_parts(const PartitionOptions& options, std::int64_t elements, const std::filesystem::path& mesh);
/// Throws Error(usage) if `boundary_first` would leave parts empty, because it moves `along` elements to the first
/// part.
void require_parts_off_boundary(std::int64_t along, std::int64_t elements, const PartitionOptions& options);

/// Throws Error(corrupt) if the cut was given and its number of elements is not that of the mesh.
void require_cut_of(std::int64_t entries, std::int64_t elements, const PartitionOptions& options);
/// Throws Error(corrupt) if the cut's highest part number, `part`, is not below the number of parts.
void require_part(std::int32_t part, const PartitionOptions& options);
/// Throws Error(corrupt) if `empty` parts of the cut have no element, because TELEMAC cannot run them.
void require_no_empty(std::int64_t empty, const PartitionOptions& options);

}  // namespace octavo::telemac
