#include "harness/follow_regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/check.h"
#include "base/median.h"
#include "base/text.h"

namespace signorini {
namespace {

/// Elements by the order in which they are met; `count` receives how many there are.
ContactElements numbered_as_met(const ContactElements& elements, Index& count) {
  ContactElements out = elements;
  std::vector<Index> sorted = elements.element;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Index> number(sorted.size(), -1);
  count = 0;
  for (Index& element : out.element) {
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), element) - sorted.begin();
    Index& own = number[place];
    if (own < 0) own = count++;
    element = own;
  }
  return out;
}

ContactElements elements_of(const ContactProblem& problem, RegionMode mode) {
  if (problem.contacts() == 0) return {};
  if (problem.features.rows() != problem.contacts() || (problem.dofs() > 0 && problem.node_numbers.empty()))
    throw_usage(
        "regions over time: the contacts of this recording cannot be followed (no 'features', "
        "'node_numbers'); "
        "record it again");
  return contact_elements(problem, mode);
}

std::vector<std::uint64_t> keys_of(const ContactProblem& problem) {
  return problem.contacts() == 0 ? std::vector<std::uint64_t>{} : contact_keys(problem);
}

double median(const std::vector<TimedRepetition>& times) {
  std::vector<double> values;
  for (const TimedRepetition& one : times) values.push_back(one.seconds);
  return median_of(std::move(values));
}

}  // namespace

std::string follow_header() {
  return "file,step,region_mode,contacts,regions,largest_region,kept,added,removed,reunited,torn,churn,same,"
         "update_seconds,rebuild_seconds\n";
}

std::string follow_line(const FollowRow& row) {
  return fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{:d},{},{}\n", row.file, row.step,
                     enum_name(row.mode), row.contacts, row.regions, row.largest_region, row.churn.kept,
                     row.churn.added, row.churn.removed, row.churn.reunited, row.churn.torn,
                     exact_text(row.churn.share()), row.same, exact_text(row.update_seconds),
                     exact_text(row.rebuild_seconds));
}

void RegionFollower::start(const ContactProblem& problem) {
  regions_.forget();
  regions_.update(keys_of(problem), elements_of(problem, regions_.partition().mode));
}

FollowRow RegionFollower::next(const ContactProblem& problem) {
  const RegionMode mode = regions_.partition().mode;
  const std::vector<std::uint64_t> keys = keys_of(problem);
  const ContactElements elements = elements_of(problem, mode);
  Index count = 0;
  const ContactElements dense = numbered_as_met(elements, count);

  ContactElements handed;
  RegionPartition rebuilt;
  const double estimate = 1e-6 + 3e-8 * problem.contacts();
  const TimedTask tasks[] = {
      {"update",
       [&] {
         trial_ = regions_;
         handed = elements;
       },
       [&] { trial_.update(keys, std::move(handed)); }, estimate},
      {"rebuild", [] {}, [&] { rebuilt = partition_elements(dense, mode, count); }, estimate}};
  const std::vector<std::vector<TimedRepetition>> times = time_interleaved(tasks, timer_);

  const RegionPartition& now = regions_.update(keys, elements);
  FollowRow row;
  row.mode = mode;
  row.contacts = problem.contacts();
  row.regions = now.regions();
  row.largest_region = now.largest();
  row.churn = regions_.churn();
  row.same = now.label == rebuilt.label && now.region_begin == rebuilt.region_begin &&
             now.contacts == rebuilt.contacts;
  row.update_seconds = median(times[0]);
  row.rebuild_seconds = median(times[1]);
  return row;
}

long long step_of_frame(const std::string& id) { return std::atoll(id.c_str()); }

std::vector<std::string> last_solves(const std::vector<std::string>& frames) {
  std::vector<std::string> last;
  for (const std::string& id : frames) {
    if (!last.empty() && step_of_frame(last.back()) == step_of_frame(id)) last.pop_back();
    last.push_back(id);
  }
  return last;
}

}  // namespace signorini
