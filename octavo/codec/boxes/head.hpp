#pragma once
#include "octavo/codec/boxes/places.hpp"
#include "octavo/codec/entropy.hpp"
#include "octavo/codec/lattice.hpp"

/// Inside the codec room: the numbers that a payload of boxes begins with, and the stages that share a coded block
/// (docs/codecs.md, "Boxes").
namespace octavo::codec {

struct BoxHead {
  Bound bound;
  Lattice lattice;  ///< its phases move the decoded values
  bool signs = false;
  bool logarithms = false;  ///< are interpolated instead of values
  unsigned strides = 0;
  std::vector<std::int8_t> weight;  ///< in 1/64, by stride and number of axes
  Alphabet alphabet() const { return signs ? Alphabet::signed_numbers : Alphabet::numbers; }
  /// The place of a stage's weight; of a stage with axes.
  std::size_t place_of_weight(const Stage& stage) const;
  double weight_of(const Stage& stage) const;
};

constexpr unsigned weights_a_stride = 3;

void put_box_head(Bytes& out, const BoxHead& head, Scalar scalar);
BoxHead get_box_head(ChunkReader& in, Scalar scalar);

/// Stages that share a coded block, and how many values they have.
struct StageGroup {
  std::vector<Stage> stages;
  std::size_t values = 0;
};
/// Groups of consecutive stages, each with 2048 values or more; the last may have fewer.
std::vector<StageGroup> groups_of(const BoxGrid& grid, unsigned strides);

}  // namespace octavo::codec
