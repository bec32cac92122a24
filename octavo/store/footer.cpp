#include "octavo/store/footer.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <variant>

#include "octavo/base/error.hpp"
#include "octavo/store/cbor.hpp"

namespace octavo::store {
namespace {

using base::Error;
using base::Kind;

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

// docs/format.md, "Features": version 2.0 has none. If you add one here, the reader must support it.
constexpr std::array<std::string_view, 0> known_features{};

cbor::Value number(std::uint64_t value) { return {static_cast<std::int64_t>(value)}; }
cbor::Value identity(const Identity& bytes) { return {cbor::Bytes{{bytes.begin(), bytes.end()}, -1}}; }

Identity identity(const cbor::Map& map, std::string_view key) {
  Identity out;
  const auto raw = cbor::bytes(map, key, out.size());
  std::copy(raw.begin(), raw.end(), out.begin());
  return out;
}

std::uint64_t unsigned_integer(const cbor::Map& map, std::string_view key) {
  return static_cast<std::uint64_t>(cbor::integer(map, key, 0, largest));
}

// A footer names those 1, 2, 4, ... commits before it. So any earlier one is a few reads away, and a damaged footer
// hides no other.
cbor::Value links(const std::vector<Link>& previous) {
  std::vector<std::uint64_t> sequence, offset, length, checksum;
  for (const Link& link : previous) {
    sequence.push_back(link.sequence);
    offset.push_back(link.footer.offset);
    length.push_back(link.footer.length);
    checksum.push_back(link.footer.checksum);
  }
  return {cbor::Map{{"sequence", cbor::column(sequence)},
                    {"offset", cbor::column(offset)},
                    {"length", cbor::column(length)},
                    {"checksum", cbor::column(checksum)}}};
}

std::vector<Link> parse_links(const cbor::Map& map, const Footer& footer, const Extent& at) {
  // Distances 1, 2, 4 ... below the footer's own sequence.
  std::size_t most = 0;
  while (most < 63 && (std::uint64_t{1} << most) < footer.sequence) ++most;
  const auto* sequence = std::get_if<cbor::Bytes>(&cbor::at(map, "sequence").value);
  std::size_t count = 0;
  // The column does not say how many links there are, and there can only be a few: try each number.
  while (count <= most && sequence != nullptr) {
    const std::size_t width = sequence->tag == 64 ? 1 : sequence->tag == 69 ? 2 : sequence->tag == 70 ? 4 : 8;
    if (count * width == sequence->bytes.size()) break;
    ++count;
  }
  const auto numbers = cbor::counts(map, "sequence", count);
  const auto offset = cbor::counts(map, "offset", count), length = cbor::counts(map, "length", count),
             checksum = cbor::counts(map, "checksum", count);
  std::vector<Link> previous;
  for (std::size_t i = 0; i < count; ++i) {
    const Link link{numbers[i], {offset[i], length[i], checksum[i]}};
    if (link.sequence != footer.sequence - (std::uint64_t{1} << i) || link.footer.offset < head_size ||
        link.footer.offset > at.offset || link.footer.length > at.offset - link.footer.offset)
      throw Error(Kind::corrupt, "footer: link " + std::to_string(i) + " does not name an earlier footer");
    previous.push_back(link);
  }
  return previous;
}

void check_places(const Footer& footer, const Extent& at) {
  const Extent& table = footer.table;
  if (footer.begin < head_size || footer.begin > table.offset || table.offset > at.offset ||
      table.length > at.offset - table.offset)
    throw Error(Kind::corrupt, "footer: segment from byte " + std::to_string(footer.begin) + ", table of " +
                                   std::to_string(table.length) + " bytes at " + std::to_string(table.offset) +
                                   ": they do not stand before the footer");
}

std::vector<std::string> parse_features(const cbor::Map& map) {
  std::vector<std::string> features;
  for (const cbor::Value& name : cbor::array(cbor::at(map, "must_understand"), "must_understand"))
    features.push_back(cbor::text(name, "must_understand"));
  return features;
}

}  // namespace

std::vector<std::string> unknown_features(const Footer& footer) {
  std::vector<std::string> unknown;
  for (const std::string& feature : footer.must_understand)
    if (std::find(known_features.begin(), known_features.end(), feature) == known_features.end())
      unknown.push_back(feature);
  if (footer.mesh != octree_mesh && footer.mesh != triangle_mesh && footer.mesh != solid_mesh)
    unknown.push_back("mesh of " + footer.mesh);
  return unknown;
}

std::string describe_unknown(const std::vector<std::string>& features, const WriterProgram& writer) {
  std::string names;
  for (const std::string& feature : features) names += (names.empty() ? "\"" : ", \"") + feature + "\"";
  return "it needs " + names + ", which this Octavo does not know; it was written by " + writer.name + " " +
         writer.version;
}

void check_understood(const Footer& footer) {
  const std::vector<std::string> unknown = unknown_features(footer);
  if (unknown.empty()) return;
  throw Error(Kind::unsupported, "the step cannot be read: " + describe_unknown(unknown, footer.writer))
      .hint("a newer Octavo");
}

std::vector<std::byte> to_bytes(const Footer& footer) {
  cbor::Array features;
  for (const std::string& feature : footer.must_understand) features.push_back({feature});
  cbor::Value continues{std::monostate{}};
  if (footer.continues)
    continues = {cbor::Map{{"step", {footer.continues->step}}, {"attempt", identity(footer.continues->attempt)}}};
  const cbor::Map table{{"offset", number(footer.table.offset)},
                        {"length", number(footer.table.length)},
                        // A column of one: a number here is a signed one, and a checksum has 64 bits.
                        {"checksum", cbor::column(std::span<const std::uint64_t>(&footer.table.checksum, 1))}};
  const cbor::Map map{{"file", identity(footer.file)},
                      {"flow", {to_string(footer.flow)}},
                      {"sequence", number(footer.sequence)},
                      {"step", {footer.step}},
                      {"attempt", identity(footer.attempt)},
                      {"segment", {std::int64_t{footer.segment}}},
                      {"segments", {std::int64_t{footer.segments}}},
                      {"order", number(footer.order)},
                      {"continues", continues},
                      {"whole_domain", {footer.whole_domain}},
                      {"time", {footer.time}},
                      {"parts", {std::int64_t{footer.parts}}},
                      {"writer", {cbor::Map{{"name", {footer.writer.name}}, {"version", {footer.writer.version}}}}},
                      {"mesh", {footer.mesh}},
                      {"must_understand", {std::move(features)}},
                      {"begin", number(footer.begin)},
                      {"table", {table}},
                      {"previous", links(footer.previous)}};
  std::vector<std::byte> out;
  cbor::write({map}, out);
  return out;
}

Footer parse_footer(std::span<const std::byte> bytes, const Extent& at) {
  const cbor::Value value = cbor::parse(bytes);
  const cbor::Map& map = cbor::map(value, "footer");
  constexpr int most = std::numeric_limits<int>::max();
  Footer footer;
  footer.file = identity(map, "file");
  const std::string flow = cbor::text(map, "flow");
  if (flow != "checkpoint" && flow != "analysis")
    throw Error(Kind::unsupported, "footer: unknown flow \"" + flow + "\"");
  footer.flow = flow == "analysis" ? Flow::analysis : Flow::checkpoint;
  footer.sequence = static_cast<std::uint64_t>(cbor::integer(map, "sequence", 1, largest));
  footer.step = cbor::integer(map, "step", smallest, largest);
  footer.attempt = identity(map, "attempt");
  footer.segments = static_cast<int>(cbor::integer(map, "segments", 1, most));
  footer.segment = static_cast<int>(cbor::integer(map, "segment", 0, footer.segments - 1));
  footer.order = unsigned_integer(map, "order");
  if (const cbor::Value& continues = cbor::at(map, "continues");
      !std::holds_alternative<std::monostate>(continues.value)) {
    const cbor::Map& from = cbor::map(continues, "continues");
    footer.continues = StepId{cbor::integer(from, "step", smallest, largest), identity(from, "attempt")};
  }
  footer.whole_domain = cbor::boolean(map, "whole_domain");
  footer.time = cbor::real(map, "time");
  footer.parts = static_cast<int>(cbor::integer(map, "parts", 0, most));
  const cbor::Map& writer = cbor::map(cbor::at(map, "writer"), "writer");
  footer.writer = {cbor::text(writer, "name"), cbor::text(writer, "version")};
  footer.mesh = cbor::text(map, "mesh");
  footer.must_understand = parse_features(map);
  footer.begin = unsigned_integer(map, "begin");
  const cbor::Map& table = cbor::map(cbor::at(map, "table"), "table");
  footer.table = {unsigned_integer(table, "offset"), unsigned_integer(table, "length"),
                  cbor::counts(table, "checksum", 1)[0]};
  check_places(footer, at);
  footer.previous = parse_links(cbor::map(cbor::at(map, "previous"), "previous"), footer, at);
  return footer;
}

std::vector<Link> links_after(const Link& newest, const std::function<std::optional<Footer>(const Link&)>& load) {
  // The footer 2^k commits ago is the one 2^(k-1) before the one 2^(k-1) ago.
  std::vector<Link> links{newest};
  for (std::size_t k = 1; k < 63; ++k) {
    const auto half = load(links.back());
    if (!half || half->previous.size() < k) break;
    links.push_back(half->previous[k - 1]);
  }
  return links;
}

}  // namespace octavo::store
