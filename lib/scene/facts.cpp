#include "scene/facts.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "scene/key_reader.h"

namespace signorini {

namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// The column's numbers of the steps that count.
std::vector<double> numbers_of(const StepTable& table, std::size_t column, const FactConfig& fact) {
  const auto time = std::find(table.columns.begin(), table.columns.end(), "time");
  const bool timed = time != table.columns.end();
  const std::size_t t = time - table.columns.begin();
  std::vector<double> numbers;
  for (const std::vector<double>& row : table.rows) {
    const bool counts = !timed || (row[t] >= fact.from_s && row[t] <= fact.until_s);
    if (std::isnan(row[column]) || !counts) continue;
    numbers.push_back(row[column]);
  }
  return numbers;
}

double largest_rise(const std::vector<double>& numbers) {
  double low = numbers.front(), rise = 0.0;
  for (const double number : numbers) {
    rise = std::max(rise, number - low);
    low = std::min(low, number);
  }
  return rise;
}

double phases(const std::vector<double>& numbers, double above) {
  int count = 0;
  bool within = false;
  for (const double number : numbers) {
    if (!within && number > above) {
      within = true;
      ++count;
    } else if (within && number <= 0.5 * above) {
      within = false;
    }
  }
  return count;
}

double reduce(const FactConfig& fact, const std::vector<double>& numbers) {
  if (numbers.empty()) return kNone;
  switch (fact.over) {
    case StepReduction::last:
      return numbers.back();
    case StepReduction::first:
      return numbers.front();
    case StepReduction::min:
      return *std::min_element(numbers.begin(), numbers.end());
    case StepReduction::max:
      return *std::max_element(numbers.begin(), numbers.end());
    case StepReduction::mean: {
      double sum = 0.0;
      for (const double number : numbers) sum += number;
      return sum / static_cast<double>(numbers.size());
    }
    case StepReduction::change:
      return numbers.back() - numbers.front();
    case StepReduction::rise:
      return largest_rise(numbers);
    case StepReduction::count:
      return static_cast<double>(
          std::count_if(numbers.begin(), numbers.end(), [&](double n) { return n > fact.above; }));
    case StepReduction::phases:
      break;
  }
  return phases(numbers, fact.above);
}

/// Whether later steps can change nothing: the value only ever grows (or falls), and has passed the bound
/// that it could otherwise still pass.
bool is_settled(const FactConfig& fact, double value) {
  if (std::isnan(value)) return false;
  const bool low = fact.at_least > -kUnbounded, high = fact.at_most < kUnbounded;
  switch (fact.over) {
    case StepReduction::first:
      return true;
    case StepReduction::max:
    case StepReduction::rise:
    case StepReduction::count:
    case StepReduction::phases:
      return value > fact.at_most || (!high && value >= fact.at_least);
    case StepReduction::min:
      return value < fact.at_least || (!low && value <= fact.at_most);
    case StepReduction::last:
    case StepReduction::mean:
    case StepReduction::change:
      break;
  }
  return false;
}

std::string bounds_text(const FactConfig& fact) {
  const bool low = fact.at_least > -kUnbounded, high = fact.at_most < kUnbounded;
  if (low && high) return fmt::format("from {:g} to {:g}", fact.at_least, fact.at_most);
  return low ? fmt::format("at least {:g}", fact.at_least) : fmt::format("at most {:g}", fact.at_most);
}

}  // namespace

Facts read_facts(const std::string& scene_text, const std::string& where) {
  SceneKeys keys = SceneKeys::parse(scene_text, where);
  return read_tables<FactConfig>(keys, "facts");
}

bool runs_to_its_end(const std::string& scene_text, std::size_t rows, const std::string& where) {
  SceneKeys keys = SceneKeys::parse(scene_text, where);
  int steps = 0;
  keys.get("time.steps", steps, Range::non_negative);
  return std::cmp_greater_equal(rows, steps);
}

std::vector<FactVerdict> judge_facts(const Facts& facts, const StepTable& statistics, bool whole) {
  std::vector<FactVerdict> verdicts;
  for (const auto& [name, fact] : facts) {
    FactVerdict verdict{name, fact, kNone, "", false};
    const auto found = std::find(statistics.columns.begin(), statistics.columns.end(), fact.quantity);
    if (found != statistics.columns.end()) {
      const std::size_t column = found - statistics.columns.begin();
      verdict.value = reduce(fact, numbers_of(statistics, column, fact));
      const bool counts = fact.over == StepReduction::count || fact.over == StepReduction::phases;
      verdict.unit = counts ? "1" : statistics.units[column];
    }
    verdict.holds = verdict.value >= fact.at_least && verdict.value <= fact.at_most;  // false for NaN
    verdict.reached = whole || is_settled(fact, verdict.value);
    verdict.holds = verdict.holds && verdict.reached;
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

std::string verdict_text(const FactVerdict& verdict) {
  const std::string unit = verdict.unit.empty() || verdict.unit == "1" ? "" : " " + verdict.unit;
  const std::string value =
      std::isnan(verdict.value) ? "has no value" : fmt::format("= {:.6g}{}", verdict.value, unit);
  const char* word = verdict.holds ? "holds  " : verdict.reached ? "differs" : "not reached";
  return fmt::format("{} {} {} {}, asked for {}{}", word, verdict.fact.quantity, enum_name(verdict.fact.over),
                     value, bounds_text(verdict.fact), unit);
}

}  // namespace signorini
