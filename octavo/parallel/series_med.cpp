#include "octavo/parallel/series_med.hpp"

#include "octavo/base/error.hpp"
#include "octavo/jobs/to_med.hpp"
#include "octavo/jobs/triangle_series.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;

jobs::TriangleSeries series_in(const std::filesystem::path& path) {
  return jobs::open_triangles(path, std::nullopt, "a series");
}

void require(bool same, const char* what, const std::filesystem::path& there) {
  if (!same)
    throw Error(Kind::usage, std::string("the file has ") + what + ": nothing can be added").at(there.string());
}

}  // namespace

bool is_med(const std::filesystem::path& path) { return path.extension() == ".med"; }

void make_med(const std::filesystem::path& geometry, const std::filesystem::path& out, std::size_t real_bytes) {
  jobs::ToMedOptions options;
  options.single_precision = real_bytes == 4;
  options.overwrite = true;
  jobs::to_med(geometry, out, options);
}

void require_same_series(const std::filesystem::path& geometry, const std::filesystem::path& there) {
  const jobs::TriangleSeries mine = series_in(geometry), other = series_in(there);
  std::vector<std::string> notes;
  const auto& own = mine.first.header.attributes;
  const auto& found = other.first.header.attributes;
  for (const char* name : {"iparam", "date", "byte_order", "real_bytes"}) {
    const auto a = own.find(name), b = found.find(name);
    // MED has a date always.
    const bool none = a == own.end() && std::string(name) == "date";
    require(none || (a != own.end() && b != found.end() && a->second == b->second), "another precision, date or header",
            there);
  }
  require(mine.mesh == other.mesh && jobs::boundary_ranks(mine, notes) == jobs::boundary_ranks(other, notes),
          "another mesh", there);
  const auto names_of = [](const jobs::TriangleSeries& series) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const mesh::FieldInfo& info : series.variables) names.emplace_back(info.name, info.unit);
    return names;
  };
  require(names_of(mine) == names_of(other), "other variables", there);
}

}  // namespace octavo::parallel
