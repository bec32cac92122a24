// Plain positioned writes and MPI-IO: the ways of a program that writes its arrays by itself.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"
#include "octavo/ranks/communicator.hpp"
#include "process.hpp"
#include "ways.hpp"

namespace octavo::bench {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

struct Descriptor {
  explicit Descriptor(int opened) : number(opened) {}
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number;
};

int open_at(const fs::path& path, int flags) {
  const int number = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
  if (number < 0) throw base::system_error("open", errno).at(path.string());
  return number;
}

// `step` bytes at a time, as the file takes them.
template <class Transfer>
void all(std::size_t size, const char* action, const fs::path& path, Transfer&& step) {
  for (std::size_t done = 0; done < size;) {
    const ssize_t n = step(done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw base::system_error(action, n < 0 ? errno : ENODATA).at(path.string());
    done += static_cast<std::size_t>(n);
  }
}

std::uint64_t field_bytes(const Problem& problem) { return 8 * values_of_field(problem); }

// Whole fields; `summed`: in pieces that are hashed while they still are in the second-level cache (hashed first and
// written then, a tenth less).
void write_fields(const Problem& problem, const fs::path& path, int file, std::uint64_t offset, bool summed) {
  const std::size_t field_size = field_bytes(problem), piece = summed ? 256 << 10 : field_size;
  for (const auto& field : problem.fields) {
    const auto* bytes = reinterpret_cast<const char*>(field.data());
    base::RunningChecksum sum;
    throttle(field_size);
    for (std::size_t begin = 0; begin < field_size; begin += piece) {
      const std::size_t size = std::min(piece, field_size - begin);
      all(size, "write", path, [&](std::size_t done) {
        return ::pwrite(file, bytes + begin + done, size - done, static_cast<off_t>(offset + begin + done));
      });
      if (summed) sum.add(std::as_bytes(std::span(bytes + begin, size)));
    }
    offset += field_size;
  }
}

void read_fields(const fs::path& path, std::uint64_t offset, Values& values) {
  const Descriptor file(open_at(path, O_RDONLY));
  for (auto& field : values) {
    const std::size_t size = 8 * field.size();
    auto* bytes = reinterpret_cast<char*>(field.data());
    all(size, "read", path, [&](std::size_t done) {
      return ::pread(file.number, bytes + done, size - done, static_cast<off_t>(offset + done));
    });
    offset += size;
  }
}

void sync_where_asked(const Place& place, int file, const fs::path& path) {
  if (place.setup->sync && ::fdatasync(file) != 0) throw base::system_error("sync", errno).at(path.string());
}

std::uint64_t offset_of(const Place& place, bool shared) {
  return shared ? static_cast<std::uint64_t>(ranks::rank_in(place.comm)) * bytes_of(*place.problem) : 0;
}

struct RawKind {
  bool shared = false, preallocate = false, summed = false;
};

Way raw_way(const Place& place, const std::string& name, RawKind kind) {
  const bool shared = kind.shared;
  const auto write = [=](const fs::path& path) {
    if (shared) {
      // One rank makes the file, and gives it its size, before the others open it.
      ranks::agree(place.comm, [&] {
        if (ranks::rank_in(place.comm) != 0) return;
        const Descriptor file(open_at(path, O_WRONLY | O_CREAT));
        const auto whole = bytes_of(*place.problem) * static_cast<std::uint64_t>(ranks::size_of(place.comm));
        if (!kind.preallocate) return;
        if (const int error = ::posix_fallocate(file.number, 0, static_cast<off_t>(whole)); error != 0)
          throw base::system_error("preallocate", error).at(path.string());
      });
    }
    const Descriptor file(open_at(path, O_WRONLY | O_CREAT));
    write_fields(*place.problem, path, file.number, offset_of(place, shared), kind.summed);
    sync_where_asked(place, file.number, path);
  };
  return file_way(place, name, shared, write,
                  [=](const fs::path& path, Values& values) { read_fields(path, offset_of(place, shared), values); });
}

void check_mpi(int code, const char* action, const fs::path& path) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int size = 0;
  MPI_Error_string(code, text, &size);
  throw Error(Kind::unreadable, std::string("MPI cannot ") + action + ": " + text).at(path.string());
}

class MpiFile {
 public:
  MpiFile(MPI_Comm comm, const fs::path& path, int mode) : path_(path) {
    check_mpi(MPI_File_open(comm, path.c_str(), mode, MPI_INFO_NULL, &file_), "open", path);
  }
  ~MpiFile() {
    if (file_ != MPI_FILE_NULL) MPI_File_close(&file_);
  }
  MpiFile(const MpiFile&) = delete;
  MpiFile& operator=(const MpiFile&) = delete;
  MPI_File get() const { return file_; }

 private:
  MPI_File file_ = MPI_FILE_NULL;
  fs::path path_;
};

Way mpiio_way(const Place& place, const std::string& name, bool collective) {
  const auto write = [=](const fs::path& path) {
    const MpiFile file(place.comm, path, MPI_MODE_CREATE | MPI_MODE_WRONLY);
    std::uint64_t at = offset_of(place, true);
    for (const auto& field : place.problem->fields) {
      throttle(8 * field.size());
      const auto write_at = collective ? MPI_File_write_at_all : MPI_File_write_at;
      check_mpi(write_at(file.get(), static_cast<MPI_Offset>(at), field.data(), static_cast<int>(field.size()),
                         MPI_DOUBLE, MPI_STATUS_IGNORE),
                "write", path);
      at += 8 * field.size();
    }
    if (place.setup->sync) check_mpi(MPI_File_sync(file.get()), "sync", path);
  };
  const auto read = [=](const fs::path& path, Values& values) {
    const MpiFile file(place.comm, path, MPI_MODE_RDONLY);
    std::uint64_t at = offset_of(place, true);
    for (auto& field : values) {
      const auto read_at = collective ? MPI_File_read_at_all : MPI_File_read_at;
      check_mpi(read_at(file.get(), static_cast<MPI_Offset>(at), field.data(), static_cast<int>(field.size()),
                        MPI_DOUBLE, MPI_STATUS_IGNORE),
                "read", path);
      at += 8 * field.size();
    }
  };
  Way way = file_way(place, name, true, write, read);
  if (values_of_field(*place.problem) > 0x7fffffff) way.missing = "a field is too long for one call of MPI-IO";
  return way;
}

}  // namespace

void expect_same(const Values& expected, const Values& found, const std::string& way) {
  for (std::size_t f = 0; f < expected.size(); ++f)
    if (expected[f] != found.at(f)) throw Error(Kind::corrupt, "read other values than were written").at(way);
}

Way file_way(const Place& place, const std::string& name, bool shared, std::function<void(const fs::path&)> write,
             std::function<void(const fs::path&, Values&)> read) {
  const auto path = std::make_shared<fs::path>();
  std::string stem = name;
  std::replace_if(
      stem.begin(), stem.end(), [](char c) { return c == ' ' || c == ',' || c == '/'; }, '_');
  if (!shared) stem += "." + std::to_string(ranks::rank_in(place.comm));
  const auto remove = [=] {
    std::error_code ignored;
    if (!path->empty() && (!shared || ranks::rank_in(place.comm) == 0)) fs::remove_all(*path, ignored);
    MPI_Barrier(place.comm);
  };
  Way way;
  way.name = name;
  way.prepare = [=](int repetition) {
    if (place.setup->rewrite && !path->empty()) return;
    remove();
    *path = place.setup->directory / (stem + "." + std::to_string(repetition));
  };
  way.write = [=] {
    write(*path);
    return Detail{};
  };
  way.read = [=] { read(*path, *place.scratch); };
  way.check = [=] {
    expect_same(place.problem->fields, *place.scratch, name);
    // The next way must not find the values of this one.
    for (auto& field : *place.scratch) std::fill(field.begin(), field.end(), -1.0);
  };
  way.finish = remove;
  return way;
}

std::vector<Way> raw_ways(const Place& place) {
  return {raw_way(place, "raw, file a rank", {}), raw_way(place, "raw, file a rank, checksums", {.summed = true}),
          raw_way(place, "raw, shared file", {.shared = true}),
          raw_way(place, "raw, shared file preallocated", {.shared = true, .preallocate = true})};
}

std::vector<Way> mpiio_ways(const Place& place) {
  return {mpiio_way(place, "MPI-IO independent", false), mpiio_way(place, "MPI-IO collective", true)};
}

}  // namespace octavo::bench
