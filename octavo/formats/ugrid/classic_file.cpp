#include "octavo/formats/ugrid/classic_file.hpp"

#include <algorithm>
#include <bit>

#include "octavo/base/byte_order.hpp"

namespace octavo::formats::ugrid {
namespace {

std::uint64_t bytes_of(ClassicType type) { return type == ClassicType::float64 ? 8 : 4; }

bool has_records(const ClassicContents& contents, const NewVariable& variable) {
  return !variable.dimensions.empty() && contents.dimensions[variable.dimensions[0]].second == 0;
}

/// Bytes of a record, or of all.
std::uint64_t bytes_of(const ClassicContents& contents, const NewVariable& variable) {
  std::uint64_t bytes = bytes_of(variable.type);
  for (const std::uint32_t d : variable.dimensions) bytes *= std::max<std::uint64_t>(contents.dimensions[d].second, 1);
  return bytes;
}

/// Big-endian words, one after another; counts and names as both versions have them.
class BigEndianWords {
 public:
  explicit BigEndianWords(bool wide) : wide_(wide) {}
  template <class T>
  void add(T value) {
    bytes_.resize(bytes_.size() + sizeof(T));
    base::store(bytes_.data() + bytes_.size() - sizeof(T), value, std::endian::big);
  }
  void count(std::uint64_t value) {
    if (wide_)
      add(value);
    else
      add(static_cast<std::uint32_t>(std::min<std::uint64_t>(value, 0xFFFFFFFF)));
  }
  void name(const std::string& text) {
    count(text.size());
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
  }
  /// The head of a list, which is two zeros where it is empty.
  void list(std::uint32_t tag, std::size_t size) {
    add(size == 0 ? std::uint32_t{0} : tag);
    count(size);
  }
  void text(const std::string& name_of, const std::string& value) {
    name(name_of);
    add(std::uint32_t{2});
    name(value);
  }
  void numbers(const std::string& name_of, ClassicType type, std::span<const double> values) {
    name(name_of);
    add(static_cast<std::uint32_t>(type));
    count(values.size());
    for (const double value : values) switch (type) {
        case ClassicType::int32: add(static_cast<std::int32_t>(value)); break;
        case ClassicType::float32: add(static_cast<float>(value)); break;
        case ClassicType::float64: add(value); break;
      }
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  bool wide_;
  std::vector<std::byte> bytes_;
};

void add_variable(const ClassicContents& contents, const NewVariable& variable, std::uint64_t begin,
                  BigEndianWords& words) {
  words.name(variable.name);
  words.count(variable.dimensions.size());
  for (const std::uint32_t d : variable.dimensions) words.count(d);
  words.list(12, variable.attributes.size());
  for (const auto& [name, value] : variable.attributes) {
    if (const auto* text = std::get_if<std::string>(&value))
      words.text(name, *text);
    else
      words.numbers(name, variable.type, std::get<std::vector<double>>(value));
  }
  words.add(static_cast<std::uint32_t>(variable.type));
  words.count(bytes_of(contents, variable));
  words.add(begin);
}

template <class T>
void put_as(const file::File& file, std::uint64_t at, std::span<const double> values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i)
    base::store(&bytes[i * sizeof(T)], static_cast<T>(values[i]), std::endian::big);
  file::pwrite_all(file, at, bytes);
}

}  // namespace

std::vector<std::byte> ClassicFile::header() const {
  BigEndianWords words(wide_);
  for (const char c : {'C', 'D', 'F'}) words.add(c);
  words.add(wide_ ? char{5} : char{2});
  words.count(contents_.records);
  words.list(10, contents_.dimensions.size());
  for (const auto& [name, length] : contents_.dimensions) {
    words.name(name);
    words.count(length);
  }
  words.list(12, contents_.attributes.size());
  for (const auto& [name, text] : contents_.attributes) words.text(name, text);
  words.list(11, contents_.variables.size());
  for (std::size_t v = 0; v < contents_.variables.size(); ++v)
    add_variable(contents_, contents_.variables[v], begins_[v], words);
  return words.take();
}

ClassicFile::ClassicFile(const std::filesystem::path& path, ClassicContents contents)
    : contents_(std::move(contents)), file_(file::open_write(path)), begins_(contents_.variables.size(), 0) {
  constexpr std::uint64_t most = std::uint64_t{1} << 31;
  for (const NewVariable& variable : contents_.variables) wide_ = wide_ || bytes_of(contents_, variable) >= most;
  std::uint64_t at = header().size();
  for (const bool records : {false, true})
    for (std::size_t v = 0; v < begins_.size(); ++v) {
      const NewVariable& variable = contents_.variables[v];
      if (has_records(contents_, variable) != records) continue;
      begins_[v] = at;
      at += bytes_of(contents_, variable);
      if (records) record_bytes_ += bytes_of(contents_, variable);
    }
  file::resize(file_, 0);
  file::pwrite_all(file_, 0, header());
}

void ClassicFile::put(std::size_t v, std::uint64_t record, std::uint64_t first, std::span<const double> values) {
  const NewVariable& variable = contents_.variables.at(v);
  constexpr std::size_t block = 65536;
  for (std::size_t done = 0; done < values.size(); done += block) {
    const auto some = values.subspan(done, std::min(block, values.size() - done));
    const std::uint64_t at = begins_[v] + (has_records(contents_, variable) ? record * record_bytes_ : 0) +
                             (first + done) * bytes_of(variable.type);
    switch (variable.type) {
      case ClassicType::int32: put_as<std::int32_t>(file_, at, some); break;
      case ClassicType::float32: put_as<float>(file_, at, some); break;
      case ClassicType::float64: put_as<double>(file_, at, some); break;
    }
  }
}

void ClassicFile::close() { file_.close(); }

}  // namespace octavo::formats::ugrid
