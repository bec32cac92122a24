#pragma once
#include <nanobind/nanobind.h>

#include <string>

/// Converts between std::string and str. Names in files are bytes that need not be UTF-8. A byte that is not becomes a
/// lone surrogate, as in os.fsdecode(), so that a name that came from a file finds its field again. Replaces
/// nanobind/stl/string.h, which throws UnicodeDecodeError.
namespace nanobind::detail {

template <>
struct type_caster<std::string> {
  NB_TYPE_CASTER(std::string, const_name("str"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept {
    if (!PyUnicode_Check(source.ptr())) return false;
    Py_ssize_t size = 0;
    if (const char* text = PyUnicode_AsUTF8AndSize(source.ptr(), &size)) {
      value.assign(text, static_cast<std::size_t>(size));
      return true;
    }
    PyErr_Clear();
    PyObject* bytes = PyUnicode_AsEncodedString(source.ptr(), "utf-8", "surrogateescape");
    if (bytes == nullptr) {
      PyErr_Clear();
      return false;
    }
    value.assign(PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes)));
    Py_DECREF(bytes);
    return true;
  }

  static handle from_cpp(const std::string& text, rv_policy, cleanup_list*) noexcept {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  }
};

}  // namespace nanobind::detail
