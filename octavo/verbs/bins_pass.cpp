#include "octavo/verbs/bins_pass.hpp"

#include <algorithm>
#include <variant>

#include "octavo/base/memory.hpp"

namespace octavo::verbs::detail {
namespace {

constexpr std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;

std::uint64_t room_for_samples() {
  const std::uint64_t limit = base::memory_limit() != 0 ? base::memory_limit() : base::free_memory();
  return std::min<std::uint64_t>(most_kept_bytes, limit / 8);
}

}  // namespace

mesh::Request request_of_pass(const Pass& pass, const std::vector<analysis::Quantity>& quantities,
                              const std::string& weight) {
  mesh::Request request;
  request.fields.emplace();
  const auto ask = [&](const std::string& name) {
    auto& names = *request.fields;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const analysis::Quantity& quantity : quantities)
    if (const auto* name = std::get_if<std::string>(&quantity)) ask(*name);
  ask(weight);
  ask(pass.options.where);
  if (pass.options.max_level) request.max_level = *pass.options.max_level;
  return request;
}

mesh::Request request_of_plan(const Pass& pass, const analysis::BinPlan& plan) {
  std::vector<analysis::Quantity> quantities(plan.fields.begin(), plan.fields.end());
  for (const analysis::BinAxis& axis : plan.axes) quantities.push_back(axis.quantity);
  return request_of_pass(pass, quantities, plan.weight.field);
}

analysis::Samples samples_of_part(const Pass& pass, const analysis::BinPlan& plan, const mesh::Request& request,
                                  std::size_t i) {
  if (pass.options.particles) return read_samples(*pass.options.particles, pass.mine, pass.options.region, i);
  return analysis::samples_of(pass.mine.read(static_cast<int>(i), request), pass.header, pass.selection, plan);
}

KeptSamples::KeptSamples(std::size_t parts) : of_(parts), room_(room_for_samples()) {}

void KeptSamples::keep(std::size_t i, analysis::Samples&& samples) {
  const std::uint64_t bytes = samples.count * sizeof(double) * (samples.axes.size() + samples.fields.size() + 1);
  std::uint64_t before = room_;
  do
    if (bytes > before) {
      room_ = 0;
      return;
    }
  while (!room_.compare_exchange_weak(before, before - bytes));
  of_[i].emplace(std::move(samples));
}

}  // namespace octavo::verbs::detail
