#include "harness/replay_scene.h"

#include <toml++/toml.h>

#include <cmath>
#include <numbers>
#include <set>

namespace signorini {
namespace {

Vector3 up_of(const toml::table& config) {
  Vector3 gravity = Vector3::Zero();
  const toml::node_view<const toml::node> time = config["time"];
  for (int i = 0; i < 3; ++i) gravity[i] = time["gravity_m_s2"][i].value_or(0.0);
  const double tilt = time["gravity_tilt_deg"].value_or(0.0) * std::numbers::pi / 180.0;
  if (!gravity.allFinite() || !std::isfinite(tilt) || !(gravity.norm() > 0.0)) return Vector3::UnitZ();
  const Vector3 up = -gravity.normalized();
  return {up[0] * std::cos(tilt) + up[2] * std::sin(tilt), up[1],
          up[2] * std::cos(tilt) - up[0] * std::sin(tilt)};
}

int chain_nodes_of(const toml::table& config) {
  std::set<std::int64_t> nodes;
  if (const toml::table* bodies = config["bodies"].as_table()) {
    for (const auto& [name, body] : *bodies) {
      const toml::table* keys = body.as_table();
      if (keys != nullptr && (*keys)["shape"].value_or(std::string()) == "chain")
        nodes.insert((*keys)["nodes"].value_or(std::int64_t{0}));
    }
  }
  const bool usable = nodes.size() == 1 && *nodes.begin() >= 2 && *nodes.begin() < (1 << 30);
  return usable ? static_cast<int>(*nodes.begin()) : 0;
}

template <class Enum>
void read_name(const toml::node_view<const toml::node>& node, Enum& out) {
  const std::string name = node.value_or(std::string());
  for (const auto& [value, known] : EnumNames<Enum>::value) {
    if (known == name) out = value;
  }
}

}  // namespace

ReplayScene read_replay_scene(const std::string& config) {
  ReplayScene scene;
  try {
    const toml::table table = toml::parse(config);
    scene.up = up_of(table);
    scene.chain_nodes = chain_nodes_of(table);
    read_name(table["solver"]["options"]["law"], scene.law.law);
    read_name(table["solver"]["options"]["frame"], scene.law.frame);
  } catch (const toml::parse_error&) {  // an older form of scene files
  }
  return scene;
}

}  // namespace signorini
