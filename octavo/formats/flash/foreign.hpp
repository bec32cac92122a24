#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "octavo/formats/flash/lists.hpp"
#include "octavo/formats/flash/schema.hpp"

/// What a FLASH file holds that is not FLASH's: groups and what is in them, other data sets, attributes. All of it goes
/// through a store as attributes of the step, so that a copy of the file has it again:
/// - "flash/groups": names ("a", "a/b");
/// - "flash/sets": names of data sets; "flash/sets of blocks": those of them with a row a block, in Morton order;
/// - "flash/set attributes": "OBJECT@NAME", or "@NAME" for the file's own;
/// - for each such name N: its values "flash/values/N", its shape "flash/shape/N", and "flash/type/N", as HDF5's Info
///   has them ("int16", "text of 8 bytes").
/// Links, values in other files, compounds and what else does not fit are named in a note.
namespace octavo::formats::flash {

/// Data sets that the reader has understood, which are not kept here.
using OwnSets = std::set<std::string>;

/// `rows`: of the blocks in Morton order. Together at most 16 MiB are kept: every segment of a store has them.
void keep_foreign(const Source& source, const OwnSets& own, const std::vector<std::int64_t>& rows,
                  Attributes& attributes, std::vector<std::string>& notes);

/// Makes again what was kept, in a file that has all its own data sets. Names that the file has already are its own.
/// Data sets with a row a block are left out where the number of blocks is another, and attributes of objects that are
/// not there.
void write_foreign(const file::hdf5::File& file, std::size_t blocks, const Attributes& attributes);

/// Leaves out what was kept of each block: for another mesh. Returns a note that names the data sets among it; empty
/// where there are none.
std::string forget_blocks(Attributes& attributes);

/// Names of what was kept, for a note where it cannot go along; empty where there is nothing.
std::string foreign_names(const Attributes& attributes);

}  // namespace octavo::formats::flash
