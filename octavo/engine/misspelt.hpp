#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace octavo::engine {

/// The variables that read_options() asks for: OCTAVO_MODE, OCTAVO_CHECKPOINT_CODEC ...
std::vector<std::string> option_variables();

/// For a variable that looks like a misspelt option: a line that names the nearest option. Empty for any other
/// variable, because programs and scripts have variables of their own. `OCTAVO_CODEC` is taken for the checkpoint
/// flow's.
std::string note_on_variable(std::string_view name);

/// Prints the notes on this process's variables to stderr, each once a process: on rank 0 of MPI_COMM_WORLD, or on any
/// process if MPI does not run. Not collective.
void tell_misspelt_variables();

}  // namespace octavo::engine
