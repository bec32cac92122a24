#include <gmock/gmock.h>

#include <deque>
#include <fstream>
#include <map>
#include <set>

#include "octavo/engine/targets/amrex_target.hpp"
#include "octavo/engine/targets/series_target.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/mesh/patches.hpp"
#include "octavo/store/read/scan.hpp"
#include "tests/support/device_array.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/triangle_runs.hpp"

/// Arrays in device memory, on the stand-in for CUDA's driver: what is stored, when the arrays may change, and errors.
namespace octavo::engine::on_device {
namespace {

namespace fs = std::filesystem;
using store::Flow;
using testing::DeviceBytes;
using testing::Domain;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::rank;
using testing::size;
using testing::standin;

enum class Where { host, device, behind_a_kernel };

// Gives arrays as they are on the host, or copies of them in device memory. The values of these may still be on their
// way: then the memory holds poison until a kernel on a stream has run.
class Memory {
 public:
  explicit Memory(Where where) : where_(where) {
    if (where_ == Where::behind_a_kernel) standin().create_stream(&stream_, 1);
  }
  ~Memory() {
    if (stream_ != nullptr) standin().destroy_stream(stream_);
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  /// `memory`: all of the array's.
  ArrayView of(const ArrayView& view, std::span<const std::byte> memory) {
    if (where_ == Where::host) return view;
    if (where_ == Where::device) {
      copies_.emplace_back(memory);
    } else {
      copies_.emplace_back(std::vector<std::byte>(memory.size(), std::byte{0xff}));
      if (!memory.empty()) standin().kernel(stream_, copies_.back().data(), memory.data(), memory.size());
    }
    ArrayView there = testing::on_device(view, copies_.back(), memory.data());
    there.stream = stream_;
    return there;
  }
  template <class T>
  ArrayView of(const std::vector<T>& values) {
    return of(view_of(values), std::as_bytes(std::span(values)));
  }
  /// Overwrites the arrays, as the application may as soon as the step is taken.
  void spoil() const {
    for (const DeviceBytes& copy : copies_) copy.spoil();
  }

 private:
  Where where_;
  void* stream_ = nullptr;
  std::deque<DeviceBytes> copies_;
};

// ------------------------------------------------------------------ four meshes

struct Puts {
  mesh::Header header;
  std::function<void(Writer&, Memory&)> put;
};

Puts cells() {
  const auto domain = std::make_shared<Domain>(testing::make_domain(3, rank(), size()));
  return {domain->header, [domain](Writer& writer, Memory& memory) {
            writer.put_mesh(domain->tree);
            writer.put_field("density", memory.of(domain->density), "g/cm^3");
            writer.put_field("flag", memory.of(domain->flag));
            for (std::size_t axis = 0; axis < 3; ++axis)
              writer.put_particles("stars", std::string("position_") + "xyz"[axis], memory.of(domain->position[axis]));
            writer.put_particles("stars", "id", memory.of(domain->id));
          }};
}

// Blocks with ghosts, in memory in the opposite order; only owned ones have a place.
Puts blocks() {
  struct Blocks {
    mesh::Octree tree;
    std::vector<double> memory;
    std::vector<std::uint32_t> order;
  };
  const auto made = std::make_shared<Blocks>();
  constexpr std::size_t count = 8, all = 8 * 8 * 8;
  mesh::Header header;
  header.code = "test";
  header.roots = made->tree.roots = {2, 2, 2};
  header.block = made->tree.block = {4, 4, 4};
  header.hi = {2, 2, 2};
  made->tree.refined = made->tree.owned = {base::BitArray(count)};
  std::uint32_t next = count;
  for (std::size_t i = 0; i < count; ++i) {
    const bool mine = static_cast<int>(i) % size() == rank();
    if (mine) made->tree.owned[0].set(i);
    --next;
    made->order.push_back(mine ? next : ArrayView::nowhere);
  }
  for (std::size_t i = 0; i < count * all; ++i) made->memory.push_back(0.001 * static_cast<double>(i * 31 % 10007));
  return {header, [made](Writer& writer, Memory& memory) {
            ArrayView view;
            view.data = made->memory.data();
            view.cells = count;
            view.block = {4, 4, 4};
            view.ghost = 2;
            writer.put_mesh(made->tree);
            view.order = made->order;
            writer.put_field("ordered", memory.of(view, std::as_bytes(std::span(made->memory))));
            view.order = {};
            writer.put_field("ghosted", memory.of(view, std::as_bytes(std::span(made->memory))));
          }};
}

Puts boxes() {
  struct Boxes {
    mesh::Patches patches;
    std::vector<std::vector<double>> memory;
    std::vector<double> all;
  };
  const auto made = std::make_shared<Boxes>();
  mesh::Header header;
  header.code = "test";
  header.roots = {2, 2, 2};
  header.block = {8, 8, 8};
  header.hi = {2, 2, 2};
  made->patches = {3, {{{0, 0, 0}, {16, 16, 16}}}, {}, {{}}};
  for (int i = 0; i < 8; ++i) {
    if (i % size() != rank()) continue;
    const mesh::Index3 lo{i % 2 * 8, i / 2 % 2 * 8, i / 4 * 8};
    made->patches.boxes[0].push_back({lo, {lo[0] + 8, lo[1] + 8, lo[2] + 8}});
    made->memory.emplace_back(10 * 10 * 10);
    for (std::size_t k = 0; k < made->memory.back().size(); ++k)
      made->memory.back()[k] = 0.01 * static_cast<double>(k) + i;
    for (std::size_t k = 0; k < 512; ++k) made->all.push_back(static_cast<double>(k * 7 % 11) + i);
  }
  return {header, [made](Writer& writer, Memory& memory) {
            writer.put_mesh(made->patches);
            std::vector<ArrayView> views;
            for (const auto& values : made->memory) {
              ArrayView view;
              view.data = values.data();
              view.cells = 1;
              view.block = {8, 8, 8};
              view.ghost = 1;
              views.push_back(memory.of(view, std::as_bytes(std::span(values))));
            }
            writer.put_field("by_box", views);
            writer.put_field("in_one", memory.of(made->all));
          }};
}

Puts triangles() {
  const auto f = std::make_shared<testing::SerafinFixture>();
  f->mesh = testing::random_triangles(5, 60, 60);
  f->planes = 3;
  const auto arrays = std::make_shared<testing::TriangleArrays>(testing::arrays_of(*f, 7, 1));
  return {testing::triangles_header(*f), [arrays](Writer& writer, Memory& memory) {
            writer.put_mesh(arrays->mesh.piece, arrays->mesh.global_element);
            writer.put_field("a", memory.of(arrays->a), "m");
            writer.put_field("b", memory.of(arrays->b));
            writer.put_field("number", memory.of(arrays->number));
          }};
}

void write_step(Writer& writer, const Puts& run, std::int64_t step, Where where, bool lend) {
  Memory memory(where);
  writer.begin_step(Flow::checkpoint, step, 0.5);
  run.put(writer, memory);
  try {
    writer.end_step();
    if (lend) writer.wait();
  } catch (...) {
    memory.spoil();
    throw;
  }
  memory.spoil();
}

// A step's parts as a store gives them: the same arrays give the same parts.
std::vector<mesh::Part> parts_of(const fs::path& path, std::int64_t step) {
  const mesh::Dataset dataset = store::open_step(path, Flow::checkpoint, step);
  mesh::Request request;
  request.particles = true;
  std::vector<mesh::Part> parts;
  for (int i = 0; i < dataset.num_parts; ++i) parts.push_back(dataset.read(i, request));
  return parts;
}

std::uint64_t bytes_in(const fs::path& path) {
  std::uint64_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file() && entry.path().filename().string().starts_with("data")) bytes += entry.file_size();
  return bytes;
}

void expect_same_stores(const fs::path& a, const fs::path& b) {
  testing::barrier();
  if (rank() == 0) {
    const auto first = parts_of(a, 1), second = parts_of(b, 1);
    ASSERT_EQ(first.size(), second.size());
    for (std::size_t i = 0; i < first.size(); ++i) {
      EXPECT_EQ(first[i].mesh, second[i].mesh);
      EXPECT_TRUE(first[i].fields == second[i].fields);
      EXPECT_TRUE(first[i].particles == second[i].particles);
    }
    EXPECT_GT(bytes_in(a), 0u);
    EXPECT_EQ(bytes_in(a), bytes_in(b));
    EXPECT_TRUE(store::verify(b, 1).findings.empty());
  }
  testing::barrier();
}

class DeviceMpi : public ::testing::Test {
 protected:
  DeviceMpi() {
    standin().fail(0, 0, 0);
    standin().delay(200);
    setenv("OCTAVO_DEVICE_BUFFER", "4096", 1);
  }
  ~DeviceMpi() override { unsetenv("OCTAVO_DEVICE_BUFFER"); }
};

// ------------------------------------------------------------------ what is stored

struct Way {
  Mode mode;
  bool lend;
  codec::Method method;
  std::int64_t staging_bytes;
};

TEST_F(DeviceMpi, a_store_is_that_of_host_arrays_and_arrays_may_change_at_once) {
  constexpr std::int64_t room = 64 << 20, little = 10000;
  const std::vector<Way> ways{
      {Mode::sync, false, codec::Method::raw, room},         {Mode::sync, false, codec::Method::automatic, room},
      {Mode::background, false, codec::Method::raw, room},   {Mode::background, false, codec::Method::automatic, room},
      {Mode::background, false, codec::Method::raw, little}, {Mode::background, true, codec::Method::automatic, room}};
  for (const auto& [what, run] : {std::pair{"cells", cells()}, std::pair{"blocks", blocks()},
                                  std::pair{"boxes", boxes()}, std::pair{"triangles", triangles()}})
    for (const Way& way : ways) {
      const testing::SharedDirectory directory;
      Options options;
      options.mode = way.mode;
      options.lend = way.lend;
      options.staging_bytes = way.staging_bytes;
      options.checkpoint.codec.method = way.method;
      options.sync_policy = SyncPolicy::none;
      std::vector<fs::path> paths;
      for (const Where where : {Where::host, Where::device, Where::behind_a_kernel}) {
        paths.push_back(directory.path() / std::to_string(static_cast<int>(where)));
        Writer writer(everyone(), paths.back(), run.header, options);
        write_step(writer, run, 1, where, way.lend);
        writer.close();
        SCOPED_TRACE(std::string(what) + " " + std::string(name_of(way.mode)) + " " + paths.back().filename().string() +
                     (way.lend ? " lent" : "") + " " + std::to_string(way.staging_bytes));
        if (where != Where::host) expect_same_stores(paths.front(), paths.back());
      }
    }
}

// Bytes of all files of an output, by name.
std::map<std::string, std::string> files_of(const fs::path& output) {
  std::map<std::string, std::string> files;
  const auto add = [&](const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    files[file.lexically_relative(output).string()] = {std::istreambuf_iterator<char>(in), {}};
  };
  if (!fs::is_directory(output)) {
    add(output);
    return files;
  }
  for (const auto& entry : fs::recursive_directory_iterator(output))
    if (entry.is_regular_file()) add(entry.path());
  return files;
}

TEST_F(DeviceMpi, outputs_for_other_codes_are_those_of_host_arrays) {
  const testing::SharedDirectory directory;
  const auto domain = std::make_shared<Domain>(testing::make_domain(3, rank(), size()));
  testing::SerafinFixture f;
  f.mesh = testing::random_triangles(5, 60, 60);
  const SeriesMesh piece = testing::piece_of(f, 11);
  std::vector<float> values(piece.piece.x.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5F * static_cast<float>(piece.piece.global_point[i]);
  for (const Mode mode : {Mode::sync, Mode::background}) {
    std::vector<std::map<std::string, std::string>> plotfiles, series;
    for (const Where where : {Where::host, Where::behind_a_kernel}) {
      Memory memory(where);
      const std::string name = std::string(name_of(mode)) + std::to_string(static_cast<int>(where));
      AmrexTarget target;
      target.options.mode = mode;
      Writer plots(everyone(), domain->header, target);
      plots.begin_step(directory.path() / ("plt" + name), 1, 0.5);
      plots.put_mesh(domain->tree);
      plots.put_field("density", memory.of(domain->density));
      plots.end_step();
      memory.spoil();
      plots.close();
      Memory points(where);
      Writer one(everyone(), mesh::Header(),
                 SeriesTarget{directory.path() / (name + ".slf"), testing::series_header(f), piece, {.mode = mode}});
      one.begin_step(1.0);
      for (int v = 0; v < f.variables; ++v) one.put_field("VARIABLE " + std::to_string(v), points.of(values));
      points.spoil();  // puts of a series copy
      one.end_step();
      one.close();
      testing::barrier();
      plotfiles.push_back(files_of(directory.path() / ("plt" + name)));
      series.push_back(files_of(directory.path() / (name + ".slf")));
    }
    EXPECT_GT(plotfiles[0].size(), 2u);
    EXPECT_TRUE(plotfiles[0] == plotfiles[1]);
    EXPECT_GT(series[0].begin()->second.size(), 1000u);
    EXPECT_TRUE(series[0].begin()->second == series[1].begin()->second);
  }
}

// ------------------------------------------------------------------ errors

TEST_F(DeviceMpi, a_device_array_given_as_host_is_named_on_all_ranks) {
  const testing::SharedDirectory directory;
  const Puts run = cells();
  Writer writer(everyone(), directory.path() / "run", run.header, {});
  const std::vector<double> values(10, 1.0);
  const DeviceBytes copy(std::as_bytes(std::span(values)));
  ArrayView wrong = testing::on_device(view_of(values), copy, values.data());
  if (rank() == size() - 1) wrong.space = MemorySpace::host;
  Memory memory(Where::device);
  writer.begin_step(Flow::checkpoint, 1, 0);
  run.put(writer, memory);
  writer.put_particles("gas", "mass", wrong);
  const std::string message = testing::message_of([&] { writer.end_step(); });
  EXPECT_THAT(message, HasSubstr("given as host memory, but it lies in device memory"));
  EXPECT_THAT(message, HasSubstr("gas/mass"));
  expect_same_everywhere(message);
  write_step(writer, run, 2, Where::device, false);
  writer.close();
  EXPECT_EQ(writer.newest_durable(Flow::checkpoint)->step, 2);
  EXPECT_EQ(store::list_steps(directory.path() / "run").size(), 1u);
}

// Every n-th call of the driver fails on one rank: all ranks are told the same, the step is not in the store, and the
// writer goes on.
void fail_at_every_call(const Puts& run, Mode mode, bool lend, int error) {
  const testing::SharedDirectory directory;
  Options options;
  options.mode = mode;
  options.lend = lend;
  options.staging_bytes = 1 << 20;
  options.checkpoint.codec.method = codec::Method::raw;
  options.sync_policy = SyncPolicy::none;
  Writer writer(everyone(), directory.path() / "run", run.header, options);
  const int failing = size() - 1;
  std::set<std::int64_t> complete;
  int failures = 0;
  std::int64_t step = 0;
  // Calls are many, so from the fortieth on only some of them fail.
  for (long n = 1;; n += n < 40 ? 1 : 29) {
    if (rank() == failing) standin().fail(n, error, 0);
    ++step;
    const std::string message = testing::message_of([&] {
      write_step(writer, run, step, Where::device, lend);
      writer.wait();
    });
    int reached = standin().calls() >= n ? 1 : 0;
    standin().fail(0, 0, 0);
    MPI_Bcast(&reached, 1, MPI_INT, failing, everyone());
    expect_same_everywhere(message);
    if (message == "no error")
      complete.insert(step);
    else
      ++failures;
    if (reached == 0) break;
    // A pointer's attributes may fail without harm; other calls name themselves.
    if (message != "no error") {
      EXPECT_THAT(message, ::testing::AnyOf(HasSubstr("the device failed"), HasSubstr("it lies in"))) << n;
      EXPECT_THAT(message, ::testing::AnyOf(HasSubstr(" field "), HasSubstr(" particles "), HasSubstr(" attribute ")))
          << n;
    }
  }
  EXPECT_EQ(testing::message_of([&] { writer.close(); }), "no error");
  EXPECT_GT(failures, 25);
  if (rank() != 0) return;
  std::set<std::int64_t> found;
  for (const store::StepInfo& info : store::list_steps(directory.path() / "run")) found.insert(info.step);
  EXPECT_EQ(found, complete);
  EXPECT_TRUE(store::verify(directory.path() / "run", 1).findings.empty());
}

TEST_F(DeviceMpi, any_failing_call_is_the_same_error_on_all_ranks_and_no_step) {
  standin().delay(0);
  for (const int error : {2, 700}) fail_at_every_call(cells(), Mode::background, false, error);
  fail_at_every_call(cells(), Mode::sync, false, 700);
  fail_at_every_call(cells(), Mode::background, true, 700);
  fail_at_every_call(blocks(), Mode::sync, false, 700);
  fail_at_every_call(boxes(), Mode::background, false, 700);
  fail_at_every_call(triangles(), Mode::background, false, 700);
}

TEST_F(DeviceMpi, an_error_names_the_field_in_outputs_for_other_codes) {
  const testing::SharedDirectory directory;
  const auto domain = std::make_shared<Domain>(testing::make_domain(3, rank(), size()));
  standin().delay(0);
  const auto write = [&](Writer& writer, const std::string& name) {
    Memory memory(Where::device);
    writer.begin_step(directory.path() / name, 1, 0.5);
    writer.put_mesh(domain->tree);
    writer.put_field("density", memory.of(domain->density));
    writer.end_step();
    writer.wait();
  };
  for (const Mode mode : {Mode::sync, Mode::background}) {
    bool reached = true;
    for (int n = 1; reached; n += 3) {
      AmrexTarget target;
      target.options.mode = mode;
      Writer writer(everyone(), domain->header, target);
      if (rank() == 0) standin().fail(n, 700, 0);
      const std::string message =
          testing::message_of([&] { write(writer, std::string(name_of(mode)) + std::to_string(n)); });
      int more = standin().calls() >= n ? 1 : 0;
      standin().fail(0, 0, 0);
      MPI_Bcast(&more, 1, MPI_INT, 0, everyone());
      reached = more != 0;
      expect_same_everywhere(message);
      if (message != "no error") {
        EXPECT_THAT(message, HasSubstr(" field density")) << n;
      }
      testing::message_of([&] { writer.close(); });
    }
  }
}

TEST_F(DeviceMpi, a_stream_of_another_device_is_an_error_of_all_ranks_that_names_the_field) {
  const testing::SharedDirectory directory;
  const Puts run = cells();
  const auto domain = std::make_shared<Domain>(testing::make_domain(3, rank(), size()));
  Writer writer(everyone(), directory.path() / "run", run.header, {});
  const int wrong = size() - 1;
  void* foreign = nullptr;
  standin().use_device(1);
  ASSERT_EQ(standin().create_stream(&foreign, 1), 0);
  standin().use_device(0);
  for (int step = 1; step < 3; ++step) {
    Memory memory(Where::device);
    ArrayView density = memory.of(domain->density);
    if (rank() == wrong && step == 1) density.stream = foreign;
    writer.begin_step(Flow::checkpoint, step, 0.5);
    writer.put_mesh(domain->tree);
    writer.put_field("flag", memory.of(domain->flag));
    writer.put_field("density", density);
    const std::string message = testing::message_of([&] { writer.end_step(); });
    expect_same_everywhere(message);
    if (step == 2) {
      EXPECT_EQ(message, "no error");
      continue;
    }
    EXPECT_THAT(message, HasSubstr("stream"));
    EXPECT_THAT(message, HasSubstr("field density"));
    if (size() > 1) {
      EXPECT_THAT(message, HasSubstr("rank " + std::to_string(wrong)));
    }
  }
  writer.close();
  standin().destroy_stream(foreign);
  EXPECT_EQ(store::list_steps(directory.path() / "run").size(), 1u);
}

TEST_F(DeviceMpi, end_step_does_not_wait_for_other_work_of_the_device) {
  const testing::SharedDirectory directory;
  const Puts run = boxes();
  Writer writer(everyone(), directory.path() / "run", run.header, {});
  void* other = nullptr;
  ASSERT_EQ(standin().create_stream(&other, 1), 0);
  standin().hold(other);
  write_step(writer, run, 1, Where::behind_a_kernel, false);
  writer.wait();
  EXPECT_EQ(standin().release(), 1) << "the kernel on the other stream had to end first";
  writer.close();
  standin().destroy_stream(other);
  EXPECT_EQ(store::list_steps(directory.path() / "run").size(), 1u);
}

TEST_F(DeviceMpi, a_lost_device_is_reported_at_each_step_until_it_is_back) {
  const testing::SharedDirectory directory;
  const Puts run = cells();
  Writer writer(everyone(), directory.path() / "run", run.header, {});
  if (rank() == 0) standin().fail(30, 46, 1);
  for (int step = 1; step < 4; ++step) {
    const std::string message = testing::message_of([&] {
      write_step(writer, run, step, Where::device, false);
      writer.wait();
    });
    EXPECT_NE(message, "no error");
    expect_same_everywhere(message);
  }
  standin().fail(0, 0, 0);
  write_step(writer, run, 4, Where::device, false);
  writer.close();
  EXPECT_EQ(store::list_steps(directory.path() / "run").size(), 1u);
}

}  // namespace
}  // namespace octavo::engine::on_device
