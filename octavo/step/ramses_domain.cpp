#include "octavo/step/ramses_domain.hpp"

#include <cstdio>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/formats/ramses/writer.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/target.hpp"

namespace octavo::step {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

std::string output_name(int number) {
  char name[32];
  std::snprintf(name, sizeof name, "output_%05d", number);
  return name;
}

int output_number(const mesh::Dataset& dataset) {
  const auto& attributes = dataset.header.attributes;
  const auto found = attributes.find("output_number");
  const auto* number = found == attributes.end() ? nullptr : std::get_if<std::int64_t>(&found->second);
  if (number == nullptr || !attributes.contains("coarse_cells"))
    throw Error(Kind::unsupported, "the checkpoint is not RAMSES': it has no output_number or no coarse_cells")
        .at(dataset.path)
        .hint("octavo convert --to ramses makes a RAMSES output of a step of another code");
  if (*number < 1 || *number > 99999)
    throw Error(Kind::corrupt, "output_number: expected 1 to 99999, found " + std::to_string(*number)).at(dataset.path);
  return static_cast<int>(*number);
}

}  // namespace

RamsesFiles write_ramses_domain(const fs::path& store, std::int64_t step, const fs::path& folder, int domain,
                                int domains) {
  const mesh::Dataset dataset = open(store, {.flow = store::Flow::checkpoint, .step = step});
  const RamsesFiles files{folder, output_number(dataset), domain};
  std::vector<std::string> notes;
  require_exact_values(dataset, false, notes);
  formats::ramses::WriteOptions options;
  options.domains = domains;
  options.number = files.number;
  try {
    formats::ramses::write_one_domain(dataset, folder / output_name(files.number), options, domain);
  } catch (...) {
    remove(files);
    throw;
  }
  return files;
}

void link_ramses_output(const RamsesFiles& files) {
  const fs::path link = output_name(files.number);
  if (fs::is_symlink(link)) fs::remove(link);
  if (fs::exists(link))
    throw Error(Kind::usage, "a restart from a store needs this name in the run's directory for a link")
        .at(fs::absolute(link).string())
        .hint("move what has it");
  fs::create_directory_symlink(fs::absolute(files.folder) / link, link);
}

void remove(const RamsesFiles& files) noexcept try {
  std::error_code ignored;
  const std::string name = output_name(files.number);
  char mine[32];
  std::snprintf(mine, sizeof mine, ".out%05d", files.domain + 1);
  std::vector<fs::path> gone;
  for (const fs::directory_entry& entry : fs::directory_iterator(files.folder / name, ignored)) {
    const std::string file = entry.path().filename().string();
    if (file.ends_with(mine) || file.find(".out") == file.npos) gone.push_back(entry.path());
  }
  for (const fs::path& file : gone) fs::remove(file, ignored);
  fs::remove(files.folder / name, ignored);
  fs::remove(files.folder, ignored);
  if (files.domain == 0 && fs::is_symlink(name, ignored)) fs::remove(name, ignored);
} catch (...) {
}

}  // namespace octavo::step
