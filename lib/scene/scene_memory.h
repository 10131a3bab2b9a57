#pragma once

#include <string>

#include "scene/scene_config.h"

/// Whether the bodies of a scene fit into memory, told from their counts before any of them is made.
namespace signorini {

/// Bodies of one table and what they need.
struct GroupSize {
  double bodies = 1.0;
  double vertices = 0.0;  ///< of one body
  double bytes = 0.0;     ///< of all, at least: what building and one step take, without contacts and solvers
};

/// Of bodies with so many vertices each.
GroupSize group_size(const BodyConfig& body, double vertices);

/// Throws `UsageError` when the bodies of the scene need more than `usable` bytes: it names the table that needs
/// most, what it needs, and the keys to lower. Shapes from files count once they are read: `check_group` then does
/// the same for one table, whose shape turned out to have so many vertices (without place and table in the text).
void check_memory(const SceneConfig& config, double usable);
void check_group(const SceneConfig& config, const std::string& name, double vertices, double usable);

}  // namespace signorini
