#include "octavo/mesh/particles.hpp"

#include "octavo/base/error.hpp"

namespace octavo::mesh {
namespace {

// [1 bit] not negative, [39 bits] |id|, [24 bits] rank.
constexpr std::int64_t max_id = (std::int64_t{1} << 39) - 1;
constexpr std::int32_t max_rank = (1 << 24) - 1;
constexpr int id_shift = 24;
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

}  // namespace

void append(Particles& to, const Particles& from) {
  to.count += from.count;
  for (std::size_t a = 0; a < to.attributes.size(); ++a) {
    auto& bytes = to.attributes[a].bytes;
    bytes.insert(bytes.end(), from.attributes.at(a).bytes.begin(), from.attributes.at(a).bytes.end());
  }
}

std::uint64_t pack_identity(std::int64_t id, std::int32_t rank) {
  if (id < -max_id || id > max_id)
    throw base::Error(base::Kind::unsupported,
                      "particle id " + std::to_string(id) + " does not fit its 39 bits and sign (at most 2^39 - 1)");
  if (rank < 0 || rank > max_rank)
    throw base::Error(base::Kind::unsupported,
                      "particle rank " + std::to_string(rank) + " does not fit its 24 bits (0 to 2^24 - 1)");
  const auto magnitude = static_cast<std::uint64_t>(id < 0 ? -id : id);
  return (id < 0 ? 0 : sign_bit) | magnitude << id_shift | static_cast<std::uint64_t>(rank);
}

Identity unpack_identity(std::uint64_t packed) noexcept {
  const auto magnitude = static_cast<std::int64_t>((packed & ~sign_bit) >> id_shift);
  return {(packed & sign_bit) != 0 ? magnitude : -magnitude,
          static_cast<std::int32_t>(packed & static_cast<std::uint64_t>(max_rank))};
}

}  // namespace octavo::mesh
