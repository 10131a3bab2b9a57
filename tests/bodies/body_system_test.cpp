#include "bodies/body_system.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cstring>
#include <numbers>

#include "base/check.h"
#include "base/rng.h"
#include "geometry/ball.h"
#include "geometry/block.h"
#include "linalg/conjugate_gradient.h"
#include "linalg/spd_factor.h"

namespace signorini::body_system_test {
namespace {

constexpr double kEps = 2.22e-16;
const Vector3 kGravity(0.0, 0.0, -9.81);
const Vector3 kNone = Vector3::Zero();

ElasticMaterial soft(ElasticModel model = ElasticModel::corotational) {
  ElasticMaterial material;
  material.young_modulus = 2e5;
  material.damping = 0.0;
  material.model = model;
  return material;
}

TriangleMesh box_surface(const Vector3& size) {
  std::vector<Index> vertex_of;
  return boundary_surface(kuhn_block({1, 1, 1}, size), vertex_of);
}

Placement placed(const Vector3& translation, const Vector3& velocity = kNone, const Vector3& spin = kNone) {
  return {Eigen::AngleAxisd(0.7, Vector3(1, 2, 3).normalized()).toRotationMatrix(), translation, velocity,
          spin};
}

Motion swing() {
  Motion motion;
  motion.velocity = {0.3, 0.0, 0.1};
  motion.axis = {0.0, 1.0, 0.0};
  motion.spin = 2.0;
  return motion;
}

/// A solid of each material, one with a skin, a cloth, two rigid boxes and a turning plate.
struct Mixed {
  BodySystem system;
  Index ball, neo, skinned, cloth, brick, card, plate;

  explicit Mixed(bool pins = false) {
    const TetMesh mesh = tet_ball(1, 0.1);
    ElasticMaterial damped = soft();
    damped.stiffness_damping = 2e-3;
    ball = system.add_solid("ball", mesh, damped, placed({0, 0, 0}, {1, 0, 0}, {0, 5, 0}));
    neo = system.add_solid("neo", mesh, soft(ElasticModel::neo_hookean),
                           placed({0.5, 0, 0}, {0, -1, 0}, {3, 0, 0}));
    const TriangleMesh skin = icosphere(2);
    TriangleMesh small = skin;
    for (Vector3& x : small.vertices) x *= 0.08;
    skinned = system.add_solid("skinned", mesh, soft(), placed({0, 0.5, 0}), &small);
    brick = system.add_rigid("brick", box_surface({0.3, 0.2, 0.1}), 500.0,
                             placed({0, 0, 1}, {0, 0, 1}, {1, 7, 2}));
    plate = system.add_kinematic("plate", box_surface({2, 2, 0.1}), swing());
    ClothMaterial sheet;
    cloth = system.add_springs("cloth", grid_cloth(6, 5, 0.5, 0.4, sheet),
                               placed({1, 1, 1}, {0, 2, 0}, {0, 0, 4}));
    card = system.add_rigid("card", box_surface({0.2, 0.2, 0.01}), 900.0,
                            placed({1, 0, 1}, {0, 1, 0}, {9, 0, 1}));
    if (pins) {
      system.pin(ball, 3, Motion{});
      system.pin(ball, 40, swing());
      system.pin(skinned, 7, swing());
      system.pin(cloth, 0, Motion{});
      system.pin(cloth, 5, swing());
    }
    system.finish();
  }
};

/// Deformed and moving: node positions shaken by `size`, velocities by 1 m/s.
SystemState shaken(const SystemState& start, double size, std::uint64_t seed) {
  Rng rng(seed);
  SystemState state = start;
  for (Vector3& x : state.node) {
    for (Index d = 0; d < 3; ++d) x[d] += rng.uniform(-size, size);
  }
  for (Vector3& v : state.velocity) {
    for (Index d = 0; d < 3; ++d) v[d] += rng.uniform(-1.0, 1.0);
  }
  return state;
}

std::vector<Vector3> blocks_of(const Vector& v) {
  std::vector<Vector3> blocks(v.size() / 3);
  for (Index i = 0; i < count(blocks); ++i) blocks[i] = v.segment<3>(3 * i);
  return blocks;
}

/// One free step of backward Euler with a direct factor.
void step(BodySystem& system, TaskArena& arena, SystemState& state, double dt, const Vector3& gravity,
          ImplicitSystem& work) {
  system.implicit_system(arena, state, dt, gravity, work);
  Vector v(work.b.size());
  SpdFactor(to_scalar(work.A)).solve(span_of(work.b), span_of(v));
  system.advance(state, blocks_of(v), dt);
}

TEST(BodySystem, NumbersBlocksBodiesAndSurfaces) {
  const Mixed m;
  const BodySystem& system = m.system;
  EXPECT_EQ(system.bodies(), 7);
  EXPECT_EQ(system.nodes(), 3 * 55 + 30);
  EXPECT_EQ(system.rigids(), 2);
  EXPECT_EQ(system.blocks(), 195 + 4);
  EXPECT_EQ(system.elements(), 3 * 160);
  EXPECT_EQ(system.name(m.plate), "plate");
  EXPECT_EQ(system.body_blocks(m.neo), (std::array<Index, 2>{55, 110}));
  EXPECT_EQ(system.body_blocks(m.cloth), (std::array<Index, 2>{165, 195}));
  EXPECT_EQ(system.body_blocks(m.brick), (std::array<Index, 2>{195, 197}));
  EXPECT_EQ(system.body_blocks(m.card), (std::array<Index, 2>{197, 199}));
  const std::array<Index, 2> none = system.body_blocks(m.plate);
  EXPECT_EQ(none[0], none[1]);
  for (const Index body : {m.ball, m.neo, m.skinned, m.cloth, m.brick, m.card}) {
    for (Index block = system.body_blocks(body)[0]; block < system.body_blocks(body)[1]; ++block)
      EXPECT_EQ(system.body_of_block(block), body);
  }
  const SurfaceModel& surface = system.surface();
  EXPECT_EQ(surface.bodies.size(), 7U);
  EXPECT_EQ(surface.vertices(), 42 + 42 + 162 + 8 + 8 + 30 + 8);
  EXPECT_EQ(surface.vertices(), count(system.surface_rest()));
  EXPECT_TRUE(surface.bodies[m.ball].deformable && surface.bodies[m.ball].movable);
  EXPECT_FALSE(surface.bodies[m.brick].deformable);
  EXPECT_TRUE(surface.bodies[m.brick].movable);
  EXPECT_FALSE(surface.bodies[m.plate].movable);
}

TEST(BodySystem, TheMassIsThatOfTheBodies) {
  Mixed m;
  std::vector<Matrix3> mass(m.system.blocks());
  m.system.mass_blocks(m.system.start(), mass);
  double sum = 0.0;
  for (Index i = 0; i < 55; ++i) sum += mass[i](0, 0);
  EXPECT_NEAR(sum / (1000.0 * total_volume(tet_ball(1, 0.1))), 1.0, 160 * kEps);
  EXPECT_NEAR(mass[195](2, 2) / (500.0 * 0.3 * 0.2 * 0.1), 1.0, 100 * kEps);
  const Vector3 moments = Eigen::SelfAdjointEigenSolver<Matrix3>(mass[196]).eigenvalues();
  const double m12 = 500.0 * 0.006 / 12.0;
  const Vector3 expected = m12 * Vector3(0.2 * 0.2 + 0.1 * 0.1, 0.3 * 0.3 + 0.1 * 0.1, 0.3 * 0.3 + 0.2 * 0.2);
  EXPECT_LT((moments - expected).norm(), 100 * kEps * expected.norm());
}

TEST(BodySystem, SurfacesStandWhereTheBodiesWerePlaced) {
  const Mixed m;
  TaskArena arena(2);
  const SurfaceModel& surface = m.system.surface();
  std::vector<Vector3> x(surface.vertices());
  m.system.surface_positions(arena, m.system.start(), x);
  EXPECT_EQ(x, m.system.surface_rest());
  const Placement of_brick = placed({0, 0, 1});
  const TriangleMesh box = box_surface({0.3, 0.2, 0.1});
  const std::size_t first = surface.bodies[m.brick - 1].vertices;
  for (std::size_t i = 0; i < box.vertices.size(); ++i) {
    const Vector3 expected = of_brick.rotation * box.vertices[i] + of_brick.translation;
    EXPECT_LT((x[first + i] - expected).norm(), 20 * kEps);
  }
  const TriangleMesh skin = icosphere(2);
  const Placement of_skin = placed({0, 0.5, 0});
  const std::size_t skin_first = surface.bodies[m.skinned - 1].vertices;
  for (std::size_t i = 0; i < skin.vertices.size(); ++i) {
    const Vector3 expected = of_skin.rotation * (0.08 * skin.vertices[i]) + of_skin.translation;
    // Weights solve a 3×3 system of an element's shape: a few hundred ε.
    EXPECT_LT((x[skin_first + i] - expected).norm(), 1000 * kEps);
  }
}

TEST(BodySystem, ARowIsTheVelocityOfItsVertex) {
  const Mixed m(true);
  const BodySystem& system = m.system;
  TaskArena arena(1);
  const SystemState state = shaken(system.start(), 0.005, 1);
  const auto positions_after = [&](double dt) {
    SystemState moved = state;
    system.advance(moved, state.velocity, dt);
    std::vector<Vector3> x(system.surface().vertices());
    system.surface_positions(arena, moved, x);
    return x;
  };
  const double dt = 1e-4;
  const std::vector<Vector3> ahead = positions_after(dt), behind = positions_after(-dt);
  VertexRow row;
  for (Index vertex = 0; vertex < system.surface().vertices(); ++vertex) {
    for (const Vector3& direction : {Vector3(1, 0, 0), Vector3(0.6, 0, 0.8)}) {
      const int entries = system.vertex_row(state, vertex, direction, row);
      double speed = 0.5 * direction.dot(system.prescribed_velocity(state, vertex, dt) +
                                         system.prescribed_velocity(state, vertex, -dt));
      for (int k = 0; k < entries; ++k) {
        const BlockCoefficient& entry = row[k];
        EXPECT_FALSE(system.is_prescribed(entry.block));
        speed += entry.coefficient.dot(state.velocity[entry.block]);
      }
      // Central difference of a rotation: (dt ω)²/6 of the speed ω ρ, ω ≤ 12 rad/s, ρ ≤ 1.5 m; rounding ε/dt.
      const double spin = 12.0 * dt;
      EXPECT_NEAR(direction.dot(ahead[vertex] - behind[vertex]) / (2.0 * dt), speed,
                  spin * spin / 6.0 * 12.0 * 1.5 + 20 * kEps / dt)
          << vertex;
    }
  }
}

TEST(BodySystem, TheMainBlockCarriesMostOfAVertex) {
  const Mixed m;
  const SurfaceModel& surface = m.system.surface();
  VertexRow row;
  for (Index vertex = 0; vertex < surface.vertices(); ++vertex) {
    const Index body = surface.vertex_body[vertex];
    const Index main = m.system.main_block(vertex);
    if (body == m.plate) {
      EXPECT_EQ(main, -1);
      EXPECT_EQ(m.system.vertex_row(m.system.start(), vertex, Vector3::UnitX(), row), 0);
      continue;
    }
    const int entries = m.system.vertex_row(m.system.start(), vertex, Vector3::UnitX(), row);
    if (body == m.brick || body == m.card) {
      EXPECT_EQ(main, m.system.body_blocks(body)[0]);
      continue;
    }
    double most = 0.0, of_main = 0.0;
    for (int k = 0; k < entries; ++k) {
      const BlockCoefficient& entry = row[k];
      most = std::max(most, entry.coefficient[0]);
      if (entry.block == main) of_main = entry.coefficient[0];
    }
    EXPECT_EQ(of_main, most);
  }
}

TEST(BodySystem, TheStepMatrixIsMassPlusSquaredStepTimesTheDerivativeOfTheForce) {
  // At rest both materials and the cloth have K = −∂f/∂x exactly (no negative part to cut off).
  for (const ElasticModel model : {ElasticModel::corotational, ElasticModel::neo_hookean}) {
    BodySystem system;
    ElasticMaterial material = soft(model);
    material.damping = 3.0;
    material.stiffness_damping = 0.02;
    system.add_solid("block", kuhn_block({1, 1, 1}, {0.1, 0.1, 0.1}), material, placed({0, 0, 0}));
    system.add_springs("cloth", grid_cloth(3, 3, 0.2, 0.2, ClothMaterial{}), placed({1, 0, 0}));
    system.finish();
    TaskArena arena(1);
    const SystemState start = system.start();
    ImplicitSystem work;
    const double dt = 0.01;
    system.implicit_system(arena, start, dt, kGravity, work);
    const auto force = [&](const SystemState& state) {
      std::vector<Vector3> f(system.blocks());
      system.forces(arena, state, f);
      return Vector(Eigen::Map<Vector>(f[0].data(), 3 * system.blocks()));
    };
    const Index solid = system.body_blocks(0)[1];
    const Matrix A = Matrix(to_scalar(work.A));
    std::vector<Matrix3> mass(system.blocks());
    system.mass_blocks(start, mass);
    const double h = 1e-6;
    for (Index dof = 0; dof < 3 * system.blocks(); ++dof) {
      SystemState ahead = start, behind = start;
      ahead.node[dof / 3][dof % 3] += h;
      behind.node[dof / 3][dof % 3] -= h;
      const Vector K = (force(behind) - force(ahead)) / (2.0 * h);
      const bool in_solid = dof / 3 < solid;
      Vector expected = dt * (dt + (in_solid ? 0.02 : 0.0)) * K;
      expected[dof] += mass[dof / 3](0, 0) * (1.0 + dt * (in_solid ? 3.0 : 0.0));
      // Third derivatives over elements of 0.1 m: (h / 0.1)² relative; rounding of forces E ε a over h.
      EXPECT_LT((A.col(dof) - expected).norm(), 1e-6 * A.col(dof).norm()) << dof;
    }
  }
}

TEST(BodySystem, BodiesAtRestFallFreely) {
  Mixed m;
  TaskArena arena(2);
  SystemState state = m.system.start();
  for (Vector3& v : state.velocity) v.setZero();
  ImplicitSystem work;
  step(m.system, arena, state, 0.01, kGravity, work);
  for (Index block = 0; block < m.system.nodes(); ++block) {
    // Rest positions are placed with rounding ε; a strain of ε/0.05 times E over ρ, times dt and κ of A.
    EXPECT_LT((state.velocity[block] - 0.01 * kGravity).norm(), 1e-10) << block;
  }
  EXPECT_LT((state.velocity[195] - 0.01 * kGravity).norm(), 10 * kEps);
  EXPECT_LT(state.velocity[196].norm(), 10 * kEps);
}

TEST(BodySystem, AStepKeepsTheLinearMomentumToRounding) {
  Mixed m;
  TaskArena arena(1);
  SystemState state = shaken(m.system.start(), 0.01, 2);
  ImplicitSystem work;
  std::vector<Matrix3> mass(m.system.blocks());
  m.system.mass_blocks(state, mass);
  double total = 0.0, size = 0.0;
  for (Index i = 0; i < m.system.nodes(); ++i) {
    total += mass[i](0, 0);
    size += mass[i](0, 0) * state.velocity[i].norm();
  }
  total += mass[195](0, 0) + mass[197](0, 0);
  size += mass[195](0, 0) * state.velocity[195].norm() + mass[197](0, 0) * state.velocity[197].norm();
  const double dt = 2e-3;
  for (int k = 0; k < 50; ++k) {
    const Vector3 before = m.system.linear_momentum(state);
    step(m.system, arena, state, dt, kGravity, work);
    // Forces and rows of K sum to zero to ε of the largest force, dt² K / m ≲ 50: 1e3 roundings of Σ m |v|.
    EXPECT_LT((m.system.linear_momentum(state) - before - dt * total * kGravity).norm(), 1e3 * kEps * size);
  }
}

TEST(BodySystem, InnerForcesHaveNoTorque) {
  Mixed m;
  TaskArena arena(1);
  const SystemState state = shaken(m.system.start(), 0.03, 3);  // inverted elements among them
  std::vector<Vector3> force(m.system.blocks());
  m.system.forces(arena, state, force);
  for (const Index body : {m.ball, m.neo, m.skinned, m.cloth}) {
    Vector3 sum = kNone, torque = kNone;
    double size = 0.0;
    for (Index i = m.system.body_blocks(body)[0]; i < m.system.body_blocks(body)[1]; ++i) {
      sum += force[i];
      torque += state.node[i].cross(force[i]);
      size += force[i].norm();
    }
    EXPECT_GT(size, 0.0);
    EXPECT_LT(sum.norm(), 100 * kEps * size);
    EXPECT_LT(torque.norm(),
              1000 * kEps * size * 2.0);  // lever arms to 2 m; nearly flat elements are less exact
  }
}

/// Largest energy over `steps` free steps without gravity, relative to the start, and whether it never rose.
struct Flight {
  double largest = 0.0, last = 0.0;
  bool falling = true;
};
Flight fly(BodySystem& system, SystemState state, double dt, int steps) {
  TaskArena arena(1);
  ImplicitSystem work;
  std::vector<Vector3> force(system.blocks());
  const double start = system.kinetic_energy(state) + system.forces(arena, state, force);
  Flight flight{1.0, 1.0, true};
  for (int k = 0; k < steps; ++k) {
    step(system, arena, state, dt, kNone, work);
    const double energy = (system.kinetic_energy(state) + system.forces(arena, state, force)) / start;
    flight.falling = flight.falling && energy <= flight.last * (1.0 + 1e-12);
    flight.largest = std::max(flight.largest, energy);
    flight.last = energy;
  }
  return flight;
}

TEST(BodySystem, FreeFlightGainsNoEnergy) {
  Mixed m;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    const Flight rough = fly(m.system, shaken(m.system.start(), 0.004, seed), 2e-3, 100);
    EXPECT_TRUE(rough.falling) << seed;
    EXPECT_GT(rough.last, 0.1);  // still flying
  }
  // One Newton step cannot see how a turning body grows: by (dt ω)²/2 in the first step, an energy of fourth
  // order in dt that the next steps take back. Neighbouring orders would give 8 and 32.
  BodySystem one;
  one.add_solid("ball", tet_ball(1, 0.1), soft(), placed({0, 0, 0}, {1, 0, 0}, {0, 5, 0}));
  one.finish();
  const double gain = fly(one, one.start(), 2e-3, 10).largest - 1.0;
  const double half = fly(one, one.start(), 1e-3, 20).largest - 1.0;
  EXPECT_GT(half, 0.0);
  EXPECT_LT(gain, 1e-5);
  EXPECT_LT(half, gain / 8.0);
}

TEST(BodySystem, RigidBodiesFlyWithTheirMomentumForEver) {
  BodySystem system;
  system.add_rigid("brick", box_surface({0.3, 0.2, 0.1}), 500.0, placed({0, 0, 1}, {0, 0, 1}, {1, 30, 2}));
  system.finish();
  TaskArena arena(1);
  SystemState state = system.start();
  ImplicitSystem work;
  const Vector3 start = system.angular_momentum(state);
  double energy = system.kinetic_energy(state);
  for (int k = 0; k < 500; ++k) {
    step(system, arena, state, 0.01, kNone, work);
    EXPECT_LE(system.kinetic_energy(state), energy * (1.0 + 1e-13));
    energy = system.kinetic_energy(state);
  }
  EXPECT_LT((system.angular_momentum(state) - start).norm(), 500 * 1e-14 * start.norm());
}

TEST(BodySystem, MassProportionalDampingSlowsEveryStepByOneOverOnePlusDtAlpha) {
  BodySystem system;
  ElasticMaterial material = soft();
  material.damping = 5.0;
  system.add_solid("ball", tet_ball(1, 0.1), material, placed({0, 0, 0}, {1, 2, 3}));
  system.finish();
  EXPECT_EQ(system.damping()[7], 5.0);
  TaskArena arena(1);
  SystemState state = system.start();
  ImplicitSystem work;
  for (int k = 1; k <= 10; ++k) {
    step(system, arena, state, 0.01, kNone, work);
    EXPECT_LT((state.velocity[3] * std::pow(1.05, k) - Vector3(1, 2, 3)).norm(),
              1e-9);  // rounding as in free fall
  }
}

TEST(BodySystem, StiffnessProportionalDampingActsOnStretchingNotOnTranslation) {
  const auto fly = [](double beta, double stretch) {
    BodySystem system;
    ElasticMaterial material = soft();
    material.stiffness_damping = beta;
    system.add_solid("ball", tet_ball(1, 0.1), material, placed({0, 0, 0}));
    system.finish();
    TaskArena arena(1);
    SystemState state = system.start();
    for (std::size_t i = 0; i < state.node.size(); ++i)
      state.velocity[i] = stretch == 0.0 ? Vector3(1, 0, 0) : Vector3(stretch * state.node[i]);
    ImplicitSystem work;
    for (int k = 0; k < 20; ++k) step(system, arena, state, 1e-4, kNone, work);
    std::vector<Vector3> force(system.blocks());
    return system.kinetic_energy(state) + system.forces(arena, state, force);
  };
  EXPECT_NEAR(fly(0.01, 0.0) / fly(0.0, 0.0), 1.0, 1e-9);
  // A mode of frequency ω loses energy at the rate β ω² / 2 and more: 80/s over 2 ms for 400 rad/s, the
  // lowest.
  EXPECT_LT(fly(0.01, 10.0), 0.5 * fly(0.0, 10.0));
}

TEST(BodySystem, PinnedNodesFollowTheirMotionAndTheMatrixStaysPositiveDefinite) {
  Mixed m(true);
  BodySystem& system = m.system;
  TaskArena arena(2);
  SystemState state = system.start();
  ImplicitSystem work;
  const double dt = 2e-3;
  const Index pinned = system.body_blocks(m.ball)[0] + 40;
  const Vector3 at_start = state.node[pinned];
  ASSERT_TRUE(system.is_prescribed(pinned));
  ASSERT_FALSE(system.is_prescribed(pinned + 1));
  for (int k = 0; k < 20; ++k) {
    system.implicit_system(arena, state, dt, kGravity, work);
    const Matrix A = Matrix(to_scalar(work.A));
    EXPECT_LE((A - A.transpose()).norm(), kEps * A.norm());
    Vector v(work.b.size());
    SpdFactor(to_scalar(work.A)).solve(span_of(work.b), span_of(v));  // throws when not positive definite
    const Vector3 mean =
        (swing().position(at_start, state.time + dt) - swing().position(at_start, state.time)) / dt;
    EXPECT_LT((v.segment<3>(3 * pinned) - mean).norm(), 10 * kEps * mean.norm());
    EXPECT_EQ(A.row(3 * pinned).norm(), A(3 * pinned, 3 * pinned));  // coupled to nothing
    system.advance(state, blocks_of(v), dt);
    EXPECT_EQ(state.node[pinned], swing().position(at_start, state.time));
  }
  // The neighbours are dragged along: the ball has left its place with the pin.
  EXPECT_GT((state.node[pinned - 1] - system.start().node[pinned - 1]).norm(), 1e-3);
}

TEST(BodySystem, APinnedColumnMovesToTheRightHandSide) {
  // Solving with pins equals eliminating the pinned unknowns from the free system by hand.
  const TetMesh block = kuhn_block({2, 1, 1}, {0.2, 0.1, 0.1});
  BodySystem with, without;
  for (BodySystem* system : {&with, &without}) system->add_solid("block", block, soft(), placed({0, 0, 0}));
  with.pin(0, 4, swing());
  with.pin(0, 5, Motion{});  // neighbours
  with.finish();
  without.finish();
  TaskArena arena(1);
  const SystemState state = shaken(without.start(), 0.005, 6);
  ImplicitSystem pinned, free;
  const double dt = 0.01;
  with.implicit_system(arena, state, dt, kGravity, pinned);
  without.implicit_system(arena, state, dt, kGravity, free);
  const Matrix A = Matrix(to_scalar(free.A));
  Vector prescribed = Vector::Zero(A.rows());
  const Vector3 X = without.start().node[4];
  prescribed.segment<3>(12) = (swing().position(X, dt) - X) / dt;
  std::vector<Index> keep;
  for (Index i = 0; i < A.rows(); ++i) {
    if (i < 12 || i >= 18) keep.push_back(i);
  }
  const Vector expected = A(keep, keep).ldlt().solve((free.b - A * prescribed)(keep));
  const Vector v = Matrix(to_scalar(pinned.A)).ldlt().solve(pinned.b);
  EXPECT_LT((v(keep) - expected).norm(), 1e-12 * expected.norm());
  EXPECT_LT((v.segment<6>(12) - prescribed.segment<6>(12)).norm(), 100 * kEps * prescribed.norm());
}

TEST(BodySystem, TheMatrixIsPositiveDefiniteInEveryScrambledState) {
  for (const ElasticModel model : {ElasticModel::corotational, ElasticModel::neo_hookean}) {
    BodySystem system;
    system.add_solid("ball", tet_ball(1, 0.1), soft(model), placed({0, 0, 0}));
    system.finish();
    TaskArena arena(1);
    ImplicitSystem work;
    std::vector<Vector3> force(system.blocks());
    for (int k = 0; k < 30; ++k) {
      // From slightly shaken to entirely scrambled, then flattened and mirrored.
      SystemState state = shaken(system.start(), 0.02 * (k % 10), static_cast<std::uint64_t>(k));
      for (Vector3& x : state.node) x[2] *= k < 10 ? 1.0 : k < 20 ? 0.0 : -1.0;
      if (k > 20) {
        EXPECT_LT(system.smallest_volume_ratio(state), 0.0);
      }
      EXPECT_TRUE(std::isfinite(system.forces(arena, state, force)));
      system.implicit_system(arena, state, 0.01, kGravity, work);
      EXPECT_TRUE(work.b.allFinite());
      EXPECT_NO_THROW(SpdFactor(to_scalar(work.A))) << k;
      ConjugateGradient cg;
      cg.prepare(arena, work.A);
      Vector v = Vector::Zero(work.b.size());
      EXPECT_TRUE(cg.solve(arena, span_of(work.b), span_of(v), 1e-10, 2000).converged) << k;
    }
  }
}

TEST(BodySystem, AnInvertedNeoHookeanBallRecovers) {
  BodySystem system;
  ElasticMaterial material = soft(ElasticModel::neo_hookean);
  material.stiffness_damping = 5e-3;
  system.add_solid("ball", tet_ball(1, 0.1), material, placed({0, 0, 0}));
  system.finish();
  TaskArena arena(1);
  SystemState state = system.start();
  for (Vector3& x : state.node) x[2] *= -0.2;
  ASSERT_LT(system.smallest_volume_ratio(state), -0.1);
  ImplicitSystem work;
  for (int k = 0; k < 400; ++k) step(system, arena, state, 2e-3, kNone, work);
  EXPECT_GT(system.smallest_volume_ratio(state), 0.9);
}

TEST(BodySystem, HasTheSameBitsForAnyNumberOfThreads) {
  std::vector<double> values;
  Vector b;
  std::vector<Vector3> force, surface;
  for (const int threads : {1, 2, 4, 8}) {
    Mixed m(true);
    TaskArena arena(threads);
    const SystemState state = shaken(m.system.start(), 0.01, 7);
    ImplicitSystem work;
    m.system.implicit_system(arena, state, 2e-3, kGravity, work);
    m.system.implicit_system(arena, state, 1e-3, kGravity, work);  // again into a used one
    std::vector<Vector3> f(m.system.blocks()), x(m.system.surface().vertices());
    m.system.forces(arena, state, f);
    m.system.surface_positions(arena, state, x);
    if (threads == 1) {
      values = work.A.values;
      b = work.b;
      force = f;
      surface = x;
      continue;
    }
    EXPECT_EQ(std::memcmp(work.A.values.data(), values.data(), values.size() * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(work.b.data(), b.data(), b.size() * sizeof(double)), 0);
    EXPECT_EQ(std::memcmp(f.data(), force.data(), f.size() * sizeof(Vector3)), 0);
    EXPECT_EQ(std::memcmp(x.data(), surface.data(), x.size() * sizeof(Vector3)), 0);
  }
}

TEST(BodySystem, BadInputIsOneClearErrorThatNamesTheBody) {
  const auto message = [](auto&& build) -> std::string {
    BodySystem system;
    try {
      build(system);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "no error";
  };
  const TetMesh ball = tet_ball(0, 0.1);
  TetMesh loose = ball;
  loose.vertices.push_back({1, 1, 1});
  EXPECT_EQ(message([&](BodySystem& s) { s.add_solid("loose", loose, soft(), {}); }),
            "loose: vertex 13 belongs to no tetrahedron and has no mass");
  ElasticMaterial wrong = soft();
  wrong.poisson_ratio = 0.5;
  EXPECT_EQ(message([&](BodySystem& s) { s.add_solid("gum", ball, wrong, {}); }).substr(0, 4), "gum:");
  TriangleMesh open = box_surface({1, 1, 1});
  open.triangles.pop_back();
  EXPECT_EQ(message([&](BodySystem& s) { s.add_rigid("lid", open, 1.0, {}); }).substr(0, 4), "lid:");
  EXPECT_EQ(message([&](BodySystem& s) { s.add_kinematic("wall", TriangleMesh{}, {}); }),
            "wall: the surface has no triangles");
  open.triangles[2][1] = 8;
  EXPECT_EQ(message([&](BodySystem& s) { s.add_kinematic("wall", open, {}); }),
            "wall: triangle 2 names vertex 8, the mesh has 8");
  EXPECT_EQ(message([&](BodySystem& s) { s.add_springs("net", SpringNetwork{}, {}); }),
            "net: the network has no vertices");
  EXPECT_EQ(message([&](BodySystem& s) {
              s.add_solid("ball", ball, soft(), {});
              s.pin(0, 13, {});
            }),
            "ball: no vertex 13 to pin, the body has 13");
  EXPECT_EQ(message([&](BodySystem& s) {
              s.add_solid("ball", ball, soft(), {});
              s.pin(0, 2, {});
              s.pin(0, 2, {});
            }),
            "ball: vertex 2 is pinned twice");
  EXPECT_EQ(message([&](BodySystem& s) {
              s.add_rigid("brick", box_surface({1, 1, 1}), 1.0, {});
              s.pin(0, 0, {});
            }),
            "brick: only vertices of a deformable body can be pinned");
}

}  // namespace
}  // namespace signorini::body_system_test
