#include "octavo/step/open.hpp"

#include <algorithm>
#include <cctype>
#include <memory>

#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/formats/formats.hpp"

namespace octavo::step {

namespace {

/// The number at the end of "output_00080", if the name ends in digits.
std::optional<std::int64_t> trailing_number(const std::string& name) {
  std::size_t first = name.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(name[first - 1])) != 0) --first;
  if (first == name.size() || name.size() - first > 15) return {};
  return std::stoll(name.substr(first));
}

/// Requests the memory of a native part before it is read. (A store does so itself, because it knows the sizes of all
/// data that it will decode.)
mesh::Dataset within_memory(mesh::Dataset dataset) {
  if (!dataset.part_sizes) return dataset;
  const auto known = std::make_shared<const mesh::Dataset>(dataset);
  dataset.read = [known](int part, const mesh::Request& request) {
    const std::int64_t bytes = mesh::bytes_to_read(*known, known->part_sizes(part), request);
    try {
      base::need_memory(static_cast<std::uint64_t>(std::max<std::int64_t>(bytes, 0)), "reading a part");
    } catch (base::Error& error) {
      throw error.at("part " + std::to_string(part)).at(known->path);
    }
    return known->read(part, request);
  };
  return dataset;
}

}  // namespace

mesh::Dataset open(const std::filesystem::path& path, const StepChoice& choice) {
  if (store::recognise(path)) return store::open_step(path, choice.flow, choice.step);
  const formats::Format& format = formats::format_of(path);
  const bool of_many = format.list_steps != nullptr && choice.step && !choice.flow;
  mesh::Dataset dataset = within_memory(format.open(path, of_many ? choice.step : std::nullopt));
  if (of_many) return dataset;
  if (choice.flow || (choice.step && choice.step != step_number(dataset).value_or(0)))
    throw base::Error(base::Kind::usage, "a " + dataset.format + " output is one step; a step can be chosen of a store")
        .at(path.string());
  return dataset;
}

mesh::Dataset open_known(const std::string& format, const std::filesystem::path& path, std::int64_t step) {
  return within_memory(formats::format_named(format).open(path, step));
}

mesh::Dataset understand(const std::string& format, const std::string& description) {
  return within_memory(formats::format_named(format).understand(description));
}

namespace {

std::vector<store::StepInfo> steps_of_file(const formats::FileSteps& file) {
  std::vector<store::StepInfo> all;
  for (const double time : file.times) {
    store::StepInfo info;
    info.step = static_cast<std::int64_t>(all.size());
    info.time = time;
    info.bytes = static_cast<std::uint64_t>(file.bytes);
    info.parts = 1;
    all.push_back(info);
  }
  return all;
}

std::vector<store::StepInfo> steps_of_output(const mesh::Dataset& dataset) {
  store::StepInfo info;
  info.step = step_number(dataset).value_or(0);
  info.time = dataset.header.time;
  info.bytes = static_cast<std::uint64_t>(dataset.bytes);
  info.parts = dataset.num_parts;
  return {info};
}

}  // namespace

std::vector<store::StepInfo> steps(const std::filesystem::path& path) {
  if (store::recognise(path)) return store::list_steps(path);
  const formats::Format& format = formats::format_of(path);
  return format.list_steps != nullptr ? steps_of_file(format.list_steps(path)) : steps_of_output(format.open(path, {}));
}

std::vector<store::StepInfo> steps_of_flow(const std::filesystem::path& path, std::optional<store::Flow> flow) {
  std::vector<store::StepInfo> all = steps(path);
  if (!store::recognise(path)) {
    if (flow) throw base::Error(base::Kind::usage, "a flow can be chosen of a store").at(path.string());
    return all;
  }
  const auto has = [&](store::Flow wanted) {
    return std::any_of(all.begin(), all.end(), [&](const store::StepInfo& step) { return step.flow == wanted; });
  };
  const store::Flow chosen =
      flow.value_or(has(store::Flow::analysis) ? store::Flow::analysis : store::Flow::checkpoint);
  if (flow && !has(chosen))
    throw base::Error(base::Kind::usage, "there is no complete step of the flow " + to_string(chosen))
        .at(path.string());
  std::erase_if(all, [&](const store::StepInfo& step) { return step.flow != chosen; });
  return all;
}

std::optional<std::int64_t> step_number(const mesh::Dataset& dataset) {
  const auto found = dataset.header.attributes.find("step");
  if (found != dataset.header.attributes.end())
    if (const auto* number = std::get_if<std::int64_t>(&found->second)) return *number;
  std::filesystem::path path = dataset.path;
  if (!path.has_filename()) path = path.parent_path();
  return trailing_number(path.filename().string());
}

}  // namespace octavo::step
