#include "contact/pile_problem.h"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "base/check.h"
#include "base/rng.h"
#include "linalg/union_find.h"

namespace signorini {
namespace {

constexpr double kTimeStep = 1e-3;  // s
constexpr double kGravity = 9.81;   // m/s²
constexpr double kDensity = 2500.0;
constexpr double kDiameter = 0.01;                       // m
constexpr std::array<double, 3> kBrick{0.2, 0.1, 0.06};  // m
constexpr std::array<double, 2> kOnPatch{0.2, 0.8};      // where contacts lie on a patch, in its edges
constexpr Index kFloor = -1;

struct Body {
  Vector3 centre;
  double mass;      // kg
  Vector3 inertia;  // kg m²
};

struct Touch {
  Index below, body;  // A and B
  Vector3 point, normal;
};

struct Pile {
  std::vector<Body> bodies;
  std::vector<Touch> touches;  // all possible ones
};

/// Bodies along a side, and layers.
struct Box {
  Index side = 1, layers = 1;
};

bool is_tower(PileKind kind) { return kind == PileKind::sphere_tower || kind == PileKind::brick_tower; }

// --- how large ---

struct Counts {
  double bodies, pairs, floor;  // pairs: contacts between bodies
};

/// Every unit square of the lattice of sites has two spheres, which touch.
Counts counts_of(PileKind kind, Box box) {
  const double a = box.side, h = box.layers;
  switch (kind) {
    case PileKind::spheres:
      return {std::ceil(a * a * h / 2), (a - 1) * (a - 1) * h + 2 * a * (a - 1) * (h - 1),
              std::ceil(a * a / 2)};
    case PileKind::bricks:
      return {std::ceil(h / 2) * a * a + std::floor(h / 2) * (a + 1) * (a + 1), 16 * a * a * (h - 1),
              4 * a * a};
    case PileKind::sphere_tower:
      return {h, h - 1, 1};
    case PileKind::brick_tower:
      return {h, 4 * (h - 1), 4};
  }
  return {};
}

/// Contacts between bodies that are missing.
double missing(const PileOptions& options, Counts counts) {
  return std::min(std::round(options.left_out * counts.pairs), counts.pairs - (counts.bodies - 1));
}

double contacts_of(const PileOptions& options, Box box) {
  const Counts counts = counts_of(options.of, box);
  return counts.pairs - missing(options, counts) + counts.floor;
}

Box smallest_box(const PileOptions& options) {
  Box box;
  const auto enough = [&] { return contacts_of(options, box) >= options.contacts; };
  if (is_tower(options.of)) {
    while (!enough()) ++box.layers;
    return box;
  }
  const bool as_high_as_wide = options.layers == 0;
  box.side = 2;
  box.layers = as_high_as_wide ? 2 : options.layers;
  while (!enough()) {
    ++box.side;
    if (as_high_as_wide) box.layers = box.side;
  }
  while (as_high_as_wide && box.layers > 2) {
    --box.layers;
    if (enough()) continue;
    ++box.layers;
    break;
  }
  return box;
}

// --- bodies and where they may touch ---

Body sphere_at(const Vector3& centre) {
  const double mass = kDensity * std::numbers::pi / 6.0 * kDiameter * kDiameter * kDiameter;
  return {centre, mass, Vector3::Constant(0.1 * mass * kDiameter * kDiameter)};  // 2/5 m r²
}

Body brick_at(const Vector3& centre, const Vector3& edges) {
  const double mass = kDensity * edges.prod();
  const Vector3 squares = edges.cwiseProduct(edges);
  return {centre, mass, mass / 12.0 * (Vector3::Constant(squares.sum()) - squares)};
}

Vector3 uneven(Rng& rng, double size) {
  const double x = rng.uniform(-size, size), y = rng.uniform(-size, size);
  return {x, y, rng.uniform(-size, size)};
}

void touch_floor(Pile& pile, Index body) {
  const Vector3& x = pile.bodies[body].centre;
  pile.touches.push_back({kFloor, body, {x[0], x[1], 0.0}, Vector3::UnitZ()});
}

void touch_spheres(Pile& pile, Index below, Index body) {
  const Vector3 &a = pile.bodies[below].centre, &b = pile.bodies[body].centre;
  pile.touches.push_back({below, body, 0.5 * (a + b), (b - a).normalized()});
}

/// Neighbours that come before a site of the lattice.
constexpr Index kBefore[6][3] = {{-1, -1, 0}, {1, -1, 0}, {-1, 0, -1}, {1, 0, -1}, {0, -1, -1}, {0, 1, -1}};

Pile pile_spheres(const PileOptions& options, Box box) {
  Pile pile;
  Rng rng(options.seed, 1);
  const double spacing = kDiameter / std::numbers::sqrt2;
  std::vector<Index> at(static_cast<std::size_t>(box.side * box.side) * box.layers, kFloor);
  const auto place = [&](Index i, Index j, Index k) {
    return static_cast<std::size_t>((k * box.side + j)) * box.side + i;
  };
  for (Index k = 0; k < box.layers; ++k) {
    for (Index j = 0; j < box.side; ++j) {
      for (Index i = (j + k) % 2; i < box.side; i += 2) {
        const Index body = at[place(i, j, k)] = count(pile.bodies);
        const Vector3 site = spacing * Vector3(i, j, k) + Vector3(0.0, 0.0, 0.5 * kDiameter);
        pile.bodies.push_back(sphere_at(site + uneven(rng, options.unevenness * kDiameter)));
        if (k == 0) touch_floor(pile, body);
        for (const auto& [x, y, z] : kBefore) {
          if (i + x < 0 || i + x >= box.side || j + y < 0 || j + y >= box.side || k + z < 0) continue;
          touch_spheres(pile, at[place(i + x, j + y, k + z)], body);
        }
      }
    }
  }
  return pile;
}

Pile pile_sphere_tower(const PileOptions& options, Box box) {
  Pile pile;
  Rng rng(options.seed, 1);
  for (Index k = 0; k < box.layers; ++k) {
    const Vector3 place(0.0, 0.0, (k + 0.5) * kDiameter);
    pile.bodies.push_back(sphere_at(place + uneven(rng, options.unevenness * kDiameter)));
    k == 0 ? touch_floor(pile, k) : touch_spheres(pile, k - 1, k);
  }
  return pile;
}

/// Four contacts on the rectangle from `low` with these edges, at one height.
void touch_faces(Pile& pile, Index below, Index body, const Vector3& low, double length, double depth,
                 double unevenness, Rng& rng) {
  for (const double y : kOnPatch) {
    for (const double x : kOnPatch) {
      const Vector3 off = uneven(rng, unevenness), tilt = uneven(rng, unevenness);
      const Vector3 point = low + Vector3((x + off[0]) * length, (y + off[1]) * depth, 0.0);
      pile.touches.push_back({below, body, point, Vector3(tilt[0], tilt[1], 1.0).normalized()});
    }
  }
}

/// A course in half bricks: whole bricks begin at even halves, in every other course at odd ones.
struct Course {
  Index side, shift, first_body;

  Index bricks() const { return side + shift; }  // along a side
  Index brick_of(Index half) const { return (half + shift) / 2; }
  Index begin(Index brick) const { return std::max<Index>(0, 2 * brick - shift); }
  Index end(Index brick) const { return std::min<Index>(2 * side, 2 * brick - shift + 2); }
  Index body_of(Index x, Index y) const { return first_body + brick_of(y) * bricks() + brick_of(x); }
};

void lay_course(Pile& pile, const Course& course, Index layer) {
  for (Index j = 0; j < course.bricks(); ++j) {
    for (Index i = 0; i < course.bricks(); ++i) {
      const double x0 = course.begin(i), x1 = course.end(i), y0 = course.begin(j), y1 = course.end(j);
      const Vector3 centre(0.25 * (x0 + x1) * kBrick[0], 0.25 * (y0 + y1) * kBrick[1],
                           (layer + 0.5) * kBrick[2]);
      pile.bodies.push_back(
          brick_at(centre, {0.5 * (x1 - x0) * kBrick[0], 0.5 * (y1 - y0) * kBrick[1], kBrick[2]}));
    }
  }
}

Pile pile_bricks(const PileOptions& options, Box box) {
  Pile pile;
  Rng rng(options.seed, 1);
  Course below{};
  for (Index k = 0; k < box.layers; ++k) {
    const Course course{box.side, k % 2, count(pile.bodies)};
    lay_course(pile, course, k);
    // On the floor a patch is a whole face, elsewhere a quarter of one.
    const Index halves = k == 0 ? 2 : 1;
    const double length = 0.5 * halves * kBrick[0], depth = 0.5 * halves * kBrick[1];
    for (Index y = 0; y < 2 * box.side; y += halves) {
      for (Index x = 0; x < 2 * box.side; x += halves) {
        const Vector3 low(0.5 * x * kBrick[0], 0.5 * y * kBrick[1], k * kBrick[2]);
        touch_faces(pile, k == 0 ? kFloor : below.body_of(x, y), course.body_of(x, y), low, length, depth,
                    options.unevenness, rng);
      }
    }
    below = course;
  }
  std::ranges::stable_sort(pile.touches, {}, &Touch::body);
  return pile;
}

Pile pile_brick_tower(const PileOptions& options, Box box) {
  Pile pile;
  Rng rng(options.seed, 1);
  const Vector3 edges(kBrick[0], kBrick[1], kBrick[2]);
  for (Index k = 0; k < box.layers; ++k) {
    pile.bodies.push_back(brick_at({0.5 * kBrick[0], 0.5 * kBrick[1], (k + 0.5) * kBrick[2]}, edges));
    touch_faces(pile, k - 1, k, {0.0, 0.0, k * kBrick[2]}, kBrick[0], kBrick[1], options.unevenness, rng);
  }
  return pile;
}

Pile make_pile(const PileOptions& options, Box box) {
  switch (options.of) {
    case PileKind::spheres:
      return pile_spheres(options, box);
    case PileKind::bricks:
      return pile_bricks(options, box);
    case PileKind::sphere_tower:
      return pile_sphere_tower(options, box);
    case PileKind::brick_tower:
      return pile_brick_tower(options, box);
  }
  return {};
}

/// Random contacts, except those of a spanning tree of the bodies and on the floor.
void leave_out(double number, std::uint64_t seed, Pile& pile) {
  std::vector<std::size_t> order(pile.touches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Rng rng(seed, 2);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  UnionFind joined(count(pile.bodies));
  std::vector<bool> gone(pile.touches.size(), false);
  double left = number;
  for (const std::size_t i : order) {
    const Touch& touch = pile.touches[i];
    if (touch.below == kFloor || joined.unite(touch.below, touch.body) || left < 1.0) continue;
    gone[i] = true;
    left -= 1.0;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i)
    if (!gone[i]) pile.touches[kept++] = pile.touches[i];
  pile.touches.resize(kept);
}

// --- the problem ---

/// Rows n, t1, t2.
Matrix3 frame_of(const Vector3& normal) {
  Matrix3 frame;
  const Vector3 tangent = normal.unitOrthogonal();
  frame << normal.transpose(), tangent.transpose(), normal.cross(tangent).transpose();
  return frame;
}

/// Six rows of a column of H, which begins with those of the smaller body.
void insert_body(SparseColumns& H, Index column, const Body& body, Index number, const Vector3& point,
                 const Vector3& direction) {
  const Vector3 moment = (point - body.centre).cross(direction);
  for (Index d = 0; d < 3; ++d) H.insertBack(6 * number + d, column) = direction[d];
  for (Index d = 0; d < 3; ++d) H.insertBack(6 * number + 3 + d, column) = moment[d];
}

SparseColumns make_directions(const Pile& pile) {
  SparseColumns H(6 * pile.bodies.size(), 3 * pile.touches.size());
  H.reserve(36 * pile.touches.size());
  for (Index k = 0; k < count(pile.touches); ++k) {
    const Touch& touch = pile.touches[k];
    const Matrix3 frame = frame_of(touch.normal);
    for (Index axis = 0; axis < 3; ++axis) {
      const Index column = 3 * k + axis;
      const Vector3 d = frame.row(axis);
      H.startVec(column);
      if (touch.below != kFloor)
        insert_body(H, column, pile.bodies[touch.below], touch.below, touch.point, -d);
      insert_body(H, column, pile.bodies[touch.body], touch.body, touch.point, d);
    }
  }
  H.finalize();
  return H;
}

void set_bodies(const Pile& pile, double tilt_deg, ContactProblem& problem) {
  const double tilt = tilt_deg * std::numbers::pi / 180.0;
  const Vector3 gravity = kGravity * Vector3(std::sin(tilt), 0.0, -std::cos(tilt));
  const Index dofs = 6 * count(pile.bodies);
  problem.M.resize(dofs, dofs);
  problem.M.reserve(dofs);
  problem.f = Vector::Zero(dofs);
  problem.body_dofs.push_back(0);
  for (Index b = 0; b < count(pile.bodies); ++b) {
    const Body& body = pile.bodies[b];
    for (Index d = 0; d < 6; ++d) {
      problem.M.startVec(6 * b + d);
      problem.M.insertBack(6 * b + d, 6 * b + d) = d < 3 ? body.mass : body.inertia[d - 3];
    }
    problem.f.segment<3>(6 * b) = kTimeStep * body.mass * gravity;
    problem.body_dofs.push_back(6 * (b + 1));
  }
  problem.M.finalize();
}

void set_contacts(const Pile& pile, double mu, ContactProblem& problem) {
  const Index m = count(pile.touches);
  problem.H = make_directions(pile);
  problem.w = Vector::Zero(3 * m);
  problem.gap = Vector::Zero(m);
  problem.mu = Vector::Constant(m, mu);
  problem.frame.resize(m, 9);
  problem.position.resize(m, 3);
  problem.points.setConstant(m, 4, -1);
  problem.weights.setZero(m, 4);
  problem.bodies.resize(m, 2);
  for (Index k = 0; k < m; ++k) {
    const Touch& touch = pile.touches[k];
    const Matrix3 frame = frame_of(touch.normal);
    for (Index axis = 0; axis < 3; ++axis) problem.frame.block<1, 3>(k, 3 * axis) = frame.row(axis);
    problem.position.row(k) = touch.point.transpose();
    problem.bodies.row(k) << touch.below, touch.body;
    problem.points(k, 0) = 2 * touch.body;
    problem.weights(k, 0) = 1.0;
    if (touch.below == kFloor) continue;
    problem.points(k, 1) = 2 * touch.below;
    problem.weights(k, 1) = -1.0;
  }
}

}  // namespace

void check_pile_options(const PileOptions& options) {
  const auto refuse = [](const char* key, auto value, const char* need) {
    throw_usage("pile: {} = {}, need {}", key, value, need);
  };
  if (options.contacts < 1) refuse("contacts", options.contacts, "1 or more");
  if (options.layers < 0 || options.layers == 1)
    refuse("layers", options.layers, "2 or more, or 0: about as many as a side has");
  if (options.layers != 0 && is_tower(options.of))
    refuse("layers", options.layers, "none: a tower has as many as its contacts ask for");
  if (!(options.left_out >= 0.0 && options.left_out < 1.0))
    refuse("left_out", options.left_out, "0 to less than 1");
  if (!(options.unevenness >= 0.0 && options.unevenness <= 0.2))
    refuse("unevenness", options.unevenness, "0 to 0.2");
  if (!(options.mu >= 0.0) || !std::isfinite(options.mu)) refuse("mu", options.mu, "a number ≥ 0");
  if (!(std::abs(options.tilt_deg) < 90.0)) refuse("tilt_deg", options.tilt_deg, "less than 90 either way");
}

ContactProblem make_pile_problem(const PileOptions& options) {
  check_pile_options(options);
  const Box box = smallest_box(options);
  Pile pile = make_pile(options, box);
  leave_out(missing(options, counts_of(options.of, box)), options.seed, pile);
  ContactProblem problem;
  problem.kind = ProblemKind::explicit_step;
  problem.dt = kTimeStep;
  set_bodies(pile, options.tilt_deg, problem);
  set_contacts(pile, options.mu, problem);
  return problem;
}

}  // namespace signorini
