#include "octavo/engine/step/group.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <new>
#include <utility>

#include "octavo/base/current_error.hpp"
#include "octavo/engine/step/socket.hpp"
#include "octavo/file/page_cache.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/streams.hpp"
#include "octavo/store/write/append.hpp"

/// How the ranks of a host write one segment. Each member tells the writer how many bytes it has; the writer reserves
/// the range of all and answers with a place and an open descriptor; the member writes its streams there and sends its
/// table; the writer commits and says so. That is two short messages each way for each member and step; values never
/// pass through the socket. The writer hears all before it answers any, so a group is as fast as its slowest rank.
namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

// ------------------------------------------------------------------ messages

// A rank says how much space it needs and is told where to write. It writes there, describes its part, and is told
// whether the commit succeeded.
enum class MessageTag : std::uint8_t { space, place, nothing, part, error, done };

struct Prefix {
  MessageTag tag = MessageTag::nothing;
  Kind kind = Kind::usage;  // of an error
  std::uint64_t size = 0;
  std::uint64_t bytes = 0;  // space: how many; place: the first
};

struct SocketMessage {
  Prefix prefix;
  std::vector<std::byte> bytes;
  file::File file{};  // place: the subfile, open
};

void send(const Socket& socket, Prefix prefix, std::span<const std::byte> bytes = {}) {
  std::array<std::byte, sizeof(Prefix)> raw{};
  prefix.size = bytes.size();
  std::memcpy(raw.data(), &prefix, sizeof prefix);
  send_all(socket, raw);
  send_all(socket, bytes);
}

// One message of a single descriptor, as the kernel wants it (unix(7), SCM_RIGHTS).
struct Envelope {
  explicit Envelope(std::span<std::byte> bytes) : piece{bytes.data(), bytes.size()} {
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
  }
  Envelope(const Envelope&) = delete;
  Envelope& operator=(const Envelope&) = delete;
  iovec piece;
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(int))> control{};
  msghdr header{};
};

// The other process gets a handle of the same open file: no rank but the writer opens a subfile.
void send_place(const Socket& socket, std::uint64_t begin, const file::File& subfile) {
  const Prefix prefix{MessageTag::place, Kind::usage, 0, begin};
  std::array<std::byte, sizeof(Prefix)> raw{};
  std::memcpy(raw.data(), &prefix, sizeof prefix);
  Envelope envelope(raw);
  cmsghdr* rights = CMSG_FIRSTHDR(&envelope.header);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int descriptor = subfile.descriptor();
  std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
  ssize_t sent = -1;
  do sent = ::sendmsg(socket.get(), &envelope.header, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) throw ended(socket);
  if (sent < 0) throw base::system_error("hand the file to a rank that shares it", errno);
  send_all(socket, std::span<const std::byte>(raw).subspan(static_cast<std::size_t>(sent)));
}

// Fills `bytes`, and takes the file that may come with them.
file::File receive_with_file(const Socket& socket, std::span<std::byte> bytes, const std::filesystem::path& path) {
  Envelope envelope(bytes);
  ssize_t got = -1;
  do got = ::recvmsg(socket.get(), &envelope.header, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got == 0 || (got < 0 && errno == ECONNRESET)) throw ended(socket);
  if (got < 0) throw base::system_error("receive from a rank that shares the file", errno);
  file::File file;
  const cmsghdr* rights = CMSG_FIRSTHDR(&envelope.header);
  if (rights != nullptr && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(rights), sizeof descriptor);
    file = file::File(descriptor, path);
  }
  receive_all(socket, bytes.subspan(static_cast<std::size_t>(got)));
  return file;
}

// We must read the rest of a message, or it would be taken for the next one.
void skip(const Socket& socket, std::uint64_t bytes) {
  std::array<std::byte, 4096> some{};
  while (bytes > 0) {
    const std::uint64_t now = std::min<std::uint64_t>(bytes, some.size());
    receive_all(socket, std::span(some).first(static_cast<std::size_t>(now)));
    bytes -= now;
  }
}

// `path`: of the file that may come with it.
SocketMessage receive(const Socket& socket, const std::filesystem::path& path = {}) {
  std::array<std::byte, sizeof(Prefix)> raw{};
  SocketMessage message;
  message.file = receive_with_file(socket, raw, path);
  std::memcpy(&message.prefix, raw.data(), sizeof raw);
  try {
    message.bytes.resize(static_cast<std::size_t>(message.prefix.size));
  } catch (const std::bad_alloc&) {
    skip(socket, message.prefix.size);
    throw;
  }
  receive_all(socket, message.bytes);
  return message;
}

// Places and advice travel as text: the writer of the segment throws them again with the rest of the message.
std::string text_of(const Error& error) {
  std::string text = error.message();
  for (const std::string& place : error.places()) text += "\n" + place;
  return text;
}

Error error_of(const SocketMessage& message) {
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
  send(socket, {MessageTag::error, error.kind(), 0, 0}, std::as_bytes(std::span(text)));
}

// Runs work. If it throws, keeps the exception as an Error, unless an earlier one is there.
template <class Work>
void note(std::optional<Error>& failure, Work&& work) {
  try {
    work();
  } catch (...) {
    if (!failure) failure = base::current_error();
  }
}

// A range of the subfile, in bytes.
struct Space {
  std::uint64_t begin = 0, size = 0;
};

using Part = std::optional<store::EncodedPart>;

// One rank's share of the segment, as the writer of the group knows it.
struct SegmentShare {
  std::uint64_t bytes = 0, begin = 0;
};

// A segment at work, as the writer of the group has it.
struct Segment {
  store::SegmentPlan plan;
  const mesh::Header& header;
  const Detour* detour = nullptr;
  std::optional<store::SegmentWriter> writer;
  std::vector<SegmentShare> shares;  // by rank
  Space streams;                     // the range of all
  Part part;                         // this rank's
  WrittenSegment out;
};

}  // namespace

struct Group::State {
  int rank = 0, size = 1;
  std::vector<Socket> members;  // the writer's: by rank
  Socket writer;                // the others'
  bool drops_pages = false;
  std::atomic<bool> direct_io_refused = false;
  // The writer's: subfiles that are not synced, with their commit records as they were when they last were.
  std::map<std::filesystem::path, store::Records> unsynced;
  std::array<std::optional<std::uint64_t>, 2>
      newest_order;  // by flow: the newest order that this rank has committed as segment 0
  std::map<std::filesystem::path, file::File> open;  // the writer's: subfiles that later steps go to
  std::filesystem::path marked;                      // the store whose marker is known to be there

  void begin(std::optional<store::SegmentWriter>& segment, store::SegmentPlan& plan, const mesh::Header& header);
  void place(Segment& one);
  void take_detour(Segment& one);
  void write_all(Segment& one, const store::WriteWay& way, const std::function<void()>& written,
                 std::optional<Error>& failure);
  void commit(store::SegmentWriter& segment, const store::SegmentPlan& plan, const Space& streams, WrittenSegment& out);
};

Group::Group() : state_(std::make_unique<State>()) {}
Group::~Group() = default;
Group::Group(Group&&) noexcept = default;
Group& Group::operator=(Group&&) noexcept = default;
int Group::size() const noexcept { return state_->size; }
void Group::drop_pages(bool drop) noexcept { state_->drops_pages = drop; }
bool Group::direct_io_refused() const noexcept { return state_->direct_io_refused; }

void Group::sync_written() {
  const auto unsynced = std::exchange(state_->unsynced, {});
  try {
    for (const auto& subfile : unsynced) {
      if (!std::filesystem::exists(subfile.first)) continue;  // its step has failed and was removed
      const file::File file = file::open_write(subfile.first);
      file::sync(file);
      if (state_->drops_pages) file::drop_pages(file);
      file::sync_directory(subfile.first.parent_path());
      file::make_directories(subfile.first.parent_path());  // they exist; this syncs their names
    }
  } catch (Error& error) {
    // All steps since the last sync have failed, so no reader may find one complete.
    for (const auto& [path, records] : unsynced) try {
        if (std::filesystem::exists(path)) store::put_back_records(path, records);
      } catch (const Error& second) {
        error.at("commit records that could not be taken back (" + second.message() + ")");
      }
    throw;
  }
}

Group Group::join(MPI_Comm comm, int name) {
  Group group;
  State& state = *group.state_;
  state.rank = ranks::rank_in(comm);
  state.size = ranks::size_of(comm);
  if (state.size == 1) return group;
  struct Meeting {
    Address address;
    store::Attempt token;
  } meeting{};
  std::vector<int> names(static_cast<std::size_t>(state.size));
  if (name < 0) name = state.rank;
  MPI_Allgather(&name, 1, MPI_INT, names.data(), 1, MPI_INT, comm);
  Socket listening;
  ranks::agree(comm, [&] {
    if (state.rank != 0) return;
    meeting.token = store::random_attempt();
    listening = listen_on_host(state.size, meeting.address);
  });
  MPI_Bcast(&meeting, sizeof meeting, MPI_BYTE, 0, comm);
  ranks::agree(comm, [&] {
    if (state.rank != 0)
      state.writer = connect_to(std::span(&meeting.address, 1), {meeting.token, state.rank});
    else
      state.members = accept_all(std::exchange(listening, {}), 1, state.size, meeting.token);
  });
  state.writer.peer = names[0];
  for (std::size_t r = 0; r < state.members.size(); ++r) state.members[r].peer = names[r];
  return group;
}

namespace {

std::uint64_t bytes_of(const Part& part) { return part ? store::stored_size(*part) : 0; }

// Receives the writer's answer. Throws its error.
SocketMessage answer_of(const Socket& writer, const std::filesystem::path& subfile = {}) {
  SocketMessage answer = receive(writer, subfile);
  if (answer.prefix.tag == MessageTag::error) throw error_of(answer);
  return answer;
}

// Writes this rank's part at its place and describes it to the writer.
void write_at(const SocketMessage& place, const Socket& writer, Part& part, const store::WriteWay& way,
              std::atomic<bool>& direct_io_refused) {
  std::optional<Error> failure;
  std::vector<std::byte> table;
  note(failure, [&] {
    if (!part) return;
    if (!place.file.is_open()) throw Error(Kind::unreadable, "the rank that has the file could not hand it over");
    if (!store::write_streams(place.file, *part, place.prefix.bytes, way)) direct_io_refused = true;
    table = to_message(*part);
  });
  if (failure)
    send_error(writer, *failure);
  else
    send(writer, {part ? MessageTag::part : MessageTag::nothing, Kind::usage, 0, 0}, table);
}

// If we cannot send to the writer, we cannot report that to it either: its receive fails as well.
std::uint64_t contribute(const Socket& writer, const store::SegmentPlan& plan, const store::WriteWay& way,
                         const std::function<Part()>& encode, const std::function<void()>& written,
                         const Detour* detour, std::atomic<bool>& direct_io_refused) {
  std::optional<Error> failure;
  Part part;
  note(failure, [&] { part = encode(); });
  const std::uint64_t bytes = bytes_of(part);
  if (failure)
    send_error(writer, *failure);
  else
    send(writer, {MessageTag::space, Kind::usage, 0, bytes});
  SocketMessage answer = answer_of(writer, store::subfile_path(plan));
  // A second place is on the detour. For it the part must stay, and the arrays must not change.
  for (int times = 0; answer.prefix.tag == MessageTag::place; ++times) {
    if (times > 1) throw Error(Kind::unreadable, "the rank that has the file gives one place after another");
    write_at(answer, writer, part, way, direct_io_refused);
    if (!detour && written) written();
    if (!detour) part.reset();
    answer = answer_of(writer, detour ? store::subfile_path(detour->plan) : std::filesystem::path());
  }
  return bytes;
}

// We hear all members even after a failure, so that none of them waits for us.
void hear_all(const std::vector<Socket>& members, std::optional<Error>& failure,
              const std::function<void(std::size_t rank, const SocketMessage&)>& take) {
  for (std::size_t r = 1; r < members.size(); ++r)
    note(failure, [&] {
      const SocketMessage message = receive(members[r]);
      if (message.prefix.tag == MessageTag::error) throw error_of(message);
      if (!failure) take(r, message);
    });
}

// `tell` tells a rank how to go on, unless something has failed. If a rank has ended, we noticed it before, or the next
// step fails.
void tell_all(const std::vector<Socket>& members, const std::optional<Error>& failure,
              const std::function<void(std::size_t rank)>& tell) {
  for (std::size_t r = 1; r < members.size(); ++r) {
    std::optional<Error> gone;
    note(gone, [&] { failure ? send_error(members[r], *failure) : tell(r); });
  }
}

// Memory file systems reserve nothing, and are full only when bytes are written.
void require_room(const std::filesystem::path& directory, const std::vector<SegmentShare>& shares) {
  // An allowance for table and footer, whose sizes are not known yet.
  constexpr std::uint64_t tables = std::uint64_t{1} << 20;
  std::uint64_t bytes = tables;
  for (const SegmentShare& share : shares) bytes += share.bytes;
  std::error_code unknown;
  const auto space = std::filesystem::space(directory, unknown);
  if (!unknown && space.available < bytes)
    throw Error(Kind::no_space, "the local disk has " + std::to_string(space.available) + " bytes left, " +
                                    std::to_string(bytes) + " are needed");
}

// Gives out one range after another, in the order of ranks, each at a multiple of the alignment.
// Returns the range of all.
Space give_places(store::SegmentWriter& segment, std::vector<SegmentShare>& shares, const store::SegmentPlan& plan,
                  bool requires_room) {
  if (requires_room) require_room(plan.store, shares);
  std::uint64_t all = 0;
  for (SegmentShare& share : shares) {
    if (share.bytes > 0) all = (all + plan.alignment - 1) / plan.alignment * plan.alignment;
    share.begin = all;
    all += share.bytes;
  }
  const std::uint64_t first = segment.reserve(all);
  for (SegmentShare& share : shares) share.begin += first;
  return {first, all};
}

// Removes the local store, which holds only this segment.
void leave_disk(const Detour& detour, store::SegmentPlan& plan, std::optional<store::SegmentWriter>& segment) {
  segment.reset();
  file::remove_all(plan.store);
  if (detour.before) detour.before();
  plan = detour.plan;
}

// Runs the work. Returns false if the disk is full and there is a way round it.
bool has_room(const std::function<void()>& work, const Detour* detour) try {
  work();
  return true;
} catch (const Error& error) {
  if (detour == nullptr || error.kind() != Kind::no_space) throw;
  return false;
}

}  // namespace

// Begins the plan's segment, in the subfile that an earlier step left open if there is one.
void Group::State::begin(std::optional<store::SegmentWriter>& segment, store::SegmentPlan& plan,
                         const mesh::Header& header) {
  // The marker of the store is written and synced once, with the first segment.
  plan.marked = marked == plan.store;
  const auto left_open = open.extract(store::subfile_path(plan));
  segment.emplace(plan, header, left_open ? std::move(left_open.mapped()) : file::File());
  marked = plan.store;
}

// Commits a segment whose streams, in that range, are all written. Without sync the first commit since the last sync
// notes the records that it replaces. Later ones must not: they would note records that no sync has covered.
void Group::State::commit(store::SegmentWriter& segment, const store::SegmentPlan& plan, const Space& streams,
                          WrittenSegment& out) {
  const std::filesystem::path subfile = store::subfile_path(plan);
  if (!plan.sync) unsynced.try_emplace(subfile, segment.records_before());
  segment.commit();
  out.order = segment.order();
  // The next step reads the footer, so its page stays.
  if (drops_pages && plan.sync && streams.size > 0) file::drop_pages(segment.file(), streams.begin, streams.size);
  if (plan.segment == 0) newest_order[static_cast<std::size_t>(plan.flow)] = out.order;
  if (plan.sync) out.segment = store::commit_in(segment.file());
  if (plan.stays_open && plan.sync) open[subfile] = segment.take_file();
}

void Group::State::place(Segment& one) {
  const bool on_its_disk = one.detour != nullptr && !one.out.went_round;
  const auto give = [&] { one.streams = give_places(*one.writer, one.shares, one.plan, on_its_disk); };
  if (!has_room(give, on_its_disk ? one.detour : nullptr)) take_detour(one), give();
}

void Group::State::take_detour(Segment& one) {
  one.out.went_round = true;
  leave_disk(*one.detour, one.plan, one.writer);
  begin(one.writer, one.plan, one.header);
}

// All ranks write at their places, and this one commits.
void Group::State::write_all(Segment& one, const store::WriteWay& way, const std::function<void()>& written,
                             std::optional<Error>& failure) {
  tell_all(members, failure, [&](std::size_t r) { send_place(members[r], one.shares[r].begin, one.writer->file()); });
  if (failure) return;
  note(failure, [&] {
    if (!one.part) return;
    if (!store::write_streams(one.writer->file(), *one.part, one.shares[0].begin, way)) direct_io_refused = true;
    if (one.detour)
      one.writer->add_written(part_of_message(to_message(*one.part)));  // it may be written again
    else
      one.writer->add_written(std::move(*one.part));
  });
  if (!one.detour && written) written();
  hear_all(members, failure, [&](std::size_t, const SocketMessage& message) {
    if (message.prefix.tag == MessageTag::part) one.writer->add_written(part_of_message(message.bytes));
  });
  note(failure, [&] {
    if (!failure) commit(*one.writer, one.plan, one.streams, one.out);
  });
}

WrittenSegment Group::write_segment(const store::SegmentPlan& planned, const mesh::Header& header,
                                    const std::function<Part()>& encode, const std::function<void()>& written,
                                    const Detour* detour) {
  const store::WriteWay way{planned.direct_io, state_->drops_pages && planned.sync, detour != nullptr};
  if (state_->rank != 0)
    return {contribute(state_->writer, planned, way, encode, written, detour, state_->direct_io_refused)};
  const std::vector<Socket>& members = state_->members;
  Segment one{planned, header, detour, {}, std::vector<SegmentShare>(static_cast<std::size_t>(state_->size)),
              {},      {},     {}};
  // The store has one writer: nobody else has added a step since.
  const std::optional<std::uint64_t>& newest_order = state_->newest_order[static_cast<std::size_t>(planned.flow)];
  if (newest_order && planned.after_order == 0) one.plan.order_before = newest_order;
  std::optional<Error> failure;
  note(failure, [&] {
    if (!has_room([&] { state_->begin(one.writer, one.plan, header); }, detour)) state_->take_detour(one);
    one.part = encode();
    one.out.bytes = one.shares[0].bytes = bytes_of(one.part);
  });
  hear_all(members, failure,
           [&](std::size_t r, const SocketMessage& message) { one.shares[r].bytes = message.prefix.bytes; });
  note(failure, [&] {
    if (!failure) state_->place(one);
  });
  const bool is_placed = !failure;
  state_->write_all(one, way, written, failure);
  if (is_placed && failure && failure->kind() == Kind::no_space && detour != nullptr && !one.out.went_round) {
    failure.reset();
    note(failure, [&] { state_->take_detour(one), state_->place(one); });
    // If no place was found, write_all() has sent the members this failure; they are gone.
    const bool is_told = failure.has_value();
    state_->write_all(one, way, written, failure);
    if (is_told) throw *failure;
  }
  one.writer.reset();
  // Members wait for this only if they got a place. Without one, write_all() has told them of the failure.
  if (is_placed) tell_all(members, failure, [&](std::size_t r) { send(members[r], {MessageTag::done}); });
  if (failure) throw *failure;
  return one.out;
}

}  // namespace octavo::engine
