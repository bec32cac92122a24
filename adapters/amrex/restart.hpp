#pragma once
/// Restarts.
#include <cstring>
#include <optional>
#include <sstream>

#include "write.hpp"

namespace octavo::amrex {

/// The state of a checkpoint, or of an output of another code that Octavo reads. It holds this rank's share of all
/// values until it is destroyed.
class Restart {
 public:
  /// The newest step, or the one of this number.
  explicit Restart(const std::string& name, std::optional<std::int64_t> step = {}) {
    engine::RestartOptions options;
    options.step = step;
    options.as = engine::MeshKind::patches;
    options.opaque = true;
    options.opaque_dealt = within::file_prefix;
    found_ = engine::restart(within::comm(), name, options);
    if (!found_) return;
    within::started_from()[name] = found_->id;
    learn_shares();
    learn_boxes();
  }
  explicit operator bool() const { return found_.has_value(); }  ///< false on a first start: no checkpoint exists yet
  int FinestLevel() const { return static_cast<int>(levels_.size()) - 1; }
  double Time() const { return found_->header.time; }
  std::vector<std::int64_t> Steps() const { return list<std::int64_t>("level_steps"); }
  std::vector<double> TimeSteps() const { return list<double>("level_dt"); }
  const std::vector<std::string>& Notes() const { return found_->notes; }
  /// As they were written, in their order.
  const ax::BoxArray& Boxes(int level) const { return levels_.at(level).boxes; }
  /// As it was written, on as many ranks; else a new one.
  const ax::DistributionMapping& Mapping(int level) const { return levels_.at(level).ranks; }

  /// The text of the Header that codes on AmrCore write and read. On all ranks.
  std::string HeaderText(const std::string& title) const {
    std::ostringstream text;
    text.precision(17);
    text << title << '\n' << FinestLevel() << '\n';
    for (const auto n : Steps()) text << n << ' ';
    text << '\n';
    for (const double dt : TimeSteps()) text << dt << ' ';
    text << '\n';
    for (std::size_t i = 0; i < TimeSteps().size(); ++i) text << Time() << ' ';
    text << '\n';
    for (const within::Level& level : levels_) {
      level.boxes.writeOn(text);
      text << '\n';
    }
    return text.str();
  }

  /// The bytes that ranks put under names with this prefix, by the rest of the name, rank after rank. Each rank gets
  /// its own, or those of all if there are others now; files of a checkpoint are on one rank each.
  std::map<std::string, std::string> Bytes(const std::string& prefix) const {
    std::map<std::string, std::string> all;
    for (const auto& [rank, by_name] : found_->opaque)
      for (const auto& [name, bytes] : by_name)
        if (name.starts_with(prefix))
          all[name.substr(prefix.size())].append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    return all;
  }

  /// Fills a MultiFab of any boxes and ranks, but not its ghosts. Throws if the checkpoint lacks some of its cells.
  void Fill(const std::string& name, int level, ax::MultiFab& mf) { Fill(Fields(name, {&mf}).names, level, mf); }
  void Fill(const Names& names, int level, ax::MultiFab& mf) {
    const ax::BoxArray cells = ax::convert(mf.boxArray(), ax::IndexType());
    if (level > FinestLevel() || !shares_.at(level).boxes.contains(cells))
      throw Error(Kind::usage, "the checkpoint lacks cells of the boxes to be filled")
          .at("field " + names.at(0) + ", level " + std::to_string(level));
    for (int c = 0; c < mf.nComp(); ++c)
      within::for_each_side(mf.ixType(), names.at(c),
                            [&](const std::string& name, mesh::Centring, const ax::IntVect& side) {
                              const ax::MultiFab share = share_of(name, level);
                              if (mf.is_cell_centered()) return mf.ParallelCopy(share, 0, c, 1);
                              ax::MultiFab one(cells, mf.DistributionMap(), 1, 0);
                              one.ParallelCopy(share, 0, 0, 1);
                              for (ax::MFIter mfi(one); mfi.isValid(); ++mfi) {
                                const auto from = one.const_array(mfi);
                                const auto to = mf.array(mfi, c);
                                ax::LoopOnCpu(mfi.validbox(), [&](int i, int j, int k) {
                                  const auto at = ax::IntVect(AMREX_D_DECL(i, j, k)) + side;
                                  to(at) = from(i, j, k);
                                });
                              }
                            });
  }
  /// Fills an empty container that knows its levels, and gives each particle to the rank that has its box.
  template <class Container>
  void Fill(const std::string& species, Container& container) {
    const auto& all = found_->part.particles;
    const auto mine =
        std::find_if(all.begin(), all.end(), [&](const mesh::Particles& one) { return one.species == species; });
    ranks::agree(within::comm(), [&] {
      if (mine == all.end()) throw Error(Kind::usage, "the checkpoint has no species of this name").at(species);
      within::add(*mine, container);
    });
    container.Redistribute();
    const auto next = found_->header.attributes.find("amrex/next_id/" + species);
    if (next != found_->header.attributes.end()) Container::ParticleType::NextID(std::get<std::int64_t>(next->second));
  }

 private:
  template <class T>
  std::vector<T> list(const std::string& name) const {
    const auto found = found_->header.attributes.find(name);
    const auto* values =
        found == found_->header.attributes.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
    return values == nullptr ? std::vector<T>{} : *values;
  }

  /// The boxes in which the ranks have their shares, and where the values of this rank's begin.
  void learn_shares() {
    const auto& patches = std::get<mesh::Patches>(found_->part.mesh);
    std::vector<within::Numbered> mine;
    std::size_t first = 0;
    first_.resize(patches.boxes.size());
    for (std::size_t level = 0; level < patches.boxes.size(); ++level)
      for (const mesh::IndexBox& box : patches.boxes[level]) {
        // Boxes of a level are numbered rank after rank.
        mine.push_back({static_cast<std::int64_t>(level), 0, ax::ParallelContext::MyProcSub(), within::box_of(box)});
        first_[level].push_back(first);
        first += static_cast<std::size_t>(mine.back().cells.numPts());
      }
    shares_ = within::levels_of(within::gathered(mine), false);
  }

  /// The boxes that were written. An output of a code does not tell: then those of the shares are taken.
  void learn_boxes() {
    const int ranks = ax::ParallelContext::NProcsSub(), rank = ax::ParallelContext::MyProcSub();
    std::vector<within::Numbered> mine;
    for (const auto& [part, bytes] : found_->opaque)  // on other ranks than before, each has the bytes of all
      if (const auto own = bytes.find(within::own_boxes); part % ranks == rank && own != bytes.end()) {
        const std::size_t before = mine.size();
        mine.resize(before + own->second.size() / sizeof(within::Numbered));
        std::memcpy(mine.data() + before, own->second.data(), (mine.size() - before) * sizeof(within::Numbered));
      }
    const std::vector<within::Numbered> all = within::gathered(mine);
    const auto writers = found_->header.attributes.find("amrex/ranks");
    const bool same_ranks =
        writers != found_->header.attributes.end() && writers->second == mesh::Attribute(std::int64_t{ranks});
    levels_ = all.empty() ? shares_ : within::levels_of(all, !same_ranks);
  }

  /// A field on this rank's share of a level, in the share's own memory.
  ax::MultiFab share_of(const std::string& name, int level) {
    auto& fields = found_->part.fields;
    const auto field =
        std::find_if(fields.begin(), fields.end(), [&](const mesh::Field& one) { return one.info.name == name; });
    ranks::agree(within::comm(), [&] {
      if (field == fields.end()) throw Error(Kind::usage, "the checkpoint has no field of this name").at(name);
      if constexpr (sizeof(ax::Real) == 8) mesh::widen(*field);  // the store may hold it in single precision
      static_cast<void>(field->as<ax::Real>());
    });
    ax::MultiFab share(shares_[level].boxes, shares_[level].ranks, 1, 0, ax::MFInfo().SetAlloc(false));
    for (ax::MFIter mfi(share); mfi.isValid(); ++mfi)
      share.setFab(mfi,
                   ax::FArrayBox(mfi.validbox(), 1, field->as<ax::Real>().data() + first_[level][mfi.LocalIndex()]));
    return share;
  }

  std::optional<engine::Restart> found_;
  std::vector<std::vector<std::size_t>> first_;
  std::vector<within::Level> shares_, levels_;
};

}  // namespace octavo::amrex
