#pragma once
#include <string>

#include "octavo/telemac/files/piece.hpp"

/// The text files of a piece, as partel writes them.
namespace octavo::telemac {

/// CLI: the boundary's conditions.
std::string boundary_text(const Piece& piece);

/// CLI of a piece in MED: a count, and as many groups that its boundary points are in, each with its codes.
std::string boundary_groups_text(const Piece& piece);

/// PAR: boundary points with where they lead to, shared points with their parts, elements with neighbours in other
/// parts. Throws Error(unsupported) for a point of more than 10 parts, which a line cannot hold.
std::string parallel_text(const Piece& piece);

}  // namespace octavo::telemac
