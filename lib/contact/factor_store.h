#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "linalg/spd_factor.h"
#include "linalg/types.h"

/// Cholesky factors of the mechanical bodies of M that several users of one matrix share: the time step, which solves for the
/// free motion and for the response to impulses, and the solver of each of its contact problems (ContactProblem::factors).
///
/// A body is known by the bits of its matrix M_b, wherever it stands in M. So a factor that is found has the bits of a new one.
/// A body whose matrix has other values and the non-zeros of one before takes the analysis of that.
///
/// Not thread safe, and a factor has workspaces: one user at a time.
namespace signorini {

class FactorStore {
 public:
  struct Body {
    std::shared_ptr<const SparseRows> block;  ///< M_b, kg
    std::uint64_t digest = 0;                 ///< of its values
    std::shared_ptr<const SpdPattern> pattern;
    std::shared_ptr<const SpdFactor> factor;
  };
  static Body with_digest(SparseRows block);

  /// Another matrix comes: bodies that nobody has asked for since the last call are forgotten.
  void turn_over();
  /// Of bodies that nobody has asked for since the last `turn_over` the factors are forgotten, the analyses are not.
  void settle();

  /// Gives bodies the factors of equal matrices, each of which serves one of them; `factor` stays empty where there is none.
  void give_factors(std::span<Body* const> wanted);
  void keep(const Body& body) { entries_.push_back({body, true}); }
  std::size_t size() const { return entries_.size(); }
  /// Calls use(block, pattern) for the bodies that are kept, of at most two matrices.
  template <class Use>
  void for_analyses(const Use& use) const {
    for (const Entry& entry : entries_) use(*entry.body.block, entry.body.pattern);
  }

 private:
  struct Entry {
    Body body;
    bool asked = true;
  };
  std::vector<Entry> entries_;
};

}  // namespace signorini
