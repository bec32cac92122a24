#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

namespace octavo::base {

/// `requested` if positive, otherwise the number of cores this process may run on.
int thread_count(int requested);

/// Lets the calling thread run on every core that the process has which started this one, not only on those it was
/// bound to then: mpirun binds a rank to a core, and a thread of that rank would take turns with it beside idle ones.
void leave_binding() noexcept;

/// Runs work(i) for i in [0, count) on `threads` threads and hands each result, in order of i and never two at a
/// time, to commit(i). At most `threads` results wait between the two: memory is bounded, and what commit builds is
/// the same for any number of threads. The first exception stops the rest and is rethrown here.
///
///     ordered_for(parts, threads, [&](std::size_t i) { return encode(i); },      // parallel
///                                 [&](std::size_t i, Encoded e) { append(e); }); // ordered
template <class Work, class Commit>
void ordered_for(std::size_t count, int threads, Work&& work, Commit&& commit);

/// Runs work(i) for i in [0, count) on `threads` threads. The first exception stops the rest and is rethrown here.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

namespace detail {
/// work(i) returns a commit action; actions run in order of i.
void ordered(std::size_t count, int threads, const std::function<std::function<void()>(std::size_t)>& work);
}  // namespace detail

template <class Work, class Commit>
void ordered_for(std::size_t count, int threads, Work&& work, Commit&& commit) {
  detail::ordered(count, threads, [&](std::size_t i) -> std::function<void()> {
    // std::function needs a copyable target, results are often only movable: hold them by pointer.
    auto result = std::make_shared<decltype(work(i))>(work(i));
    return [i, result, &commit] { commit(i, std::move(*result)); };
  });
}

}  // namespace octavo::base
