#include <gmock/gmock.h>

#include "octavo/engine/step/counted_memory.hpp"
#include "octavo/engine/targets/native_writer.hpp"
#include "octavo/engine/targets/series_writer.hpp"
#include "octavo/engine/write/writer.hpp"
#include "octavo/formats/serafin/series.hpp"
#include "tests/support/error_of.hpp"
#include "tests/support/mpi_run.hpp"
#include "tests/support/series_pieces.hpp"

/// What one rank alone meets, between begin_step() and the end: all are told, none waits for ever.
namespace octavo::engine {
namespace {

namespace fs = std::filesystem;
using base::Error;
using base::Kind;
using store::Flow;
using testing::Domain;
using testing::everyone;
using testing::expect_same_everywhere;
using ::testing::HasSubstr;
using testing::make_domain;
using testing::message_of;
using testing::rank;
using testing::size;

bool is_last() { return rank() == size() - 1; }

Mode background_if_possible() { return testing::single_threaded() ? Mode::sync : Mode::background; }

// One of the writers, and how a test of any of them uses it.
struct Tried {
  std::function<void(int step)> begin, put;
  std::function<void(const Error&)> put_error;
  std::function<void()> end, wait, close;
  std::function<bool(int step)> is_there;
};

template <class Writer>
Tried tried(const std::shared_ptr<Writer>& writer) {
  Tried out;
  out.put_error = [writer](const Error& error) { writer->put_error(error); };
  out.end = [writer] { writer->end_step(); };
  out.wait = [writer] { writer->wait(); };
  out.close = [writer] { writer->close(); };
  return out;
}

void put_domain(auto& writer, const Domain& domain) {
  writer.put_mesh(domain.tree);
  writer.put_field("density", view_of(domain.density));
}

std::function<bool(int)> has_checkpoint(const fs::path& path) {
  return [path](int step) {
    if (!fs::exists(path / "checkpoint")) return false;
    const auto all = store::list_steps(path);
    return std::any_of(all.begin(), all.end(), [&](const store::StepInfo& found) { return found.step == step; });
  };
}

Tried to_store(const fs::path& directory, Options options = {}) {
  if (testing::single_threaded()) options.mode = Mode::sync;
  options.staging_bytes = 4 << 20;
  options.sync_policy = SyncPolicy::none;
  const auto domain = std::make_shared<Domain>(make_domain(1, rank(), size()));
  const auto writer = std::make_shared<Writer>(everyone(), directory / "run.octavo", domain->header, options);
  Tried out = tried(writer);
  out.begin = [writer](int step) { writer->begin_step(Flow::checkpoint, step, step); };
  out.put = [writer, domain](int) { put_domain(*writer, *domain); };
  out.is_there = has_checkpoint(directory / "run.octavo");
  return out;
}

Tried to_plotfiles(const fs::path& directory) {
  NativeOptions options;
  options.format = NativeFormat::amrex_plotfile;
  options.mode = background_if_possible();
  options.sync = false;
  const auto domain = std::make_shared<Domain>(make_domain(1, rank(), size()));
  const auto writer = std::make_shared<NativeWriter>(everyone(), domain->header, options);
  Tried out = tried(writer);
  const auto path = [directory](int step) { return directory / ("plt" + std::to_string(step)); };
  out.begin = [writer, path](int step) { writer->begin_step(path(step), step, step); };
  out.put = [writer, domain](int) { put_domain(*writer, *domain); };
  out.is_there = [path](int step) { return fs::exists(path(step)); };
  return out;
}

testing::SerafinFixture triangles() {
  testing::SerafinFixture f;
  f.mesh = testing::random_triangles(5, 60, 60);
  return f;
}

Tried to_series(const fs::path& directory) {
  const auto f = std::make_shared<testing::SerafinFixture>(triangles());
  const auto mesh = std::make_shared<SeriesMesh>(testing::piece_of(*f, 11));
  const auto writer = std::make_shared<SeriesWriter>(everyone(), directory / "r2d.slf", testing::series_header(*f),
                                                     *mesh, testing::options_for(11));
  Tried out = tried(writer);
  out.begin = [writer](int step) { writer->begin_step(step); };
  const std::size_t values = mesh->piece.x.size() * static_cast<std::size_t>(f->planes);
  const auto some = std::make_shared<std::vector<float>>(values);
  out.put = [writer, f, some](int) {
    for (int v = 0; v < f->variables; ++v) writer->put_field("VARIABLE " + std::to_string(v), view_of(*some));
  };
  out.is_there = [path = directory / "r2d.slf"](int step) {
    const auto file = formats::serafin::open_series(path);
    return file.steps > 0 && formats::serafin::read_time(file, file.steps - 1) == step;
  };
  return out;
}

Tried to_store_of_triangles(const fs::path& directory) {
  Options options;
  options.mode = background_if_possible();
  options.staging_bytes = 4 << 20;
  options.sync_policy = SyncPolicy::none;
  const auto mesh = std::make_shared<SeriesMesh>(testing::piece_of(triangles(), 11));
  mesh::Header header;
  header.dim = mesh->piece.planes > 1 ? 3 : 2;
  const auto writer = std::make_shared<Writer>(everyone(), directory / "triangles.octavo", header, options);
  Tried out = tried(writer);
  out.begin = [writer](int step) { writer->begin_step(Flow::checkpoint, step, step); };
  const auto values =
      std::make_shared<std::vector<double>>(mesh->piece.x.size() * static_cast<std::size_t>(mesh->piece.planes));
  out.put = [writer, mesh, values](int) {
    writer->put_mesh(mesh->piece, mesh->global_element);
    writer->put_field("depth", view_of(*values), "m");
  };
  out.is_there = has_checkpoint(directory / "triangles.octavo");
  return out;
}

std::vector<Tried> all_writers(const fs::path& directory) {
  return {to_store(directory), to_plotfiles(directory), to_series(directory)};
}

TEST(OneRankMpi, a_step_that_one_rank_cannot_begin_is_an_error_of_end_step_on_all_and_the_next_is_written) {
  const testing::SharedDirectory directory;
  for (const Tried& writer : all_writers(directory.path())) {
    if (!is_last()) writer.begin(0);
    if (is_last()) writer.put_error(Error(Kind::usage, "no flow of that name").at("begin_step"));
    writer.put(0);
    const std::string message = message_of(writer.end);
    EXPECT_THAT(message, HasSubstr("no flow of that name"));
    EXPECT_THAT(message, HasSubstr("begin_step"));
    expect_same_everywhere(message);
    writer.begin(0);
    writer.put(0);
    writer.end();
    writer.close();
    EXPECT_TRUE(writer.is_there(0));
  }
}

TEST(OneRankMpi, close_tells_all_of_a_step_that_one_rank_has_begun_and_of_what_no_end_step_has_told) {
  for (const bool wrong : {false, true}) {
    const testing::SharedDirectory directory;
    for (const Tried& writer : all_writers(directory.path())) {
      if (is_last()) writer.begin(0);
      if (is_last() && wrong) writer.put_error(Error(Kind::usage, "no such array"));
      const std::string message = message_of(writer.close);
      EXPECT_THAT(message, HasSubstr(wrong ? "no such array" : "begun and not ended"));
      expect_same_everywhere(message);
      EXPECT_FALSE(writer.is_there(0));
      EXPECT_EQ(message_of(writer.close), "no error");
    }
  }
}

// One step after another, in each of which the last rank lacks another piece of memory: the n-th of those that grow
// with what is written.
void expect_all_told_of_short_memory(const Tried& writer, int& step) {
  const std::size_t large = 12288 / static_cast<std::size_t>(size());
  for (int n = 0, met = 1; met == 1 && n < 200; ++n, ++step) {
    SCOPED_TRACE("piece of memory " + std::to_string(n));
    std::string messages;
    {
      std::optional<testing::Refusal> refusal;
      if (is_last()) refusal.emplace(large, n);
      messages = message_of([&] {
        writer.begin(step);
        writer.put(step);
        writer.end();
      });
      messages += "; " + message_of(writer.wait);
      met = refusal && refusal->met() ? 1 : 0;
    }
    MPI_Bcast(&met, 1, MPI_INT, size() - 1, everyone());
    expect_same_everywhere(messages);
    if (messages != "no error; no error") {
      EXPECT_THAT(messages, HasSubstr("out of memory"));
    }
    EXPECT_EQ(messages == "no error; no error", writer.is_there(step)) << messages;
    EXPECT_TRUE(met == 1 || writer.is_there(step)) << messages;
  }
}

TEST(OneRankMpi, memory_that_one_rank_lacks_is_told_to_all_wherever_in_a_step_it_is_asked_for) {
  const testing::SharedDirectory directory;
  Options together;
  together.contributors_per_file = 0;
  std::vector<Tried> writers = all_writers(directory.path());
  writers.push_back(to_store(directory.path() / "together", together));
  writers.push_back(to_store_of_triangles(directory.path()));
  for (const Tried& writer : writers) {
    int step = 0;
    expect_all_told_of_short_memory(writer, step);
    writer.begin(step);
    writer.put(step);
    writer.end();
    writer.close();
    EXPECT_TRUE(writer.is_there(step));
  }
}

}  // namespace
}  // namespace octavo::engine
