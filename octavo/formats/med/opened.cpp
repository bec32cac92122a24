#ifdef OCTAVO_HAVE_MED
#include "octavo/formats/med/opened.hpp"

#include <algorithm>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/formats/serafin/layout.hpp"

namespace octavo::formats::med {

using base::Error;
using base::Kind;

MedFile::MedFile(const std::filesystem::path& path)
    : path_(path),
      bytes_(static_cast<std::int64_t>(std::filesystem::file_size(path))),
      id_(library().MEDfileOpen(path.c_str(), MED_ACC_RDONLY)) {
  if (id_ < 0) throw Error(Kind::corrupt, "libmedC cannot open it").at(path.string());
  require_version();
}

/// A file of a later version opens, and then each call fails.
void MedFile::require_version() const {
  med_int major = 0, minor = 0, release = 0, own_major = 0, own_minor = 0, own_release = 0;
  if (library().MEDfileNumVersionRd(id_, &major, &minor, &release) < 0 ||
      library().MEDlibraryNumVersion(&own_major, &own_minor, &own_release) < 0)
    return;
  if (std::pair(major, minor) <= std::pair(own_major, own_minor)) return;
  const auto text = [](med_int a, med_int b) { return std::to_string(a) + "." + std::to_string(b); };
  library().MEDfileClose(id_);
  throw Error(Kind::unsupported,
              "a file of MED " + text(major, minor) + ": this libmedC reads up to " + text(own_major, own_minor))
      .at(path_.string())
      .hint("save it as MED " + text(own_major, own_minor) +
            " or older; medcoupling: MEDFileData(FILE).write41(OUT, 2)");
}

void MedFile::require(bool good, const std::string& what) const {
  if (!good) throw Error(Kind::corrupt, "libmedC cannot read " + what).at(path_.string());
}

void MedFile::require_room(std::int64_t count, const std::string& what) const {
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
