#include "scene/linearised_solve.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "scene/driving_solver.h"
#include "solvers/stop_test.h"

namespace signorini {

namespace {

constexpr std::size_t kNodeGrain = 2048;
constexpr std::size_t kContactGrain = 64;
constexpr int kLinearIterations = 20000;
/// Of dt |g|: pushes that add less to the velocity stay in it.
constexpr double kPushShare = 1e-3;

/// Three doubles per block, contiguous.
std::span<double> numbers(std::vector<Vector3>& v) { return {v.data()->data(), 3 * v.size()}; }
std::span<const double> numbers(const std::vector<Vector3>& v) { return {v.data()->data(), 3 * v.size()}; }

}  // namespace

LinearisedSolve::LinearisedSolve(BodySystem& system, const ImplicitSettings& settings,
                                 std::unique_ptr<Solver> solver)
    : system_(system), settings_(settings), solver_(std::move(solver)) {
  for (auto* v : {&free_velocity_, &response_, &velocity_, &load_})
    v->assign(system.blocks(), Vector3::Zero());
  problem_.factors = factors_;
}

bool LinearisedSolve::free_motion(SubStep& sub) {
  const Stopwatch free;
  matrix_is_current_ = false;
  system_.implicit_system(sub.arena, sub.state, sub.dt, settings_.gravity, linear_);
  factors_->turn_over();
  equations_.prepare(sub.arena, linear_.A, *factors_);
  if (equations_.direct()) factors_->settle();
  free_velocity_ = sub.state.velocity;
  const CgReport outcome = equations_.solve(sub.arena, span_of(linear_.b), numbers(free_velocity_),
                                            settings_.free_tolerance, kLinearIterations);
  response_.assign(response_.size(), Vector3::Zero());
  const bool finite = all_finite(numbers(std::as_const(free_velocity_)));
  if (!finite) free_velocity_.assign(free_velocity_.size(), Vector3::Zero());
  velocity_ = free_velocity_;
  load_.assign(load_.size(), Vector3::Zero());
  sub.report.free_seconds += free.seconds();
  if (outcome.converged && finite) return true;
  sub.failure = fmt::format("the linear solve of the free motion ended with residual {:.2e} (asked: {:.0e})",
                            outcome.residual, settings_.free_tolerance);
  return false;
}

bool LinearisedSolve::respond(SubStep& sub, LoopContacts& contacts) {
  solved_ = contacts.surface_contacts();
  sub.report.contacts = static_cast<int>(solved_.size());
  if (solved_.empty()) {
    velocity_ = free_velocity_;
    load_.assign(load_.size(), Vector3::Zero());
    return true;
  }
  assemble(sub, contacts);
  const bool solvable = solve(sub);
  factors_->settle();
  ++sub.report.solves;
  if (sub.sink) sub.sink({problem_, impulses_, solved_, sub.report.solves, sub.number, solvable});
  const bool applied = apply_impulses(sub);  // a failed answer is applied too: a held step starts from it
  if (all_finite(impulses_)) give_impulses(contacts);
  return applied && solvable;
}

bool LinearisedSolve::leave_push(SubStep& sub) {
  const double least = kPushShare * sub.dt * settings_.gravity.norm();
  bool pushed = false;
  for (std::size_t k = 0; k < solved_.size(); ++k)
    pushed = pushed || (push_[k] > least && impulses_[3 * k] > 0.0);
  if (!pushed) return true;
  const std::vector<double> impulses = impulses_;
  const std::vector<ContactEnd> ends = ends_;
  for (Index k = 0; k < count(solved_); ++k) {
    problem_.w[3 * k] += push_[k];
    problem_.start_states[k] = ends[k].state;
    problem_.start_bounds[k] = ends[k].bound;
  }
  problem_.warm_start = Eigen::Map<const Vector>(impulses.data(), count(impulses));
  ++sub.report.velocity_solves;
  const bool solved = solve(sub) && apply_impulses(sub);
  impulses_ = impulses;
  ends_ = ends;
  return solved;
}

/// M and f of the problem from A and b, or from the masses and M v*; the velocities of the start.
void LinearisedSolve::assemble_matrix(SubStep& sub) {
  problem_.f.resize(3 * count(touched_.block));
  gather_blocks(sub.state.velocity, touched_, problem_.v_minus);
  if (settings_.response == ContactResponse::global) {
    restrict_matrix(sub.arena, linear_.A, touched_, problem_.M);
    for (Index i = 0; i < count(touched_.block); ++i)
      problem_.f.segment<3>(3 * i) = linear_.b.segment<3>(3 * touched_.block[i]);
    return;
  }
  mass_.resize(system_.blocks());
  system_.mass_blocks(sub.state, mass_);
  restrict_blocks(mass_, touched_, problem_.M);
  for (Index i = 0; i < count(touched_.block); ++i) {
    const std::size_t block = touched_.block[i];
    problem_.f.segment<3>(3 * i) = mass_[block] * free_velocity_[block];
  }
}

/// H, w, μ and what the contacts start from.
void LinearisedSolve::assemble_contacts(SubStep& sub, const LoopContacts& contacts) {
  tangents_.resize(solved_.size());
  sub.arena.for_chunks(solved_.size(), kContactGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = begin; k < end; ++k) {
      Vector3 sliding = Vector3::Zero();
      if (settings_.tangents == TangentFrame::aligned)
        sliding = relative_velocity(system_, sub.state, sub.dt, solved_[k], free_velocity_);
      tangents_[k] = contact_tangent(settings_.tangents, solved_[k], sliding, sub.warm);
    }
  });
  contact_rows(sub.arena, system_, sub.state, sub.dt, solved_, tangents_, touched_, problem_);
  const Index m = count(solved_);
  problem_.kind = ProblemKind::implicit_step;
  problem_.dt = sub.dt;
  problem_.time = sub.state.time;
  problem_.mu = Vector::Constant(m, settings_.friction);
  problem_.warm_start.resize(3 * m);
  problem_.start_states.resize(m);
  problem_.start_bounds.resize(m);
  push_.resize(solved_.size());
  for (Index k = 0; k < m; ++k) {
    const LoopContact& c = contacts.all()[k];
    problem_.start_states[k] = c.end.state;
    problem_.start_bounds[k] = c.end.bound;
    double before = 0.0;
    if (settings_.restitution > 0.0)
      before =
          c.contact.normal.dot(relative_velocity(system_, sub.state, sub.dt, c.contact, sub.state.velocity));
    const auto offset = [&](double target) {
      return implicit_offset(settings_, c.contact.gap, target, before, sub.dt);
    };
    problem_.w[3 * k] += offset(c.target);
    push_[k] = offset(c.target - c.push) - offset(c.target);
    for (Index d = 0; d < 3; ++d)
      problem_.warm_start[3 * k + d] = problem_.frame.block<1, 3>(k, 3 * d).dot(c.impulse.transpose());
  }
}

void LinearisedSolve::assemble(SubStep& sub, const LoopContacts& contacts) {
  const Stopwatch assembly;
  TouchedBlocks now = settings_.response == ContactResponse::global
                          ? touched_bodies(system_, solved_, settings_.all_bodies)
                          : touched_nodes(system_, sub.state, solved_);
  if (!matrix_is_current_ || now.block != touched_.block) {
    touched_ = std::move(now);
    assemble_matrix(sub);
    matrix_is_current_ = true;
    solver_has_matrix_ = false;
  }
  assemble_contacts(sub, contacts);
  sub.report.assembly_seconds += assembly.seconds();
}

bool LinearisedSolve::solve(SubStep& sub) {
  const Stopwatch solving;
  const DrivenSolve outcome =
      drive(*solver_, problem_, solver_has_matrix_ ? Preparation::contacts : Preparation::whole,
            settings_.stop, settings_.accepted_residual, sub.step, impulses_);
  solver_has_matrix_ = true;
  StepReport& report = sub.report;
  report.solve_seconds += solving.seconds();
  report.iterations += outcome.iterations;
  report.restarted = report.restarted || outcome.restarted;
  if (outcome.accepted) {
    const double residual = outcome.report.own_residual;
    const double scale = velocity_scale(free_relative_velocity(problem_, touched_, free_velocity_));
    report.residual = std::max(report.residual, residual);
    report.velocity_error = std::max(report.velocity_error, residual * scale);
  } else {
    sub.failure = outcome.failure(*solver_, problem_, settings_.accepted_residual);
  }
  return outcome.accepted;
}

/// A dv = load, or M dv = load on the touched blocks.
CgReport LinearisedSolve::response_to_load(TaskArena& arena) {
  if (settings_.response == ContactResponse::global) {
    return equations_.solve(arena, numbers(std::as_const(load_)), numbers(response_),
                            settings_.free_tolerance, kLinearIterations);
  }
  response_.assign(response_.size(), Vector3::Zero());
  for (const Index block : touched_.block) response_[block] = mass_[block].ldlt().solve(load_[block]);
  return {.iterations = 0, .residual = 0.0, .converged = true};
}

/// v = v* + dv,  A dv = H r.
bool LinearisedSolve::apply_impulses(SubStep& sub) {
  const Stopwatch free;
  if (!all_finite(impulses_)) {
    velocity_ = free_velocity_;
    return false;
  }
  const Vector pushed = problem_.H * Eigen::Map<const Vector>(impulses_.data(), count(impulses_));
  ends_ = ends_of(problem_, impulses_, solver_->common().spec(), touched_, free_velocity_);
  load_.assign(load_.size(), Vector3::Zero());
  for (Index i = 0; i < count(touched_.block); ++i) load_[touched_.block[i]] = pushed.segment<3>(3 * i);
  const CgReport outcome = response_to_load(sub.arena);
  sub.arena.for_chunks(velocity_.size(), kNodeGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t b = begin; b < end; ++b) velocity_[b] = free_velocity_[b] + response_[b];
  });
  sub.report.free_seconds += free.seconds();
  if (outcome.converged && all_finite(numbers(std::as_const(velocity_)))) return true;
  sub.failure =
      fmt::format("the linear solve of the contact response ended with residual {:.2e} (asked: {:.0e})",
                  outcome.residual, settings_.free_tolerance);
  response_.assign(response_.size(), Vector3::Zero());
  return false;
}

void LinearisedSolve::give_impulses(LoopContacts& contacts) const {
  for (Index k = 0; k < problem_.contacts(); ++k) {
    Vector3 impulse = Vector3::Zero();
    for (Index d = 0; d < 3; ++d)
      impulse += impulses_[3 * k + d] * problem_.frame.block<1, 3>(k, 3 * d).transpose();
    contacts.all()[k].impulse = impulse;
    contacts.all()[k].end = ends_[k];
  }
}

}  // namespace signorini
