#include "linalg/residual_polynomial.h"

#include <cmath>

namespace signorini {

namespace {

constexpr double kUp = 1.05, kDown = 1.02;  ///< steps of the scans: how sharp the bounds are

}  // namespace

void ResidualPolynomial::begin() {
  alpha_.reserve(kLongest);
  beta_.reserve(kLongest);
  alpha_.clear();
  beta_.clear();
  whole_ = true;
}

void ResidualPolynomial::add(double alpha, double beta) {
  whole_ = whole_ && alpha_.size() < kLongest;
  if (!whole_) return;
  alpha_.push_back(alpha);
  beta_.push_back(beta);
}

double ResidualPolynomial::value(double lambda) const {
  double p = 1.0, d = 1.0;
  for (std::size_t k = 0; k < alpha_.size(); ++k) {
    p -= alpha_[k] * lambda * d;
    d = p + beta_[k] * d;
  }
  return std::abs(p);
}

SpectrumBounds ResidualPolynomial::exclude(double reduction, double share) const {
  const double bound = reduction / share;
  SpectrumBounds bounds;
  if (!whole_ || alpha_.empty() || !(bound < 1.0)) return bounds;
  const auto may_hold = [&](double lambda) { return value(lambda) <= bound; };  // false for ∞ and NaN
  for (double lambda = kStart; lambda < 1.0 && !may_hold(lambda); lambda *= kUp) bounds.low = lambda;
  if (may_hold(kEnd)) return {};
  bounds.high = kEnd;
  for (double lambda = kEnd; lambda > 1.0 && !may_hold(lambda); lambda /= kDown) bounds.high = lambda;
  return bounds;
}

}  // namespace signorini
