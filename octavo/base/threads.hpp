#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace octavo::base {

/// Returns `requested` if it is positive, otherwise the number of cores that this process may run on.
int thread_count(int requested);

/// Lets the calling thread run on every core of the parent process as well as on its own. mpirun binds a rank to one
/// core; a second thread of that rank would have to share that core while other cores are idle.
void leave_binding() noexcept;

/// Runs work(i) for i in [0, count) on `threads` threads and hands each result to commit(i), in order of i and never
/// two at a time. At most `threads` results wait for commit, so memory is bounded. The order of commits does not depend
/// on the number of threads. The first exception stops the rest and is rethrown here.
///
///     ordered_for(parts, threads, [&](std::size_t i) { return encode(i); },      // parallel
///                                 [&](std::size_t i, Encoded e) { append(e); }); // ordered
template <class Work, class Commit>
void ordered_for(std::size_t count, int threads, Work&& work, Commit&& commit);

/// Runs work(i) for i in [0, count) on `threads` threads. The first exception stops the rest and is rethrown here.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

namespace detail {
/// work(i) returns an action to commit; the actions run in order of i.
void ordered(std::size_t count, int threads, const std::function<std::function<void()>(std::size_t)>& work);
}  // namespace detail

template <class Work, class Commit>
void ordered_for(std::size_t count, int threads, Work&& work, Commit&& commit) {
  detail::ordered(count, threads, [&](std::size_t i) -> std::function<void()> {
    // std::function needs a copyable target, but results are often only movable, so we hold them by pointer.
    auto result = std::make_shared<decltype(work(i))>(work(i));
    return [i, result, &commit] { commit(i, std::move(*result)); };
  });
}

}  // namespace octavo::base
