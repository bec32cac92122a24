#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/telemac/cut/partition.hpp"
#include "tests/support/serafin_fixture.hpp"

// Input: a byte that chooses a set of sound text files of one mesh, another that chooses which of them is given, then
// edits of it (where, in two bytes; what; a value). Accepted files are cut into pieces.
namespace {

using namespace octavo;
namespace fs = std::filesystem;

enum Kind { boundary, sections, zones, weirs, num_kinds };
using Texts = std::array<std::string, num_kinds>;

constexpr std::int32_t columns = 4, rows = 3, points = (columns + 1) * (rows + 1);

std::string line(const std::vector<int>& numbers, const std::string& end = "\n") {
  std::string text;
  for (const int number : numbers) text += std::to_string(number) + ' ';
  return text + end;
}

std::string weir(int number, const std::string& end) {
  return line({number}, "0.5 1.5D0 2. ") + line({1, 2, 3, 4}, "2*0.5 0. ") + line({5, 6, 7, 8}, end);
}

Texts sound(const testing::Triangles& mesh, bool v8) {
  Texts texts;
  texts[boundary] = testing::boundary_text(testing::boundary_of(mesh));
  texts[sections] = v8 ? "comment\n2 1\n'by place'\n0. 0. 4. 3.\nother\n4., 0.0 0 3\n"
                       : "comment\n2 -1\nby\n" + line({1, points}) + "number\n" + line({points / 2, 3});
  for (int point = points; point > 0; --point) texts[zones] += line({point, point % 3});
  const std::string comments = "x\ny\nz\n", breach = "0 1 2*0.5\n";
  texts[weirs] = v8 ? "comment\n2 1 0.25\nfirst\n2\n" + comments + weir(1, breach) + weir(2, breach) + "second\n1\n" +
                          comments + weir(3, breach)
                    : "comment\n2 1\n" + weir(1, "\n") + weir(2, "\n");
  return texts;
}

void edit(std::string& text, const std::uint8_t* what) {
  constexpr std::array<const char*, 16> odd{" -1 ",         " 0 ",     " 1 ",   " 20 ",         " 21 ", " 2147483647 ",
                                            " 2147483648 ", " 1e300 ", " nan ", " 3* ",         "9*1",  " 1e9*0 ",
                                            " / ",          ",,",      "\n",    " 99999999999 "};
  if (text.empty()) return;
  const std::size_t at = static_cast<std::size_t>(what[0] * 256 + what[1]) % text.size();
  const std::size_t next = std::min(text.find_first_of(" \n", at), text.size() - 1);
  switch (what[2] % 6) {
    case 0: text[at] = static_cast<char>(what[3]); break;
    case 1: text.replace(at, next - at, odd[what[3] % odd.size()]); break;
    case 2: text.insert(at, odd[what[3] % odd.size()]); break;
    case 3: text.erase(at, 1 + what[3] % 24); break;
    case 4: text.insert(at, text.substr(at, what[3])); break;
    default: text.resize(at);
  }
}

struct Scratch {
  fs::path path;
  std::array<Texts, 2> texts;
  telemac::PartitionOptions options;
  Scratch() {
    const fs::path memory = "/dev/shm";
    path = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
           ("octavo-fuzz-sides-" + std::to_string(::getpid()));
    fs::create_directories(path);
    testing::SerafinFixture f;
    f.mesh = testing::random_triangles(3, columns, rows);
    f.steps = 0;
    testing::put_file(path / "geo.slf", serafin_bytes(f));
    texts = {sound(f.mesh, false), sound(f.mesh, true)};
    options.parts = 3;
    options.part_of = partition::PartVector{};
    for (std::size_t triangle = 0; 3 * triangle < f.mesh.connectivity.size(); ++triangle)
      options.part_of->push_back(static_cast<std::int32_t>(triangle % 3));
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  if (size < 2) return 0;
  std::string text = scratch.texts[data[0] % 2][data[1] % num_kinds];
  for (std::size_t i = 2; i + 4 <= size; i += 4) edit(text, data + i);
  testing::put_file(scratch.path / "side", text);
  telemac::PartitionOptions options = scratch.options;
  for (auto* given : {&options.boundary, &options.sections, &options.zones, &options.weirs}) given->reset();
  std::array{&options.boundary, &options.sections, &options.zones, &options.weirs}[data[1] % num_kinds]->emplace(
      scratch.path / "side");
  try {
    telemac::partition_serafin(scratch.path / "geo.slf", scratch.path / "T2D", options);
  } catch (const base::Error&) {
    if (size == 2) throw;  // nothing was edited
  }
  return 0;
}
