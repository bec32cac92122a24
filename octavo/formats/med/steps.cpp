#include "octavo/formats/med/steps.hpp"

#include "octavo/base/error.hpp"
#ifdef OCTAVO_HAVE_MED
#include <array>
#include <cstdio>

#include "octavo/file/hdf5/hdf5_growing.hpp"
#include "octavo/formats/med/contents.hpp"
#endif

namespace octavo::formats::med {

#ifdef OCTAVO_HAVE_MED

namespace {

namespace hdf5 = file::hdf5;

constexpr const char* fields_group = "CHA";

/// As libmedC names a step's group.
std::string group_of(const StepEntry& step) {
  std::array<char, 48> name{};
  std::snprintf(name.data(), name.size(), "%020d%020d", static_cast<int>(step.number),
                static_cast<int>(step.iteration));
  return name.data();
}

/// MED 4.1 lists the kinds of entities at which fields have values, and the number of steps for each.
hdf5::Values kinds_of_points() { return {{"LEN", hdf5::Flags{1U << MED_NODE}}, {"LGN", hdf5::Flags{1}}}; }

}  // namespace

struct Steps::State {
  State(const std::filesystem::path& path, std::uint64_t alignment)
      : contents(contents_of(path, {})), file(path, fields_group, alignment) {
    for (const StepEntry& step : contents.steps) times.push_back(step.time);
    const double major = file.number("INFOS_GENERALES", "MAJ").value_or(0);
    lists = major > 4 || (major == 4 && file.number("INFOS_GENERALES", "MIN").value_or(0) > 0);
    old_times = times;
    old_steps = contents.steps;
  }
  MedContents contents;
  hdf5::Growing file;
  bool lists = false;
  std::vector<double> times, old_times;  ///< with what is not committed, and without
  std::vector<StepEntry> old_steps;

  hdf5::Values field_values() const;
  std::vector<hdf5::NewGroup> groups_of(const StepEntry& step) const;
};

hdf5::Values Steps::State::field_values() const {
  if (!lists) return {};
  hdf5::Values values = kinds_of_points();
  for (const char* name : {"LAA", "LNA"}) values[name] = static_cast<std::int32_t>(contents.steps.size());
  return values;
}

std::vector<hdf5::NewGroup> Steps::State::groups_of(const StepEntry& step) const {
  hdf5::Values values = lists ? kinds_of_points() : hdf5::Values{};
  values["NDT"] = static_cast<std::int32_t>(step.number);
  values["NOR"] = static_cast<std::int32_t>(step.iteration);
  values["PDT"] = step.time;
  for (const char* name : {"RDT", "ROR"}) values[name] = static_cast<std::int32_t>(MED_NO_DT);  // the mesh's only step
  const std::string profile = MED_NO_PROFILE_INTERNAL;
  return {
      {group_of(step), values},
      {"NOE", {{"GAU", std::string()}, {"PFL", profile}}},
      {profile,
       {{"GAU", std::string()}, {"NBR", static_cast<std::int32_t>(contents.mesh.points)}, {"NGA", std::int32_t{1}}}}};
}

Steps::Steps(const std::filesystem::path& path, std::uint64_t alignment)
    : state_(std::make_unique<State>(path, alignment)) {}
Steps::~Steps() = default;

const std::vector<double>& Steps::times() const { return state_->times; }

std::vector<std::uint64_t> Steps::add(double time) {
  State& s = *state_;
  StepEntry step;
  step.number = s.contents.steps.empty() ? 0 : s.contents.steps.back().number + 1;
  step.time = time;
  s.contents.steps.push_back(step);
  s.times.push_back(time);
  const std::vector<hdf5::NewGroup> groups = s.groups_of(step);
  std::vector<std::uint64_t> places;
  for (const MedField& field : s.contents.fields) {
    const bool single = field.info.type == mesh::ScalarType::float32;
    places.push_back(s.file.add(field.name.data(), s.field_values(), groups, "CO",
                                single ? hdf5::float32_type : hdf5::float64_type,
                                static_cast<std::uint64_t>(s.contents.mesh.points)));
  }
  return places;
}

void Steps::keep(std::int64_t count) {
  State& s = *state_;
  while (static_cast<std::int64_t>(s.contents.steps.size()) > count) {
    const std::string group = group_of(s.contents.steps.back());
    s.contents.steps.pop_back();
    s.times.pop_back();
    for (const MedField& field : s.contents.fields) s.file.drop(field.name.data(), group, s.field_values());
  }
}

void Steps::commit(bool sync) {
  State& s = *state_;
  try {
    s.file.commit(sync);
  } catch (...) {
    abandon();
    throw;
  }
  s.old_times = s.times;
  s.old_steps = s.contents.steps;
}

void Steps::abandon() {
  State& s = *state_;
  s.file.abandon();
  s.times = s.old_times;
  s.contents.steps = s.old_steps;
}

#else

struct Steps::State {
  std::vector<double> times;
};
Steps::Steps(const std::filesystem::path& path, std::uint64_t) {
  throw base::Error(base::Kind::unsupported, "this build has no MED")
      .at(path.string())
      .hint("build it where libmedc-dev is");
}
Steps::~Steps() = default;
const std::vector<double>& Steps::times() const { return state_->times; }
std::vector<std::uint64_t> Steps::add(double) { return {}; }
void Steps::keep(std::int64_t) {}
void Steps::commit(bool) {}
void Steps::abandon() {}

#endif

}  // namespace octavo::formats::med
