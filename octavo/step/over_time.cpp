#include "octavo/step/over_time.hpp"

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <type_traits>

#include "octavo/base/error.hpp"
#include "octavo/step/one_mesh.hpp"
#include "octavo/step/open.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;

/// TELEMAC's times are seconds, as its lengths are metres.
std::string unit_of_time(const mesh::Header& header) {
  return header.unit_length == 100 && header.unit_time == 1 ? "S" : "code_time";
}

/// One point over the steps.
class Reduction {
 public:
  Reduction(const OverTime& how, std::size_t size)
      : how_(how), values_(size, std::numeric_limits<double>::quiet_NaN()), counts_(size, 0) {}
  template <class T>
  void add(std::span<const T> values, double time) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = static_cast<double>(values[i]);
      if (std::isnan(value)) continue;
      double& now = values_[i];
      if (how_.kind == OverTime::Kind::arrival) {
        if (counts_[i] > 0 || !(value > how_.above)) continue;
        now = time;
        counts_[i] = 1;
      } else if (counts_[i]++ == 0)
        now = value;
      else if (how_.kind == OverTime::Kind::mean)
        now += value;
      else
        now = how_.kind == OverTime::Kind::maximum ? std::max(now, value) : std::min(now, value);
    }
  }
  double value(std::size_t i) const {
    return how_.kind == OverTime::Kind::mean && counts_[i] > 0 ? values_[i] / counts_[i] : values_[i];
  }

 private:
  OverTime how_;
  std::vector<double> values_;
  std::vector<std::int32_t> counts_;
};

template <class T>
T as_type(double value) {
  if constexpr (std::is_integral_v<T>)
    return std::isnan(value) ? T{0} : static_cast<T>(value);
  else
    return static_cast<T>(value);
}

mesh::Dataset open_one(const std::filesystem::path& path, const store::StepInfo& step) {
  return open(path, {store::recognise(path) ? std::optional(step.flow) : std::nullopt, step.step});
}

void reduce_field(const std::filesystem::path& path, const std::vector<store::StepInfo>& steps, const OverTime& how,
                  int part, mesh::Field& field) {
  if (how.kind == OverTime::Kind::arrival && mesh::is_integer(field.info.type)) return;
  Reduction all(how, field.size());
  mesh::Request request;
  request.fields = std::vector{field.info.name};
  request.mesh = false;
  for (const store::StepInfo& step : steps) {
    const mesh::Part now = open_one(path, step).read(part, request);
    if (now.fields.size() != 1 || now.fields[0].size() != field.size())
      throw Error(Kind::unsupported, "the mesh changes from step to step").at(path.string());
    mesh::visit_values(now.fields[0], [&](auto values) { all.add(values, step.time); });
  }
  mesh::visit_values(field, [&](auto values) {
    using T = std::remove_const_t<typename decltype(values)::element_type>;
    auto out = field.as<T>();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = as_type<T>(all.value(i));
  });
}

void require_one_mesh(const std::filesystem::path& path, const std::vector<store::StepInfo>& steps,
                      const std::function<mesh::Part(int, const mesh::Request&)>& last) {
  mesh::Request only;
  only.fields = std::vector<std::string>{};
  OneMesh mesh(last(0, only).mesh);
  for (const store::StepInfo& info : steps) mesh.require(open_one(path, info), info);
}

}  // namespace

OverTime over_time_named(std::string_view name) {
  if (name == "max") return {OverTime::Kind::maximum};
  if (name == "min") return {OverTime::Kind::minimum};
  if (name == "mean") return {OverTime::Kind::mean};
  constexpr std::string_view arrival = "arrival";
  if (name == arrival) return {OverTime::Kind::arrival};
  double above = 0;
  if (name.starts_with("arrival:")) {
    const std::string_view number = name.substr(arrival.size() + 1);
    const auto [end, error] = std::from_chars(number.begin(), number.end(), above);
    if (error == std::errc() && end == number.end() && std::isfinite(above)) return {OverTime::Kind::arrival, above};
  }
  throw Error(Kind::usage, "over time: expected max, min, mean or arrival:THRESHOLD, found " + std::string(name));
}

mesh::Dataset over_time(const std::filesystem::path& path, const OverTime& how, std::optional<store::Flow> flow) {
  const std::vector<store::StepInfo> all = steps_of_flow(path, flow);
  mesh::Dataset dataset = open(path, {flow, {}});
  if (!dataset.unstructured)
    throw Error(Kind::unsupported, "values over time are for meshes of triangles, which stay the same")
        .at(path.string());
  const char* names[] = {"max", "min", "mean", "arrival"};
  dataset.header.attributes["over_time"] = std::string(names[static_cast<std::size_t>(how.kind)]);
  if (how.kind == OverTime::Kind::arrival)
    for (mesh::FieldInfo& field : dataset.header.fields)
      if (!mesh::is_integer(field.type)) field.unit = unit_of_time(dataset.header);
  dataset.read = [path, how, unit = unit_of_time(dataset.header), last = dataset.read, all](
                     int part, const mesh::Request& request) {
    mesh::Part out = last(part, request);
    if (store::recognise(path) && !out.fields.empty()) require_one_mesh(path, all, last);
    for (mesh::Field& field : out.fields) {
      reduce_field(path, all, how, part, field);
      if (how.kind == OverTime::Kind::arrival && !mesh::is_integer(field.info.type)) field.info.unit = unit;
    }
    return out;
  };
  return dataset;
}

}  // namespace octavo::step
