#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>

#include "simulated.hpp"

// The ranks that share a file talk through local sockets (engine/step/group.cpp). Virtual ranks are fibers of one
// thread, so a call that would wait lets the other ranks run instead. Outside of simulate() these are the system's
// calls.
using octavo::simulated::pass_turn;

namespace {

template <class Call>
ssize_t patient(int flags, Call&& call) {
  for (;;) {
    const ssize_t got = call(flags | MSG_DONTWAIT);
    if (got >= 0 || errno != EAGAIN || (flags & MSG_DONTWAIT) != 0) return got;
    if (!pass_turn()) return call(flags);
  }
}

}  // namespace

extern "C" {

ssize_t recv(int socket, void* to, std::size_t size, int flags) {
  return patient(flags, [&](int how) { return ::recvfrom(socket, to, size, how, nullptr, nullptr); });
}

ssize_t recvmsg(int socket, msghdr* message, int flags) {
  return patient(flags, [&](int how) { return ::syscall(SYS_recvmsg, socket, message, how); });
}

int poll(pollfd* files, nfds_t count, int milliseconds) {
  for (;;) {
    const timespec none{}, some{milliseconds / 1000, milliseconds % 1000 * 1000000L};
    const int events = ::ppoll(files, count, &none, nullptr);
    if (events != 0 || milliseconds == 0) return events;
    if (!pass_turn()) return ::ppoll(files, count, milliseconds < 0 ? nullptr : &some, nullptr);
  }
}

int nanosleep(const timespec* time, timespec* left) {
  if (pass_turn()) return 0;
  return static_cast<int>(::syscall(SYS_nanosleep, time, left));
}
}
