#pragma once
#include <span>
#include <string>
#include <vector>

#include "apps/euler/problems.hpp"
#include "apps/euler/tracers.hpp"
#include "octavo/mesh/dataset.hpp"

namespace octavo::run {

/// Throws Error(usage) where a checkpoint is of another problem, dimension or gas, and Error(corrupt) naming variables
/// that it lacks: before anything of this run has been made from it.
void check_restart(const mesh::Header& header, const euler::Problem& problem);

/// The first line of an AMReX checkpoint that a run writes.
std::string checkpoint_title(const euler::Problem& problem);
/// FLASH's name, of four characters, of a passive scalar.
std::string flash_name(int scalar);
/// The same for the header of an output of FLASH or AMReX: names what does not fit: the domain, the problem and
/// the gas where the output tells (a FLASH file's set-up call, run_comment and gamma, the first line of an AMReX
/// checkpoint). Such an output has primitive variables.
void check_output(const mesh::Header& header, const euler::Problem& problem);
/// The primitive variables that a run on from an output needs, in Octavo's words.
std::vector<std::string> primitive_names(const euler::Gas& gas);
/// Makes the conserved variables of a part's primitive ones, which are removed, and the species "tracers" of its
/// particles.
void make_conserved(mesh::Part& part, const mesh::Header& header, const euler::Problem& problem);

/// The values of a field of doubles. Throws Error(corrupt) where the part has no such field.
std::span<const double> field_of(const mesh::Part& part, const std::string& name);
/// The species "tracers" of a part; none where it has none.
euler::Tracers tracers_of(const mesh::Part& part, int dim);

}  // namespace octavo::run
