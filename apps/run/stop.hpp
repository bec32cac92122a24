#pragma once

namespace octavo::run {

/// From here on SIGTERM and SIGUSR1 ask the run to end (mpirun ends its processes itself a second after a SIGTERM, and
/// passes SIGUSR1 on).
void listen_for_stop();
/// Whether one of them has come, to this process.
bool stop_requested();

}  // namespace octavo::run
