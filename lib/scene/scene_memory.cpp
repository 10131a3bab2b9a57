#include "scene/scene_memory.h"

#include <cmath>
#include <limits>

#include "base/check.h"

namespace signorini {

namespace {

/// Least bytes that a vertex takes with its share of elements, matrix and surface: what `record --check` held at its
/// peak, over scenes of blocks, balls, boxes and sheets, rounded down. Factors and contacts come on top.
constexpr double kElasticVertexBytes = 2000.0, kRigidVertexBytes = 400.0, kThinVertexBytes = 2000.0;

double bytes_per_vertex(BodyKind kind) {
  return kind == BodyKind::elastic ? kElasticVertexBytes
         : kind == BodyKind::rigid ? kRigidVertexBytes
                                   : kThinVertexBytes;
}

std::string bytes_text(double bytes) {
  return bytes < 1e15 ? fmt::format("{:.3g} GB", bytes / 1e9) : fmt::format("{:.1e} GB", bytes / 1e9);
}

/// The keys that make a group large, with the one that does most in front: "'bodies.rubber.count'".
std::string keys_to_lower(const std::string& name, const BodyConfig& body, const GroupSize& size) {
  const auto key = [&name](std::string_view of) { return fmt::format("'bodies.{}.{}'", name, of); };
  std::string bodies = key(body.count > 0                          ? "count"
                           : body.arrangement == Arrangement::grid ? "grid"
                                                                   : "count");
  std::string shape;
  if (body.refinements > 0) shape = key("refinements");
  if (!body.shape->counts().empty()) shape += (shape.empty() ? "" : " or ") + key(body.shape->counts());
  if (size.bodies < 2.0 && !shape.empty()) return shape;
  if (shape.empty()) return bodies;
  return size.bodies >= size.vertices ? bodies + " or " + shape : shape + " or " + bodies;
}

/// `needed`: by the whole scene.
std::string refusal(const SceneConfig& config, const std::string& name, const GroupSize& size, double needed,
                    double usable) {
  const std::string bodies =
      size.bodies < 2.0 ? std::string("a body of") : fmt::format("{:.0f} bodies of", size.bodies);
  const std::string whole =
      needed > 1.01 * size.bytes ? fmt::format(", the whole scene {}", bytes_text(needed)) : std::string();
  return fmt::format("{} {:.4g} vertices {} at least {}{}; {} of memory may be used here: lower {}", bodies,
                     size.vertices, size.bodies < 2.0 ? "needs" : "need", bytes_text(size.bytes), whole,
                     bytes_text(usable), keys_to_lower(name, config.bodies.at(name), size));
}

/// Numbers of degrees of freedom are 32-bit integers.
bool fits(const GroupSize& size, double usable) {
  return size.bytes <= usable && 3.0 * size.bodies * size.vertices < std::numeric_limits<Index>::max();
}

}  // namespace

GroupSize group_size(const BodyConfig& body, double vertices) {
  constexpr double kRefined = 8.0;  // tetrahedra in the place of one; vertices grow alike
  GroupSize size;
  size.bodies = body.bodies();
  size.vertices = vertices * std::pow(kRefined, body.refinements);
  size.bytes = size.bodies * size.vertices * bytes_per_vertex(kind_of(body.model));
  return size;
}

void check_memory(const SceneConfig& config, double usable) {
  GroupSize all, largest;
  std::string name;
  for (const auto& [group, body] : config.bodies) {
    const GroupSize size = group_size(body, body.shape->vertices());
    all.bytes += size.bytes;
    if (size.bytes <= largest.bytes && !name.empty()) continue;
    largest = size;
    name = group;
  }
  if (fits(largest, usable) && all.bytes <= usable) return;
  const auto place = config.places.find("bodies." + name);
  throw_usage("{}: [bodies.{}]: {}", place == config.places.end() ? config.path : place->second, name,
              refusal(config, name, largest, all.bytes, usable));
}

void check_group(const SceneConfig& config, const std::string& name, double vertices, double usable) {
  BodyConfig body = config.bodies.at(name);
  body.refinements = 0;  // done already
  const GroupSize size = group_size(body, vertices);
  if (!fits(size, usable)) throw_usage("{}", refusal(config, name, size, size.bytes, usable));
}

}  // namespace signorini
