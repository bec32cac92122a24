#include "octavo/engine/restart/code_files.hpp"

#include "octavo/formats/formats.hpp"
#include "octavo/ranks/communicator.hpp"
#include "octavo/step/open.hpp"
#include "octavo/step/target.hpp"
#include "octavo/step/write.hpp"

namespace octavo::engine {

std::function<void()> write_files(MPI_Comm comm, const std::filesystem::path& store, const Restart& restart,
                                  const std::string& format, const std::filesystem::path& path) {
  const formats::Format* row = nullptr;
  mesh::Dataset step;
  ranks::agree(comm, [&] {
    row = &formats::format_named(format);
    step = step::open(store, {restart.flow, restart.id.step});
    std::vector<std::string> notes;
    step::require_exact_values(step, false, notes);
  });
  if (row->write_shares != nullptr) return row->write_shares(step, path, ranks::ranks_of(comm));
  formats::WriteRequest request;
  request.to = format;
  if (!row->kinds.empty()) request.kind = "checkpoint";
  request.threads = 1;
  request.ranks = ranks::ranks_of(comm);
  step::write(step, path, request);
  return {};
}

}  // namespace octavo::engine
