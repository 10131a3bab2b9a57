#include "scene/step_statistics.h"

namespace signorini {

namespace {

struct Column {
  const char *name, *unit;
  double (*value)(const StepStatistics&);
};

constexpr Column kStatistics[] = {
    {"step", "1", [](const StepStatistics& s) { return static_cast<double>(s.step); }},
    {"time", "s", [](const StepStatistics& s) { return s.time; }},
    {"contacts", "1", [](const StepStatistics& s) -> double { return s.report.contacts; }},
    {"pressed", "1", [](const StepStatistics& s) -> double { return s.report.pressed; }},
    {"regions", "1", [](const StepStatistics& s) -> double { return s.regions; }},
    {"islands", "1", [](const StepStatistics& s) -> double { return s.islands; }},
    {"solves", "1", [](const StepStatistics& s) -> double { return s.report.solves; }},
    {"velocity_solves", "1", [](const StepStatistics& s) -> double { return s.report.velocity_solves; }},
    {"detection_rounds", "1", [](const StepStatistics& s) -> double { return s.report.detection_rounds; }},
    {"halvings", "1", [](const StepStatistics& s) -> double { return s.report.halvings; }},
    {"restarted", "1", [](const StepStatistics& s) { return s.report.restarted ? 1.0 : 0.0; }},
    {"unresolved", "1", [](const StepStatistics& s) { return s.report.unresolved ? 1.0 : 0.0; }},
    {"iterations", "1", [](const StepStatistics& s) -> double { return s.report.iterations; }},
    {"residual", "1", [](const StepStatistics& s) { return s.report.residual; }},
    {"velocity_error", "m/s", [](const StepStatistics& s) { return s.report.velocity_error; }},
    {"deepest_point", "m", [](const StepStatistics& s) { return s.report.deepest_point; }},
    {"smallest_gap", "m", [](const StepStatistics& s) { return s.report.smallest_gap; }},
    {"pressed_gap", "m", [](const StepStatistics& s) { return s.report.pressed_gap; }},
    {"largest_turn", "degree", [](const StepStatistics& s) { return s.report.largest_turn; }},
    {"volume_ratio", "1", [](const StepStatistics& s) { return s.report.volume_ratio; }},
    {"kinetic_energy", "J", [](const StepStatistics& s) { return s.report.kinetic_energy; }},
    {"elastic_energy", "J", [](const StepStatistics& s) { return s.report.elastic_energy; }},
    {"potential_energy", "J", [](const StepStatistics& s) { return s.report.potential_energy; }},
    {"total_energy", "J",
     [](const StepStatistics& s) {
       return s.report.kinetic_energy + s.report.elastic_energy + s.report.potential_energy;
     }},
    {"momentum_error", "m/s", [](const StepStatistics& s) { return s.report.momentum_error; }},
    {"intersects", "1", [](const StepStatistics& s) { return s.intersects; }},
};

constexpr Column kClocks[] = {
    {"detection_seconds", "s", [](const StepStatistics& s) { return s.report.detection_seconds; }},
    {"assembly_seconds", "s", [](const StepStatistics& s) { return s.report.assembly_seconds; }},
    {"free_seconds", "s", [](const StepStatistics& s) { return s.report.free_seconds; }},
    {"solve_seconds", "s", [](const StepStatistics& s) { return s.report.solve_seconds; }},
    {"other_seconds", "s", [](const StepStatistics& s) { return s.report.other_seconds; }},
    {"recording_seconds", "s", [](const StepStatistics& s) { return s.recording_seconds; }},
};

template <std::size_t N>
StepTable table_of(const Column (&columns)[N]) {
  StepTable table;
  for (const Column& column : columns) {
    table.columns.emplace_back(column.name);
    table.units.emplace_back(column.unit);
  }
  return table;
}

template <std::size_t N>
std::vector<double> row_of(const Column (&columns)[N], const StepStatistics& step) {
  std::vector<double> row;
  for (const Column& column : columns) row.push_back(column.value(step));
  return row;
}

}  // namespace

StepTable statistics_table() { return table_of(kStatistics); }
StepTable clocks_table() { return table_of(kClocks); }
std::vector<double> statistics_row(const StepStatistics& step) {
  std::vector<double> row = row_of(kStatistics, step);
  row.insert(row.end(), step.probes.begin(), step.probes.end());
  return row;
}
std::vector<double> clocks_row(const StepStatistics& step) { return row_of(kClocks, step); }

}  // namespace signorini
