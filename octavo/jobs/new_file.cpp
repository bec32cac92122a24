#include "octavo/jobs/new_file.hpp"

#include "octavo/base/error.hpp"

namespace octavo::jobs {

NewFile::NewFile(std::filesystem::path path, bool overwrite) : path_(std::move(path)) {
  if (!overwrite && std::filesystem::exists(path_))
    throw base::Error(base::Kind::usage, path_.string() + " exists already").hint("-f replaces it");
  partial_ = path_.string() + ".partial";
  file_ = file::open_write(partial_);
  file::resize(file_, 0);
}

NewFile::~NewFile() {
  if (!file_.is_open()) return;
  std::error_code ignored;
  std::filesystem::remove(partial_, ignored);
}

void NewFile::finish() {
  // Whoever wrote it may have made it anew.
  file_ = file::open_write(partial_);
  file::sync(file_);
  file_.close();
  file::rename(partial_, path_);
  file::sync_directory(path_.has_parent_path() ? path_.parent_path() : std::filesystem::path("."));
}

}  // namespace octavo::jobs
