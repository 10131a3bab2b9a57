#pragma once

#include <map>
#include <string>
#include <vector>

#include "bodies/body_system.h"
#include "scene/probe_config.h"

/// Numbers per step that only one scene has a use for: how far a pin leans, how fast a foot slips.
///
/// Of each body b of a group, over its watched nodes i with masses m_i, places X_i at the start and x_i, v_i
/// now, C and c the mass-weighted means of X_i and x_i, n the unit direction:
///
///     place   n · c                        travel  n · (c − C)            [m]
///     speed   n · Σ m_i v_i / Σ m_i        [m/s]
///     extent  max n · x_i − min n · x_i    [m]; of a rigid body 0
///     turn    angle of R                   [degree], R the rotation next to Σ m_i (x_i − c)(X_i − C)ᵀ
///     tilt    angle between R n and n      [degree]
///     spin    n · ω                        [rad/s], I ω = L about c (least norm where I is singular)
///
/// Without a direction: the lengths of travel, speed and spin. Rigid bodies have their own R and ω.
namespace signorini {

struct SceneConfig;

class Probes {
 public:
  /// Throws `UsageError` naming the table: no such group, a box that holds no vertex, a direction that is
  /// missing.
  Probes(const SceneConfig& config, const BodySystem& system);

  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& units() const { return units_; }
  /// One number per probe. `system` must be the one of the constructor.
  std::vector<double> measure(const BodySystem& system, const SystemState& state) const;

 private:
  struct Watched {
    Index rigid = -1;          ///< number of the rigid body, or −1
    std::vector<Index> nodes;  ///< of a deformable one
  };
  struct Probe {
    ProbeConfig config;
    std::vector<Watched> bodies;
  };
  double value(const Probe& probe, const Watched& body, const SystemState& start,
               const SystemState& state) const;

  std::vector<Probe> probes_;
  std::vector<std::string> names_, units_;
  std::vector<double> mass_;  ///< of the nodes, kg
};

}  // namespace signorini
