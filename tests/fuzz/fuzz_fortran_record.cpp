// Any bytes as a file of Fortran records.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/fortran_record.hpp"

namespace {

using octavo::base::Error;
using octavo::file::Record;
using octavo::file::RecordReader;

// Payloads never reach past the file, whatever the markers say.
void walk(const std::string& path, std::size_t bytes) {
  RecordReader reader(path, 4096);
  std::uint64_t payload = 0;
  std::vector<Record> records;
  while (!reader.at_end()) {
    reader.prefetch(256);
    records.push_back(reader.next("record"));
    payload += records.back().bytes;
    if (payload > bytes) std::abort();
  }
  reader.require_end();
  for (const Record& record : records) {
    std::vector<std::byte> all(static_cast<std::size_t>(record.bytes));
    reader.read_bytes(record, 0, all);
    if (!all.empty()) reader.read_bytes(record, record.bytes - 1, std::span(all).first(1));
  }
}

void typed(const std::string& path) {
  RecordReader reader(path);
  reader.integers(1, "a count");
  reader.reals(3, "reals");
  reader.array<std::int32_t>("integers");
  reader.skip(2, 8, "two of eight bytes");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const int memory = ::memfd_create("records", 0);
  static const std::string path = "/proc/self/fd/" + std::to_string(memory);
  if (::ftruncate(memory, 0) != 0 || ::pwrite(memory, data, size, 0) != static_cast<ssize_t>(size)) std::abort();
  for (int way = 0; way < 2; ++way) try {
      way == 0 ? walk(path, size) : typed(path);
    } catch (const Error&) {
      // The only thing that may come out.
    }
  return 0;
}
