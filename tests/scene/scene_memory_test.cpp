#include "scene/scene_memory.h"

#include <gtest/gtest.h>

#include <string>

#include "scene/scene_file.h"

namespace signorini::scene_memory_test {
namespace {

SceneConfig config_with(const SceneFile& file, const OptionMap& overrides) {
  RecordRequest request = file.request();
  request.overrides = overrides;
  return read_scene(request);
}

std::string refusal(const SceneConfig& config, double usable) {
  try {
    check_memory(config, usable);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(SceneMemory, OrdinaryScenesFit) {
  const SceneFile file;
  EXPECT_EQ(refusal(config_with(file, {}), 1e9), "");
  EXPECT_EQ(refusal(config_with(file, {{"bodies.balls.count", "1000"}}), 16e9), "");
}

TEST(SceneMemory, NamesTheTableWhatItNeedsAndWhatToLower) {
  const SceneFile file;
  const std::string many = refusal(config_with(file, {{"bodies.balls.count", "1000000"}}), 8e9);
  EXPECT_NE(many.find(": [bodies.balls]: 1000000 bodies of "), std::string::npos) << many;
  EXPECT_NE(
      many.find("; 8 GB of memory may be used here: lower 'bodies.balls.count' or 'bodies.balls.level'"),
      std::string::npos)
      << many;
  std::string blocks = kTwoBalls;
  const std::string level = "level = 1\nradius_m = 0.1\n", shape = "shape = \"ball\"";
  blocks.replace(blocks.find(level), level.size(), "cells = [1000, 1000, 1000]\n");
  blocks.replace(blocks.find(shape), shape.size(), "shape = \"block\"");
  const SceneFile fine_file("", "", blocks);
  const SceneConfig fine = config_with(fine_file, {});
  EXPECT_NE(refusal(fine, 8e9).find("lower 'bodies.balls.cells'"), std::string::npos) << refusal(fine, 8e9);
}

TEST(SceneMemory, RefinementsCountAndSumsToo) {
  const SceneFile file;
  const SceneConfig one = config_with(file, {{"bodies.balls.count", "1000"}});
  const double needed = group_size(one.bodies.at("balls"), one.bodies.at("balls").shape->vertices()).bytes;
  EXPECT_EQ(refusal(one, 1.01 * needed), "");
  EXPECT_NE(refusal(one, 0.99 * needed), "");
  const SceneConfig refined =
      config_with(file, {{"bodies.balls.count", "1000"}, {"bodies.balls.refinements", "1"}});
  EXPECT_NE(refusal(refined, 7.0 * needed).find("'bodies.balls.refinements'"), std::string::npos);
}

TEST(SceneMemory, MoreDegreesOfFreedomThanNumbersAreRefusedOnAnyMachine) {
  const SceneFile file;
  const SceneConfig huge =
      config_with(file, {{"bodies.balls.count", "1000000"}, {"bodies.balls.level", "6"}});
  EXPECT_NE(refusal(huge, 1e18), "");
}

TEST(SceneMemory, CountsAboveAMillionAreRefusedByName) {
  const SceneFile file;
  EXPECT_THROW(
      try {
        config_with(file, {{"bodies.balls.count", "100000000"}});
      } catch (const UsageError& error) {
        EXPECT_NE(std::string(error.what()).find("'bodies.balls.count' = 100000000 is above 1000000"),
                  std::string::npos)
            << error.what();
        throw;
      },
      UsageError);
}

}  // namespace
}  // namespace signorini::scene_memory_test
