#include "octavo/jobs/as_serafin.hpp"

#include "octavo/formats/med/med.hpp"
#include "octavo/formats/vtkhdf/vtkhdf.hpp"
#include "octavo/jobs/to_serafin.hpp"
#include "octavo/store/store.hpp"

namespace octavo::jobs {

namespace fs = std::filesystem;

AsSerafin::AsSerafin(const base::Ranks& ranks, const fs::path& given, const fs::path& to,
                     std::vector<std::string>& notes)
    : path_(given) {
  bool other = false;
  base::agree(ranks, [&] {
    other = formats::med::recognise(given) || formats::vtkhdf::recognise(given) || store::recognise(given);
    if (!other || ranks.rank != 0) return;
    ToSerafinOptions options;
    options.overwrite = true;
    const ToSerafinReport report = to_serafin(given, to, options);
    notes.insert(notes.end(), report.notes.begin(), report.notes.end());
    is_made_ = true;
  });
  if (other) path_ = to;
}

AsSerafin::~AsSerafin() {
  std::error_code ignored;
  if (is_made_) fs::remove(path_, ignored);
}

InputsAsSerafin::InputsAsSerafin(const base::Ranks& ranks, const fs::path& path, const fs::path& prefix,
                                 const PartitionOptions& given)
    : options(given) {
  const auto made_path = [&](const std::string& name) { return fs::path(prefix.string() + name + ".whole.slf"); };
  mesh = made.emplace_back(ranks, path, made_path("GEO"), notes).path();
  for (auto& [name, also] : options.also) also = made.emplace_back(ranks, also, made_path(name), notes).path();
}

}  // namespace octavo::jobs
