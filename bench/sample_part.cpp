#include "bench/sample_part.hpp"

#include <array>
#include <cmath>
#include <cstring>
#include <fstream>

#include "octavo/base/error.hpp"

namespace octavo::bench {

namespace {

using base::Error;
using base::Kind;

template <class T>
std::vector<T> take(std::ifstream& in, std::size_t count, const std::string& path) {
  std::vector<T> values(count);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(count * sizeof(T)));
  if (!in) throw Error(Kind::corrupt, "file ends early").at(path);
  return values;
}

base::BitArray to_bits(const std::vector<char>& bytes) {
  base::BitArray bits(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) bits.set(i, bytes[i] != 0);
  return bits;
}

void find_parents(Part& part) {
  part.parents.assign(1, {});
  for (std::size_t l = 1; l < part.refined.size(); ++l)
    part.parents.push_back(base::set_positions(part.refined[l - 1]));
}

Part read_part(std::ifstream& in, const std::string& path) {
  const auto head = take<std::int64_t>(in, 3, path);
  if (head[0] < 1 || head[0] > 64 || head[1] < 0 || head[1] > 1000) throw Error(Kind::corrupt, "not a part").at(path);
  Part part;
  part.family = static_cast<std::size_t>(head[2]);
  const auto counts = take<std::int64_t>(in, static_cast<std::size_t>(head[0]), path);
  for (std::int64_t count : counts) {
    part.refined.push_back(to_bits(take<char>(in, static_cast<std::size_t>(count), path)));
    part.owned.push_back(to_bits(take<char>(in, static_cast<std::size_t>(count), path)));
  }
  for (std::int64_t f = 0; f < head[1]; ++f) {
    auto name = take<char>(in, 32, path);
    name.push_back('\0');
    FieldValues field{name.data(), {}};
    for (std::int64_t count : counts) field.levels.push_back(take<double>(in, static_cast<std::size_t>(count), path));
    part.fields.push_back(std::move(field));
  }
  find_parents(part);
  return part;
}

// ------------------------------------------------------------------------------------------------ turbulence

/// A number in [-1, 1) for a lattice point: the bits of a hash.
double lattice(std::int64_t x, std::int64_t y, std::int64_t z, std::uint64_t seed) {
  std::uint64_t h = seed ^ (static_cast<std::uint64_t>(x) * 0x9e3779b97f4a7c15ULL);
  h = (h ^ (h >> 31)) * 0xbf58476d1ce4e5b9ULL ^ (static_cast<std::uint64_t>(y) * 0x94d049bb133111ebULL);
  h = (h ^ (h >> 29)) * 0xbf58476d1ce4e5b9ULL ^ (static_cast<std::uint64_t>(z) * 0xd6e8feb86659fd93ULL);
  h = (h ^ (h >> 32)) * 0x94d049bb133111ebULL;
  return static_cast<double>(static_cast<std::int64_t>(h ^ (h >> 30))) * 0x1p-63;
}

/// Lattice numbers, smoothly joined.
double smooth_noise(const std::array<double, 3>& x, std::uint64_t seed) {
  std::array<std::int64_t, 3> cell;
  std::array<double, 3> t;
  for (std::size_t a = 0; a < 3; ++a) {
    const double below = std::floor(x[a]);
    cell[a] = static_cast<std::int64_t>(below);
    const double f = x[a] - below;
    t[a] = f * f * f * (f * (f * 6 - 15) + 10);
  }
  double sum = 0;
  for (int c = 0; c < 8; ++c) {
    const int i = c & 1, j = (c >> 1) & 1, k = c >> 2;
    const double weight = (i ? t[0] : 1 - t[0]) * (j ? t[1] : 1 - t[1]) * (k ? t[2] : 1 - t[2]);
    sum += weight * lattice(cell[0] + i, cell[1] + j, cell[2] + k, seed);
  }
  return sum;
}

/// Octaves of noise with amplitude k^-1/3: k^-11/3 in power per wave vector.
double spectrum(const std::array<double, 3>& x, int octaves, std::uint64_t seed) {
  double sum = 0, amplitude = 1, frequency = 3;
  for (int o = 0; o < octaves; ++o) {
    sum += amplitude * smooth_noise({x[0] * frequency + 0.37 * o, x[1] * frequency, x[2] * frequency - 0.71 * o},
                                    seed + static_cast<std::uint64_t>(o) * 7919);
    amplitude *= 0.7937005259840998;
    frequency *= 2;
  }
  return sum;
}

constexpr std::size_t num_fields = 5;
using State = std::array<double, num_fields>;

State state_at(const std::array<double, 3>& x, int octaves, std::uint64_t seed) {
  State s;
  s[0] = std::exp(1.2 * spectrum(x, octaves, seed));
  for (std::size_t a = 0; a < 3; ++a) s[1 + a] = 2.0 * spectrum(x, octaves, seed + 1000 * (a + 1));
  s[4] = std::pow(s[0], 5.0 / 3.0) * std::exp(0.3 * spectrum(x, octaves, seed + 5000));
  return s;
}

struct Cell {
  std::array<std::int32_t, 3> at;
};

}  // namespace

std::vector<Part> read_parts(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(Kind::unreadable, "cannot open the file").at(path);
  std::vector<Part> parts;
  for (char magic[8]; in.read(magic, 8);) {
    if (std::memcmp(magic, "PARTS001", 8) != 0) throw Error(Kind::corrupt, "expected PARTS001").at(path);
    parts.push_back(read_part(in, path));
  }
  if (parts.empty()) throw Error(Kind::corrupt, "no parts").at(path);
  return parts;
}

void write_parts(const std::string& path, const std::vector<Part>& parts) {
  std::ofstream out(path, std::ios::binary);
  const auto put = [&](const void* bytes, std::size_t size) {
    out.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  };
  const auto put_number = [&](std::size_t n) {
    const auto value = static_cast<std::int64_t>(n);
    put(&value, sizeof value);
  };
  for (const Part& part : parts) {
    put("PARTS001", 8);
    for (std::size_t n : {part.refined.size(), part.fields.size(), part.family}) put_number(n);
    for (const auto& level : part.refined) put_number(level.size());
    for (std::size_t l = 0; l < part.refined.size(); ++l)
      for (const auto* bits : {&part.refined[l], &part.owned[l]})
        for (std::size_t i = 0; i < bits->size(); ++i) put((*bits)[i] ? "\1" : "\0", 1);
    for (const FieldValues& field : part.fields) {
      std::string name = field.name;
      name.resize(32);
      put(name.data(), 32);
      for (const auto& level : field.levels) put(level.data(), 8 * level.size());
    }
  }
  if (!out.flush()) throw Error(Kind::unreadable, "cannot write the file").at(path);
}

Part turbulent_part(int lowest, int deepest, std::uint64_t seed) {
  Part part;
  std::vector<std::vector<Cell>> cells(1);
  std::vector<std::vector<State>> states;
  for (int c = 0; c < 8; ++c) cells[0].push_back({{c & 1, (c >> 1) & 1, c >> 2}});
  for (int level = 1; level <= deepest; ++level) {
    const auto& here = cells.back();
    base::BitArray refined(here.size());
    std::vector<State> values(here.size());
    std::vector<Cell> below;
    const double size = std::ldexp(1.0, -level);
    for (std::size_t i = 0; i < here.size(); ++i) {
      std::array<double, 3> x;
      for (std::size_t a = 0; a < 3; ++a) x[a] = (here[i].at[a] + 0.5) * size;
      values[i] = level >= lowest ? state_at(x, deepest - 2, seed) : State{};
      if (level == deepest || (level >= lowest && values[i][0] < 3.0)) continue;
      refined.set(i);
      for (int c = 0; c < 8; ++c)
        below.push_back(
            {{2 * here[i].at[0] + (c & 1), 2 * here[i].at[1] + ((c >> 1) & 1), 2 * here[i].at[2] + (c >> 2)}});
    }
    part.owned.emplace_back(refined.size(), true);
    part.refined.push_back(std::move(refined));
    states.push_back(std::move(values));
    if (below.empty()) break;
    cells.push_back(std::move(below));
  }
  find_parents(part);
  for (std::size_t l = states.size() - 1; l > 0; --l)
    for (std::size_t k = 0; k < part.parents[l].size(); ++k) {
      State mean{};
      for (std::size_t c = 0; c < 8; ++c) {
        const State& s = states[l][8 * k + c];
        mean[0] += s[0];
        for (std::size_t a = 1; a < 4; ++a) mean[a] += s[0] * s[a];
        mean[4] += s[4];
      }
      for (std::size_t a = 1; a < 4; ++a) mean[a] /= mean[0];
      mean[0] /= 8;
      mean[4] /= 8;
      states[l - 1][part.parents[l][k]] = mean;
    }
  const char* const names[num_fields] = {"density", "velocity_x", "velocity_y", "velocity_z", "pressure"};
  for (std::size_t f = 0; f < num_fields; ++f) {
    FieldValues field{names[f], {}};
    for (const auto& level : states) {
      field.levels.emplace_back();
      for (const State& s : level) field.levels.back().push_back(s[f]);
    }
    part.fields.push_back(std::move(field));
  }
  return part;
}

}  // namespace octavo::bench
