#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Vectors of saddle-point systems, and the loops over them that the Krylov methods share.
namespace signorini {

/// (v; λ): n velocities in m/s and 3m impulses in N·s, or (ρ_v; ρ_c): n momenta in kg m/s and 3m contact
/// velocities in m/s. The second part is 0 outside the active rows.
struct SaddleVector {
  std::vector<double> v;
  std::vector<double> c;
  void resize(std::size_t n, std::size_t rows) {
    v.assign(n, 0.0);
    c.assign(rows, 0.0);
  }
};

/// K x, and Hᵀ x_v of every contact, active or not (3m; m/s).
struct SaddleImage {
  SaddleVector K;
  std::vector<double> H;
  void resize(std::size_t n, std::size_t rows) {
    K.resize(n, rows);
    H.assign(rows, 0.0);
  }
};

inline std::span<const double> cut(const std::vector<double>& x, std::size_t begin, std::size_t end) {
  return std::span<const double>(x).subspan(begin, end - begin);
}
inline std::span<double> cut(std::vector<double>& x, std::size_t begin, std::size_t end) {
  return std::span<double>(x).subspan(begin, end - begin);
}

/// y += alpha x
inline void axpy(double alpha, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += alpha * x[i];
}
/// y = x + beta y
inline void xpby(std::span<const double> x, double beta, std::span<double> y) {
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] + beta * y[i];
}

}  // namespace signorini
