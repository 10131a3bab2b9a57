#include "contact/planted_problem.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "contact/direction_rows.h"
#include "contact/mass_factor.h"

namespace signorini {

namespace {

constexpr double kTimeStep = 1e-3;      // s
constexpr double kSmallestMass = 1e-2;  // kg
constexpr Index kWindow = 24;  // a contact reaches back this many nodes: the net is long, like a surface

Vector3 random_direction(Rng& rng) {
  Vector3 d;
  do {
    d = {rng.normal(), rng.normal(), rng.normal()};
  } while (d.norm() < 1e-3);
  return d.normalized();
}

/// Rows n, t1, t2 of a random right-handed orthonormal frame.
Matrix3 random_frame(Rng& rng) {
  const Vector3 n = random_direction(rng);
  Vector3 t1;
  do {
    t1 = random_direction(rng);
    t1 -= n.dot(t1) * n;
  } while (t1.norm() < 0.1);
  t1.normalize();
  Matrix3 frame;
  frame << n.transpose(), t1.transpose(), n.cross(t1).transpose();
  return frame;
}

/// One contact of the net: a point against a triangle, some of whose corners may be pinned (−1).
struct PlantedContact {
  std::array<Index, 4> point{-1, -1, -1, -1};
  std::array<double, 4> weight{};
  Matrix3 frame;
  Vector3 r;  // N·s
  Vector3 u;  // m/s
};

/// Where a region's contacts and nodes lie.
struct RegionRange {
  Index first_contact = 0;
  Index contacts = 0;
  Index duplicates = 0;  // of its contacts, the last ones
  Index sharing = 0;     // of its contacts, those before the duplicates: they bring no node
  Index first_node = 0;
  Index nodes = 0;
};

/// Equal shares; every region gets three nodes more than it has contacts that bring a new point. (Where all
/// do, H has full column rank.)
std::vector<RegionRange> divide(const PlantedOptions& options) {
  std::vector<RegionRange> ranges(options.regions);
  const auto share = [&](int total, std::size_t i) {
    return static_cast<Index>(total / options.regions +
                              (static_cast<int>(i) < total % options.regions ? 1 : 0));
  };
  Index contact = 0;
  Index node = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    RegionRange& range = ranges[i];
    range.first_contact = contact;
    range.contacts = share(options.contacts, i);
    range.duplicates = share(options.duplicates, i);
    range.first_node = node;
    range.sharing = static_cast<Index>(options.sharing * (range.contacts - range.duplicates));
    range.nodes = range.contacts - range.duplicates - range.sharing + 3;
    contact += range.contacts;
    node += range.nodes;
  }
  return ranges;
}

/// The Moreau split of a random z, times the effective mass s: r ∈ K, û ∈ K*, r ⊥ û.
void plant_solution(const PlantedOptions& options, double s, Rng& rng, PlantedContact& contact) {
  const Vector3 z{rng.normal() + 0.3, 0.7 * rng.normal(), 0.7 * rng.normal()};
  if (is_cone(options.law)) {
    const Vector3 p = FrictionCone{options.mu}.project(z);
    contact.r = s * p;
    contact.u = p - z;
    contact.u[0] -= options.mu * contact.u.tail<2>().norm();
    if (z[0] > 0.0 && p[0] > 0.0 && p == z) contact.u.setZero();
    return;
  }
  Vector3 p;
  p[0] = std::max(0.0, z[0]);
  p.tail<2>() = FrictionPyramid::project_tangent(z.tail<2>(), options.mu * p[0]);
  contact.r = s * p;
  contact.u = p - z;
}

/// Contact number `k` of a region: its own new point over a triangle of earlier nodes.
PlantedContact plant_contact(const PlantedOptions& options, const RegionRange& range, Index k,
                             const Vector& mass, Rng& rng) {
  PlantedContact contact;
  const Index point = range.first_node + 3 + k;
  const Index window = std::min<Index>(kWindow, 3 + k);
  contact.point[0] = point;
  contact.weight[0] = 1.0;
  double sum = 0.0;
  std::array<double, 3> corner{};
  for (double& weight : corner) sum += weight = rng.uniform(0.1, 1.0);
  for (std::size_t c = 0; c < 3; ++c) {
    // The first corner is the previous node, which keeps the region connected.
    Index node = point - 1;
    while (c > 0 && (node == contact.point[1] || node == contact.point[2])) {
      node = point - 1 - static_cast<Index>(rng.below(static_cast<std::uint64_t>(window)));
    }
    if (c == 1 && k == 0) node = point - 2;
    if (c == 2 && k == 0) node = point - 3;
    contact.point[c + 1] = node;
    contact.weight[c + 1] = -corner[c] / sum;
  }
  // One contact in four has a pinned corner; the first contact ties the first three nodes and keeps all of
  // its own.
  if (k > 0 && rng.uniform() < 0.25) contact.point[3] = -1;
  contact.frame = random_frame(rng);
  plant_solution(options, mass[point], rng, contact);
  return contact;
}

/// A contact between nodes that are there: one of them over a triangle of three earlier ones.
PlantedContact join_contact(const PlantedOptions& options, const RegionRange& range, const Vector& mass,
                            Rng& rng) {
  PlantedContact contact;
  const Index rank = 3 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(range.nodes - 3)));
  const Index window = std::min<Index>(kWindow, rank);
  contact.point[0] = range.first_node + rank;
  contact.weight[0] = 1.0;
  double sum = 0.0;
  std::array<double, 3> corner{};
  for (double& weight : corner) sum += weight = rng.uniform(0.1, 1.0);
  for (std::size_t c = 0; c < 3; ++c) {
    Index node;
    do {
      node = contact.point[0] - 1 - static_cast<Index>(rng.below(static_cast<std::uint64_t>(window)));
    } while ((c > 0 && node == contact.point[1]) || (c > 1 && node == contact.point[2]));
    contact.point[c + 1] = node;
    contact.weight[c + 1] = -corner[c] / sum;
  }
  contact.frame = random_frame(rng);
  plant_solution(options, mass[contact.point[0]], rng, contact);
  return contact;
}

PlantedContact repeat_contact(const PlantedContact& original, Rng& rng) {
  PlantedContact copy = original;
  copy.r *= rng.uniform(0.25, 2.0);  // K is a cone: c r solves the law with the same û
  return copy;
}

std::vector<PlantedContact> plant_contacts(const PlantedOptions& options,
                                           const std::vector<RegionRange>& ranges, const Vector& mass) {
  std::vector<PlantedContact> contacts;
  contacts.reserve(options.contacts);
  Rng rng(options.seed, 2);
  for (const RegionRange& range : ranges) {
    const Index originals = range.contacts - range.duplicates;
    const Index bringing = originals - range.sharing;
    for (Index k = 0; k < bringing; ++k) contacts.push_back(plant_contact(options, range, k, mass, rng));
    for (Index k = 0; k < range.sharing; ++k) contacts.push_back(join_contact(options, range, mass, rng));
    for (Index k = 0; k < range.duplicates; ++k) {
      const auto pick = static_cast<Index>(rng.below(static_cast<std::uint64_t>(originals)));
      contacts.push_back(repeat_contact(contacts[range.first_contact + pick], rng));
    }
  }
  return contacts;
}

/// M = D + dt² K with k dt² = stiffness · m for every spring; each node is tied to the one before it and to a
/// random earlier one.
SparseRows make_mass_matrix(const PlantedOptions& options, const std::vector<RegionRange>& ranges,
                            const Vector& mass) {
  std::vector<Eigen::Triplet<double, Index>> entries;
  for (Index node = 0; node < count(mass); ++node) {
    for (Index d = 0; d < 3; ++d) entries.emplace_back(3 * node + d, 3 * node + d, mass[node]);
  }
  Rng rng(options.seed, 3);
  const auto add_spring = [&](Index a, Index b) {
    const Vector3 direction = random_direction(rng);
    const double k = options.stiffness * kSmallestMass * rng.uniform(0.5, 1.5);
    const Matrix3 block = k * (0.9 * direction * direction.transpose() + 0.1 * Matrix3::Identity());
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        entries.emplace_back(3 * a + i, 3 * a + j, block(i, j));
        entries.emplace_back(3 * b + i, 3 * b + j, block(i, j));
        entries.emplace_back(3 * a + i, 3 * b + j, -block(i, j));
        entries.emplace_back(3 * b + i, 3 * a + j, -block(i, j));
      }
    }
  };
  if (options.stiffness > 0.0) {
    for (const RegionRange& range : ranges) {
      for (Index i = 1; i < range.nodes; ++i) {
        const Index node = range.first_node + i;
        add_spring(node, node - 1);
        const Index back =
            1 + static_cast<Index>(rng.below(static_cast<std::uint64_t>(std::min(i, kWindow))));
        if (back > 1) add_spring(node, node - back);
      }
    }
  }
  const Eigen::Index n = 3 * mass.size();
  SparseRows M(n, n);
  M.setFromTriplets(entries.begin(), entries.end());
  return M;
}

/// H_p,k = weight · (n t1 t2)
SparseColumns make_directions(const std::vector<PlantedContact>& contacts, Eigen::Index n) {
  SparseColumns H(n, 3 * contacts.size());
  H.reserve(36 * contacts.size());
  std::array<std::size_t, 4> order{};
  for (Index k = 0; k < count(contacts); ++k) {
    const PlantedContact& contact = contacts[k];
    order = {0, 1, 2, 3};
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return contact.point[a] < contact.point[b]; });
    for (Index axis = 0; axis < 3; ++axis) {
      const Index column = 3 * k + axis;
      H.startVec(column);
      for (const std::size_t i : order) {
        if (contact.point[i] < 0) continue;
        for (Index d = 0; d < 3; ++d)
          H.insertBack(3 * contact.point[i] + d, column) = contact.weight[i] * contact.frame(axis, d);
      }
    }
  }
  H.finalize();
  return H;
}

void fill_metadata(const std::vector<PlantedContact>& contacts, const std::vector<RegionRange>& ranges,
                   const PlantedOptions& options, ContactProblem& problem) {
  const Eigen::Index m = contacts.size();
  problem.kind = options.stiffness > 0.0 ? ProblemKind::implicit_step : ProblemKind::explicit_step;
  problem.dt = kTimeStep;
  problem.mu = Vector::Constant(m, options.mu);
  problem.frame.resize(m, 9);
  problem.position.resize(m, 3);
  problem.points.resize(m, 4);
  problem.weights.resize(m, 4);
  problem.bodies.resize(m, 2);
  Rng rng(options.seed, 4);
  for (Eigen::Index k = 0; k < m; ++k) {
    const PlantedContact& contact = contacts[k];
    for (Eigen::Index a = 0; a < 3; ++a) problem.frame.block<1, 3>(k, 3 * a) = contact.frame.row(a);
    for (Eigen::Index i = 0; i < 3; ++i) problem.position(k, i) = rng.uniform();
    for (Eigen::Index i = 0; i < 4; ++i) {
      problem.points(k, i) = contact.point[i];
      problem.weights(k, i) = contact.weight[i];
    }
  }
  problem.body_dofs.push_back(0);
  for (Index body = 0; body < count(ranges); ++body) {
    const RegionRange& range = ranges[body];
    problem.body_dofs.push_back(3 * (range.first_node + range.nodes));
    problem.bodies.middleRows(range.first_contact, range.contacts).setConstant(body);
  }
}

void check_options(const PlantedOptions& options) {
  if (options.contacts < 0) throw_usage("planted problem: {} contacts, need 0 or more", options.contacts);
  if (options.regions < 1 || (options.contacts > 0 && options.regions > options.contacts)) {
    throw_usage("planted problem: {} regions, need 1 to {} (the number of contacts)", options.regions,
                options.contacts);
  }
  if (options.duplicates < 0 ||
      (options.duplicates > 0 && options.duplicates > options.contacts - options.regions)) {
    throw_usage("planted problem: {} duplicates, need 0 to {} (contacts − regions)", options.duplicates,
                options.contacts - options.regions);
  }
  if (!(options.sharing >= 0.0 && options.sharing < 1.0))
    throw_usage("planted problem: sharing = {}, need 0 to less than 1", options.sharing);
  if (!(options.mu >= 0.0) || !std::isfinite(options.mu))
    throw_usage("planted problem: mu = {}, need a number ≥ 0", options.mu);
  if (!(options.stiffness >= 0.0) || !std::isfinite(options.stiffness)) {
    throw_usage("planted problem: stiffness = {}, need a number ≥ 0", options.stiffness);
  }
  if (!(options.mass_ratio >= 1.0) || !std::isfinite(options.mass_ratio)) {
    throw_usage("planted problem: mass_ratio = {}, need a number ≥ 1", options.mass_ratio);
  }
}

}  // namespace

PlantedProblem make_planted_problem(const PlantedOptions& options) {
  check_options(options);
  const std::vector<RegionRange> ranges = divide(options);
  const Index nodes = ranges.back().first_node + ranges.back().nodes;

  // Masses are log-uniform between kSmallestMass and mass_ratio times that.
  Rng rng(options.seed, 1);
  Vector mass(nodes);
  for (double& m : mass) m = kSmallestMass * std::pow(options.mass_ratio, rng.uniform());
  const std::vector<PlantedContact> contacts = plant_contacts(options, ranges, mass);

  PlantedProblem planted;
  ContactProblem& problem = planted.problem;
  fill_metadata(contacts, ranges, options, problem);
  problem.M = make_mass_matrix(options, ranges, mass);
  problem.H = make_directions(contacts, 3 * nodes);
  problem.f.resize(3 * nodes);
  for (Index i = 0; i < 3 * nodes; ++i) problem.f[i] = mass[i / 3] * rng.normal();

  const Eigen::Index m = contacts.size();
  planted.r.resize(3 * m);
  planted.u.resize(3 * m);
  for (Eigen::Index k = 0; k < m; ++k) {
    planted.r.segment<3>(3 * k) = contacts[k].r;
    planted.u.segment<3>(3 * k) = contacts[k].u;
  }

  // v* = M⁻¹ (H r* + f),  w = u* − Hᵀ v*
  const MassFactor factor(problem.M, 3);
  const Vector impulse = problem.H * planted.r + problem.f;
  Vector v(impulse.size());
  factor.solve(span_of(impulse), span_of(v));
  problem.w = planted.u - problem.H.transpose() * v;
  problem.gap = Vector(m);
  for (Eigen::Index k = 0; k < m; ++k) problem.gap[k] = problem.dt * problem.w[3 * k];
  return planted;
}

}  // namespace signorini
