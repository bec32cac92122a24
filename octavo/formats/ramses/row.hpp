#pragma once
#include <filesystem>
#include <string>

#include "octavo/formats/row/request.hpp"
#include "octavo/formats/row/words.hpp"

/// RAMSES' row in the table of formats: its words, the fields that fit into its outputs, the mesh that they hold.
namespace octavo::formats::ramses {

struct Options {
  int number = 0;          ///< NNNNN of output_NNNNN; 0: the number in the output's name, else the step's
  int domains = 0;         ///< 0: the step's number of parts
  std::string ordering{};  ///< of the domains: "hilbert", "planar"; empty: the step's own
};

/// Accepts Octavo's own words, too.
extern const Words words;

/// Says why a field cannot be in an output; empty if it can. `name`: the field's name in RAMSES' words.
std::string misfit(const mesh::FieldInfo& field, const std::string& name, const SharedRequest& request);
/// RAMSES wants octs of single cells. A step of RAMSES has them; other steps start at the coarsest level that octs can
/// be made from. Throws Error(unsupported) for cells that are not cubic.
WantedMesh wanted_mesh(const mesh::Dataset& step, const SharedRequest& request);
/// See write() in writer.hpp.
void write(const mesh::Dataset& step, const std::filesystem::path& path, const SharedRequest& request,
           const Options& options, WriteReport& report);
/// RAMSES finds an output by its number, in a directory named after it. The note says that the number is not the
/// step's own, or that the directory must be renamed; else empty.
std::string name_note(const SharedRequest& request, const Options& options);

}  // namespace octavo::formats::ramses
