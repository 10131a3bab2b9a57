#include "bodies/spring_network.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/check.h"

namespace signorini {

namespace {

/// −∂f/∂x or −∂f/∂v of an element of n nodes is a sum of c g gᵀ; this is one such term.
template <std::size_t n>
struct Term {
  double c = 0.0;
  std::array<Vector3, n> g;
};

// --- springs ---

struct SpringShape {
  double length = 0.0;
  Vector3 e = Vector3::Zero();  // zero for length 0
};

SpringShape shape_of(const Spring& spring, std::span<const Vector3> x) {
  const Vector3 d = x[spring.j] - x[spring.i];
  const double length = d.norm();
  return {length, length > 0.0 ? Vector3(d / length) : Vector3(Vector3::Zero())};
}

double spring_energy(const Spring& spring, double length) {
  return 0.5 * spring.stiffness / spring.rest * (length - spring.rest) * (length - spring.rest);
}

/// dt² K + dt C of the pair: the block at (i, i), its negative at (i, j).
Matrix3 spring_block(const Spring& spring, const SpringShape& s, double dt) {
  if (!(s.length > 0.0)) return Matrix3::Zero();
  const Matrix3 along = s.e * s.e.transpose();
  const double across = std::max(0.0, 1.0 - spring.rest / s.length);
  const double k = spring.stiffness / spring.rest;
  return dt * dt * k * (along + across * (Matrix3::Identity() - along)) +
         dt * (spring.damping / spring.rest) * along;
}

// --- hinges ---

struct HingeShape {
  double angle = 0.0;
  bool bent = false;                    // the plane of i, j, k exists
  std::array<Vector3, 3> slope;         // ∇θ
  std::array<Vector3, 3> out_of_plane;  // t
};

HingeShape shape_of(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k) {
  HingeShape s;
  s.slope.fill(Vector3::Zero());
  s.out_of_plane.fill(Vector3::Zero());
  const Vector3 a = x_i - x_j;
  const Vector3 b = x_k - x_j;
  const double length_a = a.norm();
  const double length_b = b.norm();
  constexpr double kNoLength = 1e-100;  // m; the squares of slopes must stay finite
  if (!(length_a > kNoLength) || !(length_b > kNoLength)) return s;
  const Vector3 cross = a.cross(b);
  const double sine = cross.norm();
  s.angle = std::atan2(sine, a.dot(b));
  // Below this sine the direction of a × b is mostly rounding.
  s.bent = sine > 1e-12 * length_a * length_b;
  const Vector3 n = s.bent ? Vector3(cross / sine) : a.unitOrthogonal();
  s.slope[0] = (a / length_a).cross(n) / length_a;
  s.slope[2] = n.cross(b / length_b) / length_b;
  s.slope[1] = -s.slope[0] - s.slope[2];
  s.out_of_plane[0] = n / length_a;
  s.out_of_plane[2] = n / length_b;
  s.out_of_plane[1] = -s.out_of_plane[0] - s.out_of_plane[2];
  return s;
}

HingeShape shape_of(const Hinge& hinge, std::span<const Vector3> x) {
  return shape_of(x[hinge.i], x[hinge.j], x[hinge.k]);
}

double hinge_energy(const Hinge& hinge, double angle) {
  return 0.5 * hinge.stiffness * (angle - hinge.rest) * (angle - hinge.rest);
}

std::array<Term<3>, 2> stiffness_terms(const Hinge& hinge, const HingeShape& s) {
  // Rest turns below this come from rounding of a straight rest shape.
  constexpr double kStraight = 1e-6;
  const double turn = std::numbers::pi - s.angle;
  const double rest_turn = std::numbers::pi - hinge.rest;
  double across = 1.0;
  if (rest_turn > kStraight) across = s.bent ? std::max(0.0, 1.0 - rest_turn / turn) : 0.0;
  return {Term<3>{hinge.stiffness, s.slope}, Term<3>{hinge.stiffness * across, s.out_of_plane}};
}

// --- folds ---

struct FoldShape {
  double angle = 0.0;
  bool exists = false;
  std::array<Vector3, 4> slope;  // ∇θ
};

FoldShape fold_shape(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k, const Vector3& x_l) {
  FoldShape s;
  s.slope.fill(Vector3::Zero());
  const Vector3 edge = x_k - x_j;
  const double length = edge.norm();
  const Vector3 n_1 = area_vector(x_i, x_j, x_k);
  const Vector3 n_2 = area_vector(x_l, x_k, x_j);
  const double flat = 1e-6 * length * length;  // of a triangle with height 10⁻⁶ |e|
  if (!(n_1.norm() > flat) || !(n_2.norm() > flat)) return s;
  s.exists = true;
  s.angle = std::atan2(n_1.cross(n_2).dot(edge) / length, n_1.dot(n_2));
  // A tip moves against its normal: θ grows by displacement / height.
  s.slope[0] = -length / n_1.squaredNorm() * n_1;
  s.slope[3] = -length / n_2.squaredNorm() * n_2;
  // The ends of the edge balance force and torque.
  const double s_i = (x_i - x_j).dot(edge) / (length * length);
  const double s_l = (x_l - x_j).dot(edge) / (length * length);
  s.slope[1] = -(1.0 - s_i) * s.slope[0] - (1.0 - s_l) * s.slope[3];
  s.slope[2] = -s_i * s.slope[0] - s_l * s.slope[3];
  return s;
}

FoldShape shape_of(const Fold& fold, std::span<const Vector3> x) {
  return fold_shape(x[fold.i], x[fold.j], x[fold.k], x[fold.l]);
}

/// θ − θ₀ in (−π, π].
double deviation(const Fold& fold, double angle) {
  constexpr double kTurn = 2.0 * std::numbers::pi;
  double w = angle - fold.rest;
  while (w > std::numbers::pi) w -= kTurn;
  while (w <= -std::numbers::pi) w += kTurn;
  return w;
}

double fold_energy(const Fold& fold, const FoldShape& s) {
  const double w = deviation(fold, s.angle);
  return s.exists ? 0.5 * fold.stiffness * w * w : 0.0;
}

// --- matrix ---

/// The blocks of the matrix in the order of the elements: from the prepared list or by search.
class BlockCursor {
 public:
  BlockCursor(BlockSparseMatrix& A, const std::vector<Index>& slots) : A_(A), slots_(slots) {}

  Eigen::Map<Matrix3> next(Index i, Index j) {
    const Index block = slots_.empty() ? find_block(A_, i, j) : slots_[at_++];
    SIGNORINI_CHECK(block >= 0);
    return Eigen::Map<Matrix3>(A_.block(block));
  }

 private:
  BlockSparseMatrix& A_;
  const std::vector<Index>& slots_;
  std::size_t at_ = 0;
};

template <std::size_t n, std::size_t terms>
void add_terms(const std::array<Index, n>& nodes, const std::array<Term<n>, terms>& parts, double scale,
               BlockCursor& blocks) {
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      Eigen::Map<Matrix3> block = blocks.next(nodes[a], nodes[b]);
      for (const Term<n>& part : parts) block += (scale * part.c * part.g[a]) * part.g[b].transpose();
    }
  }
}

std::array<Index, 3> nodes_of(const Hinge& h) { return {h.i, h.j, h.k}; }
std::array<Index, 4> nodes_of(const Fold& f) { return {f.i, f.j, f.k, f.l}; }

template <std::size_t n>
void add_pairs(const std::array<Index, n>& nodes, std::vector<std::array<Index, 2>>& pairs) {
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      pairs.push_back({std::min(nodes[a], nodes[b]), std::max(nodes[a], nodes[b])});
    }
  }
}

template <std::size_t n>
void add_gradient(const std::array<Index, n>& nodes, const std::array<Vector3, n>& slope, double scale,
                  std::span<Vector3> force) {
  for (std::size_t a = 0; a < n; ++a) force[nodes[a]] += scale * slope[a];
}

template <std::size_t n>
std::array<double, n> norms(const std::array<Vector3, n>& slope) {
  std::array<double, n> result;
  for (std::size_t a = 0; a < n; ++a) result[a] = slope[a].norm();
  return result;
}

// --- validation ---

template <std::size_t n>
void check_nodes(std::string_view context, const char* kind, std::size_t number,
                 const std::array<Index, n>& nodes, Index vertices) {
  for (std::size_t a = 0; a < n; ++a) {
    if (nodes[a] < 0 || nodes[a] >= vertices) {
      throw_usage("{}: {} {} uses vertex {}, there are {}", context, kind, number, nodes[a], vertices);
    }
    for (std::size_t b = 0; b < a; ++b) {
      if (nodes[a] == nodes[b]) {
        throw_usage("{}: {} {} uses vertex {} twice", context, kind, number, nodes[a]);
      }
    }
  }
}

void check_value(std::string_view context, const char* kind, std::size_t number, const char* name,
                 double value) {
  if (!(value >= 0.0) || !std::isfinite(value)) {
    throw_usage("{}: {} {} has {} {}; it must be finite and not negative", context, kind, number, name,
                value);
  }
}

}  // namespace

double hinge_angle(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k) {
  return shape_of(x_i, x_j, x_k).angle;
}

double fold_angle(const Vector3& x_i, const Vector3& x_j, const Vector3& x_k, const Vector3& x_l) {
  return fold_shape(x_i, x_j, x_k, x_l).angle;
}

void SpringNetwork::validate(std::string_view context) const {
  if (vertices.empty()) throw_usage("{}: a spring network needs vertices", context);
  if (mass.size() != vertices.size()) {
    throw_usage("{}: {} masses for {} vertices", context, mass.size(), vertices.size());
  }
  for (std::size_t v = 0; v < vertices.size(); ++v) {
    if (!vertices[v].allFinite()) throw_usage("{}: vertex {} is not finite", context, v);
    if (!(mass[v] > 0.0) || !std::isfinite(mass[v])) {
      throw_usage("{}: mass {} kg of vertex {} is not positive", context, mass[v], v);
    }
  }
  if (!(damping >= 0.0) || !std::isfinite(damping)) {
    throw_usage("{}: damping {} 1/s is negative or not finite", context, damping);
  }
  for (std::size_t s = 0; s < springs.size(); ++s) {
    check_nodes<2>(context, "spring", s, {springs[s].i, springs[s].j}, count(vertices));
    check_value(context, "spring", s, "stiffness", springs[s].stiffness);
    check_value(context, "spring", s, "damping", springs[s].damping);
    check_value(context, "spring", s, "rest length", springs[s].rest);
    if (springs[s].rest == 0.0) throw_usage("{}: spring {} has rest length 0", context, s);
  }
  for (std::size_t h = 0; h < hinges.size(); ++h) {
    check_nodes(context, "hinge", h, nodes_of(hinges[h]), count(vertices));
    check_value(context, "hinge", h, "stiffness", hinges[h].stiffness);
    check_value(context, "hinge", h, "rest angle", hinges[h].rest);
    if (hinges[h].rest > std::numbers::pi) {
      throw_usage("{}: rest angle {} of hinge {} is above pi", context, hinges[h].rest, h);
    }
  }
  for (std::size_t f = 0; f < folds.size(); ++f) {
    check_nodes(context, "fold", f, nodes_of(folds[f]), count(vertices));
    check_value(context, "fold", f, "stiffness", folds[f].stiffness);
    if (!(std::abs(folds[f].rest) <= std::numbers::pi)) {
      throw_usage("{}: rest angle {} of fold {} is outside [-pi, pi]", context, folds[f].rest, f);
    }
  }
  for (std::size_t t = 0; t < triangles.size(); ++t) {
    check_nodes(context, "triangle", t, triangles[t], count(vertices));
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    check_nodes(context, "edge", e, edges[e], count(vertices));
  }
}

void SpringElements::add(const SpringNetwork& network, Index first_node) {
  const std::span<const Vector3> x = network.vertices;
  for (Spring spring : network.springs) {
    spring.i += first_node;
    spring.j += first_node;
    springs_.push_back(spring);
  }
  for (Hinge hinge : network.hinges) {
    hinge_slope_.push_back(norms(shape_of(hinge, x).slope));
    hinge.i += first_node;
    hinge.j += first_node;
    hinge.k += first_node;
    hinges_.push_back(hinge);
  }
  for (Fold fold : network.folds) {
    fold_slope_.push_back(norms(shape_of(fold, x).slope));
    fold.i += first_node;
    fold.j += first_node;
    fold.k += first_node;
    fold.l += first_node;
    folds_.push_back(fold);
  }
  slots_.clear();
}

void SpringElements::couplings(std::vector<std::array<Index, 2>>& pairs) const {
  for (const Spring& spring : springs_) add_pairs<2>({spring.i, spring.j}, pairs);
  for (const Hinge& hinge : hinges_) add_pairs(nodes_of(hinge), pairs);
  for (const Fold& fold : folds_) add_pairs(nodes_of(fold), pairs);
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

void SpringElements::prepare(const BlockSparseMatrix& pattern) {
  slots_.clear();
  const auto look_up = [&](const auto& nodes) {
    for (const Index a : nodes) {
      for (const Index b : nodes) {
        slots_.push_back(find_block(pattern, a, b));
        SIGNORINI_CHECK(slots_.back() >= 0);
      }
    }
  };
  for (const Spring& spring : springs_) look_up(std::array<Index, 2>{spring.i, spring.j});
  for (const Hinge& hinge : hinges_) look_up(nodes_of(hinge));
  for (const Fold& fold : folds_) look_up(nodes_of(fold));
}

double SpringElements::energy(std::span<const Vector3> position) const {
  double sum = 0.0;
  for (const Spring& spring : springs_) sum += spring_energy(spring, shape_of(spring, position).length);
  for (const Hinge& hinge : hinges_) sum += hinge_energy(hinge, shape_of(hinge, position).angle);
  for (const Fold& fold : folds_) sum += fold_energy(fold, shape_of(fold, position));
  return sum;
}

double SpringElements::add_forces(std::span<const Vector3> position, std::span<const Vector3> velocity,
                                  std::span<Vector3> force) const {
  double energy = 0.0;
  for (const Spring& spring : springs_) {
    const SpringShape s = shape_of(spring, position);
    const double rate = s.e.dot(velocity[spring.j] - velocity[spring.i]);
    const Vector3 f =
        (spring.stiffness * (s.length - spring.rest) + spring.damping * rate) / spring.rest * s.e;
    force[spring.i] += f;
    force[spring.j] -= f;
    energy += spring_energy(spring, s.length);
  }
  for (const Hinge& hinge : hinges_) {
    const HingeShape s = shape_of(hinge, position);
    if (s.bent) add_gradient(nodes_of(hinge), s.slope, -hinge.stiffness * (s.angle - hinge.rest), force);
    energy += hinge_energy(hinge, s.angle);
  }
  for (const Fold& fold : folds_) {
    const FoldShape s = shape_of(fold, position);
    if (s.exists) add_gradient(nodes_of(fold), s.slope, -fold.stiffness * deviation(fold, s.angle), force);
    energy += fold_energy(fold, s);
  }
  return energy;
}

void SpringElements::add_stiffness(std::span<const Vector3> position, std::span<const Vector3> velocity,
                                   double dt, BlockSparseMatrix& A, std::span<double> rhs) const {
  BlockCursor blocks(A, slots_);
  for (const Spring& spring : springs_) {
    const SpringShape s = shape_of(spring, position);
    const Matrix3 block = spring_block(spring, s, dt);
    blocks.next(spring.i, spring.i) += block;
    blocks.next(spring.i, spring.j) -= block;
    blocks.next(spring.j, spring.i) -= block;
    blocks.next(spring.j, spring.j) += block;
    // dt C v
    const double rate = s.e.dot(velocity[spring.j] - velocity[spring.i]);
    const Vector3 pull = dt * (spring.damping / spring.rest) * rate * s.e;
    Eigen::Map<Vector3>(rhs.data() + 3 * spring.i) -= pull;
    Eigen::Map<Vector3>(rhs.data() + 3 * spring.j) += pull;
  }
  for (const Hinge& hinge : hinges_) {
    add_terms(nodes_of(hinge), stiffness_terms(hinge, shape_of(hinge, position)), dt * dt, blocks);
  }
  for (const Fold& fold : folds_) {
    const std::array<Term<4>, 1> term{Term<4>{fold.stiffness, shape_of(fold, position).slope}};
    add_terms(nodes_of(fold), term, dt * dt, blocks);
  }
}

double SpringElements::largest_stable_step(std::span<const double> mass) const {
  std::vector<double> stiffness(mass.size(), 0.0);  // row sums of |K|, N/m
  std::vector<double> damping(mass.size(), 0.0);    // row sums of |C|, N·s/m
  for (const Spring& spring : springs_) {
    for (const Index i : {spring.i, spring.j}) {
      stiffness[i] += 2.0 * spring.stiffness / spring.rest;
      damping[i] += 2.0 * spring.damping / spring.rest;
    }
  }
  const auto add_slopes = [&stiffness](const auto& nodes, const auto& slope, double c) {
    double sum = 0.0;
    for (const double s : slope) sum += s;
    for (std::size_t a = 0; a < nodes.size(); ++a) {
      stiffness[nodes[a]] += c * slope[a] * sum;
    }
  };
  for (std::size_t h = 0; h < hinges_.size(); ++h) {
    // In the plane and out of it the slopes have the same size to first order.
    add_slopes(nodes_of(hinges_[h]), hinge_slope_[h], 2.0 * hinges_[h].stiffness);
  }
  for (std::size_t f = 0; f < folds_.size(); ++f) {
    add_slopes(nodes_of(folds_[f]), fold_slope_[f], folds_[f].stiffness);
  }
  double squared_frequency = 0.0;
  double rate = 0.0;
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (stiffness[i] == 0.0 && damping[i] == 0.0) continue;
    squared_frequency = std::max(squared_frequency, stiffness[i] / mass[i]);
    rate = std::max(rate, damping[i] / mass[i]);
  }
  const double sum = rate + std::sqrt(rate * rate + 4.0 * squared_frequency);
  return sum > 0.0 ? 4.0 / sum : std::numeric_limits<double>::infinity();
}

}  // namespace signorini
