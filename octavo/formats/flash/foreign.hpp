#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "octavo/formats/flash/lists.hpp"
#include "octavo/formats/flash/schema.hpp"

/// Users add groups, data sets and attributes to FLASH files that FLASH itself does not know. A store keeps them as
/// attributes of the step, so that a copy of the file has them again:
/// - "flash/groups": names ("a", "a/b");
/// - "flash/sets": names of data sets; "flash/sets of blocks": those of them with one row for each block, in Morton
///   order;
/// - "flash/set attributes": "OBJECT@NAME", or "@NAME" for the file's own;
/// - for each such name N: its values "flash/values/N", its shape "flash/shape/N", and its type "flash/type/N", written
///   as in hdf5::Info ("int16", "text of 8 bytes").
/// A note names all that is not kept: links, values in other files, compounds and other types.
namespace octavo::formats::flash {

/// Names of data sets that the reader has understood. They are not kept here.
using OwnSets = std::set<std::string>;

/// `rows`: of the blocks in Morton order. Together at most 16 MiB are kept: every segment of a store has them.
void keep_foreign(const OpenedFlash& source, const OwnSets& own, const std::vector<std::int64_t>& rows,
                  Attributes& attributes, std::vector<std::string>& notes);

/// Writes the kept objects into a file that has all its own data sets already. It leaves out objects whose name the
/// file has, data sets with a row for each block if the number of blocks differs, and attributes of objects that the
/// file does not have.
void write_foreign(const file::hdf5::File& file, std::size_t blocks, const Attributes& attributes);

/// Removes kept data of single blocks, as the mesh is another one: data sets with a row for each block, and FLASH's own
/// lists of blocks. Returns a note that names the removed data sets of the first kind; empty if there are none.
std::string forget_blocks(Attributes& attributes);

/// Lists the names of all kept objects, for a note that they are lost; empty if there are none.
std::string foreign_names(const Attributes& attributes);

}  // namespace octavo::formats::flash
