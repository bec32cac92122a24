// A fuzzer's main without libFuzzer: fuzz_NAME COUNT [FOLDER]. It tries the inputs that lie in FOLDER (they failed
// once), then COUNT others, the same ones each time: random bytes, every other one a kept input with bytes changed. So
// `make test` needs no second build of the library and no clang; scripts/fuzz looks for new failures, guided by what
// code an input reaches. An input that kills the program is written to fuzz_NAME-failed.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Input = std::vector<std::uint8_t>;
namespace fs = std::filesystem;

Input now;  // what is being tried
std::string failed;

void write_failed(int signal) {
  const int out = ::open(failed.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  const bool written = out >= 0 && ::write(out, now.data(), now.size()) == static_cast<ssize_t>(now.size());
  std::fprintf(stderr, "signal %d; the input is %s%s\n", signal, written ? "in " : "not in ", failed.c_str());
  std::_Exit(1);
}

std::vector<Input> read_inputs(const char* folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<Input> inputs;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// At most 256 bytes, short ones as often as long ones.
Input random_input(std::mt19937_64& random) {
  Input input(random() % (std::size_t{2} << random() % 8));
  for (auto& byte : input) byte = static_cast<std::uint8_t>(random());
  return input;
}

Input changed(Input input, std::mt19937_64& random) {
  if (random() % 4 == 0) input.resize(random() % (input.size() + 1));
  for (std::uint64_t i = 1 + random() % 4; i > 0 && !input.empty(); --i)
    input[random() % input.size()] = static_cast<std::uint8_t>(random());
  return input;
}

void attempt(Input input) {
  now = std::move(input);
  ::alarm(20);  // seconds; a reader that takes longer hangs
  LLVMFuzzerTestOneInput(now.data(), now.size());
}

}  // namespace

int main(int argc, char** argv) {
  int count = 0;
  if (argc < 2 || std::from_chars(argv[1], argv[1] + std::strlen(argv[1]), count).ec != std::errc{}) {
    std::fprintf(stderr, "usage: %s COUNT [FOLDER]\n", argv[0]);
    return 2;
  }
  failed = std::string(argv[0]) + "-failed";
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGALRM}) std::signal(signal, write_failed);
  const auto kept = argc > 2 ? read_inputs(argv[2]) : std::vector<Input>();
  for (const auto& input : kept) attempt(input);
  std::mt19937_64 random(1);
  for (int i = 0; i < count; ++i)
    attempt(kept.empty() || i % 2 == 0 ? random_input(random) : changed(kept[random() % kept.size()], random));
  std::printf("%zu kept inputs and %d others, no failure\n", kept.size(), count);
}
