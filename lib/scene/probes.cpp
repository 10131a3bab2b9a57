#include "scene/probes.h"

#include <Eigen/Geometry>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/check.h"
#include "bodies/polar_rotation.h"
#include "scene/scene_config.h"

namespace signorini {

namespace {

const char* unit_of(const ProbeConfig& probe) {
  if (probe.over == BodyReduction::count) return "1";
  switch (probe.measure) {
    case Measure::speed_m_s:
      return "m/s";
    case Measure::tilt_deg:
    case Measure::turn_deg:
      return "degree";
    case Measure::spin_rad_s:
      return "rad/s";
    default:
      return "m";
  }
}

bool needs_direction(Measure measure) {
  return measure == Measure::place_m || measure == Measure::extent_m || measure == Measure::tilt_deg;
}

/// What moves of a body, as numbers of the body alone.
struct BodyMotion {
  Vector3 start = Vector3::Zero(), place = Vector3::Zero(), velocity = Vector3::Zero();
  Vector3 spin = Vector3::Zero();
  Matrix3 rotation = Matrix3::Identity();
};

BodyMotion rigid_motion(Index r, std::size_t block, const SystemState& start, const SystemState& state) {
  const RigidPose &before = start.rigid[r], &now = state.rigid[r];
  return {before.centre, now.centre, state.velocity[block], state.velocity[block + 1],
          (now.rotation * before.rotation.conjugate()).toRotationMatrix()};
}

/// ω of I ω = L; rods and points have an I that is singular.
Vector3 mean_spin(const std::vector<Index>& nodes, const std::vector<double>& mass, const SystemState& state,
                  const Vector3& centre) {
  Matrix3 inertia = Matrix3::Zero();
  Vector3 momentum = Vector3::Zero();
  for (const Index i : nodes) {
    const Vector3 r = state.node[i] - centre;
    inertia += mass[i] * (r.squaredNorm() * Matrix3::Identity() - r * r.transpose());
    momentum += mass[i] * r.cross(state.velocity[i]);
  }
  return inertia.completeOrthogonalDecomposition().solve(momentum);
}

BodyMotion deformable_motion(const std::vector<Index>& nodes, const std::vector<double>& mass,
                             const SystemState& start, const SystemState& state, bool turning) {
  BodyMotion motion;
  double total = 0.0;
  for (const Index i : nodes) {
    total += mass[i];
    motion.start += mass[i] * start.node[i];
    motion.place += mass[i] * state.node[i];
    motion.velocity += mass[i] * state.velocity[i];
  }
  motion.start /= total;
  motion.place /= total;
  motion.velocity /= total;
  if (!turning) return motion;
  Matrix3 moments = Matrix3::Zero();
  for (const Index i : nodes) {
    moments += mass[i] * (state.node[i] - motion.place) * (start.node[i] - motion.start).transpose();
  }
  // Only the ratios of its entries matter; of order 1 they suit the rules of the decomposition.
  const double scale = moments.cwiseAbs().maxCoeff();
  if (scale > 0.0) motion.rotation = polar_rotation(moments / scale);
  motion.spin = mean_spin(nodes, mass, state, motion.place);
  return motion;
}

double degrees(double angle) { return angle * 180.0 / std::numbers::pi; }

double component(const Vector3& value, const Vector3& direction) {
  return direction.isZero(0.0) ? value.norm() : direction.dot(value);
}

double reduce(const ProbeConfig& probe, const std::vector<double>& values) {
  switch (probe.over) {
    case BodyReduction::max:
      return *std::max_element(values.begin(), values.end());
    case BodyReduction::min:
      return *std::min_element(values.begin(), values.end());
    case BodyReduction::mean: {
      double sum = 0.0;
      for (const double value : values) sum += value;
      return sum / static_cast<double>(values.size());
    }
    case BodyReduction::count:
      break;
  }
  return static_cast<double>(
      std::count_if(values.begin(), values.end(), [&](double value) { return value > probe.above; }));
}

std::vector<Index> nodes_in_box(const BodySystem& system, Index body, const ProbeConfig& probe) {
  std::vector<Index> nodes;
  const auto blocks = system.body_blocks(body);
  for (Index i = blocks[0]; i < blocks[1]; ++i) {
    const Vector3& x = system.start().node[i];
    if ((x - probe.min_m).minCoeff() >= 0.0 && (probe.max_m - x).minCoeff() >= 0.0) nodes.push_back(i);
  }
  return nodes;
}

}  // namespace

Probes::Probes(const SceneConfig& config, const BodySystem& system) {
  std::map<std::string, Index> first;  // groups of bodies come first, in the order of their names
  Index body = 0;
  for (const auto& [name, group] : config.bodies) {
    first[name] = body;
    body += group.bodies();
  }
  for (const auto& [name, given] : config.probes) {
    Probe probe{given, {}};
    if (probe.config.direction.norm() > 0.0)
      probe.config.direction.normalize();
    else if (needs_direction(given.measure))
      throw_usage("{}: [probes.{}]: measure = \"{}\" needs a direction", config.places.at("probes." + name),
                  name, enum_name(given.measure));
    const Index begin = first.at(given.body), end = begin + config.bodies.at(given.body).bodies();
    for (Index b = begin; b < end; ++b) {
      Watched watched;
      const Index block = system.body_blocks(b)[0];
      if (block >= system.nodes())
        watched.rigid = (block - system.nodes()) / 2;
      else
        watched.nodes = nodes_in_box(system, b, given);
      if (watched.rigid < 0 && watched.nodes.empty())
        throw_usage("{}: [probes.{}]: no vertex of '{}' lies in the box at the start",
                    config.places.at("probes." + name), name, system.name(b));
      probe.bodies.push_back(std::move(watched));
    }
    probes_.push_back(std::move(probe));
    names_.push_back(name);
    units_.emplace_back(unit_of(given));
  }
  std::vector<Matrix3> blocks(system.blocks());
  if (!probes_.empty()) system.mass_blocks(system.start(), blocks);
  mass_.resize(system.nodes());
  for (std::size_t i = 0; i < mass_.size(); ++i) mass_[i] = blocks[i](0, 0);
}

std::vector<double> Probes::measure(const BodySystem& system, const SystemState& state) const {
  std::vector<double> result, values;
  for (const Probe& probe : probes_) {
    values.clear();
    for (const Watched& body : probe.bodies) values.push_back(value(probe, body, system.start(), state));
    result.push_back(reduce(probe.config, values));
  }
  return result;
}

double Probes::value(const Probe& probe, const Watched& body, const SystemState& start,
                     const SystemState& state) const {
  const Measure measure = probe.config.measure;
  const Vector3& n = probe.config.direction;
  if (measure == Measure::extent_m) {
    double low = 0.0, high = 0.0;
    for (std::size_t i = 0; i < body.nodes.size(); ++i) {
      const double place = n.dot(state.node[body.nodes[i]]);
      low = i == 0 ? place : std::min(low, place);
      high = i == 0 ? place : std::max(high, place);
    }
    return high - low;
  }
  const bool turning =
      measure == Measure::tilt_deg || measure == Measure::turn_deg || measure == Measure::spin_rad_s;
  const std::size_t block = body.rigid < 0 ? 0 : mass_.size() + 2 * body.rigid;
  const BodyMotion motion = body.rigid < 0 ? deformable_motion(body.nodes, mass_, start, state, turning)
                                           : rigid_motion(body.rigid, block, start, state);
  switch (measure) {
    case Measure::place_m:
      return n.dot(motion.place);
    case Measure::travel_m:
      return component(motion.place - motion.start, n);
    case Measure::speed_m_s:
      return component(motion.velocity, n);
    case Measure::spin_rad_s:
      return component(motion.spin, n);
    case Measure::turn_deg:
      return degrees(Eigen::AngleAxisd(motion.rotation).angle());
    default: {
      const Vector3 turned = motion.rotation * n;
      return degrees(std::atan2(turned.cross(n).norm(), turned.dot(n)));
    }
  }
}

}  // namespace signorini
