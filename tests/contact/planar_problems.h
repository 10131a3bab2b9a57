#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/rng.h"
#include "contact/contact_problem.h"
#include "contact/problem_zoo.h"

/// Equations in the plane, two rows per contact, and all their solutions by enumeration: no code of the solvers, of
/// `to_space` or of the referee takes part.
namespace signorini::plane {

/// Rigid bodies (x, y, angle) with contacts between them or against an obstacle.
struct BodyWorld {
  struct Contact {
    Index a = 0;                   // pushed along n
    Index b = -1;                  // pushed along −n; −1: obstacle
    double angle = 0.0;            // of n
    Eigen::Vector2d arm_a, arm_b;  // from the centres to the point
    double mu = 0.3;
  };
  std::vector<Vector3> mass;           // m, m, inertia
  std::vector<Vector3> free_velocity;  // x, y, angle
  std::vector<Contact> contacts;

  /// `coupling` adds a spring-like term between neighbouring bodies to M.
  ContactProblem build(double coupling = 0.0) const {
    using Entry = Eigen::Triplet<double, Index>;
    const Index n = 3 * count(mass), m = count(contacts);
    std::vector<Entry> M, H;
    for (Index i = 0; i < n; ++i) {
      M.emplace_back(i, i, mass[i / 3][i % 3] + (coupling > 0.0 ? 2.0 * coupling : 0.0));
      if (coupling > 0.0 && i + 3 < n) {
        M.emplace_back(i, i + 3, -coupling);
        M.emplace_back(i + 3, i, -coupling);
      }
    }
    ContactProblem p;
    p.mu.resize(m);
    for (Index k = 0; k < m; ++k) {
      const Contact& c = contacts[k];
      p.mu[k] = c.mu;
      const Eigen::Vector2d directions[2] = {{std::cos(c.angle), std::sin(c.angle)},
                                             {-std::sin(c.angle), std::cos(c.angle)}};
      for (Index row = 0; row < 2; ++row) {
        const auto push = [&](Index body, const Eigen::Vector2d& arm, double sign) {
          if (body < 0) return;
          const Eigen::Vector2d& d = directions[row];
          const double values[3] = {d[0], d[1], arm[0] * d[1] - arm[1] * d[0]};
          for (Index i = 0; i < 3; ++i) H.emplace_back(3 * body + i, 2 * k + row, sign * values[i]);
        };
        push(c.a, c.arm_a, +1.0);
        push(c.b, c.arm_b, -1.0);
      }
    }
    p.M.resize(n, n);
    p.M.setFromTriplets(M.begin(), M.end());
    p.H.resize(n, 2 * m);
    p.H.setFromTriplets(H.begin(), H.end());
    p.f.resize(n);
    for (Index i = 0; i < n; ++i) p.f[i] = mass[i / 3][i % 3] * free_velocity[i / 3][i % 3];
    p.w = Vector::Zero(2 * m);
    return p;
  }
};

/// A chain of bodies in random positions, each contact with a body of its own that it pushes.
inline ContactProblem random_chain(Index contacts, double mu, double coupling, std::uint64_t seed) {
  Rng rng(seed);
  BodyWorld world;
  for (Index k = 0; k < contacts; ++k) {
    world.mass.push_back({rng.uniform(0.5, 2.0), 0.0, rng.uniform(0.2, 0.6)});
    world.mass.back()[1] = world.mass.back()[0];
    world.free_velocity.push_back({rng.uniform(-1.0, 1.0), rng.uniform(-2.0, 0.5), rng.uniform(-1.0, 1.0)});
    BodyWorld::Contact c;
    c.a = k;
    c.b = k - 1;
    c.angle = 0.5 * std::numbers::pi + rng.uniform(-0.6, 0.6);
    c.arm_a = {rng.uniform(-0.5, 0.5), rng.uniform(-0.7, -0.3)};
    c.arm_b = {rng.uniform(-0.5, 0.5), rng.uniform(0.3, 0.7)};
    c.mu = mu;
    world.contacts.push_back(c);
  }
  return world.build(coupling);
}

/// Equal discs (radius ½, 1 kg) in `rows` staggered rows of `columns` on a floor, all falling at 1 m/s and some
/// sideways: about three contacts per disc.
inline ContactProblem disc_heap(Index columns, Index rows, double mu) {
  BodyWorld world;
  Rng rng(3);
  const auto disc = [columns](Index i, Index j) { return i + columns * j; };
  const auto touch = [&](Index a, Index b, double angle) {
    const Eigen::Vector2d n(std::cos(angle), std::sin(angle));
    world.contacts.push_back({a, b, angle, -0.5 * n, 0.5 * n, mu});
  };
  for (Index j = 0; j < rows; ++j) {
    for (Index i = 0; i < columns; ++i) {
      world.mass.push_back({1.0, 1.0, 0.125});
      world.free_velocity.push_back({rng.uniform(-0.3, 0.3), -1.0, rng.uniform(-0.3, 0.3)});
      if (j == 0) touch(disc(i, j), -1, 0.5 * std::numbers::pi);
      if (i > 0) touch(disc(i, j), disc(i - 1, j), 0.0);
      if (j == 0) continue;
      // odd rows lie half a disc to the right
      const Index left = j % 2 == 0 ? i - 1 : i;
      if (left >= 0) touch(disc(i, j), disc(left, j - 1), std::numbers::pi / 3.0);
      if (left + 1 < columns) touch(disc(i, j), disc(left + 1, j - 1), 2.0 * std::numbers::pi / 3.0);
    }
  }
  return world.build();
}

/// A block (2 kg, half sides 0.5 and 0.2, inertia 0.19) slides down a slope of tan α = 0.4 on its two lower corners
/// with μ = 0.3. It does not turn, so r_N1 + r_N2 = G cos α, r_T = −μ r_N, and the moments about the centre,
/// a (r_N2 − r_N1) + h (r_T1 + r_T2) = 0, give r_N = ½ (1 ∓ μ h/a) G cos α. The tangents are one row twice.
struct SlidingBlock {
  double a = 0.5, h = 0.2, mu = 0.3, mass = 2.0, inertia = 0.19, alpha = std::atan(0.4);
  double weight() const { return mass * 9.81e-3; }

  /// Dofs along the slope, across it, rotation: a corner at (x, −h) moves by (1, 0, h) and (0, 1, x).
  ContactProblem equations() const {
    Matrix H(3, 4);
    H << 0, 1, 0, 1, 1, 0, 1, 0, -a, h, a, h;
    const Vector f = zoo::vector_of({weight() * std::sin(alpha), -weight() * std::cos(alpha), 0});
    return zoo::make_primal(zoo::vector_of({mass, mass, inertia}).asDiagonal(), H, f, Vector::Zero(4),
                            Vector::Constant(2, mu));
  }
  /// The same in space, on the same two points, free to move and turn in six dofs.
  ContactProblem in_space() const {
    Matrix H = Matrix::Zero(6, 6);
    for (Eigen::Index k = 0; k < 2; ++k) {
      const Vector3 arm(k == 0 ? -a : a, -h, 0.0);
      const Vector3 directions[3] = {Vector3::UnitY(), Vector3::UnitX(), Vector3::UnitZ()};
      for (Eigen::Index row = 0; row < 3; ++row) {
        H.block<3, 1>(0, 3 * k + row) = directions[row];
        H.block<3, 1>(3, 3 * k + row) = zoo::cross(arm, directions[row]);
      }
    }
    const Vector f = zoo::vector_of({weight() * std::sin(alpha), -weight() * std::cos(alpha), 0, 0, 0, 0});
    return zoo::make_primal(zoo::vector_of({mass, mass, mass, 0.1, 0.15, inertia}).asDiagonal(), H, f,
                            Vector::Zero(6), Vector::Constant(2, mu));
  }
  /// Three rows per contact.
  Vector answer() const {
    const double N = 0.5 * weight() * std::cos(alpha), change = mu * h / a;
    return zoo::vector_of(
        {N * (1 - change), -mu * N * (1 - change), 0, N * (1 + change), -mu * N * (1 + change), 0});
  }
};

/// u = W r + q, dense, two rows per contact.
struct Reduced {
  Matrix W;
  Vector q, mu;
};

inline Reduced reduce(const ContactProblem& planar) {
  if (planar.has_dual()) return {Matrix(planar.W), planar.q, planar.mu};
  const Matrix H = planar.H;
  const Eigen::PartialPivLU<Matrix> M{Matrix(planar.M)};
  return {H.transpose() * M.solve(H), H.transpose() * M.solve(planar.f) + planar.w, planar.mu};
}

/// Every solution whose contacts are open, stick, or slide one way or the other; 4^m linear systems. Those that are
/// singular are passed over.
inline std::vector<Vector> all_solutions(const Reduced& p) {
  enum State { open, stick, forward, backward };
  const Eigen::Index m = p.mu.size();
  std::vector<Vector> found;
  for (Eigen::Index code = 0; code < (Eigen::Index{1} << (2 * m)); ++code) {
    const auto state = [code](Eigen::Index k) { return static_cast<State>((code >> (2 * k)) & 3); };
    Matrix A = Matrix::Zero(2 * m, 2 * m);
    Vector b = Vector::Zero(2 * m);
    for (Eigen::Index k = 0; k < m; ++k) {
      const Eigen::Index N = 2 * k, T = 2 * k + 1;
      if (state(k) == open) {
        A(N, N) = A(T, T) = 1.0;
        continue;
      }
      A.row(N) = p.W.row(N);
      b[N] = -p.q[N];
      if (state(k) == stick) {
        A.row(T) = p.W.row(T);
        b[T] = -p.q[T];
      } else {
        A(T, T) = 1.0;
        A(T, N) = state(k) == forward ? p.mu[k] : -p.mu[k];
      }
    }
    const Eigen::FullPivLU<Matrix> factor(A);
    if (!factor.isInvertible()) continue;
    const Vector r = factor.solve(b);
    const Vector u = p.W * r + p.q;
    const double slack_r = 1e-10 * r.cwiseAbs().maxCoeff(), slack_u = 1e-10 * p.q.cwiseAbs().maxCoeff();
    bool right = true;
    for (Eigen::Index k = 0; k < m && right; ++k) {
      const double r_N = r[2 * k], r_T = r[2 * k + 1], u_N = u[2 * k], u_T = u[2 * k + 1];
      right = r_N >= -slack_r && u_N >= -slack_u && std::abs(r_T) <= p.mu[k] * r_N + slack_r;
      if (state(k) == forward) right = right && u_T >= -slack_u;
      if (state(k) == backward) right = right && u_T <= slack_u;
    }
    if (right) found.push_back(r);
  }
  return found;
}

}  // namespace signorini::plane
