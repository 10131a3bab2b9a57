#include "bodies/body_system_parts.h"

#include <algorithm>
#include <utility>

namespace signorini {

using namespace body_parts;

namespace {

void require_surface(const std::string& name, const TriangleMesh& surface) {
  if (surface.triangles.empty()) throw_usage("{}: the surface has no triangles", name);
  const Index vertices = count(surface.vertices);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (const Index vertex : surface.triangles[t]) {
      if (vertex < 0 || vertex >= vertices)
        throw_usage("{}: triangle {} names vertex {}, the mesh has {}", name, t, vertex, vertices);
    }
  }
}

/// The pattern with the diagonal and both triangles of `pairs` (i < j), values zero. Uses `pairs` up.
BlockSparseMatrix block_pattern(Index rows, std::vector<std::array<Index, 2>>& pairs) {
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  BlockSparseMatrix A;
  A.block_rows = A.block_columns = rows;
  A.row_begin.assign(rows + 1, 0);
  for (Index i = 0; i < rows; ++i) A.row_begin[i + 1] = 1;
  for (const auto& [i, j] : pairs) {
    ++A.row_begin[i + 1];
    ++A.row_begin[j + 1];
  }
  for (Index i = 0; i < rows; ++i) A.row_begin[i + 1] += A.row_begin[i];
  A.column.resize(A.row_begin.back());
  // Below the diagonal in ascending column, then the diagonal, then what is above.
  std::vector<Index> next(A.row_begin.begin(), A.row_begin.end() - 1);
  for (const auto& [i, j] : pairs) A.column[next[j]++] = i;
  for (Index i = 0; i < rows; ++i) A.column[next[i]++] = i;
  for (const auto& [i, j] : pairs) A.column[next[i]++] = j;
  A.values.assign(9 * A.column.size() + BlockSparseMatrix::kPadding, 0.0);
  return A;
}

}  // namespace

BodySystem::BodySystem() : impl_(std::make_unique<Impl>()) {}
BodySystem::~BodySystem() = default;
BodySystem::BodySystem(BodySystem&&) noexcept = default;
BodySystem& BodySystem::operator=(BodySystem&&) noexcept = default;

// --- building ---

Index BodySystem::Impl::add_body(const std::string& name, Kind kind, Index number, Index first_node) {
  SIGNORINI_CHECK(!finished);
  bodies.push_back({name, kind, first_node, nodes(), number});
  return count(bodies) - 1;
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
    carrier.node[0] = first_node + (vertex_of == nullptr ? i : (*vertex_of)[i]);
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
    s.add_node_surface(first, boundary.triangles, &vertex_of, count(vertex_of), {});
  } else {
    require_surface(name, *skin);
    const Embedding embedding = embed(*skin, rest, name);
    for (std::size_t i = 0; i < embedding.nodes.size(); ++i) {
      Carrier carrier{embedding.nodes[i], embedding.weights[i]};
      for (Index& node : carrier.node) node += first;
      s.carriers.push_back(carrier);
    }
    append_surface(s.surface, count(skin->vertices), skin->triangles, {}, true, true);
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
  s.add_node_surface(first, rest.triangles, nullptr, count(rest.vertices), rest.edges);
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
  append_surface(s.surface, count(surface.vertices), surface.triangles, {}, true, false);
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
  append_surface(s.surface, count(surface.vertices), surface.triangles, {}, false, false);
  s.motions.push_back(motion);
  return s.add_body(name, Kind::kinematic, count(s.motions) - 1, nodes());
}

void BodySystem::pin(Index body, Index vertex, const Motion& motion) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(!s.finished && body >= 0 && body < bodies());
  const Body& owner = s.bodies[body];
  if (owner.kind != Kind::solid && owner.kind != Kind::springs)
    throw_usage("{}: only vertices of a deformable body can be pinned", owner.name);
  if (vertex < 0 || vertex >= owner.end_node - owner.first_node)
    throw_usage("{}: no vertex {} to pin, the body has {}", owner.name, vertex,
                owner.end_node - owner.first_node);
  motion.validate(owner.name);
  const Index node = owner.first_node + vertex;
  if (s.pinned(node)) throw_usage("{}: vertex {} is pinned twice", owner.name, vertex);
  s.pin_of[node] = count(s.pins);
  s.pins.push_back({node, motion, s.node_rest[node]});
}

void BodySystem::mount(Index body, const Axle& axle) {
  Impl& s = *impl_;
  SIGNORINI_CHECK(!s.finished && body >= 0 && body < bodies());
  const Body& owner = s.bodies[body];
  if (owner.kind != Kind::rigid) throw_usage("{}: only a rigid body can turn on an axle", owner.name);
  RigidBody& rigid = s.rigid[owner.number];
  if (rigid.axle) throw_usage("{}: the body is on an axle already", owner.name);
  axle.validate(owner.name);
  rigid.axle = axle;
  const Vector3 a = rigid.axle->axis.normalized();
  rigid.axle->axis = a;
  const Vector3 local = s.rigid_start[owner.number].rotation.conjugate() * a;
  rigid.axle_inertia = local.dot(rigid.body.inertia * local);
  rigid.angular_velocity = a.dot(rigid.angular_velocity) * a;
  rigid.velocity = axle.slides ? Vector3(a.dot(rigid.velocity) * a) : Vector3::Zero();
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
  s.damping.resize(blocks(), 0.0);

  s.surface_rest.resize(s.carriers.size());
  TaskArena arena(1);
  surface_positions(arena, s.start, s.surface_rest);
  for (const Pin& pin : s.pins) {
    s.start.node[pin.node] = pin.motion.position(pin.at_start, 0.0);
    s.start.velocity[pin.node].setZero();
  }

  std::vector<std::array<Index, 2>> pairs;
  s.springs.couplings(pairs);
  s.tets.couplings(pairs);
  s.pattern = block_pattern(blocks(), pairs);
  for (Index i = 0; i < blocks(); ++i) s.diagonal.push_back(find_block(s.pattern, i, i));
  s.tets.finish(nodes(), &s.pattern);
  s.springs.prepare(s.pattern);
  s.spring_force.resize(s.springs.empty() ? 0 : nodes());

  std::sort(s.pins.begin(), s.pins.end(), [](const Pin& a, const Pin& b) { return a.node < b.node; });
  for (Index k = 0; k < count(s.pins); ++k) {
    const Index p = s.pins[k].node;
    s.pin_of[p] = k;
    for (Index mirror = s.pattern.row_begin[p]; mirror < s.pattern.row_begin[p + 1]; ++mirror) {
      const Index row = s.pattern.column[mirror];
      if (row != p) s.prescribed.push_back({row, find_block(s.pattern, row, p), mirror, k});
    }
  }
}

// --- what there is ---

Index BodySystem::bodies() const { return count(impl_->bodies); }
Index BodySystem::nodes() const { return impl_->nodes(); }
Index BodySystem::rigids() const { return impl_->rigids(); }
Index BodySystem::elements() const { return impl_->tets.size(); }
const std::string& BodySystem::name(Index body) const { return impl_->bodies[body].name; }
const Motion* BodySystem::motion(Index body) const {
  const Body& b = impl_->bodies[body];
  return b.kind == Kind::kinematic ? &impl_->motions[b.number] : nullptr;
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
  const Body& b = impl_->bodies[body];
  if (b.kind == Kind::rigid) return {impl_->rigid_block(b.number), impl_->rigid_block(b.number) + 2};
  return {b.first_node, b.end_node};
}

Index BodySystem::body_of_block(Index block) const {
  if (block < nodes()) return impl_->node_body[block];
  return impl_->rigid[(block - nodes()) / 2].owner;
}

bool BodySystem::has_axles() const {
  return std::ranges::any_of(impl_->rigid, [](const auto& rigid) { return rigid.axle.has_value(); });
}
bool BodySystem::is_prescribed(Index block) const {
  if (block < nodes()) return impl_->pinned(block);
  return (block - nodes()) % 2 == 0 && impl_->is_held((block - nodes()) / 2);
}

void BodySystem::Impl::require_state(const SystemState& state) const {
  SIGNORINI_CHECK(finished && state.node.size() == node_mass.size() && state.rigid.size() == rigid.size() &&
                  state.velocity.size() == damping.size());
}

}  // namespace signorini
