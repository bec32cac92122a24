#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/euler/state.hpp"

namespace octavo::euler {

/// Memory of `advance`, used again from box to box, and the fluxes it leaves.
struct Workspace {
  /// For each axis below `dim`, laid out as the state (variable after variable, cells with ghosts): entry (i, j, k) is
  /// the flux through the lower face of that cell along the axis [a variable's unit times a speed]. Faces of cells
  /// without ghosts are filled in, those of their upper sides included: 0 <= i <= cells[axis].
  std::array<std::vector<double>, 3> flux;
  std::vector<double> primitive, predicted;
  std::array<std::vector<double>, 3> slope;
  std::array<std::vector<std::uint8_t>, 3> shocked;  ///< along an axis: cells in a strong shock
};

/// One step of MUSCL-Hancock without splitting, with HLLC (Toro, Riemann Solvers and Numerical Methods for Fluid
/// Dynamics, chapters 10 and 14): slopes of the primitive variables, limited by monotonized central differences; half
/// a step in primitive form; HLLC fluxes between what it gives on both sides of each face, HLL where a strong shock
/// runs along the face (Quirk 1994). Second order; stable for dt * signal_rate <= 1. Replaces the values of cells
/// without ghosts; those of all ghosts, corners too, must be filled in. `width` is a cell's [code length]. The result
/// of a cell depends on the state of its neighbours alone, bit for bit, and not on which box they are in.
void advance(const Gas& gas, const Shape& shape, const Point3& width, double dt, std::span<double> state,
             Workspace& workspace);

/// The largest of all cells without ghosts: the sum over the axes of (|velocity| + speed of sound) / width [1 / time].
/// NaN or a pressure that is not positive give infinity.
double signal_rate(const Gas& gas, const Shape& shape, const Point3& width, std::span<const double> state);

}  // namespace octavo::euler
