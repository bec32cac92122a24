#include "octavo/verbs/write_store.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/rank_exchange.hpp"
#include "octavo/base/threads.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/mesh/clip.hpp"
#include "octavo/mesh/tree/prune.hpp"
#include "octavo/step/cell_values.hpp"
#include "octavo/step/reshape.hpp"
#include "octavo/step/target.hpp"
#include "octavo/store/durable.hpp"
#include "octavo/store/particle_order.hpp"
#include "octavo/store/read/opened.hpp"
#include "octavo/store/read/solids.hpp"
#include "octavo/store/read/triangles.hpp"
#include "octavo/verbs/scope.hpp"
#include "octavo/verbs/store_files.hpp"

namespace octavo::verbs {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

bool is_whole_and_exact(const ConvertOptions& options) {
  bool exact = !options.region && !options.max_level && options.accuracy.kind == Accuracy::Kind::lossless;
  for (const auto& [name, accuracy] : options.field_accuracy)
    exact = exact && accuracy.kind == Accuracy::Kind::lossless;
  return exact;
}

void note_lost_bytes(const fs::path& store, const step::StepChoice& choice, std::vector<std::string>& notes,
                     const std::string& kept) {
  if (std::string note = store::lost_bytes_note(store, choice.flow, choice.step, kept); !note.empty())
    notes.push_back(std::move(note));
}

namespace {

constexpr int default_per_file = 64;

/// The parts of the input that are stored, and their files.
struct ConvertPlan {
  std::vector<int> parts;
  StoreFiles files;

  std::vector<int> parts_of(int file) const {
    return {parts.begin() + files.first(file), parts.begin() + files.last(file)};
  }
  /// Places in `parts`, in all files that this rank writes.
  std::vector<std::size_t> places_of(int rank) const {
    std::vector<std::size_t> places;
    for (int file = 0; file < files.files; ++file)
      for (int i = files.first(file); files.rank_of(file) == rank && i < files.last(file); ++i)
        places.push_back(static_cast<std::size_t>(i));
    return places;
  }
};

ConvertPlan make_plan(const mesh::Dataset& dataset, const ConvertOptions& options) {
  ConvertPlan plan;
  plan.parts = parts_of_selection(dataset, options.region, options.max_level);
  if (plan.parts.empty())
    throw Error(Kind::usage, "the region holds no cell: " + mesh::to_string(*options.region, dataset.header.dim))
        .at(dataset.path);
  const int count = static_cast<int>(plan.parts.size());
  const int ranks = options.ranks.size, shares = (count + ranks - 1) / ranks;
  plan.files =
      plan_files(count, options.per_file > 0 ? options.per_file : std::min(default_per_file, shares), options.ranks);
  return plan;
}

// ------------------------------------------------------------------ reading one part

/// Whether each part of the store is one of the input, with all its cells or those of its coarser levels. Then bytes of
/// ranks stay with their parts.
bool keeps_parts(const ConvertOptions& options) { return !options.region && options.block == 0 && options.refine == 0; }

mesh::Request request_of(const ConvertOptions& options) {
  mesh::Request request;
  request.fields = options.fields;
  if (options.max_level) request.max_level = *options.max_level;
  request.particles = options.particles;
  request.opaque = keeps_parts(options);
  return request;
}

void keep_region(const mesh::Region& asked, const mesh::Header& header, mesh::Part& part) {
  if (!std::holds_alternative<mesh::Octree>(part.mesh))
    throw Error(Kind::unsupported, "a region cannot be cut out of a mesh of triangles or solids")
        .hint("--polygon cuts triangles; the verbs that compute and draw take --roi");
  const mesh::Region region = mesh::in_domain(asked, part.index).value();  // other parts are not read
  auto& tree = std::get<mesh::Octree>(part.mesh);
  mesh::clip(tree, header, region);
  const mesh::Extract extract = mesh::prune(tree);
  for (mesh::Field& field : part.fields)
    field.bytes = mesh::gather(
        tree, extract, field.bytes,
        mesh::block_size(tree) * static_cast<std::size_t>(field.info.components) * mesh::size_of(field.info.type));
  part.mesh = extract.tree;
  for (mesh::Particles& species : part.particles) mesh::keep(species, mesh::inside(region, header, species));
}

mesh::Part read_part(const mesh::Dataset& dataset, int index, const ConvertOptions& options) {
  mesh::Part part = dataset.read(index, request_of(options));
  // Hints are for a restart.
  if (!is_whole_and_exact(options))
    std::erase_if(part.opaque, [](const auto& one) { return one.first.starts_with('.'); });
  if (options.region) keep_region(*options.region, dataset.header, part);
  return part;
}

// ------------------------------------------------------------------ bounds

struct FiniteRange {
  double lo = std::numeric_limits<double>::infinity();
  double hi = -std::numeric_limits<double>::infinity();
  void add(double value) {
    if (!std::isfinite(value)) return;
    lo = std::min(lo, value);
    hi = std::max(hi, value);
  }
};

bool is_of_particles(const std::string& name) { return name.find('/') != std::string::npos; }

/// The range of each named field and attribute ("species/attribute") of one part.
std::map<std::string, FiniteRange> ranges_of(const mesh::Part& part, const std::map<std::string, FiniteRange>& names) {
  std::map<std::string, FiniteRange> ranges;
  const auto see = [&](const std::string& name, const mesh::Field& field) {
    if (!names.contains(name)) return;
    mesh::visit_values(field, [&](auto values) {
      for (auto value : values) ranges[name].add(static_cast<double>(value));
    });
  };
  for (const mesh::Field& field : part.fields) see(field.info.name, field);
  for (const mesh::Particles& species : part.particles)
    for (const mesh::Field& field : species.attributes) see(species.species + "/" + field.info.name, field);
  return ranges;
}

/// max - min of each named field and attribute over all cells and particles that will be stored: a pass over the whole
/// input.
std::map<std::string, double> field_ranges(const mesh::Dataset& dataset, const ConvertPlan& plan,
                                           const std::vector<std::string>& names, const ConvertOptions& options) {
  ConvertOptions pass = options;
  pass.fields.emplace();
  std::copy_if(names.begin(), names.end(), std::back_inserter(*pass.fields), std::not_fn(is_of_particles));
  pass.particles = std::any_of(names.begin(), names.end(), is_of_particles);
  std::map<std::string, FiniteRange> ranges;
  for (const std::string& name : names) ranges[name];
  const std::vector<std::size_t> mine = plan.places_of(options.ranks.rank);
  base::agree(options.ranks, [&] {
    base::ordered_for(
        mine.size(), options.threads,
        [&](std::size_t i) { return ranges_of(read_part(dataset, plan.parts[mine[i]], pass), ranges); },
        [&](std::size_t, std::map<std::string, FiniteRange> local) {
          for (const auto& [name, range] : local) {
            ranges[name].add(range.lo);
            ranges[name].add(range.hi);
          }
        });
  });
  std::vector<double> ends;  // the highest ones negated
  for (const auto& [name, range] : ranges) ends.insert(ends.end(), {range.lo, -range.hi});
  ends = base::reduce(options.ranks, std::move(ends), [](double a, double b) { return std::min(a, b); });
  std::size_t next = 0;
  std::map<std::string, double> widths;
  for (const auto& [name, range] : ranges) {
    widths[name] = -ends[next + 1] - ends[next];
    next += 2;
  }
  return widths;
}

const Accuracy& accuracy_of(const std::string& field, const ConvertOptions& options) {
  const auto found = options.field_accuracy.find(field);
  return found == options.field_accuracy.end() ? options.accuracy : found->second;
}

/// "position" of position_x; empty if the attribute is no component of a vector.
std::string stem_of(const std::string& attribute) {
  const bool is_component = attribute.ends_with("_x") || attribute.ends_with("_y") || attribute.ends_with("_z");
  return is_component ? attribute.substr(0, attribute.size() - 2) : std::string{};
}

/// The entry of an attribute, by its own name or by that of its vector ("stars/position"); null if there is none.
const Accuracy* entry_of(const std::string& species, const std::string& attribute, const ConvertOptions& options) {
  for (const std::string& name : {attribute, stem_of(attribute)}) {
    const auto found = options.field_accuracy.find(species + "/" + name);
    if (!name.empty() && found != options.field_accuracy.end()) return &found->second;
  }
  return nullptr;
}

/// Identities, and numbers of processes and blocks, are exact under the bound for all: some codes have them as doubles.
bool names_something(const std::string& attribute) {
  const std::set<std::string> exact{"identity", "id", "tag", "cpu", "proc", "blk"};
  return exact.contains(attribute);
}

/// The bound of an attribute. Without an entry it is the bound for all fields. A position then takes a relative bound
/// as a share of the step's finest cells, whatever the distance from the origin, and no absolute one: that is in the
/// unit of another quantity.
Accuracy accuracy_of_attribute(const mesh::SpeciesInfo& species, const mesh::FieldInfo& info,
                               const mesh::Dataset& dataset, const ConvertOptions& options) {
  if (info.type != mesh::ScalarType::float64 && info.type != mesh::ScalarType::float32) return {};
  if (const Accuracy* own = entry_of(species.name, info.name, options)) return *own;
  if (species.name == mesh::wall_species || names_something(info.name)) return {};
  const int axis = store::axis_of_position(info);
  if (axis < 0 || options.accuracy.kind == Accuracy::Kind::lossless) return options.accuracy;
  if (options.accuracy.kind == Accuracy::Kind::absolute || dataset.levels.empty()) return {};
  const int finest = mesh::level_index(dataset.header, dataset.levels.back().level);
  const double width = cell_size(dataset.header, finest)[static_cast<std::size_t>(axis)];
  return {Accuracy::Kind::absolute, options.accuracy.value * width};
}

/// Throws Error(usage) unless every entry names a field, or an attribute or vector of a species.
void check_names(const mesh::Dataset& dataset, const ConvertOptions& options) {
  std::set<std::string> known;
  for (const mesh::SpeciesInfo& species : dataset.species)
    for (const mesh::FieldInfo& info : species.attributes)
      known.insert({species.name + "/" + info.name, species.name + "/" + stem_of(info.name)});
  for (const auto& [name, accuracy] : options.field_accuracy) {
    if (!is_of_particles(name)) mesh::select_fields(dataset.header, std::vector<std::string>{name});
    if (!is_of_particles(name) || (known.contains(name) && !name.ends_with('/'))) continue;
    std::string all;
    for (const std::string& one : known)
      if (!one.ends_with('/')) all += (all.empty() ? "" : ", ") + one;
    throw Error(Kind::usage, "unknown attribute \"" + name + "\"").at(dataset.path).hint("there are: " + all);
  }
}

/// The bounds that were asked for, of all floating-point fields and attributes that are stored.
std::map<std::string, Accuracy> accuracies(const mesh::Dataset& dataset, const ConvertOptions& options) {
  std::map<std::string, Accuracy> found;
  for (std::size_t f : mesh::select_fields(dataset.header, options.fields))
    found[dataset.header.fields[f].name] = accuracy_of(dataset.header.fields[f].name, options);
  for (const mesh::SpeciesInfo& species : dataset.species)
    for (const mesh::FieldInfo& info : species.attributes)
      if (const Accuracy own = accuracy_of_attribute(species, info, dataset, options);
          options.particles && own.kind != Accuracy::Kind::lossless)
        found[species.name + "/" + info.name] = own;
  return found;
}

store::EncodeOptions encode_options(const mesh::Dataset& dataset, const ConvertPlan& plan,
                                    const ConvertOptions& options, const std::map<std::string, Accuracy>& asked) {
  std::vector<std::string> need_range;
  for (const auto& [name, accuracy] : asked)
    if (accuracy.kind == Accuracy::Kind::range_relative) need_range.push_back(name);
  std::map<std::string, double> ranges;
  if (!need_range.empty()) ranges = field_ranges(dataset, plan, need_range, options);

  store::EncodeOptions encode;
  encode.single_precision = options.single_precision;
  for (const auto& [name, accuracy] : asked) {
    const codec::Method method = is_of_particles(name) ? codec::Method::automatic : options.method;
    encode.field_codec[name] = {bound_of(accuracy, ranges[name]), options.effort, method};
  }
  encode.part_of = options.part_of;
  if (options.boundary) encode.boundary = &*options.boundary;
  return encode;
}

// ------------------------------------------------------------------ writing

/// Whether the store gets all that a step has, to the bit.
bool is_whole_and_lossless(const ConvertOptions& options) {
  return is_whole_and_exact(options) && !options.fields && !options.single_precision && options.particles;
}

/// Records earlier losses in an attribute that open_step() reads, for codes that would go on from the new store. (The
/// names of the new codecs tell their own losses.)
void note_losses(mesh::Dataset& dataset, const ConvertOptions& options) {
  std::map<std::string, std::string> lossy = dataset.lossy;
  if (options.single_precision && !dataset.unstructured)
    for (const mesh::FieldInfo& field : dataset.header.fields)
      if (field.type == mesh::ScalarType::float64) lossy.emplace(field.name, "single precision");
  std::vector<std::string> lines;
  for (const auto& [field, bound] : lossy) lines.push_back(field + "=" + bound);
  dataset.header.attributes.erase(store::lossy_attribute);
  if (!lines.empty()) dataset.header.attributes[store::lossy_attribute] = std::move(lines);
}

struct Totals {
  ConvertReport report;
  std::int64_t done = 0, total = 0;  ///< input bytes of this rank
  std::optional<std::pair<std::int64_t, std::int64_t>>
      mesh;                               ///< of triangles or solids, stored last: its checksum and step
  store::NeighbourSource neighbours;      ///< of that mesh
  std::map<std::string, Accuracy> asked;  ///< bounds of the last step
};

std::int64_t checksum_of(const mesh::Mesh& mesh) {
  if (const auto* solids = std::get_if<mesh::Solids>(&mesh)) return store::solids_checksum(*solids);
  return store::mesh_checksum(std::get<mesh::Unstructured>(mesh));
}

/// A mesh of triangles or solids that the step before had too is not stored again.
void share_mesh(mesh::Dataset& dataset, std::int64_t step, codec::Method method, Totals& totals) {
  if (!dataset.unstructured) return;
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  mesh::Mesh mesh = dataset.read(0, only).mesh;
  const std::int64_t checksum = checksum_of(mesh);
  auto& attributes = dataset.header.attributes;
  attributes.erase(store::mesh_step_attribute);
  attributes.erase(store::mesh_checksum_attribute);
  if (totals.mesh && totals.mesh->first == checksum) {
    attributes[store::mesh_step_attribute] = totals.mesh->second;
    attributes[store::mesh_checksum_attribute] = checksum;
  } else {
    totals.mesh = {checksum, step};
    totals.neighbours = {};
    const bool predicts = method == codec::Method::automatic || method == codec::Method::tree;
    if (!predicts || !std::holds_alternative<mesh::Unstructured>(mesh)) return;
    // Held once, by all copies of the function, until neighbours are found.
    const auto kept = std::make_shared<mesh::Unstructured>(std::get<mesh::Unstructured>(std::move(mesh)));
    totals.neighbours = store::neighbours_of([kept] { return std::move(*kept); });
  }
}

/// The cut goes to the store with the mesh. One that the input has is left behind.
void add_cut(mesh::Dataset& dataset, const ConvertOptions& options) {
  const bool had_one = dataset.header.attributes.erase(store::cut_attribute) > 0;
  if (had_one && options.part_of.empty())
    dataset.notes.emplace_back("its mesh is cut for ranks: the cut is not kept (octavo partition makes one)");
  if (options.part_of.empty()) return;
  if (!dataset.unstructured) throw Error(Kind::unsupported, "a cut of a mesh that is not of triangles");
  dataset.header.attributes[store::cut_attribute] = std::int64_t{options.cut_parts};
}

void count_streams(const store::EncodedPart& part, ConvertReport& report) {
  ++report.parts;
  for (const store::Stream& stream : part.streams) {
    using store::StreamKind;
    if (stream.kind == StreamKind::opaque) continue;
    if (stream.kind == StreamKind::refinement || stream.kind == StreamKind::ownership ||
        stream.kind == StreamKind::mesh || stream.field.starts_with(mesh::wall_species)) {
      report.mesh_bytes += stream.stored_bytes;
    } else {
      ConvertReport::FieldSize& field = report.fields[stream.field];
      field.raw += stream.raw_bytes;
      field.stored += stream.stored_bytes;
      field.codecs.insert(stream.codec.substr(0, stream.codec.find(' ')));
    }
  }
}

// Returns the order of the step.
std::uint64_t write_file(const mesh::Dataset& dataset, const std::vector<int>& parts, const store::SegmentPlan& segment,
                         const store::EncodeOptions& encode, const ConvertOptions& options, Totals& totals) {
  mesh::Header header = dataset.header;
  header.fields.clear();
  for (std::size_t f : mesh::select_fields(dataset.header, options.fields))
    header.fields.push_back(dataset.header.fields[f]);
  store::SegmentWriter writer(segment, header);
  base::ordered_for(
      parts.size(), threads_within_memory(dataset, options.threads),
      [&](std::size_t i) { return store::encode(read_part(dataset, parts[i], options), header, encode); },
      [&](std::size_t i, store::EncodedPart part) {
        count_streams(part, totals.report);
        writer.add(std::move(part));
        totals.done += dataset.part_bytes(parts[i]);
        if (options.progress && !options.progress(totals.done, std::max(totals.done, totals.total)))
          throw Error(Kind::interrupted, "interrupted");
      });
  writer.commit();
  totals.report.stored_bytes += writer.bytes_written();
  return writer.order();
}

/// Reads this rank's part of the output again and adds up its errors.
void measure_errors(const mesh::Dataset& dataset, const ConvertPlan& plan, std::int64_t step, const fs::path& store,
                    const ConvertOptions& options, Totals& totals) {
  const mesh::Dataset stored = step::open(store, {options.flow, step});
  const std::vector<std::size_t> mine = plan.places_of(options.ranks.rank);  // the numbers of the store's parts
  base::ordered_for(
      mine.size(), options.threads,
      [&](std::size_t i) {
        mesh::Request request;
        request.particles = options.particles;
        const mesh::Part given = read_part(dataset, plan.parts[mine[i]], options);
        return errors_of(given, stored.read(static_cast<int>(mine[i]), request), dataset.header);
      },
      [&](std::size_t, const std::map<std::string, Errors>& errors) {
        for (const auto& [name, more] : errors) {
          auto& of_field = totals.report.fields[name].errors;
          if (!of_field) of_field.emplace();
          add(*of_field, more);
        }
      });
}

/// Nothing of the step is left out, and its mesh stays.
bool is_whole(const ConvertOptions& options) {
  return keeps_parts(options) && !options.max_level && !options.fields && options.particles;
}

/// A store's cut of solids is the last field of its step. It stays behind: add_cut() says so, and adds another.
mesh::Dataset without_cut(mesh::Dataset step) {
  if (!mesh::holds_solids(step.header) || !step.header.attributes.contains(store::cut_attribute)) return step;
  auto& fields = step.header.fields;
  if (fields.empty() || !fields.back().name.starts_with(store::cut_field)) return step;
  fields.pop_back();
  step.read = [read = step.read, header = step.header](int part, mesh::Request request) {
    if (!request.fields) {
      request.fields.emplace();
      for (const mesh::FieldInfo& info : header.fields) request.fields->push_back(info.name);
    }
    return read(part, request);
  };
  return step;
}

/// Adds the data that the step's code needs beside fields and particles, if the step can go back to that code.
mesh::Dataset open_source(const Source& source, const ConvertOptions& options) {
  mesh::Dataset dataset =
      step::reshape(step::without_cell_values(without_cut(source.open()), options.fields),
                    {options.refine, options.block, options.fill, options.fill_by, options.per_mass});
  if (!dataset.carry || !is_whole(options)) return dataset;
  dataset.carry(dataset.header);
  for (const formats::Format* format : formats::table())
    if (std::string note = format->carried_note == nullptr ? "" : format->carried_note(dataset.header); !note.empty())
      dataset.notes.push_back(std::move(note));
  return dataset;
}

void write_step(const Source& source, const fs::path& out, const ConvertOptions& options, Totals& totals) {
  mesh::Dataset dataset;
  ConvertPlan plan;
  std::map<std::string, Accuracy> asked;
  base::agree(options.ranks, [&] {
    dataset = open_source(source, options);
    check_names(dataset, options);
    asked = accuracies(dataset, options);
    if (is_whole_and_lossless(options)) dataset = mesh::with_walls_as_species(dataset);
    note_losses(dataset, options);
    if (source.stored && !keeps_parts(options)) note_lost_bytes(source.path, *source.stored, dataset.notes);
    plan = make_plan(dataset, options);
    totals.total = 0;
    for (const std::size_t place : plan.places_of(options.ranks.rank))
      totals.total += dataset.part_bytes(plan.parts[place]);
    totals.done = 0;
  });
  store::EncodeOptions encode;
  // Collective inside where a range is asked for: every rank enters with the same options and the same headers.
  encode = encode_options(dataset, plan, options, asked);
  base::agree(options.ranks, [&] {
    share_mesh(dataset, source.step, options.method, totals);
    encode.neighbours = totals.neighbours;
    // Done now, while no values are in memory, by the ranks that have parts.
    if (encode.neighbours && totals.total > 0) encode.neighbours();
    add_cut(dataset, options);
  });
  store::SegmentPlan segment;
  segment.store = out;
  segment.flow = options.flow;
  segment.step = source.step;
  segment.whole_domain = !options.region && !dataset.unstructured;
  write_files(options.ranks, plan.files, segment, [&](int file, const store::SegmentPlan& own) {
    return write_file(dataset, plan.parts_of(file), own, encode, options, totals);
  });
  if (options.measure)
    base::agree(options.ranks, [&] { measure_errors(dataset, plan, source.step, out, options, totals); });
  totals.asked = std::move(asked);
  totals.report.input_bytes += static_cast<std::uint64_t>(dataset.bytes);
  ++totals.report.steps;
  auto& notes = totals.report.notes;
  for (const std::string& text : dataset.notes) {
    std::string note = source.path.string() + ": " + text;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(std::move(note));
  }
}

// ------------------------------------------------------------------ reports of all ranks

/// A field of the report, between ranks.
struct FieldRow {
  std::string name;
  std::uint64_t raw = 0, stored = 0;
  std::vector<std::string> codecs;
  std::vector<Errors> errors;  ///< one, or none
};
template <class Way>
void both(Way& way, FieldRow& row) {
  both(way, row.name, row.raw, row.stored, row.codecs, row.errors);
}

void sum_over_ranks(const base::Ranks& ranks, ConvertReport& report) {
  const auto sums = base::sum<std::uint64_t>(
      ranks, {static_cast<std::uint64_t>(report.parts), report.stored_bytes, report.mesh_bytes});
  report.parts = static_cast<int>(sums[0]);
  report.stored_bytes = sums[1];
  report.mesh_bytes = sums[2];
  std::vector<FieldRow> mine;
  for (const auto& [name, field] : std::exchange(report.fields, {})) {
    mine.push_back({name, field.raw, field.stored, {field.codecs.begin(), field.codecs.end()}, {}});
    if (field.errors) mine.back().errors.push_back(*field.errors);
  }
  for (const FieldRow& row : base::gather(ranks, mine)) {
    ConvertReport::FieldSize& field = report.fields[row.name];
    field.raw += row.raw;
    field.stored += row.stored;
    field.codecs.insert(row.codecs.begin(), row.codecs.end());
    for (const Errors& errors : row.errors) {
      if (!field.errors) field.errors.emplace();
      add(*field.errors, errors);
    }
  }
}

/// Refuses options that lose data, because a code goes on from a checkpoint.
void refuse_lossy_checkpoint(const ConvertOptions& options) {
  if (options.flow == store::Flow::checkpoint && !is_whole_and_lossless(options))
    throw Error(Kind::usage, "a checkpoint is whole and lossless")
        .hint("leave out --field, --roi, --level, --codec, --precision and --no-particles");
}

}  // namespace

ConvertReport write_store(const std::vector<Source>& sources, const fs::path& out, const ConvertOptions& asked) {
  refuse_lossy_checkpoint(asked);
  formats::require_options(asked);
  ConvertOptions options = asked;
  options.threads = asked.ranks.size > 1 && asked.threads == 0 ? 1 : base::thread_count(asked.threads);
  std::vector<std::int64_t> steps;
  for (const Source& source : sources) steps.push_back(source.step);
  Totals totals;
  totals.report.steps = 0;
  step::write_beside(
      options.ranks, [&] { return step::prepare_target(out, steps, options.overwrite, options.append, options.flow); },
      [&](const fs::path& path) {
        for (const Source& source : sources) write_step(source, path, options, totals);
      });
  sum_over_ranks(options.ranks, totals.report);
  for (const auto& [name, accuracy] : totals.asked)
    if (const auto field = totals.report.fields.find(name); field != totals.report.fields.end())
      field->second.accuracy = accuracy;
  return totals.report;
}

}  // namespace octavo::verbs
