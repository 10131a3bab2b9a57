#pragma once

#include <span>

/// Work and span of what a solver repeats: a sweep over the contacts, or one iteration on each region. Counted from the
/// plan after `prepare`, never from a clock.
///
/// A plan is stages, one after the other; the pieces of a stage are independent of each other. On p cores
///
///     T_1 = Σ_stages Σ pieces             the work
///     T_∞ = Σ_stages longest piece        the span: no number of cores is faster
///     T_p = Σ_stages (list schedule of the pieces on p cores + b where there are several pieces and cores)
///
/// A list schedule gives the next piece to the core that is free first (Graham 1969), as the threads of base/stages.h and
/// oneTBB's tasks take them. It lies between max(longest piece, work/p) and work/p + longest piece. With n equal pieces it is
/// ⌈n/p⌉ of them. b is what a barrier costs, in the unit of the pieces: contacts of a sweep, blocks of W for regions.
///
/// Not counted: what a method does beside its sweeps (conjugate directions, sums, the exact error), threads that share a
/// memory bus, and barriers that grow with p. T_1/T_p is therefore what the plan allows, not what a machine will reach.
namespace signorini {

struct WorkAndSpan {
  double work = 0.0;  ///< T_1
  double span = 0.0;  ///< T_∞
  double time = 0.0;  ///< T_p

  /// T_1/T_p; 1 where there is nothing to do.
  double speedup() const { return time == 0.0 ? 1.0 : work / time; }
};

/// When the last piece ends, on `cores` ≥ 1. Pieces are begun in this order.
double list_schedule(std::span<const double> pieces, int cores);

/// One stage more.
void add_stage(std::span<const double> pieces, int cores, double barrier, WorkAndSpan& sum);

}  // namespace signorini
