#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "programs.hpp"
#include "simulated.hpp"

/// A program on virtual ranks, and what it asked of the busiest one.
namespace octavo::scale {

/// A folder in which the process stands while this lives. It is removed at the end. Programs name their store within
/// it, so that no message holds a name of this machine.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_, before_;
};

using Program = std::function<void(MPI_Comm, const Run&)>;

/// Sync mode, `per_file` contributors a file (0: all of a host).
engine::Options options_of(int per_file);

/// Checkpoints on local disks of nodes of one rank, and `every` one (partner_every, xor_every) kept safe in groups.
engine::Options on_local_disks(int engine::Options::*every, int group_size);

/// Runs the program on virtual ranks, each a process of its own, and counts file operations.
std::vector<simulated::Activity> run_virtually(const simulated::Machine& machine, const Program& program,
                                               const Run& run);

/// Messages and bytes are those of the busiest rank.
struct Summary {
  std::size_t calls = 0;                ///< of rank 0
  simulated::Traffic busiest, library;  ///< library: of calls that make communicators
  std::int64_t heap = 0;                ///< most bytes allocated at once: the median of all ranks
  std::int64_t most_heap = 0;           ///< the most of ranks other than rank 0
  std::int64_t first_heap = 0;          ///< rank 0's
};
Summary summary_of(const std::vector<simulated::Activity>& all);
/// The needs of a longer run beyond those of a shorter one. Heaps are those of the longer one.
Summary difference(Summary more, const Summary& less);
FileOperations difference(FileOperations more, const FileOperations& less);

struct Measured {
  Summary messages;
  FileOperations files;  ///< of all ranks
};
/// Runs the program in the folder in which the process stands.
Measured measure(const simulated::Machine& machine, const Program& program, const Run& run);

/// "12 345"; and "448 B", "29 kB", "577 MB".
std::string grouped(std::int64_t number);
std::string sized(std::int64_t bytes);

// The three works of this program. The first two return 0 if all is well. check() is collective over the ranks of the
// real MPI.
int check();
int growth();
void print_tables(const std::vector<std::string>& words);
/// Calls and file operations of the n-th program that check() compares, on that many virtual ranks.
std::string calls_of(std::size_t program, int ranks);

}  // namespace octavo::scale
