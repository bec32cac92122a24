#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/base/error.hpp"
#include "octavo/mesh/patches.hpp"

/// AMReX's text files, and the words of which they are made.
namespace octavo::formats::amrex {

/// A box as a file has it, with the index type of its cells: 1 where they are nodes along that axis. `cells` is
/// half-open in that index space (AMReX's own boxes include their upper end); unused axes are one cell wide.
struct TypedBox {
  mesh::IndexBox cells;
  mesh::Index3 nodal{0, 0, 0};
  int dim = 0;
};
/// Boxes of one level, all of one index type.
struct BoxArray {
  std::vector<mesh::IndexBox> boxes;
  mesh::Index3 nodal{0, 0, 0};
  int dim = 0;  ///< 0 where there are no boxes
};

/// A cursor over a text. Every failure is Error(corrupt) that names the file and the byte, what was expected and found.
class Text {
 public:
  Text(std::string text, std::filesystem::path path) : text_(std::move(text)), path_(std::move(path)) {}

  /// The next line without its end, from here.
  std::string line();
  /// A line that has to follow; blanks around it are dropped.
  std::string name();
  /// The text up to the next blank or line end; blanks and line ends before it are skipped, as in all functions below.
  std::string word();
  /// At most `limit` in magnitude.
  std::int64_t integer(std::int64_t limit = INT32_MAX);
  /// A number of things that are to follow, each at least `bytes` long: no more than the text can hold.
  std::size_t count(std::size_t bytes = 2);
  double real();
  void expect(std::string_view wanted);
  bool follows(std::string_view wanted);  ///< looks, does not take
  bool at_end();
  /// Goes on after the line with no more than blanks left on it.
  void end_line();

  std::vector<std::int64_t> tuple();  ///< "(1,2,3)"
  TypedBox box();                     ///< "((0,0) (15,15) (0,0))"
  BoxArray box_array();

  base::Error error(const std::string& message) const;
  const std::filesystem::path& path() const { return path_; }
  std::size_t position() const { return at_; }
  void seek(std::size_t position) { at_ = position; }
  std::size_t left() const { return text_.size() - at_; }

 private:
  void skip_blanks();
  std::string text_;
  std::filesystem::path path_;
  std::size_t at_ = 0;
};

/// A whole file. Error(unreadable) where there is none.
Text read_text(const std::filesystem::path& path);

/// A file name found in a header, as a path below `directory`. Error(corrupt) where it is absolute, empty or has a
/// "..": it would lead out of the output.
std::filesystem::path path_below(const std::filesystem::path& directory, const std::string& name, const Text& text);

/// "Level_3", "DATA_00012"
std::string level_name(std::size_t level);
std::string numbered(const std::string& stem, std::int64_t number);

/// The texts that AMReX writes and reads: a box, and numbers with all their digits.
void append_text(std::string& text, const mesh::IndexBox& cells, const mesh::Index3& nodal, int dim);
std::string to_text(const mesh::IndexBox& cells, const mesh::Index3& nodal, int dim);
std::string to_text(const BoxArray& boxes);
std::string to_text(double value);  ///< 17 significant digits
/// As in the tables of minima and maxima: 18 digits, those of printf's "%.17e".
void append_scientific(std::string& text, double value);

}  // namespace octavo::formats::amrex
