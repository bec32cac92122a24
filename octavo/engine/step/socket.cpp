#include "octavo/engine/step/socket.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;
using Clock = std::chrono::steady_clock;

// Any process may call and then stay silent: the names of sockets are not secret. So we never wait for a single caller,
// nor longer than meeting_time for all.
constexpr auto time_for_an_answer = std::chrono::seconds(20);
constexpr auto time_to_connect = std::chrono::seconds(5);
constexpr std::size_t most_silent_callers = 64;

bool is_local(const Address& address) { return address.where.ss_family == AF_UNIX; }

std::string text_of(const Address& address) {
  if (is_local(address)) return "a socket of this host";
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  if (::getnameinfo(reinterpret_cast<const sockaddr*>(&address.where), address.length, host.data(), host.size(),
                    port.data(), port.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "an address of an unknown kind";
  return address.where.ss_family == AF_INET6 ? "[" + std::string(host.data()) + "]:" + port.data()
                                             : std::string(host.data()) + ":" + port.data();
}

Error not_met(const std::string& who, std::chrono::milliseconds most) {
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%g s", static_cast<double>(most.count()) / 1000);
  return Error(Kind::interrupted, who + " did not meet those that share its work within " + seconds.data());
}

bool is_same_user(const Socket& socket) {
  ucred peer{};
  socklen_t length = sizeof peer;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 && peer.uid == ::geteuid();
}

// Zero: no time limit.
void set_patience(const Socket& socket, std::chrono::seconds patience) {
  const timeval time{patience.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

void set_blocking(const Socket& socket) {
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) & ~O_NONBLOCK);
}

// A node that loses its power says nothing: the kernel asks after it. Fails on sockets of this host, which need
// neither.
void keep_in_touch(const Socket& socket) {
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket open_socket(int family) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) throw base::system_error("make a socket", errno);
  return socket;
}

void listen_at(const Socket& socket, int backlog, Address& address) {
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address.where), address.length) != 0 ||
      ::listen(socket.get(), backlog) != 0)
    throw base::system_error("listen on a socket", errno);
  address.length = sizeof address.where;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address.where), &address.length) != 0)
    throw base::system_error("name a socket", errno);
}

bool connects(const Socket& socket, const Address& address) {
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address.where), address.length) == 0) return true;
  if (is_local(address)) {
    // EAGAIN: the listener's queue is full (connect(2)); the caller tries again.
    if (errno == EAGAIN || errno == EINTR) return false;
    throw base::system_error("connect to the rank that has the file", errno);
  }
  if (errno != EINPROGRESS) return false;
  pollfd ready{socket.get(), POLLOUT, 0};
  const auto patience = std::chrono::duration_cast<std::chrono::milliseconds>(time_to_connect).count();
  if (::poll(&ready, 1, static_cast<int>(patience)) != 1) return false;
  int error = 0;
  socklen_t length = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &length) == 0 && error == 0;
}

// Connects and greets. Returns nothing if nobody answers there, or if the other side has no room or has dropped this
// caller as silent.
std::optional<Socket> call_once(const Address& address, const Greeting& greeting) {
  Socket socket = open_socket(address.where.ss_family);
  if (!connects(socket, address)) return {};
  if (is_local(address) && !is_same_user(socket))
    throw Error(Kind::interrupted, "another user has the socket of the rank that has the file");
  // Sockets do not block until they are connected, so that no peer can hold us up; from here on time limits do that.
  set_blocking(socket);
  keep_in_touch(socket);
  set_patience(socket, time_for_an_answer);
  std::byte taken{};
  if (::send(socket.get(), &greeting, sizeof greeting, MSG_NOSIGNAL) != sizeof greeting ||
      ::recv(socket.get(), &taken, 1, 0) != 1)
    return {};
  set_patience(socket, {});
  return socket;
}

// A caller, and the part of its greeting that has arrived.
struct Caller {
  Socket socket;
  Greeting greeting{};
  std::size_t got = 0;
};

// Returns false if the caller has gone or sent a wrong greeting.
bool hear(Caller& caller, const store::Attempt& token, int first, int size) {
  const ssize_t got = ::recv(caller.socket.get(), reinterpret_cast<std::byte*>(&caller.greeting) + caller.got,
                             sizeof caller.greeting - caller.got, MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  caller.got += static_cast<std::size_t>(got);
  if (got == 0 || caller.got < sizeof caller.greeting) return got > 0;
  // A process that does not know the token is not one of these ranks.
  return caller.greeting.token == token && caller.greeting.rank >= first && caller.greeting.rank < size;
}

// Returns false if the caller has given up; it will call again.
bool answer(const Socket& socket) {
  const std::byte taken{1};
  return ::send(socket.get(), &taken, 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

// Turns away callers of other users of this host at once. If too many callers have sent no greeting yet, the oldest is
// dropped.
void take_call(const Socket& listening, std::deque<Caller>& callers, std::size_t most) {
  Socket socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0 && (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED)) return;
  if (socket.get() < 0) throw base::system_error("accept a connection", errno);
  int family = AF_UNIX;
  socklen_t length = sizeof family;
  ::getsockopt(socket.get(), SOL_SOCKET, SO_DOMAIN, &family, &length);
  if (family == AF_UNIX && !is_same_user(socket)) return;
  keep_in_touch(socket);
  callers.push_back({std::move(socket)});
  if (callers.size() > most) callers.pop_front();
}

// Waits until somebody calls or says something.
std::vector<pollfd> wait_for_callers(const Socket& listening, const std::deque<Caller>& callers, Clock::time_point end,
                                     std::chrono::milliseconds most) {
  std::vector<pollfd> ready{{listening.get(), POLLIN, 0}};
  for (const Caller& caller : callers) ready.push_back({caller.socket.get(), POLLIN, 0});
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  const int events = ::poll(ready.data(), ready.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
  if (events == 0) throw not_met("a rank that others call", most);
  if (events < 0 && errno != EINTR) throw base::system_error("wait for other ranks", errno);
  // poll() was interrupted and has written no events.
  if (events < 0)
    for (pollfd& one : ready) one.revents = 0;
  return ready;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// ------------------------------------------------------------------ bytes

Error ended(const Socket& socket) {
  const std::string who = socket.peer < 0 ? "a rank" : "rank " + std::to_string(socket.peer);
  return Error(Kind::interrupted, who + " has ended, with which others share a file");
}

namespace {

// Sends or receives some bytes; 0 where a socket that must not wait would.
std::size_t send_some(const Socket& socket, std::span<const std::byte> bytes, int flags) {
  const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | flags);
  if (sent >= 0) return static_cast<std::size_t>(sent);
  if (errno == EINTR || errno == EAGAIN) return 0;
  if (errno == EPIPE || errno == ECONNRESET || errno == ETIMEDOUT) throw ended(socket);
  throw base::system_error("send to another rank", errno);
}

std::size_t receive_some(const Socket& socket, std::span<std::byte> bytes, int flags) {
  const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), flags);
  if (got > 0) return static_cast<std::size_t>(got);
  if (got == 0 || errno == ECONNRESET || errno == ETIMEDOUT) throw ended(socket);
  if (errno == EINTR || errno == EAGAIN) return 0;
  throw base::system_error("receive from another rank", errno);
}

}  // namespace

void send_all(const Socket& socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) bytes = bytes.subspan(send_some(socket, bytes, 0));
}

void receive_all(const Socket& socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) bytes = bytes.subspan(receive_some(socket, bytes, 0));
}

void send_and_receive(const Socket& to, std::span<const std::byte> sent, const Socket& from,
                      std::span<std::byte> received) {
  while (!sent.empty() || !received.empty()) {
    // poll() passes over a negative descriptor.
    std::array<pollfd, 2> ready{pollfd{sent.empty() ? -1 : to.get(), POLLOUT, 0},
                                pollfd{received.empty() ? -1 : from.get(), POLLIN, 0}};
    if (::poll(ready.data(), ready.size(), -1) < 0) {
      if (errno == EINTR) continue;
      throw base::system_error("wait for other ranks", errno);
    }
    if (ready[0].revents != 0) sent = sent.subspan(send_some(to, sent, MSG_DONTWAIT));
    if (ready[1].revents != 0) received = received.subspan(receive_some(from, received, MSG_DONTWAIT));
  }
}

// ------------------------------------------------------------------ meeting

// A name that the kernel gives, in the abstract name space: no file to clean up.
Socket listen_on_host(int backlog, Address& address) {
  Socket socket = open_socket(AF_UNIX);
  address = {};
  address.where.ss_family = AF_UNIX;
  address.length = sizeof(sa_family_t);
  listen_at(socket, backlog, address);
  return socket;
}

namespace {

// Takes callers of IPv6 and IPv4, or of IPv4 alone if the system has no IPv6.
Socket listen_on_any(int backlog, Address& any) {
  Socket both(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int off = 0;
  any = {};
  if (both.get() >= 0 && ::setsockopt(both.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0) {
    any.where.ss_family = AF_INET6;
    any.length = sizeof(sockaddr_in6);
    listen_at(both, backlog, any);
    return both;
  }
  Socket socket = open_socket(AF_INET);
  any.where.ss_family = AF_INET;
  any.length = sizeof(sockaddr_in);
  listen_at(socket, backlog, any);
  return socket;
}

// The address with this port, if others can call it; nothing for other kinds. An IPv6 address of a link alone means
// nothing on another node.
std::optional<Address> callable(const sockaddr& of_interface, in_port_t port) {
  Address address{};
  if (of_interface.sa_family == AF_INET) {
    sockaddr_in here{};
    std::memcpy(&here, &of_interface, sizeof here);
    here.sin_port = port;
    std::memcpy(&address.where, &here, sizeof here);
    address.length = sizeof here;
    return address;
  }
  if (of_interface.sa_family != AF_INET6) return {};
  sockaddr_in6 here{};
  std::memcpy(&here, &of_interface, sizeof here);
  if (IN6_IS_ADDR_LINKLOCAL(&here.sin6_addr)) return {};
  here.sin6_port = port;
  std::memcpy(&address.where, &here, sizeof here);
  address.length = sizeof here;
  return address;
}

in_port_t port_of(const Address& address) {
  sockaddr_in6 six{};
  sockaddr_in four{};
  std::memcpy(&six, &address.where, sizeof six);
  std::memcpy(&four, &address.where, sizeof four);
  return address.where.ss_family == AF_INET6 ? six.sin6_port : four.sin_port;
}

std::string name_of_node() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

}  // namespace

void require_address(std::span<const Address> addresses) {
  if (!addresses.empty()) return;
  throw Error(Kind::unsupported, "the node " + name_of_node() + " has no network address, IPv4 or IPv6")
      .hint("partner_every, xor_every and rs_every need a network between nodes");
}

Socket listen_on_network(int backlog, std::vector<Address>& addresses) {
  Address any{};
  Socket socket = listen_on_any(backlog, any);
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) throw base::system_error("list the network interfaces", errno);
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> all(first, ::freeifaddrs);
  addresses.clear();
  std::vector<Address> loopbacks;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    const auto address = callable(*one->ifa_addr, port_of(any));
    if (!address || (address->where.ss_family == AF_INET6 && any.where.ss_family != AF_INET6)) continue;
    ((one->ifa_flags & IFF_LOOPBACK) != 0 ? loopbacks : addresses).push_back(*address);
  }
  // IPv4 first: it is what most networks of nodes speak.
  const auto is_four = [](const Address& one) { return one.where.ss_family == AF_INET; };
  std::stable_partition(addresses.begin(), addresses.end(), is_four);
  std::stable_partition(loopbacks.begin(), loopbacks.end(), is_four);
  addresses.insert(addresses.end(), loopbacks.begin(), loopbacks.end());
  require_address(addresses);
  return socket;
}

Socket connect_to(std::span<const Address> addresses, const Greeting& greeting, std::chrono::milliseconds most) {
  for (const auto end = Clock::now() + most; Clock::now() < end;) {
    for (const Address& address : addresses)
      if (auto socket = call_once(address, greeting)) return std::move(*socket);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Error error = not_met("a rank", most);
  for (const Address& address : addresses) error.at(text_of(address));
  throw error;
}

std::vector<Socket> accept_all(const Socket& listening, int first, int size, const store::Attempt& token,
                               std::chrono::milliseconds most) {
  const auto end = Clock::now() + most;
  std::vector<Socket> sockets(static_cast<std::size_t>(size));
  std::deque<Caller> callers;
  for (int missing = size - first; missing > 0;) {
    const std::vector<pollfd> ready = wait_for_callers(listening, callers, end, most);
    for (std::size_t i = 0; i < callers.size(); ++i) {
      if (ready[i + 1].revents == 0) continue;
      Caller& caller = callers[i];
      if (hear(caller, token, first, size)) {
        if (caller.got < sizeof caller.greeting) continue;
        Socket& place = sockets[static_cast<std::size_t>(caller.greeting.rank)];
        // A rank that had given up calls again. Its newer connection replaces the older one and counts once.
        if (answer(caller.socket)) missing -= std::exchange(place, std::move(caller.socket)).get() < 0 ? 1 : 0;
      }
      caller.socket = Socket();
    }
    std::erase_if(callers, [](const Caller& caller) { return caller.socket.get() < 0; });
    if (ready[0].revents != 0) take_call(listening, callers, static_cast<std::size_t>(size) + most_silent_callers);
  }
  return sockets;
}

}  // namespace octavo::engine
