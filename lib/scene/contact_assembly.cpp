#include "scene/contact_assembly.h"

#include <Eigen/Geometry>
#include <algorithm>

#include "base/check.h"

namespace signorini {

namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// The four mass points of a contact and their signed weights; −1 = fixed or without weight.
struct Stencil {
  std::array<Index, 4> node;
  std::array<double, 4> weight;
};

Stencil stencil_of(const PointTriangleContact& contact) {
  Stencil s{{contact.node, contact.triangle[0], contact.triangle[1], contact.triangle[2]},
            {1.0, -contact.barycentric[0], -contact.barycentric[1], -contact.barycentric[2]}};
  for (std::size_t i = 0; i < 4; ++i) {
    if (s.weight[i] == 0.0) s.node[i] = -1;
  }
  return s;
}

/// Rows n, t1, t2.
Matrix3 frame_of(const PointTriangleContact& contact) {
  Matrix3 frame;
  // The tangent is orthogonal to n up to rounding already; once more makes the frame orthonormal to 1 ulp.
  const Vector3 t1 = (contact.tangent - contact.normal.dot(contact.tangent) * contact.normal).normalized();
  frame << contact.normal.transpose(), t1.transpose(), contact.normal.cross(t1).transpose();
  return frame;
}

Vector3 relative(const Stencil& s, std::span<const Vector3> velocity) {
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < 4; ++i) {
    if (s.node[i] >= 0) sum += s.weight[i] * velocity[at(s.node[i])];
  }
  return sum;
}

/// Offsets of the bodies' dofs in a problem that holds only `nodes`.
std::vector<Index> dof_ranges(std::span<const Index> first_node, std::span<const Index> nodes) {
  std::vector<Index> ranges;
  for (const Index first : first_node) {
    const auto below = std::lower_bound(nodes.begin(), nodes.end(), first) - nodes.begin();
    ranges.push_back(3 * static_cast<Index>(below));
  }
  return ranges;
}

}  // namespace

double normal_offset(const ContactLawSettings& law, double gap, double speed_before, double speed_free,
                     double dt) {
  if (law.restitution > 0.0 && speed_before < -law.rest_speed && gap + dt * speed_free <= 0.0) {
    return law.restitution * speed_before;
  }
  return gap >= 0.0 ? gap / dt : std::max(law.recovery * gap / dt, -law.recovery_speed);
}

void WarmStartCache::store(std::span<const PointTriangleContact> contacts, const ContactProblem& problem,
                           std::span<const double> r) {
  by_pair_.clear();
  by_point_.clear();
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const auto row = static_cast<Index>(k);
    Vector3 world = Vector3::Zero();
    for (Index d = 0; d < 3; ++d)
      world += r[3 * k + at(d)] * problem.frame.block<1, 3>(row, 3 * d).transpose();
    if (world == Vector3::Zero()) continue;
    by_pair_[contacts[k].key] = world;
    by_point_[{contacts[k].key.point, contacts[k].triangle_body}] = world;
  }
}

Vector3 WarmStartCache::find(const PointTriangleContact& contact) const {
  if (const auto pair = by_pair_.find(contact.key); pair != by_pair_.end()) return pair->second;
  const auto point = by_point_.find({contact.key.point, contact.triangle_body});
  return point != by_point_.end() ? point->second : Vector3::Zero();
}

AssembledProblem assemble_contact_problem(std::span<const PointTriangleContact> contacts,
                                          const StepContext& step, const ContactLawSettings& law,
                                          const WarmStartCache& warm_start) {
  AssembledProblem result;
  std::vector<Index>& nodes = result.nodes;
  std::vector<Stencil> stencils;
  for (const PointTriangleContact& contact : contacts) {
    stencils.push_back(stencil_of(contact));
    for (const Index node : stencils.back().node) {
      if (node >= 0) nodes.push_back(node);
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  const auto block_of = [&nodes](Index node) {
    return static_cast<Index>(std::lower_bound(nodes.begin(), nodes.end(), node) - nodes.begin());
  };

  const auto m = static_cast<Index>(contacts.size());
  const auto n = static_cast<Index>(3 * nodes.size());
  ContactProblem& problem = result.problem;
  problem.kind = ProblemKind::explicit_step;
  problem.dt = step.dt;
  problem.time = step.time;
  problem.mu = Vector::Constant(m, law.friction);
  problem.w = Vector::Zero(3 * m);
  problem.gap.resize(m);
  problem.frame.resize(m, 9);
  problem.position.resize(m, 3);
  problem.points.resize(m, 4);
  problem.weights.resize(m, 4);
  problem.bodies.resize(m, 2);
  problem.warm_start.resize(3 * m);
  problem.body_dofs = dof_ranges(step.first_node, nodes);

  problem.M.resize(n, n);
  problem.M.reserve(Eigen::VectorXi::Constant(n, 1));
  problem.f.resize(n);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const double mass = step.mass[at(nodes[i])];
    for (Index d = 0; d < 3; ++d) {
      const Index dof = 3 * static_cast<Index>(i) + d;
      problem.M.insert(dof, dof) = mass;
      problem.f[dof] = mass * step.free_velocity[at(nodes[i])][d];
    }
  }
  problem.M.makeCompressed();

  problem.H.resize(n, 3 * m);
  problem.H.reserve(Eigen::VectorXi::Constant(3 * m, 12));
  for (Index k = 0; k < m; ++k) {
    const PointTriangleContact& contact = contacts[at(k)];
    const Stencil& stencil = stencils[at(k)];
    const Matrix3 frame = frame_of(contact);
    std::array<std::size_t, 4> order{0, 1, 2, 3};  // ascending rows inside each column
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return stencil.node[a] < stencil.node[b]; });
    for (Index d = 0; d < 3; ++d) {
      for (const std::size_t i : order) {
        if (stencil.node[i] < 0) continue;
        const Index block = block_of(stencil.node[i]);
        for (Index c = 0; c < 3; ++c)
          problem.H.insert(3 * block + c, 3 * k + d) = stencil.weight[i] * frame(d, c);
      }
      problem.frame.block<1, 3>(k, 3 * d) = frame.row(d);
    }
    for (Index i = 0; i < 4; ++i) {
      problem.points(k, i) = stencil.node[at(i)] < 0 ? -1 : block_of(stencil.node[at(i)]);
      problem.weights(k, i) = stencil.weight[at(i)];
    }
    problem.w[3 * k] = normal_offset(law, contact.gap, contact.normal.dot(relative(stencil, step.velocity)),
                                     contact.normal.dot(relative(stencil, step.free_velocity)), step.dt);
    problem.gap[k] = contact.gap;
    problem.position.row(k) = contact.position.transpose();
    problem.bodies(k, 0) = contact.point_body;
    problem.bodies(k, 1) = contact.triangle_body;
    problem.warm_start.segment<3>(3 * k) = frame * warm_start.find(contact);
  }
  problem.H.makeCompressed();
  return result;
}

}  // namespace signorini
