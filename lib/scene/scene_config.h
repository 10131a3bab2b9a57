#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "regions/region_partition.h"
#include "scene/facts.h"
#include "scene/implicit_stepper.h"
#include "scene/probe_config.h"
#include "scene/scene.h"
#include "scene/scene_bodies.h"

/// Everything a scene file can say. Each struct names its keys once in `visit`; reading, checking and
/// printing follow. Lengths in m, times in s, masses in kg; every key carries its unit in its name.
namespace signorini {

enum class Integrator { explicit_euler, implicit_euler };
template <>
struct EnumNames<Integrator> {
  static constexpr std::array<std::pair<Integrator, std::string_view>, 2> value{
      {{Integrator::explicit_euler, "explicit"}, {Integrator::implicit_euler, "implicit"}}};
};

struct TimeConfig {
  Integrator integrator = Integrator::explicit_euler;
  double step_s = 2e-4;
  double duration_s = 1.0;
  int steps = 0;
  int record_every = 50;
  int record_from = 1;
  int record_min_contacts = 1;
  int stop_after = 0;
  int contact_steps = 0;
  Vector3 gravity_m_s2{0.0, 0.0, -9.81};
  double gravity_tilt_deg = 0.0;

  /// Gravity turned by the tilt about +y: (0, 0, −g) becomes (−g sin, 0, −g cos).
  Vector3 gravity() const;

  template <class Visitor>
  void visit(Visitor& v) {
    v("integrator", integrator,
      "explicit (symplectic Euler, Lazarevych) or implicit (backward Euler, Otaduy, Verschoor)");
    v("step_s", step_s, Range::positive, "time step dt");
    v("duration_s", duration_s, Range::positive, "simulated time; steps = duration_s / step_s");
    v("steps", steps, Range::non_negative, "number of steps; 0 = from duration_s");
    v("record_every", record_every, Range::positive,
      "a snapshot every so many steps, when there are contacts");
    v("record_from", record_from, Range::non_negative, "first step that may be recorded");
    v("record_min_contacts", record_min_contacts, Range::positive,
      "contact problems with fewer contacts leave no snapshot");
    v("stop_after", stop_after, Range::non_negative,
      "end after so many steps, before the last one; 0 = do not");
    v("contact_steps", contact_steps, Range::non_negative,
      "end after so many steps with at least record_min_contacts contacts; 0 = do not");
    v("gravity_m_s2", gravity_m_s2, Range::any, "acceleration of gravity");
    v("gravity_tilt_deg", gravity_tilt_deg, Range::any,
      "turns gravity about the y axis: a level floor becomes an incline that falls towards -x");
  }
};

struct ContactConfig {
  Integrator integrator = Integrator::explicit_euler;  ///< of [time]; no key of its own
  double friction = 0.4;
  double restitution = 0.0;
  double tolerance_m = 1e-3;
  double rest_speed_m_s = 0.0;
  double recovery_speed_m_s = 0.0;
  BroadPhase broad_phase = BroadPhase::bvh;
  double look_ahead = 3.0;
  double depth_m = 5e-3;  // explicit
  double recovery = 0.2;
  double safety_m = 0.0;  // implicit
  bool edges = true;      ///< explicit: false, as in the paper
  ContactLoop loop = ContactLoop::refine;
  ContactStart start = ContactStart::constrained;
  ConstraintLevel level = ConstraintLevel::position;
  ContactResponse response = ContactResponse::global;
  TangentFrame tangents = TangentFrame::fixed;
  int rounds = 0;
  int halvings = 2;
  Unresolved unresolved = Unresolved::stop;
  double largest_turn_deg = 15.0;
  double gap_tolerance_m = 0.0;
  double free_tolerance = 1e-10;
  bool all_bodies = false;

  template <class Visitor>
  void visit(Visitor& v) {
    v("friction", friction, Range::non_negative, "Coulomb's mu");
    v("restitution", restitution, Range::fraction, "Newton's kappa");
    v("tolerance_m", tolerance_m, Range::positive, "pairs closer than this are contacts");
    v("rest_speed_m_s", rest_speed_m_s, Range::non_negative, "slower impacts do not rebound; 0 = 2 dt |g|");
    v("recovery_speed_m_s", recovery_speed_m_s, Range::non_negative,
      "bound of the speed at which pairs that are too close part; 0 = 0.1 tolerance_m / dt (implicit: 0.1 "
      "safety_m / max(dt, 4 ms), and positions alone move)");
    if (integrator == Integrator::explicit_euler) {
      v("depth_m", depth_m, Range::positive, "points deeper than this below a surface are behind it");
      v("recovery", recovery, Range::fraction, "share of a penetration pushed out per step");
      v("edges", edges,
        "contacts of two edges too; then points keep half of tolerance_m from surfaces, edges a quarter");
      return;
    }
    v("safety_m", safety_m, Range::non_negative,
      "distance that contacts keep, below tolerance_m; 0 = half of it");
    v("edges", edges, "contacts of two edges too; false leaves those of points and triangles");
    v("broad_phase", broad_phase, "bvh or hash; both find the same pairs");
    v("look_ahead", look_ahead, Range::positive, "steps of motion that the boxes of the broad phase cover");
    v("loop", loop, "refine (Otaduy's constraint manifold refinement) or relinearise (Verschoor)");
    v("start", start,
      "contacts of a step's first solve: touching pairs (constrained), or also all that the motion without "
      "contact crosses (free)");
    v("level", level, "position (gaps are closed at the end of the step) or velocity");
    v("response", response,
      "global (impulses move all nodes through A^-1) or local (only the nodes in contact, through their "
      "masses: "
      "what Otaduy argues against)");
    v("tangents", tangents, "fixed to the body, or aligned with the sliding velocity");
    v("rounds", rounds, Range::non_negative,
      "detections per step before it is halved; 0 = 5 for refine, 20 for relinearise");
    v("halvings", halvings, Between{0, 20}, "of the time step, when it still collides");
    v("unresolved", unresolved,
      "when it collides after the last halving: stop, or hold (move up to the first impact, mark the step)");
    v("largest_turn_deg", largest_turn_deg, Range::positive, "of a contact normal per round of relinearise");
    v("gap_tolerance_m", gap_tolerance_m, Range::non_negative,
      "of relinearise; 0 = 1e-6, growing with steps above 4 ms");
    v("free_tolerance", free_tolerance, Range::positive, "relative, of the linear solves without contact");
    v("all_bodies", all_bodies, "recorded problems hold bodies without contact too");
  }
  void validate() const;
};

struct SolverConfig {
  std::string name = "pgs";
  double tolerance = 1e-8;
  int max_iterations = 10000;
  double accepted_residual = 1e-4;
  RegionMode regions = RegionMode::none;
  std::string fallback;  ///< "" = none
  OptionMap options, fallback_options;

  template <class Visitor>
  void visit(Visitor& v) {
    v("name", name, "the solver that drives the scene; its options are keys of [solver.options]");
    v("tolerance", tolerance, Range::non_negative,
      "residual at which it stops, unit-free; 0: only the rule of its own option `stop` ends it");
    v("max_iterations", max_iterations, Range::positive, "per solve");
    v("accepted_residual", accepted_residual, Range::positive, "a solve that ends above this ends the run");
    v("regions", regions,
      "none: every contact problem whole; points (explicit steps), islands: its regions one by one");
    v("fallback", fallback,
      "solver for the problems on which it fails, from the same start; options in [solver.fallback_options]");
  }
};

/// Steps before the first one of the recording, with settings of their own. Nothing of them is recorded; time, positions,
/// velocities and kept impulses go on.
struct PreludeConfig {
  int steps = 0;
  double step_s = 0.0;
  ContactConfig contact;  ///< the scene's, with what [prelude.contact] changes
  SolverConfig solver;    ///< the scene's, or all that [prelude.solver] says

  template <class Visitor>
  void visit(Visitor& v) {
    v("steps", steps, Range::non_negative, "steps before the first one of the recording; 0 = none");
    v("step_s", step_s, Range::non_negative, "their time step; 0 = time.step_s");
  }
};

struct SceneConfig {
  std::string title;
  long long seed = 1;
  bool geometry = true;  ///< snapshots carry the surfaces
  TimeConfig time;
  ContactConfig contact;
  SolverConfig solver;
  PreludeConfig prelude;
  std::map<std::string, MaterialConfig> materials;
  std::map<std::string, BodyConfig> bodies;
  std::map<std::string, ObstacleConfig> obstacles;
  std::map<std::string, PinConfig> pins;
  std::map<std::string, AxleConfig> axles;
  std::map<std::string, ProbeConfig> probes;
  Facts facts;
  std::string path;  ///< for error lines
  /// "FILE:LINE" of every table of bodies, obstacles, pins, axles and probes, e.g. "pins.left".
  std::map<std::string, std::string> places;
};

/// Steps whose ids still sort as text.
inline constexpr long long kMaxSteps = 999'999;

/// Reads and checks the scene of this request; all three sizes of the file are checked, the asked one is
/// returned with `time.steps` resolved.
SceneConfig read_scene(const RecordRequest& request);
/// The solver that drives the scene, with its fallback. Throws `UsageError` for unknown names and options.
std::unique_ptr<Solver> make_driver(const SolverConfig& solver);
/// Folder of the scene file, where its meshes are found.
std::filesystem::path folder_of(const SceneConfig& config);
/// The mesh files that its bodies and obstacles name.
std::vector<FileConfig*> mesh_files(SceneConfig& config);
/// The scene as TOML with every default written out. Reading this text again gives the same scene.
std::string scene_text(const SceneConfig& config, SceneSize size);

}  // namespace signorini
