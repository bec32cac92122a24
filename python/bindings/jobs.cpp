#include <cmath>

#include "bindings.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/step/open.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/cross.hpp"
#include "octavo/verbs/export.hpp"
#include "octavo/verbs/repack.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "octavo/verbs/verify.hpp"

namespace octavo::bindings {

store::Flow flow_named(const std::string& name);

/// None is one process.
base::Ranks ranks_from(const nb::object& ranks) {
  return ranks.is_none() ? base::Ranks{} : nb::cast<base::Ranks>(ranks);
}

namespace {

using Path = std::filesystem::path;
using Names = std::optional<std::vector<std::string>>;

mesh::Dataset open(const Path& path, const std::optional<std::string>& flow, std::optional<std::int64_t> step) {
  step::StepChoice choice;
  if (flow) choice.flow = flow_named(*flow);
  choice.step = step;
  return step::open(path, choice);
}

nb::list steps(const Path& path) {
  nb::list rows;
  for (const store::StepInfo& info : step::steps(path)) {
    nb::dict row;
    row["flow"] = store::to_string(info.flow);
    row["step"] = info.step;
    row["time"] = info.time;
    row["bytes"] = info.bytes;
    row["parts"] = info.parts;
    row["writer"] = info.writer;
    row["unknown"] = info.unknown;
    rows.append(row);
  }
  return rows;
}

nb::dict verify(const Path& path, int threads, nb::object progress, bool quick) {
  StopOnSignal guard;
  const base::Progress callback = progress_from(std::move(progress));
  store::Report report;
  {
    nb::gil_scoped_release release;
    report = quick ? verbs::verify_quick(path) : verbs::verify(path, threads, callback);
  }
  nb::list findings;
  for (const store::Finding& finding : report.findings) {
    nb::dict row;
    row["where"] = finding.where;
    row["what"] = finding.what;
    row["kind"] = to_string(finding.kind);
    findings.append(row);
  }
  nb::dict result;
  result["findings"] = findings;
  result["notes"] = report.notes;
  result["steps"] = report.steps;
  result["streams"] = report.streams;
  result["bytes"] = report.bytes;
  return result;
}

template <class Value>
Value named(const char* what, const std::string& name, const std::vector<std::pair<const char*, Value>>& values) {
  std::string known;
  for (const auto& [label, value] : values) {
    if (name == label) return value;
    known += (known.empty() ? "" : ", ") + std::string(label);
  }
  throw base::Error(base::Kind::usage, std::string("no ") + what + " '" + name + "': there are " + known);
}

codec::Method method_named(const std::string& name) {
  return named<codec::Method>("method", name,
                              {{"auto", codec::Method::automatic},
                               {"raw", codec::Method::raw},
                               {"zstd", codec::Method::zstd},
                               {"tree", codec::Method::tree},
                               {"delta", codec::Method::delta},
                               {"pcp", codec::Method::pcp}});
}

std::optional<mesh::Region> region_from(const std::optional<std::string>& text, const Path& path) {
  if (!text) return {};
  const mesh::Header header = step::open(path).header;
  return mesh::parse_region(*text, header.dim, mesh::domain_of(header).extent);
}

nb::dict describe(const verbs::Errors& errors) {
  nb::dict result;
  result["values"] = errors.count;
  const auto finite = [](double x) { return std::isfinite(x) ? nb::cast(x) : nb::none(); };  // JSON has no infinity
  result["largest"] = finite(errors.largest);
  result["largest_ratio"] = finite(errors.largest_ratio);
  result["mean"] = errors.mean();
  result["standard_error"] = errors.standard_error();
  result["autocorrelation"] = errors.autocorrelation();
  return result;
}

nb::dict describe(const verbs::ConvertReport& report) {
  nb::dict fields;
  for (const auto& [name, size] : report.fields) {
    nb::dict row;
    row["raw"] = size.raw;
    row["stored"] = size.stored;
    row["bound"] = verbs::to_string(size.accuracy);
    row["codecs"] = std::vector<std::string>(size.codecs.begin(), size.codecs.end());
    if (size.errors) row["errors"] = describe(*size.errors);
    fields[nb::cast(name)] = row;
  }
  nb::dict result;
  result["steps"] = report.steps;
  result["parts"] = report.parts;
  result["input_bytes"] = report.input_bytes;
  result["stored_bytes"] = report.stored_bytes;
  result["mesh_bytes"] = report.mesh_bytes;
  result["fields"] = fields;
  result["notes"] = report.notes;
  return result;
}

/// Empty: none is asked for.
mesh::FillBy fill_named(const std::string& fill) {
  if (fill.empty()) return mesh::FillBy::linear;
  return named<mesh::FillBy>("fill", fill, {{"linear", mesh::FillBy::linear}, {"constant", mesh::FillBy::constant}});
}

nb::dict convert(const std::vector<Path>& inputs, const Path& out, Names fields, std::optional<int> max_level,
                 const std::optional<std::string>& region, const std::string& codec,
                 const std::map<std::string, std::string>& field_codec, const std::string& effort,
                 const std::string& method, bool single_precision, bool particles, int per_file, bool overwrite,
                 bool append, const std::string& flow, int threads, const nb::object& ranks, nb::object progress,
                 int refine, std::int64_t block, const std::string& fill, std::vector<std::string> per_mass,
                 bool measure) {
  if (inputs.empty()) throw base::Error(base::Kind::usage, "nothing to convert");
  verbs::ConvertOptions options;
  options.fields = std::move(fields);
  options.max_level = max_level;
  options.region = region_from(region, inputs.front());
  options.accuracy = verbs::parse_accuracy(codec);
  for (const auto& [name, text] : field_codec) options.field_accuracy[name] = verbs::parse_accuracy(text);
  options.effort =
      named<codec::Effort>("effort", effort, {{"default", codec::Effort::normal}, {"max", codec::Effort::max}});
  options.method = method_named(method);
  options.single_precision = single_precision;
  options.particles = particles;
  options.per_file = per_file;
  options.overwrite = overwrite;
  options.append = append;
  options.flow = flow_named(flow);
  options.measure = measure;
  options.reshape = {refine, block, !fill.empty(), fill_named(fill), std::move(per_mass)};
  options.threads = threads;
  options.ranks = ranks_from(ranks);
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  verbs::ConvertReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::convert(inputs, out, options);
  }
  return describe(report);
}

nb::dict repack(const Path& in, const Path& out, int domains, int per_file, const std::optional<std::string>& flow,
                std::vector<std::int64_t> steps, const std::string& effort, bool overwrite, int threads,
                const nb::object& ranks, nb::object progress) {
  verbs::RepackOptions options;
  options.domains = domains;
  options.per_file = per_file;
  if (flow) options.flow = flow_named(*flow);
  options.steps = std::move(steps);
  options.effort =
      named<codec::Effort>("effort", effort, {{"default", codec::Effort::normal}, {"max", codec::Effort::max}});
  options.overwrite = overwrite;
  options.threads = threads;
  options.ranks = ranks_from(ranks);
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  verbs::RepackReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::repack(in, out, options);
  }
  nb::dict result;
  result["steps"] = report.steps;
  result["parts"] = report.parts;
  result["parts_copied"] = report.parts_copied;
  result["parts_read"] = report.parts_read;
  result["stored_bytes"] = report.stored_bytes;
  result["made_lossless"] = report.made_lossless;
  result["notes"] = report.notes;
  return result;
}

/// The number a RAMSES output gets: NNNNN of output_NNNNN, else that of the output the step was, else the step's.
int output_number(const Path& out, const mesh::Dataset& dataset) {
  mesh::Dataset named;
  const std::string name = (out.has_filename() ? out : out.parent_path()).filename().string();
  if (name.starts_with("output_")) named.path = name;
  std::int64_t number = step::step_number(dataset).value_or(1);
  if (const auto own = dataset.header.attributes.find("output_number"); own != dataset.header.attributes.end())
    if (const auto* value = std::get_if<std::int64_t>(&own->second)) number = *value;
  number = step::step_number(named).value_or(number);
  return number > 0 && number <= 99999 ? static_cast<int>(number) : 1;
}

std::vector<std::string> export_ramses(const mesh::Dataset& dataset, const Path& out, bool overwrite,
                                       bool single_precision, nb::object progress, int domains,
                                       const std::string& ordering, bool lossy_ok) {
  verbs::ExportOptions options;
  options.ordering = ordering;
  options.lossy_ok = lossy_ok;
  options.number = output_number(out, dataset);
  options.domains = domains;
  options.single_precision = single_precision;
  options.overwrite = overwrite;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  nb::gil_scoped_release release;
  auto notes = verbs::export_ramses(dataset, out, options);
  if (auto note = verbs::number_note(dataset, out, options.number); !note.empty()) notes.push_back(std::move(note));
  return notes;
}

nb::dict cross(const mesh::Dataset& dataset, const Path& out, const std::string& to, const std::string& kind,
               std::int64_t block, std::int64_t max_box, std::int64_t blocking_factor, const std::string& multifab,
               const std::vector<double>& dt, const std::string& fill, const std::map<std::string, std::string>& rename,
               Names fields, bool particles, bool single_precision, bool overwrite, nb::object progress, int domains,
               int refine, int threads, const nb::object& ranks, std::vector<std::string> per_mass,
               const std::string& ordering, bool lossy_ok, const std::optional<std::array<bool, 3>>& periodic) {
  verbs::CrossOptions options;
  options.periodic = periodic;
  options.to = named<step::Code>(
      "code", to, {{"flash", step::Code::flash}, {"amrex", step::Code::amrex}, {"ramses", step::Code::ramses}});
  options.kind = kind;
  options.block = block;
  options.max_box = max_box;
  options.blocking_factor = blocking_factor;
  options.multifab = multifab;
  options.level_dt = dt;
  options.fill = !fill.empty();
  options.fill_by = fill_named(fill);
  options.refine = refine;
  options.per_mass = std::move(per_mass);
  options.threads = threads;
  options.ranks = ranks_from(ranks);
  options.rename = rename;
  options.fields = std::move(fields);
  options.particles = particles;
  options.single_precision = single_precision;
  options.overwrite = overwrite;
  options.number = output_number(out, dataset);
  options.domains = domains;
  options.ordering = ordering;
  options.lossy_ok = lossy_ok;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  verbs::CrossReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::cross_convert(dataset, out, options);
  }
  if (options.to == step::Code::ramses)
    if (auto note = verbs::number_note(dataset, out, options.number); !note.empty())
      report.notes.push_back(std::move(note));
  nb::dict result;
  result["means"] = report.means;
  result["fills"] = report.fills;
  result["particles"] = report.particles;
  result["notes"] = report.notes;
  return result;
}

mesh::Dataset sample(const std::string& kind, int dim, int domains, int level_min, int level_max, std::uint64_t seed,
                     std::int64_t particles, int threads) {
  verbs::SampleOptions options;
  options.kind = named<verbs::SampleKind>(
      "kind of sample", kind, {{"sedov", verbs::SampleKind::sedov}, {"turbulence", verbs::SampleKind::turbulence}});
  options.dim = dim;
  options.domains = domains;
  options.level_min = level_min;
  options.level_max = level_max;
  options.seed = seed;
  options.particles = particles;
  options.threads = threads;
  nb::gil_scoped_release release;
  return verbs::sample(options);
}

nb::dict store_dataset(const mesh::Dataset& dataset, std::int64_t step, const Path& out, bool overwrite, int threads,
                       nb::object progress) {
  verbs::ConvertOptions options;
  options.overwrite = overwrite;
  options.threads = threads;
  options.progress = progress_from(std::move(progress));
  StopOnSignal guard;
  verbs::ConvertReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::convert(dataset, step, out, options);
  }
  return describe(report);
}

void bind_repack(nb::module_& m) {
  m.def("repack", &repack, nb::arg("path"), nb::arg("out"), nb::arg("domains") = 0, nb::arg("per_file") = 64,
        nb::arg("flow") = nb::none(), nb::arg("steps") = std::vector<std::int64_t>{}, nb::arg("effort") = "default",
        nb::arg("overwrite") = false, nb::arg("threads") = 0, nb::arg("ranks") = nb::none(),
        nb::arg("progress") = nb::none());
}

void bind_convert(nb::module_& m) {
  m.def("convert", &convert, nb::arg("inputs"), nb::arg("out"), nb::arg("fields") = nb::none(),
        nb::arg("max_level") = nb::none(), nb::arg("region") = nb::none(), nb::arg("codec") = "lossless",
        nb::arg("field_codec") = std::map<std::string, std::string>{}, nb::arg("effort") = "default",
        nb::arg("method") = "auto", nb::arg("single_precision") = false, nb::arg("particles") = true,
        nb::arg("per_file") = 0, nb::arg("overwrite") = false, nb::arg("append") = false, nb::arg("flow") = "analysis",
        nb::arg("threads") = 0, nb::arg("ranks") = nb::none(), nb::arg("progress") = nb::none(), nb::arg("refine") = 0,
        nb::arg("block") = 0, nb::arg("fill") = "", nb::arg("per_mass") = std::vector<std::string>{},
        nb::arg("measure") = false, "Writes outputs as steps of a store. Releases the GIL. Collective over `ranks`.");
}

}  // namespace

void bind_jobs(nb::module_& m) {
  m.def("set_memory_limit", &base::set_memory_limit, nb::arg("bytes"),
        "The most that is read at once [bytes]; 0: 80 % of what is free.");
  m.def("memory_limit", &base::memory_limit);
  nb::class_<base::Ranks>(m, "Ranks", "The processes that share a job.")
      .def_ro("rank", &base::Ranks::rank)
      .def_ro("size", &base::Ranks::size);
  m.def("open", &open, nb::arg("path"), nb::arg("flow") = nb::none(), nb::arg("step") = nb::none(),
        "Opens a step of a store or a native output: headers only.");
  m.def("steps", &steps, nb::arg("path"));
  m.def("verify", &verify, nb::arg("path"), nb::arg("threads") = 0, nb::arg("progress") = nb::none(),
        nb::arg("quick") = false);
  bind_convert(m);
  bind_repack(m);
  m.def("sample", &sample, nb::kw_only(), nb::arg("kind"), nb::arg("dim"), nb::arg("domains"), nb::arg("level_min"),
        nb::arg("level_max"), nb::arg("seed"), nb::arg("particles"), nb::arg("threads"),
        "A made-up step whose parts are made when they are read.");
  m.def(
      "export_ramses", &export_ramses, nb::arg("dataset"), nb::arg("out"), nb::arg("overwrite") = false,
      nb::arg("single_precision") = false, nb::arg("progress") = nb::none(), nb::arg("domains") = 0,
      nb::arg("ordering") = "", nb::arg("lossy_ok") = false,
      "Writes a step as a RAMSES output of that many domains (0: as many as it has parts). Returns what a user should "
      "know, a sentence each. Releases the GIL.");
  m.def("cross", &cross, nb::arg("dataset"), nb::arg("out"), nb::kw_only(), nb::arg("to"), nb::arg("kind") = "",
        nb::arg("block") = 0, nb::arg("max_box") = 0, nb::arg("blocking_factor") = 0, nb::arg("multifab") = "",
        nb::arg("dt") = std::vector<double>{}, nb::arg("fill") = "",
        nb::arg("rename") = std::map<std::string, std::string>{}, nb::arg("fields") = nb::none(),
        nb::arg("particles") = true, nb::arg("single_precision") = false, nb::arg("overwrite") = false,
        nb::arg("progress") = nb::none(), nb::arg("domains") = 0, nb::arg("refine") = 0, nb::arg("threads") = 0,
        nb::arg("ranks") = nb::none(), nb::arg("per_mass") = std::vector<std::string>{}, nb::arg("ordering") = "",
        nb::arg("lossy_ok") = false, nb::arg("periodic") = nb::none(),
        "Writes a step as an output of another code. Releases the GIL.");
  m.def("store_dataset", &store_dataset, nb::arg("dataset"), nb::arg("step"), nb::arg("out"),
        nb::arg("overwrite") = false, nb::arg("threads") = 0, nb::arg("progress") = nb::none(),
        "Writes an open step as a step of a store, losslessly. Releases the GIL.");
}

}  // namespace octavo::bindings
