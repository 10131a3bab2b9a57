#pragma once

#include <string>

#include "scene/contact_rows.h"
#include "scene/stepper.h"

namespace signorini {

/// A step, or a part of a halved one, while it is taken: what its solves, its surfaces and its loop share.
struct SubStep {
  TaskArena& arena;
  const SystemState& state;  ///< at its start
  const WarmStart& warm;     ///< impulses of the (sub-)step before
  double warm_dt = 0.0;      ///< its length, s
  double dt = 0.0;           ///< s
  long long step = 1;        ///< number of the whole step
  int number = 0;            ///< 0: the whole step; 1, 2, … for the parts of a halved one
  const SolveSink& sink;
  StepReport& report;    ///< of the whole step; everyone adds to it
  std::string& failure;  ///< one line: why the (sub-)step cannot be taken at this length

  /// The impulse that `kept`, of a step of length warm_dt, leads one of length dt to expect.
  Vector3 scaled(const Vector3& kept) const { return dt / warm_dt * kept; }
};

}  // namespace signorini
