#pragma once
#include <cstdint>
#include <filesystem>

#include "octavo/base/error.hpp"
#include "octavo/step/write.hpp"

/// The fuzzers of block and patch formats call this with an output that could be read.
namespace octavo::testing {

/// Writes it as an output of some code, on a finer mesh or with made cells as the flags say, and removes that again.
inline void cross_somewhere(const mesh::Dataset& dataset, const std::filesystem::path& out, unsigned flags) {
  formats::WriteRequest options;
  options.to = flags % 3 == 0 ? "flash" : flags % 3 == 1 ? "amrex" : "ramses";
  if (options.to == "amrex" && flags / 3 % 2 == 1) options.kind = "checkpoint";
  // In three dimensions a finer mesh takes seconds under the sanitizers: a slow input counts as a hang.
  options.refine = flags / 6 % 2 == 1 && dataset.header.dim < 3 ? 1 : 0;
  options.fill = flags / 12 % 2 == 1;
  options.block = flags / 24 % 2 == 1 ? 2 : 0;
  options.overwrite = true;
  options.part_cells = 2000;
  if (options.to == "amrex") options.own["batch_cells"] = 2000;
  // FLASH wants short names.
  for (std::size_t f = 0; f < dataset.header.fields.size(); ++f)
    if (dataset.header.fields[f].centring == mesh::Centring::cell)
      options.rename[dataset.header.fields[f].name] = "v" + std::to_string(f % 1000);
  try {
    step::write(dataset, out, options);
  } catch (const base::Error&) {
  }
  std::error_code ignored;
  std::filesystem::remove_all(out, ignored);
}

}  // namespace octavo::testing
