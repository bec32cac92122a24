#include <sys/resource.h>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "measured.hpp"

namespace octavo::scale {
namespace {

// Ranks that share a file have two sockets each, and all of them are this process's.
void allow_many_sockets() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace
}  // namespace octavo::scale

/// octavo_bench_scale: what a step, a restart and an opening ask of a machine that need not be there.
int main(int count, char** arguments) try {
  using namespace octavo::scale;
  allow_many_sockets();
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words == std::vector<std::string>{"--check"}) return check();
  if (words == std::vector<std::string>{"--growth"}) return growth();
  if (words.size() == 3 && words[0] == "--calls") {
    std::cout << calls_of(std::stoul(words[1]), std::stoi(words[2]));
    return 0;
  }
  print_tables(words);
  return 0;
} catch (const std::invalid_argument& error) {
  std::cerr << "octavo_bench_scale: " << error.what() << "\n";
  return 2;
} catch (const std::exception& error) {
  std::cerr << "octavo_bench_scale: " << error.what() << "\n";
  return 1;
}
