#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "solvers/contact_error.h"
#include "solvers/node_coupling.h"
#include "solvers/primal_system.h"
#include "solvers/relaxation/sweep_stages.h"

/// Projected Gauss–Seidel over the contacts with W_D = Hᵀ D⁻¹ H [1/kg] in the place of the Delassus operator, D the
/// node blocks of M's diagonal: finds r (3m, N·s) with
///
///     u = W_D r/ω + q  [m/s]   and the contact law
///
/// At every contact N, T1, T2 are repeated before the sweep moves on (Otaduy 2009, eqs. 11, 13, 14; docs/theory.md,
/// C26). W_D is block diagonal over the mass-point regions (its connected components), so every region solves its
/// own problem (docs/theory.md, Regions and islands): with an arena regions are tasks. Contacts of one region are
/// visited in the order of their numbers or, `coloured`, colour by colour; then threads share the colours of a large
/// region (relaxation/sweep_stages.h). The bits are those of one thread.
namespace signorini {

class ContactSweep {
 public:
  /// Which impulses move; the others stay what they are.
  enum class Moves : std::uint8_t { all, normals, tangents };

  /// When the iteration of a region ends.
  struct Rule {
    double enough = 0.0;   ///< m/s: a sweep that corrects by no more
    int limit = 1;         ///< sweeps at most
    bool changes = false;  ///< or all regions together: where the residuals of a sweep over all contacts, of
                           ///< the normal condition and of friction, differ by at most `share` from the last
    double share = 0.05;
    double closing = std::numeric_limits<double>::infinity();  ///< m/s: … and no contact closes faster than
    int repetitions = 3;                                       ///< of N, T1, T2 at a contact
    Moves moves = Moves::all;
    std::span<const double> bounds = {};  ///< m: of friction, N·s; empty: μ r_N
  };
  /// Of the iterations of all regions.
  struct Outcome {
    double first = 0.0;  ///< largest correction of the first sweeps, m/s; NaN when r stopped being finite
    int sweeps = 0;      ///< of the region with most
  };

  /// `system` must outlive the use. `order`: not symmetric; automatic chooses region by region.
  void prepare(const PrimalSystem& system, SweepOrder order = SweepOrder::natural);
  /// From r, region by region until `rule` ends it. A contact with (W_D)_NN = 0 gets r = 0.
  Outcome run(double omega, std::span<const double> q, const Rule& rule, std::span<double> r,
              TaskArena* arena = nullptr);
  /// q = u − W_D r.
  void without_own(std::span<const double> u, std::span<const double> r, std::span<double> q);
  Index regions() const { return count(region_begin_) - 1; }

 private:
  /// Largest quantities of a sweep in m/s, each as the sweep reached its contact.
  struct Seen {
    double correction = 0.0;  ///< largest; NaN when r stopped being finite
    double normal = 0.0;      ///< largest residual of the normal condition
    double tangent = 0.0;     ///< largest residual of friction
    double closing = 0.0;     ///< largest −u_N
  };
  Outcome run_until_settled(double inverse_omega, std::span<const double> q, const Rule& rule,
                            std::span<double> r, TaskArena* arena);
  /// A coloured region that threads share.
  struct Split {
    Index region = 0;
    SweepStages stages;
    std::vector<Seen> seen;  ///< one per piece
  };
  Seen sweep_region(double inverse_omega, std::span<const double> q, const Rule& rule, Index region,
                    std::span<double> r);
  Seen sweep_split(double inverse_omega, std::span<const double> q, const Rule& rule, Split& split,
                   std::span<double> r, TaskArena* arena);
  Seen sweep_places(double inverse_omega, std::span<const double> q, const Rule& rule, Index first,
                    Index last, std::span<double> r);
  template <class Law, bool Plain>
  Seen sweep_places_by(double inverse_omega, std::span<const double> q, const Rule& rule, Index first,
                       Index last, std::span<double> r);
  static Seen joined(const Seen& a, const Seen& b);
  template <class Sweep>
  static Outcome repeat(const Rule& rule, const Sweep& sweep);
  Vector3 own_velocity(Index place, std::span<const double> r) const;
  void find_regions();
  void colour_regions(SweepOrder order);
  void move_rows();
  void split_region(Index region, std::span<const Index> colour);
  void gather_tasks();
  Index work_of(Index region) const;

  const PrimalSystem* system_ = nullptr;
  bool by_nodes_ = false;  ///< W_D is not formed
  NodeCoupling coupling_;
  std::vector<InverseMass> inverse_mass_;  ///< m: of the diagonal blocks of W_D
  std::vector<Index> region_begin_, region_contacts_;
  BlockSparseMatrix moved_;  ///< where regions are coloured: rows of W_D by place
  std::vector<Split> splits_;
  std::vector<char> is_split_;      ///< per region
  std::vector<Index> region_task_;  ///< tasks + 1: regions
  std::vector<Outcome> outcome_;    ///< one per region
  std::vector<Seen> seen_;          ///< one per region
};

}  // namespace signorini
