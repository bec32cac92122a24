#include "octavo/parallel/group.hpp"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "octavo/base/error.hpp"
#include "octavo/parallel/communicator.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;

// A connection to another process of this host.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) noexcept : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_ = -1;
};

Error ended() { return Error(Kind::interrupted, "a rank that shares this rank's file has ended"); }

void send_all(const Socket& socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) throw ended();
    if (sent < 0) throw base::system_error("send to the rank that has the file", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
}

void receive_all(const Socket& socket, std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::recv(socket.get(), bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) throw ended();
    if (got < 0) throw base::system_error("receive from a rank that shares the file", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
}

// ------------------------------------------------------------------ messages

enum class Tag : std::uint8_t { nothing, part, error, done };

struct Prefix {
  Tag tag = Tag::nothing;
  Kind kind = Kind::usage;  // of an error
  std::uint64_t size = 0;
};

struct Message {
  Prefix prefix;
  std::vector<std::byte> bytes;
};

void send(const Socket& socket, Prefix prefix, std::span<const std::byte> bytes = {}) {
  std::array<std::byte, sizeof(Prefix)> raw{};
  prefix.size = bytes.size();
  std::memcpy(raw.data(), &prefix, sizeof prefix);
  send_all(socket, raw);
  send_all(socket, bytes);
}

Message receive(const Socket& socket) {
  std::array<std::byte, sizeof(Prefix)> raw{};
  receive_all(socket, raw);
  Message message;
  std::memcpy(&message.prefix, raw.data(), sizeof raw);
  message.bytes.resize(static_cast<std::size_t>(message.prefix.size));
  receive_all(socket, message.bytes);
  return message;
}

// Places and advice travel as text: the writer of the segment throws them again with the rest of the message.
std::string text_of(const Error& error) {
  std::string text = error.message();
  for (const std::string& place : error.places()) text += "\n" + place;
  return text;
}

Error error_of(const Message& message) {
  const std::string text(reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size());
  std::size_t begin = text.find('\n');
  Error error(message.prefix.kind, text.substr(0, begin));
  while (begin != std::string::npos) {
    const std::size_t end = text.find('\n', begin + 1);
    error.at(text.substr(begin + 1, end == std::string::npos ? end : end - begin - 1));
    begin = end;
  }
  return error;
}

void send_error(const Socket& socket, const Error& error) {
  const std::string text = text_of(error);
  send(socket, {Tag::error, error.kind(), 0}, std::as_bytes(std::span(text)));
}

// Runs work; what it throws becomes an Error, the first of several.
template <class Work>
void note(std::optional<Error>& failure, Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    if (!failure) failure = error;
  } catch (const std::bad_alloc&) {
    if (!failure) failure = Error(Kind::no_space, "out of memory");
  } catch (const std::exception& error) {
    if (!failure) failure = Error(Kind::unreadable, error.what());
  }
}

// ------------------------------------------------------------------ meeting

// A name that the kernel gives, in the abstract name space: no file to clean up.
Socket listen_somewhere(int backlog, sockaddr_un& address, socklen_t& length) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw base::system_error("make a socket", errno);
  address.sun_family = AF_UNIX;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(sa_family_t)) != 0 ||
      ::listen(socket.get(), backlog) != 0)
    throw base::system_error("listen on a socket", errno);
  length = sizeof address;
  if (::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw base::system_error("name a socket", errno);
  return socket;
}

struct Greeting {
  store::Attempt token;
  int rank;
};

Socket connect_to(const sockaddr_un& address, socklen_t length, const Greeting& greeting) {
  Socket socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) throw base::system_error("make a socket", errno);
  while (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0)
    if (errno != EINTR) throw base::system_error("connect to the rank that has the file", errno);
  send_all(socket, std::as_bytes(std::span(&greeting, 1)));
  return socket;
}

// All ranks have connected and greeted before: no wait here. Whoever does not know the token is not of the group.
std::vector<Socket> accept_all(const Socket& listening, int size, const store::Attempt& token) {
  std::vector<Socket> sockets(static_cast<std::size_t>(size));
  for (int missing = size - 1; missing > 0;) {
    Socket socket(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.get() < 0 && errno == EINTR) continue;
    if (socket.get() < 0) throw base::system_error("accept a connection", errno);
    Greeting greeting{};
    receive_all(socket, std::as_writable_bytes(std::span(&greeting, 1)));
    if (greeting.token != token || greeting.rank < 1 || greeting.rank >= size) continue;
    sockets[static_cast<std::size_t>(greeting.rank)] = std::move(socket);
    --missing;
  }
  return sockets;
}

}  // namespace

struct Group::State {
  int rank = 0, size = 1;
  std::vector<Socket> members;  // the writer's: by rank
  Socket writer;                // the others'
};

Group::Group() : state_(std::make_unique<State>()) {}
Group::~Group() = default;
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
int Group::size() const noexcept { return state_->size; }

Group Group::join(MPI_Comm comm) {
  Group group;
  State& state = *group.state_;
  state.rank = rank_in(comm);
  state.size = size_of(comm);
  if (state.size == 1) return group;
  struct Meeting {
    sockaddr_un address;
    socklen_t length;
    store::Attempt token;
  } meeting{};
  Socket listening;
  agree(comm, [&] {
    if (state.rank != 0) return;
    meeting.token = store::random_attempt();
    listening = listen_somewhere(state.size, meeting.address, meeting.length);
  });
  MPI_Bcast(&meeting, sizeof meeting, MPI_BYTE, 0, comm);
  agree(comm, [&] {
    if (state.rank != 0) state.writer = connect_to(meeting.address, meeting.length, {meeting.token, state.rank});
  });
  agree(comm, [&] {
    if (state.rank == 0) state.members = accept_all(listening, state.size, meeting.token);
  });
  return group;
}

namespace {

std::uint64_t bytes_of(const std::optional<store::EncodedPart>& part) {
  std::uint64_t bytes = 0;
  if (part)
    for (const store::Stream& stream : part->streams) bytes += stream.bytes.size();
  return bytes;
}

// A failure on the way to the writer leaves nothing to say to it: its receive fails as well.
std::uint64_t hand_over(const Socket& writer, const std::function<std::optional<store::EncodedPart>()>& encode) {
  std::optional<Error> failure;
  std::optional<store::EncodedPart> part;
  std::vector<std::byte> bytes;
  note(failure, [&] {
    part = encode();
    if (part) bytes = to_message(*part);
  });
  const std::uint64_t size = bytes_of(part);
  if (failure)
    send_error(writer, *failure);
  else
    send(writer, {part ? Tag::part : Tag::nothing, Kind::usage, 0}, bytes);
  part.reset();
  bytes = {};
  const Message answer = receive(writer);
  if (answer.prefix.tag == Tag::error) throw error_of(answer);
  return size;
}

}  // namespace

std::uint64_t Group::write_segment(const store::SegmentPlan& plan, const mesh::Header& header,
                                   const std::function<std::optional<store::EncodedPart>()>& encode) {
  if (state_->rank != 0) return hand_over(state_->writer, encode);
  std::optional<Error> failure;
  std::optional<store::SegmentWriter> segment;
  std::uint64_t size = 0;
  note(failure, [&] {
    segment.emplace(plan, header);
    auto part = encode();
    size = bytes_of(part);
    if (part) segment->add(std::move(*part));
  });
  // Everybody is heard, even when all is lost: nobody shall wait for an ear.
  for (std::size_t r = 1; r < state_->members.size(); ++r)
    note(failure, [&] {
      const Message message = receive(state_->members[r]);
      if (message.prefix.tag == Tag::error) throw error_of(message);
      if (!failure && message.prefix.tag == Tag::part) segment->add(part_of_message(message.bytes));
    });
  note(failure, [&] {
    if (!failure) segment->commit();
  });
  segment.reset();
  for (std::size_t r = 1; r < state_->members.size(); ++r) {
    std::optional<Error> gone;  // a rank that has ended was noticed above, or ends the next step
    note(gone, [&] {
      if (failure)
        send_error(state_->members[r], *failure);
      else
        send(state_->members[r], {Tag::done, Kind::usage, 0});
    });
  }
  if (failure) throw *failure;
  return size;
}

}  // namespace octavo::parallel
