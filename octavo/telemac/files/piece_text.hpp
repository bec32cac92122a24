#pragma once
#include <string>

#include "octavo/telemac/files/piece.hpp"

/// The text files of a piece, as partel writes them.
namespace octavo::telemac {

/// CLI: the boundary's conditions.
std::string boundary_text(const Piece& piece);

/// CLI of a piece in MED: the number of groups that its boundary points are in, then each group with its codes.
std::string boundary_groups_text(const Piece& piece);

/// PAR: boundary points with the points they lead to, shared points with their parts, and elements with neighbours in
/// other parts. Throws Error(unsupported) for a point of more than 10 parts, because a line cannot hold more.
std::string parallel_text(const Piece& piece);

}  // namespace octavo::telemac
