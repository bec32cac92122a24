#pragma once
#include <filesystem>
#include <string_view>

/// The one place that decides what a job that was asked to overwrite (-f) may replace. No run's output is lost by a
/// slip.
namespace octavo::step {

/// Throws Error(usage) unless what stands at `out` is nothing, empty, or what such a job leaves there:
/// - a store for a store ("octavo");
/// - for an output of a code on cells, one of the same code that is signed, and unchanged since;
/// - for other formats, a file of the same;
/// - for a file of no format (`kind` empty: a picture, a table), a file that no format reads but that of its ending.
/// `kind`: a format's name.
void require_replaceable(const std::filesystem::path& out, std::string_view kind = {});

/// Signs an output of a code on cells: a folder gets a list of its files, an HDF5 file an attribute.
void sign(const std::filesystem::path& output);

}  // namespace octavo::step
