#include <cmath>

#include "bindings.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/open.hpp"
#include "octavo/verbs/convert.hpp"
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

nb::dict describe_store(const verbs::ConvertReport& report) {
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

/// The report of a store, or of an output of the format `to`.
nb::dict describe(const verbs::ConvertReport& report, const std::string& to) {
  if (to.empty()) return describe_store(report);
  nb::dict result;
  if (formats::format_named(to).triangles) {
    result["steps"] = report.steps;
    result["points"] = report.points;
    result["elements"] = report.elements;
    result["groups"] = report.groups;
  } else {
    result["means"] = report.means;
    result["fills"] = report.fills;
    result["particles"] = report.particles;
    result["domains"] = report.parts;
  }
  result["bytes"] = report.bytes;
  result["notes"] = report.notes;
  return result;
}

/// Keyword arguments, each taken once.
class Keywords {
 public:
  explicit Keywords(const nb::kwargs& given) { left_.update(given); }
  /// Leaves `to` as it is where there is no such argument.
  template <class T>
  void take(const char* name, T& to) {
    if (!left_.contains(name)) return;
    try {
      to = nb::cast<T>(nb::object(left_[name]));
    } catch (const nb::cast_error&) {
      throw nb::type_error(("argument '" + std::string(name) + "' is of another type").c_str());
    }
    nb::del(left_[name]);
  }
  template <class T>
  T take(const char* name) {
    T value{};
    take(name, value);
    return value;
  }
  /// Throws TypeError if an argument was not taken.
  void finish() const {
    for (const auto& [name, value] : left_)
      throw nb::type_error(("an unexpected keyword argument '" + nb::cast<std::string>(name) + "'").c_str());
  }

 private:
  nb::dict left_;
};

void take_shared(Keywords& given, formats::WriteRequest& request) {
  given.take("to", request.to);
  if (request.to == "octavo") request.to.clear();
  given.take("fields", request.fields);
  given.take("particles", request.particles);
  given.take("single_precision", request.single_precision);
  given.take("overwrite", request.overwrite);
  given.take("refine", request.refine);
  given.take("block", request.block);
  if (const auto fill = given.take<std::string>("fill"); !fill.empty()) {
    request.fill = true;
    request.fill_by =
        named<mesh::FillBy>("fill", fill, {{"linear", mesh::FillBy::linear}, {"constant", mesh::FillBy::constant}});
  }
  given.take("per_mass", request.per_mass);
  given.take("threads", request.threads);
  nb::object ranks = nb::none(), progress = nb::none();
  given.take("ranks", ranks);
  given.take("progress", progress);
  request.ranks = ranks_from(ranks);
  request.progress = progress_from(std::move(progress));
}

/// Options of other formats.
void take_native(Keywords& given, formats::WriteRequest& request) {
  given.take("kind", request.kind);
  given.take("rename", request.rename);
  given.take("periodic", request.periodic);
  given.take("lossy_ok", request.lossy_ok);
  given.take("max_box", request.amrex.max_box);
  given.take("blocking_factor", request.amrex.blocking_factor);
  given.take("multifab", request.amrex.multifab);
  given.take("dt", request.amrex.level_dt);
  given.take("domains", request.ramses.domains);
  given.take("ordering", request.ramses.ordering);
  given.take("boundary", request.med.boundary);
}

/// Options of stores.
void take_store(Keywords& given, verbs::ConvertOptions& options) {
  given.take("max_level", options.max_level);
  std::string codec = "lossless", effort = "default", method = "auto";
  given.take("codec", codec);
  options.accuracy = verbs::parse_accuracy(codec);
  for (const auto& [name, text] : given.take<std::map<std::string, std::string>>("field_codec"))
    options.field_accuracy[name] = verbs::parse_accuracy(text);
  given.take("effort", effort);
  options.effort =
      named<codec::Effort>("effort", effort, {{"default", codec::Effort::normal}, {"max", codec::Effort::max}});
  given.take("method", method);
  options.method = method_named(method);
  given.take("per_file", options.per_file);
  given.take("append", options.append);
  given.take("measure", options.measure);
}

verbs::ConvertOptions convert_options(const nb::kwargs& arguments, const Path* input) {
  Keywords given(arguments);
  verbs::ConvertOptions options;
  take_shared(given, options);
  take_native(given, options);
  take_store(given, options);
  const auto region = given.take<std::optional<std::string>>("region");
  if (input != nullptr) options.region = region_from(region, *input);
  const auto flow = given.take<std::optional<std::string>>("flow");
  if (flow && options.to.empty()) options.flow = flow_named(*flow);
  if (flow && !options.to.empty()) options.from.flow = flow_named(*flow);
  given.take("step", options.from.step);
  given.finish();
  return options;
}

nb::dict convert(const std::vector<Path>& inputs, const Path& out, const nb::kwargs& arguments) {
  if (inputs.empty()) throw base::Error(base::Kind::usage, "nothing to convert");
  const verbs::ConvertOptions options = convert_options(arguments, &inputs.front());
  StopOnSignal guard;
  verbs::ConvertReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::convert(inputs, out, options);
  }
  return describe(report, options.to);
}

nb::dict write(const mesh::Dataset& dataset, std::int64_t step, const Path& out, const nb::kwargs& arguments) {
  const verbs::ConvertOptions options = convert_options(arguments, nullptr);
  StopOnSignal guard;
  verbs::ConvertReport report;
  {
    nb::gil_scoped_release release;
    report = verbs::convert(dataset, step, out, options);
  }
  return describe(report, options.to);
}

nb::list known_formats() {
  nb::list rows;
  for (const formats::Format& format : formats::table()) {
    nb::dict row;
    row["name"] = std::string(format.name);
    row["triangles"] = format.triangles;
    row["endings"] = std::vector<std::string>(format.endings.begin(), format.endings.end());
    rows.append(row);
  }
  return rows;
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

void bind_repack(nb::module_& m) {
  m.def("repack", &repack, nb::arg("path"), nb::arg("out"), nb::arg("domains") = 0, nb::arg("per_file") = 64,
        nb::arg("flow") = nb::none(), nb::arg("steps") = std::vector<std::int64_t>{}, nb::arg("effort") = "default",
        nb::arg("overwrite") = false, nb::arg("threads") = 0, nb::arg("ranks") = nb::none(),
        nb::arg("progress") = nb::none());
}

void bind_convert(nb::module_& m) {
  m.def("convert", &convert, nb::arg("inputs"), nb::arg("out"), nb::arg("options"),
        "Writes outputs as steps of a store, or with `to` one of them as an output of that format. Releases the GIL. "
        "Collective over `ranks`.");
  m.def("write", &write, nb::arg("dataset"), nb::arg("step"), nb::arg("out"), nb::arg("options"),
        "The same for an open step; `step` is its number in a store.");
  m.def("formats", &known_formats, "All formats: name, whether of triangles, endings of file names.");
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
}

}  // namespace octavo::bindings
