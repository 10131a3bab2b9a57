#include "scene/scene.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/digest.h"

namespace signorini {
namespace {

const std::string kBucket = std::string(SIGNORINI_SOURCE_DIR) + "/configs/scenes/bucket.toml";

/// A small scene in a file of its own, with `extra` lines appended at its end.
class SceneFile {
 public:
  explicit SceneFile(const std::string& extra = "", const std::string& without = "") {
    std::string text = R"(seed = 3
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
    if (!without.empty()) {
      const std::size_t begin = text.find(without);
      text.erase(begin, text.find('\n', begin) + 1 - begin);
    }
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            fmt::format("signorini_scene_{}_{}.toml", test->name(), reinterpret_cast<std::uintptr_t>(this));
    std::ofstream(path_) << text << extra;
  }
  ~SceneFile() { std::filesystem::remove(path_); }
  SceneFile(const SceneFile&) = delete;
  SceneFile& operator=(const SceneFile&) = delete;
  RecordRequest request() const {
    RecordRequest request;
    request.scene_path = path_.string();
    return request;
  }

 private:
  std::filesystem::path path_;
};

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

void update(Digest& digest, const ContactProblem& p) {
  const auto add = [&digest](const auto& m) {
    digest.update(m.data(), static_cast<std::size_t>(m.size()) * sizeof(*m.data()));
  };
  add(p.f), add(p.w), add(p.mu), add(p.gap), add(p.frame), add(p.position), add(p.points), add(p.weights);
  add(p.bodies), add(p.warm_start);
  digest.update(std::span<const double>(p.M.valuePtr(), static_cast<std::size_t>(p.M.nonZeros())));
  digest.update(std::span<const double>(p.H.valuePtr(), static_cast<std::size_t>(p.H.nonZeros())));
  digest.update(std::span<const Index>(p.H.innerIndexPtr(), static_cast<std::size_t>(p.H.nonZeros())));
}

struct Outcome {
  std::vector<std::string> ids;
  std::uint64_t digest = 0;
  std::vector<StepStatistics> steps;
  int largest = 0;
};

Outcome run(const RecordRequest& request) {
  Outcome outcome;
  Digest digest;
  const int frames = run_scene(
      request, [](const std::string&) { return true; },
      [&](const Frame& frame) {
        outcome.ids.push_back(frame.id);
        EXPECT_FALSE(find_defect(frame.problem).has_value())
            << frame.id << ": " << *find_defect(frame.problem);
        EXPECT_NE(frame.geometry, nullptr);
        EXPECT_EQ(frame.geometry->triangle_body.size(),
                  static_cast<std::size_t>(frame.geometry->triangles.rows()));
        EXPECT_LT(frame.geometry->triangles.maxCoeff(), frame.geometry->vertices.rows());
        outcome.largest = std::max(outcome.largest, static_cast<int>(frame.problem.contacts()));
        update(digest, frame.problem);
        digest.update(frame.geometry->vertices.data(),
                      static_cast<std::size_t>(frame.geometry->vertices.size()) * sizeof(double));
      },
      [&](const StepStatistics& s) {
        outcome.steps.push_back(s);
        return true;
      });
  EXPECT_EQ(frames, static_cast<int>(outcome.ids.size()));
  outcome.digest = digest.value();
  return outcome;
}

TEST(Bucket, RecordsValidProblemsWithTheSameBytesForOneTwoAndFourThreads) {
  RecordRequest request;
  request.scene_path = kBucket;
  request.steps = 600;
  const Outcome one = run(request);
  EXPECT_GE(one.ids.size(), 10U);
  EXPECT_GE(one.largest, 30);
  EXPECT_EQ(one.ids.back(), "000600");
  ASSERT_EQ(one.steps.size(), 600U);
  double highest = -std::numeric_limits<double>::infinity();
  for (const StepStatistics& s : one.steps) {
    EXPECT_LE(s.penetration, 1e-3) << "deeper than the tolerance at step " << s.step;
    EXPECT_LE(s.residual, 1e-4);
    highest = std::max(highest, s.kinetic_energy + s.elastic_energy + s.potential_energy);
  }
  const StepStatistics& first = one.steps.front();
  const double start = first.kinetic_energy + first.elastic_energy + first.potential_energy;
  EXPECT_LT(highest, start + 1e-3 * std::abs(start)) << "no energy comes from nowhere";
  for (const int threads : {2, 4}) {
    request.threads = threads;
    const Outcome other = run(request);
    EXPECT_EQ(other.ids, one.ids);
    EXPECT_EQ(other.digest, one.digest) << threads << " threads";
  }
}

TEST(Bucket, AllSizesAreValidAndTheEffectiveSceneReadsBackAsItself) {
  for (const SceneSize size : {SceneSize::quick, SceneSize::medium, SceneSize::paper}) {
    RecordRequest request;
    request.scene_path = kBucket;
    request.size = size;
    const std::string text = effective_scene(request);
    const std::filesystem::path copy =
        std::filesystem::temp_directory_path() / "signorini_effective" / "bucket.toml";
    std::filesystem::create_directories(copy.parent_path());
    std::ofstream(copy) << text;
    request.scene_path = copy.string();
    EXPECT_EQ(effective_scene(request), text);
    std::filesystem::remove_all(copy.parent_path());
  }
}

TEST(Scene, HeaderCarriesNameSeedAndTheWholeConfiguration) {
  RecordRequest request;
  request.scene_path = kBucket;
  request.overrides["seed"] = "7";
  const RecordingHeader header = recording_header(request);
  EXPECT_EQ(header.scene, "bucket");
  EXPECT_EQ(header.seed, 7U);
  EXPECT_EQ(header.config, effective_scene(request));
  EXPECT_NE(header.config.find("seed = 7"), std::string::npos);
}

TEST(Scene, ResumingSkipsTheWantedFramesAndChangesNothingElse) {
  const SceneFile file;
  const Outcome whole = run(file.request());
  ASSERT_GE(whole.ids.size(), 5U);
  std::vector<std::string> asked, built;
  const int frames = run_scene(
      file.request(),
      [&](const std::string& id) {
        asked.push_back(id);
        return id > whole.ids[2];
      },
      [&](const Frame& frame) { built.push_back(frame.id); }, [](const StepStatistics&) { return true; });
  EXPECT_EQ(frames, static_cast<int>(whole.ids.size()));
  EXPECT_EQ(asked, whole.ids);
  EXPECT_EQ(built, std::vector<std::string>(whole.ids.begin() + 3, whole.ids.end()));
}

TEST(Scene, ReturningFalseFromTheStepStopsTheRun) {
  const SceneFile file;
  int steps = 0;
  run_scene(
      file.request(), [](const std::string&) { return true; }, [](const Frame&) {},
      [&](const StepStatistics& s) {
        ++steps;
        EXPECT_EQ(s.steps, 200);
        return s.step < 5;
      });
  EXPECT_EQ(steps, 5);
}

TEST(Scene, SeedAndOverridesChangeTheBytes) {
  const SceneFile file("jitter_m = 2e-4\n");
  RecordRequest request = file.request();
  const std::uint64_t base = run(request).digest;
  EXPECT_EQ(run(request).digest, base);
  request.overrides["seed"] = "4";
  EXPECT_NE(run(request).digest, base);
  request.overrides = {{"contact.friction", "0.1"}};
  EXPECT_NE(run(request).digest, base);
}

TEST(Scene, SizesAndSetOverrideInThatOrder) {
  const SceneFile file("[size.quick]\ntime.record_every = 20\nbodies.balls.count = 1\n");
  RecordRequest request = file.request();
  EXPECT_NE(effective_scene(request).find("record_every = 20"), std::string::npos);
  request.overrides["time.record_every"] = "30";
  EXPECT_NE(effective_scene(request).find("record_every = 30"), std::string::npos);
  request.size = SceneSize::paper;
  request.overrides.clear();
  request.steps = 17;
  const std::string text = effective_scene(request);
  EXPECT_NE(text.find("record_every = 10"), std::string::npos);
  EXPECT_NE(text.find("\nsteps = 17 "), std::string::npos);
}

TEST(SceneErrors, NameFileLineKeyAndTheNearestKey) {
  const SceneFile typo("raduis_m = 0.2\n");
  EXPECT_MESSAGE(typo.request(),
                 ".toml:22: unknown key 'bodies.balls.raduis_m' (did you mean 'bodies.balls.radius_m'?)");
  const SceneFile other_shape("extent_m = 0.2\n");
  EXPECT_MESSAGE(other_shape.request(), "unknown key 'bodies.balls.extent_m'");
  const SceneFile in_size("[size.paper]\nbodies.balls.cuont = 2\n");
  EXPECT_MESSAGE(in_size.request(),
                 ".toml:23: unknown key 'bodies.balls.cuont' (did you mean 'bodies.balls.count'?)");
  const SceneFile unknown_size("[size.huge]\nseed = 2\n");
  EXPECT_MESSAGE(unknown_size.request(), "unknown value 'huge' (known: quick, medium, paper)");
  RecordRequest set = SceneFile().request();
  const SceneFile good;
  set = good.request();
  set.overrides["time.stpe_s"] = "1";
  EXPECT_MESSAGE(set, "--set: unknown key 'time.stpe_s' (did you mean 'time.step_s'?)");
}

TEST(SceneErrors, WrongTypesAndRangesAreOneClearLine) {
  const SceneFile good;
  const auto with = [&](const std::string& key, const std::string& value) {
    RecordRequest request = good.request();
    request.overrides[key] = value;
    return request;
  };
  EXPECT_EQ(message_of(good.request()), "");
  EXPECT_MESSAGE(with("materials.soft.density_kg_m3", "-1"),
                 "'materials.soft.density_kg_m3' = -1 must be positive");
  EXPECT_MESSAGE(with("materials.soft.poisson_ratio", "0.5"), "below 0.5");
  EXPECT_MESSAGE(with("materials.soft.young_modulus_pa", "nan"), "must be finite");
  EXPECT_MESSAGE(with("time.step_s", "0"), "must be positive");
  EXPECT_MESSAGE(with("time.step_s", "fast"), "'time.step_s' = \"fast\" is not a number");
  EXPECT_MESSAGE(with("time.record_every", "2.5"), "is not a whole number");
  EXPECT_MESSAGE(with("time.record_every", "99999999999"), "out of range");
  EXPECT_MESSAGE(with("time.gravity_m_s2", "[0, 1]"), "is not a list of three numbers");
  EXPECT_MESSAGE(with("contact.friction", "-0.1"), "must be zero or positive");
  EXPECT_MESSAGE(with("contact.restitution", "1.1"), "between 0 and 1");
  EXPECT_MESSAGE(with("bodies.balls.material", "steel"), "no table [materials.steel]");
  EXPECT_MESSAGE(with("bodies.balls.material", "sfot"), "did you mean 'soft'?");
  EXPECT_MESSAGE(with("bodies.balls.shape", "bal"), "unknown value 'bal' (known: ball, block)");
  EXPECT_MESSAGE(with("bodies.balls.level", "9"), "is above");
  EXPECT_MESSAGE(with("solver.name", "psg"), "unknown solver 'psg'");
  EXPECT_MESSAGE(with("solver.options.lwa", "cone"), "law");
  EXPECT_MESSAGE(with("time.duration_s", "1e9"), "steps are more than");
  EXPECT_MESSAGE(with("time.step_s", "0.01"), "unstable");
  EXPECT_MESSAGE(with("bodies.balls.layer_height_m", "0.15"), "overlap");
  EXPECT_MESSAGE(with("bodies.balls.position_m", "[0, 0, 0.05]"), "overlap");
  const SceneFile no_material("", "material =");
  EXPECT_MESSAGE(no_material.request(), "'bodies.balls.material' is missing");
}

TEST(SceneErrors, BrokenTomlNamesTheLineAndAMissingFileIsAnInputError) {
  const SceneFile broken("radius_m = = 2\n");
  EXPECT_MESSAGE(broken.request(), ".toml:22: ");
  RecordRequest missing;
  missing.scene_path = "no/such/scene.toml";
  EXPECT_EQ(message_of<InputError>(missing), "no/such/scene.toml: no such scene file");
  missing.scene_path = std::filesystem::temp_directory_path().string();
  EXPECT_NE(message_of<InputError>(missing).find("folder"), std::string::npos);
}

}  // namespace
}  // namespace signorini
