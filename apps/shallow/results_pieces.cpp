#include <memory>

#include "apps/shallow/results.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/telemac/files/piece_files.hpp"

namespace octavo::shallow {

namespace {

namespace serafin = formats::serafin;

/// The content of a rank's file: triangles whose lowest point it owns, and their points.
struct Piece {
  std::vector<std::int32_t> points;   ///< local ones
  std::vector<std::int32_t> corners;  ///< from 1, in `points`
};

Piece piece_of(const Mesh& mesh) {
  Piece piece;
  std::vector<std::int32_t> number(mesh.global.size(), 0);
  for (const Triangle& triangle : mesh.triangles) {
    if (triangle.point[0] >= mesh.owned) continue;
    for (const std::int32_t point : triangle.point) {
      std::int32_t& mine = number[static_cast<std::size_t>(point)];
      if (mine == 0) {
        piece.points.push_back(point);
        mine = static_cast<std::int32_t>(piece.points.size());
      }
      piece.corners.push_back(mine);
    }
  }
  return piece;
}

template <class T>
std::vector<T> pick(const Piece& piece, const std::vector<T>& values) {
  std::vector<T> out;
  for (const std::int32_t point : piece.points) out.push_back(values[static_cast<std::size_t>(point)]);
  return out;
}

void write_piece(const serafin::Put& put, const serafin::SerafinHeader& header, const Mesh& mesh, const Piece& piece) {
  serafin::write_header(put, header);
  serafin::write_connectivity(put, header, 0, piece.corners);
  std::vector<std::int32_t> numbers = pick(piece, mesh.global);
  for (std::int32_t& number : numbers) ++number;
  serafin::write_numbers(put, header, 0, numbers);
  serafin::write_coordinates(put, header, 0, 0, pick(piece, mesh.x));
  serafin::write_coordinates(put, header, 1, 0, pick(piece, mesh.y));
}

}  // namespace

Results open_pieces(MPI_Comm comm, const std::filesystem::path& path, const Mesh& mesh,
                    const serafin::SerafinHeader& whole) {
  struct Open {
    file::File file;
    serafin::SerafinHeader header;
    Piece piece;
    std::int64_t steps = 0;
  };
  auto open = std::make_shared<Open>(Open{{}, whole, piece_of(mesh), 0});
  open->header.points = static_cast<std::int32_t>(open->piece.points.size());
  open->header.elements = static_cast<std::int32_t>(open->piece.corners.size() / 3);
  const std::filesystem::path name = telemac::piece_path(path, ranks::size_of(comm), ranks::rank_in(comm));
  const serafin::Put put = [open](std::uint64_t offset, std::span<const std::byte> bytes) {
    file::pwrite_all(open->file, offset, bytes);
  };
  ranks::agree(comm, [&] {
    std::filesystem::remove(name);
    open->file = file::create(name);
    write_piece(put, open->header, mesh, open->piece);
  });
  Results results;
  results.write = [comm, open, put](double time, const Fields& fields) {
    ranks::agree(comm, [&] {
      serafin::write_time(put, open->header, open->steps, time);
      for (std::size_t v = 0; v < fields.size(); ++v)
        serafin::write_values(put, open->header, open->steps, v, 0, pick(open->piece, fields[v]));
      ++open->steps;
    });
  };
  return results;
}

}  // namespace octavo::shallow
