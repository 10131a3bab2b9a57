#pragma once

#include <array>
#include <span>
#include <vector>

/// Fixed points b = F(b) of maps whose plain iteration converges slowly or diverges, by Anderson's
/// acceleration (Anderson 1965; Walker and Ni 2011). With the errors e_i = F(b_i) − b_i of the last steps,
///
///     γ = argmin ‖D (e_k − Σ γ_j Δe_j)‖₂,   b_{k+1} = max(0, b_k + β e_k − Σ γ_j (Δb_j + β Δe_j))
///
/// Δ: differences of neighbouring steps; D: a diagonal that makes the entries comparable; β: kPart. An affine
/// map with as many bad eigenvalues as the history is long is solved, whatever their size.
namespace signorini {

class FixedPointHistory {
 public:
  static constexpr int kLength = 4;
  static constexpr double kPart = 0.5;

  void resize(std::size_t n);
  void forget() { known_ = 0; }
  /// b ← the next point, from e = F(b) − b. Allocates nothing.
  void step(std::span<const double> scale, std::span<const double> e, std::span<double> b);

 private:
  std::array<std::vector<double>, kLength> points_, errors_;  ///< Δb, Δe
  std::vector<double> last_point_, last_error_;
  int known_ = 0;  ///< steps seen
};

}  // namespace signorini
