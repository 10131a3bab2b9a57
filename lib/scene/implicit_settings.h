#pragma once

#include "base/options.h"
#include "bodies/body_system.h"
#include "scene/contact_rows.h"
#include "solvers/solver.h"

/// What an implicit step (scene/implicit_stepper.h) can be told.
namespace signorini {

enum class ContactLoop { refine, relinearise };
template <>
struct EnumNames<ContactLoop> {
  static constexpr std::array<std::pair<ContactLoop, std::string_view>, 2> value{
      {{ContactLoop::refine, "refine"}, {ContactLoop::relinearise, "relinearise"}}};
};
enum class ConstraintLevel { position, velocity };
template <>
struct EnumNames<ConstraintLevel> {
  static constexpr std::array<std::pair<ConstraintLevel, std::string_view>, 2> value{
      {{ConstraintLevel::position, "position"}, {ConstraintLevel::velocity, "velocity"}}};
};
/// When a step still collides after the last halving: `stop` ends the run with an error; `hold` moves
/// everything only as far as 0.9 of the first impact, marks the step as unresolved and goes on.
enum class Unresolved { stop, hold };
template <>
struct EnumNames<Unresolved> {
  static constexpr std::array<std::pair<Unresolved, std::string_view>, 2> value{
      {{Unresolved::stop, "stop"}, {Unresolved::hold, "hold"}}};
};

/// Contacts of the first solve of a (sub-)step: `constrained`, the pairs within the tolerance, with their
/// impulses of the step before; `free`, besides them everything that the motion without contact crosses, at
/// its impact. That motion releases all elastic energy at once, so it finds contacts that the constrained one
/// never makes (Verschoor and Jalba 2019, section 7, on Otaduy et al. 2009).
enum class ContactStart { constrained, free };
template <>
struct EnumNames<ContactStart> {
  static constexpr std::array<std::pair<ContactStart, std::string_view>, 2> value{
      {{ContactStart::constrained, "constrained"}, {ContactStart::free, "free"}}};
};

/// What contact impulses move: everything, through A⁻¹, or only the nodes they act on, through their masses.
/// The second is what Otaduy et al. compare with (their Fig. 2): cheap, and it stretches what is behind
/// the nodes.
enum class ContactResponse { global, local };
template <>
struct EnumNames<ContactResponse> {
  static constexpr std::array<std::pair<ContactResponse, std::string_view>, 2> value{
      {{ContactResponse::global, "global"}, {ContactResponse::local, "local"}}};
};

struct ImplicitSettings {
  double dt = 1e-3;                  ///< s
  Vector3 gravity{0.0, 0.0, -9.81};  ///< m/s²
  double friction = 0.5;             ///< μ ≥ 0
  double restitution = 0.0;          ///< κ in [0, 1]
  double rest_speed = 0.02;          ///< v_rest, m/s
  double safety_distance = 0.0;      ///< δ, m; 0 = half the finder's tolerance
  double recovery_speed = 0.0;       ///< v_rec, m/s; 0 = 0.1 δ/max(dt, 4 ms)
  TangentFrame tangents = TangentFrame::fixed;
  ContactLoop loop = ContactLoop::refine;
  ContactStart start = ContactStart::constrained;
  ConstraintLevel level = ConstraintLevel::position;
  Unresolved unresolved = Unresolved::stop;
  ContactResponse response = ContactResponse::global;
  int rounds = 0;  ///< of the loop per (sub-)step; 0 = 5 for refine (Otaduy), 20 for relinearise
  int halvings = 2;
  double largest_turn = 15.0;       ///< of a normal per round, degrees
  double gap_tolerance = 0.0;       ///< eps2 of `relinearise`: m; 0 = max(1e-6, 1e-6 · dt / 4 ms)
  StopRule stop{.residual = 1e-7};  ///< of the driving solver
  double accepted_residual = 1e-4;
  double free_tolerance = 1e-10;  ///< relative, of the linear solves
  bool all_bodies = false;        ///< problems hold untouched bodies too

  /// Throws `UsageError` naming the setting.
  void validate() const;
};
/// The settings with their 0 for "default" replaced, all but `recovery_speed`; validated. `tolerance`: the
/// distance at which the finder sees pairs, m.
ImplicitSettings resolved(ImplicitSettings settings, double tolerance);

/// Distance that a contact found at `gap` is to have after dt, min(δ, d0 + v_rec dt), m; of resolved
/// settings.
double target_gap(const ImplicitSettings& settings, double gap, double dt);
/// What of `target_gap` parts the pair: by how much it exceeds `gap`, m; ≥ 0.
double push_of(double gap, double target);
/// w_N of a contact: `gap` is g0, `speed_before` is u_N⁻; m/s.
double implicit_offset(const ImplicitSettings& settings, double gap, double target, double speed_before,
                       double dt);

}  // namespace signorini
