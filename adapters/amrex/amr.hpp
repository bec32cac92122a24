#pragma once
/// Codes on Amr and AmrLevel: octavo::amrex::Amr takes the place of amrex::Amr.
#include <AMReX_Amr.H>
#include <AMReX_AmrLevel.H>
#include <AMReX_ParmParse.H>
#include <AMReX_VisMF.H>
#ifdef AMREX_USE_EB
#include <AMReX_EB2.H>
#include <AMReX_EBFabFactory.H>
#endif

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <random>
#include <set>
#include <utility>

#include "restart.hpp"

namespace octavo::amrex {
namespace within {

/// The values that a checkpoint has of a state: its newest, or those before.
struct StateFields {
  int type = 0;
  bool old = false;
  Names names;
  std::string multifab() const { return "SD_" + std::to_string(type) + (old ? "_Old_MF" : "_New_MF"); }
};

/// Those that the Header of a checkpoint asks for. Names are those of the components; one that occurs again gets the
/// number of its state.
inline std::vector<StateFields> state_fields(const std::string& header) {
  std::vector<StateFields> all;
  std::set<std::string> used;
  const ax::DescriptorList& states = ax::AmrLevel::get_desc_lst();
  for (int type = 0; type < states.size(); ++type)
    for (const bool old : {false, true}) {
      StateFields fields{type, old, {}};
      if (header.find("/" + fields.multifab() + "\n") == std::string::npos) continue;
      for (int c = 0; c < states[type].nComp(); ++c) {
        std::string name = (old ? "old_" : "") + states[type].name(c);
        if (!used.insert(name).second) used.insert(name += "_" + std::to_string(type));
        fields.names.push_back(name);
      }
      all.push_back(std::move(fields));
    }
  return all;
}

/// While this lives, each state holds one cell: AMReX and the code then write their texts, and next to no values.
class WithoutValues {
 public:
  explicit WithoutValues(ax::Amr& amr) {
    for (int level = 0; level <= amr.finestLevel(); ++level)
      for (int type = 0; type < ax::AmrLevel::get_desc_lst().size(); ++type) {
        ax::StateData& state = amr.getLevel(level).get_state_data(type);
        if (!state.descriptor()->store_in_checkpoint()) continue;
        take(state.newData());
        if (state.hasOldData()) take(state.oldData());
      }
  }
  ~WithoutValues() {
    for (auto& [place, values] : kept_) *place = std::move(values);
  }
  WithoutValues(const WithoutValues&) = delete;
  WithoutValues& operator=(const WithoutValues&) = delete;

 private:
  void take(ax::MultiFab& mf) {
    const ax::Box one(ax::IntVect(0), ax::IntVect(0), mf.ixType());
    kept_.emplace_back(&mf, std::move(mf));
    mf = ax::MultiFab(ax::BoxArray(one),
                      ax::DistributionMapping(ax::Vector<int>{ax::ParallelDescriptor::IOProcessorNumber()}), 1, 0);
    mf.setVal(0);
  }
  std::vector<std::pair<ax::MultiFab*, ax::MultiFab>> kept_;
};

/// Calls f(fab, its number, a box) with the boxes of ghosts around each box of this rank.
template <class F>
void for_each_ghost_box(ax::MultiFab& mf, F&& f) {
  for (ax::MFIter mfi(mf); mfi.isValid(); ++mfi)
    for (const ax::Box& ghosts : ax::boxDiff(mf[mfi].box(), mfi.validbox())) f(mf[mfi], mfi.index(), ghosts);
}
/// For each box of ghosts: the number of the box, the count of the values, the values.
inline std::string ghosts_of(ax::MultiFab& mf) {
  std::string bytes;
  const auto append = [&](const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); };
  for_each_ghost_box(mf, [&](ax::FArrayBox& fab, int number, const ax::Box& ghosts) {
    std::vector<ax::Real> values(static_cast<std::size_t>(ghosts.numPts()) * fab.nComp());
    fab.copyToMem(ghosts, 0, fab.nComp(), values.data());
    const std::array<std::int64_t, 2> head{number, static_cast<std::int64_t>(values.size())};
    append(head.data(), sizeof head);
    append(values.data(), values.size() * sizeof(ax::Real));
  });
  return bytes;
}
/// `bytes`: of all boxes of the MultiFab that this rank has, and maybe of others.
inline void set_ghosts(ax::MultiFab& mf, std::string_view bytes) {
  std::map<std::int64_t, std::string_view> by_box;
  for (std::string_view rest = bytes; !rest.empty();) {
    std::array<std::int64_t, 2> head{};
    if (rest.size() < sizeof head) throw Error(Kind::corrupt, "ghosts end early");
    std::memcpy(head.data(), rest.data(), sizeof head);
    const std::size_t size = sizeof head + static_cast<std::size_t>(head[1]) * sizeof(ax::Real);
    if (size > rest.size()) throw Error(Kind::corrupt, "ghosts end early");
    auto& of_box = by_box[head[0]];  // boxes of ghosts around one box follow each other
    of_box = of_box.empty() ? rest.substr(0, size) : std::string_view(of_box.data(), of_box.size() + size);
    rest.remove_prefix(size);
  }
  for_each_ghost_box(mf, [&](ax::FArrayBox& fab, int number, const ax::Box& ghosts) {
    std::string_view& left = by_box[number];
    std::vector<ax::Real> values(static_cast<std::size_t>(ghosts.numPts()) * fab.nComp());
    const std::size_t head = 2 * sizeof(std::int64_t), size = values.size() * sizeof(ax::Real);
    if (left.size() < head + size) throw Error(Kind::corrupt, "a box without its ghosts");
    std::memcpy(values.data(), left.data() + head, size);
    fab.copyFromMem(ghosts, 0, fab.nComp(), values.data());
    left.remove_prefix(head + size);
  });
}

inline std::string place_of(const StateFields& fields, int level) {
  return "Level_" + std::to_string(level) + "/" + fields.multifab();
}

/// The files of a checkpoint but those of states, by their names in it.
inline std::vector<std::string> files_in(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool of_state = name.starts_with("SD_") && name.find("_MF_") != std::string::npos;
    if (entry.is_regular_file() && !of_state) files.push_back(std::filesystem::relative(entry.path(), folder).string());
  }
  return files;
}
/// Particles of a rank stand in a file that ends in the rank's number (AMReX has 256 such files at most); this rank
/// keeps it. Rank 0 keeps all others.
inline int keeper_of(const std::string& file) {
  const std::size_t digits = file.find_last_not_of("0123456789") + 1;
  if (digits == 0 || digits == file.size() || file[digits - 1] != '_') return 0;
  return static_cast<int>(std::stol(file.substr(digits)) % ax::ParallelContext::NProcsSub());
}

/// Collective. The contents of those files that this rank keeps.
using Texts = std::map<std::string, std::string>;
inline Texts read_texts(const std::filesystem::path& folder) {
  std::vector<std::string> files;
  if (ax::ParallelDescriptor::IOProcessor()) files = files_in(folder);
  files = base::unpacked<std::vector<std::string>>(ranks::from_first(comm(), base::packed(files)));
  Texts texts;
  ranks::agree(comm(), [&] {
    for (const std::string& name : files) {
      if (keeper_of(name) != ax::ParallelContext::MyProcSub()) continue;
      const std::filesystem::path path = folder / name;
      std::string& text = texts[file_prefix + name];
      text.resize(std::filesystem::file_size(path));
      if (!std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size())))
        throw Error(Kind::unreadable, "cannot be read").at(path);
    }
  });
  return texts;
}

/// Collective. A folder for AMReX's own files on their way, which all ranks see: beside the store, or below
/// `octavo.scratch`. No other run or call gets its name.
inline std::string scratch_of(const std::string& store) {
  std::string folder;
  ax::ParmParse("octavo").query("scratch", folder);
  const std::filesystem::path path(store);
  std::random_device random;
  const std::string own = ranks::from_first(comm(), std::to_string(random()) + std::to_string(random()));
  return ((folder.empty() ? path.parent_path() : std::filesystem::path(folder)) /
          (path.stem().string() + "." + own + ".amrex"))
      .string();
}
inline void remove(const std::string& folder) {
  ax::ParallelDescriptor::Barrier();
  std::error_code ignored;
  if (ax::ParallelDescriptor::IOProcessor()) std::filesystem::remove_all(folder, ignored);
  ax::ParallelDescriptor::Barrier();
}
/// The same when all ranks are done with the folder, behind the caller: to remove a name, a file system waits for the
/// syncs of the writer's threads.
inline void remove_behind(const std::string& folder) {
  if (mode() == engine::Mode::sync) return remove(folder);
  static std::future<void> removal;
  if (!ax::ParallelDescriptor::IOProcessor()) return;
  removal = std::async(std::launch::async, [folder] {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  });
}

}  // namespace within

/// In the place of amrex::Amr. `amr.check_file = run.octavo` keeps all checkpoints in a store, and `amr.restart =
/// run.octavo` restarts from its newest one, on any number of ranks; without one it is a first start. `amr.plot_file =
/// plots.octavo` keeps the state and derived variables of all plotfiles in a store. Other names mean AMReX's own files.
class Amr : public ax::Amr {
 public:
  using ax::Amr::Amr;

  /// Collective. Returns the particles of a plotfile in a store, from Gather; without it a plotfile there has none.
  std::function<std::vector<Species>()> plot_species;

  void init(ax::Real start, ax::Real stop) override {
    const std::string store = restart_chkfile;
    if (!within::is_store(store)) return ax::Amr::init(start, stop);
    const std::string folder = within::scratch_of(store);
    const bool found = write_again(store, folder);
    restart_chkfile = found ? folder : "";
    ax::Amr::init(start, stop);
    if (found) restart_chkfile = store;
    within::remove(folder);
  }

  void checkPoint() override {
    const std::string store = check_file_root;
    if (!within::is_store(store)) return ax::Amr::checkPoint();
    const std::string scratch = within::scratch_of(store);
    check_file_root = scratch + "/";
    {
      const within::WithoutValues texts_only(*this);
      ax::Amr::checkPoint();
    }
    const std::string folder = ax::Concatenate(check_file_root, level_steps[0], file_name_digits);
    check_file_root = store;
    ax::Vector<char> header;
    ax::ParallelDescriptor::ReadAndBcastFile(folder + "/Header", header, false);
    if (header.empty()) return within::remove(scratch);  // amr.checkpoint_files_output = 0
    within::Texts texts = within::read_texts(folder);
    within::remove_behind(scratch);
    std::vector<Fields> fields;
    for (const within::StateFields& state : within::state_fields(header.dataPtr())) {
      fields.emplace_back(state.names, values_of(state));
      for (int level = 0; level <= finest_level; ++level)
        if (ax::MultiFab& mf = values_of(state, level); mf.nGrowVect().max() > 0)
          texts[within::ghost_prefix + within::place_of(state, level)] = within::ghosts_of(mf);
    }
    within::write({store, finest_level + 1, fields, Geom(), cumtime, level_steps, refRatio(), {}, texts},
                  store::Flow::checkpoint, {dt_level.begin(), dt_level.end()});
  }

  void writePlotFile() override {
    if (!within::is_store(plot_file_root)) return ax::Amr::writePlotFile();
    if (!Plot_Files_Output()) return;
    if (std::exchange(first_plotfile, false)) amr_level[0]->setPlotVariables();
    const int nlevels = std::min(plot_max_level, finest_level) + 1;
    Names names;
    ax::Vector<ax::MultiFab> values;
    for (int level = 0; level < nlevels; ++level) names = add_plot_values(level, values);
    if (names.empty()) return;
    if (verbose > 0) ax::Print() << "PLOTFILE: step " << level_steps[0] << " of " << plot_file_root << '\n';
    WritePlotfile(plot_file_root, nlevels, ax::GetVecOfConstPtrs(values), names, Geom(), cumtime, level_steps,
                  refRatio(), plot_species ? plot_species() : std::vector<Species>{});
    last_plotfile = level_steps[0];
  }

 private:
  static std::string level_folder(const std::string& folder, int level) {
    return folder + "/Level_" + std::to_string(level) + "/";
  }

  /// A level that has no old values yet has its new ones in their place; its Header does not ask for them.
  ax::MultiFab& values_of(const within::StateFields& fields, int level) {
    ax::StateData& state = getLevel(level).get_state_data(fields.type);
    return fields.old && state.hasOldData() ? state.oldData() : state.newData();
  }
  ax::Vector<const ax::MultiFab*> values_of(const within::StateFields& fields) {
    ax::Vector<const ax::MultiFab*> levels;
    for (int level = 0; level <= finest_level; ++level) levels.push_back(&values_of(fields, level));
    return levels;
  }

  /// The state variables and derived ones that the code plots, as AmrLevel::writePlotFile puts them together.
  Names add_plot_values(int level, ax::Vector<ax::MultiFab>& all) {
    ax::AmrLevel& here = getLevel(level);
    const ax::DescriptorList& states = ax::AmrLevel::get_desc_lst();
    Names names;
    std::vector<std::function<void(ax::MultiFab&)>> makers;
    for (int type = 0; type < states.size(); ++type)
      for (int c = 0; c < states[type].nComp(); ++c) {
        if (!isStatePlotVar(states[type].name(c)) || !states[type].getType().cellCentered()) continue;
        makers.push_back([&here, type, c, at = names.size()](ax::MultiFab& mf) {
          ax::MultiFab::Copy(mf, here.get_new_data(type), c, static_cast<int>(at), 1, 0);
        });
        names.push_back(states[type].name(c));
      }
    for (const ax::DeriveRec& record : ax::AmrLevel::get_derive_lst().dlist()) {
      if (!isDerivePlotVar(record.name())) continue;
      makers.push_back([&here, &record, at = names.size()](ax::MultiFab& mf) {
        here.derive(record.name(), here.get_state_data(0).curTime(), mf, static_cast<int>(at));
      });
      for (int c = 0; c < record.numDerive(); ++c) names.push_back(record.variableName(c));
    }
    if (names.empty()) return names;
#ifdef AMREX_USE_EB
    if (ax::EB2::TopIndexSpaceIfPresent() != nullptr) {
      makers.push_back([&here, at = names.size()](ax::MultiFab& mf) {
        ax::MultiFab::Copy(mf, here.EBFactory().getVolFrac(), 0, static_cast<int>(at), 1, 0);
      });
      names.push_back("vfrac");
    }
#endif
    ax::MultiFab& mf = all.emplace_back(here.boxArray(), here.DistributionMap(), static_cast<int>(names.size()), 0,
                                        ax::MFInfo(), here.Factory());
    for (const auto& make : makers) make(mf);
    return names;
  }

  /// Makes AMReX's own checkpoint of the store's newest step: false if there is none. AMReX and the code then restart
  /// as they always do.
  bool write_again(const std::string& store, const std::string& folder) {
    Restart from(store);
    if (!from) return false;
    const ax::DescriptorList& states = ax::AmrLevel::get_desc_lst();
    const within::Texts ghosts = from.Bytes(within::ghost_prefix);
    within::Texts texts = from.Bytes(within::file_prefix);  // each on one rank
    const auto own = texts.find("Header");
    const int first = ranks::lowest_where(within::comm(), own != texts.end());
    if (first == ax::ParallelContext::NProcsSub()) throw Error(Kind::usage, "a step of no code on AmrLevel").at(store);
    const std::string header = ranks::from_rank(within::comm(), first, own != texts.end() ? own->second : "");
    ranks::agree(within::comm(), [&] {
      if (ax::ParallelDescriptor::IOProcessor())
        for (int level = 0; level <= from.FinestLevel(); ++level)
          std::filesystem::create_directories(level_folder(folder, level));
      for (const auto& [name, text] : texts) {
        const std::filesystem::path path = std::filesystem::path(folder) / name;
        std::filesystem::create_directories(path.parent_path());
        if (!(std::ofstream(path, std::ios::binary) << text)) throw Error(Kind::no_space, "cannot be written").at(path);
      }
    });
    const auto format = ax::FArrayBox::getFormat();
    ax::FArrayBox::setFormat(ax::FABio::FAB_NATIVE);
    for (const within::StateFields& fields : within::state_fields(header))
      for (int level = 0; level <= from.FinestLevel(); ++level) {
        const auto& state = states[fields.type];
        ax::MultiFab values(ax::convert(from.Boxes(level), state.getType()), from.Mapping(level), state.nComp(),
                            state.nExtra());
        values.setVal(0);
        from.Fill(fields.names, level, values);
        const auto around = ghosts.find(within::place_of(fields, level));
        ranks::agree(within::comm(), [&] {
          if (around != ghosts.end()) within::set_ghosts(values, around->second);
        });
        ax::VisMF::Write(values, folder + "/" + within::place_of(fields, level));
      }
    ax::FArrayBox::setFormat(format);
    ax::ParallelDescriptor::Barrier();
    return true;
  }
};

}  // namespace octavo::amrex
