#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace signorini {

/// n velocities (or momenta) and 3m impulses (or contact velocities), a vector of the saddle-point systems of
/// contacts; the second part is 0 outside the active rows.
struct SaddleVector {
  std::vector<double> v;
  std::vector<double> c;
  void resize(std::size_t n, std::size_t rows) {
    v.assign(n, 0.0);
    c.assign(rows, 0.0);
  }
};

/// y += alpha x
inline void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += alpha * x[i];
}
/// y = x + beta y
inline void xpby(std::span<const double> x, double beta, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + beta * y[i];
}

}  // namespace signorini
