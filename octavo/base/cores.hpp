#pragma once

namespace octavo::base {

/// The number of cores on which a thread may run after leave_binding() (threads.hpp).
int cores_without_binding() noexcept;

}  // namespace octavo::base
