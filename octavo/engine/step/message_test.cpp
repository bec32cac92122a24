#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <thread>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/group.hpp"
#include "octavo/engine/step/socket.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/random_octree.hpp"

namespace octavo::engine {
namespace {

store::EncodedPart encoded(std::uint64_t seed) {
  mesh::Part part;
  part.index = 17;
  const mesh::Octree tree = testing::random_octree(seed);
  part.fields.push_back(testing::smooth_field(tree, "density", seed));
  mesh::Header header;
  header.dim = tree.dim;
  header.roots = tree.roots;
  mesh::FieldInfo id;
  id.name = "id";
  id.type = mesh::ScalarType::int64;
  id.centring = mesh::Centring::particle;
  part.particles.push_back({"stars", 3, {mesh::make_field(id, 3)}});
  part.opaque["random numbers"] = {std::byte{1}, std::byte{2}};
  part.mesh = tree;
  return store::encode(part, header, {});
}

TEST(Message, a_part_comes_out_as_it_went_in) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const store::EncodedPart in = encoded(seed);
    const auto bytes = to_message(in);
    const store::EncodedPart out = part_of_message(bytes);
    EXPECT_EQ(to_message(out), bytes);
    EXPECT_EQ(out.index, 17);
    EXPECT_EQ(out.cells, in.cells);
    EXPECT_EQ(out.keys, in.keys);
    EXPECT_EQ(out.fields, in.fields);
    EXPECT_EQ(out.species, in.species);
    EXPECT_EQ(out.opaque, in.opaque);
    ASSERT_EQ(out.streams.size(), in.streams.size());
    EXPECT_EQ(out.streams.back().stored_bytes, in.streams.back().stored_bytes);
    EXPECT_EQ(out.streams.back().raw_checksum, in.streams.back().raw_checksum);
    EXPECT_EQ(out.streams.back().codec, in.streams.back().codec);
  }
}

TEST(Message, a_share_of_triangles_comes_out_as_it_went_in) {
  mesh::Part part;
  part.mesh = mesh::Unstructured{{0, 1, 0}, {0, 0, 1}, {0, 1, 2}, 1, {}};
  mesh::Header header;
  header.dim = 2;
  for (const bool elsewhere : {false, true}) {
    if (elsewhere) header.attributes = {{"mesh_step", std::int64_t{3}}, {"mesh_checksum", std::int64_t{-4}}};
    const store::EncodedPart in = store::encode(part, header, {}), out = part_of_message(to_message(in));
    EXPECT_EQ(out.triangles, in.triangles);
    EXPECT_EQ(out.triangles->origin.has_value(), elsewhere);
    EXPECT_EQ(out.share, in.share);
    EXPECT_EQ(out.mesh, in.mesh);
    EXPECT_EQ(out.streams.size(), in.streams.size());
  }
}

TEST(Message, a_part_of_a_message_is_never_accepted) {
  const auto bytes = to_message(encoded(3));
  for (std::size_t size = 0; size < bytes.size(); size += 1 + size / 50)
    EXPECT_THROW(part_of_message(std::span(bytes).first(size)), base::Error) << size;
}

// ------------------------------------------------------------------ the way of messages

// Whether a rank that knows only these addresses reaches the one that listens.
void expect_reached(const Socket& listening, const std::vector<Address>& addresses) {
  const store::Attempt token = store::random_attempt();
  std::thread caller([&] {
    const Socket socket = connect_to(addresses, {token, 1});
    send_all(socket, std::array{std::byte{42}});
  });
  const std::vector<Socket> sockets = accept_all(listening, 1, 2, token);
  std::array<std::byte, 1> got{};
  receive_all(sockets.at(1), got);
  EXPECT_EQ(got[0], std::byte{42});
  caller.join();
}

TEST(Message, ranks_of_other_nodes_are_reached_at_each_address_of_either_protocol) {
  std::vector<Address> addresses;
  const Socket listening = listen_on_network(8, addresses);
  ASSERT_FALSE(addresses.empty());
  for (const Address& one : addresses) expect_reached(listening, {one});
}

TEST(Message, a_node_without_ipv4_is_reached_by_ipv6) {
  std::vector<Address> addresses;
  const Socket listening = listen_on_network(8, addresses);
  std::erase_if(addresses, [](const Address& one) { return one.where.ss_family != AF_INET6; });
  if (addresses.empty()) GTEST_SKIP() << "this machine has no IPv6";
  expect_reached(listening, addresses);
}

TEST(Message, a_rank_that_cannot_be_reached_is_an_error_on_both_sides_that_names_the_time_and_the_addresses) {
  constexpr std::chrono::milliseconds most{250};
  std::vector<Address> addresses;
  { const Socket closed = listen_on_network(8, addresses); }  // nobody listens there now: calls are refused at once
  const auto begin = std::chrono::steady_clock::now();
  const std::string caller = testing::message_of([&] { connect_to(addresses, {store::random_attempt(), 1}, most); });
  EXPECT_THAT(caller, ::testing::HasSubstr("a rank did not meet those that share its work within 0.25 s"));
  EXPECT_THAT(caller, ::testing::HasSubstr("127.0.0.1:"));
  const Socket listening = listen_on_network(8, addresses);
  const std::string called = testing::message_of([&] { accept_all(listening, 1, 3, store::random_attempt(), most); });
  EXPECT_THAT(called, ::testing::HasSubstr("a rank that others call did not meet"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 2 * most - std::chrono::milliseconds(10));  // poll counts in ms
}

TEST(Message, a_node_without_any_address_is_named) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string message = testing::message_of([] { require_address({}); });
  EXPECT_THAT(message, ::testing::HasSubstr("no network address"));
  EXPECT_THAT(message, ::testing::HasSubstr(name.data()));
}

}  // namespace
}  // namespace octavo::engine
