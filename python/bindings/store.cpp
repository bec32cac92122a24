#include "octavo/store/store.hpp"

#include "keywords.hpp"
#include "octavo/store/read/index.hpp"

namespace octavo::bindings {

namespace {

nb::list streams(const std::filesystem::path& path, const std::string& flow, std::int64_t step) {
  nb::list rows;
  for (const store::StreamInfo& info : store::list_streams(path, flow_named(flow), step)) {
    nb::dict row;
    row["part"] = info.part;
    row["field"] = info.field;
    row["first_level"] = info.first_level;
    row["last_level"] = info.last_level;
    row["raw_bytes"] = info.raw_bytes;
    row["stored_bytes"] = info.stored_bytes;
    row["codec"] = info.codec;
    row["file"] = info.file.string();
    row["offset"] = info.offset;
    rows.append(row);
  }
  return rows;
}

}  // namespace

void bind_store(nb::module_& m) {
  m.def("is_store", &store::recognise, nb::arg("path"));
  m.def("list_streams", &streams, nb::arg("path"), nb::arg("flow"), nb::arg("step"),
        "One dict per stream of a step: what is stored, where, and how small.");
  m.def("rebuild_indexes", &store::rebuild_indexes, nb::arg("store"),
        "Makes the indexes of a store anew from its subfiles (docs/format.md, Index).");
}

}  // namespace octavo::bindings
