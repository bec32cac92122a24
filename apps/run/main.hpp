#pragma once
#include "apps/run/driver.hpp"

namespace octavo::run {

/// main() of a simulation, on the mesh that the command line names: starts MPI, and says each error once.
int main_of(int count, char** words, const App& app);

}  // namespace octavo::run
