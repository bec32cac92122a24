#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/gmsh/gmsh.hpp"
#include "tests/fuzz/read_series.hpp"
#include "tests/support/gmsh_fixture.hpp"
#include "tests/support/serafin_fixture.hpp"

// Input: a byte that chooses solids or a version, and text or binary, then edits of a sound file, four bytes each:
// where, in two; how; with what.
namespace {

using namespace octavo;
namespace fs = std::filesystem;

/// A prism with a tetrahedron on it, and a side.
constexpr const char* solids =
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n7\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 0 1\n6 0 1 1\n7 0 0 2\n"
    "$EndNodes\n$Elements\n3\n1 2 2 1 1 1 2 3\n2 6 2 2 1 1 2 3 4 5 6\n3 4 2 3 1 4 5 6 7\n$EndElements\n";

void edit(std::string& bytes, const std::uint8_t* data) {
  if (bytes.empty()) return;
  const std::size_t at = static_cast<std::size_t>(data[0] << 8 | data[1]) % bytes.size();
  const auto with = static_cast<char>(data[3]);
  switch (data[2] % 8) {
    case 0: bytes.resize(at); break;
    case 1: bytes.insert(at, 1, with); break;
    case 2: bytes.erase(at, 1); break;
    case 3: bytes[at] = static_cast<char>(bytes[at] + 1); break;
    case 4: bytes[at] = static_cast<char>('0' + data[3] % 10); break;
    case 5: bytes.insert(at, std::string(1 + data[3] % 20, '9')); break;
    default: bytes[at] = with;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fs::exists("/dev/shm") ? "/dev/shm" : "/tmp";
  static const fs::path path = folder / ("octavo_fuzz_gmsh_" + std::to_string(::getpid()) + ".msh"),
                        out = path.string() + ".out";
  if (size < 1) return 0;
  std::string bytes =
      data[0] / 4 % 4 == 0 ? std::string(solids) : testing::gmsh_bytes(data[0] % 2 == 1, data[0] / 2 % 2 == 1);
  for (std::size_t i = 1; i + 4 <= size; i += 4) edit(bytes, data + i);
  testing::put_file(path, bytes);
  try {
    if (formats::gmsh::recognise(path)) {
      formats::WriteReport report;
      // A mesh that was read can be written and read again.
      formats::gmsh::write(testing::read_series(formats::gmsh::open(path, {})), out, report);
      formats::gmsh::open(out, {}).read(0, {});
    }
  } catch (const base::Error&) {
  }
  return 0;
}
