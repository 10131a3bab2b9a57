// A solver outside of the tree: projected Gauss–Seidel that sweeps forward and backward in turn.
//
// For one contact k after the other, with the newest impulses of all others:
//
//     u_k = Σ_j W_kj r_j + q_k
//     r_N ← max(0, r_N − ω u_N/W_NN),   r_T ← r_T − ω u_T/λ, brought back to the bound μ r_N
//
// λ is the largest eigenvalue of the tangential part of W_kk.
#include <signorini/solver_plugin.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace {

using namespace signorini::plugin;

class Example final : public Solver {
 public:
  static constexpr About kAbout{"example", "projected Gauss-Seidel that sweeps forward and backward in turn",
                                "examples/plugin", Needs::delassus, Tells::last};
  static constexpr std::array kOptions{
      Option::number("omega", "1", "relaxation factor, in (0, 2)"),
      Option::text("order", "symmetric", "forward, or forward and backward in turn", "symmetric|forward")};

  explicit Example(const Options& options)
      : omega_(options.number("omega")), symmetric_(options.text("order") == "symmetric") {
    if (!(omega_ > 0.0 && omega_ < 2.0)) throw std::invalid_argument("omega must be in (0, 2)");
  }

  void prepare(const Problem& problem) override {
    problem_ = &problem;
    stiffness_.assign(static_cast<std::size_t>(problem.contacts), {});
    for (std::int32_t k = 0; k < problem.contacts; ++k) {
      const BlockMatrix& W = problem.W;
      const auto* column = std::lower_bound(W.column + W.row_begin[k], W.column + W.row_begin[k + 1], k);
      const double* D = W.value + 9 * (column - W.column);
      const double tangent = 0.5 * (D[4] + D[8]) + std::hypot(0.5 * (D[4] - D[8]), 0.5 * (D[5] + D[7]));
      stiffness_[static_cast<std::size_t>(k)] = {D[0], std::max(0.0, tangent)};
    }
  }

  void start(double* /*r*/, const Start& /*start*/) override { forward_ = true; }

  Step iterate(double* r) override {
    double correction = 0.0;
    for (std::int32_t i = 0; i < problem_->contacts; ++i)
      correction = std::max(correction, relax(forward_ ? i : problem_->contacts - 1 - i, r));
    forward_ = !(symmetric_ && forward_);
    Step step;
    step.sweeps = 1;
    step.estimate = correction / omega_;
    return step;
  }

 private:
  struct Stiffness {
    double normal, tangent;  // 1/kg
  };

  /// Solves contact k; returns its correction in m/s.
  double relax(std::int32_t k, double* r) const {
    const BlockMatrix& W = problem_->W;
    const Stiffness s = stiffness_[static_cast<std::size_t>(k)];
    double* r_k = r + 3 * k;
    const double old[3] = {r_k[0], r_k[1], r_k[2]};
    double u[3] = {problem_->q[3 * k], problem_->q[3 * k + 1], problem_->q[3 * k + 2]};
    for (std::int32_t b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
      const double* block = W.value + 9 * static_cast<std::ptrdiff_t>(b);
      const double* r_j = r + 3 * W.column[b];
      for (int i = 0; i < 3; ++i) u[i] += block[i] * r_j[0] + block[3 + i] * r_j[1] + block[6 + i] * r_j[2];
    }
    r_k[0] = s.normal > 0.0 ? std::max(0.0, old[0] - omega_ * u[0] / s.normal) : 0.0;
    const double bound = problem_->mu[k] * r_k[0];
    for (int i = 1; i < 3; ++i) r_k[i] = s.tangent > 0.0 ? old[i] - omega_ * u[i] / s.tangent : 0.0;
    const double length = std::hypot(r_k[1], r_k[2]);
    for (int i = 1; i < 3; ++i) {
      if (problem_->law == Law::pyramid) r_k[i] = std::max(-bound, std::min(bound, r_k[i]));
      if (problem_->law == Law::cone && length > bound) r_k[i] *= bound / length;
    }
    return std::hypot(s.normal * (r_k[0] - old[0]), s.tangent * (r_k[1] - old[1]),
                      s.tangent * (r_k[2] - old[2]));
  }

  double omega_;
  bool symmetric_;
  bool forward_ = true;
  const Problem* problem_ = nullptr;
  std::vector<Stiffness> stiffness_;
};

}  // namespace

SIGNORINI_SOLVER_PLUGIN(Example)
