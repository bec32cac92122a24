#include <gmock/gmock.h>

#include <array>

#include "capi/test_arrays.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/device_array.hpp"
#include "tests/support/mpi_run.hpp"

/// Arrays in device memory through the C API, on the stand-in for CUDA's driver.
namespace octavo::testing::device_arrays {
namespace {

using ::testing::HasSubstr;

octavo_writer* open_blocks(const std::filesystem::path& path, octavo_error* error) {
  const std::string name = path.string();
  octavo_target target = octavo_target_default(OCTAVO_STORE);
  target.path = name.c_str();
  octavo_domain domain = octavo_domain_default();
  domain.dim = 2;
  domain.block[0] = domain.block[1] = 4;
  octavo_writer* writer = nullptr;
  EXPECT_EQ(octavo_writer_open(everyone(), &target, &domain, &writer, error), 0) << error->message;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 1, 0.5, error);
  const std::int64_t cells[1] = {1};
  const std::uint8_t refined[1] = {0}, owned[1] = {rank() == 0 ? std::uint8_t{1} : std::uint8_t{0}};
  put_tree(writer, 1, cells, refined, owned, error);
  return writer;
}

mesh::Part part_of(const std::filesystem::path& path) {
  const mesh::Dataset dataset = store::open_step(path, store::Flow::checkpoint, 1);
  mesh::Request request;
  request.particles = true;
  return dataset.read(0, request);
}

TEST(CapiDeviceMpi, device_arrays_give_the_store_of_host_arrays) {
  standin().delay(2000);
  const SharedDirectory directory;
  // A block of 4 x 4 values with a ghost on each side, two variables interleaved.
  std::vector<double> unk(2 * 6 * 6);
  for (std::size_t i = 0; i < unk.size(); ++i) unk[i] = 0.5 * static_cast<double>(i);
  const std::vector<float> mass{1.5F, 2.5F, 3.5F};
  for (const bool device : {false, true}) {
    octavo_error error;
    octavo_writer* writer = open_blocks(directory.path() / (device ? "device" : "host"), &error);
    void* stream = nullptr;
    standin().create_stream(&stream, 1);
    const DeviceBytes field(std::vector<std::byte>(unk.size() * sizeof(double)));
    const DeviceBytes masses(std::as_bytes(std::span(mass)));
    standin().kernel(stream, field.data(), unk.data(), field.size());
    octavo_array values = ghosted(OCTAVO_FLOAT64, device ? field.data() : unk.data(), 1, 1, 2);
    octavo_array attribute = octavo_array_packed(OCTAVO_FLOAT32, device ? masses.data() : mass.data(), 3);
    if (device) values.space = attribute.space = OCTAVO_DEVICE;
    values.stream = stream;
    EXPECT_EQ(octavo_writer_put_field(writer, "dens", "", &values, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_put_particles(writer, "stars", "mass", "", &attribute, &error), 0) << error.message;
    EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
    field.spoil();
    masses.spoil();
    EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
    standin().destroy_stream(stream);
  }
  const mesh::Part host = part_of(directory.path() / "host"), device = part_of(directory.path() / "device");
  EXPECT_EQ(host.fields[0].as<double>()[0], 0.5 * 14);
  EXPECT_TRUE(host.fields == device.fields);
  EXPECT_TRUE(host.particles == device.particles);
}

TEST(CapiDeviceMpi, a_device_array_given_as_host_and_a_restart_to_a_device_are_errors) {
  const SharedDirectory directory;
  octavo_error error;
  const std::vector<double> values(16, 1.5);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  octavo_writer* writer = open_blocks(directory.path() / "run", &error);
  EXPECT_EQ(put_packed(writer, "dens", OCTAVO_FLOAT64, values.data(), 1, &error), 0) << error.message;
  EXPECT_EQ(octavo_writer_end_step(writer, &error), 0) << error.message;
  octavo_writer_begin_step(writer, OCTAVO_CHECKPOINT, nullptr, 2, 0.5, &error);
  put_packed(writer, "dens", OCTAVO_FLOAT64, rank() == 0 ? copy.data() : values.data(), 1, &error);
  EXPECT_EQ(octavo_writer_end_step(writer, &error), OCTAVO_USAGE);
  EXPECT_THAT(error.message, HasSubstr("given as host memory, but it lies in device memory"));
  EXPECT_THAT(error.message, HasSubstr("field dens"));
  EXPECT_EQ(octavo_writer_close(&writer, &error), 0) << error.message;
  const std::string path = (directory.path() / "run").string();
  octavo_restart* restart = nullptr;
  ASSERT_EQ(octavo_restart_open(everyone(), path.c_str(), nullptr, &restart, &error), 0) << error.message;
  octavo_array to = octavo_array_packed(OCTAVO_FLOAT64, copy.data(), info_of(restart).cells);
  to.space = OCTAVO_DEVICE;
  EXPECT_EQ(octavo_restart_get_field(restart, "dens", &to, &error), OCTAVO_UNSUPPORTED);
  EXPECT_THAT(error.message, HasSubstr("host memory only"));
  octavo_restart_free(&restart);
}

}  // namespace
}  // namespace octavo::testing::device_arrays
