#include "octavo/codec/boxes/head.hpp"

namespace octavo::codec {

namespace {

constexpr unsigned has_signs = 4, has_logarithms = 8;
constexpr std::size_t least_group = 2048;

}  // namespace

std::size_t BoxHead::place_of_weight(const Stage& stage) const {
  const auto stride = static_cast<unsigned>(bit_length(static_cast<std::uint64_t>(stage.stride)));  // 1 for 1
  return (strides - stride) * weights_a_stride + stage.num_axes() - 1;
}

double BoxHead::weight_of(const Stage& stage) const {
  return stage.axes == 0 ? 0.0 : weight[place_of_weight(stage)] * 0.015625;
}

void put_box_head(Bytes& out, const BoxHead& head, Scalar scalar) {
  put_byte(out, static_cast<std::size_t>(head.bound.kind) | (head.signs ? has_signs : 0u) |
                    (head.logarithms ? has_logarithms : 0u));
  if (head.bound.kind != BoundKind::lossless) {
    put_bound(out, head.bound.value);
    put_lattice(out, head.lattice, scalar);
  }
  put_byte(out, head.strides);
  for (const std::int8_t weight : head.weight) put_byte(out, static_cast<std::uint8_t>(weight));
}

BoxHead get_box_head(ChunkReader& in, Scalar scalar) {
  BoxHead head;
  const unsigned flags = in.byte();
  head.bound.kind = static_cast<BoundKind>(flags & 3);
  const bool pointwise = head.bound.kind == BoundKind::pointwise_relative;
  if ((flags & 3) > 2 || (flags > 3 && !pointwise) || flags > 15) in.fail("unknown kind of boxes");
  head.signs = (flags & has_signs) != 0;
  head.logarithms = (flags & has_logarithms) != 0;
  if (head.bound.kind != BoundKind::lossless) {
    head.bound.value = get_bound(in);
    if (!(head.bound.value >= (pointwise ? 0x1p-39 : 0x1p-1000)) || !(head.bound.value <= 0x1p1000))
      in.fail("a bound out of range");
    head.lattice = get_lattice(in, scalar);
    if (head.lattice.common) in.fail("boxes have no common value");
  }
  head.strides = in.byte();
  if (head.strides > most_strides) in.fail("expected at most 31 strides, found " + std::to_string(head.strides));
  for (unsigned w = 0; w < head.strides * weights_a_stride; ++w)
    head.weight.push_back(static_cast<std::int8_t>(in.byte()));
  return head;
}

std::vector<StageGroup> groups_of(const BoxGrid& grid, unsigned strides) {
  std::vector<StageGroup> groups(1);
  for (const Stage& stage : stages_of(strides)) {
    if (groups.back().values >= least_group) groups.emplace_back();
    groups.back().stages.push_back(stage);
    groups.back().values += grid.values_of(stage);
  }
  if (groups.back().values == 0) groups.pop_back();
  return groups;
}

}  // namespace octavo::codec
