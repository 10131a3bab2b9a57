#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

/// Anderson's acceleration of type II (Anderson 1965; Walker and Ni 2011, eq. 2.2 and section 4) of the fixed
/// point iteration x ← G(x). From the pairs y = G(x), f = y − x of the last window + 1 points, Δ the
/// differences of neighbours,
///
///     γ = argmin ‖S (f − Σ γ_j Δf_j)‖₂² + η Σ γ_j² ‖S Δf_j‖₂²,     x ← y − Σ γ_j Δy_j
///
///     x, y, f: n     S: n, diagonal; makes the entries comparable     η = kShift
///
/// by the normal equations, of order ≤ window, equilibrated. Appending a pair is one pass over the columns Δf,
/// in pieces that stay in cache; sums are in a fixed order. If G is affine and n ≤ window, the next point after
/// n + 1 pairs is its fixed point.
namespace signorini {

class AndersonHistory {
 public:
  static constexpr int kMostColumns = 20;

  /// Allocates for n = scale.size() entries and `window` columns, 1 … kMostColumns.
  void prepare(std::span<const double> scale, int window);
  void forget();
  /// The pair of one more point.
  void append(std::span<const double> y, std::span<const double> f);
  /// y of the last pair → the next point; false, and `y` as it was, where the history has none to offer.
  bool extrapolate(std::span<double> y) const;
  /// y of the last pair.
  std::span<const double> last() const { return last_y_; }

 private:
  static constexpr double kShift = 1e-12;
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, kMostColumns, kMostColumns>;
  using Few = Eigen::Matrix<double, Eigen::Dynamic, 1, 0, kMostColumns, 1>;

  void append_piece(std::size_t begin, std::size_t size, std::span<const double> y,
                    std::span<const double> f);

  std::vector<double> scale_;
  std::vector<std::vector<double>> df_, dy_;  ///< columns S Δf and Δy
  std::vector<double> last_f_, last_y_;       ///< S f and y
  Small normal_;                              ///< (S Δf_i)·(S Δf_j)
  Few right_;                                 ///< (S Δf_j)·(S f)
  int pairs_ = 0;                             ///< since `forget`
  int newest_ = 0;                            ///< column
  int used_ = 0;                              ///< columns
};

}  // namespace signorini
