#pragma once
#include <functional>

#include "octavo/base/checksum.hpp"
#include "octavo/store/subfile.hpp"
#include "octavo/store/table.hpp"

/// Stores as another writer might have written them.
namespace octavo::testing {

/// The newest segment of a subfile; its streams stay where they are.
struct SegmentBytes {
  store::Footer footer;
  std::vector<std::byte> table;
  std::uint64_t end = 0;          ///< a multiple of 4096 behind all that the file holds,
  std::vector<std::byte> stream;  ///< where these bytes go; the table follows them
};

/// Reads the newest segment, lets `edit` change it, and commits it again in place of the former.
inline void rewrite_segment(const std::filesystem::path& path, const std::function<void(SegmentBytes&)>& edit) {
  const store::Subfile subfile = store::read_subfile(path);
  const file::File file = file::open_write(path);
  SegmentBytes segment;
  segment.footer = subfile.commits.back().footer;
  segment.table = store::read_extent(file, segment.footer.table, "table");
  segment.end = (subfile.size + 4095) / 4096 * 4096;
  edit(segment);
  file::pwrite_all(file, segment.end, segment.stream);
  const std::uint64_t table = segment.end + segment.stream.size();
  segment.footer.table = {table, segment.table.size(), base::checksum(segment.table)};
  file::pwrite_all(file, table, segment.table);
  const auto footer = to_bytes(segment.footer);
  const store::Extent at{table + segment.table.size(), footer.size(), base::checksum(footer)};
  file::pwrite_all(file, at.offset, footer);
  store::CommitRecord record = *newest_record(subfile);
  record.footer = at;
  for (std::size_t place = 0; place < 2; ++place) file::pwrite_all(file, store::record_place(place), to_sector(record));
}

/// The same for the table as it is understood.
inline void rewrite_table(const std::filesystem::path& path,
                          const std::function<void(store::Table&, SegmentBytes&)>& edit) {
  rewrite_segment(path, [&](SegmentBytes& segment) {
    store::Table table = store::parse_table(segment.table, segment.footer);
    edit(table, segment);
    segment.table = to_bytes(table);
  });
}

/// Replaces a text in the table by one of the same length.
inline void replace_in_table(const std::filesystem::path& path, std::string_view from, std::string_view to) {
  rewrite_segment(path, [&](SegmentBytes& segment) {
    const auto begin = reinterpret_cast<const std::byte*>(from.data());
    const auto found = std::search(segment.table.begin(), segment.table.end(), begin, begin + from.size());
    ASSERT_NE(found, segment.table.end());
    std::copy_n(reinterpret_cast<const std::byte*>(to.data()), to.size(), found);
  });
}

}  // namespace octavo::testing
