#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "octavo/engine/options.hpp"

namespace octavo::run {

/// The options of a run; see usage_text() for the command line.
struct RunOptions {
  std::string mesh = "blocks";  ///< or "patches"
  int dim = 2;
  std::array<int, 3> roots{4, 4, 4};  ///< blocks of level 0 along each axis
  int block = 8;                      ///< cells of a block along each axis
  int max_level = 4;                  ///< 0: level 0 alone
  int min_level = 0;                  ///< the whole domain is refined to it
  int max_box = 64;                   ///< patches: cells of a box along each axis, at most
  int tracers = 32;                   ///< along each axis
  double courant = 0.8;
  std::optional<double> dt{};  ///< of all steps [code time]; nothing: by courant
  int regrid_every = 2;        ///< steps

  std::int64_t steps = 100;       ///< the run ends after the step of this number ...
  std::optional<double> end{};    ///< ... or at this time [code time]
  std::string io = "background";  ///< off, sync, background, auto
  std::filesystem::path store;    ///< where steps go; empty: nothing is written
  std::filesystem::path restart_from;
  std::optional<std::int64_t> restart_step{};
  std::string native;  ///< also flash, amrex or amrex-checkpoint
  std::int64_t native_every = 0;
  std::filesystem::path native_prefix = "run";
  std::filesystem::path report;  ///< JSON of the last report of the run
  bool quiet = false;
  engine::Options engine{};
};

/// Reads a command line (without the program's name) over `defaults`; the engine's own options come from the defaults,
/// a TOML file, variables and then the line. Throws Error(usage) naming the word, and for options that contradict each
/// other; Error(interrupted) with the usage where help is asked for.
RunOptions parse(const std::vector<std::string>& words, const RunOptions& defaults, const std::string& program);
/// The last check of parse(). Throws Error(usage) if options contradict each other.
void check(const RunOptions& options);
std::string usage_text(const std::string& program, const RunOptions& defaults);

}  // namespace octavo::run
