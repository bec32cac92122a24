#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "octavo/engine/cadence.hpp"
#include "octavo/engine/plan.hpp"
#include "octavo/store/store.hpp"

namespace octavo::engine {

/// When the work of a step is done.
enum class Mode : std::uint8_t {
  /// inside end_step(): MPI_THREAD_SINGLE suffices. With more a thread may be started, which removes old checkpoints
  sync,
  background,  ///< by a thread of this process that makes no MPI call: MPI_THREAD_FUNNELED suffices
  automatic    ///< the cost of each flow's first steps, written in the background, decides, the same on all ranks
};
std::string_view name_of(Mode mode) noexcept;

/// When files are synced to the disk.
enum class SyncPolicy : std::uint8_t {
  step,  ///< at each step: data and footer before the commit record, the record before the step is reported
  wait,  ///< in wait() and close(): a crash of the system (not of the run) may damage later steps
  none   ///< never: "durable" means handed to the operating system
};

/// The options for writing. Every option has a test that names it; files and variables use the same names, see
/// read_options() and docs/options.md.
struct Options {
  // Files. These options do not change the data of a step.
  /// Most ranks of one host that share a file; 0: all ranks of the host. Nothing: as many as it takes for few_files
  /// files a host, or for writers_per_node.
  std::optional<int> contributors_per_file;
  int writers_per_node = 0;  ///< most files of one host; 0: no limit
  int ranks_per_node = 0;    ///< 0: real hosts; else imitate hosts with this many ranks each

  bool append_checkpoint = false;  ///< checkpoint.append: all steps of the flow in the same files
  bool append_analysis = true;     ///< analysis.append
  SyncPolicy sync_policy = SyncPolicy::step;
  /// [bytes] Each rank's range of a file begins at a multiple of it; a multiple of 8. Nothing: alignment_of() decides.
  std::optional<std::int64_t> alignment;
  /// Write-back begins while a step is written, and its pages leave the page cache once they are on the disk, so that
  /// steps do not take the application's memory. Not on local disks, from which a restart reads.
  bool drop_pages = true;
  bool direct_io = false;  ///< bypass the page cache, if the file system can; if not, Writer::notes() says so

  // The background.
  Mode mode = Mode::background;
  std::int64_t staging_bytes = std::int64_t{256}
                               << 20;  ///< [bytes] memory of a rank for steps that are not written yet
  int steps_in_flight = 4;  ///< most steps not written yet: ranks may be this far apart, and a kill may lose this many
  bool bound_thread = false;  ///< the thread stays on its rank's cores; else it may use any that mpirun itself has
  bool lend = false;      ///< the application leaves arrays untouched until its next call, so end_step() copies none
  bool checksums = true;  ///< take one of each array while it is staged, compare it before encoding

  // Checkpoints.
  int keep_last = 0;  ///< checkpoints kept; older ones are removed once newer ones are complete everywhere; 0: all
  /// Overwrite old checkpoints in place: keep_last + 1 slots, none of which is ever truncated. Nothing: recycles()
  /// decides.
  std::optional<bool> recycle;

  // A second tier: steps are committed on a local disk of the node first, and copied to the store in the background.
  std::filesystem::path staging_directory;  ///< on every node; empty: steps go straight to the store
  // Protection of checkpoints on local disks (docs/node-local-disks.md). 0: never.
  int partner_every = 0;  ///< every n-th checkpoint is copied to another node
  int xor_every = 0;      ///< every n-th checkpoint survives any one node of a group
  int rs_every = 0;       ///< every n-th checkpoint survives any two nodes of a group (Reed-Solomon)
  int group_size = 8;     ///< nodes of a group, at least
  int drain_every = 1;    ///< every n-th checkpoint goes to the store, and the last one when the writer is closed
  std::int64_t copy_bandwidth = 0;   ///< [bytes/s] that a node sends to others at most; 0: no limit
  std::int64_t drain_bandwidth = 0;  ///< [bytes/s] that a node drains to the store at most; 0: no limit

  // Starting again.
  bool remember_failed_restarts = false;  ///< pass over a step from which an earlier restart failed

  // Reports to the user.
  std::string log;                   ///< file to which each step adds a line; "-": the error output; empty: none
  std::filesystem::path statistics;  ///< JSON file that close() writes; empty: none

  std::map<std::string, std::string> mpi_io_hints;  ///< for whatever uses MPI-IO: info_of()

  // By flow.
  store::EncodeOptions checkpoint;
  store::EncodeOptions analysis;
  /// Values of codec lossless may be encoded with effort `fast` or stored as they are: is_codec_by_cost() decides.
  /// Nothing: yes, but in mode sync.
  std::optional<bool> checkpoint_codec_by_cost;
  std::optional<bool> analysis_codec_by_cost;  //
  Cadence checkpoint_every;                    ///< for Writer::due()
  Cadence analysis_every;                      //
  std::vector<std::string> checkpoint_fields;  ///< fields to write; puts of other fields do nothing; empty: all
  std::vector<std::string> analysis_fields;    //
  bool checkpoint_whole_domain = false;        ///< end_step() refuses a step whose owned leaves do not fill the domain
  bool analysis_whole_domain = false;          //
};

inline const store::EncodeOptions& encoding_of(const Options& options, store::Flow flow) {
  return flow == store::Flow::checkpoint ? options.checkpoint : options.analysis;
}
inline const Cadence& cadence_of(const Options& options, store::Flow flow) {
  return flow == store::Flow::checkpoint ? options.checkpoint_every : options.analysis_every;
}
inline const std::vector<std::string>& fields_of(const Options& options, store::Flow flow) {
  return flow == store::Flow::checkpoint ? options.checkpoint_fields : options.analysis_fields;
}
inline bool is_whole_domain(const Options& options, store::Flow flow) {
  return flow == store::Flow::checkpoint ? options.checkpoint_whole_domain : options.analysis_whole_domain;
}
/// Files of one host, unless the user says otherwise (docs/decisions/0053-few-files-a-node.md).
constexpr int few_files = 4;
inline WritePlanOptions plan_options(const Options& options) {
  if (options.contributors_per_file) return {*options.contributors_per_file, options.writers_per_node};
  return {1, options.writers_per_node > 0 ? options.writers_per_node : few_files};
}

/// "lossless", "abs:E", "point:E" (E > 0), or a lossless method by name: "raw", "zstd", "tree". Throws Error(usage).
codec::Settings parse_codec(std::string_view text);
/// A number of bytes: "4096", "64K", "256M", "2G" (powers of 1024). Throws Error(usage).
std::int64_t parse_bytes(std::string_view text);

/// Sets one option from text. Names are those of the struct; of encodings: "checkpoint.codec" (parse_codec(), or
/// "auto": by cost), "checkpoint.effort"
/// ("fast", "default" or "max"), "checkpoint.single_precision", "checkpoint.field_codec.NAME", "checkpoint.every",
/// "checkpoint.fields" ("density, pressure"), and the same for analysis; of hints: "mpi_io_hint.NAME", or all at once
/// "mpi_io_hints" ("romio_cb_write=enable; striping_factor=8").
/// Throws Error(usage) for an unknown name (listing the known ones) or an invalid value.
void set_option(Options& options, std::string_view name, std::string_view value);

/// Whether new checkpoints overwrite old ones. If `recycle` is not set: yes if keep_last is set and every step is
/// synced in the store itself. Overwriting spares a parallel file system the creation, removal and syncing of names.
bool recycles(const Options& options);

/// Whether the cost of the flow's first steps decides if later ones are encoded, also with effort `fast`, or stored as
/// they are. Only the default codec (lossless, effort default, without single_precision) leaves that open.
bool is_codec_by_cost(const Options& options, store::Flow flow);

/// Throws Error(usage) for values that are invalid or contradict each other.
void check(const Options& options);

/// The options that must be the same on all ranks, as items that end with ";": all but staging_bytes, bound_thread,
/// log, statistics and the place of the staging directory.
std::string describe(const Options& options);

/// Returns a variable's value, or nothing: getenv, or a test's own function.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
/// getenv. Rank 0 lists on stderr, once, variables that look like misspelt options. They are not read.
Environment process_environment();

/// Starts from `defaults`, then applies the TOML file (if one is named), then variables: OCTAVO_STAGING_BYTES for
/// staging_bytes, OCTAVO_CHECKPOINT_CODEC for checkpoint.codec (the codec of a single field and a single hint have no
/// variable). Without a file argument OCTAVO_OPTIONS may name one. Throws Error(usage), naming file and line;
/// Error(unreadable) for a missing file.
Options read_options(const Options& defaults = {}, const std::filesystem::path& file = {},
                     const Environment& environment = process_environment());

/// Applies a TOML file. Tables: [checkpoint], [analysis], [checkpoint.field_codec] ...
void read_toml(Options& options, const std::filesystem::path& file);
/// Whether this build can read TOML files (it had toml++).
bool reads_toml() noexcept;

}  // namespace octavo::engine
