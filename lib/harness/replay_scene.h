#pragma once

#include <string>

#include "contact/friction_law.h"
#include "linalg/types.h"

namespace signorini {

/// What a picture needs of a scene file. Recordings of every version are shown, so nothing that is missing or strange in
/// the file is an error.
struct ReplayScene {
  Vector3 up = Vector3::UnitZ();  ///< against gravity; a tilt turns gravity about y toward −x
  int chain_nodes = 0;            ///< mass points of a chain, where all chains have the same number; else 0
  LawSpec law;                    ///< of the solver that drove the scene
};
ReplayScene read_replay_scene(const std::string& config);

}  // namespace signorini
