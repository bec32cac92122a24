#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "octavo/file/hdf5/hdf5.hpp"

namespace octavo::file::hdf5 {

/// A number of 32 bits, 32 flags, a double or a text of fixed width, with its NUL.
struct Flags {
  std::uint32_t bits = 0;
};
using Value = std::variant<std::int32_t, Flags, double, std::string>;
using Values = std::map<std::string, Value>;

/// A group to be made, with its attachments.
struct NewGroup {
  std::string name;
  Values values;
};

/// An HDF5 file that grows by steps while others read it, and whose owner may die at any moment: it has the groups
/// GROUP/MEMBER (fields, say), and every step is a group more in each of them. All of a step shows at once or never.
///
/// The group of members exists twice, and so does the root that leads to it; all else both share. New objects, and
/// links to them in the copy that the file does not show, are written first; then the file's superblock, less than 100
/// bytes in one piece, shows the copy. The other one catches up when the next step comes. So nothing that the file
/// shows is ever changed, whichever of these bytes have reached the disk. The library itself writes nothing
/// (hdf5_overlay.hpp).
///
/// Not for several threads. A reader that has the file open sees it as it was; but the copy that it reads is the one to
/// be changed after the next step: if it is not done when two more have come, it may fail, and opens the file again.
class Growing {
 public:
  /// Error(unsupported) where the library is not there, or the file is of a kind that it cannot change so. Values that
  /// are larger than four `alignment` begin at multiples of it.
  Growing(const std::filesystem::path& path, const std::string& group, std::uint64_t alignment);
  ~Growing();
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  /// Members of the group, by name.
  std::vector<std::string> members() const;
  /// Steps of a member, by name.
  std::vector<std::string> steps(const std::string& member) const;
  /// Attached to an object; nothing where it is not there.
  std::optional<double> number(const std::string& object, const std::string& name) const;

  /// Makes a step of a member, groups within one another, the first one named for the step, and `count` numbers in the
  /// last; and attaches `member_values` to the member. Returns where the numbers stand in the file: whoever has them
  /// writes them there, before commit().
  std::uint64_t add(const std::string& member, const Values& member_values, std::span<const NewGroup> groups,
                    const std::string& numbers, const ItemType& type, std::uint64_t count);
  /// Takes a step away from a member, and attaches `member_values` to it.
  void drop(const std::string& member, const std::string& step, const Values& member_values);
  /// Makes the file show all that was added and dropped. If that fails (a full disk), the file shows its old content,
  /// and the changes are forgotten. With `sync` the new content is on disk afterwards. If the disk fails so that nobody
  /// knows which content it shows, add() and commit() throw Error(unreadable) from then on.
  void commit(bool sync);
  /// Forgets all that was added and dropped.
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::file::hdf5
