#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <type_traits>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "keywords.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/base/ranks.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/past_damage.hpp"
#include "octavo/step/replaceable.hpp"
#include "octavo/step/shared.hpp"
#include "octavo/store/read/described.hpp"
#include "octavo/verbs/convert.hpp"
#include "octavo/verbs/repack.hpp"
#include "octavo/verbs/sample/sample.hpp"
#include "octavo/verbs/verify.hpp"

namespace octavo::bindings {

base::Ranks ranks_from(const nb::object& ranks) {
  return ranks.is_none() ? base::Ranks{} : nb::cast<base::Ranks>(ranks);
}

namespace {

using Path = std::filesystem::path;
using Names = std::optional<std::vector<std::string>>;

// Parts are of like sizes. Memory that goes back to the system after each costs the next one a page fault, and the
// clearing of a page, every 4 KiB: up to a third of the time of a verb.
void keep_freed_memory() {
#ifdef __GLIBC__
  constexpr int kept = 16 << 20;
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_MMAP_THRESHOLD, kept);
#endif
}

step::SharedStep open(const Path& path, const std::optional<std::string>& flow, std::optional<std::int64_t> step,
                      const nb::object& among) {
  step::StepChoice choice;
  if (flow) choice.flow = flow_named(*flow);
  choice.step = step;
  const base::Ranks ranks = ranks_from(among);
  return without_gil([&] { return step::open_shared(path, choice, ranks); });
}

step::SharedStep open_on_all(const Path& path, const std::optional<std::string>& flow, std::optional<std::int64_t> step,
                             const nb::object& among) {
  step::StepChoice choice;
  if (flow) choice.flow = flow_named(*flow);
  choice.step = step;
  const base::Ranks ranks = ranks_from(among);
  return without_gil([&] { return step::open_on_all(path, choice, ranks); });
}

/// Nothing where the format does not tell.
std::optional<nb::bytes> describe_part(const step::SharedStep& step, int part) {
  if (!step.describe_parts) return {};
  const std::string text = step.describe_parts({part});
  return nb::bytes(text.data(), text.size());
}

mesh::Dataset understand(const nb::bytes& description) {
  return store::understand({description.c_str(), description.size()});
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
    row["attempt"] = hex_of(info.attempt);
    rows.append(row);
  }
  return rows;
}

nb::dict verify(const Path& path, int threads, nb::object progress, bool quick, const nb::object& shared_by) {
  const base::Progress callback = progress_from(std::move(progress));
  const base::Ranks ranks = ranks_from(shared_by);
  const store::Report report =
      without_gil([&] { return quick ? verbs::verify_quick(path) : verbs::verify(path, threads, callback, ranks); });
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

void take_effort(Keywords& given, codec::Effort& effort) { given.take_named("effort", effort, efforts()); }

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
  result["drift"] = errors.drift();
  result["nrmse"] = finite(errors.normalised_rms());
  result["psnr"] = finite(errors.psnr());
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

void take_shared(Keywords& given, formats::WriteRequest& request) {
  given.take("to", request.to);
  if (request.to == "octavo") request.to.clear();
  given.take("fields", request.fields);
  given.take("particles", request.particles);
  given.take("single_precision", request.single_precision);
  given.take("refine", request.refine);
  given.take("block", request.block);
  if (const auto fill = given.get<std::string>("fill"); !fill.empty()) {
    request.fill = true;
    request.fill_by =
        named<mesh::FillBy>("fill", fill, {{"linear", mesh::FillBy::linear}, {"constant", mesh::FillBy::constant}});
  }
  given.take("per_mass", request.per_mass);
  given.take_common(request);
}

/// The options that a format alone has.
std::vector<formats::OptionInfo> options_of(const formats::Format& format) {
  return format.options == nullptr ? std::vector<formats::OptionInfo>{} : format.options();
}

/// Python's list of texts.
std::vector<std::string> texts(std::span<const std::string_view> from) { return {from.begin(), from.end()}; }

/// Takes an option of one format. 0, "", [] and None mean that it is not given.
void take_own(Keywords& given, const std::string& name, formats::OwnOptions& own) {
  std::optional<mesh::Attribute> value;
  given.take(name.c_str(), value);
  const auto is_set = []<class T>(const T& of) {
    if constexpr (std::is_arithmetic_v<T>)
      return of != 0;
    else
      return !of.empty();
  };
  if (value && std::visit(is_set, *value)) own[name] = *value;
}

/// Options of other formats.
void take_native(Keywords& given, formats::WriteRequest& request) {
  given.take("kind", request.kind);
  given.take("rename", request.rename);
  given.take("periodic", request.periodic);
  given.take("lossy_ok", request.lossy_ok);
  given.take("boundary", request.boundary);
  for (const formats::Format* format : formats::table())
    for (const formats::OptionInfo& option : options_of(*format))
      take_own(given, std::string(option.name), request.own);
}

/// Options of stores.
void take_store(Keywords& given, verbs::ConvertOptions& options) {
  given.take("max_level", options.max_level);
  options.accuracy = verbs::parse_accuracy(given.get<std::string>("codec", "lossless"));
  for (const auto& [name, text] : given.get<std::map<std::string, std::string>>("field_codec"))
    options.field_accuracy[name] = verbs::parse_accuracy(text);
  take_effort(given, options.effort);
  given.take_named("method", options.method,
                   {{"auto", codec::Method::automatic},
                    {"raw", codec::Method::raw},
                    {"zstd", codec::Method::zstd},
                    {"tree", codec::Method::tree},
                    {"delta", codec::Method::delta},
                    {"pcp", codec::Method::pcp}});
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
  const auto region = given.get<std::optional<std::string>>("region");
  if (input != nullptr) options.region = region_from(region, *input);
  const auto flow = given.get<std::optional<std::string>>("flow");
  if (flow && options.to.empty()) options.flow = flow_named(*flow);
  if (flow && !options.to.empty()) options.from.flow = flow_named(*flow);
  given.take("step", options.from.step);
  if (const auto over_time = given.get<std::optional<std::string>>("over_time"))
    options.over_time = step::over_time_named(*over_time);
  given.take("polygon", options.polygon);
  given.finish();
  return options;
}

nb::dict convert(const std::vector<Path>& inputs, const Path& out, const nb::kwargs& arguments) {
  if (inputs.empty()) throw base::Error(base::Kind::usage, "nothing to convert");
  const verbs::ConvertOptions options = convert_options(arguments, &inputs.front());
  return describe(without_gil([&] { return verbs::convert(inputs, out, options); }), options.to);
}

nb::dict write(const mesh::Dataset& dataset, std::int64_t step, const Path& out, const nb::kwargs& arguments) {
  const verbs::ConvertOptions options = convert_options(arguments, nullptr);
  return describe(without_gil([&] { return verbs::convert(dataset, step, out, options); }), options.to);
}

nb::list known_formats() {
  nb::list rows;
  for (const formats::Format* format : formats::table()) {
    nb::dict row;
    row["name"] = std::string(format->name);
    row["title"] = std::string(format->title);
    row["triangles"] = format->triangles;
    row["groups"] = format->read_groups != nullptr;
    row["endings"] = texts(format->endings);
    row["kinds"] = texts(format->kinds);
    nb::list options;
    for (const formats::OptionInfo& option : options_of(*format)) {
      nb::dict one;
      one["name"] = std::string(option.name);
      one["type"] = std::string(option.type);
      one["help"] = std::string(option.help);
      one["values"] = texts(option.values);
      options.append(one);
    }
    row["options"] = options;
    nb::dict outputs;
    for (const formats::OutputKind& kind : format->outputs)
      outputs[nb::cast(std::string(kind.name))] = texts(kind.options);
    row["outputs"] = outputs;
    rows.append(row);
  }
  return rows;
}

nb::dict repack(const Path& in, const Path& out, const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::RepackOptions options;
  given.take("domains", options.domains);
  given.take("per_file", options.per_file);
  if (const auto flow = given.get<std::optional<std::string>>("flow")) options.flow = flow_named(*flow);
  given.take("steps", options.steps);
  take_effort(given, options.effort);
  given.take_common(options);
  given.finish();
  const verbs::RepackReport report = without_gil([&] { return verbs::repack(in, out, options); });
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

mesh::Dataset sample(const nb::kwargs& arguments) {
  Keywords given(arguments);
  verbs::SampleOptions options;
  given.take_named("kind", options.kind,
                   {{"sedov", verbs::SampleKind::sedov}, {"turbulence", verbs::SampleKind::turbulence}});
  given.take("dim", options.dim);
  given.take("domains", options.domains);
  given.take("level_min", options.level_min);
  given.take("level_max", options.level_max);
  given.take("seed", options.seed);
  given.take("particles", options.particles);
  given.take("threads", options.threads);
  given.finish();
  const nb::gil_scoped_release release;
  return verbs::sample(options);
}

void bind_convert(nb::module_& m) {
  m.def("convert", &convert, nb::arg("inputs"), nb::arg("out"), nb::arg("options"),
        "Writes outputs as steps of a store, or with `to` one of them as an output of that format. Releases the GIL. "
        "Collective over `ranks`.");
  m.def("write", &write, nb::arg("dataset"), nb::arg("step"), nb::arg("out"), nb::arg("options"),
        "The same for an open step; `step` is its number in a store.");
  m.def(
      "require_replaceable", [](const Path& path, const std::string& kind) { step::require_replaceable(path, kind); },
      nb::arg("path"), nb::arg("kind") = "",
      "Raises UsageError unless a job that was asked to overwrite may replace what stands at the path: nothing, an "
      "empty "
      "file or folder, or what such a job leaves there. `kind`: \"octavo\" for a store, a format's name, or nothing "
      "for "
      "files of no format.");
  m.def("formats", &known_formats,
        "All formats: name, title, whether of triangles, whether it has groups, endings of file names, kinds of "
        "outputs, its own options "
        "(name, type, help, values), and the outputs that a run writes with options of a target that not all have.");
}

}  // namespace

void bind_verbs(nb::module_& m) {
  m.def("set_memory_limit", &base::set_memory_limit, nb::arg("bytes"),
        "The most that is read at once [bytes]; 0: 80 % of what is free.");
  m.def("memory_limit", &base::memory_limit);
  m.def("keep_freed_memory", &keep_freed_memory,
        "Keeps up to 16 MiB of what parts leave behind for the parts that follow. The command does so; a program that "
        "imports the package has its own ways.");
  nb::class_<base::Ranks>(m, "Ranks", "The processes that share a job.")
      .def_ro("rank", &base::Ranks::rank)
      .def_ro("size", &base::Ranks::size)
      .def(
          "gather",
          [](const base::Ranks& ranks, const nb::bytes& mine) {
            const std::string text(mine.c_str(), mine.size());
            const auto all = without_gil([&] { return base::all_gather(ranks, text); });
            nb::list out;
            for (const std::string& some : all) out.append(nb::bytes(some.data(), some.size()));
            return out;
          },
          nb::arg("mine"), "The bytes of each rank, by rank. Collective.");
  nb::class_<step::SharedStep, mesh::Dataset>(m, "SharedStep", "A step that several processes may read together.")
      .def_prop_ro(
          "choice",
          [](const step::SharedStep& step) {
            std::optional<std::string> flow;
            if (step.choice.flow) flow = store::to_string(*step.choice.flow);
            return nb::make_tuple(flow, step.choice.step);
          },
          "Flow and step, as they were asked for.");
  m.def("open", &open, nb::arg("path"), nb::arg("flow") = nb::none(), nb::arg("step") = nb::none(),
        nb::arg("ranks") = nb::none(),
        "Opens a step of a store or a native output: headers only. Rank 0 opens a store for all; other ranks "
        "know its headers. Collective over `ranks`.");
  m.def("open_on_all", &open_on_all, nb::arg("path"), nb::arg("flow") = nb::none(), nb::arg("step") = nb::none(),
        nb::arg("ranks") = nb::none(),
        "The same, and every rank knows all parts: of a store, rank 0 reads footers and tables for all.");
  m.def("describe_part", &describe_part, nb::arg("step"), nb::arg("part"),
        "What another process needs to read a part, as bytes for understand(); None for other formats than stores, "
        "and for triangles.");
  m.def("understand", &understand, nb::arg("description"), "The Dataset of that part alone. Opens no file.");
  nb::class_<step::DamageLog>(m, "DamageLog", "The parts of a step that could not be read.")
      .def(nb::init<>())
      .def_prop_ro("parts", &step::DamageLog::parts, "{number in the step, from 0: the error's text}. A copy.");
  m.def("past_damage", &step::past_damage, nb::arg("dataset"), nb::arg("log"),
        "A Dataset that notes damaged parts in the log and reads them as parts without cells.");
  m.def("only_parts", &step::only_parts, nb::arg("dataset"), nb::arg("parts"),
        "The Dataset of some parts alone, ascending.");
  m.def("steps", &steps, nb::arg("path"));
  m.def("verify", &verify, nb::arg("path"), nb::arg("threads") = 0, nb::arg("progress") = nb::none(),
        nb::arg("quick") = false, nb::arg("ranks") = nb::none());
  bind_convert(m);
  m.def(
      "repack", &repack, nb::arg("path"), nb::arg("out"), nb::arg("options"),
      "Writes the steps of a store to another with other domains or files. Releases the GIL. Collective over `ranks`.");
  m.def("sample", &sample, nb::arg("options"), "A made-up step whose parts are made when they are read.");
}

}  // namespace octavo::bindings
