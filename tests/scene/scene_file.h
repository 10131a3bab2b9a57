#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "base/check.h"
#include "scene/scene.h"

namespace signorini {

/// Two soft balls above a floor, explicit; the last table is [bodies.balls].
inline constexpr const char* kTwoBalls = R"(seed = 3
[time]
step_s = 5e-4
duration_s = 0.1
record_every = 10
[materials.soft]
young_modulus_pa = 2e5
poisson_ratio = 0.3
density_kg_m3 = 1000.0
damping_1_s = 1.0
[obstacles.floor]
shape = "ground"
[bodies.balls]
shape = "ball"
material = "soft"
level = 1
radius_m = 0.1
count = 2
per_layer = 1
position_m = [0.0, 0.0, 0.1005]
layer_height_m = 0.2005
)";

/// One body of every kind in a pile, implicit; the last table is [bodies.sheet].
inline constexpr const char* kOneOfEach = R"(seed = 5
[time]
integrator = "implicit"
step_s = 4e-3
duration_s = 0.08
record_every = 2
[contact]
friction = 0.4
tolerance_m = 4e-3
[solver]
tolerance = 1e-6
accepted_residual = 1e-3
[materials.soft]
young_modulus_pa = 1e5
density_kg_m3 = 500.0
[materials.squashy]
model = "neo_hookean"
young_modulus_pa = 1e5
density_kg_m3 = 500.0
[materials.wood]
model = "rigid"
density_kg_m3 = 600.0
[materials.linen]
model = "cloth"
damping_1_s = 0.5
[obstacles.floor]
shape = "ground"
[bodies.boxes]
shape = "box"
material = "wood"
size_m = [0.1, 0.1, 0.1]
position_m = [0.0, 0.0, 0.052]
[bodies.balls]
shape = "ball"
material = "soft"
radius_m = 0.05
position_m = [0.15, 0.0, 0.052]
[bodies.bricks]
shape = "block"
material = "squashy"
cells = [2, 2, 2]
size_m = [0.1, 0.1, 0.1]
position_m = [0.0, 0.15, 0.052]
[bodies.sheet]
material = "linen"
columns = 6
rows = 6
width_m = 0.3
depth_m = 0.3
position_m = [0.075, 0.075, 0.107]
velocity_m_s = [0.0, 0.0, -0.5]
)";

/// A scene in a file of its own in a folder of its own: `text` without the line that holds `without`, then
/// `extra`.
class SceneFile {
 public:
  explicit SceneFile(const std::string& extra = "", const std::string& without = "",
                     std::string text = kTwoBalls) {
    if (!without.empty()) {
      const std::size_t begin = text.find(without);
      if (begin == std::string::npos) throw std::logic_error("no line with " + without);
      const std::size_t line = text.rfind('\n', begin) + 1;
      text.erase(line, text.find('\n', begin) + 1 - line);
    }
    std::string name = (std::filesystem::temp_directory_path() / "signorini-scene-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = name;
    add("scene.toml", text + extra);
  }
  ~SceneFile() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  SceneFile(const SceneFile&) = delete;
  SceneFile& operator=(const SceneFile&) = delete;

  /// A file beside the scene.
  void add(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  RecordRequest request(const OptionMap& overrides = {}) const {
    RecordRequest request;
    request.scene_path = (folder_ / "scene.toml").string();
    request.overrides = overrides;
    return request;
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

/// What reading and building the scene says; "" when it takes its first step.
template <class Error = UsageError>
std::string message_of(const RecordRequest& request) {
  try {
    effective_scene(request);
    run_scene(
        request, [](const std::string&) { return false; }, [](const Frame&) {},
        [](const StepStatistics&) { return false; });
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << "one line";
    return e.what();
  }
  return "";
}

#define EXPECT_MESSAGE(request, part) \
  EXPECT_NE(message_of(request).find(part), std::string::npos) << message_of(request)

}  // namespace signorini
