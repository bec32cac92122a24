#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/library.hpp"

#include <dlfcn.h>

#include <string>

#include "octavo/base/error.hpp"

namespace octavo::formats::med {
namespace {

Library load() {
  void* handle = dlopen(OCTAVO_MED_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  const auto refuse = [] {
    const char* why = dlerror();
    throw base::Error(base::Kind::unsupported, std::string("MED files need libmedC: ") + (why != nullptr ? why : ""))
        .hint("Debian has it in libmedc11");
  };
  if (handle == nullptr) refuse();
  Library out;
#define OCTAVO_MED_LOAD(name)                                            \
  out.name = reinterpret_cast<decltype(out.name)>(dlsym(handle, #name)); \
  if (out.name == nullptr) refuse();
  OCTAVO_MED_FUNCTIONS(OCTAVO_MED_LOAD)
#undef OCTAVO_MED_LOAD
  return out;
}

}  // namespace

const Library& library() {
  static const Library loaded = load();
  return loaded;
}

std::mutex& lock() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace octavo::formats::med
#endif
