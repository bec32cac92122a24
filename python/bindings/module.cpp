#include <signal.h>

#include <atomic>
#include <exception>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "bindings.hpp"
#include "octavo/base/current_error.hpp"

namespace octavo::bindings {

namespace {

std::atomic<bool> stop_asked = false;
std::atomic<int> guards = 0;
struct sigaction before_int, before_term;

void ask_to_stop(int) { stop_asked = true; }

}  // namespace

StopOnSignal::StopOnSignal() {
  if (guards++ > 0) return;
  stop_asked = false;
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  sigaction(SIGINT, &action, &before_int);
  sigaction(SIGTERM, &action, &before_term);
}

StopOnSignal::~StopOnSignal() {
  if (--guards > 0) return;
  sigaction(SIGINT, &before_int, nullptr);
  sigaction(SIGTERM, &before_term, nullptr);
}

base::Progress progress_from(nb::object callable) {
  // The callable is released under the GIL, whichever thread drops the last copy.
  auto held = std::shared_ptr<nb::object>(new nb::object(std::move(callable)), [](nb::object* object) {
    nb::gil_scoped_acquire gil;
    delete object;
  });
  const bool silent = held->is_none();
  return [held, silent](std::int64_t done, std::int64_t total) {
    if (stop_asked) return false;
    if (silent) return true;
    nb::gil_scoped_acquire gil;
    nb::object answer = (*held)(done, total);
    return answer.is_none() || nb::cast<bool>(answer);
  };
}

namespace {

void raise(const base::Error& error) {
  nb::object make = nb::module_::import_("octavo.errors").attr("make");
  nb::object exception = make(static_cast<int>(error.kind()), error.message(), error.places(), error.advice());
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace
}  // namespace octavo::bindings

NB_MODULE(_core, m) {
  using namespace octavo;
  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const base::Error& error) {
      bindings::raise(error);
    } catch (const std::bad_alloc&) {
      bindings::raise(base::current_error());
    } catch (const std::length_error&) {
      bindings::raise({base::Kind::no_space, "out of memory"});
    } catch (const std::filesystem::filesystem_error&) {
      bindings::raise(base::current_error());
    }
  });
  m.attr("version") = OCTAVO_VERSION;
  bindings::bind_codec(m);
  bindings::bind_mesh(m);
  bindings::bind_store(m);
  bindings::bind_verbs(m);
  bindings::bind_analysis(m);
  bindings::bind_particles(m);
  bindings::bind_diff(m);
  bindings::bind_slices(m);
  bindings::bind_export(m);
  bindings::bind_telemac(m);
  bindings::bind_triangles(m);
}
