#include "octavo/parallel/step_job.hpp"

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;

// Somebody wrote where he should not: before it is encoded is the last moment to see it.
void compare(const Source& source) {
  if (base::checksum(source.bytes) != source.checksum)
    throw Error(Kind::corrupt,
                "the staged copy has changed since end_step(): a stray write of this process, or bad memory")
        .at("field " + source.info.name);
}

}  // namespace

mesh::Part take_part(StepJob& job) {
  if (job.checksums) for_each_source(job, [](Source& source) { compare(source); });
  mesh::Part part;
  part.index = job.part;
  if (job.tree)
    part.mesh = *job.tree;
  else if (job.patches)
    part.mesh = job.patches->mine;
  for (Source& source : job.fields) part.fields.push_back({source.info, std::move(source.bytes)});
  for (SpeciesSource& species : job.species) {
    mesh::Particles particles{species.species, species.count, {}};
    for (Source& source : species.attributes) particles.attributes.push_back({source.info, std::move(source.bytes)});
    part.particles.push_back(std::move(particles));
  }
  return part;
}

void put_back(mesh::Part& part, StepJob& job) {
  for (std::size_t f = 0; f < part.fields.size(); ++f) job.fields[f].bytes = std::move(part.fields[f].bytes);
  for (std::size_t s = 0; s < part.particles.size(); ++s)
    for (std::size_t a = 0; a < part.particles[s].attributes.size(); ++a)
      job.species[s].attributes[a].bytes = std::move(part.particles[s].attributes[a].bytes);
}

void give_back(StepJob& job, Staging& staging) {
  for_each_source(job, [&](Source& source) {
    if (source.staged) staging.give_back(std::move(source.bytes));
    source.staged = false;
    source.bytes = {};
  });
}

namespace {

std::optional<store::EncodedPart> encode(StepJob& job) {
  copy_lent(job);
  if (job.failure) throw *job.failure;
  if (!has_part(job)) return {};
  mesh::Part part = take_part(job);
  try {
    auto encoded = job.tree ? store::encode(part, job.header, job.encoding)
                            : store::encode(patches_to_octree(part, job.patches->tree, job.patches->others), job.header,
                                            job.encoding);
    put_back(part, job);
    return encoded;
  } catch (...) {
    put_back(part, job);
    throw;
  }
}

}  // namespace

std::size_t packed_bytes(const Source& source) {
  if (source.boxes.empty()) return packed_bytes(source.view);
  std::size_t bytes = 0;
  for (const ArrayView& box : source.boxes) bytes += packed_bytes(box);
  return bytes;
}

std::uint64_t pack(const Source& source, std::span<std::byte> out, bool with_checksum) {
  if (source.boxes.empty()) return pack(source.view, out, with_checksum);
  std::size_t at = 0;
  for (const ArrayView& box : source.boxes) {
    const std::size_t bytes = packed_bytes(box);
    pack(box, out.subspan(at, bytes), false);
    at += bytes;
  }
  return with_checksum ? base::checksum(out) : 0;
}

std::uint64_t bytes_of(StepJob& job) {
  std::uint64_t bytes = 0;
  for_each_source(job, [&](const Source& source) { bytes += packed_bytes(source); });
  return bytes;
}

void stage(StepJob& job, Staging& staging) {
  std::uint64_t taken = 0;
  try {
    for_each_source(job, [&](Source& source) {
      source.bytes = staging.take(packed_bytes(source));
      taken += source.bytes.size();
      source.staged = true;
      source.checksum = pack(source, source.bytes, job.checksums);
    });
  } catch (const std::bad_alloc&) {
    staging.release(bytes_of(job) - taken);
    job.failure = Error(Kind::no_space, "out of memory while the step was staged");
  }
}

void copy_lent(StepJob& job) try {
  for_each_source(job, [&](Source& source) {
    if (source.staged || !source.bytes.empty()) return;
    source.bytes.resize(packed_bytes(source));
    source.checksum = pack(source, source.bytes, job.checksums);
  });
} catch (const std::bad_alloc&) {
  job.failure = Error(Kind::no_space, "out of memory while the step was copied");
}

std::uint64_t carry_out(StepJob& job, Group& group, Staging& staging) {
  // Memory of this step is free for the next as soon as it is encoded, before it is on disk.
  const auto encode_and_free = [&] {
    try {
      auto part = encode(job);
      give_back(job, staging);
      return part;
    } catch (...) {
      give_back(job, staging);
      throw;
    }
  };
  try {
    return group.write_segment(job.plan, job.header, encode_and_free);
  } catch (Error& error) {
    give_back(job, staging);
    throw error.at(store::to_string(job.plan.flow) + " step " + std::to_string(job.plan.step));
  }
}

}  // namespace octavo::parallel
