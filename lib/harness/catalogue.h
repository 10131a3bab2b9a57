#pragma once

#include <span>
#include <string>

/// What there is to choose from: the solvers of the registry and the measures, told to people and machines.
namespace signorini {

/// An error by which an answer is judged (contact/residuals.h).
struct MeasureEntry {
  const char* name;  ///< the column of runs.csv, or several: "fb_normal, fb_static, fb_kinetic"
  const char *unit, *help;
};
std::span<const MeasureEntry> measures();

/// JSON lists: name, unit and meaning of every measure; name, summary, source and options (key, type, default,
/// help) of every solver.
std::string measures_json();
std::string solvers_json();

}  // namespace signorini
