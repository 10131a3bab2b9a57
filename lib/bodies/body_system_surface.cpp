#include "bodies/body_system_parts.h"

#include <algorithm>
#include <utility>

namespace signorini {

using namespace body_parts;

namespace {

constexpr std::size_t kVertexGrain = 1024;

}  // namespace

/// x[i] for the vertices i of one body in [begin, end).
void BodySystem::Impl::place_vertices(const SystemState& state, const Body& body, std::size_t begin,
                                      std::size_t end, std::span<Vector3> x) const {
  if (body.kind == Kind::kinematic || body.kind == Kind::rigid) {
    MotionTransform to_world;
    if (body.kind == Kind::kinematic) {
      to_world = motions[body.number].transform(state.time);
    } else {
      const RigidPose& pose = state.rigid[body.number];
      to_world = {pose.rotation.toRotationMatrix(), pose.centre};
    }
    for (std::size_t i = begin; i < end; ++i)
      x[i] = to_world.rotation * carriers[i].local + to_world.translation;
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Carrier& carrier = carriers[i];
    if (carrier.node[1] < 0) {
      x[i] = state.node[carrier.node[0]];
      continue;
    }
    x[i].setZero();
    for (std::size_t k = 0; k < 4; ++k) x[i] += carrier.weight[k] * state.node[carrier.node[k]];
  }
}

void BodySystem::surface_positions(TaskArena& arena, const SystemState& state, std::span<Vector3> x) const {
  const Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(x.size() == s.carriers.size());
  arena.for_chunks(x.size(), kVertexGrain, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t body = s.surface.vertex_body[begin];
      const std::size_t stop = std::min<std::size_t>(end, s.surface.bodies[body].vertices);
      s.place_vertices(state, s.bodies[body], begin, stop, x);
      begin = stop;
    }
  });
}

int BodySystem::vertex_row(const SystemState& state, Index vertex, const Vector3& direction,
                           VertexRow& row) const {
  const Impl& s = *impl_;
  const Carrier& carrier = s.carriers[vertex];
  const Body& body = s.bodies[s.surface.vertex_body[vertex]];
  if (body.kind == Kind::kinematic) return 0;
  if (body.kind == Kind::rigid) {
    const Vector3 arm = state.rigid[body.number].rotation * carrier.local;
    const Index block = s.rigid_block(body.number);
    const std::optional<Axle>& axle = s.rigid[body.number].axle;
    if (!axle) {
      row[0] = {block, direction};
      row[1] = {block + 1, arm.cross(direction)};
      return 2;
    }
    const Vector3& a = axle->axis;
    int entries = 0;
    if (axle->slides) row[entries++] = {block, a.dot(direction) * a};
    row[entries++] = {block + 1, a.dot(arm.cross(direction)) * a};
    return entries;
  }
  std::size_t entries = 0;
  for (std::size_t k = 0; k < 4 && carrier.node[k] >= 0; ++k) {
    if (carrier.weight[k] == 0.0 || s.pinned(carrier.node[k])) continue;
    row[entries++] = {carrier.node[k], carrier.weight[k] * direction};
  }
  return static_cast<int>(entries);
}

Vector3 BodySystem::Impl::pin_velocity(const Pin& pin, double time, double dt) const {
  return (pin.motion.position(pin.at_start, time + dt) - pin.motion.position(pin.at_start, time)) / dt;
}

Vector3 BodySystem::prescribed_velocity(const SystemState& state, Index vertex, double dt) const {
  const Impl& s = *impl_;
  const Carrier& carrier = s.carriers[vertex];
  const Body& body = s.bodies[s.surface.vertex_body[vertex]];
  if (body.kind == Kind::rigid) return Vector3::Zero();
  if (body.kind == Kind::kinematic) {
    const Motion& motion = s.motions[body.number];
    return (motion.position(carrier.local, state.time + dt) - motion.position(carrier.local, state.time)) /
           dt;
  }
  Vector3 velocity = Vector3::Zero();
  for (std::size_t k = 0; k < 4 && carrier.node[k] >= 0; ++k) {
    const Index pin = s.pin_of[carrier.node[k]];
    if (pin >= 0) velocity += carrier.weight[k] * s.pin_velocity(s.pins[pin], state.time, dt);
  }
  return velocity;
}

Index BodySystem::main_block(Index vertex) const {
  const Impl& s = *impl_;
  const Carrier& carrier = s.carriers[vertex];
  const Body& body = s.bodies[s.surface.vertex_body[vertex]];
  if (body.kind == Kind::kinematic) return -1;
  if (body.kind == Kind::rigid) return s.rigid_block(body.number) + (s.is_held(body.number) ? 1 : 0);
  const auto most = std::max_element(carrier.weight.begin(), carrier.weight.end());
  return carrier.node[most - carrier.weight.begin()];
}

}  // namespace signorini
