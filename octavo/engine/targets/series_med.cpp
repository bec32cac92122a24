#include "octavo/engine/targets/series_med.hpp"

#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/med/row.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/step/write.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

formats::Series series_in(const std::filesystem::path& path) {
  return step::open_triangles(path, std::nullopt, "a series");
}

void require(bool same, const char* what, const std::filesystem::path& there) {
  if (!same)
    throw Error(Kind::usage, std::string("the file has ") + what + ": nothing can be added").at(there.string());
}

/// The type of the values: a file made of another one has its own, whatever the SERAFIN file that its header tells of
/// had.
void require_precision(const formats::Series& mine, const formats::Series& other, const std::filesystem::path& there) {
  const bool single = formats::attribute<std::int64_t>(mine.first.header, "real_bytes") == 4;
  const mesh::ScalarType expected = single ? mesh::ScalarType::float32 : mesh::ScalarType::float64;
  for (const mesh::FieldInfo& info : other.variables)
    if (info.type != expected)
      throw Error(Kind::usage, "field " + info.name + ": expected " + std::string(mesh::name_of(expected)) +
                                   ", found " + std::string(mesh::name_of(info.type)))
          .at(there.string())
          .hint("resume goes on in the precision that the file has");
}

}  // namespace

void make_med(const std::filesystem::path& geometry, const std::filesystem::path& out, std::size_t real_bytes,
              std::optional<formats::MeshGroups> groups) {
  formats::WriteRequest request;
  request.to = formats::med::row.name;
  request.single_precision = real_bytes == 4;
  request.overwrite = true;
  formats::Series series = step::open_triangles(geometry, {}, std::string(formats::med::row.title));
  series.groups = std::move(groups);
  step::write(std::move(series), out, request);
}

void require_same_series(const std::filesystem::path& geometry, const std::filesystem::path& there) {
  const formats::Series mine = series_in(geometry), other = series_in(there);
  std::vector<std::string> notes;
  const auto& own = mine.first.header.attributes;
  const auto& found = other.first.header.attributes;
  for (const char* name : {"iparam", "date", "byte_order"}) {
    const auto a = own.find(name), b = found.find(name);
    // A MED file always has a date.
    const bool none = a == own.end() && std::string(name) == "date";
    require(none || (a != own.end() && b != found.end() && a->second == b->second), "another date or header", there);
  }
  require(mine.mesh == other.mesh && step::boundary_numbers_of(mine, notes) == step::boundary_numbers_of(other, notes),
          "another mesh", there);
  const auto names_of = [](const formats::Series& series) {
    std::vector<std::pair<std::string, std::string>> names;
    for (const mesh::FieldInfo& info : series.variables) names.emplace_back(info.name, info.unit);
    return names;
  };
  require(names_of(mine) == names_of(other), "other variables", there);
  require_precision(mine, other, there);
}

}  // namespace octavo::engine
