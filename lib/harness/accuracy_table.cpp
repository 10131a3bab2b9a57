#include "harness/accuracy_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>

#include "base/check.h"
#include "harness/follow_regions.h"
#include "record/recording_file.h"

namespace signorini {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Mean, largest, and number of those above zero; NaN stays out.
class Summary {
 public:
  void add(double value) {
    if (std::isnan(value)) return;
    sum_ += value;
    most_ = count_ == 0 ? value : std::max(most_, value);
    ++count_;
    if (value > 0.0) ++above_zero_;
  }
  double mean() const { return count_ == 0 ? kNone : sum_ / static_cast<double>(count_); }
  double most() const { return count_ == 0 ? kNone : most_; }
  double above_zero() const { return static_cast<double>(above_zero_); }

 private:
  double sum_ = 0.0, most_ = kNone;
  long long count_ = 0, above_zero_ = 0;
};

/// Columns of the statistics of a recording by name; of one that it lacks every value is NaN.
class Statistics {
 public:
  explicit Statistics(StepTable table) : table_(std::move(table)) {}
  std::size_t steps() const { return table_.rows.size(); }
  double at(const std::string& column, std::size_t row) const {
    const auto found = std::find(table_.columns.begin(), table_.columns.end(), column);
    return found == table_.columns.end() ? kNone : table_.rows[row][found - table_.columns.begin()];
  }
  /// Of the rows that `counts` accepts.
  template <class Counts>
  Summary over(const std::string& column, Counts counts) const {
    Summary summary;
    for (std::size_t row = 0; row < steps(); ++row)
      if (counts(row)) summary.add(at(column, row));
    return summary;
  }
  bool in_contact(std::size_t row) const { return at("contacts", row) >= 1.0; }
  /// End of step `step`, s; 0 before the first one.
  double time_after(long long step) const {
    return step < 1 ? 0.0 : at("time", static_cast<std::size_t>(step - 1));
  }

 private:
  StepTable table_;
};

/// Surface vertices at the start of a recorded step.
struct Positions {
  Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor> vertex;
  std::vector<Index> body;  ///< of every vertex; −1: it belongs to no body that moves
};

/// One recording of a ladder, opened.
class Rung {
 public:
  explicit Rung(const RecordedScene& source)
      : source_(source), reader_(source.path), statistics_(reader_.statistics().value_or(StepTable{})) {
    for (const std::string& id : reader_.frames())
      if (id.find('.') == std::string::npos) frames_.push_back(id);  // the first solve: where the step begins
  }

  const std::string& label() const { return source_.label; }
  const RecordedScene& source() const { return source_; }
  const Statistics& statistics() const { return statistics_; }
  const std::vector<std::string>& frames() const { return frames_; }
  double start_of(const std::string& frame) const { return statistics_.time_after(step_of_frame(frame) - 1); }
  Positions positions(const std::string& id) const {
    const Frame frame = reader_.read(id);
    if (!frame.geometry)
      throw_input("{}: frame {} has no geometry, which 'accuracy' needs", source_.path.string(), id);
    Positions result{frame.geometry->vertices, std::vector<Index>(frame.geometry->vertices.rows(), -1)};
    for (Eigen::Index t = 0; t < frame.geometry->triangles.rows(); ++t)
      for (Eigen::Index corner = 0; corner < 3; ++corner)
        result.body[frame.geometry->triangles(t, corner)] = frame.geometry->triangle_body[t];
    return result;
  }

 private:
  const RecordedScene& source_;
  RecordingReader reader_;
  Statistics statistics_;
  std::vector<std::string> frames_;
};

/// First and last frame of the last part of what two recordings have in common.
struct LastPart {
  std::string first, last;
};

std::optional<LastPart> last_part(const Rung& rung, const Rung& finest, double rest) {
  std::vector<std::string> common;
  std::set_intersection(rung.frames().begin(), rung.frames().end(), finest.frames().begin(),
                        finest.frames().end(), std::back_inserter(common));
  if (common.size() < 2) return std::nullopt;
  const double begin = (1.0 - rest) * finest.start_of(common.back());
  const auto first = std::find_if(common.begin(), common.end(),
                                  [&](const std::string& id) { return finest.start_of(id) >= begin; });
  if (first + 1 == common.end()) return std::nullopt;
  return LastPart{*first, common.back()};
}

/// Horizontal speed of the centre of every body from `before` to `after`, `seconds` later; by body number.
std::map<Index, double> drifts(const Positions& before, const Positions& after, double seconds) {
  std::map<Index, std::pair<Vector3, int>> moved;
  for (Eigen::Index i = 0; i < after.vertex.rows(); ++i) {
    if (after.body[i] < 0) continue;
    auto& [sum, vertices] = moved.try_emplace(after.body[i], Vector3::Zero(), 0).first->second;
    sum += (after.vertex.row(i) - before.vertex.row(i)).transpose();
    ++vertices;
  }
  std::map<Index, double> result;
  for (const auto& [body, move] : moved)
    result[body] = move.first.head<2>().norm() / (static_cast<double>(move.second) * seconds);
  return result;
}

struct Motion {
  Summary drift, creep, apart;
  std::size_t bodies = 0;
  int resting = 0;
};

Motion compare_motion(const Rung& rung, const Rung& finest, const LastPart& part, double rest_speed) {
  const Positions before = rung.positions(part.first), after = rung.positions(part.last);
  const Positions fine_before = finest.positions(part.first), fine_after = finest.positions(part.last);
  if (after.vertex.rows() != fine_after.vertex.rows())
    throw_input("{}: has other surfaces than {}", rung.label(), finest.label());
  const double seconds = finest.start_of(part.last) - finest.start_of(part.first);
  const std::map<Index, double> fine = drifts(fine_before, fine_after, seconds);
  Motion motion;
  for (const auto& [body, drift] : drifts(before, after, seconds)) {
    ++motion.bodies;
    motion.drift.add(drift);
    if (fine.at(body) >= rest_speed) continue;
    ++motion.resting;
    motion.creep.add(drift);
  }
  for (Eigen::Index i = 0; i < after.vertex.rows(); ++i)
    if (after.body[i] >= 0) motion.apart.add((after.vertex.row(i) - fine_after.vertex.row(i)).norm());
  return motion;
}

double energy_error(const Statistics& own, const Statistics& fine) {
  Summary error;
  for (std::size_t row = 0; row < std::min(own.steps(), fine.steps()); ++row)
    error.add(std::abs(own.at("total_energy", row) - fine.at("total_energy", row)));
  return error.most();
}

/// Means over the steps with contacts of the clocks that lie beside a recording.
std::vector<double> mean_clocks(const Rung& rung, const std::vector<std::string>& clocks) {
  std::vector<Summary> sums(clocks.size());
  const std::map<long long, std::string> times = read_clocks(rung.source().path, clocks);
  for (std::size_t row = 0; row < rung.statistics().steps(); ++row) {
    const auto found = times.find(static_cast<long long>(rung.statistics().at("step", row)));
    if (found == times.end() || !rung.statistics().in_contact(row)) continue;
    const char* text = found->second.c_str();
    for (Summary& sum : sums) {
      char* end = nullptr;
      sum.add(std::strtod(text + 1, &end));  // after the comma
      text = end;
    }
  }
  std::vector<double> means;
  for (const Summary& sum : sums) means.push_back(sum.mean());
  return means;
}

constexpr const char* kColumns =
    "drift_mean,drift_most,creep_mean,creep_most,apart_mean,apart_most,deepest_point,energy_error,energy,"
    "residual,velocity_error,velocity_error_whole,velocity_error_most,iterations,halved,unresolved,time_step,"
    "duration";

std::string row_of(const Rung& rung, const Rung& finest, const Accuracy& asked,
                   const std::vector<std::string>& clocks) {
  const Statistics& own = rung.statistics();
  const std::optional<LastPart> part = last_part(rung, finest, asked.rest);
  const Motion motion = part ? compare_motion(rung, finest, *part, asked.rest_speed) : Motion{};
  const double begin = part ? finest.start_of(part->first) : kNone;
  const auto everywhere = [](std::size_t) { return true; };
  const auto in_contact = [&](std::size_t row) { return own.in_contact(row); };
  const auto at_the_end = [&](std::size_t row) { return own.in_contact(row) && own.at("time", row) > begin; };
  const Summary errors = own.over("velocity_error", in_contact);
  const auto last = static_cast<long long>(own.steps());
  std::vector<double> values{
      motion.drift.mean(),
      motion.drift.most(),
      motion.creep.mean(),
      motion.creep.most(),
      motion.apart.mean(),
      motion.apart.most(),
      own.over("deepest_point", everywhere).most(),
      energy_error(own, finest.statistics()),
      finest.statistics().steps() == 0 ? kNone : std::abs(finest.statistics().at("total_energy", 0)),
      own.over("residual", everywhere).most(),
      own.over("velocity_error", at_the_end).mean(),
      errors.mean(),
      errors.most(),
      own.over("iterations", in_contact).mean(),
      own.over("halvings", everywhere).above_zero(),
      own.over("unresolved", everywhere).above_zero(),
      own.time_after(std::min(last, 1LL)),
      own.time_after(last)};
  const std::vector<double> times = mean_clocks(rung, clocks);
  values.insert(values.end(), times.begin(), times.end());
  std::string text =
      fmt::format("{},{},{},{},{}", rung.label(), finest.label(), own.steps(), motion.bodies, motion.resting);
  for (const double value : values)
    text += std::isnan(value) ? std::string(",") : fmt::format(",{:.12g}", value);
  return text + '\n';
}

double number_of(const std::string& text, const Accuracy& asked) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    throw_usage("{}: '{}' is set to '{}', which is no number", asked.over_place, asked.over, text);
  return value;
}

/// A recording and its value of the setting that makes the ladder.
struct Step {
  const RecordedScene* source;
  double value;
};

/// Recordings that agree in all but the setting `over`, in the order of the first of each.
std::vector<std::vector<Step>> ladders(const std::vector<RecordedScene>& recorded, const Accuracy& asked) {
  std::vector<std::pair<std::string, OptionMap>> keys;
  std::vector<std::vector<Step>> result;
  for (const RecordedScene& source : recorded) {
    const auto own = source.set.find(asked.over);
    if (own == source.set.end()) continue;
    OptionMap others = source.set;
    others.erase(asked.over);
    const std::pair<std::string, OptionMap> key{source.scene, std::move(others)};
    const auto found = std::find(keys.begin(), keys.end(), key);
    const std::size_t place = found - keys.begin();
    if (found == keys.end()) {
      keys.push_back(key);
      result.emplace_back();
    }
    result[place].push_back({&source, number_of(own->second, asked)});
  }
  if (result.empty())
    throw_usage("{}: no recording of this size sets '{}'; let [[recordings]] vary it", asked.over_place,
                asked.over);
  return result;
}

}  // namespace

std::string accuracy_table(const Experiment& experiment, const std::vector<RecordedScene>& recorded,
                           const RecordingProvider& provider, const RunMonitor& monitor) {
  const std::vector<std::string> clocks = provider.clock_columns();
  std::string text =
      fmt::format("file,finest,steps,bodies,resting,{},{}\n", kColumns, fmt::join(clocks, ","));
  for (const std::vector<Step>& ladder : ladders(recorded, *experiment.accuracy)) {
    const Step& least = *std::min_element(ladder.begin(), ladder.end(),
                                          [](const Step& a, const Step& b) { return a.value < b.value; });
    const Rung finest(*least.source);
    for (const Step& step : ladder) {
      monitor.stop_when_cancelled();
      text += row_of(Rung(*step.source), finest, *experiment.accuracy, clocks);
    }
  }
  return text;
}

}  // namespace signorini
