#pragma once
#include "apps/bubble/faces.hpp"

/// Bubbles whose surface is where a level set is 0, in a swirl without divergence that draws each out into a spiral.
/// The domain is [0, n]^dim, each unit square (column of the unit cube in 3-D) with a swirl and a bubble of its own.
/// The level set is variable 0 of the hierarchy: positive inside, in 3-D too bubbles are balls.
namespace octavo::bubble {

/// Velocity through the middle of a face of width h: differences of the stream function sin^2(pi x) sin^2(pi y) / pi,
/// so that the divergence of each cell is 0. No flow along z, and none through the borders of the unit squares.
double swirl(const mesh::Point3& low_corner, double width, std::size_t axis);
Faces swirl_on(const Hierarchy& mesh);

/// 0.1 less the distance to (0.75, 0.75) of the unit square (in 3-D to (0.75, 0.75, 0.5)).
double distance_at(const mesh::Point3& at, int dim);
void set_bubbles(Hierarchy& mesh);

/// The largest stable step: `courant` (at most 0.5) cells of the finest level in the fastest flow.
double step_of(const Hierarchy& mesh, double courant);

/// Collective. Carries the level set for `dt`: upwind fluxes of MUSCL-Hancock with limited slopes. Ghosts are filled in
/// first.
void advect(Hierarchy& mesh, const patches::Plans& plans, const Faces& faces, double dt);

/// Collective. Makes the level set a distance again near the surface without moving it: `iterations` steps of
/// |grad| = 1 from the surface outwards (Sussman, Smereka & Osher 1994), beside the surface by the subcell fix of Russo
/// & Smereka 2000.
void redistance(Hierarchy& mesh, const patches::Plans& plans, int iterations);

/// Collective. Blocks within `cells` cells of the surface, of all ranks and levels below the finest.
std::vector<patches::Blocks> blocks_near_surface(const Hierarchy& mesh, double cells);

/// Collective. The volume inside of all bubbles: of leaves, with a smooth step of a cell's width.
double volume_inside(const Hierarchy& mesh, const patches::Plans& plans);

}  // namespace octavo::bubble
