#include "bodies/body_system.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "bodies/free_rotation.h"

namespace signorini {

namespace {

constexpr std::size_t kRowGrain = 256;
constexpr std::size_t kVertexGrain = 1024;

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

enum class Kind { solid, springs, rigid, kinematic };

struct Body {
  std::string name;
  Kind kind = Kind::solid;
  Index first_node = 0, end_node = 0;  // deformable bodies
  Index number = -1;                   // of the rigid body, or of the kinematic body's motion
};

/// What a surface vertex hangs on: up to four nodes, or a point in the axes of a rigid or kinematic body.
struct Carrier {
  std::array<Index, 4> node{-1, -1, -1, -1};
  std::array<double, 4> weight{};
  Vector3 local = Vector3::Zero();  // rigid: from the centre of mass; kinematic: place at the start; m
};

struct Pin {
  Index node = -1;
  Motion motion;
  Vector3 at_start = Vector3::Zero();
};

/// A block (row, p) left of a prescribed block p, and its transpose (p, row).
struct PrescribedEntry {
  Index row = -1, block = -1, mirror = -1;
  Index pin = -1;
};

struct RigidBody {
  MassProperties body;  // inertia in body axes about the centre
  Vector3 velocity = Vector3::Zero(), angular_velocity = Vector3::Zero();
  Index owner = -1;
};

void require_surface(const std::string& name, const TriangleMesh& surface) {
  if (surface.triangles.empty()) throw_usage("{}: the surface has no triangles", name);
  const auto vertices = static_cast<Index>(surface.vertices.size());
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (const Index vertex : surface.triangles[t]) {
      if (vertex < 0 || vertex >= vertices)
        throw_usage("{}: triangle {} names vertex {}, the mesh has {}", name, t, vertex, vertices);
    }
  }
}

Matrix3 world_inertia(const Matrix3& body_inertia, const RigidPose& pose) {
  const Matrix3 R = pose.rotation.toRotationMatrix();
  const Matrix3 I = R * body_inertia * R.transpose();
  return 0.5 * (I + I.transpose());
}

/// The pattern with the diagonal and both triangles of `pairs` (i < j), values zero. Uses `pairs` up.
BlockSparseMatrix block_pattern(Index rows, std::vector<std::array<Index, 2>>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  BlockSparseMatrix A;
  A.block_rows = A.block_columns = rows;
  A.row_begin.assign(at(rows) + 1, 0);
  for (Index i = 0; i < rows; ++i) A.row_begin[at(i) + 1] = 1;
  for (const auto& [i, j] : pairs) {
    ++A.row_begin[at(i) + 1];
    ++A.row_begin[at(j) + 1];
  }
  for (std::size_t i = 0; i < at(rows); ++i) A.row_begin[i + 1] += A.row_begin[i];
  A.column.resize(at(A.row_begin.back()));
  // Below the diagonal in ascending column, then the diagonal, then what is above.
  std::vector<Index> next(A.row_begin.begin(), A.row_begin.end() - 1);
  for (const auto& [i, j] : pairs) A.column[at(next[at(j)]++)] = i;
  for (Index i = 0; i < rows; ++i) A.column[at(next[at(i)]++)] = i;
  for (const auto& [i, j] : pairs) A.column[at(next[at(i)]++)] = j;
  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return A;
}

}  // namespace

struct BodySystem::Impl {
  std::vector<Body> bodies;
  std::vector<Index> node_body;
  std::vector<double> node_mass, node_damping;
  std::vector<Vector3> node_rest, node_velocity;  // placed in the world
  std::vector<RigidBody> rigid;
  std::vector<RigidPose> rigid_start;
  std::vector<Motion> motions;  // of kinematic bodies
  TetElements tets;
  SpringElements springs;
  std::vector<Pin> pins;  // ascending by node after finish
  std::vector<Index> pin_of;

  SurfaceModel surface;
  std::vector<Carrier> carriers;  // per surface vertex
  std::vector<Vector3> surface_rest;

  bool finished = false;
  SystemState start;
  std::vector<double> damping;  // per block
  BlockSparseMatrix pattern;
  std::vector<Index> diagonal;              // place of block (i, i) in it
  std::vector<PrescribedEntry> prescribed;  // off-diagonal blocks that touch a prescribed column
  std::vector<Vector3> spring_force;        // workspace

  Index nodes() const { return static_cast<Index>(node_mass.size()); }
  Index rigids() const { return static_cast<Index>(rigid.size()); }
  Index rigid_block(Index r) const { return nodes() + 2 * r; }
  bool pinned(Index node) const { return pin_of[at(node)] >= 0; }
  Index add_body(const std::string& name, Kind kind, Index number, Index first_node);
  Index add_nodes(Index body, const std::vector<Vector3>& rest, std::span<const double> mass, double alpha,
                  const Placement& placement);
  void add_node_surface(Index first_node, const std::vector<Triangle>& triangles,
                        const std::vector<Index>* vertex_of, Index vertices, const std::vector<Edge>& extra);
  void require_state(const SystemState& state) const;
  void place_vertices(const SystemState& state, const Body& body, std::size_t begin, std::size_t end,
                      std::span<Vector3> x) const;
  Vector3 pin_velocity(const Pin& pin, double time, double dt) const;
  void clear_rows(TaskArena& arena, const SystemState& state, double dt, const Vector3& gravity,
                  ImplicitSystem& system) const;
  void add_springs_step(const SystemState& state, double dt, ImplicitSystem& system);
  void add_rigid_rows(const SystemState& state, double dt, const Vector3& gravity,
                      ImplicitSystem& system) const;
  void prescribe(const SystemState& state, double dt, ImplicitSystem& system) const;
};

BodySystem::BodySystem() : impl_(std::make_unique<Impl>()) {}
BodySystem::~BodySystem() = default;
BodySystem::BodySystem(BodySystem&&) noexcept = default;
BodySystem& BodySystem::operator=(BodySystem&&) noexcept = default;

// --- building ---

Index BodySystem::Impl::add_body(const std::string& name, Kind kind, Index number, Index first_node) {
  SIGNORINI_CHECK(!finished);
  bodies.push_back({name, kind, first_node, nodes(), number});
  return static_cast<Index>(bodies.size()) - 1;
}

/// Appends the nodes of a body that is about to be added; returns the first.
Index BodySystem::Impl::add_nodes(Index body, const std::vector<Vector3>& rest, std::span<const double> mass,
                                  double alpha, const Placement& placement) {
  const Index first = nodes();
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Vector3 arm = placement.rotation * rest[i];
    node_rest.push_back(arm + placement.translation);
    node_velocity.push_back(placement.velocity + placement.angular_velocity.cross(arm));
    node_mass.push_back(mass[i]);
    node_damping.push_back(alpha);
    node_body.push_back(body);
    pin_of.push_back(-1);
  }
  return first;
}

/// A collision surface whose vertices are nodes: vertex i is node first_node + (*vertex_of)[i], or + i.
void BodySystem::Impl::add_node_surface(Index first_node, const std::vector<Triangle>& triangles,
                                        const std::vector<Index>* vertex_of, Index vertices,
                                        const std::vector<Edge>& extra) {
  for (Index i = 0; i < vertices; ++i) {
    Carrier carrier;
    carrier.node[0] = first_node + (vertex_of == nullptr ? i : (*vertex_of)[at(i)]);
    carrier.weight[0] = 1.0;
    carriers.push_back(carrier);
  }
  append_surface(surface, vertices, triangles, extra, true, true);
}

Index BodySystem::add_solid(const std::string& name, const TetMesh& rest, const ElasticMaterial& material,
                            const Placement& placement, const TriangleMesh* skin) {
  Impl& s = *impl_;
  std::vector<double> mass(rest.vertices.size(), 0.0);
  s.tets.add(rest, material, nodes(), mass, name);
  for (std::size_t i = 0; i < mass.size(); ++i) {
    if (!(mass[i] > 0.0)) throw_usage("{}: vertex {} belongs to no tetrahedron and has no mass", name, i);
  }
  const Index first = s.add_nodes(bodies(), rest.vertices, mass, material.damping, placement);
  if (skin == nullptr) {
    std::vector<Index> vertex_of;
    const TriangleMesh boundary = boundary_surface(rest, vertex_of);
    s.add_node_surface(first, boundary.triangles, &vertex_of, static_cast<Index>(vertex_of.size()), {});
  } else {
    require_surface(name, *skin);
    const Embedding embedding = embed(*skin, rest, name);
    for (std::size_t i = 0; i < embedding.nodes.size(); ++i) {
      Carrier carrier{embedding.nodes[i], embedding.weights[i]};
      for (Index& node : carrier.node) node += first;
      s.carriers.push_back(carrier);
    }
    append_surface(s.surface, static_cast<Index>(skin->vertices.size()), skin->triangles, {}, true, true);
  }
  return s.add_body(name, Kind::solid, -1, first);
}

Index BodySystem::add_springs(const std::string& name, const SpringNetwork& rest,
                              const Placement& placement) {
  Impl& s = *impl_;
  if (rest.vertices.empty()) throw_usage("{}: the network has no vertices", name);
  rest.validate(name);
  s.springs.add(rest, nodes());
  const Index first = s.add_nodes(bodies(), rest.vertices, rest.mass, rest.damping, placement);
  s.add_node_surface(first, rest.triangles, nullptr, static_cast<Index>(rest.vertices.size()), rest.edges);
  return s.add_body(name, Kind::springs, -1, first);
}

Index BodySystem::add_rigid(const std::string& name, const TriangleMesh& surface, double density,
                            const Placement& placement) {
  Impl& s = *impl_;
  RigidBody rigid;
  rigid.body = mass_properties(surface, density, name);
  rigid.owner = bodies();
  const Vector3 arm = placement.rotation * rigid.body.centre;
  rigid.velocity = placement.velocity + placement.angular_velocity.cross(arm);
  rigid.angular_velocity = placement.angular_velocity;
  s.rigid_start.push_back({arm + placement.translation, Eigen::Quaterniond(placement.rotation).normalized()});
  for (const Vector3& X : surface.vertices) {
    Carrier carrier;
    carrier.local = X - rigid.body.centre;
    s.carriers.push_back(carrier);
  }
  append_surface(s.surface, static_cast<Index>(surface.vertices.size()), surface.triangles, {}, true, false);
  s.rigid.push_back(rigid);
  return s.add_body(name, Kind::rigid, rigids() - 1, nodes());
}

Index BodySystem::add_kinematic(const std::string& name, const TriangleMesh& surface, const Motion& motion) {
  Impl& s = *impl_;
  require_surface(name, surface);
  motion.validate(name);
  for (const Vector3& X : surface.vertices) {
    Carrier carrier;
    carrier.local = X;
    s.carriers.push_back(carrier);
  }
  append_surface(s.surface, static_cast<Index>(surface.vertices.size()), surface.triangles, {}, false, false);
  s.motions.push_back(motion);
  return s.add_body(name, Kind::kinematic, static_cast<Index>(s.motions.size()) - 1, nodes());
}

void BodySystem::pin(Index body, Index vertex, const Motion& motion) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(!s.finished && body >= 0 && body < bodies());
  const Body& owner = s.bodies[at(body)];
  if (owner.kind != Kind::solid && owner.kind != Kind::springs)
    throw_usage("{}: only vertices of a deformable body can be pinned", owner.name);
  if (vertex < 0 || vertex >= owner.end_node - owner.first_node)
    throw_usage("{}: no vertex {} to pin, the body has {}", owner.name, vertex,
                owner.end_node - owner.first_node);
  motion.validate(owner.name);
  const Index node = owner.first_node + vertex;
  if (s.pinned(node)) throw_usage("{}: vertex {} is pinned twice", owner.name, vertex);
  s.pin_of[at(node)] = static_cast<Index>(s.pins.size());
  s.pins.push_back({node, motion, s.node_rest[at(node)]});
}

void BodySystem::finish() {
  Impl& s = *impl_;
  SIGNORINI_CHECK(!s.finished);
  s.finished = true;
  s.start.node = s.node_rest;
  s.start.rigid = s.rigid_start;
  s.start.velocity = s.node_velocity;
  for (const RigidBody& rigid : s.rigid) {
    s.start.velocity.push_back(rigid.velocity);
    s.start.velocity.push_back(rigid.angular_velocity);
  }
  s.damping = s.node_damping;
  s.damping.resize(at(blocks()), 0.0);

  s.surface_rest.resize(s.carriers.size());
  TaskArena arena(1);
  surface_positions(arena, s.start, s.surface_rest);
  for (const Pin& pin : s.pins) {
    s.start.node[at(pin.node)] = pin.motion.position(pin.at_start, 0.0);
    s.start.velocity[at(pin.node)].setZero();
  }

  std::vector<std::array<Index, 2>> pairs;
  s.springs.couplings(pairs);
  s.tets.couplings(pairs);
  s.pattern = block_pattern(blocks(), pairs);
  for (Index i = 0; i < blocks(); ++i) s.diagonal.push_back(find_block(s.pattern, i, i));
  s.tets.finish(nodes(), &s.pattern);
  s.springs.prepare(s.pattern);
  s.spring_force.resize(s.springs.empty() ? 0 : at(nodes()));

  std::sort(s.pins.begin(), s.pins.end(), [](const Pin& a, const Pin& b) { return a.node < b.node; });
  for (std::size_t k = 0; k < s.pins.size(); ++k) {
    const Index p = s.pins[k].node;
    s.pin_of[at(p)] = static_cast<Index>(k);
    for (Index mirror = s.pattern.row_begin[at(p)]; mirror < s.pattern.row_begin[at(p) + 1]; ++mirror) {
      const Index row = s.pattern.column[at(mirror)];
      if (row != p)
        s.prescribed.push_back({row, find_block(s.pattern, row, p), mirror, static_cast<Index>(k)});
    }
  }
}

// --- what there is ---

Index BodySystem::bodies() const { return static_cast<Index>(impl_->bodies.size()); }
Index BodySystem::nodes() const { return impl_->nodes(); }
Index BodySystem::rigids() const { return impl_->rigids(); }
Index BodySystem::elements() const { return impl_->tets.size(); }
const std::string& BodySystem::name(Index body) const { return impl_->bodies[at(body)].name; }
const Motion* BodySystem::motion(Index body) const {
  const Body& b = impl_->bodies[at(body)];
  return b.kind == Kind::kinematic ? &impl_->motions[at(b.number)] : nullptr;
}
const SurfaceModel& BodySystem::surface() const { return impl_->surface; }
std::span<const double> BodySystem::damping() const { return impl_->damping; }

const SystemState& BodySystem::start() const {
  SIGNORINI_CHECK(impl_->finished);
  return impl_->start;
}

const std::vector<Vector3>& BodySystem::surface_rest() const {
  SIGNORINI_CHECK(impl_->finished);
  return impl_->surface_rest;
}

std::array<Index, 2> BodySystem::body_blocks(Index body) const {
  const Body& b = impl_->bodies[at(body)];
  if (b.kind == Kind::rigid) return {impl_->rigid_block(b.number), impl_->rigid_block(b.number) + 2};
  return {b.first_node, b.end_node};
}

Index BodySystem::body_of_block(Index block) const {
  if (block < nodes()) return impl_->node_body[at(block)];
  return impl_->rigid[at((block - nodes()) / 2)].owner;
}

bool BodySystem::is_prescribed(Index block) const { return block < nodes() && impl_->pinned(block); }

void BodySystem::Impl::require_state(const SystemState& state) const {
  SIGNORINI_CHECK(finished && state.node.size() == node_mass.size() && state.rigid.size() == rigid.size() &&
                  state.velocity.size() == damping.size());
}

// --- surfaces ---

/// x[i] for the vertices i of one body in [begin, end).
void BodySystem::Impl::place_vertices(const SystemState& state, const Body& body, std::size_t begin,
                                      std::size_t end, std::span<Vector3> x) const {
  if (body.kind == Kind::kinematic || body.kind == Kind::rigid) {
    MotionTransform to_world;
    if (body.kind == Kind::kinematic) {
      to_world = motions[at(body.number)].transform(state.time);
    } else {
      const RigidPose& pose = state.rigid[at(body.number)];
      to_world = {pose.rotation.toRotationMatrix(), pose.centre};
    }
    for (std::size_t i = begin; i < end; ++i)
      x[i] = to_world.rotation * carriers[i].local + to_world.translation;
    return;
  }
  for (std::size_t i = begin; i < end; ++i) {
    const Carrier& carrier = carriers[i];
    if (carrier.node[1] < 0) {
      x[i] = state.node[at(carrier.node[0])];
      continue;
    }
    x[i].setZero();
    for (std::size_t k = 0; k < 4; ++k) x[i] += carrier.weight[k] * state.node[at(carrier.node[k])];
  }
}

void BodySystem::surface_positions(TaskArena& arena, const SystemState& state, std::span<Vector3> x) const {
  const Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(x.size() == s.carriers.size());
  arena.for_chunks(x.size(), kVertexGrain, [&](std::size_t begin, std::size_t end) {
    while (begin < end) {
      const std::size_t body = at(s.surface.vertex_body[begin]);
      const std::size_t stop = std::min(end, at(s.surface.bodies[body].vertices));
      s.place_vertices(state, s.bodies[body], begin, stop, x);
      begin = stop;
    }
  });
}

int BodySystem::vertex_row(const SystemState& state, Index vertex, const Vector3& direction,
                           VertexRow& row) const {
  const Impl& s = *impl_;
  const Carrier& carrier = s.carriers[at(vertex)];
  const Body& body = s.bodies[at(s.surface.vertex_body[at(vertex)])];
  if (body.kind == Kind::kinematic) return 0;
  if (body.kind == Kind::rigid) {
    const Vector3 arm = state.rigid[at(body.number)].rotation * carrier.local;
    const Index block = s.rigid_block(body.number);
    row[0] = {block, direction};
    row[1] = {block + 1, arm.cross(direction)};
    return 2;
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
  const Carrier& carrier = s.carriers[at(vertex)];
  const Body& body = s.bodies[at(s.surface.vertex_body[at(vertex)])];
  if (body.kind == Kind::rigid) return Vector3::Zero();
  if (body.kind == Kind::kinematic) {
    const Motion& motion = s.motions[at(body.number)];
    return (motion.position(carrier.local, state.time + dt) - motion.position(carrier.local, state.time)) /
           dt;
  }
  Vector3 velocity = Vector3::Zero();
  for (std::size_t k = 0; k < 4 && carrier.node[k] >= 0; ++k) {
    const Index pin = s.pin_of[at(carrier.node[k])];
    if (pin >= 0) velocity += carrier.weight[k] * s.pin_velocity(s.pins[at(pin)], state.time, dt);
  }
  return velocity;
}

Index BodySystem::main_block(Index vertex) const {
  const Impl& s = *impl_;
  const Carrier& carrier = s.carriers[at(vertex)];
  const Body& body = s.bodies[at(s.surface.vertex_body[at(vertex)])];
  if (body.kind == Kind::kinematic) return -1;
  if (body.kind == Kind::rigid) return s.rigid_block(body.number);
  const auto most = std::max_element(carrier.weight.begin(), carrier.weight.end());
  return carrier.node[static_cast<std::size_t>(most - carrier.weight.begin())];
}

// --- dynamics ---

void BodySystem::mass_blocks(const SystemState& state, std::span<Matrix3> mass) const {
  const Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(mass.size() == at(blocks()));
  for (std::size_t i = 0; i < s.node_mass.size(); ++i) mass[i] = s.node_mass[i] * Matrix3::Identity();
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r;
    mass[block] = s.rigid[r].body.mass * Matrix3::Identity();
    mass[block + 1] = world_inertia(s.rigid[r].body.inertia, state.rigid[r]);
  }
}

double BodySystem::forces(TaskArena& arena, const SystemState& state, std::span<Vector3> force) {
  Impl& s = *impl_;
  s.require_state(state);
  SIGNORINI_CHECK(force.size() == at(blocks()));
  std::fill(force.begin(), force.end(), Vector3::Zero());
  const std::span<Vector3> node_force = force.first(s.node_mass.size());
  double energy = s.tets.add_forces(arena, state.node, node_force);
  const std::span<const Vector3> velocity = std::span(state.velocity).first(s.node_mass.size());
  if (!s.springs.empty()) energy += s.springs.add_forces(state.node, velocity, node_force);
  for (std::size_t r = 0; r < s.rigid.size(); ++r) {
    const std::size_t block = s.node_mass.size() + 2 * r + 1;
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
      const auto row = static_cast<Index>(i);
      Eigen::Map<Matrix3>(A.block(diagonal[i])).diagonal().setConstant(m * (1.0 + dt * damping[i]));
      system.b.segment<3>(3 * row) = m * (state.velocity[i] + dt * gravity);
    }
  });
}

void BodySystem::Impl::add_springs_step(const SystemState& state, double dt, ImplicitSystem& system) {
  const std::span<const Vector3> velocity = std::span(state.velocity).first(node_mass.size());
  std::fill(spring_force.begin(), spring_force.end(), Vector3::Zero());
  springs.add_forces(state.node, velocity, spring_force);
  for (std::size_t i = 0; i < spring_force.size(); ++i)
    system.b.segment<3>(3 * static_cast<Index>(i)) += dt * spring_force[i];
  springs.add_stiffness(state.node, velocity, dt, system.A, span_of(system.b).first(3 * node_mass.size()));
}

void BodySystem::Impl::add_rigid_rows(const SystemState& state, double dt, const Vector3& gravity,
                                      ImplicitSystem& system) const {
  for (std::size_t r = 0; r < rigid.size(); ++r) {
    const Index block = rigid_block(static_cast<Index>(r));
    const double m = rigid[r].body.mass;
    const Matrix3 inertia = world_inertia(rigid[r].body.inertia, state.rigid[r]);
    const Vector3& v = state.velocity[at(block)];
    const Vector3& omega = state.velocity[at(block) + 1];
    Eigen::Map<Matrix3>(system.A.block(diagonal[at(block)])) = m * Matrix3::Identity();
    Eigen::Map<Matrix3>(system.A.block(diagonal[at(block) + 1])) = inertia;
    system.b.segment<3>(3 * block) = m * (v + dt * gravity);
    const Vector3 free = free_rotation(rigid[r].body.inertia, state.rigid[r], omega, dt);
    system.b.segment<3>(3 * block + 3) = inertia * free;
  }
}

/// Rows of prescribed blocks become M v_p, their columns move to b.
void BodySystem::Impl::prescribe(const SystemState& state, double dt, ImplicitSystem& system) const {
  std::size_t next = 0;
  for (std::size_t k = 0; k < pins.size(); ++k) {
    const Index p = pins[k].node;
    const Vector3 velocity = pin_velocity(pins[k], state.time, dt);
    for (; next < prescribed.size() && at(prescribed[next].pin) == k; ++next) {
      const PrescribedEntry& entry = prescribed[next];
      Eigen::Map<Matrix3> block(system.A.block(entry.block));
      system.b.segment<3>(3 * entry.row) -= block * velocity;
      block.setZero();
      Eigen::Map<Matrix3>(system.A.block(entry.mirror)).setZero();
    }
    const double m = node_mass[at(p)];
    Eigen::Map<Matrix3>(system.A.block(diagonal[at(p)])) = m * Matrix3::Identity();
  }
  for (const Pin& pin : pins)
    system.b.segment<3>(3 * pin.node) = node_mass[at(pin.node)] * pin_velocity(pin, state.time, dt);
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
    state.velocity[at(pin.node)] = s.pin_velocity(pin, state.time, dt);
    state.node[at(pin.node)] = pin.motion.position(pin.at_start, state.time + dt);
  }
  state.time += dt;
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
  for (std::size_t r = 0; r < s.rigid.size(); ++r)
    energy -= s.rigid[r].body.mass * gravity.dot(state.rigid[r].centre);
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
