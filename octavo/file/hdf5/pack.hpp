#pragma once
#include <type_traits>

#include "octavo/base/pack.hpp"
#include "octavo/file/hdf5/hdf5.hpp"

/// Descriptions of data sets as bytes between the processes of one run (base/pack.hpp).
namespace octavo::file::hdf5 {

template <class Way>
void both(Way& way, Member& member) {
  both(way, member.name, member.offset, member.type);
}

template <class Way>
void both(Way& way, Info& info) {
  both(way, info.name, info.shape, info.type, info.members, info.offset, info.missing_filter);
}

template <class Way>
void both(Way& way, Other& other) {
  both(way, other.name, other.what, other.damage);
}

/// The other process opens the file when it reads from it.
template <class Way>
void both(Way& way, File& file) {
  std::filesystem::path path;
  if constexpr (std::is_same_v<Way, base::Put>) path = file.path();
  both(way, path);
  if constexpr (!std::is_same_v<Way, base::Put>) file = open_later(path);
}

}  // namespace octavo::file::hdf5
