#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/options.h"

/// Scenes recorded at other settings than their files have.
///
///     [settings.rubber]                             # named sets of keys of a scene
///     "materials.rubber.young_modulus_pa" = 5e6
///
///     [[recordings]]
///     name = "{scene}_by_{settings}"                # rings_by_rubber, rings_by_steel, pyramid_by_rubber, …
///     scene = ["rings", "pyramid"]                  # one, or a list
///     settings = ["rubber", "steel"]                # one recording with each; their keys are added to `set`;
///                                                   # [["rubber", "steel"], ["small", "large"]]: rubber_small, rubber_large, …
///     set = { "time.step_s" = 1e-3 }
///     vary = { "contact.friction" = [0.1, 0.6] }    # every combination; the values are added to the name
///     sizes = ["quick"]                             # recorded at these sizes only
///
/// The order is that of the scenes, for each that of the settings, for each that of `vary`.
namespace signorini {

class StrictTable;

/// Where a value stands, "FILE:LINE: key 'recordings.scene'": opens the error when it proves to be wrong later.
using Place = std::string;

/// A recording as `signorini record SCENE --set key=value` makes it.
struct SceneVariant {
  std::string name;   ///< of the recording: <name>-<size>.h5; with `vary`, <name>_<value>_<value>…
  std::string scene;  ///< a scene of configs/scenes
  OptionMap set;      ///< dotted keys of the scene file
  Place scene_place, set_place;
  std::map<std::string, Place> key_places{};  ///< of the keys of `set` that come from `settings` or `vary`
};

/// The sizes of scenes and experiments.
inline const std::vector<std::string> kSizeNames{"quick", "medium", "paper"};

/// Whether the entry that `table` reads is for this size: its key `sizes` lists it, or is absent.
bool belongs_to_size(StrictTable& table, std::string_view size);

/// Appends the recordings of `size` that the keys `recordings` and `settings` of an experiment ask for. Their
/// names differ from one another and from `scenes`. `UsageError`s name file, line and key.
void read_scene_variants(StrictTable& table, std::string_view size, const std::vector<std::string>& scenes,
                         std::vector<SceneVariant>& out);

}  // namespace signorini
