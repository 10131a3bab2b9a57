#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <initializer_list>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/friction_law.h"
#include "contact/planar_problem.h"
#include "contact/planted_problem.h"

/// The problem zoo: small problems with known answers that every solver has to get right. Hand answers are
/// derived beside each problem; planted ones come from the Moreau split.
namespace signorini::zoo {

struct Specimen {
  std::string name;
  ContactProblem problem;
  Vector cone;         ///< a solution r for the cone, 3m, N·s; empty: none known
  Vector pyramid;      ///< a solution for the pyramid in the problem's own tangents; empty: none known
  bool unique = true;  ///< r is the only solution (for every law that has one above)

  /// With zero contacts the empty r solves every law.
  bool has_solution(FrictionLaw law) const { return problem.contacts() == 0 || solution(law).size() > 0; }
  const Vector& solution(FrictionLaw law) const { return law == FrictionLaw::cone ? cone : pyramid; }
};

inline void PrintTo(const Specimen& specimen, std::ostream* out) { *out << specimen.name; }

inline Vector vector_of(std::initializer_list<double> values) {
  Vector x(values.size());
  Eigen::Index i = 0;
  for (const double value : values) x[i++] = value;
  return x;
}

inline Matrix matrix_of(Eigen::Index rows, Eigen::Index columns, std::initializer_list<double> row_major) {
  Matrix A(rows, columns);
  Eigen::Index i = 0;
  for (const double value : row_major) {
    A(i / columns, i % columns) = value;
    ++i;
  }
  return A;
}

/// Primal problem from dense matrices; M v = H r + f, u = Hᵀ v + w.
inline ContactProblem make_primal(const Matrix& M, const Matrix& H, const Vector& f, const Vector& w,
                                  const Vector& mu) {
  ContactProblem problem;
  problem.M = M.sparseView();
  problem.H = H.sparseView();
  problem.M.makeCompressed();
  problem.H.makeCompressed();
  problem.f = f;
  problem.w = w;
  problem.mu = mu;
  problem.dt = 1e-3;
  return problem;
}

/// The same with two rows per contact, as a problem in space.
inline ContactProblem make_planar(const Matrix& M, const Matrix& H, const Vector& f, const Vector& w,
                                  const Vector& mu) {
  return to_space(make_primal(M, H, f, w, mu));
}

/// Dual problem from dense matrices; u = W r + q.
inline ContactProblem make_dual(const Matrix& W, const Vector& q, const Vector& mu) {
  ContactProblem problem;
  problem.W = W.sparseView();
  problem.W.makeCompressed();
  problem.q = q;
  problem.mu = mu;
  return problem;
}

/// Mass points in space, contacts between them or against obstacles, forces as free velocities.
struct PointWorld {
  struct Contact {
    int a;  // pushed along +n
    int b;  // pushed along −n; −1: obstacle
    Matrix3 frame;
    double mu;
    Vector3 w = Vector3::Zero();
  };
  std::vector<double> mass;
  std::vector<Vector3> free_velocity;
  std::vector<Contact> contacts;

  ContactProblem build() const {
    const Eigen::Index n = 3 * mass.size();
    const Eigen::Index m = contacts.size();
    Matrix M = Matrix::Zero(n, n);
    Matrix H = Matrix::Zero(n, 3 * m);
    Vector f(n);
    Vector w(3 * m);
    Vector mu(m);
    for (Eigen::Index i = 0; i < n / 3; ++i) {
      const double m_i = mass[i];
      M.diagonal().segment<3>(3 * i).setConstant(m_i);
      f.segment<3>(3 * i) = m_i * free_velocity[i];
    }
    ContactProblem problem;
    problem.frame.resize(m, 9);
    problem.points.setConstant(m, 4, -1);
    problem.weights.setZero(m, 4);
    problem.bodies.resize(m, 2);
    for (Eigen::Index k = 0; k < m; ++k) {
      const Contact& c = contacts[k];
      if (c.a >= 0) H.block<3, 3>(3 * c.a, 3 * k) = c.frame.transpose();
      if (c.b >= 0) H.block<3, 3>(3 * c.b, 3 * k) = -c.frame.transpose();
      for (Eigen::Index axis = 0; axis < 3; ++axis)
        problem.frame.block<1, 3>(k, 3 * axis) = c.frame.row(axis);
      problem.points(k, 0) = c.a;
      problem.points(k, 1) = c.b;
      problem.weights(k, 0) = 1.0;
      problem.weights(k, 1) = -1.0;
      problem.bodies(k, 0) = c.a;
      problem.bodies(k, 1) = c.b;
      w.segment<3>(3 * k) = c.w;
      mu[k] = c.mu;
    }
    const ContactProblem equations = make_primal(M, H, f, w, mu);
    problem.M = equations.M;
    problem.H = equations.H;
    problem.f = f;
    problem.w = w;
    problem.mu = mu;
    problem.kind = ProblemKind::explicit_step;
    problem.dt = 1e-3;
    problem.gap = problem.dt * Vector(Eigen::Map<const Vector, 0, Eigen::InnerStride<3>>(w.data(), m));
    for (Index body = 0; body <= count(mass); ++body) problem.body_dofs.push_back(3 * body);
    return problem;
  }
};

/// Rows n = e_z, t1 = e_x, t2 = e_y.
inline Matrix3 floor_frame() {
  Matrix3 frame;
  frame << 0, 0, 1, 1, 0, 0, 0, 1, 0;
  return frame;
}

/// `floor_frame` with its tangents turned by `angle` about the normal.
inline Matrix3 turned_floor_frame(double angle) {
  Matrix3 frame;
  frame << 0, 0, 1, std::cos(angle), std::sin(angle), 0, -std::sin(angle), std::cos(angle), 0;
  return frame;
}

inline Specimen make(std::string name, ContactProblem problem, Vector cone, Vector pyramid,
                     bool unique = true) {
  return {std::move(name), std::move(problem), std::move(cone), std::move(pyramid), unique};
}

/// H1: m = 2 kg falls at 2 m/s on the floor: r_N = 2·2 = 4.
inline Specimen h1() {
  const Vector r = vector_of({4, 0, 0});
  return make("h1", PointWorld{{2.0}, {{0, 0, -2}}, {{0, -1, floor_frame(), 0.5}}}.build(), r, r);
}

/// H1b: the same with restitution ½ and an approach of 1 m/s before the step: w_N = ½·(−1), so v = ½ and r_N
/// = 2(2 + ½) = 5.
inline Specimen h1b() {
  const Vector r = vector_of({5, 0, 0});
  return make("h1b_restitution",
              PointWorld{{2.0}, {{0, 0, -2}}, {{0, -1, floor_frame(), 0.5, {-0.5, 0, 0}}}}.build(), r, r);
}

/// H2: 2 kg on 1 kg on the floor, both at −1 m/s: r = (3, 2). Gauss–Seidel contracts by exactly 2/3 per
/// sweep.
inline Specimen h2() {
  const Vector r = vector_of({3, 0, 0, 2, 0, 0});
  return make(
      "h2_stack",
      PointWorld{
          {1.0, 2.0}, {{0, 0, -1}, {0, 0, -1}}, {{0, -1, floor_frame(), 0.5}, {1, 0, floor_frame(), 0.5}}}
          .build(),
      r, r);
}

/// A heavy point (mass ratio 1e6) on a light one: r = (1 + 1e6, 1e6).
inline Specimen heavy_stack() {
  const double heavy = 1e6;
  const Vector r = vector_of({1.0 + heavy, 0, 0, heavy, 0, 0});
  return make(
      "stack_mass_ratio_1e6",
      PointWorld{
          {1.0, heavy}, {{0, 0, -1}, {0, 0, -1}}, {{0, -1, floor_frame(), 0.5}, {1, 0, floor_frame(), 0.5}}}
          .build(),
      r, r);
}

/// H3: 1 kg at (3, 4, −10), μ = 0.3. Cone: r_T = −3 (3, 4)/5. Pyramid in x, y: both components reach the
/// bound 3.
inline Specimen h3() {
  return make("h3_sliding", PointWorld{{1.0}, {{3, 4, -10}}, {{0, -1, floor_frame(), 0.3}}}.build(),
              vector_of({10, -1.8, -2.4}), vector_of({10, -3, -3}));
}

/// H3b: H3 with t1 along (3, 4): pyramid and cone agree.
inline Specimen h3b() {
  const Vector r = vector_of({10, -3, 0});
  return make(
      "h3b_aligned",
      PointWorld{{1.0}, {{3, 4, -10}}, {{0, -1, turned_floor_frame(std::atan2(4.0, 3.0)), 0.3}}}.build(), r,
      r);
}

/// H4: a point on an incline gains dt g (sin θ, −cos θ) along (t1, n) per step.
inline Specimen incline(std::string name, double slope, double mu, double turn, const Vector& cone,
                        const Vector& pyramid) {
  const double theta = std::atan(slope);
  const double gain = 1e-3 * 9.81;
  const Vector3 free{gain * std::sin(theta), 0, -gain * std::cos(theta)};
  return make(std::move(name), PointWorld{{3.0}, {free}, {{0, -1, turned_floor_frame(turn), mu}}}.build(),
              3.0 * gain * cone, 3.0 * gain * pyramid);
}

inline Specimen incline_sticking() {
  const double theta = std::atan(0.49);
  const Vector r = vector_of({std::cos(theta), -std::sin(theta), 0});
  return incline("h4_incline_sticking", 0.49, 0.5, 0.0, r, r);
}

inline Specimen incline_sliding() {
  const double normal = std::cos(std::atan(0.51));
  const Vector r = vector_of({normal, -0.5 * normal, 0});
  return incline("h4_incline_sliding", 0.51, 0.5, 0.0, r, r);
}

/// H4b: tangents at 45° to the slope and μ < tan θ < √2 μ: the cone slides, the pyramid still holds.
inline Specimen incline_diagonal() {
  const double theta = std::atan(0.6);
  const double half = std::sqrt(0.5);
  return incline("h4b_incline_diagonal", 0.6, 0.5, std::atan(1.0),
                 std::cos(theta) * vector_of({1, -0.5 * half, 0.5 * half}),
                 vector_of({std::cos(theta), -half * std::sin(theta), half * std::sin(theta)}));
}

/// H5: W = diag(1, 1, 4), q = (−1, 3, 4), μ = ½. Sliding with u_T = −s r_T and (3/(1+s))² + (4/(4+s))² = μ²
/// r_N² gives s = 7.412838281975917; the pyramid puts both components on their bounds.
inline Vector h5_cone() { return vector_of({1.0, -0.35659784479957842, -0.35048249183703282}); }
inline Vector h5_pyramid() { return vector_of({1.0, -0.5, -0.5}); }
inline Specimen h5() {
  return make("h5_anisotropic",
              make_primal(Matrix::Identity(3, 3), vector_of({1, 1, 2}).asDiagonal().toDenseMatrix(),
                          vector_of({0, 0, 0}), vector_of({-1, 3, 4}), vector_of({0.5})),
              h5_cone(), h5_pyramid());
}
inline Specimen h5_dual() {
  return make(
      "h5_anisotropic_dual",
      make_dual(vector_of({1, 1, 4}).asDiagonal().toDenseMatrix(), vector_of({-1, 3, 4}), vector_of({0.5})),
      h5_cone(), h5_pyramid());
}

/// H6, H8: W_NN = [2 1; 1 2], q_N = (1, −1), no friction: r_N = (0, ½). Three unit masses: n₁ = e₁ + e₂, n₂ =
/// e₂ + e₃.
inline Specimen h6() {
  Matrix H = Matrix::Zero(9, 6);
  H(0, 0) = H(1, 0) = H(1, 3) = H(2, 3) = 1.0;
  H(3, 1) = H(4, 2) = H(5, 4) = H(6, 5) = 1.0;
  const Vector r = vector_of({0, 0, 0, 0.5, 0, 0});
  return make("h6_lcp",
              make_primal(Matrix::Identity(9, 9), H, Vector::Zero(9), vector_of({1, 0, 0, -1, 0, 0}),
                          vector_of({0, 0})),
              r, r);
}
inline Specimen h6_dual() {
  Matrix W = Matrix::Identity(6, 6);
  W(0, 0) = W(3, 3) = 2.0;
  W(0, 3) = W(3, 0) = 1.0;
  const Vector r = vector_of({0, 0, 0, 0.5, 0, 0});
  return make("h6_lcp_dual", make_dual(W, vector_of({1, 0, 0, -1, 0, 0}), vector_of({0, 0})), r, r);
}

/// H7: contacts {a}, {b}, {a, b} are one region. Points fall at 1 and 2 m/s and close in at 2 m/s: r_N = (1,
/// 2, 1).
inline Specimen h7() {
  Matrix3 side;  // n = −e_x pushes a to the left and b to the right
  side << -1, 0, 0, 0, 1, 0, 0, 0, 1;
  const Vector r = vector_of({1, 0, 0, 2, 0, 0, 1, 0, 0});
  return make("h7_one_region",
              PointWorld{{1.0, 1.0},
                         {{1, 0, -1}, {-1, 0, -2}},
                         {{0, -1, floor_frame(), 0.0}, {1, -1, floor_frame(), 0.0}, {0, 1, side, 0.0}}}
                  .build(),
              r, r);
}

/// H1 with its contact stored three times: r_N sums to 4 (W has rank 3 of 9).
inline Specimen duplicated() {
  const PointWorld::Contact contact{0, -1, floor_frame(), 0.5};
  const Vector r = vector_of({1, 0, 0, 2, 0, 0, 1, 0, 0});
  return make("duplicated_contacts", PointWorld{{2.0}, {{0, 0, -2}}, {contact, contact, contact}}.build(), r,
              r, false);
}

inline Vector3 cross(const Vector3& a, const Vector3& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// A rigid plate (20 kg, half sides 0.5 and 0.3, centre 0.2 above the floor) on four legs, pushed sideways by
/// P while gravity gives G: it holds with r_T1 = −P/4 and r_N = G/4 ± P h/(4 a). W has rank 6 of 12, so r is
/// one of many.
inline Specimen plate() {
  const double a = 0.5;
  const double b = 0.3;
  const double h = 0.2;
  const double G = 20.0 * 9.81e-3;
  const double P = 0.2 * G;
  Matrix H = Matrix::Zero(6, 12);
  Vector r(12);
  Eigen::Index leg = 0;
  for (const double x : {-a, a}) {
    for (const double y : {-b, b}) {
      const Vector3 arm{x, y, -h};
      for (Eigen::Index axis = 0; axis < 3; ++axis) {
        const Vector3 direction = floor_frame().row(axis);
        H.block<3, 1>(0, 3 * leg + axis) = direction;
        H.block<3, 1>(3, 3 * leg + axis) = cross(arm, direction);
      }
      r.segment<3>(3 * leg) = Vector3(0.25 * G + (x > 0 ? 1.0 : -1.0) * P * h / (4.0 * a), -0.25 * P, 0.0);
      ++leg;
    }
  }
  const Matrix M = vector_of({20, 20, 20, 0.87, 1.93, 2.27}).asDiagonal();
  ContactProblem problem =
      make_primal(M, H, vector_of({P, 0, -G, 0, 0, 0}), Vector::Zero(12), Vector::Constant(4, 0.5));
  problem.body_dofs = {0, 6};
  problem.bodies.resize(4, 2);
  problem.bodies.col(0).setConstant(0);
  problem.bodies.col(1).setConstant(-1);
  return make("four_legged_plate", std::move(problem), r, r, false);
}

/// A general M of four dofs (not divisible by 3) and one sticking contact: r = (2, 0.5, −0.3), u = 0.
inline Specimen four_dofs() {
  const Matrix M = matrix_of(4, 4, {4, 1, 0, 0.5, 1, 3, 0.5, 0, 0, 0.5, 5, 1, 0.5, 0, 1, 2});
  const Matrix H = matrix_of(4, 3, {1, 0, 0, 0, 1, 0.5, 0.5, 0, 1, 0, 0.5, 0});
  const Vector r = vector_of({2, 0.5, -0.3});
  const Vector v = vector_of({-1, 0.5, 2, -0.25});
  const Vector f = M * v - H * r;
  const Vector w = -H.transpose() * v;
  return make("four_dofs", make_primal(M, H, f, w, vector_of({0.6})), r, r);
}

/// H1 beside a contact between two fixed bodies (an empty W block) that is already opening: its r is free, 0
/// here.
inline Specimen fixed_fixed() {
  const Vector r = vector_of({0, 0, 0, 4, 0, 0});
  return make(
      "fixed_fixed_contact",
      PointWorld{
          {2.0}, {{0, 0, -2}}, {{-1, -1, floor_frame(), 0.5, {0.1, 0, 0}}, {0, -1, floor_frame(), 0.5}}}
          .build(),
      r, r, false);
}

/// The equations of a point of mass m that slides down a wedge of mass M, slope α, on the floor, two rows per
/// contact: point on wedge (normal n, downhill t), wedge on floor. Dofs: x, y of the point, then of the wedge.
struct PlanarWedge {
  double mass = 1.0, wedge_mass = 2.0, alpha = 0.5, mu = 0.2, floor_mu = 0.0, gain = 9.81e-3;

  ContactProblem equations() const {
    const double s = std::sin(alpha), c = std::cos(alpha);
    Matrix H(4, 4);
    H << s, c, 0, 0, c, -s, 0, 0, -s, -c, 0, 1, -c, s, 1, 0;
    return make_primal(vector_of({mass, mass, wedge_mass, wedge_mass}).asDiagonal(), H,
                       vector_of({0, -mass * gain, 0, -wedge_mass * gain}), Vector::Zero(4),
                       vector_of({mu, floor_mu}));
  }
  /// The floor holds the wedge: r_N1 = m g cos α, and the floor answers the rest. Without friction there it gives
  /// way: u_N1 = 0 gives r_N1 = m g cos α/(1 + (m/M) sin α (sin α − μ cos α)).
  Vector answer() const {
    const double s = std::sin(alpha), c = std::cos(alpha);
    const bool held = floor_mu > 0.0;
    const double push = s - mu * c;  // of the wedge, to the left, per unit of r_N1
    const double N = mass * gain * c / (held ? 1.0 : 1.0 + mass / wedge_mass * s * push);
    return vector_of({N, -mu * N, 0, wedge_mass * gain + N * (c + mu * s), held ? N * push : 0.0, 0});
  }
};

inline Specimen planar_wedge(std::string name, double floor_mu) {
  const PlanarWedge wedge{.floor_mu = floor_mu};
  return make(std::move(name), to_space(wedge.equations()), wedge.answer(), wedge.answer());
}

/// The wedge that gives way, from W and q alone.
inline Specimen planar_wedge_dual() {
  const PlanarWedge wedge;
  const ContactProblem p = wedge.equations();
  const Matrix H = p.H;
  const Matrix inverse = Vector(p.M.diagonal()).cwiseInverse().asDiagonal();
  return make("planar_wedge_dual",
              to_space(make_dual(H.transpose() * inverse * H, H.transpose() * (inverse * p.f), p.mu)),
              wedge.answer(), wedge.answer());
}

/// No contacts, three dofs.
inline Specimen no_contacts() {
  return make("no_contacts", PointWorld{{2.0}, {{0, 0, -2}}, {}}.build(), {}, {});
}

/// No contacts, no dofs.
inline Specimen nothing() { return make("nothing", ContactProblem{}, {}, {}); }

inline Specimen planted(std::string name, const PlantedOptions& options) {
  PlantedProblem made = make_planted_problem(options);
  const bool cone = options.law == FrictionLaw::cone;
  // Without friction and duplicates the multiplier is unique (W_NN is positive definite); with friction it
  // need not be.
  const bool unique = options.mu == 0.0 && options.duplicates == 0;
  Vector other = options.mu == 0.0 ? made.r : Vector();
  return make(std::move(name), std::move(made.problem), cone ? made.r : other, cone ? other : made.r, unique);
}

inline std::vector<Specimen> planted_specimens() {
  const auto with = [](auto change) {
    PlantedOptions options;
    change(options);
    return options;
  };
  return {
      planted("planted_one", with([](auto& o) { o.contacts = 1; })),
      planted("planted_cone", with([](auto& o) { o.seed = 11; })),
      planted("planted_pyramid", with([](auto& o) { o.law = FrictionLaw::pyramid, o.seed = 12; })),
      planted("planted_frictionless", with([](auto& o) { o.mu = 0.0, o.seed = 13; })),
      planted("planted_rough", with([](auto& o) { o.contacts = 5, o.mu = 10.0, o.seed = 14; })),
      planted("planted_implicit", with([](auto& o) { o.stiffness = 1.0, o.seed = 15; })),
      planted("planted_implicit_pyramid",
              with([](auto& o) { o.stiffness = 1.0, o.law = FrictionLaw::pyramid, o.seed = 16; })),
      planted("planted_regions", with([](auto& o) { o.contacts = 24, o.regions = 6, o.seed = 17; })),
      planted("planted_implicit_regions",
              with([](auto& o) { o.contacts = 24, o.regions = 4, o.stiffness = 1.0, o.seed = 18; })),
      planted("planted_duplicates", with([](auto& o) { o.duplicates = 6, o.seed = 19; })),
  };
}

/// All of them, names unique.
inline std::vector<Specimen> problem_zoo() {
  std::vector<Specimen> all{nothing(),
                            no_contacts(),
                            h1(),
                            h1b(),
                            h2(),
                            h3(),
                            h3b(),
                            incline_sticking(),
                            incline_sliding(),
                            incline_diagonal(),
                            h5(),
                            h5_dual(),
                            h6(),
                            h6_dual(),
                            h7(),
                            four_dofs(),
                            duplicated(),
                            plate(),
                            heavy_stack(),
                            fixed_fixed(),
                            planar_wedge("planar_wedge_moving", 0.0),
                            planar_wedge("planar_wedge_held", 0.8),
                            planar_wedge_dual()};
  for (Specimen& specimen : planted_specimens()) all.push_back(std::move(specimen));
  return all;
}

inline Specimen specimen(std::string_view name) {
  for (Specimen& candidate : problem_zoo()) {
    if (candidate.name == name) return candidate;
  }
  throw std::invalid_argument("no such specimen: " + std::string(name));
}

}  // namespace signorini::zoo
