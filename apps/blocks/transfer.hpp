#pragma once
#include <array>
#include <vector>

#include "apps/euler/state.hpp"

namespace octavo::blocks {

/// The mean of the 2^dim cells of which `first` is the lowest, of one variable.
double mean_of_children(const euler::Shape& shape, const double* first);

/// 2^dim cells made from a coarser one: variable after variable, of each the children, x fastest.
struct Family {
  std::vector<double> values;
};
/// Linear, with slopes that are limited by monotonized central differences of the neighbours along the axes; the mean
/// of the children is the coarse value. Where a child would have no positive density and pressure all get that value.
/// `coarse` has all variables of a padded box; `cell` may lie in the first layer of ghosts.
void make_family(const euler::Gas& gas, const euler::Shape& shape, const double* coarse, const std::array<int, 3>& cell,
                 Family& family);
/// Writes them to the cells from `first` on of a padded box of all variables.
void put_family(const euler::Shape& shape, const Family& family, const std::array<int, 3>& first, double* fine);

/// A block from its parent, ghosts too; needs two layers of ghosts of the parent.
void refine_block(const euler::Gas& gas, const euler::Shape& shape, const double* parent, int child, double* out);
/// The part of a parent that one child covers, without ghosts.
void coarsen_block(const euler::Shape& shape, std::size_t variables, const double* child, int number, double* parent);

}  // namespace octavo::blocks
