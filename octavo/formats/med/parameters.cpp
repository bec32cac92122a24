#include "octavo/formats/med/parameters.hpp"

#include <set>

#include "octavo/formats/row/series.hpp"

namespace octavo::formats::med {
namespace {

void write_date(MedWriter& writer, const mesh::Header& header) {
  const auto date = attribute<std::vector<std::int64_t>>(header, "date").value_or(std::vector<std::int64_t>(6, 0));
  const bool fits = packs(date);
  writer.add_parameter("DATE", "Date of the file", fits ? pack(date[0], date[1], date[2]) : 0);
  writer.add_parameter("TIME", "Time of the file", fits ? pack(date[3], date[4], date[5]) : 0);
  if (!fits) writer.add_parameters("date", date);
}

void write_origin(MedWriter& writer, const mesh::Header& header) {
  const auto [x, y] = origin_parameters(header);
  writer.add_parameter("X_ORIG", "Origin of x", static_cast<std::int32_t>(x));
  writer.add_parameter("Y_ORIG", "Origin of y", static_cast<std::int32_t>(y));
}

/// Facts that make the same SERAFIN file again.
void write_serafin_header(MedWriter& writer, const mesh::Header& header) {
  const auto iparam = attribute<std::vector<std::int64_t>>(header, "iparam");
  if (!iparam) return;
  writer.add_parameters("iparam", *iparam);
  const bool little = attribute<std::string>(header, "byte_order").value_or("big") == "little";
  writer.add_parameter("little_endian", "of the SERAFIN file", little ? 1 : 0);
  for (const char* name : {"real_bytes", "quadratic"})
    if (const auto value = attribute<std::int64_t>(header, name))
      writer.add_parameter(name, "of the SERAFIN file", static_cast<std::int32_t>(*value));
}

/// Other numbers of a MED file.
void write_others(MedWriter& writer, const mesh::Header& header) {
  static const std::set<std::string> known{"meshes",     "triangles", "planes", "step",  "NPLAN",
                                           "real_bytes", "quadratic", "X_ORIG", "Y_ORIG"};
  if (header.code != "MED") return;
  for (const auto& [name, value] : header.attributes)
    if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && !known.contains(name))
      writer.add_parameter(name, "", static_cast<std::int32_t>(*number));
}

}  // namespace

void write_parameters(MedWriter& writer, const mesh::Header& header, int planes) {
  writer.add_parameter("NPLAN", "Number of planes", planes > 1 ? planes : 0);
  write_date(writer, header);
  write_origin(writer, header);
  write_serafin_header(writer, header);
  write_others(writer, header);
}

}  // namespace octavo::formats::med
