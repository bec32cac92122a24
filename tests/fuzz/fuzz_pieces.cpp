#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "octavo/telemac/merge/merge_pieces.hpp"
#include "tests/fuzz/scratch_folder.hpp"
#include "tests/support/serafin_fixture.hpp"

// Input: a byte that chooses sound pieces, concatenated or not, then edits of their files: which one, where (two bytes,
// modulo the size), what, a value. Accepted pieces are merged.
namespace {

using namespace octavo;
namespace fs = std::filesystem;

using Files = std::map<std::string, std::string>;

struct Scratch : ScratchFolder {
  std::vector<Files> sound;  ///< concatenated, then single ones
  Scratch() : ScratchFolder("pieces") {
    for (int kind = 0; kind < 4; ++kind) sound.push_back(cut(kind));
  }
  Files cut(int kind) const {
    clear();
    testing::SerafinFixture f;
    f.mesh = testing::random_triangles(static_cast<std::uint32_t>(kind), 4, 3);
    f.planes = kind > 1 ? 2 : 1;
    testing::put_file(path / "whole.slf", serafin_bytes(f));
    telemac::PartitionOptions options;
    options.parts = 3;
    options.method = partition::CutMethod::hilbert;
    options.layout = kind % 2 == 0 ? telemac::PieceLayout::concat : telemac::PieceLayout::files;
    telemac::partition_mesh(path / "whole.slf", path / "T2D", options);
    Files files;
    for (const auto& entry : fs::directory_iterator(path))
      files[entry.path().filename().string()] = testing::bytes_of_file(entry);
    return files;
  }
};

void edit(std::string& bytes, const std::uint8_t* what) {
  if (bytes.empty()) return;
  const std::size_t at = static_cast<std::size_t>(what[0] * 256 + what[1]) % bytes.size();
  switch (what[2] % 4) {
    case 0: bytes[at] = static_cast<char>(what[3]); break;
    case 1: bytes.insert(at, std::string(1 + what[3] % 12, static_cast<char>(what[3]))); break;
    case 2: bytes.erase(at, 1 + what[3] % 24); break;
    default: bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), what[3]));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  if (size < 1) return 0;
  Files files = scratch.sound[data[0] % scratch.sound.size()];
  for (std::size_t i = 1; i + 5 <= size; i += 5)
    edit(std::next(files.begin(), static_cast<std::ptrdiff_t>(data[i] % files.size()))->second, data + i + 1);
  scratch.clear();
  for (const auto& [name, bytes] : files) testing::put_file(scratch.path / name, bytes);
  telemac::MergeOptions options;
  if (data[0] % 8 >= 4) options.mesh = scratch.path / "whole.slf";
  try {
    telemac::merge_pieces({scratch.path / "T2DGEO"}, scratch.path / "merged.slf", options);
  } catch (const base::Error&) {
  }
  return 0;
}
