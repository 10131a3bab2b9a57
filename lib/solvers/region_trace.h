#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "regions/region_partition.h"
#include "solvers/solver.h"

/// Traces of single regions and their replay as iterates of the whole problem.
///
/// After k iterations every region shows its own iterate k, or its final values where it stopped earlier. Of
/// what the solvers tell, norms are maxima over the regions, counters are sums (sweeps: those of the region
/// with most); a region that has ended keeps its last values. Buffers hold a window of iterations only;
/// regions are solved again for the next window.
namespace signorini {

/// Keeps the iterates of one region whose numbers lie in [first, first + length).
class RegionTrace : public IterationObserver {
 public:
  void open(int first, int length);
  void on_iteration(int iteration, std::span<const double> r, std::string_view phase) override;
  void on_progress(int iteration, const IterationProgress& progress) override;

  /// Largest iteration number seen so far, inside the window or not; −1: none.
  int last() const { return last_; }
  int first_seen() const { return first_seen_; }

  /// Moves on to iteration k; true when a kept iterate is at most k and newer than what was shown before.
  bool advance(int k);
  std::span<const double> iterate() const;
  std::string_view phase() const { return phases_[phase_of_[shown_]]; }
  bool told() const { return told_; }
  /// With the iterate that is shown, or after the end of the region.
  const IterationProgress& progress(bool ended) const {
    return ended || progress_.empty() ? latest_ : progress_[shown_];
  }

 private:
  int begin_ = 0;
  int end_ = 0;
  int last_ = -1;
  int first_seen_ = -1;
  std::size_t size_ = 0;  ///< doubles per iterate
  std::size_t next_ = 0;  ///< first kept iterate that was not shown yet
  std::size_t shown_ = 0;
  std::vector<int> iterations_;
  std::vector<double> iterates_;
  std::vector<std::size_t> phase_of_;
  std::vector<IterationProgress> progress_;  ///< of the kept iterates
  IterationProgress latest_;
  bool told_ = false;
  std::vector<std::string> phases_;
};

/// Shows iterations [first, end) of the assembled problem to `observer`. `shown`: the assembled iterate, 3m,
/// carried from window to window. `final_r`: 3m in the order of `partition.contacts`. The phase is that of
/// the regions still running, or "mixed" when they differ.
void replay_regions(const RegionPartition& partition, std::span<RegionTrace> traces,
                    std::span<const double> final_r, int first, int end, std::span<double> shown,
                    IterationObserver& observer);

}  // namespace signorini
