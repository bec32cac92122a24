#include "octavo/engine/plan.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>
#include <unordered_map>

#include "octavo/base/error.hpp"

namespace octavo::engine {
namespace {

using base::Error;
using base::Kind;

void check_lists(std::span<const int> host_of_rank, std::span<const std::uint64_t> bytes_of_rank) {
  if (host_of_rank.empty()) throw Error(Kind::usage, "a plan needs at least one rank");
  if (!bytes_of_rank.empty() && bytes_of_rank.size() != host_of_rank.size())
    throw Error(Kind::usage, "expected the sizes of " + std::to_string(host_of_rank.size()) + " ranks, found " +
                                 std::to_string(bytes_of_rank.size()));
}

// Hosts numbered 0, 1, ... by their first rank.
std::vector<int> number_hosts(std::span<const int> host_of_rank, int& count) {
  std::unordered_map<int, int> numbers;
  std::vector<int> out;
  out.reserve(host_of_rank.size());
  for (int host : host_of_rank) out.push_back(numbers.emplace(host, static_cast<int>(numbers.size())).first->second);
  count = static_cast<int>(numbers.size());
  return out;
}

int files_of_host(int ranks, const WritePlanOptions& options) {
  const int most = options.contributors_per_file == 0 ? ranks : options.contributors_per_file;
  const int files = ranks / most + (ranks % most != 0 ? 1 : 0);
  return options.writers_per_node == 0 ? files : std::min(files, options.writers_per_node);
}

// Adds the files of one host, whose ranks are contributors [first, first + count).
void add_files(WritePlan& plan, int host, int first, int count, const WritePlanOptions& options) {
  for (int rank = 0; rank < count;) {
    const OwnFile own = file_on_host(rank, count, options);
    PlannedFile file;
    file.host = host;
    file.first = first + rank;
    file.count = own.count;
    file.writer = plan.contributors[static_cast<std::size_t>(file.first)];
    rank += own.count;
    plan.files.push_back(file);
  }
}

void add_offsets(WritePlan& plan, std::span<const std::uint64_t> bytes_of_rank) {
  for (std::size_t f = 0; f < plan.files.size(); ++f) {
    PlannedFile& file = plan.files[f];
    for (int c = 0; c < file.count; ++c) {
      const auto rank = static_cast<std::size_t>(plan.contributors[static_cast<std::size_t>(file.first + c)]);
      plan.file_of_rank[rank] = static_cast<int>(f);
      plan.offset[rank] = file.bytes;
      if (!bytes_of_rank.empty()) file.bytes += bytes_of_rank[rank];
    }
  }
}

double seconds(std::uint64_t bytes, double rate) { return rate > 0 ? static_cast<double>(bytes) / rate : 0; }

}  // namespace

void check(const WritePlanOptions& options) {
  if (options.contributors_per_file < 0 || options.writers_per_node < 0)
    throw Error(Kind::usage, "contributors per file and writers per node: expected at least 0");
}

// Closed form, so a rank knows its file without a table of the ranks of its host; plan_write() follows the same rule.
OwnFile file_on_host(int rank, int ranks, const WritePlanOptions& options) {
  const int files = files_of_host(ranks, options);
  // The first `more` files have one rank more than the others.
  const int least = ranks / files, more = ranks % files, in_larger = more * (least + 1);
  if (rank < in_larger) return {rank / (least + 1), files, rank / (least + 1) * (least + 1), least + 1};
  const int file = (rank - in_larger) / least;
  return {more + file, files, in_larger + file * least, least};
}

WritePlan plan_write(std::span<const int> host_of_rank, std::span<const std::uint64_t> bytes_of_rank,
                     const WritePlanOptions& options) {
  check_lists(host_of_rank, bytes_of_rank);
  check(options);
  WritePlan plan;
  const auto hosts = number_hosts(host_of_rank, plan.hosts);
  std::vector<int> ends(static_cast<std::size_t>(plan.hosts), 0);
  for (int host : hosts) ++ends[static_cast<std::size_t>(host)];
  std::vector<int> next(ends.size(), 0);
  std::exclusive_scan(ends.begin(), ends.end(), next.begin(), 0);
  const auto begins = next;
  plan.contributors.resize(hosts.size());
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    plan.contributors[static_cast<std::size_t>(next[static_cast<std::size_t>(hosts[rank])]++)] = static_cast<int>(rank);
  for (std::size_t host = 0; host < begins.size(); ++host)
    add_files(plan, static_cast<int>(host), begins[host], next[host] - begins[host], options);
  plan.file_of_rank.resize(hosts.size());
  plan.offset.resize(hosts.size());
  add_offsets(plan, bytes_of_rank);
  return plan;
}

PlanCost cost_of(const WritePlan& plan) {
  PlanCost cost;
  cost.hosts = plan.hosts;
  cost.ranks = static_cast<int>(plan.contributors.size());
  cost.files = static_cast<int>(plan.files.size());
  cost.smallest_file = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> host_bytes(static_cast<std::size_t>(plan.hosts), 0);
  for (const PlannedFile& file : plan.files) {
    cost.bytes += file.bytes;
    cost.largest_file = std::max(cost.largest_file, file.bytes);
    cost.smallest_file = std::min(cost.smallest_file, file.bytes);
    cost.most_contributors = std::max(cost.most_contributors, file.count);
    host_bytes[static_cast<std::size_t>(file.host)] += file.bytes;
  }
  cost.largest_host = *std::max_element(host_bytes.begin(), host_bytes.end());
  cost.creates = cost.opens = cost.files;
  cost.syncs = 3 * std::int64_t{cost.files};  // directory, content, commit record
  return cost;
}

double seconds_of_step(const PlanCost& cost, const Machine& machine) {
  const double creating =
      machine.creates_per_second > 0 ? static_cast<double>(cost.creates) / machine.creates_per_second : 0;
  const double syncing = machine.syncs_per_second > 0 && cost.files > 0
                             ? static_cast<double>(cost.syncs) / cost.files / machine.syncs_per_second
                             : 0;
  // Creates wait for one another at the metadata server. Files are synced at the same time, so the syncs of one file
  // count. The data take as long as the narrowest of three: a writer, a host's link, the file system.
  return creating + syncing +
         std::max({seconds(cost.largest_file, machine.bytes_per_second_of_writer),
                   seconds(cost.largest_host, machine.bytes_per_second_of_host),
                   seconds(cost.bytes, machine.bytes_per_second)});
}

std::int64_t steps_in_quota(const PlanCost& cost, const Machine& machine, double ratio, bool append) {
  constexpr auto no_limit = std::numeric_limits<std::int64_t>::max();
  if (!(ratio > 0)) throw Error(Kind::usage, "ratio: expected more than 0");
  std::int64_t by_files = no_limit, by_bytes = no_limit;
  if (machine.quota_files > 0) {
    by_files = machine.quota_files / cost.creates;
    // The first step makes the files that all others use.
    if (append && by_files > 0) by_files = no_limit;
  }
  if (machine.quota_bytes > 0 && cost.bytes > 0)
    by_bytes =
        static_cast<std::int64_t>(static_cast<double>(machine.quota_bytes) * ratio / static_cast<double>(cost.bytes));
  const std::int64_t steps = std::min(by_files, by_bytes);
  return steps == no_limit ? -1 : steps;
}

std::string to_text(const WritePlan& plan, std::size_t most_files) {
  const PlanCost cost = cost_of(plan);
  std::ostringstream out;
  out << cost.ranks << " ranks on " << cost.hosts << " hosts write " << cost.files << " files, up to "
      << cost.most_contributors << " contributors a file\n"
      << cost.bytes << " bytes before encoding; largest file " << cost.largest_file << ", smallest "
      << cost.smallest_file << ", largest host " << cost.largest_host << "\n"
      << cost.creates << " creates, " << cost.opens << " opens, " << cost.syncs << " syncs\n";
  for (std::size_t f = 0; f < std::min(most_files, plan.files.size()); ++f) {
    const PlannedFile& file = plan.files[f];
    out << "file " << f << ": host " << file.host << ", writer " << file.writer << ", " << file.count
        << " contributors, " << file.bytes << " bytes\n";
  }
  if (plan.files.size() > most_files) out << "and " << plan.files.size() - most_files << " more\n";
  return out.str();
}

}  // namespace octavo::engine
