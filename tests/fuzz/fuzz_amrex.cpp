#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/amrex/amrex.hpp"
#include "octavo/mesh/boxes.hpp"
#include "tests/fuzz/fuzz_cross.hpp"
#include "tests/support/amrex_fixture.hpp"
#include "tests/support/amrex_whole.hpp"

// Input: a byte that chooses one of the sound outputs and what it is converted to, then edits of its files: which file,
// where (two bytes, modulo the size), what to do, and a value for it. Text files get whole numbers and brackets in
// place of others, too.
namespace {

using namespace octavo;
using namespace octavo::formats::amrex;
namespace fs = std::filesystem;

struct Scratch {
  fs::path path;
  Scratch() {
    const fs::path memory = "/dev/shm";
    path = (fs::is_directory(memory) ? memory : fs::temp_directory_path()) /
           ("octavo-fuzz-amrex-" + std::to_string(::getpid()));
    fs::create_directories(path);
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

std::vector<testing::AmrexFiles> sound_outputs() {
  std::vector<testing::AmrexFiles> all;
  for (int version = 1; version <= 4; ++version) {
    testing::AmrexFixture f;
    f.version = version;
    f.dim = version == 2 ? 3 : version == 3 ? 1 : 2;
    f.ratio = version == 1 ? 4 : 2;
    f.big_endian = version == 4;
    f.single = version == 3;
    f.packed = version == 2;
    f.with_particles = true;
    all.push_back(testing::amrex_plotfile(f));
  }
  testing::AmrexFixture ghosted;
  ghosted.ghost = {2, 1, 0};
  ghosted.with_particles = ghosted.packed = true;
  all.push_back(testing::amrex_level_checkpoint(ghosted));
  all.push_back(testing::amrex_core_checkpoint(ghosted));
  all.back()["component_names"] = "State density\nState two words\nFace0 bx\nFace0 ex\nNodal phi\nNodal psi\n";
  return all;
}

void edit(std::string& file, const std::uint8_t* what) {
  static const std::vector<std::string> words{
      "0",   "1",  "2",     "-1", "3", "7",           "16", "2147483647",          "4294967296", "((",  ")",
      "nan", "..", "1e308", "\n", " ", "-2147483648", ",",  "9223372036854775807", "Level_0/",   "FAB "};
  if (file.empty()) return;
  const std::size_t at = static_cast<std::size_t>(what[0] * 256 + what[1]) % file.size();
  const std::string& word = words[what[3] % words.size()];
  switch (what[2] % 6) {
    case 0: file[at] = static_cast<char>(what[3]); break;
    case 1: file[at] = static_cast<char>(file[at] ^ static_cast<char>(what[3])); break;
    case 2: file.insert(at, word); break;
    case 3: file.erase(at, 1 + what[3] % 24); break;
    case 4: file.resize(file.size() - std::min<std::size_t>(file.size(), what[3])); break;
    default: {  // replace a number by another one
      std::size_t end = at;
      while (end < file.size() && (std::isdigit(static_cast<unsigned char>(file[end])) != 0 || file[end] == '-')) ++end;
      file.replace(at, end - at, word);
    }
  }
}

void read_all(const fs::path& path, unsigned flags) {
  const AmrexOutput output = open_output(path);
  read_patches(output);
  for (const auto& level : output.multifabs)
    for (const MultiFab& multifab : level) read_multifab(multifab);
  for (const std::string& name : output.others) read_multifab(open_multifab(path / name));
  DatasetOptions options;
  options.part_cells = 40;
  const mesh::Dataset dataset = open(path, options);
  dataset.parts_touching(mesh::Box{});
  mesh::Request request;
  request.particles = true;
  for (int part = 0; part < dataset.num_parts; ++part) {
    dataset.part_bytes(part);
    mesh::validate(std::get<mesh::Octree>(dataset.read(part, request).mesh));
  }
  if (flags % 4 == 1) testing::cross_somewhere(dataset, path.string() + "_out", flags / 4);
}

std::uint64_t runs = 0, accepted = 0, partly = 0;
std::set<std::string> messages;

// At the end, the code that the input reached.
struct Report {
  ~Report() {
    std::fprintf(stderr, "fuzz_amrex: %llu outputs, %llu read whole, %llu opened then refused, %zu kinds of refusal\n",
                 static_cast<unsigned long long>(runs), static_cast<unsigned long long>(accepted),
                 static_cast<unsigned long long>(partly), messages.size());
  }
};

/// A message without its numbers.
std::string kind_of(const std::string& message) {
  std::string out;
  for (char c : message.substr(0, 60))
    if (std::isdigit(static_cast<unsigned char>(c)) == 0) out += c;
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Scratch scratch;
  static const Report report;
  static const std::vector<testing::AmrexFiles> sound = sound_outputs();
  if (size < 1) return 0;
  const std::size_t which = data[0] % sound.size();
  const fs::path path = scratch.path / std::to_string(which);
  if (!fs::exists(path)) testing::put_files(path, sound[which]);
  testing::AmrexFiles edited;
  for (std::size_t i = 1; i + 5 <= size; i += 5) {
    const auto& [name, bytes] =
        *std::next(sound[which].begin(), static_cast<std::ptrdiff_t>(data[i] % sound[which].size()));
    edit(edited.try_emplace(name, bytes).first->second, data + i + 1);
  }
  testing::put_files(path, edited);
  ++runs;
  bool opened = false;
  try {
    recognise(path);
    open_output(path);
    opened = true;
    read_all(path, static_cast<unsigned>(data[0] / sound.size() + (size < 2 ? 0 : data[size - 1])));
    ++accepted;
  } catch (const base::Error& error) {
    partly += opened ? 1 : 0;
    if (messages.size() < 10000) messages.insert(kind_of(error.message()));
  }
  for (const auto& [name, bytes] : edited) testing::put_files(path, {{name, sound[which].at(name)}});
  return 0;
}
