#include "octavo/verbs/bins_pass.hpp"

#include <algorithm>
#include <variant>

#include "octavo/base/memory.hpp"

namespace octavo::verbs::detail {
namespace {

constexpr std::uint64_t most_kept_bytes = std::uint64_t{256} << 20;

}  // namespace

std::uint64_t room_for_samples() {
  const std::uint64_t limit = base::memory_limit() != 0 ? base::memory_limit() : base::free_memory();
  return std::min<std::uint64_t>(most_kept_bytes, limit / 8);
}

std::vector<analysis::Quantity> quantities_of(const analysis::BinPlan& plan) {
  std::vector<analysis::Quantity> quantities(plan.fields.begin(), plan.fields.end());
  for (const analysis::BinAxis& axis : plan.axes) quantities.push_back(axis.quantity);
  return quantities;
}

PartInPass::PartInPass(const Pass& pass, std::size_t i) : pass_(pass), i_(i) {
  request_.fields.emplace();
  if (pass.options.max_level) request_.max_level = *pass.options.max_level;
}

void PartInPass::ask(const std::vector<analysis::Quantity>& quantities, const std::string& weight) {
  const auto add = [&](const std::string& name) {
    auto& names = *request_.fields;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const analysis::Quantity& quantity : quantities)
    if (const auto* name = std::get_if<std::string>(&quantity)) add(*name);
  add(weight);
  add(pass_.options.where);
}

const mesh::Part& PartInPass::cells() {
  if (!read_) read_ = pass_.mine.read(static_cast<int>(i_), request_);
  return *read_;
}

analysis::Samples PartInPass::samples(const analysis::BinPlan& plan) {
  if (pass_.options.particles) return read_samples(*pass_.options.particles, pass_.mine, pass_.options.region, i_);
  return analysis::samples_of(cells(), pass_.header, pass_.selection, plan);
}

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
