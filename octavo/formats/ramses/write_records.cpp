#include "octavo/formats/ramses/write_records.hpp"

#include <algorithm>

namespace octavo::formats::ramses {
namespace {

using file::RecordWriter;
using Ints = std::vector<std::int32_t>;
using Reals = std::vector<double>;

/// Writes the records of one list: 2^dim cell positions for each variable. `offset` is the first oct of the level.
void write_list(RecordWriter& out, const DomainFilePlan& plan, std::span<const std::uint32_t> octs, std::size_t offset,
                const std::vector<const mesh::Field*>& fields) {
  const int dim = plan.header->dim;
  Reals values(octs.size());
  for (unsigned c = 0; c < (1U << dim); ++c)
    for (const mesh::Field* field : fields) {
      if (field == nullptr) std::fill(values.begin(), values.end(), 0.0);
      if (field != nullptr)
        mesh::visit_values(*field, [&](auto all) {
          std::transform(octs.begin(), octs.end(), values.begin(),
                         [&](std::uint32_t i) { return static_cast<double>(all[((offset + i) << dim) + c]); });
        });
      write_reals(out, plan, values);
    }
}

/// Random seeds (four digits of 12 bits each, the lowest odd): if the number of domains stays, they keep their seeds.
/// Otherwise the first domain keeps its seed, and the others get different ones made from it, because ranks with the
/// same seed would draw the same numbers. -1 stays; RAMSES then seeds its ranks.
Ints seeds_of(const mesh::Header& header, int domain, int domains) {
  const Reals kept = numbers_or(header, "localseed", {-1, -1, -1, -1}), all = numbers_or(header, "localseeds", {});
  if (all.size() == kept.size() * static_cast<std::size_t>(domains)) {
    const auto own = all.begin() + static_cast<std::ptrdiff_t>(kept.size()) * domain;
    return {own, own + static_cast<std::ptrdiff_t>(kept.size())};
  }
  Ints seeds(kept.begin(), kept.end());
  for (std::size_t first = 0; domain > 0 && first + 4 <= seeds.size(); first += 4) {
    if (seeds[first] == -1) continue;
    std::uint64_t mixed = static_cast<std::uint64_t>(domain) * 0x9E3779B97F4A7C15U;
    for (std::size_t i = first; i < first + 4; ++i) {
      mixed = (mixed ^ static_cast<std::uint64_t>(seeds[i])) * 0xBF58476D1CE4E5B9U;
      mixed ^= mixed >> 31;
    }
    for (std::size_t i = 0; i < 4; ++i) seeds[first + i] = static_cast<std::int32_t>(mixed >> (12 * i) & 4095);
    seeds[first] |= 1;
  }
  return seeds;
}

}  // namespace

double number_or(const mesh::Header& header, const std::string& name, double otherwise) {
  const Reals numbers = numbers_or(header, name, {otherwise});
  return numbers.empty() ? otherwise : numbers.front();
}

Reals numbers_or(const mesh::Header& header, const std::string& name, Reals otherwise) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return otherwise;
  if (const auto* value = std::get_if<double>(&found->second)) return {*value};
  if (const auto* value = std::get_if<std::int64_t>(&found->second)) return {static_cast<double>(*value)};
  if (const auto* values = std::get_if<Reals>(&found->second)) return *values;
  if (const auto* values = std::get_if<std::vector<std::int64_t>>(&found->second))
    return Reals(values->begin(), values->end());
  return otherwise;
}

std::vector<std::string> names_of(const mesh::Header& header, const std::string& name) {
  const auto found = header.attributes.find(name);
  if (found == header.attributes.end()) return {};
  const auto* names = std::get_if<std::vector<std::string>>(&found->second);
  return names != nullptr ? *names : std::vector<std::string>{};
}

void write_reals(RecordWriter& out, const DomainFilePlan& plan, const Reals& values) {
  if (!plan.single_precision) return out.write(values);
  std::vector<float> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(), [](double value) { return static_cast<float>(value); });
  out.write(narrow);
}

std::int32_t ngridmax_of(const DomainFilePlan& plan, const FileTree& tree) {
  return std::max(plan.ngridmax, tree.total);
}

std::int32_t cell_number(const DomainFilePlan& plan, const FileTree& tree, std::size_t level, std::size_t oct,
                         unsigned c) {
  return static_cast<std::int32_t>(plan.coarse.region.size()) + static_cast<std::int32_t>(c) * ngridmax_of(plan, tree) +
         tree.levels[level].index[oct];
}

void write_cells(const std::filesystem::path& path, CellKind kind, const DomainFilePlan& plan, const FileTree& tree,
                 const std::vector<const mesh::Field*>& fields) {
  RecordWriter out(path, plan.format);
  const auto variables = static_cast<std::int32_t>(fields.size());
  out.write(std::int32_t{plan.owners.count()});
  out.write(variables);
  if (kind != CellKind::grav) out.write(std::int32_t{plan.header->dim});
  out.write(std::int32_t{plan.nlevelmax});
  out.write(std::int32_t{plan.coarse.regions});
  if (kind != CellKind::grav) write_reals(out, plan, {plan.gamma});
  const std::vector<std::uint32_t> none(static_cast<std::size_t>(plan.owners.count() + plan.coarse.regions), 0);
  for (std::int32_t l = 0; l < plan.nlevelmax; ++l) {
    const auto level = static_cast<std::size_t>(l);
    const bool there = level < tree.levels.size();
    std::span<const std::uint32_t> rest = there ? tree.levels[level].order : std::span<const std::uint32_t>{};
    for (const std::uint32_t count : there ? tree.levels[level].counts : none) {
      out.write(l + 1);
      out.write(static_cast<std::int32_t>(count));
      if (count > 0)
        write_list(out, plan, rest.first(count), static_cast<std::size_t>(tree.level_first[level]), fields);
      rest = rest.subspan(count);
    }
  }
  out.close();
}

void write_particles(const std::filesystem::path& path, const DomainFilePlan& plan, int domain,
                     const mesh::Particles& particles) {
  RecordWriter out(path, plan.format);
  out.write(std::int32_t{plan.owners.count()});
  out.write(std::int32_t{plan.header->dim});
  out.write(static_cast<std::int32_t>(particles.count));
  out.write(seeds_of(*plan.header, domain, plan.owners.count()));
  out.write(static_cast<std::int32_t>(number_or(*plan.header, "nstar_tot", 0)));
  for (const char* mass : {"mstar_tot", "mstar_lost"})  // RAMSES sums them over its ranks
    write_reals(out, plan, {domain == 0 ? number_or(*plan.header, mass, 0) : 0.0});
  out.write(static_cast<std::int32_t>(number_or(*plan.header, "nsink", 0)));
  for (const mesh::Field& attribute : particles.attributes)
    mesh::visit_values(attribute, [&](auto values) { out.write(values); });
  out.close();
}

}  // namespace octavo::formats::ramses
