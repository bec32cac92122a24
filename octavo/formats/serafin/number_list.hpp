#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::formats::serafin {

/// Numbers that Fortran's list-directed READ takes of one line or several.
struct NumberList {
  std::vector<double> values{};
  std::string odd{};          ///< where reading stopped: a word that is no number, "/" or "," (a value left out)
  bool expects_value = true;  ///< at the beginning and behind a comma: another comma leaves a value out
};

/// Adds a line's numbers until there are `most`; what stands behind these is not looked at. Blanks, commas and ends of
/// lines separate; 3*0. is three zeros; exponents may have E, D, Q or their sign alone (Fortran 2018, 13.10.3). A
/// slash, and a value that is left out (",," or "3*"), would leave variables as they were: they stop the reading. Sizes
/// of integers are the caller's to see.
void read_numbers(std::string_view line, std::size_t most, NumberList& list);

}  // namespace octavo::formats::serafin
