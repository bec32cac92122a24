#include "octavo/formats/serafin/layout.hpp"

#include <algorithm>
#include <limits>

#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"

namespace octavo::formats::serafin {
namespace {

using base::Error;
using base::Kind;

/// Length words before and after a payload.
constexpr std::uint64_t framed(std::uint64_t payload) { return payload + 8; }

std::string from_latin1(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out.push_back(c);
    } else {
      out.push_back(static_cast<char>(0xC0 | byte >> 6));
      out.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
  }
  return out;
}

/// Records of a header, one after another.
struct Encoder {
  std::endian order;
  std::vector<std::byte> bytes;

  void word(std::int32_t value) {
    bytes.resize(bytes.size() + 4);
    base::store(bytes.data() + bytes.size() - 4, value, order);
  }
  void text(std::span<const char> payload) {
    word(static_cast<std::int32_t>(payload.size()));
    const auto raw = std::as_bytes(payload);
    bytes.insert(bytes.end(), raw.begin(), raw.end());
    word(static_cast<std::int32_t>(payload.size()));
  }
  void integers(std::span<const std::int32_t> payload) {
    word(static_cast<std::int32_t>(payload.size_bytes()));
    for (const std::int32_t value : payload) word(value);
    word(static_cast<std::int32_t>(payload.size_bytes()));
  }
};

void require_length(std::uint64_t bytes, const char* record) {
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()))
    throw Error(Kind::unsupported, std::string("SERAFIN cannot hold this mesh: its record of ") + record + " takes " +
                                       std::to_string(bytes) + " bytes, and a record ends at 2147483647")
        .hint("single precision halves it; a store or VTKHDF has no such limit");
}

}  // namespace

std::string latin1_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out.push_back(text[i]);
    } else if ((byte == 0xC2 || byte == 0xC3) && i + 1 < text.size()) {
      out.push_back(static_cast<char>((byte & 3) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3F)));
    } else if (byte >= 0xC0) {
      out.push_back('?');  // its continuation bytes are passed over
    }
  }
  return out;
}

std::string text_of(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\0')) text.remove_suffix(1);
  return from_latin1(text);
}

std::string tag_of(std::string_view text) {
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return from_latin1(text);
}

Variable variable(std::string_view name, std::string_view unit) {
  Variable made;
  made.text.fill(' ');
  const std::string first = latin1_of(name).substr(0, 16), second = latin1_of(unit).substr(0, 16);
  std::copy(first.begin(), first.end(), made.text.begin());
  std::copy(second.begin(), second.end(), made.text.begin() + 16);
  return made;
}

std::string name_of(const Variable& variable) { return text_of({variable.text.data(), 16}); }
std::string unit_of(const Variable& variable) { return text_of({variable.text.data() + 16, 16}); }

// The records in order: title, numbers of variables, their names, IPARAM, the date if there is one, sizes, IKLE, IPOBO,
// X, Y; then for each step the time and the variables.
RecordOffsets offsets_of(const SerafinHeader& header) {
  const std::uint64_t reals = framed(header.real_bytes * static_cast<std::uint64_t>(header.points));
  RecordOffsets offsets;
  offsets.iparam = framed(80) + framed(8) + framed(32) * header.variables.size();
  offsets.sizes = offsets.iparam + framed(40) + (header.date ? framed(24) : 0);
  offsets.connectivity = offsets.sizes + framed(16);
  offsets.numbers = offsets.connectivity +
                    framed(4 * static_cast<std::uint64_t>(header.elements) * static_cast<std::uint64_t>(header.nodes));
  offsets.x = offsets.numbers + framed(4 * static_cast<std::uint64_t>(header.points));
  offsets.y = offsets.x + reals;
  offsets.steps = offsets.y + reals;
  offsets.step_bytes = framed(header.real_bytes) + header.variables.size() * reals;
  return offsets;
}

std::uint64_t time_at(const RecordOffsets& offsets, std::int64_t step) {
  return offsets.steps + static_cast<std::uint64_t>(step) * offsets.step_bytes + 4;
}

std::uint64_t values_at(const SerafinHeader& header, const RecordOffsets& offsets, std::int64_t step,
                        std::size_t variable) {
  const std::uint64_t reals = framed(header.real_bytes * static_cast<std::uint64_t>(header.points));
  return time_at(offsets, step) + header.real_bytes + 4 + variable * reals + 4;
}

std::vector<std::byte> encode_header(const SerafinHeader& header) {
  require_length(4 * static_cast<std::uint64_t>(header.elements) * static_cast<std::uint64_t>(header.nodes),
                 "the connectivity");
  require_length(header.real_bytes * static_cast<std::uint64_t>(header.points), "one variable");
  Encoder out{header.order, {}};
  out.text(header.title);
  const auto quadratic = static_cast<std::int32_t>(header.quadratic);
  out.integers(std::array{static_cast<std::int32_t>(header.variables.size()) - quadratic, quadratic});
  for (const Variable& variable : header.variables) out.text(variable.text);
  out.integers(header.iparam);
  if (header.date) out.integers(*header.date);
  out.integers(std::array<std::int32_t, 4>{header.elements, header.points, header.nodes, 1});
  return std::move(out.bytes);
}

}  // namespace octavo::formats::serafin
