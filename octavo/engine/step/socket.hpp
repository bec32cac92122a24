#pragma once
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/store/store.hpp"

/// Connections between ranks, for threads that may not call MPI: through the kernel of one host, or TCP between hosts.
namespace octavo::engine {

/// Owns one end of a connection, or a socket that listens.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Socket();
  Socket(Socket&& other) noexcept : peer(other.peer), descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    std::swap(peer, other.peer);
    return *this;
  }
  int get() const noexcept { return descriptor_; }
  /// The number of the rank at the other end; negative: unknown.
  int peer = -1;

 private:
  int descriptor_ = -1;
};

/// The error for a connection whose other end has gone.
base::Error ended(const Socket& socket);
/// These wait until all bytes have gone or come. They throw ended() if the other end has gone.
void send_all(const Socket& socket, std::span<const std::byte> bytes);
void receive_all(const Socket& socket, std::span<std::byte> bytes);
/// Sends to one rank while it receives from another, or from the same. If all ranks of a ring call this, none of them
/// waits for ever.
void send_and_receive(const Socket& to, std::span<const std::byte> sent, const Socket& from,
                      std::span<std::byte> received);

/// Where a socket listens. Plain bytes, to be sent to other ranks.
struct Address {
  sockaddr_storage where;
  socklen_t length;
};
/// A caller says this first. The listening rank made the token.
struct Greeting {
  store::Attempt token;
  int rank;
};

/// Listens for ranks of this host.
Socket listen_on_host(int backlog, Address& address);
/// Listens for ranks of any host: TCP over IPv4 and, where the system has it, IPv6. `addresses` are those of all
/// interfaces, IPv4 before IPv6 and the loopback last; an IPv6 address of a link alone is left out. Throws
/// require_address().
Socket listen_on_network(int backlog, std::vector<Address>& addresses);
/// Throws Error(unsupported), naming this node, if there is no address.
void require_address(std::span<const Address> addresses);
/// How long ranks wait for each other at most when they meet.
constexpr std::chrono::milliseconds meeting_time = std::chrono::seconds(60);
/// Connects to the first of these addresses that leads to the rank with the token. Throws Error(interrupted), naming
/// them, after the time.
Socket connect_to(std::span<const Address> addresses, const Greeting& greeting,
                  std::chrono::milliseconds most = meeting_time);
/// Waits until the ranks `first` to `size` - 1 have called, up to the time. Returns their sockets, by rank. Throws
/// Error(interrupted).
std::vector<Socket> accept_all(const Socket& listening, int first, int size, const store::Attempt& token,
                               std::chrono::milliseconds most = meeting_time);

}  // namespace octavo::engine
