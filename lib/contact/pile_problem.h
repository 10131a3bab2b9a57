#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/options.h"
#include "contact/contact_problem.h"

/// Piles of rigid bodies on a floor, of any size: one island that no region mode can cut.
///
///     spheres        a box of the face-centred lattice: sites (i, j, k) with i + j + k even, neighbours one diameter apart;
///                    inside a sphere has twelve. Sides are free: between rigid walls contacts without gaps admit
///                    self-stress, which no law forbids to grow
///     bricks         courses of a × a bricks in running bond both ways, every other course with half bricks at its ends;
///                    four contacts on each quarter of a face, and four under each brick on the floor
///     sphere-tower   one above the other
///     brick-tower    the same, four contacts between two of them
///
/// A body has six dofs: velocity of its centre x and angular velocity, in world axes [m/s, rad/s]. M is diagonal (kg, kg m²).
/// Contact k at the point p between body A (or the floor) and body B above or beside, with the rows d = n, t1, t2 of its frame, n
/// from A to B:
///
///     u_d = d·(v_B + ω_B × (p − x_B)) − d·(v_A + ω_A × (p − x_A))
///     H_d = (−d, −(p − x_A) × d) on A, (d, (p − x_B) × d) on B: a pair keeps its momentum and its angular momentum
///
/// Bodies begin at rest and touch: w = 0, gap = 0, f = dt M g, gravity g tilted by `tilt_deg` from −z towards x. So
/// q = Hᵀ M⁻¹ f is not zero at the contacts of the floor alone: impulses travel up layer by layer.
///
/// `unevenness` e: centres of spheres are moved by up to e diameters in each axis (contact points are halfway between them);
/// points on bricks by up to e of a patch, and their normals tilted by about e. `left_out`: this share of the contacts between
/// bodies, chosen at random, is missing, or as many as leave one island: a random spanning tree of the bodies stays. Half
/// missing leaves a sphere about six, as in a random packing. With more, or with friction of 0.5 and above, spheres of the
/// lattice wedge each other and hold stress by themselves: 1,000 contacts may then take 10⁴ sweeps to residual 1e-4.
///
/// Numbers of bodies ascend from the floor, those of contacts with B. The same options give the same bits everywhere.
namespace signorini {

enum class PileKind { spheres, bricks, sphere_tower, brick_tower };
template <>
struct EnumNames<PileKind> {
  static constexpr std::array<std::pair<PileKind, std::string_view>, 4> value{
      {{PileKind::spheres, "spheres"},
       {PileKind::bricks, "bricks"},
       {PileKind::sphere_tower, "sphere-tower"},
       {PileKind::brick_tower, "brick-tower"}}};
};

struct PileOptions {
  PileKind of = PileKind::spheres;
  /// At least; the box is the smallest that has as many.
  int contacts = 1000;
  /// Of spheres or bricks; 0: about as many as a side has. A tower has as many as its contacts ask for.
  int layers = 0;
  double left_out = 0.5;     ///< 0 to less than 1
  double unevenness = 0.02;  ///< 0 to 0.2
  double mu = 0.3;
  double tilt_deg = 0.0;  ///< of gravity; less than 90 either way
  std::uint64_t seed = 1;
};

/// Throws `UsageError`, which names key and value, for options outside of these bounds.
void check_pile_options(const PileOptions& options);

/// Primal, with frames, positions, gaps and bodies; `points` names the blocks of three dofs that hold the velocities of A and B.
ContactProblem make_pile_problem(const PileOptions& options);

}  // namespace signorini
