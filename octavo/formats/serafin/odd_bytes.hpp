#pragma once
#include <map>
#include <string>
#include <vector>

#include "octavo/formats/serafin/layout.hpp"
#include "octavo/mesh/dataset.hpp"

/// Keeps bytes of names that cannot be derived from their texts: NULs, a '#', or anything but blanks at the end.
namespace octavo::formats::serafin {

/// "odd_title", the 80 bytes of the title's record in hexadecimal, and "odd_variables", lines of the 32 bytes of a
/// variable's and its name among the fields, `names` by variable: only what is odd.
constexpr const char* odd_title = "odd_title";
constexpr const char* odd_variables = "odd_variables";
void keep_odd_bytes(const SerafinHeader& header, const std::vector<std::string>& names,
                    std::map<std::string, mesh::Attribute>& to);

/// Puts the bytes into a header that was made from texts, if the texts still belong to the bytes.
void put_odd_bytes(const std::map<std::string, mesh::Attribute>& from, const std::vector<std::string>& names,
                   SerafinHeader& header);

/// The record of title and tag: 72 characters and 8, of UTF-8.
std::array<char, 80> title_of(const std::string& title, const std::string& tag);
/// The same from a header's attributes "title" and "tag"; a header without a tag gets `tag`.
std::string title_record(const mesh::Header& header, const std::string& tag);
/// The variable's name in a field's name: without the suffix, such as "#3", of a name that several variables have.
Variable variable_of(const std::string& unique_name, const std::string& unit);

}  // namespace octavo::formats::serafin
