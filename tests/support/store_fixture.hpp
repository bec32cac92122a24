#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "octavo/base/checksum.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/read/scan.hpp"
#include "octavo/store/store.hpp"
#include "tests/support/random_octree.hpp"
#include "tests/support/temporary_folder.hpp"

/// Small stores to test with.
namespace octavo::testing {

using TemporaryDirectory = TemporaryFolder;

inline store::Attempt attempt_of(unsigned number) {
  store::Attempt attempt{};
  attempt[0] = static_cast<std::byte>(number & 0xFF);
  attempt[1] = std::byte{0xA7};
  return attempt;
}

/// A step in memory: a header and its parts.
struct Step {
  mesh::Header header;
  std::vector<mesh::Part> parts;
};

struct StepOptions {
  int dim = 3;
  mesh::Index3 roots{1, 1, 1};
  mesh::Index3 block{1, 1, 1};
  int levels = 4;
  std::size_t cells = 600;
  std::size_t parts = 2;
  bool particles = true;
};

inline mesh::Field values_field(std::string name, std::vector<std::int64_t> values) {
  mesh::Field field =
      mesh::make_field({std::move(name), "", mesh::ScalarType::int64, mesh::Centring::particle, 1, 0}, values.size());
  std::copy(values.begin(), values.end(), field.as<std::int64_t>().begin());
  return field;
}

inline mesh::Particles random_particles(std::int64_t count, std::uint64_t seed) {
  Random random(seed);
  mesh::Particles particles{"stars", count, {}};
  mesh::Field position =
      mesh::make_field({"position_x", "kpc", mesh::ScalarType::float64, mesh::Centring::particle, 1, 0},
                       static_cast<std::size_t>(count));
  for (double& x : position.as<double>()) x = random.uniform();
  std::vector<std::int64_t> identity;
  for (std::int64_t i = 0; i < count; ++i) identity.push_back(static_cast<std::int64_t>(random.bits() >> 1));
  particles.attributes = {std::move(position), values_field("identity", std::move(identity))};
  return particles;
}

/// A step of `options.parts` pruned domains with a smooth double field, one of random float bits in two components, an
/// integer mask, and particles on the first part.
inline Step random_step(std::uint64_t seed, const StepOptions& options = {}) {
  const mesh::Octree whole =
      random_octree(seed, {options.dim, options.roots, options.block, options.levels, 0.5, options.cells});
  Step step;
  mesh::Header& header = step.header;
  header.code = "TEST";
  header.time = 0.25 * static_cast<double>(seed);
  header.dim = whole.dim;
  header.roots = whole.roots;
  header.block = whole.block;
  header.level_origin = 1;
  for (std::size_t axis = 0; axis < 3; ++axis) header.hi[axis] = static_cast<double>(whole.roots[axis]);
  header.periodic = {true, false, true};
  header.attributes = {{"gamma", 1.4},
                       {"step", static_cast<std::int64_t>(seed)},
                       {"name", std::string("caf\xe9")},
                       {"sizes", std::vector<std::int64_t>{1, -2}},
                       {"reals", std::vector<double>{}},
                       {"names", std::vector<std::string>{"a", "b"}}};
  const std::vector<mesh::FieldInfo> infos{
      {"density", "g cm^-3", mesh::ScalarType::float64, mesh::Centring::cell, 1, 0},
      {"noise", "", mesh::ScalarType::float32, mesh::Centring::cell, 2, 0},
      {"mask", "", mesh::ScalarType::int16, mesh::Centring::cell, 1, 0}};
  header.fields = infos;
  const auto domains = random_domains(whole, options.parts);
  for (std::size_t p = 0; p < domains.size(); ++p) {
    mesh::Part part;
    part.index = static_cast<int>(p);
    const mesh::Octree tree = mesh::prune(domains[p]).tree;
    part.fields = {smooth_field(tree, "density", seed), random_field(tree, infos[1], seed + 1),
                   random_field(tree, infos[2], seed + 2)};
    part.fields[0].info = infos[0];
    part.mesh = tree;
    if (options.particles) part.particles = {random_particles(p == 0 ? 37 : 0, seed)};
    step.parts.push_back(std::move(part));
  }
  return step;
}

/// Writes the step's parts, dealt to `segments` subfiles in turn of contiguous runs.
inline void write_step(const Step& step, const std::filesystem::path& store, store::SegmentPlan plan,
                       const store::EncodeOptions& options = {}) {
  plan.store = store;
  const std::size_t n = step.parts.size(), segments = static_cast<std::size_t>(plan.segments);
  for (std::size_t s = 0; s < segments; ++s) {
    plan.segment = plan.subfile = static_cast<int>(s);
    store::SegmentWriter writer(plan, step.header);
    for (std::size_t p = n * s / segments; p < n * (s + 1) / segments; ++p)
      writer.add(store::encode(step.parts[p], step.header, options));
    writer.commit();
  }
}

/// And marks it as durable, as a run does that has reported it.
inline void write_durable_step(const Step& step, const std::filesystem::path& store, const store::SegmentPlan& plan,
                               const store::EncodeOptions& options = {}) {
  write_step(step, store, plan, options);
  for (const store::StepFound& found : store::scan_store(store).steps)
    if (found.flow == plan.flow && found.step == plan.step && found.attempt == plan.attempt)
      store::note_durable(store, plan.flow, found.order, plan.step);
}

inline store::SegmentPlan plan_of(std::int64_t step, unsigned attempt, int segments = 1) {
  store::SegmentPlan plan;
  plan.step = step;
  plan.attempt = attempt_of(attempt);
  plan.segments = segments;
  plan.whole_domain = true;
  return plan;
}

inline std::vector<mesh::Part> read_all(const mesh::Dataset& dataset) {
  mesh::Request request;
  request.particles = true;
  std::vector<mesh::Part> parts;
  for (int p = 0; p < dataset.num_parts; ++p) parts.push_back(dataset.read(p, request));
  return parts;
}

/// Bit for bit, NaN payloads included.
inline bool same_parts(const std::vector<mesh::Part>& a, const std::vector<mesh::Part>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t p = 0; p < a.size(); ++p)
    if (a[p].index != b[p].index || a[p].mesh != b[p].mesh || a[p].fields != b[p].fields ||
        a[p].particles != b[p].particles)
      return false;
  return true;
}

inline std::vector<char> file_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
inline void write_file(const std::filesystem::path& path, const std::vector<char>& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

}  // namespace octavo::testing
