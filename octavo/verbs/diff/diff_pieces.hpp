#pragma once
#include <string>
#include <vector>

#include "octavo/verbs/diff/diff.hpp"

/// The parts of diff(): rules, headers, cells, particles, points.
namespace octavo::verbs::detail {

/// Looks up tolerances and ignored names.
class Rules {
 public:
  /// Throws as diff() says.
  Rules(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options);
  bool ignored(const std::string& name) const;
  double absolute(const std::string& name) const;
  double relative(const std::string& name) const;
  /// Whether a difference of that size is allowed between values of that magnitude.
  bool allows(const std::string& name, double difference, double magnitude) const;

 private:
  const DiffOptions& options_;
};

/// Compares the figures with the tolerances.
VariableDiff judge(const Rules& rules, const std::string& name, const std::string& unit, analysis::Figures figures);

void differ(DiffReport& report, const std::string& reason);

void diff_headers(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                  DiffReport& report);
void diff_cells(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                DiffReport& report);
void diff_particles(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                    DiffReport& report);
void diff_points(const mesh::Dataset& a, const mesh::Dataset& b, const DiffOptions& options, const Rules& rules,
                 DiffReport& report);

}  // namespace octavo::verbs::detail
