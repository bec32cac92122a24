#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "octavo/base/error.hpp"
#include "octavo/formats/xdmf/xdmf.hpp"
#include "tests/fuzz/read_series.hpp"
#include "tests/support/serafin_fixture.hpp"

// Input: edits of a sound text, four bytes each: where, in two; how; with what. Arrays stand in the text.
namespace {

using namespace octavo;
namespace fs = std::filesystem;

constexpr const char* sound = R"text(<?xml version="1.0"?>
<!DOCTYPE Xdmf SYSTEM "Xdmf.dtd" [<!ENTITY three "3 4 5">]>
<Xdmf Version="3.0"><Domain><DataItem Name="all" Dimensions="3 3" Precision="8">1 2 &three; 6 7 8 9</DataItem>
<Grid Name="all" GridType="Collection" CollectionType="Temporal">
<Grid Name="a" GridType="Uniform"><Time Value="1.5"/><!-- a prism, a tetrahedron and a side -->
<Topology TopologyType="Mixed" NumberOfElements="3">
<DataItem DataType="Int" Dimensions="16" Format="XML">8 0 1 2 &three; 6 &three; 6 4 0 1 2</DataItem></Topology>
<Geometry GeometryType="XYZ"><DataItem DataType="Float" Precision="8" Dimensions="7 3" Format="XML">
0 0 0 1 0 0 0 1 0 0 0 1 1 0 1 0 1 1 0 0 2</DataItem></Geometry>
<xi:include xpointer="element(/1/1/2/1)"/><Attribute Name="u &amp; v" Center="Node"><DataItem Dimensions="7 3" Format="XML">
1 2 3 4 5 6 7 8 9 1 2 3 4 5 6 7 8 9 1 2 3</DataItem></Attribute>
<Attribute Name="k" Center="Cell"><DataItem Dimensions="3" Precision="8" Format="XML">1e3 -2.5 nan</DataItem></Attribute>
<Attribute Name="s" Center="Cell"><DataItem ItemType="HyperSlab" Dimensions="3"><DataItem Dimensions="3 2">
0 1 1 1 3 1</DataItem><DataItem Reference="XML">/Xdmf/Domain/DataItem[@Name="all"]</DataItem></DataItem></Attribute>
<Attribute Name="p" Center="Cell"><DataItem ItemType="Function" Function="JOIN($0, 0*$0)" Dimensions="3 2">
<DataItem ItemType="Coordinates" Dimensions="3"><DataItem Dimensions="6">0 0 2 2 1 0</DataItem>
<DataItem Reference="//DataItem[1]"/></DataItem></DataItem></Attribute>
</Grid></Grid></Domain></Xdmf>
)text";

void edit(std::string& bytes, const std::uint8_t* data) {
  if (bytes.empty()) return;
  const std::size_t at = static_cast<std::size_t>(data[0] << 8 | data[1]) % bytes.size();
  const auto with = static_cast<char>(data[3]);
  switch (data[2] % 8) {
    case 0: bytes.resize(at); break;
    case 1: bytes.insert(at, 1, with); break;
    case 2: bytes.erase(at, 1 + data[3] % 16); break;
    case 3: bytes[at] = static_cast<char>(bytes[at] + 1); break;
    case 4: bytes[at] = static_cast<char>('0' + data[3] % 10); break;
    case 5: bytes.insert(at, std::string(1 + data[3] % 20, '9')); break;
    case 6: bytes.insert(at, bytes.substr(at, 1 + data[3])); break;
    default: bytes[at] = with;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fs::path folder = fs::exists("/dev/shm") ? "/dev/shm" : "/tmp";
  static const std::string stem = folder / ("octavo_fuzz_xdmf_" + std::to_string(::getpid()));
  static const fs::path path = stem + ".xdmf", out = stem + ".out.xdmf";
  std::string bytes = sound;
  for (std::size_t i = 0; i + 4 <= size; i += 4) edit(bytes, data + i);
  testing::put_file(path, bytes);
  try {
    if (formats::xdmf::recognise(path)) {
      formats::WriteRequest request;
      request.out = out;
      request.overwrite = true;
      formats::xdmf::write(testing::read_series(formats::xdmf::open(path, {})), out, request);
      formats::xdmf::open(out, {}).read(0, {});
    }
  } catch (const base::Error&) {
  }
  fs::remove(path);
  return 0;
}
