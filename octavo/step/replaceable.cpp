#include "octavo/step/replaceable.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/file/hdf5/hdf5.hpp"
#include "octavo/file/posix.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/formats/row/signature.hpp"
#include "octavo/store/store.hpp"

namespace octavo::step {
namespace {

namespace fs = std::filesystem;
namespace hdf5 = file::hdf5;
using base::Error;
using base::Kind;
using formats::Format;

constexpr std::string_view store_kind = "octavo";

/// A line for each file at any depth: its size [bytes] and its name.
std::string list_of_files(const fs::path& folder) {
  const fs::path list = folder / formats::signature_file;
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (!entry.is_directory() && entry.path() != list)
      lines.push_back(std::to_string(entry.is_regular_file() ? entry.file_size() : 0) + " " +
                      entry.path().lexically_relative(folder).string() + "\n");
  std::sort(lines.begin(), lines.end());
  std::string text =
      "Octavo wrote this output, and replaces it if it is asked to, as long as it has these files alone:\n";
  for (const std::string& line : lines) text += line;
  return text;
}

std::string text_of(const fs::path& path) {
  const file::File file = file::open_read(path);
  std::string text(file::size(file), '\0');
  file::pread_all(file, 0, std::as_writable_bytes(std::span(text)));
  return text;
}

bool is_signed(const fs::path& output) {
  std::error_code ignored;
  try {
    if (!fs::is_directory(output))
      return hdf5::has_signature(output) &&
             hdf5::read_words(hdf5::open(output), "/", formats::signature_attribute).has_value();
    const fs::path list = output / formats::signature_file;
    return fs::is_regular_file(list, ignored) && text_of(list) == list_of_files(output);
  } catch (const Error&) {
    return false;
  }
}

/// Whether the path is an output of the format, and not a file in one.
bool is_output(const fs::path& path, const Format& format) {
  return format.recognise(path) && (fs::is_directory(path) || !format.recognise(fs::absolute(path).parent_path()));
}

const Format* format_of_output(const fs::path& path) {
  for (const Format* format : formats::table())
    if (is_output(path, *format)) return format;
  return nullptr;
}

bool holds_nothing(const fs::path& path) {
  return fs::is_directory(path) ? fs::is_empty(path) : fs::is_regular_file(path) && fs::file_size(path) == 0;
}

/// Whether the output may be replaced. `expected` and `found` name, for the message, what may be and what is there.
struct Judgement {
  bool good = false;
  std::string expected, found;
};

Judgement judge(const fs::path& out, std::string_view kind) {
  const bool is_folder = fs::is_directory(out), is_store = is_folder && store::recognise(out);
  const Format* found = is_store ? nullptr : format_of_output(out);
  Judgement result;
  result.found = is_store ? "a store" : is_folder ? "a folder of other files" : "a file of another kind";
  if (found != nullptr) result.found = "a " + std::string(found->title) + " output";
  if (kind == store_kind) {
    result.good = is_store;
    result.expected = "a store";
    return result;
  }
  const Format* const wanted = kind.empty() ? formats::format_by_ending(out) : &formats::format_named(kind);
  if (kind.empty()) {
    result.good = fs::is_regular_file(out) && (found == nullptr || found == wanted);
    result.expected = "a file like the new one";
    return result;
  }
  const bool signs = !wanted->triangles;
  result.good = found == wanted && (!signs || is_signed(out));
  result.expected = "a " + std::string(wanted->title) + (signs ? " output that Octavo wrote" : " file");
  if (found == wanted && signs) result.found += " that Octavo did not write, or that was changed since";
  return result;
}

}  // namespace

void require_replaceable(const fs::path& out, std::string_view kind) {
  if (!fs::exists(out) || holds_nothing(out)) return;  // a link to nothing is no loss
  const Judgement result = judge(out, kind);
  if (result.good) return;
  throw Error(Kind::usage, "-f replaces " + result.expected + ", and this is " + result.found)
      .at(out.string())
      .hint("give another name, or remove it yourself");
}

void sign(const fs::path& output) {
  if (!fs::is_directory(output)) {
    hdf5::File file = hdf5::open_write(output);
    hdf5::write_words(file, "/", formats::signature_attribute, "Octavo wrote this file");
    file.close();
    return;
  }
  const std::string text = list_of_files(output);
  const file::File file = file::open_write(output / formats::signature_file);
  file::pwrite_all(file, 0, std::as_bytes(std::span(text)));
}

}  // namespace octavo::step
