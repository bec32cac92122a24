#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace octavo::engine {

/// The variables that read_options() asks for: OCTAVO_MODE, OCTAVO_CHECKPOINT_CODEC ...
std::vector<std::string> option_variables();

/// For a variable that is none of them and looks like one of them: a line that names the nearest. Empty for any other:
/// programs and scripts have variables of their own. `OCTAVO_CODEC` is taken for that of the checkpoint flow.
std::string note_on_variable(std::string_view name);

/// The notes on this process's variables, to stderr, from rank 0 of MPI_COMM_WORLD, or where MPI does not run; each
/// once a process. Not collective.
void tell_misspelt_variables();

}  // namespace octavo::engine
