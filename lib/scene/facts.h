#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/options.h"
#include "record/recording_file.h"
#include "scene/scene_keys.h"

/// What a scene is there to show, as numbers that a machine can check: bounds on a column of its statistics.
namespace signorini {

/// How the numbers of the steps become one; steps without a number are passed over.
enum class StepReduction { last, first, min, max, mean, change, rise, count, phases };
template <>
struct EnumNames<StepReduction> {
  static constexpr std::array<std::pair<StepReduction, std::string_view>, 9> value{
      {{StepReduction::last, "last"},
       {StepReduction::first, "first"},
       {StepReduction::min, "min"},
       {StepReduction::max, "max"},
       {StepReduction::mean, "mean"},
       {StepReduction::change, "change"},
       {StepReduction::rise, "rise"},
       {StepReduction::count, "count"},
       {StepReduction::phases, "phases"}}};
};

/// No bound.
inline constexpr double kUnbounded = 1e30;

/// A table [facts.NAME].
struct FactConfig {
  std::string says;
  std::string quantity;
  StepReduction over = StepReduction::last;
  double above = 0.0;
  double from_s = 0.0;
  double until_s = kUnbounded;
  double at_least = -kUnbounded;
  double at_most = kUnbounded;

  template <class Visitor>
  void visit(Visitor& v) {
    v("says", says, "the fact in words");
    v("quantity", quantity, "a column of the statistics, or the name of a probe");
    v("over", over,
      "over the steps: last, first, min, max, mean, change (last minus first), rise (largest above an "
      "earlier "
      "step), count (of steps above `above`), phases (runs of such steps)");
    v("above", above, Range::any,
      "what count and phases count from; a phase ends when the quantity has fallen to half of it");
    v("from_s", from_s, Range::any, "steps that end before this time are left out");
    v("until_s", until_s, Range::any, "and those that end after this one; 1e30 = none");
    v("at_least", at_least, Range::any, "smallest value that the fact allows; -1e30 = any");
    v("at_most", at_most, Range::any, "largest value; 1e30 = any");
  }
};

using Facts = std::map<std::string, FactConfig>;

/// The facts of a recording, from the scene text in its header. Throws `UsageError` "<where>:LINE: …".
Facts read_facts(const std::string& scene_text, const std::string& where);
/// Whether a recording with so many rows of statistics, of the effective scene `scene_text`, goes to the
/// scene's last step: --steps, time.stop_after and time.contact_steps end one earlier.
bool runs_to_its_end(const std::string& scene_text, std::size_t rows, const std::string& where);

struct FactVerdict {
  std::string name;
  FactConfig fact;
  double value = 0.0;  ///< NaN: no step has the quantity
  std::string unit;
  bool holds = false;
  /// False: the run ended before the fact could be judged.
  bool reached = true;
};

/// In the order of their names. A quantity that the table does not have, or that no step has a number of,
/// differs. Of a run that was cut short (`whole` = false) only those facts are judged that later steps cannot
/// change: what has happened already, or has gone wrong already, by a reduction that only ever grows or
/// falls.
std::vector<FactVerdict> judge_facts(const Facts& facts, const StepTable& statistics, bool whole = true);
/// "holds    fallen last = 2, at least 1", without name and words.
std::string verdict_text(const FactVerdict& verdict);

}  // namespace signorini
