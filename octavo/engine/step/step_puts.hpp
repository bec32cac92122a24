#pragma once
#include <span>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/step_job.hpp"

/// A step put together, call by call. All throw Error(usage), at the field, for what cannot be.
namespace octavo::engine {

/// Of what all steps of a writer have in common: dimensions, roots, blocks and the domain's corners.
void check(const mesh::Header& common);
/// Of something put before begin_step or after end_step. `after`: the step before, "" where there is none.
base::Error outside_of_step(const std::string& what, const std::string& after);
/// As mesh::validate, for boxes that a caller made.
void check(const mesh::Patches& patches);
void set_mesh(StepJob& job, const mesh::Octree& tree);
void set_mesh(StepJob& job, const mesh::Patches& patches);
void set_mesh(StepJob& job, const TriangleSource& piece);
void add_field(StepJob& job, const std::string& name, const ArrayView& view, const std::string& unit,
               mesh::Centring centring);
/// A rank without boxes has float64: where others have another type it puts an empty array of that type.
void add_field(StepJob& job, const std::string& name, std::span<const ArrayView> boxes, const std::string& unit,
               mesh::Centring centring = mesh::Centring::cell);
void add_particles(StepJob& job, const std::string& species, const std::string& attribute, const ArrayView& view,
                   const std::string& unit);
/// What can be seen to be wrong before anything is written.
void check_complete(const StepJob& job);

/// What ranks with a part must agree on to make parts of one step: fields, species, patches. Items end with ";".
std::string describe(const StepJob& job);
std::string describe_step(const StepJob& job);
/// What all ranks must: domain, units, time and attributes with their values, exactly. Items end with ";".
std::string describe(const mesh::Header& header);

}  // namespace octavo::engine
