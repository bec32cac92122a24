#include "octavo/mesh/solids/refuse.hpp"

#include "octavo/base/error.hpp"

namespace octavo::mesh {

void refuse_solids(const Dataset& dataset, const std::string& what) {
  refuse_solids(dataset, what, "octavo convert IN OUT.vtkhdf writes it for ParaView");
}

void refuse_solids(const Dataset& dataset, const std::string& what, const std::string& instead) {
  if (!holds_solids(dataset.header)) return;
  throw base::Error(base::Kind::unsupported,
                    what + ": this mesh is of solids (" + describe_solids(count_solids(dataset.header)) + ")")
      .at(dataset.path)
      .hint(instead + "; docs/solids.md lists what takes solids");
}

}  // namespace octavo::mesh
