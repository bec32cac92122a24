#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/formats/ugrid/ugrid.hpp"
#include "tests/fuzz/read_series.hpp"
#include "tests/support/serafin_fixture.hpp"
#include "tests/support/ugrid_fixture.hpp"

// Input: a byte that chooses a classic file or one of version 4, then edits of it. Edits of the classic file are of any
// byte (where, in two; how; with what), or cut it short. The other is made of shapes, numbers and texts in the input.
namespace {

using namespace octavo;
namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;

/// Bytes of the input one after another; zeros behind its end.
struct Input {
  const std::uint8_t* data;
  std::size_t size, at = 0;
  std::uint8_t byte() { return at < size ? data[at++] : 0; }
  std::int64_t number() {
    const std::uint8_t width = byte();
    if (width < 200) return width % 7 - 1;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return static_cast<std::int64_t>(value);
  }
};

void edit(std::string& bytes, Input& input) {
  while (input.at + 4 <= input.size && !bytes.empty()) {
    const std::size_t at = static_cast<std::size_t>(input.byte() << 8 | input.byte()) % bytes.size();
    const std::uint8_t how = input.byte(), with = input.byte();
    auto& byte = bytes[at];
    switch (how % 8) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(at, 4, static_cast<char>(with)); break;
      case 2: bytes.erase(at, 4); break;
      case 3: byte = static_cast<char>(byte ^ with); break;
      case 4: byte = static_cast<char>(byte + 1); break;
      case 5: byte = static_cast<char>(byte - 1); break;
      default: byte = static_cast<char>(with);
    }
  }
}

void put_words(const hdf5::File& file, const char* object, const char* name, Input& input,
               std::vector<const char*> texts) {
  const std::uint8_t which = input.byte();
  if (which == 255) return;
  hdf5::write_words(file, object, name, texts[which < 128 ? 0 : which % texts.size()]);
}

template <class T>
void put_values(const hdf5::File& file, const char* name, const hdf5::ItemType& type, std::vector<std::uint64_t> shape,
                Input& input) {
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) count *= static_cast<std::size_t>(extent);
  std::vector<T> values(count);
  for (T& value : values) value = static_cast<T>(input.number());
  hdf5::make(file, name, type, shape);
  if (count > 0) hdf5::write_rows<T>(file, name, 0, shape[0], values);
}

void make_version_4(const fs::path& path, Input& input) {
  fs::remove(path);
  const hdf5::File file = hdf5::create(path);
  const auto few = [&] { return static_cast<std::uint64_t>(input.byte() % 8); };
  const std::uint64_t points = few(), cells = few(), corners = 2 + few();
  put_values<std::int32_t>(file, "m", hdf5::int32_type, {1}, input);
  put_words(file, "m", "cf_role", input, {"mesh_topology", "mesh"});
  put_words(file, "m", "node_coordinates", input, {"x y", "x x", "x", "fn m", "no y"});
  put_words(file, "m", "face_node_connectivity", input, {"fn", "x", "no", "m"});
  put_values<double>(file, "x", hdf5::float64_type, {points}, input);
  put_values<double>(file, "y", hdf5::float64_type, {points + (input.byte() > 250 ? 1 : 0)}, input);
  put_values<std::int32_t>(file, "fn", hdf5::int32_type, {cells, corners}, input);
  const std::array<std::int64_t, 1> start{input.number()}, fill{input.number()};
  hdf5::write_numbers(file, "fn", "start_index", start);
  hdf5::write_numbers(file, "fn", "_FillValue", fill);
  put_values<float>(file, "f", hdf5::float32_type, {few(), input.byte() < 128 ? points : cells}, input);
  put_words(file, "f", "mesh", input, {"m", "x"});
  put_words(file, "f", "location", input, {"node", "face", "edge"});
  put_values<double>(file, "time", hdf5::float64_type, {few()}, input);
  put_words(file, "time", "units", input, {"days since 1970", " since ", "s"});
  if (input.byte() % 2 == 0) return;
  put_values<std::int32_t>(file, "v", hdf5::int32_type, {1}, input);
  put_words(file, "v", "cf_role", input, {"mesh_topology", "mesh"});
  put_words(file, "v", "node_coordinates", input, {"x y x", "x y z", "x x", "no"});
  put_words(file, "v", "volume_node_connectivity", input, {"fn", "x", "no"});
}

void read_all(const fs::path& path, const fs::path& out) {
  if (!formats::ugrid::recognise(path)) return;
  formats::ugrid::list_steps(path);
  // A mesh that was read can be written.
  formats::ugrid::write(testing::read_series(formats::ugrid::open(path, {})), out, {});
  formats::ugrid::open(out, {}).read(0, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fs::exists("/dev/shm") ? "/dev/shm" : "/tmp";
  static const fs::path path = folder / ("octavo_fuzz_ugrid_" + std::to_string(::getpid()) + ".nc"),
                        out = path.string() + ".out";
  Input input{data, size};
  const std::uint8_t kind = input.byte();
  if (kind % 2 == 0) {
    std::string bytes = testing::two_cells(kind % 4 == 0 ? 0 : 1);
    edit(bytes, input);
    testing::put_file(path, bytes);
  } else {
    make_version_4(path, input);
  }
  try {
    read_all(path, out);
  } catch (const base::Error&) {
  }
  fs::remove(path);
  fs::remove(out);
  return 0;
}
