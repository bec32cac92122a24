#include "octavo/base/current_error.hpp"

#include <exception>
#include <new>

namespace octavo::base {

Error current_error() try { throw; } catch (const Error& error) {
  return error;
} catch (const std::bad_alloc&) {
  return {Kind::no_space, "out of memory"};
} catch (const std::exception& error) {
  return {Kind::unreadable, error.what()};
} catch (...) {
  return {Kind::unreadable, "an exception of no standard type"};
}

}  // namespace octavo::base
