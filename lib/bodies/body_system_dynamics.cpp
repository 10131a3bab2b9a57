#include "bodies/body_system_parts.h"

#include <algorithm>
#include <utility>

#include "bodies/free_rotation.h"

namespace signorini {

using namespace body_parts;

namespace {

constexpr std::size_t kRowGrain = 256;

Matrix3 world_inertia(const Matrix3& body_inertia, const RigidPose& pose) {
  const Matrix3 R = pose.rotation.toRotationMatrix();
  const Matrix3 I = R * body_inertia * R.transpose();
  return 0.5 * (I + I.transpose());
}

}  // namespace

void BodySystem::mass_blocks(const SystemState& state, std::span<Matrix3> mass) const {
  const Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(count(mass) == blocks());
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) mass[i] = s.node_mass[i] * Matrix3::Identity();
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r;
    mass[block] = s.rigid[r].body.mass * Matrix3::Identity();
    mass[block + 1] = s.rigid[r].axle ? Matrix3(s.rigid[r].axle_inertia * Matrix3::Identity())
                                      : world_inertia(s.rigid[r].body.inertia, state.rigid[r]);
  }
}

double BodySystem::forces(TaskArena& arena, const SystemState& state, std::span<Vector3> force) {
  Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(count(force) == blocks());
  std::fill(force.begin(), force.end(), Vector3::Zero());
  const std::span<Vector3> node_force = force.first(s.node_mass.size());
  double energy = s.tets.add_forces(arena, state.node, node_force);
  const std::span<const Vector3> velocity = std::span(state.velocity).first(s.node_mass.size());
  if (!s.springs.empty()) energy += s.springs.add_forces(state.node, velocity, node_force);
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r + 1;
    if (const auto& axle = s.rigid[r].axle) {
      force[block] = axle->torque_at(axle->axis.dot(state.velocity[block])) * axle->axis;
      continue;
    }
    force[block] =
        gyroscopic_torque(world_inertia(s.rigid[r].body.inertia, state.rigid[r]), state.velocity[block]);
  }
  return energy;
}

/// A := M (1 + dt α), b := M v + dt M g for the node rows.
void BodySystem::Impl::clear_rows(TaskArena& arena, const SystemState& state, double dt,
                                  const Vector3& gravity, ImplicitSystem& system) const {
  BlockSparseMatrix& A = system.A;
  arena.for_chunks(node_mass.size(), kRowGrain, [&](std::size_t begin, std::size_t end) {
    std::fill(A.values.begin() + 9 * A.row_begin[begin], A.values.begin() + 9 * A.row_begin[end], 0.0);
    for (std::size_t i = begin; i < end; ++i) {
      const double m = node_mass[i];
      Eigen::Map<Matrix3>(A.block(diagonal[i])).diagonal().setConstant(m * (1.0 + dt * damping[i]));
      system.b.segment<3>(3 * i) = m * (state.velocity[i] + dt * gravity);
    }
  });
}

void BodySystem::Impl::add_springs_step(const SystemState& state, double dt, ImplicitSystem& system) {
  const std::span<const Vector3> velocity = std::span(state.velocity).first(node_mass.size());
  std::fill(spring_force.begin(), spring_force.end(), Vector3::Zero());
  springs.add_forces(state.node, velocity, spring_force);
  for (Index i = 0; i < count(spring_force); ++i) system.b.segment<3>(3 * i) += dt * spring_force[i];
  springs.add_stiffness(state.node, velocity, dt, system.A, span_of(system.b).first(3 * node_mass.size()));
}

void BodySystem::Impl::add_rigid_rows(const SystemState& state, double dt, const Vector3& gravity,
                                      ImplicitSystem& system) const {
  for (Index r = 0; r < count(rigid); ++r) {
    if (rigid[r].axle) {
      add_axle_rows(r, state, dt, gravity, system);
      continue;
    }
    const Index block = rigid_block(r);
    const double m = rigid[r].body.mass;
    const Matrix3 inertia = world_inertia(rigid[r].body.inertia, state.rigid[r]);
    const Vector3& v = state.velocity[block];
    const Vector3& omega = state.velocity[block + 1];
    Eigen::Map<Matrix3>(system.A.block(diagonal[block])) = m * Matrix3::Identity();
    Eigen::Map<Matrix3>(system.A.block(diagonal[block + 1])) = inertia;
    system.b.segment<3>(3 * block) = m * (v + dt * gravity);
    const Vector3 free = free_rotation(rigid[r].body.inertia, state.rigid[r], omega, dt);
    system.b.segment<3>(3 * block + 3) = inertia * free;
  }
}

void BodySystem::Impl::add_axle_rows(Index r, const SystemState& state, double dt, const Vector3& gravity,
                                     ImplicitSystem& system) const {
  const Index block = rigid_block(r);
  const Axle& axle = *rigid[r].axle;
  const Vector3& a = axle.axis;
  const double m = rigid[r].body.mass, I = rigid[r].axle_inertia;
  Eigen::Map<Matrix3>(system.A.block(diagonal[block])) = m * Matrix3::Identity();
  Eigen::Map<Matrix3>(system.A.block(diagonal[block + 1])) =
      I * Matrix3::Identity() + dt * axle.slope * a * a.transpose();
  const double push = axle.slides ? m * a.dot(state.velocity[block] + dt * gravity) : 0.0;
  const double turn = I * a.dot(state.velocity[block + 1]) + dt * (axle.torque + axle.slope * axle.speed);
  system.b.segment<3>(3 * block) = push * a;
  system.b.segment<3>(3 * block + 3) = turn * a;
}

/// Rows of prescribed blocks become M v_p, their columns move to b.
void BodySystem::Impl::prescribe(const SystemState& state, double dt, ImplicitSystem& system) const {
  std::size_t next = 0;
  for (Index k = 0; k < count(pins); ++k) {
    const Index p = pins[k].node;
    const Vector3 velocity = pin_velocity(pins[k], state.time, dt);
    for (; next < prescribed.size() && prescribed[next].pin == k; ++next) {
      const PrescribedEntry& entry = prescribed[next];
      Eigen::Map<Matrix3> block(system.A.block(entry.block));
      system.b.segment<3>(3 * entry.row) -= block * velocity;
      block.setZero();
      Eigen::Map<Matrix3>(system.A.block(entry.mirror)).setZero();
    }
    const double m = node_mass[p];
    Eigen::Map<Matrix3>(system.A.block(diagonal[p])) = m * Matrix3::Identity();
  }
  for (const Pin& pin : pins)
    system.b.segment<3>(3 * pin.node) = node_mass[pin.node] * pin_velocity(pin, state.time, dt);
}

void BodySystem::implicit_system(TaskArena& arena, const SystemState& state, double dt,
                                 const Vector3& gravity, ImplicitSystem& system) {
  Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(dt > 0.0);
  if (system.A.row_begin != s.pattern.row_begin || system.A.blocks() != s.pattern.blocks()) {
    system.A = s.pattern;
    system.b.resize(3 * blocks());
  }
  s.clear_rows(arena, state, dt, gravity, system);
  s.tets.add_step(arena, state.node, dt, system.A, span_of(system.b).first(3 * s.node_mass.size()));
  if (!s.springs.empty()) s.add_springs_step(state, dt, system);
  s.add_rigid_rows(state, dt, gravity, system);
  s.prescribe(state, dt, system);
}

void BodySystem::advance(SystemState& state, std::span<const Vector3> velocity, double dt) const {
  const Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(velocity.size() == state.velocity.size());
  std::copy(velocity.begin(), velocity.end(), state.velocity.begin());
  for (std::size_t i = 0; i < state.node.size(); ++i) state.node[i] += dt * velocity[i];
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r;
    state.rigid[r] = advanced(state.rigid[r], velocity[block], velocity[block + 1], dt);
  }
  for (const Pin& pin : s.pins) {
    state.velocity[pin.node] = s.pin_velocity(pin, state.time, dt);
    state.node[pin.node] = pin.motion.position(pin.at_start, state.time + dt);
  }
  state.time += dt;
}

void BodySystem::set_velocity(SystemState& state, std::span<const Vector3> velocity, double dt) const {
  const Impl& s = *impl_;
  SIGNORINI_CHECK(velocity.size() == state.velocity.size());
  std::copy(velocity.begin(), velocity.end(), state.velocity.begin());
  for (const Pin& pin : s.pins) state.velocity[pin.node] = s.pin_velocity(pin, state.time - dt, dt);
}

double BodySystem::largest_stable_step() const {
  const Impl& s = *impl_;
  const double solids = s.tets.largest_stable_step();
  return s.springs.empty() ? solids : std::min(solids, s.springs.largest_stable_step(s.node_mass));
}

double BodySystem::kinetic_energy(const SystemState& state) const {
  const Impl& s = *impl_;
  s.require_state(state);
  double energy = 0.0;
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) {
    if (s.pin_of[i] < 0) energy += 0.5 * s.node_mass[i] * state.velocity[i].squaredNorm();
  }
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r;
    const Vector3& omega = state.velocity[block + 1];
    energy += 0.5 * s.rigid[r].body.mass * state.velocity[block].squaredNorm();
    energy += 0.5 * omega.dot(world_inertia(s.rigid[r].body.inertia, state.rigid[r]) * omega);
  }
  return energy;
}

double BodySystem::potential_energy(const SystemState& state, const Vector3& gravity) const {
  const Impl& s = *impl_;
  s.require_state(state);
  double energy = 0.0;
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) {
    if (s.pin_of[i] < 0) energy -= s.node_mass[i] * gravity.dot(state.node[i]);
  }
  for (Index r = 0; r < rigids(); ++r)
    if (!s.is_held(r)) energy -= s.rigid[r].body.mass * gravity.dot(state.rigid[r].centre);
  return energy;
}

Vector3 BodySystem::linear_momentum(const SystemState& state) const {
  const Impl& s = *impl_;
  s.require_state(state);
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) {
    if (s.pin_of[i] < 0) sum += s.node_mass[i] * state.velocity[i];
  }
  for (std::size_t r = 0; r < s.rigid.size(); ++r)
    sum += s.rigid[r].body.mass * state.velocity[s.node_mass.size() + 2 * r];
  return sum;
}

Vector3 BodySystem::angular_momentum(const SystemState& state) const {
  const Impl& s = *impl_;
  s.require_state(state);
  Vector3 sum = Vector3::Zero();
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) {
    if (s.pin_of[i] < 0) sum += s.node_mass[i] * state.node[i].cross(state.velocity[i]);
  }
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r;
    sum += s.rigid[r].body.mass * state.rigid[r].centre.cross(state.velocity[block]);
    sum += world_inertia(s.rigid[r].body.inertia, state.rigid[r]) * state.velocity[block + 1];
  }
  return sum;
}

double BodySystem::smallest_volume_ratio(const SystemState& state) const {
  impl_->require_state(state);
  return impl_->tets.smallest_volume_ratio(state.node);
}

}  // namespace signorini
