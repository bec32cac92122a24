#pragma once
#include <map>
#include <string>
#include <vector>

#include "octavo/formats/serafin/layout.hpp"
#include "octavo/mesh/dataset.hpp"

/// Bytes of names that their texts do not give again: NULs in them or behind them, a '#', other than blanks at the end.
namespace octavo::formats::serafin {

/// "odd_title", the 80 bytes of the title's record in hexadecimal, and "odd_variables", lines of the 32 bytes of a
/// variable's and its name among the fields, `names` by variable: only what is odd.
constexpr const char* odd_title = "odd_title";
constexpr const char* odd_variables = "odd_variables";
void keep_odd_bytes(const Header& header, const std::vector<std::string>& names,
                    std::map<std::string, mesh::Attribute>& to);

/// Puts them into a header that was made of texts, where these are still those of the bytes.
void put_odd_bytes(const std::map<std::string, mesh::Attribute>& from, const std::vector<std::string>& names,
                   Header& header);

/// The record of title and tag: 72 characters and 8, of UTF-8.
std::array<char, 80> title_of(const std::string& title, const std::string& tag);
/// The same of a header's attributes "title" and "tag"; without a tag of its own `tag` is taken.
std::string title_record(const mesh::Header& header, const std::string& tag);
/// The variable that a field's name says: "#3" is behind one that others have, too.
Variable variable_of(const std::string& unique_name, const std::string& unit);

}  // namespace octavo::formats::serafin
