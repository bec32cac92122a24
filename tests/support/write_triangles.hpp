#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "octavo/step/triangle_series.hpp"
#include "octavo/step/write.hpp"

/// Writing a series on triangles with one call, as tests want it.
namespace octavo::testing {

struct WriteTriangles {
  bool single_precision = false;
  std::optional<std::filesystem::path> boundary{};
  bool overwrite = false;
  base::Progress progress{};
  std::optional<store::Flow> flow{};
};

inline formats::WriteReport write_triangles(const std::string& format, const std::filesystem::path& from,
                                            const std::filesystem::path& out, const WriteTriangles& options = {}) {
  formats::WriteRequest request;
  request.to = format;
  request.single_precision = options.single_precision;
  request.overwrite = options.overwrite;
  request.progress = options.progress;
  request.boundary = options.boundary;
  return step::write(step::open_triangles(from, {}, format, options.flow), out, request);
}

inline formats::WriteReport to_serafin(const std::filesystem::path& from, const std::filesystem::path& out,
                                       const WriteTriangles& options = {}) {
  return write_triangles("serafin", from, out, options);
}
inline formats::WriteReport to_med(const std::filesystem::path& from, const std::filesystem::path& out,
                                   const WriteTriangles& options = {}) {
  return write_triangles("med", from, out, options);
}
inline formats::WriteReport to_vtkhdf(const std::filesystem::path& from, const std::filesystem::path& out,
                                      const WriteTriangles& options = {}) {
  return write_triangles("vtkhdf", from, out, options);
}

}  // namespace octavo::testing
