#pragma once
#include <mpi.h>

#include <filesystem>
#include <functional>
#include <string>

#include "octavo/engine/restart/restart.hpp"

namespace octavo::engine {

/// Makes files of `format` of the store's step that a restart found, for a code that starts from files of its own.
/// Either each rank writes its share, as the format's row says (Format::write_shares), and the result removes this
/// rank's files once the code has read them. Or all ranks write the checkpoint `path`, with the bytes of `octavo
/// convert
/// --to`; it must not exist, all ranks see it, and the result is empty. Collective; throws the same Error on all ranks:
/// Error(usage) for a step that was stored with a loss, and as step::write() does.
std::function<void()> write_files(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                                  const std::string& format, const std::filesystem::path& path);

}  // namespace octavo::engine
