#include "octavo/telemac/cut/as_serafin.hpp"

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/serafin/row.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/step/write.hpp"
#include "octavo/store/store.hpp"

namespace octavo::telemac {

namespace fs = std::filesystem;

namespace {

/// Makes an empty file of a name that was free, and whose name while it is written is: nobody else's is touched.
fs::path made_of(const std::string& stem) {
  for (int number = 0;; ++number) {
    fs::path path = stem + (number == 0 ? "" : "-" + std::to_string(number)) + ".slf";
    if (fs::exists(fs::symlink_status(path)) || fs::exists(fs::symlink_status(path.string() + ".partial"))) continue;
    try {
      file::create(path);
      return path;
    } catch (const base::Error& error) {
      if (error.kind() != base::Kind::usage) throw;  // usage: another process has just made it
    }
  }
}

}  // namespace

AsSerafin::AsSerafin(const base::Ranks& ranks, const fs::path& given, const std::string& stem,
                     std::vector<std::string>& notes)
    : path_(given) {
  bool other = false;
  base::agree(ranks, [&] {
    const formats::Format* format = formats::format_there(given);
    other = store::recognise(given) || (format != nullptr && format->triangles && format != &formats::serafin::row);
    if (!other || ranks.rank != 0) return;
    made_.path = made_of(stem);
    formats::WriteRequest request;
    request.to = formats::serafin::row.name;
    request.overwrite = true;  // of the empty file
    const formats::WriteReport report = step::write(step::open_triangles(given, {}, "SERAFIN"), made_.path, request);
    notes.insert(notes.end(), report.notes.begin(), report.notes.end());
  });
  if (other) path_ = base::from_first(ranks, made_.path.string());
}

AsSerafin::Made::~Made() {
  std::error_code ignored;
  if (!path.empty()) fs::remove(path, ignored);
}

InputsAsSerafin::InputsAsSerafin(const base::Ranks& ranks, const fs::path& path, const fs::path& prefix,
                                 const PartitionOptions& given)
    : options(given) {
  const auto stem = [&](const std::string& name) { return prefix.string() + name + ".whole"; };
  mesh = made.emplace_back(ranks, path, stem("GEO"), notes).path();
  for (auto& [name, also] : options.also) also = made.emplace_back(ranks, also, stem(name), notes).path();
}

}  // namespace octavo::telemac
