#include "harness/replay_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/text.h"
#include "harness/replay_answer.h"
#include "harness/replay_data.h"

namespace signorini {
namespace {

long long step_number(std::string_view text, const std::string& steps) {
  if (text.empty() || text.size() > 18 || text.find_first_not_of("0123456789") != std::string_view::npos) {
    throw_usage(
        "--steps {}: must look like 120:480 (from step 120 to step 480), 120:, :480, 120, 120.2 (its second "
        "solve), or a list of these, 120,150,200:210",
        steps);
  }
  return parse_integer(text, "--steps");
}

/// A solve of a step: 000120.2, or 000120 for the first.
struct FrameNumber {
  long long step = 0, solve = 1;
};

FrameNumber number_of(const std::string& id) {
  const std::size_t dot = id.find('.');
  return {parse_integer(std::string_view(id).substr(0, dot), "step"),
          dot == std::string::npos ? 1 : parse_integer(std::string_view(id).substr(dot + 1), "step")};
}

/// One entry of --steps.
struct StepRange {
  long long first = 0, last = std::numeric_limits<long long>::max();
  long long solve = 0;  ///< 0: all of a step
  bool holds(const FrameNumber& frame) const {
    return frame.step >= first && frame.step <= last && (solve == 0 || frame.solve == solve);
  }
};

StepRange range_of(std::string_view text, const std::string& steps) {
  const std::size_t colon = text.find(':'), dot = text.find('.');
  StepRange range;
  if (colon == std::string_view::npos) {
    range.first = range.last = step_number(text.substr(0, dot), steps);
    if (dot != std::string_view::npos) range.solve = step_number(text.substr(dot + 1), steps);
    return range;
  }
  const std::string_view from = text.substr(0, colon), to = text.substr(colon + 1);
  if (from.empty() && to.empty()) step_number("", steps);
  if (!from.empty()) range.first = step_number(from, steps);
  if (!to.empty()) range.last = step_number(to, steps);
  return range;
}

std::vector<std::string> every_so_many(const std::vector<std::string>& ids, int every) {
  std::vector<std::string> chosen;
  for (std::size_t i = 0; i < ids.size(); i += static_cast<std::size_t>(every)) chosen.push_back(ids[i]);
  return chosen;
}

/// By the first frame with contacts.
bool has_impulses(const RecordingReader& reader, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    if (reader.contacts(id) > 0) return reader.read(id).impulse.size() > 0;
  }
  return true;
}

/// Bounds of the bytes of every frame, before anything is solved.
std::vector<double> largest_bytes(const ReplayPlan& plan, const RecordingReader& reader,
                                  Eigen::Index vertices) {
  std::size_t solvers = 0;
  for (const auto& answer : plan.answers) solvers += answer ? 1 : 0;
  const int iterates = static_cast<int>(replay_schedule(plan.limits.max_iterations).size()) + 1;
  std::vector<double> bytes;
  for (const std::string& id : plan.frames) {
    bytes.push_back(
        replay_frame_bytes(vertices, reader.contacts(id), plan.answers.size(), solvers, iterates));
  }
  return bytes;
}

double sum_of_every(const std::vector<double>& bytes, std::size_t every) {
  double sum = 0.0;
  for (std::size_t i = 0; i < bytes.size(); i += every) sum += bytes[i];
  return sum;
}

void check_size(const ReplayPlan& plan, const RecordingReader& reader, const ReplayRequest& request,
                Eigen::Index vertices) {
  const std::vector<double> bytes = largest_bytes(plan, reader, vertices);
  if (sum_of_every(bytes, 1) <= request.largest) return;
  const std::string what = fmt::format(
      "{}: {} {} with the answers of {} {} may be {:.0f} MB, more than the {:.0f} MB that a browser opens at "
      "once",
      request.file, bytes.size(), bytes.size() == 1 ? "frame" : "frames", plan.answers.size(),
      plan.answers.size() == 1 ? "solver" : "solvers", 1e-6 * sum_of_every(bytes, 1), 1e-6 * request.largest);
  std::size_t every = 2;
  while (every < bytes.size() && sum_of_every(bytes, every) > request.largest) ++every;
  if (sum_of_every(bytes, every) > request.largest)
    throw_usage("{}; name fewer solvers, or a step with fewer contacts", what);
  throw_usage("{}; give --every {}, or fewer steps with --steps A:B (the recording has {} to {})", what,
              static_cast<std::size_t>(request.every) * every, reader.frames().front(),
              reader.frames().back());
}

}  // namespace

std::vector<std::string> frames_in(const std::vector<std::string>& ids, const std::string& steps,
                                   const std::string& file) {
  if (steps.empty()) return ids;
  std::vector<StepRange> ranges;
  for (std::size_t begin = 0; begin <= steps.size();) {
    const std::size_t end = std::min(steps.find(',', begin), steps.size());
    ranges.push_back(range_of(std::string_view(steps).substr(begin, end - begin), steps));
    begin = end + 1;
  }
  std::vector<std::string> chosen;
  for (const std::string& id : ids) {
    const FrameNumber frame = number_of(id);
    if (std::ranges::any_of(ranges, [&](const StepRange& range) { return range.holds(frame); }))
      chosen.push_back(id);
  }
  if (chosen.empty()) {
    throw_usage("--steps {}: {} has no snapshot there; it holds {} from {} to {}", steps, file, ids.size(),
                ids.front(), ids.back());
  }
  return chosen;
}

ReplayPlan plan_replay(const ReplayRequest& request, const RecordingReader& reader) {
  if (reader.frames().empty()) throw_input("{}: holds no snapshots", request.file);
  ReplayPlan plan;
  plan.frames = every_so_many(frames_in(reader.frames(), request.steps, request.file), request.every);
  const Frame first = reader.read(plan.frames.front());
  if (!first.geometry) {
    throw_input("{}: step {} holds no surfaces; record the scene with --set geometry=true", request.file,
                first.id);
  }
  std::vector<std::string> names = list_entries(request.solvers, "--solver");
  if (names.empty()) names = {has_impulses(reader, plan.frames) ? kRecordedAnswer : "auto"};
  SolveRequest solve = request.solve;
  solve.solvers.clear();
  std::copy_if(names.begin(), names.end(), std::back_inserter(solve.solvers),
               [](const std::string& name) { return name != kRecordedAnswer; });
  if (solve.solvers.empty()) solve.solvers = {"auto"};  // not used: the limits are checked
  const SolvePlan solvers = plan_solves(solve);
  auto variant = solvers.variants.begin();
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) != name)
      throw_usage("--solver: {} is named twice; name it once", *name);
    plan.answers.push_back(*name == kRecordedAnswer ? std::nullopt : std::optional(*variant++));
  }
  plan.limits = solvers.limits;
  check_size(plan, reader, request, first.geometry->vertices.rows());
  return plan;
}

}  // namespace signorini
