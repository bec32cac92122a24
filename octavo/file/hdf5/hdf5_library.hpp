#pragma once
// For octavo/file only, in builds that have HDF5.
#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

#include "octavo/base/error.hpp"

namespace octavo::file::hdf5 {

/// Must be held around every call: the library's state is global, and not every build of it locks itself.
std::recursive_mutex& library();
/// The innermost message on HDF5's error stack.
std::string library_message();
/// The error "cannot `action`", with HDF5's message.
base::Error failure(const std::string& action);
inline void check(herr_t status, const std::string& action) {
  if (status < 0) throw failure(action);
}

/// Locks the library, and keeps it from printing errors meanwhile.
class Locked {
 public:
  Locked() : lock_(library()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Locked() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  std::lock_guard<std::recursive_mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// An HDF5 identifier, and the function that releases it.
class Id {
 public:
  Id(hid_t id, herr_t (*close)(hid_t), const std::string& action) : id_(id), close_(close) {
    if (id < 0) throw failure(action);
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&&) = delete;
  hid_t operator()() const noexcept { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

}  // namespace octavo::file::hdf5
