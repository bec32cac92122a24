#include "octavo/parallel/step_job.hpp"

#include "octavo/base/checksum.hpp"
#include "octavo/base/error.hpp"

namespace octavo::parallel {
namespace {

using base::Error;
using base::Kind;

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + Staging::alignment - 1) / Staging::alignment * Staging::alignment;
}

// The ranges of cells (or particles) that become a stream each.
std::vector<std::size_t> cuts_of(const StepJob& job, const Source& source) {
  if (source.info.centring != mesh::Centring::particle && job.tree) return store::stream_cuts(*job.tree);
  return {0, source.view.cells};
}

// Somebody wrote where he should not: before it is encoded is the last moment to see.
void compare(const StepJob& job, const Source& source) {
  const auto cuts = cuts_of(job, source);
  const std::size_t cell = cell_bytes(source.view);
  for (std::size_t i = 0; i < source.checksums.size(); ++i)
    if (base::checksum(source.staged.subspan(cuts[i] * cell, (cuts[i + 1] - cuts[i]) * cell)) != source.checksums[i])
      throw Error(Kind::corrupt,
                  "the staged copy has changed since end_step(): a stray write of this process, or bad memory")
          .at("field " + source.info.name);
}

store::Values values_of(const Source& source) {
  store::Values values;
  values.info = source.info;
  values.size = packed_bytes(source.view) / mesh::size_of(source.view.type);
  values.checksums = source.checksums;
  values.data = source.staged.empty() ? packed_data(source.view) : source.staged.data();
  if (values.data != nullptr) return values;
  values.cell_bytes = cell_bytes(source.view);
  values.pack = [view = source.view, cell = values.cell_bytes](std::size_t first, std::span<std::byte> out) {
    pack(view, first / cell, (first + out.size()) / cell, out, false);
  };
  return values;
}

store::PartView view_of(const StepJob& job) {
  store::PartView part;
  part.index = job.part;
  part.tree = &*job.tree;
  for (const Source& source : job.fields) part.fields.push_back(values_of(source));
  for (const SpeciesSource& species : job.species) {
    store::SpeciesValues values{species.species, species.count, {}};
    for (const Source& source : species.attributes) values.attributes.push_back(values_of(source));
    part.species.push_back(std::move(values));
  }
  return part;
}

// Raw streams are compared while they are written.
void compare_encoded(const StepJob& job) {
  const auto is_raw = [&](const Source& source) {
    const auto own = job.encoding.field_codec.find(source.info.name);
    const bool field = source.info.centring != mesh::Centring::particle && own != job.encoding.field_codec.end();
    return (field ? own->second : job.encoding.codec).method == codec::Method::raw && !job.encoding.single_precision;
  };
  for (const Source& source : job.fields)
    if (!is_raw(source)) compare(job, source);
  for (const SpeciesSource& species : job.species)
    for (const Source& source : species.attributes)
      if (!is_raw(source)) compare(job, source);
}

std::optional<store::EncodedPart> encode(StepJob& job) {
  if (job.failure) throw *job.failure;
  if (!job.tree) return {};
  compare_encoded(job);
  store::EncodeOptions encoding = job.encoding;
  encoding.checksums = job.checksums;
  return store::encode(view_of(job), job.header, encoding);
}

}  // namespace

std::uint64_t bytes_of(StepJob& job) {
  std::uint64_t bytes = 0;
  for_each_source(job, [&](const Source& source) { bytes += packed_bytes(source.view); });
  return bytes;
}

std::uint64_t staged_bytes_of(StepJob& job) {
  std::uint64_t bytes = 0;
  for_each_source(job, [&](const Source& source) { bytes += aligned(packed_bytes(source.view)); });
  return bytes;
}

double stage(StepJob& job, Staging& staging) {
  const Staging::Block block = staging.take(staged_bytes_of(job));
  job.block = block.bytes;
  std::uint64_t used = 0;
  for_each_source(job, [&](Source& source) {
    source.staged = job.block.subspan(used, packed_bytes(source.view));
    used += aligned(source.staged.size());
    const auto cuts = cuts_of(job, source);
    const std::size_t cell = cell_bytes(source.view);
    for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
      const auto out = source.staged.subspan(cuts[i] * cell, (cuts[i + 1] - cuts[i]) * cell);
      const std::uint64_t sum = pack(source.view, cuts[i], cuts[i + 1], out, job.checksums);
      if (job.checksums) source.checksums.push_back(sum);
    }
  });
  return block.waited;
}

std::uint64_t carry_out(StepJob& job, Group& group, Staging& staging, const std::function<void()>& released) {
  bool held = true;
  const auto release = [&] {
    if (!std::exchange(held, false)) return;
    staging.give_back(std::exchange(job.block, {}));
    if (released) released();
  };
  const auto encode_and_free = [&] {
    auto part = encode(job);
    // What is encoded has memory of its own: this step's is free for the next before it is on disk.
    if (!part || !store::has_raw_streams(*part)) release();
    return part;
  };
  try {
    const std::uint64_t bytes = group.write_segment(job.plan, job.header, encode_and_free, release);
    release();
    return bytes;
  } catch (Error& error) {
    release();
    throw error.at(store::to_string(job.plan.flow) + " step " + std::to_string(job.plan.step));
  } catch (...) {
    release();
    throw;
  }
}

}  // namespace octavo::parallel
