// A tiny RAMSES output with edits: the input names one of its files and says what to change in it.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/reader.hpp"
#include "tests/support/ramses_fixture.hpp"

namespace {

namespace fs = std::filesystem;
using octavo::base::Error;
using octavo::formats::ramses::open;

struct Target {
  fs::path path;
  std::string bytes;  ///< undamaged
};

/// The output, in memory if the system has a file system for that. It is removed when the process ends.
struct World {
  World() {
    const char* memory = "/dev/shm";
    std::string name = (fs::exists(memory) ? fs::path(memory) : fs::temp_directory_path()) / "octavo_fuzz_XXXXXX";
    directory = ::mkdtemp(name.data());
    const octavo::testing::RamsesFixture fixture{.ndim = 2,
                                                 .ncpu = 2,
                                                 .levels = 3,
                                                 .wall_lo = {1, 0, 0},
                                                 .hydro = {"density", "pressure"},
                                                 .grav = 3,
                                                 .particles = true};
    octavo::testing::FixtureWriter(fixture, directory).write();
    for (const auto& entry : fs::directory_iterator(directory)) {
      std::ifstream in(entry.path(), std::ios::binary);
      targets.push_back({entry.path(), {std::istreambuf_iterator<char>(in), {}}});
    }
    std::sort(targets.begin(), targets.end(), [](const Target& a, const Target& b) { return a.path < b.path; });
  }
  ~World() { fs::remove_all(directory); }
  fs::path directory;
  std::vector<Target> targets;
};

// Five bytes an edit: what, where (2), value (2).
std::string edited(std::string bytes, const std::uint8_t* data, std::size_t size) {
  for (; size >= 5 && !bytes.empty(); data += 5, size -= 5) {
    std::uint16_t where = 0, value = 0;
    std::memcpy(&where, data + 1, 2);
    std::memcpy(&value, data + 3, 2);
    const std::size_t at = where % bytes.size(), room = bytes.size() - at;
    const std::int32_t wide = static_cast<std::int16_t>(value), huge = static_cast<std::int32_t>(value) << 16;
    switch (data[0] % 8) {
      case 0: bytes.resize(at); break;
      case 1: bytes.insert(at, value % 64, static_cast<char>(value >> 8)); break;
      case 2: bytes.erase(at, value % 64); break;
      case 3: std::memcpy(bytes.data() + at, &wide, std::min<std::size_t>(4, room)); break;
      case 4: std::memcpy(bytes.data() + at / 4 * 4, &wide, std::min<std::size_t>(4, bytes.size() - at / 4 * 4)); break;
      case 5: std::memcpy(bytes.data() + at / 4 * 4, &huge, std::min<std::size_t>(4, bytes.size() - at / 4 * 4)); break;
      default: bytes[at] = static_cast<char>(bytes[at] ^ value);
    }
  }
  return bytes;
}

void put(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void read_all(const fs::path& directory) {
  const auto dataset = open(directory);
  octavo::mesh::Request request;
  request.particles = true;
  dataset.parts_touching(octavo::mesh::Box{{0.1, 0.1, 0.1}, {0.2, 0.2, 0.2}});
  for (int d = 0; d < dataset.num_parts; ++d) {
    dataset.part_bytes(d);
    const auto part = dataset.read(d, request);
    const auto& tree = std::get<octavo::mesh::Octree>(part.mesh);
    octavo::mesh::validate(tree);
    for (const auto& field : part.fields)
      if (field.size() != octavo::mesh::num_cells(tree)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const World world;
  if (size < 1) return 0;
  const Target& target = world.targets[data[0] % world.targets.size()];
  put(target.path, edited(target.bytes, data + 1, size - 1));
  try {
    read_all(world.directory);
  } catch (const Error&) {
    // The only thing that may come out.
  }
  put(target.path, target.bytes);
  return 0;
}
