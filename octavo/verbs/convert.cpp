#include "octavo/verbs/convert.hpp"

#include <algorithm>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/formats.hpp"
#include "octavo/step/sub_mesh.hpp"
#include "octavo/step/triangle_series.hpp"
#include "octavo/step/write.hpp"
#include "octavo/verbs/write_store.hpp"

namespace octavo::verbs {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;

namespace {

/// Every step of every input. Numbers are the inputs' own where all have one and no two are the same.
std::vector<Source> list_sources(const std::vector<fs::path>& inputs) {
  std::vector<Source> sources;
  for (const fs::path& path : inputs) {
    if (store::recognise(path)) {
      for (const store::StepInfo& info : store::list_steps(path))
        sources.push_back({path, info.step,
                           [path, info] {
                             return step::open(path, {info.flow, info.step});
                           },
                           step::StepChoice{info.flow, info.step}});
    } else if (formats::format_of(path).list_steps != nullptr) {
      const std::vector<store::StepInfo> all = step::steps(path);
      for (const store::StepInfo& info : all)
        sources.push_back({path, info.step, [path, info] { return step::open(path, {{}, info.step}); }});
      // A geometry: its mesh, and the names of its variables.
      if (all.empty() && step::open(path).unstructured)
        sources.push_back({path, 0, [path] { return step::open(path); }});
    } else {
      const mesh::Dataset opened = step::open(path);
      const auto number = step::step_number(opened).value_or(static_cast<std::int64_t>(sources.size()));
      // One input stays open. The descriptions of a long list would fill the memory.
      if (inputs.size() == 1)
        sources.push_back({path, number, [opened] { return opened; }});
      else
        sources.push_back({path, number, [path] { return step::open(path); }});
    }
  }
  if (sources.empty())
    throw Error(Kind::corrupt, "no complete step to convert").at(inputs.empty() ? "no input" : inputs[0].string());
  std::stable_sort(sources.begin(), sources.end(), [](const Source& a, const Source& b) { return a.step < b.step; });
  for (std::size_t i = 1; i < sources.size(); ++i)
    if (sources[i].step == sources[i - 1].step)
      throw Error(Kind::usage, "two inputs are step " + std::to_string(sources[i].step) + " of one store: " +
                                   sources[i - 1].path.string() + " and " + sources[i].path.string())
          .hint("convert them to stores of their own");
  return sources;
}

// ------------------------------------------------------------------ formats of the table

bool is_store(const ConvertOptions& options) { return options.to.empty() || options.to == "octavo"; }

/// "a MED file", "a native output".
std::string output_of(const formats::Format& format) {
  return format.triangles ? "a " + std::string(format.title) + " file" : "a native output";
}

void refuse_partial(const formats::Format& format, const ConvertOptions& options) {
  if (options.measure) throw Error(Kind::usage, "errors are measured of a store that is written").hint("no --report");
  if (!is_whole_and_exact(options) || options.append)
    throw Error(Kind::unsupported, output_of(format) + " is written whole and losslessly")
        .hint("leave out --roi, --level, --codec and --append");
}

ConvertReport report_of(const formats::WriteReport& written, const fs::path& out, const ConvertOptions& options) {
  ConvertReport report;
  static_cast<formats::WriteReport&>(report) = written;
  if (options.ranks.rank != 0) return report;
  const mesh::Dataset made = step::open(out);
  report.parts = made.num_parts;
  if (report.bytes == 0) report.bytes = made.bytes;
  return report;
}

/// All steps, or what they combine to, of all triangles or those in the polygon.
formats::Series series_to_write(const fs::path& input, const ConvertOptions& options, std::vector<std::string>& notes) {
  const std::string title(formats::format_named(options.to).title);
  formats::Series series = step::open_series(input, options.fields, title, options.from.flow);
  if (options.over_time) {
    const mesh::Dataset all = step::over_time(input, *options.over_time, options.from.flow);
    series = step::series_of(all, options.fields, {all.header.time});
    series.open = [all](std::size_t) { return all; };
  }
  if (!options.polygon) return series;
  mesh::refuse_solids(series.first, "a polygon cuts triangles out");
  return step::cut_out(series, *options.polygon, notes);
}

/// Over time and polygons are of files of triangles.
void refuse_triangle_options(const ConvertOptions& options) {
  if (!options.over_time && !options.polygon) return;
  if (is_store(options) || !formats::format_named(options.to).triangles)
    throw Error(Kind::unsupported, std::string(options.polygon ? "a polygon" : "values over time") +
                                       " are for outputs that are files of triangles: " +
                                       formats::titles_of([](const formats::Format& one) { return one.triangles; }))
        .hint("make such a file, then convert that");
}

/// All steps of one input as one file.
ConvertReport write_triangles(const fs::path& input, const fs::path& out, const ConvertOptions& options) {
  const formats::Format& format = formats::format_named(options.to);
  refuse_partial(format, options);
  if (options.from.step)
    throw Error(Kind::usage, output_of(format) + " has all steps of its input").hint("leave out --step");
  std::vector<std::string> notes;
  formats::Series series = series_to_write(input, options, notes);
  ConvertReport report = report_of(step::write(std::move(series), out, options), out, options);
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  if (store::recognise(input)) note_lost_bytes(input, {options.from.flow, {}}, report.notes);
  return report;
}

ConvertReport write_cells(const Source& source, const fs::path& out, const ConvertOptions& options) {
  refuse_partial(formats::format_named(options.to), options);
  ConvertReport report = report_of(step::write(source.open(), out, options), out, options);
  if (source.stored)  // the format writes such bytes of its own again
    note_lost_bytes(source.path, *source.stored, report.notes, options.to + "/run/");
  return report;
}

/// The step of the only input that another format's output is made of.
Source one_source(const fs::path& input, const ConvertOptions& options) {
  Source source{input, 0, [input, from = options.from] { return step::open(input, from); }};
  if (store::recognise(input)) source.stored = options.from;
  return source;
}

}  // namespace

ConvertReport convert(const std::vector<fs::path>& inputs, const fs::path& out, const ConvertOptions& options) {
  refuse_triangle_options(options);
  if (is_store(options)) {
    std::vector<Source> sources;
    base::agree(options.ranks, [&] { sources = list_sources(inputs); });
    return write_store(sources, out, options);
  }
  const formats::Format& format = formats::format_named(options.to);
  if (inputs.size() != 1)
    throw Error(Kind::usage, output_of(format) + (format.triangles ? " is made of one input, " : " is one step, ") +
                                 std::to_string(inputs.size()) + (format.triangles ? "" : " inputs") + " were given")
        .hint("convert them one by one");
  return format.triangles ? write_triangles(inputs[0], out, options)
                          : write_cells(one_source(inputs[0], options), out, options);
}

ConvertReport convert(const mesh::Dataset& dataset, std::int64_t step, const fs::path& out,
                      const ConvertOptions& options) {
  if (options.over_time || options.polygon)
    throw Error(Kind::unsupported, "over time and polygons are taken from paths, not from an open step");
  const Source source{dataset.path, step, [&] { return dataset; }};
  return is_store(options) ? write_store({source}, out, options) : write_cells(source, out, options);
}

}  // namespace octavo::verbs
