#include "octavo/telemac/files/piece_files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "octavo/base/at.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/boundary.hpp"
#include "octavo/formats/serafin/write.hpp"

namespace octavo::telemac {
namespace {

namespace fs = std::filesystem;
using base::at;
using base::Error;
using base::Kind;

template <class T>
void add_big_endian(std::string& bytes, T value) {
  std::array<std::byte, sizeof(T)> raw;
  base::store(raw.data(), value, std::endian::big);
  bytes.append(reinterpret_cast<const char*>(raw.data()), raw.size());
}

void add_to_index(std::string& index, IndexKind kind, std::uint64_t first_byte, std::uint64_t bytes,
                  std::int64_t first_line, std::int64_t lines) {
  if (kind == IndexKind::bytes) {
    add_big_endian(index, static_cast<std::int64_t>(first_byte + 1));
    add_big_endian(index, static_cast<std::int64_t>(first_byte + bytes + 1));
  } else if (kind == IndexKind::lines) {
    add_big_endian(index, static_cast<std::int32_t>(first_line + 1));
    add_big_endian(index, static_cast<std::int32_t>(first_line + lines + 1));
  } else {
    index += serafin::list_directed(first_line + 1) + '\n';
  }
}

/// Prisms between the planes, lower triangle first; triangles in 2-D.
void write_connectivity(const serafin::Put& put, const serafin::SerafinHeader& header, const Piece& piece) {
  const std::int32_t planes = serafin::planes(header), points = serafin::plane_points(header);
  if (planes == 1) return serafin::write_connectivity(put, header, 0, piece.connectivity);
  std::vector<std::int32_t> prisms;
  for (std::int32_t plane = 0; plane + 1 < planes; ++plane) {
    prisms.clear();
    for (std::size_t e = 0; e < piece.connectivity.size(); e += 3)
      for (std::int32_t up = 0; up < 2; ++up)
        for (std::size_t k = 0; k < 3; ++k) prisms.push_back(piece.connectivity[e + k] + (plane + up) * points);
    serafin::write_connectivity(put, header, static_cast<std::int64_t>(at(plane) * prisms.size()), prisms);
  }
}

/// Global numbers and coordinates, plane by plane: coordinates of the lowest one, as the columns stand upright.
void write_points(const serafin::Put& put, const serafin::SerafinHeader& header, const Piece& piece,
                  std::int32_t global_points) {
  std::vector<std::int32_t> numbers(piece.points.size());
  for (std::int32_t plane = 0; plane < serafin::planes(header); ++plane) {
    const std::int64_t first = std::int64_t{plane} * static_cast<std::int64_t>(numbers.size());
    std::transform(piece.points.begin(), piece.points.end(), numbers.begin(),
                   [&](std::int32_t point) { return point + 1 + plane * global_points; });
    serafin::write_numbers(put, header, first, numbers);
    serafin::write_coordinates(put, header, 0, first, piece.x);
    serafin::write_coordinates(put, header, 1, first, piece.y);
  }
}

// ------------------------------------------------------------------------------------------------------ existing files

Error no_pieces(const fs::path& path) {
  return Error(Kind::unreadable, "no pieces " + path.string())
      .hint("name a prefix such as run/T2DRES, a -CONCAT file, or the pieces themselves");
}

/// "nnnnn-iiiii" at the end of a name: parts and part.
std::optional<std::pair<std::int32_t, std::int32_t>> piece_number(const std::string& name) {
  constexpr std::size_t width = 11;
  if (name.size() < width) return {};
  const std::string end = name.substr(name.size() - width);
  for (std::size_t i = 0; i < width; ++i)
    if (i == 5 ? end[i] != '-' : end[i] < '0' || end[i] > '9') return {};
  return std::pair(std::stoi(end.substr(0, 5)) + 1, std::stoi(end.substr(6)));
}

std::vector<PiecePlace> places_of_concat(const fs::path& prefix) {
  const file::File index = file::open_read(index_path(prefix));
  std::vector<std::byte> raw(file::size(index));
  file::pread_all(index, 0, raw);
  const std::uint64_t whole = file::size(file::open_read(concat_path(prefix)));
  if (raw.empty() || raw.size() % 16 != 0)
    throw Error(Kind::corrupt, "expected 16 bytes a part, found " + std::to_string(raw.size()))
        .at(index_path(prefix).string());
  std::vector<PiecePlace> places;
  for (std::size_t i = 0; i < raw.size(); i += 16) {
    const auto begin = base::load<std::int64_t>(raw.data() + i, std::endian::big);
    const auto end = base::load<std::int64_t>(raw.data() + i + 8, std::endian::big);
    if (begin < 1 || end < begin || static_cast<std::uint64_t>(end - 1) > whole)
      throw Error(Kind::corrupt, "part " + std::to_string(i / 16) + ": expected a range of bytes within 1 to " +
                                     std::to_string(whole) + ", found " + std::to_string(begin) + " to " +
                                     std::to_string(end))
          .at(index_path(prefix).string());
    places.push_back(
        {concat_path(prefix), static_cast<std::uint64_t>(begin - 1), static_cast<std::uint64_t>(end - begin), {}});
  }
  return places;
}

/// Files of a prefix: all of "PREFIXnnnnn-iiiii" with the one nnnnn that is there.
std::vector<fs::path> files_of_prefix(const fs::path& prefix) {
  const std::string stem = prefix.filename().string();
  const fs::path folder = prefix.has_parent_path() ? prefix.parent_path() : fs::path(".");
  std::vector<fs::path> files;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(folder, failure)) {
    const std::string name = entry.path().filename().string();
    if (name.size() == stem.size() + 11 && name.starts_with(stem) && piece_number(name)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

bool is_same(const PiecePlace& place, const fs::path& path) {
  const file::File whole = file::open_read(place.file), one = file::open_read(path);
  if (file::size(one) != place.bytes) return false;
  std::vector<std::byte> a(1 << 20), b(a.size());
  for (std::uint64_t at = 0; at < place.bytes; at += a.size()) {
    const std::size_t count = std::min<std::size_t>(a.size(), place.bytes - at);
    file::pread_all(whole, place.begin + at, std::span(a).first(count));
    file::pread_all(one, at, std::span(b).first(count));
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(count), b.begin())) return false;
  }
  return true;
}

/// Where numbered pieces lie beside concatenated ones they must be the same: else which are meant nobody can know.
void require_one_set(const fs::path& prefix, const std::vector<PiecePlace>& places) {
  const std::vector<fs::path> files = files_of_prefix(prefix);
  std::size_t same = 0;
  while (files.size() == places.size() && same < files.size() && is_same(places[same], files[same])) ++same;
  if (files.empty() || same == places.size()) return;
  throw Error(Kind::usage, "two sets of pieces that differ: " + concat_path(prefix).string() + " and " +
                               files.front().string() +
                               (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " others" : ""))
      .hint("name the -CONCAT file, or the numbered ones, or remove those of the older cut");
}

/// Numbered pieces must be all those of one cut.
void require_all(const std::vector<fs::path>& files) {
  const auto first = piece_number(files.front().filename().string());
  if (!first) return;
  for (std::size_t i = 0; i < files.size() || static_cast<std::int32_t>(i) < first->first; ++i) {
    const std::string name = i < files.size() ? files[i].filename().string() : "";
    const auto number = piece_number(name);
    if (!number || number->first != first->first || number->second != static_cast<std::int32_t>(i))
      throw Error(Kind::corrupt, "pieces are missing, or are of several cuts: expected part " + std::to_string(i) +
                                     " of " + std::to_string(first->first) + ", found " +
                                     (name.empty() ? "none" : name))
          .at(files.front().parent_path().string());
  }
}

std::vector<PiecePlace> places_of(const std::vector<fs::path>& paths) {
  if (paths.size() == 1) {
    const std::string name = paths[0].string();
    if (name.ends_with("-CONCAT")) return places_of_concat(name.substr(0, name.size() - 7));
    if (fs::exists(concat_path(paths[0]))) {
      std::vector<PiecePlace> places = places_of_concat(paths[0]);
      require_one_set(paths[0], places);
      return places;
    }
  }
  std::vector<PiecePlace> places;
  for (const fs::path& path : piece_files(paths)) places.push_back({path, 0, file::size(file::open_read(path)), {}});
  return places;
}

void require_like(const PiecePlace& place, const PiecePlace& first) {
  const serafin::SerafinHeader &a = place.header, &b = first.header;
  const char* what = a.variables != b.variables                 ? "variables"
                     : a.real_bytes != b.real_bytes             ? "a precision"
                     : a.order != b.order                       ? "a byte order"
                     : serafin::planes(a) != serafin::planes(b) ? "planes"
                     : a.date != b.date                         ? "a date"
                                                                : nullptr;
  if (what != nullptr)
    throw Error(Kind::corrupt, std::string("pieces of different runs: expected ") + what + " as in " +
                                   first.file.filename().string() + ", found others")
        .at(place.file.string() + (place.begin > 0 ? ", byte " + std::to_string(place.begin) : ""));
}

}  // namespace

std::vector<fs::path> piece_files(const std::vector<fs::path>& paths) {
  std::vector<fs::path> files = paths;
  if (paths.size() == 1) {  // a prefix: the whole file may have its name, beside the pieces
    const std::vector<fs::path> numbered = files_of_prefix(paths[0]);
    if (!numbered.empty() || !fs::is_regular_file(paths[0])) files = numbered;
  }
  if (files.empty()) throw no_pieces(paths.empty() ? fs::path() : paths[0]);
  std::sort(files.begin(), files.end());
  require_all(files);
  return files;
}

fs::path piece_path(const fs::path& prefix, std::int32_t parts, std::int32_t part) {
  std::array<char, 32> suffix{};
  if (parts > 1) std::snprintf(suffix.data(), suffix.size(), "%05d-%05d", parts - 1, part);
  return prefix.string() + suffix.data();
}
fs::path concat_path(const fs::path& prefix) { return prefix.string() + "-CONCAT"; }
fs::path index_path(const fs::path& prefix) { return prefix.string() + "-INDEX"; }

PieceWriter::PieceWriter(step::NewFiles& files, fs::path prefix, std::int32_t parts, PieceLayout layout, IndexKind kind)
    : PieceWriter(files, std::move(prefix), parts, layout, kind, Own{}) {}

PieceWriter::PieceWriter(step::NewFiles& files, fs::path prefix, std::int32_t parts, PieceLayout layout, IndexKind kind,
                         Own own)
    : files_(&files),
      concat_(layout != PieceLayout::files && parts > 1),
      prefix_(std::move(prefix)),
      parts_(parts),
      kind_(kind),
      own_(own) {}

PiecePlace PieceWriter::next(std::uint64_t bytes, std::int64_t lines) {
  const fs::path path = concat_ ? concat_path(prefix_) : piece_path(prefix_, parts_, part_);
  // Each process plans all parts, but makes only the files whose first part is its own.
  if (!concat_ || part_ == 0) {
    if (part_ >= own_.first && part_ < own_.last) file_ = files_->make(path);
    made_.push_back(path);
    end_ = 0;
  }
  if (concat_) add_to_index(index_, kind_, end_, bytes, lines_, lines);
  const PiecePlace place{path, end_, bytes, {}};
  end_ += bytes;
  lines_ += lines;
  ++part_;
  return place;
}

void PieceWriter::next(std::string_view text) {
  const PiecePlace place = next(text.size(), std::count(text.begin(), text.end(), '\n'));
  put(place, 0, std::as_bytes(std::span(text)));
}

void PieceWriter::put(const PiecePlace& place, std::uint64_t offset, std::span<const std::byte> bytes) {
  const fs::path partial = files_->partial(place.file);
  if (!file_.is_open() || file_.path() != partial) file_ = file::open_write(partial);
  file::pwrite_all(file_, place.begin + offset, bytes);
}

std::vector<fs::path> PieceWriter::finish() {
  if (file_.is_open()) file_.close();
  if (concat_) {
    if (own_.first == 0 && own_.last > 0) {
      file::File file = files_->make(index_path(prefix_), true);
      file::pwrite_all(file, 0, std::as_bytes(std::span(index_)));
      file.close();
    }
    made_.push_back(index_path(prefix_));
  }
  return std::move(made_);
}

serafin::SerafinHeader geometry_header(serafin::SerafinHeader header) {
  // Counted from 0: 2 and 3 are the origin, 6 the planes, 9 says whether a date follows.
  const auto iparam = header.iparam;
  if (header.date && std::count(header.date->begin(), header.date->end(), 0) == std::ssize(*header.date))
    header.date.reset();
  header.iparam = {1, 0, iparam[2], iparam[3], 0, 0, iparam[6] > 1 ? iparam[6] : 0, 0, 0, header.date ? 1 : 0};
  header.quadratic = 0;
  return header;
}

serafin::SerafinHeader piece_header(serafin::SerafinHeader like, const Piece& piece) {
  return piece_header(std::move(like), {static_cast<std::int32_t>(piece.points.size()),
                                        static_cast<std::int32_t>(piece.connectivity.size() / 3), piece.boundary_points,
                                        static_cast<std::int32_t>(piece.shared.size())});
}

serafin::SerafinHeader piece_header(serafin::SerafinHeader like, const std::array<std::int32_t, 4>& counts) {
  const std::int32_t planes = serafin::planes(like);
  const std::string_view tag = like.real_bytes == 8 ? "SERAFIND" : "SERAFIN ";
  std::copy(tag.begin(), tag.end(), like.title.begin() + 72);
  // IPARAM(8) and IPARAM(9) of the format: points on the boundary, and points that other parts have, too.
  like.iparam[7] = counts[2];
  like.iparam[8] = counts[3];
  like.points = planes * counts[0];
  like.elements = counts[1] * std::max(planes - 1, 1);
  return like;
}

std::vector<std::byte> encode_piece(const serafin::SerafinHeader& header, const Piece& piece,
                                    std::int32_t global_points) {
  std::vector<std::byte> bytes(serafin::offsets_of(header).steps);
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> some) {
    std::copy(some.begin(), some.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  };
  serafin::write_header(put, header);
  write_connectivity(put, header, piece);
  write_points(put, header, piece, global_points);
  return bytes;
}

PieceSet find_pieces(const std::vector<fs::path>& paths) {
  PieceSet set{places_of(paths), {}};
  for (PiecePlace& place : set.places) {
    const serafin::SerafinSeries series = open_piece(place);
    place.header = series.header;
    set.steps.push_back(series.steps);
    require_like(place, set.places.front());
  }
  return set;
}

serafin::SerafinSeries open_piece(const PiecePlace& place) {
  return serafin::open_series(std::make_shared<const file::File>(file::open_read(place.file)), place.begin,
                              place.bytes);
}

std::vector<std::int32_t> read_global(const serafin::SerafinSeries& piece, std::int32_t most) {
  std::vector<std::int32_t> numbers(at(serafin::plane_points(piece.header)));
  serafin::read_numbers(piece, 0, numbers);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 1 || numbers[i] > most)
      throw Error(Kind::corrupt, "global number of point " + std::to_string(i + 1) + ": expected 1 to " +
                                     std::to_string(most) + ", found " + std::to_string(numbers[i]))
          .at(piece.file->path().string() + (piece.begin > 0 ? ", byte " + std::to_string(piece.begin) : ""))
          .hint("these are pieces of another mesh, or no pieces at all: a whole file has its boundary's numbers there");
    --numbers[i];
  }
  return numbers;
}

}  // namespace octavo::telemac
