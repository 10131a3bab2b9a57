#include "solvers/region_trace.h"

#include <algorithm>
#include <cmath>

namespace signorini {

void RegionTrace::open(int first, int length) {
  begin_ = first;
  end_ = first + length;
  next_ = 0;
  shown_ = 0;
  iterations_.clear();
  iterates_.clear();
  phase_of_.clear();
  progress_.clear();
}

void RegionTrace::on_progress(int, const IterationProgress& progress) {
  latest_ = progress;
  told_ = true;
}

void RegionTrace::on_iteration(int iteration, std::span<const double> r, std::string_view phase) {
  if (first_seen_ < 0) first_seen_ = iteration;
  last_ = std::max(last_, iteration);
  if (iteration < begin_ || iteration >= end_) return;
  size_ = r.size();
  iterations_.push_back(iteration);
  iterates_.insert(iterates_.end(), r.begin(), r.end());
  progress_.push_back(told_ ? latest_ : IterationProgress{});
  const auto found = std::find(phases_.begin(), phases_.end(), phase);
  phase_of_.push_back(found - phases_.begin());
  if (found == phases_.end()) phases_.emplace_back(phase);
}

bool RegionTrace::advance(int k) {
  const std::size_t before = next_;
  while (next_ < iterations_.size() && iterations_[next_] <= k) shown_ = next_++;
  return next_ > before;
}

std::span<const double> RegionTrace::iterate() const {
  return std::span<const double>(iterates_).subspan(shown_ * size_, size_);
}

namespace {

void scatter(std::span<const Index> contacts, std::span<const double> part, std::span<double> whole) {
  for (std::size_t i = 0; i < contacts.size(); ++i) {
    std::copy_n(part.begin() + 3 * i, 3, whole.begin() + 3 * contacts[i]);
  }
}

/// NaN is "not told", never an error.
double larger(double a, double b) { return std::isnan(a) || b > a ? b : a; }

void join(IterationProgress& whole, const IterationProgress& part) {
  whole.plain = larger(whole.plain, part.plain);
  whole.preconditioned = larger(whole.preconditioned, part.preconditioned);
  whole.constraint = larger(whole.constraint, part.constraint);
  const long long sweeps = std::max(whole.counters.contact_sweeps, part.counters.contact_sweeps);
  whole.counters += part.counters;
  whole.counters.contact_sweeps = sweeps;
}

}  // namespace

void replay_regions(const RegionPartition& partition, std::span<RegionTrace> traces,
                    std::span<const double> final_r, int first, int end, std::span<double> shown,
                    IterationObserver& observer) {
  const std::size_t regions = traces.size();
  std::vector<bool> finished(regions, false);
  for (int k = first; k < end; ++k) {
    std::string_view phase;
    bool any = regions == 0;
    bool running = false;
    IterationProgress progress;
    bool told = false;
    for (std::size_t i = 0; i < regions; ++i) {
      const auto contacts = partition.region(static_cast<Index>(i));
      RegionTrace& trace = traces[i];
      const bool ended = k > trace.last();
      any = any || (trace.first_seen() >= 0 && trace.first_seen() <= k);
      if (ended) {
        told = told || trace.told();
        if (trace.told()) join(progress, trace.progress(true));
        if (finished[i]) continue;
        const std::size_t offset = 3 * partition.region_begin[i];
        scatter(contacts, final_r.subspan(offset, 3 * contacts.size()), shown);
        finished[i] = true;
      } else if (trace.advance(k)) {
        scatter(contacts, trace.iterate(), shown);
        phase = running && phase != trace.phase() ? std::string_view("mixed") : trace.phase();
        running = true;
      }
      if (!ended && trace.told()) {
        told = true;
        join(progress, trace.progress(false));
      }
    }
    if (any && told) observer.on_progress(k, progress);
    if (any) observer.on_iteration(k, shown, phase);
  }
}

}  // namespace signorini
