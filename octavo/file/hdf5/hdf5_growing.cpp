#include "octavo/file/hdf5/hdf5_growing.hpp"

#include <utility>

#ifdef OCTAVO_HAVE_HDF5
#include "octavo/file/hdf5/hdf5_overlay.hpp"
#endif

namespace octavo::file::hdf5 {

using base::Error;
using base::Kind;

#ifdef OCTAVO_HAVE_HDF5

namespace {

Id open_group(hid_t in, const std::string& name) {
  return {H5Gopen2(in, name.c_str(), H5P_DEFAULT), H5Gclose, "open group \"" + name + "\""};
}

// We copy only the creation order. The library also reports link properties of the existing group, and would make them
// part of the new group.
Id new_group(hid_t in, hid_t like) {
  const Id old(H5Gget_create_plist(like), H5Pclose, "read a group's properties");
  const Id properties(H5Pcreate(H5P_GROUP_CREATE), H5Pclose, "make a property list");
  unsigned order = 0;
  check(H5Pget_link_creation_order(old(), &order), "read a group's properties");
  check(H5Pset_link_creation_order(properties(), order), "set a group's properties");
  return {H5Gcreate_anon(in, properties(), H5P_DEFAULT), H5Gclose, "make a group"};
}

std::vector<std::string> links_of(hid_t group) {
  std::vector<std::string> names;
  const auto take = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names), "list a group");
  return names;
}

void copy_value(hid_t from, const char* name, hid_t to) {
  const Id value(H5Aopen(from, name, H5P_DEFAULT), H5Aclose, "open an attribute");
  const Id type(H5Aget_type(value()), H5Tclose, "read an attribute's type");
  const Id space(H5Aget_space(value()), H5Sclose, "read an attribute's shape");
  std::vector<std::byte> bytes(H5Aget_storage_size(value()) + 1);
  check(H5Aread(value(), type(), bytes.data()), "read an attribute");
  const Id copy(H5Acreate2(to, name, type(), space(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose, "make an attribute");
  check(H5Awrite(copy(), type(), bytes.data()), "write an attribute");
}

void copy_values(hid_t from, hid_t to) {
  const auto take = [](hid_t, const char* name, const H5A_info_t*, void* out) -> herr_t {
    static_cast<std::vector<std::string>*>(out)->emplace_back(name);
    return 0;
  };
  std::vector<std::string> names;
  check(H5Aiterate2(from, H5_INDEX_NAME, H5_ITER_INC, nullptr, take, &names), "list attributes");
  for (const std::string& name : names) copy_value(from, name.c_str(), to);
}

template <class T>
void put_value(hid_t to, const std::string& name, hid_t type, const T* value) {
  if (H5Aexists(to, name.c_str()) > 0) check(H5Adelete(to, name.c_str()), "replace attribute " + name);
  const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a space");
  const Id made(H5Acreate2(to, name.c_str(), type, space(), H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                "make attribute " + name);
  check(H5Awrite(made(), type, value), "write attribute " + name);
}

void put_values(hid_t to, const Values& values) {
  for (const auto& [name, value] : values) {
    if (const auto* number = std::get_if<std::int32_t>(&value)) put_value(to, name, H5T_NATIVE_INT32, number);
    if (const auto* flags = std::get_if<Flags>(&value)) put_value(to, name, H5T_NATIVE_B32, &flags->bits);
    if (const auto* real = std::get_if<double>(&value)) put_value(to, name, H5T_NATIVE_DOUBLE, real);
    if (const auto* text = std::get_if<std::string>(&value)) {
      const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
      check(H5Tset_size(type(), text->size() + 1), "make a text type");
      put_value(to, name, type(), text->c_str());
    }
  }
}

/// Links an object without counting the link. The count belongs to the visible tree, where the object has one name; a
/// change of the count would change bytes that the file shows.
void link_uncounted(hid_t object, hid_t in, const std::string& name) {
  check(H5Olink(object, in, name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "name \"" + name + "\"");
  check(H5Odecr_refcount(object), "name \"" + name + "\"");
}

void link_same(hid_t from, hid_t to, const std::string& name) {
  const Id object(H5Oopen(from, name.c_str(), H5P_DEFAULT), H5Oclose, "open \"" + name + "\"");
  link_uncounted(object(), to, name);
}

/// A root group, and the groups that lead from it to the steps.
struct Tree {
  Id root, group;
  std::map<std::string, Id> members{};
};

Tree open_tree(hid_t file, const std::string& group) {
  Tree tree{open_group(file, "/"), open_group(file, group)};
  for (const std::string& name : links_of(tree.group())) tree.members.emplace(name, open_group(tree.group(), name));
  return tree;
}

/// A tree of the same steps under a new root and new members.
Tree copy_of(const Tree& tree, hid_t file, const std::string& group) {
  Tree copy{new_group(file, tree.root()), new_group(file, tree.group())};
  check(H5Oincr_refcount(copy.root()), "keep a root");  // no link keeps the root alive
  copy_values(tree.root(), copy.root());
  copy_values(tree.group(), copy.group());
  for (const std::string& name : links_of(tree.root()))
    if (name != group) link_same(tree.root(), copy.root(), name);
  check(H5Olink(copy.group(), copy.root(), group.c_str(), H5P_DEFAULT, H5P_DEFAULT), "name a group");
  for (const auto& [name, member] : tree.members) {
    Id made = new_group(file, member());
    copy_values(member(), made());
    for (const std::string& step : links_of(member())) link_same(member(), made(), step);
    check(H5Olink(made(), copy.group(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), "name a group");
    copy.members.emplace(name, std::move(made));
  }
  return copy;
}

std::uint64_t place_of(hid_t object) {
  H5O_info_t info;
  check(H5Oget_info(object, &info), "find an object");
  return info.addr;
}

/// A step that a member gains, or loses if `object` is null.
struct Change {
  std::string member, step;
  Values member_values;
  std::shared_ptr<Id> object;
};

hid_t member_of(const Tree& tree, const std::string& name) {
  const auto found = tree.members.find(name);
  if (found == tree.members.end()) throw Error(Kind::usage, "no group \"" + name + "\"");
  return found->second();
}

/// Applies a change to one of the two trees. The `first` tree counts its link to a new step twice. The second tree then
/// needs no change of the count, which the file shows by that time.
void apply(const Tree& tree, const Change& change, bool first) {
  const hid_t member = member_of(tree, change.member);
  put_values(member, change.member_values);
  if (!change.object) {
    const Id object(H5Oopen(member, change.step.c_str(), H5P_DEFAULT), H5Oclose, "open \"" + change.step + "\"");
    check(H5Oincr_refcount(object()), "keep a step");  // the other tree still shows the step
    check(H5Ldelete(member, change.step.c_str(), H5P_DEFAULT), "drop a step");
    return;
  }
  if (first) {
    check(H5Olink((*change.object)(), member, change.step.c_str(), H5P_DEFAULT, H5P_DEFAULT), "name a step");
    check(H5Oincr_refcount((*change.object)()), "name a step");
  } else {
    link_uncounted((*change.object)(), member, change.step);
  }
}

/// Undoes a change in the first tree. Attributes of members stay changed; the next change replaces them.
void undo(const Tree& tree, const Tree& other, const Change& change) {
  const hid_t member = member_of(tree, change.member);
  if (change.object) {
    check(H5Odecr_refcount((*change.object)()), "forget a step");
    check(H5Ldelete(member, change.step.c_str(), H5P_DEFAULT), "forget a step");
  } else {
    link_same(member_of(other, change.member), member, change.step);
  }
}

}  // namespace

struct Growing::State {
  Overlay overlay;
  std::string group;
  std::optional<Id> id;
  std::unique_ptr<Tree> shown, other;
  std::vector<Change> changes, behind;  ///< to come; and those that the other tree lacks
  bool broken = false;                  ///< the other tree is neither in its old nor in its new state
  bool doubtful = false;                ///< the disk may show either tree

  void open(const std::filesystem::path& path, std::uint64_t alignment);
  void emit(const Tree& tree, bool sync);
  void show(std::span<const std::byte> begin, bool sync);
  void require_whole() const;
  ~State();
};

void Growing::State::open(const std::filesystem::path& path, std::uint64_t alignment) {
  if (!has_signature(path)) throw Error(Kind::unsupported, "expected HDF5 from the file's first byte on");
  overlay.file = file::open_write(path);
  overlay.length = overlay.end = size(overlay.file);
  const std::byte version = superblock(overlay.file, 0, 0)[8];
  const Id access = overlay_access(overlay);
  check(H5Pset_alignment(access(), 4 * alignment, alignment), "align values");
  // We write the version of the library that made the file, so that old readers understand it.
  const H5F_libver_t latest = version == std::byte{3} ? H5F_LIBVER_V110 : H5F_LIBVER_V18;
  if (version >= std::byte{2}) check(H5Pset_libver_bounds(access(), H5F_LIBVER_V18, latest), "choose a version");
  id.emplace(H5Fopen(path.c_str(), H5F_ACC_RDWR, access()), H5Fclose, "open the file");
  const Tree found = open_tree((*id)(), group);
  shown = std::make_unique<Tree>(copy_of(found, (*id)(), group));
  other = std::make_unique<Tree>(copy_of(found, (*id)(), group));
}

Growing::State::~State() {
  const Locked locked;
  changes.clear();
  behind.clear();
  shown.reset();
  other.reset();
  id.reset();
}

// Writes the changed bytes from the end of the file backwards, and the superblock last.
void Growing::State::emit(const Tree& tree, bool sync) {
  check(H5Fflush((*id)(), H5F_SCOPE_LOCAL), "put the file together");
  const std::vector<std::byte> begin = superblock(overlay.file, place_of(tree.root()), overlay.end);
  if (size(overlay.file) < overlay.end) resize(overlay.file, overlay.end);
  for (auto change = overlay.changed.rbegin(); change != overlay.changed.rend(); ++change) {
    const auto& [at, bytes] = *change;
    const std::size_t skipped = at < begin.size() ? std::min<std::size_t>(begin.size() - at, bytes.size()) : 0;
    pwrite_all(overlay.file, at + skipped, std::span(bytes).subspan(skipped));
  }
  if (sync) file::sync(overlay.file);
  show(begin, sync);
  overlay.changed.clear();
}

// Writes the superblock, which shows the new tree. If that fails, we restore the old one, also on disk: the next step
// reuses the space of the failed one, so the file must not show it.
void Growing::State::show(std::span<const std::byte> begin, bool sync) {
  std::vector<std::byte> old(begin.size()), now(begin.size());
  pread_all(overlay.file, 0, old);
  try {
    pwrite_all(overlay.file, 0, begin);
    if (sync) file::sync(overlay.file);
  } catch (...) {
    try {
      pread_all(overlay.file, 0, now);
      if (now != old) {
        pwrite_all(overlay.file, 0, old);
        if (sync) file::sync(overlay.file);
      }
    } catch (...) {
      doubtful = true;
    }
    throw;
  }
}

void Growing::State::require_whole() const {
  if (broken || doubtful)
    throw Error(Kind::unreadable, "an earlier failure left in doubt which steps the file shows: nothing can be added")
        .hint("open it again");
}

Growing::Growing(const std::filesystem::path& path, const std::string& group, std::uint64_t alignment)
    : state_(std::make_unique<State>()) {
  const Locked locked;
  state_->group = group;
  try {
    state_->open(path, alignment);
  } catch (Error& error) {
    throw std::move(error.at(path.string()));
  }
}

std::vector<std::string> Growing::members() const {
  std::vector<std::string> names;
  for (const auto& [name, member] : state_->shown->members) names.push_back(name);
  return names;
}

std::vector<std::string> Growing::steps(const std::string& member) const {
  const Locked locked;
  return links_of(member_of(*state_->shown, member));
}

std::optional<double> Growing::number(const std::string& object, const std::string& name) const {
  const Locked locked;
  const Id owner(H5Oopen(state_->shown->root(), object.c_str(), H5P_DEFAULT), H5Oclose, "open \"" + object + "\"");
  if (H5Aexists(owner(), name.c_str()) <= 0) return std::nullopt;
  const Id value(H5Aopen(owner(), name.c_str(), H5P_DEFAULT), H5Aclose, "open attribute " + name);
  double number = 0;
  check(H5Aread(value(), H5T_NATIVE_DOUBLE, &number), "read attribute " + name);
  return number;
}

std::uint64_t Growing::add(const std::string& member, const Values& member_values, std::span<const NewGroup> groups,
                           const std::string& numbers, const ItemType& type, std::uint64_t count) {
  const Locked locked;
  state_->require_whole();
  const hid_t file = (*state_->id)();
  member_of(*state_->shown, member);
  const auto step = std::make_shared<Id>(H5Gcreate_anon(file, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "make a group");
  put_values((*step)(), groups[0].values);
  hid_t last = (*step)();
  std::vector<Id> inner;
  for (const NewGroup& group : groups.subspan(1)) {
    inner.emplace_back(H5Gcreate2(last, group.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                       "make group " + group.name);
    last = inner.back()();
    put_values(last, group.values);
  }
  const hsize_t extent = count;
  const Id space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "make a space");
  const Id properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make a property list");
  check(H5Pset_alloc_time(properties(), H5D_ALLOC_TIME_EARLY), "choose when space is found");
  check(H5Pset_fill_time(properties(), H5D_FILL_TIME_NEVER), "leave values unfilled");
  const hid_t kind = type == float32_type ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
  const Id set(H5Dcreate2(last, numbers.c_str(), kind, space(), H5P_DEFAULT, properties(), H5P_DEFAULT), H5Dclose,
               "make values");
  const haddr_t at = H5Dget_offset(set());
  if (at == HADDR_UNDEF) throw failure("find room for values");
  // The overlay may still hold bytes of a failed step at this place, which must not be written.
  forget(state_->overlay, at, H5Dget_storage_size(set()));
  state_->changes.push_back({member, groups[0].name, member_values, step});
  return at;
}

void Growing::drop(const std::string& member, const std::string& step, const Values& member_values) {
  state_->changes.push_back({member, step, member_values, nullptr});
}

void Growing::commit(bool sync) {
  const Locked locked;
  State& s = *state_;
  s.require_whole();
  s.broken = true;
  for (const Change& change : std::exchange(s.behind, {})) apply(*s.other, change, false);
  for (const Change& change : s.changes) apply(*s.other, change, true);
  std::vector<Change> changes = std::exchange(s.changes, {});
  try {
    s.emit(*s.other, sync);
  } catch (...) {
    for (const Change& change : changes) undo(*s.other, *s.shown, change);
    s.broken = false;
    throw;
  }
  std::swap(s.shown, s.other);
  s.behind = std::move(changes);
  s.broken = false;
}

void Growing::abandon() {
  const Locked locked;
  state_->changes.clear();
}

Growing::~Growing() = default;

#else

struct Growing::State {};
Growing::Growing(const std::filesystem::path& path, const std::string&, std::uint64_t) {
  throw Error(Kind::unsupported, "this build has no HDF5").at(path.string());
}
Growing::~Growing() = default;
std::vector<std::string> Growing::members() const { return {}; }
std::vector<std::string> Growing::steps(const std::string&) const { return {}; }
std::optional<double> Growing::number(const std::string&, const std::string&) const { return std::nullopt; }
std::uint64_t Growing::add(const std::string&, const Values&, std::span<const NewGroup>, const std::string&,
                           const ItemType&, std::uint64_t) {
  return 0;
}
void Growing::drop(const std::string&, const std::string&, const Values&) {}
void Growing::commit(bool) {}
void Growing::abandon() {}

#endif

}  // namespace octavo::file::hdf5
