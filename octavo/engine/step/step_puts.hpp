#pragma once
#include <span>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/engine/step/step_job.hpp"

/// Builds a step, call by call. All functions throw Error(usage), naming the field, for an invalid put.
namespace octavo::engine {

/// Checks the properties that all steps of a writer share: dimensions, roots, blocks and the domain's corners.
void check(const mesh::Header& common);
/// The error of a put before begin_step or after end_step. `after`: the step before, "" if there is none.
base::Error outside_of_step(const std::string& what, const std::string& after);
/// As mesh::validate, for boxes that a caller made.
void check(const mesh::Patches& patches);
void set_mesh(StepJob& job, const mesh::Octree& tree);
void set_mesh(StepJob& job, const mesh::Patches& patches);
void set_mesh(StepJob& job, const TriangleSource& piece);
void add_field(StepJob& job, const std::string& name, const ArrayView& view, const std::string& unit,
               mesh::Centring centring);
/// A rank without boxes counts as float64. If other ranks have another type, it must put an empty array of that type.
void add_field(StepJob& job, const std::string& name, std::span<const ArrayView> boxes, const std::string& unit,
               mesh::Centring centring = mesh::Centring::cell);
void add_particles(StepJob& job, const std::string& species, const std::string& attribute, const ArrayView& view,
                   const std::string& unit);
/// Reads of arrays in device memory wait from here on for the work that their streams have now.
void follow_streams(const StepJob& job);
/// Finds the errors that show before anything is written.
void check_complete(const StepJob& job);

/// Lists the properties on which ranks with a part must agree: fields, species, patches. Items end with ";".
std::string describe(const StepJob& job);
std::string describe_step(const StepJob& job);
/// The same for all ranks: domain, units, time and attributes with their values, exactly. Items end with ";".
std::string describe(const mesh::Header& header);

}  // namespace octavo::engine
