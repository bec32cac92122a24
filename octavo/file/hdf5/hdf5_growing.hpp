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

/// An attribute is an integer of 32 bits, 32 flags, a double, or a text of fixed width with its NUL.
struct Flags {
  std::uint32_t bits = 0;
};
using Value = std::variant<std::int32_t, Flags, double, std::string>;
using Values = std::map<std::string, Value>;

/// A group to make, with its attributes.
struct NewGroup {
  std::string name;
  Values values;
};

/// An HDF5 file that grows by steps while others read it. The writer may die at any moment. The file has the groups
/// GROUP/MEMBER (fields, say), and each step adds a group to each of them. A step is visible completely or not at all.
///
/// The tree from the root to the members exists twice; the two copies share everything else. A new step is written
/// first, with links to it in the copy that the file does not show. Then the superblock, less than 100 bytes written in
/// one piece, switches to that copy. The other copy catches up at the next step. Nothing that the file shows is ever
/// changed, whichever of these bytes have reached the disk. The library itself writes nothing (hdf5_overlay.hpp).
///
/// Only one thread may use it at a time. A reader that has the file open sees the steps that existed when it opened it.
/// Its copy is changed after the next step, so if two more steps come before it is done, it may fail and must open the
/// file again.
class Growing {
 public:
  /// Throws Error(unsupported) if the build has no HDF5, or if it cannot change a file of this kind in this way. Values
  /// larger than four times `alignment` begin at multiples of it.
  Growing(const std::filesystem::path& path, const std::string& group, std::uint64_t alignment);
  ~Growing();
  Growing(const Growing&) = delete;
  Growing& operator=(const Growing&) = delete;

  /// The members of the group, sorted by name.
  std::vector<std::string> members() const;
  /// The steps of a member, sorted by name.
  std::vector<std::string> steps(const std::string& member) const;
  /// The number attached to an object; nothing if the object has no such attribute.
  std::optional<double> number(const std::string& object, const std::string& name) const;

  /// Adds a step to a member and attaches `member_values` to the member. `groups` are made one within the other; the
  /// first has the step's name, the last gets `count` numbers. Returns the file offset of the numbers: the caller
  /// writes them there before commit().
  std::uint64_t add(const std::string& member, const Values& member_values, std::span<const NewGroup> groups,
                    const std::string& numbers, const ItemType& type, std::uint64_t count);
  /// Removes a step from a member, and attaches `member_values` to the member.
  void drop(const std::string& member, const std::string& step, const Values& member_values);
  /// Makes the file show everything that was added and dropped. If that fails (a full disk), the file shows its old
  /// content, and the changes are forgotten. With `sync` the new content is on disk afterwards. If the disk fails in
  /// such a way that nobody knows which content it shows, add() and commit() throw Error(unreadable) from then on.
  void commit(bool sync);
  /// Forgets everything that was added and dropped.
  void abandon();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace octavo::file::hdf5
