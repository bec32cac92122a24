#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::formats::serafin {

/// The numbers that Fortran's list-directed READ takes from one line or several.
struct NumberList {
  std::vector<double> values{};
  std::string odd{};          ///< the word that stopped the reading: no number, "/" or "," (a value left out)
  bool expects_value = true;  ///< true at the beginning and behind a comma: another comma leaves a value out
};

/// Adds a line's numbers until there are `most`, and ignores the rest of the line. Blanks, commas and ends of lines
/// separate numbers; 3*0. is three zeros; an exponent may have E, D, Q or only its sign (Fortran 2018, 13.10.3). A
/// slash, or a value left out (",," or "3*"), would leave Fortran's variables unchanged: it stops the reading. The
/// caller checks the sizes of integers.
void read_numbers(std::string_view line, std::size_t most, NumberList& list);

}  // namespace octavo::formats::serafin
