#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/opened.hpp"

#include <algorithm>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/layout.hpp"

namespace octavo::formats::med {

using base::Error;
using base::Kind;

Opened::Opened(const std::filesystem::path& path)
    : path_(path),
      bytes_(static_cast<std::int64_t>(std::filesystem::file_size(path))),
      id_(library().MEDfileOpen(path.c_str(), MED_ACC_RDONLY)) {
  if (id_ < 0) throw Error(Kind::corrupt, "libmedC cannot open it").at(path.string());
}

void Opened::require(bool good, const std::string& what) const {
  if (!good) throw Error(Kind::corrupt, "libmedC cannot read " + what).at(path_.string());
}

void Opened::require_room(std::int64_t count, const std::string& what) const {
  if (count > bytes_)
    throw Error(Kind::corrupt,
                std::to_string(count) + " " + what + " in a file of " + std::to_string(bytes_) + " bytes")
        .at(path_.string());
}

std::string text_of(const char* characters, std::size_t size) {
  const auto end = std::find(characters, characters + size, '\0');
  return serafin::text_of(std::string_view(characters, static_cast<std::size_t>(end - characters)));
}

std::int64_t entities(med_idt file, const Name& mesh, med_entity_type entity, med_geometry_type shape,
                      med_data_type data) {
  med_bool changed = MED_FALSE, moved = MED_FALSE;
  return library().MEDmeshnEntity(file, mesh.data(), MED_NO_DT, MED_NO_IT, entity, shape, data,
                                  data == MED_CONNECTIVITY ? MED_NODAL : MED_NO_CMODE, &changed, &moved);
}

}  // namespace octavo::formats::med
#endif
