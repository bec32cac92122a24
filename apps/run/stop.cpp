#include "apps/run/stop.hpp"

#include <csignal>

namespace octavo::run {

namespace {
volatile std::sig_atomic_t asked = 0;
}

void listen_for_stop() {
  struct sigaction action {};
  action.sa_handler = [](int) { asked = 1; };
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGUSR1, &action, nullptr);
}

bool stop_requested() { return asked != 0; }

}  // namespace octavo::run
