#include <algorithm>
#include <memory>
#include <utility>

#include "apps/shallow/results.hpp"
#include "octavo/base/byte_order.hpp"
#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/serafin/write.hpp"
#include "octavo/ranks/communicator.hpp"

/// The usual way without Octavo: every rank describes its points' places by a file view and writes collectively.
namespace octavo::shallow {

namespace {

namespace serafin = formats::serafin;

/// A word of 4 bytes of a step, and what stands there.
struct Word {
  enum Kind : std::uint8_t { value, length, time_length, time } kind = value;
  std::uint32_t variable = 0;
  std::int32_t point = 0;
  MPI_Aint place = 0;  ///< from the step's beginning [bytes]
};

/// This rank's words, by place. Rank 0 has those between the values too, so that a step has no holes.
std::vector<Word> words_of(const Mesh& mesh, const serafin::SerafinHeader& header,
                           const serafin::RecordOffsets& offsets, bool first) {
  std::vector<Word> words;
  const auto add = [&](Word::Kind kind, std::uint64_t place, std::uint32_t variable = 0, std::int32_t point = 0) {
    words.push_back({kind, variable, point, static_cast<MPI_Aint>(place)});
  };
  if (first) add(Word::time_length, 0), add(Word::time, 4), add(Word::time_length, 8);
  for (std::uint32_t v = 0; v < header.variables.size(); ++v) {
    const std::uint64_t values = serafin::values_at(header, offsets, 0, v) - offsets.steps;
    if (first) add(Word::length, values - 4);
    for (std::int32_t i = 0; i < mesh.owned; ++i)
      add(Word::value, values + 4 * static_cast<std::uint64_t>(mesh.global[static_cast<std::size_t>(i)]), v, i);
    if (first) add(Word::length, values + 4 * static_cast<std::uint64_t>(header.points));
  }
  return words;
}

std::uint32_t bits_of(const Word& word, std::int32_t points, double time, const Fields& fields) {
  switch (word.kind) {
    case Word::value:
      return std::bit_cast<std::uint32_t>(
          static_cast<float>(fields[word.variable][static_cast<std::size_t>(word.point)]));
    case Word::length: return 4 * static_cast<std::uint32_t>(points);
    case Word::time_length: return 4;
    default: return std::bit_cast<std::uint32_t>(static_cast<float>(time));
  }
}

void copy_geometry(const serafin::SerafinSeries& geometry, serafin::SerafinHeader header,
                   const std::filesystem::path& path) {
  const file::File out = file::create(path);
  const serafin::Put put = [&](std::uint64_t offset, std::span<const std::byte> bytes) {
    file::pwrite_all(out, offset, bytes);
  };
  std::vector<std::int32_t> corners(3 * static_cast<std::size_t>(header.elements));
  serafin::read_connectivity(geometry, 0, corners);
  serafin::write_connectivity(put, header, 0, corners);
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(header.points));
  serafin::read_numbers(geometry, 0, numbers);
  header.iparam[7] =
      static_cast<std::int32_t>(std::count_if(numbers.begin(), numbers.end(), [](auto n) { return n > 0; }));
  serafin::write_header(put, header);
  serafin::write_numbers(put, header, 0, numbers);
  std::vector<double> axis(numbers.size());
  for (int a = 0; a < 2; ++a) {
    serafin::read_coordinates(geometry, a, 0, axis);
    serafin::write_coordinates(put, header, a, 0, axis);
  }
}

void check(int status, const char* action) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(status, text, &length);
  throw base::Error(base::Kind::unreadable, std::string("MPI-IO cannot ") + action + ": " + text);
}

struct View {
  MPI_File file = MPI_FILE_NULL;
  std::vector<Word> words;
  std::vector<std::uint32_t> buffer;  ///< big-endian
  MPI_Request request = MPI_REQUEST_NULL;
  std::int64_t steps = 0;
  std::int32_t points = 0;
};

void open_file(MPI_Comm comm, View& view, const std::filesystem::path& path, const serafin::RecordOffsets& offsets) {
  check(MPI_File_open(comm, path.c_str(), MPI_MODE_WRONLY, MPI_INFO_NULL, &view.file), "open the file");
  std::vector<MPI_Aint> places;
  for (const Word& word : view.words) places.push_back(word.place);
  MPI_Datatype packed = MPI_DATATYPE_NULL, step = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_UINT32_T, &packed);
  MPI_Type_create_resized(packed, 0, static_cast<MPI_Aint>(offsets.step_bytes), &step);
  MPI_Type_commit(&step);
  check(
      MPI_File_set_view(view.file, static_cast<MPI_Offset>(offsets.steps), MPI_UINT32_T, step, "native", MPI_INFO_NULL),
      "set a view");
  MPI_Type_free(&step);
  MPI_Type_free(&packed);
}

void write_step(View& view, bool nonblocking, double time, const Fields& fields) {
  check(MPI_Wait(&view.request, MPI_STATUS_IGNORE), "finish the step before");
  for (std::size_t i = 0; i < view.words.size(); ++i)
    base::store(reinterpret_cast<std::byte*>(&view.buffer[i]), bits_of(view.words[i], view.points, time, fields),
                std::endian::big);
  const auto count = static_cast<int>(view.words.size());
  const MPI_Offset first = static_cast<MPI_Offset>(view.steps) * count;
  check(nonblocking
            ? MPI_File_iwrite_at_all(view.file, first, view.buffer.data(), count, MPI_UINT32_T, &view.request)
            : MPI_File_write_at_all(view.file, first, view.buffer.data(), count, MPI_UINT32_T, MPI_STATUS_IGNORE),
        "write a step");
  ++view.steps;
}

}  // namespace

Results open_view(MPI_Comm comm, bool nonblocking, const std::filesystem::path& path, const Mesh& mesh,
                  const serafin::SerafinSeries& geometry, const serafin::SerafinHeader& header) {
  const serafin::RecordOffsets offsets = serafin::offsets_of(header);
  const bool first = ranks::rank_in(comm) == 0;
  auto view = std::make_shared<View>();
  view->words = words_of(mesh, header, offsets, first);
  view->buffer.resize(view->words.size());
  view->points = header.points;
  ranks::agree(comm, [&] {
    if (first) copy_geometry(geometry, header, path);
  });
  open_file(comm, *view, path, offsets);
  Results results;
  results.write = [view, nonblocking](double time, const Fields& fields) {
    write_step(*view, nonblocking, time, fields);
  };
  results.wait = [view] { check(MPI_Wait(&view->request, MPI_STATUS_IGNORE), "finish a step"); };
  results.close = [view] {
    check(MPI_Wait(&view->request, MPI_STATUS_IGNORE), "finish a step");
    check(MPI_File_close(&view->file), "close the file");
  };
  return results;
}

}  // namespace octavo::shallow
