#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/check.h"
#include "base/rng.h"
#include "bodies/spring_network.h"
#include "geometry/ball.h"

namespace signorini::cloth_test {
namespace {

constexpr double kEps = 2.22e-16;

double total_mass(const SpringNetwork& cloth) {
  return std::accumulate(cloth.mass.begin(), cloth.mass.end(), 0.0);
}

SpringElements elements_of(const SpringNetwork& network) {
  SpringElements elements;
  elements.add(network, 0);
  return elements;
}

/// Equilateral triangles with side s on a sheet of columns × rows vertices; every second row is shifted.
TriangleMesh equilateral(Index columns, Index rows, double s) {
  TriangleMesh mesh;
  for (Index j = 0; j < rows; ++j) {
    for (Index i = 0; i < columns; ++i) {
      mesh.vertices.emplace_back(s * (i + (j % 2) * 0.5), s * std::sqrt(0.75) * j, 0.0);
    }
  }
  for (Index j = 0; j + 1 < rows; ++j) {
    for (Index i = 0; i + 1 < columns; ++i) {
      const Index a = i + columns * j, b = a + 1, c = a + columns, d = c + 1;
      if (j % 2 == 0) {
        mesh.triangles.push_back({a, b, c});
        mesh.triangles.push_back({b, d, c});
      } else {
        mesh.triangles.push_back({a, b, d});
        mesh.triangles.push_back({a, d, c});
      }
    }
  }
  return mesh;
}

/// Bent around a cylinder of radius r whose axis stands across `direction` (angle to x); lengths on the sheet
/// are kept.
std::vector<Vector3> rolled(const std::vector<Vector3>& sheet, double radius, double direction) {
  const Vector3 along(std::cos(direction), std::sin(direction), 0.0);
  const Vector3 across(-along[1], along[0], 0.0);
  std::vector<Vector3> x;
  for (const Vector3& p : sheet) {
    const double angle = p.dot(along) / radius;
    x.push_back(radius * std::sin(angle) * along + p.dot(across) * across +
                radius * (1.0 - std::cos(angle)) * Vector3::UnitZ());
  }
  return x;
}

ClothMaterial only(double stretch, double shear, double bending) {
  ClothMaterial material;
  material.stretch = stretch;
  material.shear = shear;
  material.bending = bending;
  return material;
}

TEST(GridCloth, FiftyByFiftyHasTheCountsAndTheMassOfTheSheet) {
  const SpringNetwork cloth = grid_cloth(50, 50, 1.0, 0.8, {});
  EXPECT_EQ(cloth.vertices.size(), 2500U);
  EXPECT_EQ(cloth.triangles.size(), 4802U);
  EXPECT_EQ(cloth.springs.size(), 2U * 49 * 50 + 2 * 49 * 49);
  EXPECT_EQ(cloth.folds.size(), 2U * 48 * 49 + 49 * 49);  // inner grid edges and one diagonal per cell
  EXPECT_NEAR(total_mass(cloth), 0.2 * 0.8, 2500 * kEps * 0.2);
  EXPECT_NO_THROW(cloth.validate("cloth"));
  double area = 0.0;
  for (const auto& [i, j, k] : cloth.triangles) {
    const Vector3 twice = area_vector(cloth.vertices[i], cloth.vertices[j], cloth.vertices[k]);
    EXPECT_GT(twice[2], 0.0);
    area += 0.5 * twice[2];
  }
  EXPECT_NEAR(area, 0.8, 4802 * kEps);
}

TEST(GridCloth, DiagonalsAlternate) {
  const SpringNetwork cloth = grid_cloth(3, 3, 2.0, 2.0, {});
  // Four cells, diagonals forming a diamond around the middle vertex or a cross through it: with alternation
  // all four meet in vertex 4 or none does; here the cell (0, 0) is cut from 0 to 4.
  int at_middle = 0;
  for (const Triangle& t : cloth.triangles) at_middle += std::count(t.begin(), t.end(), 4) > 0 ? 1 : 0;
  EXPECT_EQ(at_middle, 8);
}

TEST(GridCloth, UniaxialPullHasTheStiffnessOfTheMaterial) {
  // Held at its width, stretched by a small ε along x: warp springs resist with stretch × depth; a diagonal
  // of length ℓ over cells a × b stretches by ε a²/ℓ² and every cell has two.
  const double stretch = 300.0, shear = 40.0, width = 1.2, depth = 0.7;
  const Index columns = 9, rows = 6;
  const SpringNetwork cloth = grid_cloth(columns, rows, width, depth, only(stretch, shear, 0.0));
  const SpringElements elements = elements_of(cloth);
  const double strain = 1e-6;
  std::vector<Vector3> x = cloth.vertices;
  for (Vector3& p : x) p[0] *= 1.0 + strain;
  const double a = width / (columns - 1), b = depth / (rows - 1), l = std::hypot(a, b);
  const double diagonal = a * a / (l * l);
  const double expected =
      0.5 * strain * strain * width * depth * (stretch + 2.0 * shear * diagonal * diagonal);
  // Third order terms: relative ε; rounding: the strain has 10⁻¹⁰ relative.
  EXPECT_NEAR(elements.energy(x), expected, 4.0 * strain * expected);
  // And the force on the border: the derivative of the same energy.
  std::vector<Vector3> f(x.size(), Vector3::Zero());
  elements.add_forces(x, std::vector<Vector3>(x.size(), Vector3::Zero()), f);
  double pull = 0.0;
  for (Index j = 0; j < rows; ++j) pull -= f[columns - 1 + columns * j][0];
  EXPECT_NEAR(pull, 2.0 * expected / (strain * width), 4.0 * strain * pull);
}

TEST(GridCloth, ShearModulusOfSquareCellsIsHalfTheShearStiffness) {
  const double shear = 40.0;
  const SpringNetwork cloth = grid_cloth(6, 6, 1.0, 1.0, only(300.0, shear, 0.0));
  const double angle = 1e-5;
  std::vector<Vector3> x = cloth.vertices;
  for (Vector3& p : x) p[0] += angle * p[1];
  // The structural springs stretch by ½ angle² only.
  const double expected = 0.5 * (0.5 * shear) * angle * angle;
  EXPECT_NEAR(elements_of(cloth).energy(x), expected, 4.0 * angle * expected);
}

TEST(GridCloth, RolledAlongWarpOrWeftStoresTheBendingEnergyOfAPlate) {
  const double rigidity = 2e-3, radius = 0.5;
  const Index columns = 41, rows = 21;
  const SpringNetwork cloth = grid_cloth(columns, rows, 1.0, 0.4, only(1.0, 0.0, rigidity));
  const SpringElements all = elements_of(cloth);
  SpringNetwork bending = cloth;
  bending.springs.clear();
  const SpringElements elements = elements_of(bending);
  for (const bool warp : {true, false}) {
    const std::vector<Vector3> x = rolled(cloth.vertices, radius, warp ? 0.0 : 0.5 * 3.141592653589793);
    // Angles sit at the inner lines: the outermost half cells of the sheet store nothing.
    const double cells = warp ? columns - 1 : rows - 1;
    const double area = 0.4 * (cells - 1.0) / cells;
    const double plate = 0.5 * rigidity * area / (radius * radius);
    // Straight cells span chords: the angle between them is cell/radius to the last digit.
    EXPECT_NEAR(elements.energy(x), plate, 1e-9 * plate);
    EXPECT_GT(all.energy(x), plate);  // chords are shorter than arcs
  }
}

TEST(MeshCloth, EquilateralMeshStoresTheSameRolledInAnyDirection) {
  const double rigidity = 2e-3, radius = 5.0;
  const TriangleMesh mesh = equilateral(41, 41, 0.02);
  SpringNetwork cloth = mesh_cloth(mesh, only(1.0, 0.0, rigidity));
  cloth.springs.clear();
  const SpringElements elements = elements_of(cloth);
  const double plate = 0.5 * rigidity * surface_area(mesh) / (radius * radius);
  for (const double direction : {0.0, 0.3, 1.0, 1.5708}) {
    // Border edges have no fold: 4 · 40 of the 4,840 edges, whose share depends on the direction.
    EXPECT_NEAR(elements.energy(rolled(cloth.vertices, radius, direction)) / plate, 1.0, 0.06) << direction;
  }
}

TEST(MeshCloth, EquilateralMeshHasTheYoungModulusAndPoissonRatioOfItsLattice) {
  const double stretch = 300.0, strain = 1e-6;
  const TriangleMesh mesh = equilateral(21, 21, 0.05);
  const SpringNetwork cloth = mesh_cloth(mesh, only(stretch, 0.0, 0.0));
  for (const double direction : {0.0, 0.7}) {
    const Vector3 along(std::cos(direction), std::sin(direction), 0.0);
    const Matrix3 A = along * along.transpose();
    const Vector3 across(-along[1], along[0], 0.0);
    const Matrix3 F = Matrix3::Identity() + strain * A - strain / 3.0 * across * across.transpose();
    std::vector<Vector3> x = cloth.vertices;
    for (Vector3& p : x) p = F * p;
    // The strips of the springs tile the sheet up to its border, which counts with half its triangles' areas:
    // exact for a uniform strain in sums over whole triangles.
    const double expected = 0.5 * stretch * strain * strain * surface_area(mesh);
    EXPECT_NEAR(elements_of(cloth).energy(x), expected, 10 * strain * expected) << direction;
  }
}

TEST(MeshCloth, KeepsTheShapeOfACurvedMeshAtRest) {
  const TriangleMesh sphere = icosphere(2);
  const SpringNetwork cloth = mesh_cloth(sphere, {});
  EXPECT_EQ(cloth.folds.size(), 480U);
  EXPECT_EQ(cloth.springs.size(), 480U + 480U);
  EXPECT_NEAR(total_mass(cloth), 0.2 * surface_area(sphere), 500 * kEps * 3.0);
  const SpringElements elements = elements_of(cloth);
  EXPECT_LT(elements.energy(cloth.vertices), 1e-24);               // relative strains of some ε, squared
  for (const Fold& fold : cloth.folds) EXPECT_GT(fold.rest, 0.0);  // convex from outside
}

TEST(MeshCloth, RefusesMeshesThatAreNoSheet) {
  const ClothMaterial material;
  const TriangleMesh square{{{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0}}, {{0, 1, 2}, {0, 2, 3}}};
  EXPECT_NO_THROW(mesh_cloth(square, material));
  const auto refused = [&](auto change) {
    TriangleMesh mesh = square;
    change(mesh);
    EXPECT_THROW(mesh_cloth(mesh, material), UsageError);
  };
  refused([](TriangleMesh& m) { m.triangles.clear(); });
  refused([](TriangleMesh& m) { m.triangles[1] = {0, 3, 2}; });              // other orientation
  refused([](TriangleMesh& m) { m.triangles.push_back({0, 2, 1}); });        // third triangle at an edge
  refused([](TriangleMesh& m) { m.triangles.pop_back(); });                  // vertex 3 unused
  refused([](TriangleMesh& m) { m.triangles[1][2] = 4; });                   // out of range
  refused([](TriangleMesh& m) { m.vertices[3] = Vector3(0.5, 0.5, 0.0); });  // no area
  refused([](TriangleMesh& m) { m.vertices[3][2] = std::nan(""); });
}

TEST(ClothMaterial, RefusesValuesOutOfRange) {
  const auto refused = [](auto change) {
    ClothMaterial material;
    change(material);
    EXPECT_THROW(material.validate("cloth 'flag'"), UsageError);
  };
  EXPECT_NO_THROW(ClothMaterial().validate("cloth 'flag'"));
  refused([](ClothMaterial& m) { m.density = 0.0; });
  refused([](ClothMaterial& m) { m.stretch = -1.0; });
  refused([](ClothMaterial& m) { m.shear = std::nan(""); });
  refused([](ClothMaterial& m) { m.bending = -1e-9; });
  refused([](ClothMaterial& m) { m.damping = -1.0; });
  refused([](ClothMaterial& m) { m.spring_damping = std::numeric_limits<double>::infinity(); });
  EXPECT_THROW(grid_cloth(1, 5, 1.0, 1.0, {}), UsageError);
  EXPECT_THROW(grid_cloth(5, 5, 0.0, 1.0, {}), UsageError);
}

TEST(ClothSimulation, FreeFlightKeepsMomentumAndNearlyTheEnergy) {
  SpringNetwork cloth = grid_cloth(8, 8, 0.5, 0.5, {});
  const SpringElements elements = elements_of(cloth);
  const double dt = 0.25 * elements.largest_stable_step(cloth.mass);
  Rng rng(11);
  std::vector<Vector3> x = cloth.vertices;
  std::vector<Vector3> v(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i][2] += 0.01 * rng.uniform(-1.0, 1.0);
    v[i] = Vector3(rng.uniform(-0.1, 0.1), 1.0, x[i][0]);
  }
  const auto state = [&](double elastic) {
    Vector sums = Vector::Zero(7);  // linear and angular momentum, energy
    for (std::size_t i = 0; i < x.size(); ++i) {
      sums.head<3>() += cloth.mass[i] * v[i];
      sums.segment<3>(3) += cloth.mass[i] * x[i].cross(v[i]);
      sums[6] += 0.5 * cloth.mass[i] * v[i].squaredNorm();
    }
    sums[6] += elastic;
    return sums;
  };
  const Vector start = state(elements.energy(x));
  const int steps = 4000;
  for (int s = 0; s < steps; ++s) {
    std::vector<Vector3> f(x.size(), Vector3::Zero());
    elements.add_forces(x, v, f);
    for (std::size_t i = 0; i < x.size(); ++i) {
      v[i] += dt / cloth.mass[i] * f[i];
      x[i] += dt * v[i];
    }
  }
  const Vector end = state(elements.energy(x));
  // Symplectic Euler keeps both momenta of central forces; each step adds rounding of ε × 64 nodes.
  EXPECT_LT((end - start).head(3).norm(), steps * 64 * kEps * start.head(3).norm());
  EXPECT_LT((end - start).segment(3, 3).norm(), steps * 64 * kEps * start.head(3).norm());
  // Its energy oscillates by O(ω dt)² of the elastic part, here (1/2)²/8 at most.
  EXPECT_NEAR(end[6] / start[6], 1.0, 0.03);
}

}  // namespace
}  // namespace signorini::cloth_test
