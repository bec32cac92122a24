#include "octavo/telemac/cut/cut_file.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <span>
#include <vector>

#include "octavo/base/at.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

constexpr std::string_view magic = "\x93NUMPY";
// Number + 2 still is an int32: lists by part have one entry more than there are parts.
constexpr std::int64_t most_part = std::numeric_limits<std::int32_t>::max() - 2;

using base::at;

std::int32_t part_of(std::int64_t number, const fs::path& path, std::int64_t element) {
  if (number < 0 || number > most_part)
    throw Error(Kind::corrupt,
                "element " + std::to_string(element + 1) + ": expected a part from 0, found " + std::to_string(number))
        .at(path.string());
  return static_cast<std::int32_t>(number);
}

// ------------------------------------------------------------------ .npy

/// NumPy's format 1.0 to 3.0 (numpy.lib.format): magic, version, the header's length, a Python dict as text.
struct Npy {
  std::uint64_t begin = 0;  ///< of the values
  std::int64_t count = 0;
  std::size_t width = 4;
  bool is_signed = true;
  std::endian order = std::endian::little;
};

std::string head_of(const file::File& file, std::uint64_t offset, std::size_t bytes) {
  std::string text(bytes, '\0');
  text.resize(file::pread_some(file, offset, std::as_writable_bytes(std::span(text))));
  return text;
}

/// The value of a key in the header's dict: the text up to the next comma outside brackets, without blanks.
std::string entry_of(const std::string& dict, const std::string& key) {
  const std::size_t found = dict.find("'" + key + "'");
  const std::size_t colon = found == std::string::npos ? found : dict.find(':', found);
  if (colon == std::string::npos) return {};
  std::size_t end = colon + 1;
  for (int depth = 0; end < dict.size() && (depth > 0 || (dict[end] != ',' && dict[end] != '}')); ++end)
    depth += dict[end] == '(' ? 1 : dict[end] == ')' ? -1 : 0;
  std::string entry = dict.substr(colon + 1, end - colon - 1);
  std::erase(entry, ' ');
  return entry;
}

Npy npy_of(const file::File& file) {
  const auto wrong = [&](const std::string& expected, const std::string& found) {
    return Error(Kind::corrupt, "expected " + expected + ", found " + found).at(file.path().string());
  };
  const std::string head = head_of(file, 0, 12);
  if (head.size() < 12) throw wrong("a NumPy file", std::to_string(head.size()) + " bytes");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint64_t>(static_cast<unsigned char>(head[i])); };
  const bool short_length = byte(6) == 1;  // the version
  const std::uint64_t length = byte(8) | byte(9) << 8 | (short_length ? 0 : byte(10) << 16 | byte(11) << 24);
  const std::uint64_t begin = short_length ? 10 : 12;
  constexpr std::uint64_t most = 1 << 16;  // of one axis it takes a hundred
  if (length > most || begin + length > file::size(file))
    throw wrong("a header of up to " + std::to_string(most) + " bytes in the file", std::to_string(length));
  const std::string dict = head_of(file, begin, length);
  const std::string type = entry_of(dict, "descr"), shape = entry_of(dict, "shape");
  Npy npy;
  npy.begin = begin + length;
  const auto is_one_of = [](std::string_view all, char c) { return all.find(c) != std::string_view::npos; };
  const bool is_integer = type.size() == 5 && type.front() == '\'' && is_one_of("<>|", type[1]) &&
                          is_one_of("iu", type[2]) && is_one_of("1248", type[3]);
  if (!is_integer) throw wrong("integers", "NumPy's type " + type);
  npy.order = type[1] == '>' ? std::endian::big : std::endian::little;
  npy.is_signed = type[2] == 'i';
  npy.width = static_cast<std::size_t>(type[3] - '0');
  const char* end = shape.data() + shape.size();
  const auto parsed = shape.size() < 4 ? std::from_chars_result{end, std::errc::invalid_argument}
                                       : std::from_chars(shape.data() + 1, end, npy.count);
  if (parsed.ec != std::errc() || std::string_view(parsed.ptr, end) != ",)" || npy.count < 0)
    throw wrong("one axis", "the shape " + shape);
  const std::uint64_t room = (file::size(file) - npy.begin) / npy.width;
  if (static_cast<std::uint64_t>(npy.count) > room)
    throw wrong(std::to_string(npy.count) + " part numbers, as its header says", std::to_string(room));
  return npy;
}

std::int64_t load_number(const std::byte* from, const Npy& npy) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < npy.width; ++i) {
    const std::size_t k = npy.order == std::endian::little ? i : npy.width - 1 - i;
    bits |= std::to_integer<std::uint64_t>(from[k]) << (8 * i);
  }
  const auto unused = static_cast<int>(64 - 8 * npy.width);
  if (npy.is_signed) return static_cast<std::int64_t>(bits << unused) >> unused;
  return static_cast<std::int64_t>(std::min(bits, std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
}

/// Calls `each` with elements of [first, last) and their parts; `last` may be behind the end.
template <class F>
void each_part_of_npy(const file::File& file, std::int64_t first, std::int64_t last, F&& each) {
  constexpr std::int64_t batch = 1 << 16;
  const Npy npy = npy_of(file);
  last = std::min(last, npy.count);
  std::vector<std::byte> raw;
  for (std::int64_t begin = first; begin < last; begin += batch) {
    raw.resize(at(std::min(batch, last - begin)) * npy.width);
    file::pread_all(file, npy.begin + at(begin) * npy.width, raw);
    for (std::size_t i = 0; i < raw.size(); i += npy.width) {
      const std::int64_t element = begin + static_cast<std::int64_t>(i / npy.width);
      each(element, part_of(load_number(raw.data() + i, npy), file.path(), element));
    }
  }
}

// ------------------------------------------------------------------ text

/// Calls `each` with the words of a file, a mebibyte of it in memory.
template <class F>
void each_word(const file::File& file, F&& each) {
  constexpr std::size_t batch = std::size_t{1} << 20;
  const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; };
  std::string word;
  for (std::uint64_t offset = 0; offset < file::size(file); offset += batch) {
    for (const char c : head_of(file, offset, batch))
      if (!is_blank(c)) {
        word += c;
      } else if (!word.empty()) {
        each(word);
        word.clear();
      }
    if (word.size() > 64)
      throw Error(Kind::corrupt, "expected part numbers, found other bytes").at(file.path().string());
  }
  if (!word.empty()) each(word);
}

template <class F>
void each_part_of_text(const file::File& file, std::int64_t first, std::int64_t last, F&& each) {
  std::int64_t element = 0;
  each_word(file, [&](const std::string& word) {
    std::int64_t number = 0;
    const char* end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end)
      throw Error(Kind::corrupt,
                  "element " + std::to_string(element + 1) + ": expected a part from 0, found " + word.substr(0, 40))
          .at(file.path().string());
    if (element >= first && element < last) each(element, part_of(number, file.path(), element));
    ++element;
  });
}

template <class F>
void each_part(const fs::path& path, std::int64_t first, std::int64_t last, F&& each) {
  const file::File file = file::open_read(path);
  head_of(file, 0, magic.size()) == magic ? each_part_of_npy(file, first, last, each)
                                          : each_part_of_text(file, first, last, each);
}

std::string npy_head(std::int64_t elements) {
  std::string dict = "{'descr': '<i4', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }";
  dict.append(64 - (10 + dict.size() + 1) % 64, ' ');  // values begin at a multiple of 64
  dict += '\n';
  const auto length = static_cast<std::uint16_t>(dict.size());
  std::string head(magic);
  for (const int byte : {1, 0, length & 0xff, length >> 8}) head += static_cast<char>(byte);
  return head + dict;
}

}  // namespace

CutSize measure_cut(const fs::path& path) {
  CutSize size;
  each_part(path, 0, std::numeric_limits<std::int64_t>::max(), [&](std::int64_t element, std::int32_t part) {
    size.elements = element + 1;
    size.parts = std::max(size.parts, part + 1);
  });
  return size;
}

partition::PartVector read_cut(const fs::path& path, std::int64_t first, std::int64_t last) {
  partition::PartVector parts;
  parts.reserve(at(last - first));
  each_part(path, first, last, [&](std::int64_t, std::int32_t part) { parts.push_back(part); });
  if (std::ssize(parts) < last - first)
    throw Error(Kind::corrupt, "expected " + std::to_string(last) + " part numbers, one an element, found " +
                                   std::to_string(first + std::ssize(parts)))
        .at(path.string());
  return parts;
}

std::string encode_cut(const fs::path& name, std::span<const std::int32_t> part_of, std::int64_t first,
                       std::int64_t elements) {
  const bool npy = name.extension() == ".npy";
  std::string bytes = npy && first == 0 ? npy_head(elements) : "";
  for (const std::int32_t part : part_of) {
    if (!npy) {
      bytes += std::to_string(part) + '\n';
      continue;
    }
    std::array<std::byte, 4> raw{};
    base::store(raw.data(), part, std::endian::little);
    bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
  }
  return bytes;
}

}  // namespace octavo::telemac
