#pragma once

/// Fluxes of the shallow-water equations through a face. Depth h [m], velocity (u, v) [m/s], bottom z [m]; pure
/// functions.
namespace octavo::shallow {

inline constexpr double gravity = 9.81;  ///< [m/s2]

/// A face: the unit normal from the left control volume to the right one, and its length [m].
struct Face {
  double x = 0, y = 0, length = 0;
};

/// The state of a control volume at a face.
struct Side {
  double h = 0, u = 0, v = 0, z = 0;
};

/// Through a face of length |n|: water [m3/s] from left to right, and momentum [m4/s2] that leaves the left volume and
/// enters the right one. The pressure at rest of each side's own depth at the face, g h*^2 / 2, is taken off: over a
/// closed volume it adds up to nothing, and without it still water has fluxes of exactly zero.
struct FaceFlux {
  double mass = 0;
  double left_x = 0, left_y = 0;
  double right_x = 0, right_y = 0;
  double speed = 0;  ///< largest wave speed times length [m2/s]
};

/// HLLC (Toro 2001, Shock-Capturing Methods for Free-Surface Shallow Flows) between the hydrostatically reconstructed
/// depths of both sides (Audusse, Bouchut, Bristeau, Klein, Perthame 2004): h* = max(0, h + z - max(z_l, z_r)).
/// No more water leaves a side than `speed` times its depth, so depths stay positive up to a Courant number of one.
FaceFlux flux_between(const Side& left, const Side& right, const Face& face);

/// The same at a wall, `face` directed out of the volume: the flux between the water and its mirror image.
FaceFlux flux_at_wall(const Side& side, const Face& face);

/// The discharge left after a time step [s] of Strickler's friction (K [m^(1/3)/s]), implicit in the discharge q with
/// speed |q|/h from before: a factor in (0, 1].
double friction_factor(double h, double speed, double strickler, double step);

}  // namespace octavo::shallow
