#include "octavo/engine/write/removal.hpp"

#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/store/read/scan.hpp"

namespace octavo::engine {

Removal::Removal(std::filesystem::path store, const OwnFile& own, bool has_file, bool is_first, bool threaded,
                 bool bound)
    : store_(std::move(store)),
      own_(own),
      has_file_(has_file),
      is_first_(is_first),
      threaded_(threaded),
      bound_(bound) {}

// The directory may be of a run with more files, or with fewer.
void Removal::remove_files(const OldDirectory& old) const {
  // The ranks' numbers differ by the number of files of this run, so together they reach every file of any older run.
  for (int number = own_.file; number < old.files; number += own_.files) try {
      file::remove(store_ / old.directory / store::subfile_name(number));
    } catch (const base::Error&) {  // rank 0 tries again
    }
}

// Those of earlier calls are empty by now, unless a rank is very late. If it removes a file at the same time, the
// directory stays, and we try again with the next ones.
void Removal::remove_emptied() {
  constexpr std::size_t most_tried = 64;
  std::error_code ignored;
  std::erase_if(emptied_, [&](const std::string& directory) {
    file::remove_all(store_ / directory);
    return !std::filesystem::exists(store_ / directory, ignored);
  });
  if (emptied_.size() > most_tried) emptied_.clear();  // nobody may remove them
}

void Removal::begin(std::vector<OldDirectory> directories) {
  if (directories.empty()) return;
  begun_ = true;
  if (!has_file_ && !is_first_) return;
  if (!thread_) thread_ = std::make_unique<Background>(threaded_, bound_);
  thread_->run_behind([this, directories = std::move(directories)] {
    if (is_first_) remove_emptied();
    for (const OldDirectory& old : directories) {
      if (has_file_) remove_files(old);
      if (!is_first_) continue;
      if (old.files == 0)
        file::remove_all(store_ / old.directory);
      else
        emptied_.push_back(old.directory);
    }
  });
}

double Removal::wait() { return thread_ ? thread_->drain() : 0; }

double Removal::finish(MPI_Comm comm) {
  if (!std::exchange(begun_, false)) return 0;
  // First all ranks have removed their files, so the directories are empty; then rank 0 has removed the directories.
  const double seconds = wait();
  ranks::agree(comm, [] {});
  ranks::agree(comm, [&] {
    if (is_first_) remove_emptied();
  });
  return seconds;
}

}  // namespace octavo::engine
