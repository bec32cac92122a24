#include "octavo/step/gradients.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "octavo/base/error.hpp"
#include "octavo/base/memory.hpp"
#include "octavo/mesh/geometry.hpp"
#include "octavo/mesh/tree/fill.hpp"
#include "octavo/mesh/tree/merge.hpp"
#include "octavo/mesh/tree/slopes.hpp"
#include "octavo/mesh/triangles/point_slopes.hpp"

namespace octavo::step {
namespace {

using base::Error;
using base::Kind;
using mesh::Term;

// ------------------------------------------------------------------------------------------------ words of a formula

Term name_term(std::string name) { return {Term::Kind::name, 0, std::move(name), {}}; }
Term call_term(std::string word, std::vector<Term> parts) {
  return {Term::Kind::call, 0, std::move(word), std::move(parts)};
}

/// The axis of a word that ends in _x, _y or _z.
std::optional<std::size_t> axis_of_word(const std::string& word, std::string_view stem) {
  if (word.size() != stem.size() + 2 || !word.starts_with(stem) || word[stem.size()] != '_') return {};
  const std::size_t axis = std::string_view("xyz").find(word.back());
  return axis < 3 ? std::optional(axis) : std::nullopt;
}

class GradientTerms {
 public:
  explicit GradientTerms(const GradientWords& words) : words_(words) {}

  Term number(const Term& term) const {
    if (term.kind != Term::Kind::call) return term;
    const std::string& word = term.text;
    if (word == "norm") return norm(term);
    if (word == "gradient" || word == "vorticity")
      throw Error(Kind::usage, word + "(...) is a vector")
          .hint("take a component, " + word + (words_.dim == 2 && word == "vorticity" ? "_z(...)" : "_x(...)") +
                ", or its length, norm(" + word + "(...))");
    if (const auto axis = axis_of_word(word, "gradient")) return slope(term.parts[0], *axis);
    if (const auto axis = axis_of_word(word, "vorticity")) return curl(vector_in(term), *axis);
    if (word == "divergence") return divergence(vector_in(term));
    Term out = term;
    for (Term& part : out.parts) part = number(part);
    return out;
  }

 private:
  Term slope(const Term& of, std::size_t axis) const {
    if (axis >= static_cast<std::size_t>(words_.dim))
      throw Error(Kind::usage, "data of " + std::to_string(words_.dim) + " dimensions have no slope along " +
                                   std::string(1, "xyz"[axis]));
    return name_term(words_.column(of, axis));
  }

  static std::string vector_in(const Term& term) {
    if (mesh::is_plain_name(term.parts[0])) return term.parts[0].text;
    throw Error(Kind::usage, term.text + " is of a vector, which is told by its name")
        .hint(term.text + "(velocity), of velocity_x, velocity_y and velocity_z");
  }
  static std::string component(const std::string& vector, std::size_t axis) {
    return vector + "_" + std::string(1, "xyz"[axis]);
  }

  Term divergence(const std::string& vector) const {
    Term sum = slope(name_term(component(vector, 0)), 0);
    for (std::size_t axis = 1; axis < static_cast<std::size_t>(words_.dim); ++axis)
      sum = call_term("+", {std::move(sum), slope(name_term(component(vector, axis)), axis)});
    return sum;
  }

  /// The component along `axis`. Nothing changes along an axis that the data lack.
  Term curl(const std::string& vector, std::size_t axis) const {
    const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3, dim = static_cast<std::size_t>(words_.dim);
    if (a >= dim && b >= dim) throw Error(Kind::usage, "data of one dimension have no vorticity_x");
    if (a >= dim) return call_term("-x", {slope(name_term(component(vector, a)), b)});
    Term first = slope(name_term(component(vector, b)), a);
    return b >= dim ? first : call_term("-", {std::move(first), slope(name_term(component(vector, a)), b)});
  }
  bool has_curl(const std::string& vector, std::size_t axis) const {
    const std::size_t a = (axis + 1) % 3, b = (axis + 2) % 3, dim = static_cast<std::size_t>(words_.dim);
    return (a < dim || b < dim) && (a >= dim || words_.known(component(vector, b))) &&
           (b >= dim || words_.known(component(vector, a)));
  }

  /// Vectors within become their components.
  Term norm(const Term& term) const {
    Term out = call_term("norm", {});
    for (const Term& part : term.parts) {
      const bool call = part.kind == Term::Kind::call;
      if (call && part.text == "gradient") {
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(words_.dim); ++axis)
          out.parts.push_back(slope(part.parts[0], axis));
      } else if (call && part.text == "vorticity") {
        const std::string vector = vector_in(part);
        const std::size_t before = out.parts.size();
        for (std::size_t axis = 0; axis < 3; ++axis)
          if (has_curl(vector, axis)) out.parts.push_back(curl(vector, axis));
        if (out.parts.size() == before) out.parts.push_back(curl(vector, 2));  // says which component is unknown
      } else {
        out.parts.push_back(number(part));
      }
    }
    return out;
  }

  const GradientWords& words_;
};

// ------------------------------------------------------------------------------------------------ parts beside a part

constexpr std::uint64_t most_kept = std::uint64_t{256} << 20;
constexpr std::size_t most_boxes = 64;  // that the parts beside a part are looked for with

/// The leaves of the step's parts, read when they are asked for. For any number of threads.
class StepLeaves {
 public:
  StepLeaves(std::function<mesh::Dataset()> step, std::vector<std::string> fields)
      : open_(std::move(step)), fields_(std::move(fields)) {
    const std::uint64_t limit = base::memory_limit() != 0 ? base::memory_limit() : base::free_memory();
    room_ = std::min(most_kept, limit / 8);
  }

  /// Leaves in these cells: of the part with this number, or of all others.
  mesh::LeafTable at(const std::vector<mesh::LevelCell>& cells, int number, bool own, int max_level) {
    const mesh::Dataset& step = opened();
    mesh::LeafTable all{{}, std::vector<std::vector<double>>(fields_.size())};
    for (const int part : parts_around(step, cells, max_level)) {
      if ((mesh::number_of(step, part) == number) != own) continue;
      const mesh::LeafTable some = mesh::leaves_at(*leaves_of(step, part, max_level), step.header, cells);
      const auto offset = static_cast<std::uint32_t>(all.values[0].size());
      for (mesh::LeafTable::Leaf leaf : some.leaves) {
        leaf.place += offset;
        all.leaves.push_back(leaf);
      }
      for (std::size_t f = 0; f < all.values.size(); ++f)
        all.values[f].insert(all.values[f].end(), some.values[f].begin(), some.values[f].end());
    }
    return all;
  }

 private:
  using Table = std::shared_ptr<const mesh::LeafTable>;
  struct Kept {
    Table table;
    std::uint64_t used = 0;  ///< when, counted in requests
  };

  const mesh::Dataset& opened() {
    const std::scoped_lock lock(opening_);
    if (!step_) step_ = open_();
    return *step_;
  }

  static std::vector<int> parts_around(const mesh::Dataset& step, const std::vector<mesh::LevelCell>& cells,
                                       int max_level) {
    std::vector<int> parts;
    for (const mesh::Box& box : mesh::boxes_around(step.header, cells, most_boxes)) {
      const std::vector<int> some = mesh::parts_of(step, mesh::Region(box), max_level);
      parts.insert(parts.end(), some.begin(), some.end());
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
  }

  Table leaves_of(const mesh::Dataset& step, int part, int max_level) {
    const std::pair key(part, max_level);
    {
      const std::scoped_lock lock(keeping_);
      if (const auto found = kept_.find(key); found != kept_.end()) {
        found->second.used = ++requests_;
        return found->second.table;
      }
    }
    // Read without the lock: two threads may read the same part, and keep() takes the table that comes first.
    mesh::Request request;
    request.fields = fields_;
    request.max_level = max_level;
    auto table = std::make_shared<const mesh::LeafTable>(table_of(step.read(part, request), fields_, true));
    keep(key, table);
    return table;
  }

  /// Forgets those that were not used for the longest time, until it has room.
  void keep(const std::pair<int, int>& key, const Table& table) {
    const std::scoped_lock lock(keeping_);
    const std::uint64_t bytes = mesh::bytes_of(*table);
    if (bytes > room_ || kept_.count(key) != 0) return;
    while (bytes_ + bytes > room_) {
      const auto oldest = std::min_element(kept_.begin(), kept_.end(),
                                           [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
      bytes_ -= mesh::bytes_of(*oldest->second.table);
      kept_.erase(oldest);
    }
    kept_[key] = {table, ++requests_};
    bytes_ += bytes;
  }

 public:
  /// The leaves of a part that was read with the fields.
  static mesh::LeafTable table_of(const mesh::Part& part, const std::vector<std::string>& fields, bool leaves_alone) {
    std::vector<std::vector<double>> values;
    for (const std::string& name : fields)
      for (const mesh::Field& field : part.fields)
        if (field.info.name == name) values.push_back(mesh::to_doubles(field));
    mesh::LeafTable table = mesh::leaf_table(mesh::octree_of(part), std::move(values));
    return leaves_alone ? mesh::compact(table) : table;
  }

 private:
  std::function<mesh::Dataset()> open_;
  std::vector<std::string> fields_;
  std::mutex opening_, keeping_;
  std::optional<mesh::Dataset> step_;
  std::map<std::pair<int, int>, Kept> kept_;
  std::uint64_t requests_ = 0, bytes_ = 0, room_ = 0;
};

// ------------------------------------------------------------------------------------------------ reading

struct GradientJob {
  std::vector<Gradient> gradients;
  std::vector<std::string> of;  ///< their fields, each once
  mesh::Header header;
  std::function<mesh::Part(int, const mesh::Request&)> read;
  std::function<int(int)> number;
  std::shared_ptr<StepLeaves> step;
};

bool is_asked(const mesh::Request& request, const std::string& name) {
  return !request.fields || std::find(request.fields->begin(), request.fields->end(), name) != request.fields->end();
}

std::vector<Gradient> asked_gradients(const std::vector<Gradient>& gradients, const mesh::Request& request) {
  std::vector<Gradient> asked;
  for (const Gradient& gradient : gradients)
    if (is_asked(request, gradient.info.name)) asked.push_back(gradient);
  return asked;
}

/// The request of what the gradients follow from.
mesh::Request request_before(const mesh::Request& request, const std::vector<Gradient>& gradients) {
  if (!request.fields) return request;
  mesh::Request before = request;
  for (const Gradient& gradient : asked_gradients(gradients, request)) {
    std::erase(*before.fields, gradient.info.name);
    if (!is_asked(before, gradient.of)) before.fields->push_back(gradient.of);
    before.mesh = true;
  }
  return before;
}

void fill_refined(const mesh::Octree& tree, std::vector<mesh::Field>& fields) {
  const std::size_t block = mesh::block_size(tree);
  base::BitArray known(mesh::num_cells(tree) * block);
  std::size_t cell = 0;
  for (const base::BitArray& refined : tree.refined)
    for (std::size_t i = 0; i < refined.size(); ++i, ++cell)
      for (std::size_t k = 0; k < block && !refined[i]; ++k) known.set(cell * block + k);
  mesh::form_means(tree, mesh::num_levels(tree), fields, known);
}

std::vector<mesh::Field> as_fields(const std::vector<Gradient>& gradients,
                                   const std::vector<std::vector<double>>& values, std::size_t count) {
  std::vector<mesh::Field> fields;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    fields.push_back(mesh::make_field(gradients[i].info, count));
    std::copy_n(values[i].begin(), count, fields.back().as<double>().begin());
  }
  return fields;
}

std::vector<mesh::Field> gradients_on_tree(const GradientJob& job, const std::vector<Gradient>& gradients,
                                           const mesh::Part& part, int number, int max_level) {
  if (mesh::cell_shape(job.header) != mesh::CellShape::box)
    throw Error(Kind::unsupported, "slopes are of cells that are boxes; these coordinates are not Cartesian");
  const mesh::Octree& tree = mesh::octree_of(part);
  std::vector<mesh::SlopeOf> wanted;
  for (const Gradient& gradient : gradients) {
    const auto found = std::find(job.of.begin(), job.of.end(), gradient.of);
    wanted.push_back({static_cast<std::size_t>(found - job.of.begin()), gradient.axis});
  }
  const auto beside = [&](const std::vector<mesh::LevelCell>& cells, bool own) {
    return job.step->at(cells, number, own, max_level);
  };
  const auto values = mesh::slopes(StepLeaves::table_of(part, job.of, false), job.header, wanted, beside);
  auto fields = as_fields(gradients, values, mesh::num_cells(tree) * mesh::block_size(tree));
  fill_refined(tree, fields);
  return fields;
}

std::vector<mesh::Field> gradients_at_points(const std::vector<Gradient>& gradients, const mesh::Part& part) {
  const auto& mesh = std::get<mesh::Unstructured>(part.mesh);
  if (mesh.planes > 1)
    throw Error(Kind::unsupported, "slopes are not known on planes of triangles: these are not level");
  std::vector<std::vector<double>> values;
  for (const Gradient& gradient : gradients)
    for (const mesh::Field& field : part.fields)
      if (field.info.name == gradient.of) {
        const std::vector<double> of = mesh::to_doubles(field);
        if (field.info.centring == mesh::Centring::cell || of.size() != mesh.x.size())
          throw Error(Kind::unsupported, "slopes are of values at points, not in cells").at("field " + gradient.of);
        values.push_back(mesh::point_slopes(mesh, of, gradient.axis));
      }
  return as_fields(gradients, values, mesh.x.size());
}

mesh::Part read_with_gradients(const GradientJob& job, int index, const mesh::Request& request) {
  const std::vector<Gradient> asked = asked_gradients(job.gradients, request);
  if (asked.empty()) return job.read(index, request);
  mesh::Request all = request_before(request, job.gradients);
  for (const std::string& name : job.of)  // others read them together, too
    if (!is_asked(all, name)) all.fields->push_back(name);
  mesh::Part part = job.read(index, all);
  if (std::holds_alternative<mesh::Solids>(part.mesh))
    throw Error(Kind::unsupported, "slopes are of cells and triangles, not of solids");
  std::vector<mesh::Field> made = std::holds_alternative<mesh::Unstructured>(part.mesh)
                                      ? gradients_at_points(asked, part)
                                      : gradients_on_tree(job, asked, part, job.number(index), request.max_level);
  std::erase_if(part.fields, [&](const mesh::Field& field) { return !is_asked(request, field.info.name); });
  std::move(made.begin(), made.end(), std::back_inserter(part.fields));
  return part;
}

}  // namespace

mesh::Term without_gradients(const mesh::Term& formula, const GradientWords& words) {
  return GradientTerms(words).number(formula);
}

mesh::Dataset with_gradients(mesh::Dataset dataset, std::function<mesh::Dataset()> step,
                             std::vector<Gradient> gradients) {
  GradientJob job;
  for (const Gradient& gradient : gradients)
    if (std::find(job.of.begin(), job.of.end(), gradient.of) == job.of.end()) job.of.push_back(gradient.of);
  job.gradients = std::move(gradients);
  job.header = dataset.header;
  job.read = dataset.read;
  job.number = [numbers = dataset.numbers](int part) {
    return numbers.empty() ? part : numbers.at(static_cast<std::size_t>(part));
  };
  job.step = std::make_shared<StepLeaves>(std::move(step), job.of);
  for (const Gradient& gradient : job.gradients) dataset.header.fields.push_back(gradient.info);
  dataset.read = [job](int index, const mesh::Request& request) { return read_with_gradients(job, index, request); };
  if (dataset.cost)
    dataset.cost = [cost = dataset.cost, gradients = job.gradients](int index, const mesh::Request& request) {
      return cost(index, request_before(request, gradients));
    };
  return dataset;
}

}  // namespace octavo::step
