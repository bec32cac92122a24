#include <memory>
#include <utility>

#include "capi/objects.hpp"
#include "octavo/engine/targets/named_target.hpp"
#include "octavo/ranks/communicator.hpp"

namespace octavo::capi {
namespace {

namespace serafin = formats::serafin;
using Pairs = const char* const (*)[2];

template <class Add>
void for_each_pair(Pairs pairs, std::int64_t count, const char* what, Add&& add) {
  for (std::int64_t i = 0; i < count; ++i) {
    const char* const* pair = (&checked(pairs, what))[i];
    add(&checked(pair[0], what), &checked(pair[1], what));
  }
}

engine::Mode mode_of(const octavo_target& from) {
  return from.background != 0 ? engine::Mode::background : engine::Mode::sync;
}

engine::StoreTarget store_of(const octavo_target& from) {
  engine::StoreTarget target{&checked(from.path, "path"),
                             engine::read_options({}, from.options == nullptr ? "" : from.options)};
  if (from.from != nullptr) target.resumed_from = from.from->value.id;
  return target;
}

engine::OutputOptions output_options_of(const octavo_target& from) {
  engine::OutputOptions options;
  options.mode = mode_of(from);
  options.sync = from.sync != 0;
  options.checksums = from.checksums != 0;
  options.bound_thread = from.bound_thread != 0;
  options.staging_bytes = from.staging_bytes;
  return options;
}

serafin::SerafinHeader header_of_series(const octavo_target& from) {
  serafin::SerafinHeader header;
  header.order = from.little_endian != 0 ? std::endian::little : std::endian::big;
  header.real_bytes = from.double_precision != 0 ? 8 : 4;
  header.title = engine::series_title(from.title == nullptr ? "" : from.title, header.real_bytes);
  for_each_pair(from.variables, from.num_variables, "variables",
                [&](const char* name, const char* unit) { header.variables.push_back(serafin::variable(name, unit)); });
  std::copy_n(from.origin, 2, header.iparam.begin() + 2);
  if (from.dated != 0) std::copy_n(from.date, 6, header.date.emplace().begin());
  return header;
}

engine::SeriesTarget series_of(const octavo_target& from) {
  engine::SeriesTarget target{&checked(from.path, "path"), header_of_series(from), {}};
  if (from.alignment < 1)
    throw Error(Kind::usage, "alignment: expected at least 1 byte, found " + std::to_string(from.alignment));
  target.mesh = triangles_from(complete(from.mesh, octavo_triangles_default(), "mesh"));
  target.options.writers = from.writers;
  target.options.alignment = static_cast<std::uint64_t>(from.alignment);
  if (from.resume != 0) target.options.resume = from.resume_time;
  target.options.ranks_per_node = from.ranks_per_node;
  return target;
}

engine::Target target_of(const octavo_target& from) {
  constexpr const char* names[] = {"store", "flash", "amrex_plotfile", "amrex_checkpoint", "serafin", "med"};
  if (from.kind < OCTAVO_STORE || from.kind >= std::ssize(names))
    throw Error(Kind::usage, "kind: expected 0 to 5, found " + std::to_string(from.kind));
  engine::TargetOptions options{output_options_of(from), from.collect != 0, from.replace != 0};
  for_each_pair(from.names, from.num_names, "names",
                [&](const char* name, const char* own) { options.names[name] = own; });
  options.files = from.files;
  options.max_box = from.max_box;
  if (from.title != nullptr) options.title = from.title;
  if (from.multifab != nullptr) options.multifab = from.multifab;
  options.store = [&] { return store_of(from); };
  options.series = [&] { return series_of(from); };
  return engine::target_named(names[from.kind], options);
}

}  // namespace

std::span<const std::uint32_t> keep_order(octavo_writer& to, const std::int64_t* order, std::int64_t cells) {
  if (order == nullptr) return {};
  if (to.orders.empty() || !is_order(to.orders.back(), order, cells)) to.orders.push_back(order_from(order, cells));
  return to.orders.back();
}

void put_field(octavo_writer& to, const char* name, const char* unit, const FieldViews& views,
               mesh::Centring centring) {
  checked(name, "name");
  std::visit([&](const auto& of) { to.writer.put_field(name, of, unit == nullptr ? "" : unit, centring); }, views);
}

}  // namespace octavo::capi

using namespace octavo;
using namespace octavo::capi;

const char* octavo_version(void) { return OCTAVO_PROJECT_VERSION; }

int octavo_writer_open(MPI_Comm comm, const octavo_target* target, const octavo_domain* domain, octavo_writer** writer,
                       octavo_error* error) {
  return guard(error, [&] {
    // An argument may be wrong on one rank only: all ranks then get that rank's error.
    engine::Target wanted;
    mesh::Header header;
    ranks::agree(comm, [&] {
      checked(writer, "writer") = nullptr;
      wanted = target_of(complete(target, octavo_target_default(OCTAVO_STORE), "target"));
      if (steps_by(wanted) != engine::StepsBy::time)
        header = header_of(complete(domain, octavo_domain_default(), "domain"));
    });
    *writer = new octavo_writer{
        {},           steps_by(wanted),   engine::Writer(comm, header, wanted), header.dim, header.roots,
        header.block, header.level_origin};
  });
}

int octavo_writer_due(octavo_writer* writer, octavo_flow flow, int64_t step, double time, int* due,
                      octavo_error* error) {
  return guard(error,
               [&] { checked(due, "due") = checked(writer, "writer").writer.due(flow_of(flow), step, time) ? 1 : 0; });
}

int octavo_writer_begin_step(octavo_writer* writer, octavo_flow flow, const char* path, int64_t step, double time,
                             octavo_error* error) {
  return guard(error, [&] {
    octavo_writer& to = checked(writer, "writer");
    try {
      begin_step(to.writer, to.target, flow_of(flow), path == nullptr ? "" : path, step, time);
    } catch (...) {
      Error problem = base::current_error();
      to.writer.begin_error(problem.at("begin_step"));
      throw problem;
    }
    to.boxes.reset();
    to.listed.reset();
    to.orders.clear();
  });
}

int octavo_writer_put_attribute(octavo_writer* writer, const char* name, octavo_type type, const void* values,
                                int64_t count, octavo_error* error) {
  return put(writer, error, "an attribute", [&](octavo_writer& to) {
    to.writer.put_attribute(&checked(name, "name"), attribute_from(type, values, count));
  });
}

int octavo_writer_put_list(octavo_writer* writer, const char* list, const char* const* names, octavo_type type,
                           const void* values, int64_t count, octavo_error* error) {
  return put(writer, error, "a list", [&](octavo_writer& to) {
    put_list(to.writer, &checked(list, "list"), texts_from(names, count), attribute_from(type, values, count));
  });
}

int octavo_writer_put_units(octavo_writer* writer, double length, double density, double time, octavo_error* error) {
  return put(writer, error, "the units", [&](octavo_writer& to) { to.writer.put_units(length, density, time); });
}

int octavo_writer_put_tree(octavo_writer* writer, const octavo_tree* tree, octavo_error* error) {
  return put(writer, error, "the tree", [&](octavo_writer& to) {
    to.writer.put_mesh(tree_from(complete(tree, octavo_tree_default(), "tree"), to.dim, to.roots, to.block));
    to.boxes.reset();
    to.listed.reset();
  });
}

int octavo_writer_put_blocks(octavo_writer* writer, const octavo_blocks* blocks, octavo_error* error) {
  return put(writer, error, "the blocks", [&](octavo_writer& to) {
    const auto list = blocks_from(complete(blocks, octavo_blocks_default(), "blocks"), to.level_origin);
    to.listed = tree_of_blocks(to.dim, to.roots, to.block, list);
    to.writer.put_mesh(to.listed->tree);
    to.boxes.reset();
  });
}

int octavo_writer_put_boxes(octavo_writer* writer, const octavo_boxes* boxes, octavo_error* error) {
  return put(writer, error, "the boxes", [&](octavo_writer& to) {
    const mesh::Patches patches = patches_from(complete(boxes, octavo_boxes_default(), "boxes"), to.dim);
    to.writer.put_mesh(patches);
    to.boxes = sizes_of(patches);
    to.listed.reset();
  });
}

int octavo_writer_put_triangles(octavo_writer* writer, const octavo_triangles* triangles, octavo_error* error) {
  return put(writer, error, "the triangles", [&](octavo_writer& to) {
    put_triangles(to.writer, to.target, triangles_from(complete(triangles, octavo_triangles_default(), "triangles")));
    to.boxes.reset();
  });
}

int octavo_writer_put_field(octavo_writer* writer, const char* name, const char* unit, const octavo_array* array,
                            octavo_error* error) {
  return put(writer, error, "a field", [&](octavo_writer& to) {
    const octavo_array from = complete(array, octavo_array_packed(OCTAVO_FLOAT64, nullptr, 0), "array");
    const mesh::Centring centring = centring_of(from.centring);
    const mesh::Index3 block = block_of(&checked(name, "name"), centring, to.dim, to.block);
    FieldViews views = views_of(from, to.dim, block, to.boxes);
    if (auto* view = std::get_if<engine::ArrayView>(&views)) {
      view->order = keep_order(to, from.order, from.cells);
      if (to.listed) follow_blocks(*to.listed, *view, from.order != nullptr);
    }
    put_field(to, name, unit, views, centring);
  });
}

int octavo_writer_put_particles(octavo_writer* writer, const char* species, const char* attribute, const char* unit,
                                const octavo_array* array, octavo_error* error) {
  return put(writer, error, "particles", [&](octavo_writer& to) {
    const octavo_array from = complete(array, octavo_array_packed(OCTAVO_FLOAT64, nullptr, 0), "array");
    engine::ArrayView view = view_of_places(from);
    view.order = keep_order(to, from.order, from.cells);
    to.writer.put_particles(&checked(species, "species"), &checked(attribute, "attribute"), view,
                            unit == nullptr ? "" : unit);
  });
}

int octavo_writer_put_bytes(octavo_writer* writer, const char* name, const void* bytes, int64_t count,
                            octavo_error* error) {
  return put(writer, error, "bytes", [&](octavo_writer& to) {
    if (count < 0) throw Error(Kind::usage, "count: expected at least 0 bytes, found " + std::to_string(count));
    const auto* first = static_cast<const std::byte*>(bytes);
    if (count > 0) checked(first, "bytes");
    to.writer.put_bytes(&checked(name, "name"), {first, static_cast<std::size_t>(count)});
  });
}

int octavo_writer_end_step(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.end_step(); });
}

int octavo_writer_finished(octavo_writer* writer, int* all, octavo_error* error) {
  return guard(error, [&] {
    const bool done = checked(writer, "writer").writer.finished();
    checked(all, "all") = done ? 1 : 0;
  });
}

int octavo_writer_wait(octavo_writer* writer, octavo_error* error) {
  return guard(error, [&] { checked(writer, "writer").writer.wait(); });
}

int octavo_writer_get_steps(const octavo_writer* writer, int64_t* steps, octavo_error* error) {
  return guard(error, [&] { checked(steps, "steps") = checked(writer, "writer").writer.steps(); });
}

int octavo_writer_newest_safe(const octavo_writer* writer, octavo_flow flow, octavo_safety safety, int* any,
                              int64_t* step, octavo_error* error) {
  return guard(error, [&] {
    const auto newest = checked(writer, "writer").writer.newest_safe(flow_of(flow), safety_of(safety));
    checked(any, "any") = newest ? 1 : 0;
    int64_t& out = checked(step, "step");
    if (newest) out = newest->step;
  });
}

int octavo_writer_get_statistics(octavo_writer* writer, char* text, size_t size, octavo_error* error) {
  return guard(error, [&] {
    const engine::Writer& of = checked(writer, "writer").writer;
    const std::string mine = to_json(of.statistics());
    copy_text("{\"rank\": " + mine + ", \"total\": " + to_json(of.total_statistics()) + "}", text, size);
  });
}

int octavo_writer_close(octavo_writer** writer, octavo_error* error) {
  return guard(error, [&] {
    const std::unique_ptr<octavo_writer> mine(std::exchange(checked(writer, "writer"), nullptr));
    checked(mine.get(), "writer").writer.close();
  });
}
