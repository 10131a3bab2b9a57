#include "scene/scene.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/digest.h"
#include "contact/residuals.h"
#include "scene/length_scale.h"
#include "scene/scene_config.h"
#include "scene/scene_file.h"

namespace signorini::scene_test {
namespace {

const std::string kBucket = std::string(SIGNORINI_SOURCE_DIR) + "/configs/scenes/bucket.toml";

void update(Digest& digest, const ContactProblem& p) {
  const auto add = [&digest](const auto& m) { digest.update(m.data(), m.size() * sizeof(*m.data())); };
  add(p.f), add(p.w), add(p.mu), add(p.gap), add(p.frame), add(p.position), add(p.points), add(p.weights);
  add(p.bodies), add(p.warm_start);
  digest.update(std::span<const double>(p.M.valuePtr(), p.M.nonZeros()));
  digest.update(std::span<const double>(p.H.valuePtr(), p.H.nonZeros()));
  digest.update(std::span<const Index>(p.H.innerIndexPtr(), p.H.nonZeros()));
}

double energy(const StepStatistics& s) {
  return s.report.kinetic_energy + s.report.elastic_energy + s.report.potential_energy;
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
        EXPECT_EQ(count(frame.geometry->triangle_body), frame.geometry->triangles.rows());
        EXPECT_LT(frame.geometry->triangles.maxCoeff(), frame.geometry->vertices.rows());
        outcome.largest = std::max(outcome.largest, static_cast<int>(frame.problem.contacts()));
        update(digest, frame.problem);
        digest.update(frame.geometry->vertices.data(), frame.geometry->vertices.size() * sizeof(double));
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
  request.steps = 1000;
  const Outcome one = run(request);
  EXPECT_GE(one.ids.size(), 10U);
  EXPECT_GE(one.largest, 20);
  EXPECT_EQ(one.ids.back(), "001000");
  ASSERT_EQ(one.steps.size(), 1000U);
  double highest = -std::numeric_limits<double>::infinity();
  for (const StepStatistics& s : one.steps) {
    EXPECT_LE(s.report.deepest_point, 1e-3) << "deeper than the tolerance at step " << s.step;
    EXPECT_LE(s.report.residual, 1e-4);
    highest = std::max(highest, energy(s));
  }
  const double start = energy(one.steps.front());
  EXPECT_LT(highest, start + 1e-3 * std::abs(start)) << "no energy comes from nowhere";
  for (const int threads : {2, 4}) {
    request.threads = threads;
    const Outcome other = run(request);
    EXPECT_EQ(other.ids, one.ids);
    EXPECT_EQ(other.digest, one.digest) << threads << " threads";
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

TEST(Scene, ProblemsWithFewerContactsLeaveNoFrame) {
  const SceneFile file("", "", kOneOfEach);
  std::map<std::string, Index> contacts;
  run_scene(
      file.request(), [](const std::string&) { return true; },
      [&](const Frame& frame) { contacts[frame.id] = frame.problem.contacts(); },
      [](const StepStatistics&) { return true; });
  Index most = 0;
  for (const auto& [id, count] : contacts) most = std::max(most, count);
  ASSERT_GT(most, 1);
  const Outcome few = run(file.request({{"time.record_min_contacts", std::to_string(most)}}));
  std::vector<std::string> wanted;
  for (const auto& [id, count] : contacts)
    if (count >= most) wanted.push_back(id);
  EXPECT_LT(wanted.size(), contacts.size());
  EXPECT_EQ(few.ids, wanted);
}

/// Without the first line, a comment that names the file.
std::string below_title(const std::string& effective) { return effective.substr(effective.find('\n') + 1); }

/// The value of a key, as the printed scene has it; "" where the table or the key is not there.
std::string value_in(const std::string& text, const std::string& table, const std::string& key) {
  const std::size_t begin = text.find("[" + table + "]");
  const std::size_t found = text.find("\n" + key + " = ", begin);
  if (begin == std::string::npos || found == std::string::npos) return "";
  const std::size_t place = found + key.size() + 4;
  return text.substr(place, text.find("  #", place) - place);
}

TEST(Scene, TheEffectiveSceneIsItsOwnWithNegativeZerosToo) {
  // TOML reads "-0" as an integer, which has no negative zero.
  const SceneFile file(
      "[probes.p]\nbody = \"balls\"\nmeasure = \"speed_m_s\"\ndirection = [-0.0, 0.0, -1.0]\n");
  const std::string effective = effective_scene(file.request({{"time.gravity_tilt_deg", "-0.0"}}));
  EXPECT_NE(effective.find("\ndirection = [-0.0, 0, -1]"), std::string::npos);
  EXPECT_NE(effective.find("\ngravity_tilt_deg = -0.0 "), std::string::npos);
  const SceneFile again("", "", effective);
  EXPECT_EQ(below_title(effective_scene(again.request())), below_title(effective));
}

TEST(Scene, OptionsOfTheFilesSolverAreNotThoseOfAnother) {
  const SceneFile file("[solver]\nname = \"ica\"\noptions.judge = \"own\"\noptions.law = \"pyramid\"\n");
  const auto has = [&](const OptionMap& overrides, const char* line) {
    return effective_scene(file.request(overrides)).find(line) != std::string::npos;
  };
  EXPECT_TRUE(has({}, "\njudge = \"own\"\n"));
  EXPECT_TRUE(has({{"solver.name", "ica"}}, "\njudge = \"own\"\n"));
  EXPECT_FALSE(has({{"solver.name", "pgs"}}, "\njudge = "));
  EXPECT_FALSE(has({{"solver.name", "pgs"}}, "\nlaw = "));
  EXPECT_TRUE(has({{"solver.name", "cr-full"}, {"solver.options.judge", "exact"}}, "\njudge = \"exact\"\n"));
}

TEST(Scene, EndsAfterSoManyStepsWithContact) {
  const SceneFile file;
  const Outcome whole = run(file.request());
  const Outcome cut = run(file.request({{"time.contact_steps", "7"}, {"time.record_min_contacts", "2"}}));
  const auto counts = [](const StepStatistics& s) { return s.report.contacts >= 2; };
  ASSERT_LT(cut.steps.size(), whole.steps.size());
  EXPECT_EQ(std::count_if(cut.steps.begin(), cut.steps.end(), counts), 7);
  EXPECT_TRUE(counts(cut.steps.back()));
  EXPECT_EQ(energy(cut.steps.back()), energy(whole.steps[cut.steps.size() - 1]));
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

TEST(Scene, RegionsSolvedOneByOneGiveTheSameMotion) {
  const auto last = [](const std::string& mode) {
    const SceneFile file("velocity_m_s = [0.2, 0.1, -0.5]\n");
    StepReport report;
    int regions = 0;
    run_scene(
        file.request({{"solver.regions", mode}, {"solver.tolerance", "1e-12"}}),
        [](const std::string&) { return false; }, [](const Frame&) {},
        [&](const StepStatistics& step) {
          regions = std::max(regions, step.regions);
          report = step.report;
          return true;
        });
    EXPECT_GT(regions, 1);
    return report;
  };
  const StepReport whole = last("none"), apart = last("points");
  EXPECT_EQ(whole.contacts, apart.contacts);
  EXPECT_GT(whole.kinetic_energy, 0.0);
  // 200 steps, each solved to 1e-12 of its largest velocity; impacts are no unstable motion here
  EXPECT_NEAR(apart.kinetic_energy, whole.kinetic_energy, 1e-8 * whole.kinetic_energy);
}

TEST(Scene, MassPointRegionsDoNotDriveImplicitSteps) {
  const SceneFile file("", "", kOneOfEach);
  try {
    run_scene(
        file.request({{"solver.regions", "points"}}), [](const std::string&) { return false; },
        [](const Frame&) {}, [](const StepStatistics&) { return true; });
    FAIL() << "an inexact split drove the scene";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("couples mass points"), std::string::npos) << error.what();
  }
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
  EXPECT_NE(text.find("\nsteps = 200 "), std::string::npos);
  EXPECT_NE(text.find("\nstop_after = 17 "), std::string::npos);
  request.steps = 300;  // beyond the scene's own end
  const std::string longer = effective_scene(request);
  EXPECT_NE(longer.find("\nsteps = 300 "), std::string::npos);
  EXPECT_NE(longer.find("\nstop_after = 0 "), std::string::npos);
}

/// The scenes that come with the program.
std::vector<std::string> scene_files() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(SIGNORINI_SOURCE_DIR) + "/configs/scenes")) {
    if (entry.path().extension() == ".toml") files.push_back(entry.path().stem().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

class SceneFiles : public testing::TestWithParam<std::string> {
 protected:
  RecordRequest request(SceneSize size) const {
    RecordRequest request;
    request.scene_path = std::string(SIGNORINI_SOURCE_DIR) + "/configs/scenes/" + GetParam() + ".toml";
    request.size = size;
    return request;
  }
};

TEST_P(SceneFiles, AllSizesCanBeBuiltAndTheEffectiveSceneReadsBackAsItself) {
  for (const SceneSize size : {SceneSize::quick, SceneSize::medium, SceneSize::paper}) {
    const RecordRequest asked = request(size);
    const std::string text = effective_scene(asked);
    const SceneFile copy("", "", text);
    RecordRequest again = copy.request();
    again.size = size;
    const std::string second = effective_scene(again);
    // The first line holds the name of the file.
    EXPECT_EQ(second.substr(second.find('\n')), text.substr(text.find('\n')));
    const SceneRun built(asked);
    EXPECT_GT(built.steps(), 0);
    EXPECT_EQ(built.steps_taken(), 0);
  }
}

TEST_P(SceneFiles, TheFirstStepsHaveTheSameBytesForOneTwoAndFourThreads) {
  RecordRequest asked = request(SceneSize::quick);
  asked.steps = 30;  // a second or two; most have contacts by then
  asked.overrides["time.record_every"] = "1";
  const Outcome one = run(asked);
  for (const int threads : {2, 4}) {
    asked.threads = threads;
    const Outcome other = run(asked);
    EXPECT_EQ(other.ids, one.ids);
    EXPECT_EQ(other.digest, one.digest) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Configs, SceneFiles, testing::ValuesIn(scene_files()),
                         [](const auto& scene) { return scene.param; });

TEST(Scene, EverySolveOfADueStepIsAFrameThatItsImpulsesSolve) {
  // A sheet that falls onto a corner of boxes: steps with several rounds of refinement.
  const SceneFile file("", "", kOneOfEach);
  RecordRequest request = file.request({{"time.record_every", "1"}, {"time.duration_s", "0.12"}});
  std::vector<std::string> ids;
  std::vector<StepStatistics> steps;
  run_scene(
      request, [](const std::string&) { return true; },
      [&](const Frame& frame) {
        ids.push_back(frame.id);
        const ContactProblem& p = frame.problem;
        ASSERT_FALSE(find_defect(p).has_value()) << frame.id;
        EXPECT_EQ(p.kind, ProblemKind::implicit_step);
        ASSERT_EQ(frame.impulse.size(), 3 * p.contacts()) << frame.id;
        // The driving solver may stop at accepted_residual = 1e-3 of its own measure, which for pgs is the
        // referee's up to rounding.
        const std::span<const double> r(frame.impulse.data(), frame.impulse.size());
        EXPECT_LE(Referee(p).measure(r, LawSpec{}).residual, 1.01e-3) << frame.id;
        ASSERT_NE(frame.geometry, nullptr);
        EXPECT_EQ(frame.geometry->rest.rows(), frame.geometry->vertices.rows());
      },
      [&](const StepStatistics& s) {
        steps.push_back(s);
        return true;
      });
  std::size_t next = 0;
  int several = 0;
  for (const StepStatistics& s : steps) {
    several += s.frames > 1 ? 1 : 0;
    for (int k = 1; k <= s.frames; ++k) {
      ASSERT_LT(next, ids.size());
      EXPECT_EQ(ids[next++], k == 1 ? fmt::format("{:06}", s.step) : fmt::format("{:06}.{}", s.step, k));
    }
    if (s.report.contacts > 0) {
      EXPECT_GE(s.regions, s.islands);
      EXPECT_GE(s.islands, 1);
      EXPECT_LE(s.regions, s.report.contacts);
    }
  }
  EXPECT_EQ(next, ids.size());
  EXPECT_GT(several, 0) << "the scene never needs a second solve: the test needs another one";
}

TEST(Scene, RestVerticesAreTheStartOfEveryBody) {
  const SceneFile file;
  std::vector<Frame> frames;
  run_scene(
      file.request({{"time.record_every", "1"}}), [](const std::string&) { return true; },
      [&](const Frame& frame) {
        Frame copy;
        copy.id = frame.id;
        copy.geometry = std::make_unique<FrameGeometry>(*frame.geometry);
        frames.push_back(std::move(copy));
      },
      [](const StepStatistics& s) { return s.step < 60; });
  ASSERT_GE(frames.size(), 2U);
  // Undeformed at the start: the first recorded frame moved by free fall only, all vertices of a body alike.
  const auto& geometry = *frames.front().geometry;
  EXPECT_TRUE((geometry.rest - frames.back().geometry->rest).isZero(0.0));
  for (Index t = 0; t < count(geometry.triangle_body); ++t) {
    const Vector3 moved =
        (geometry.vertices.row(geometry.triangles(t, 0)) - geometry.rest.row(geometry.triangles(t, 0)));
    if (geometry.triangle_body[t] < 0) {
      EXPECT_EQ(moved, Vector3::Zero());
    } else {
      EXPECT_LT(moved.head<2>().norm(), 1e-4);
    }
  }
}

/// The problems of a run and its statistics, step by step; the number of the step left out.
std::vector<std::uint64_t> digests_of(SceneRun& run, std::vector<std::string>* checkpoints = nullptr) {
  std::vector<std::uint64_t> digests;
  while (run.steps_taken() < run.steps()) {
    Digest digest;
    const StepStatistics s = run.advance([](const std::string&) { return true; },
                                         [&](const Frame& frame) { update(digest, frame.problem); });
    std::vector<double> row = statistics_row(s);
    row.erase(row.begin());
    digest.update(std::span<const double>(row));
    digests.push_back(digest.value());
    if (checkpoints) checkpoints->push_back(run.checkpoint());
  }
  return digests;
}

class SceneCheckpoints : public testing::TestWithParam<const char*> {};

TEST_P(SceneCheckpoints, GoingOnFromAnyStepGivesTheSameBits) {
  const SceneFile file("", "", GetParam());
  const RecordRequest request = file.request({{"time.record_every", "1"}, {"time.steps", "14"}});
  SceneRun whole(request);
  std::vector<std::string> checkpoints;
  const std::vector<std::uint64_t> digests = digests_of(whole, &checkpoints);
  ASSERT_EQ(digests.size(), 14U);
  for (std::size_t from = 1; from < digests.size(); ++from) {
    SceneRun resumed(request);
    resumed.restore(checkpoints[from - 1]);
    EXPECT_EQ(resumed.steps_taken(), static_cast<long long>(from));
    const std::vector<std::uint64_t> rest = digests_of(resumed);
    EXPECT_EQ(rest, std::vector<std::uint64_t>(digests.begin() + from, digests.end()))
        << "resumed after step " << from;
  }
}

TEST_P(SceneCheckpoints, OfAnotherSceneAndDamagedOnesAreRefused) {
  const SceneFile file("", "", GetParam());
  SceneRun run(file.request());
  run.advance([](const std::string&) { return false; }, [](const Frame&) {});
  std::string bytes = run.checkpoint();
  EXPECT_THROW(run.restore(bytes.substr(0, bytes.size() - 1)), InputError);
  EXPECT_THROW(run.restore(bytes + "x"), InputError);
  EXPECT_THROW(run.restore(""), InputError);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_THROW(run.restore(bytes), InputError);
  EXPECT_EQ(run.steps_taken(), 1) << "a refused checkpoint leaves the run as it was";
  SceneRun other(file.request({{"bodies.balls.level", "2"}}));
  EXPECT_THROW(other.restore(run.checkpoint()), InputError);
}

/// With the settings of the scene, it is the same motion; the numbers of the steps alone are others.
TEST_P(SceneCheckpoints, APreludeIsTheBeginningOfTheMotion) {
  const SceneFile file("", "", GetParam());
  SceneRun whole(file.request({{"time.record_every", "1"}, {"time.steps", "14"}}));
  const std::vector<std::uint64_t> digests = digests_of(whole);
  const RecordRequest request =
      file.request({{"time.record_every", "1"}, {"time.steps", "9"}, {"prelude.steps", "5"}});
  SceneRun run(request);
  EXPECT_EQ(run.prelude_left(), 5);
  EXPECT_EQ(run.steps_taken(), 0);
  std::vector<std::string> checkpoints;
  while (run.prelude_left() > 0) {
    checkpoints.push_back(run.checkpoint());
    run.advance_prelude();
  }
  EXPECT_EQ(run.steps_taken(), 0);
  checkpoints.push_back(run.checkpoint());
  const std::vector<std::uint64_t> rest(digests.begin() + 5, digests.end());
  EXPECT_EQ(digests_of(run), rest);
  for (std::size_t from = 0; from < checkpoints.size(); ++from) {
    run.restore(checkpoints[from]);
    EXPECT_EQ(run.prelude_left(), static_cast<long long>(5 - from));
    while (run.prelude_left() > 0) run.advance_prelude();
    EXPECT_EQ(digests_of(run), rest) << "from step " << from << " of the prelude";
  }
  SceneRun without(file.request({{"time.steps", "9"}}));
  EXPECT_THROW(without.restore(checkpoints[0]), InputError);
  SceneRun shorter(file.request({{"time.steps", "9"}, {"prelude.steps", "3"}}));
  EXPECT_THROW(shorter.restore(checkpoints[4]), InputError);
  EXPECT_EQ(shorter.prelude_left(), 3) << "a refused checkpoint leaves the run as it was";
}

INSTANTIATE_TEST_SUITE_P(Steppers, SceneCheckpoints, testing::Values(kTwoBalls, kOneOfEach),
                         [](const auto& stepper) { return stepper.index == 0 ? "Explicit" : "Implicit"; });

/// Balls in free fall, v += g dt and x += v dt: after a prelude of 10 steps of 1 ms, step 1 of 0.5 ms ends at t = 10.5 ms.
TEST(Scene, APreludeHasATimeStepOfItsOwn) {
  const SceneFile file(
      "[probes.fallen]\nbody = \"balls\"\ndirection = [0, 0, -1]\n[probes.speed]\nbody = \"balls\"\n"
      "measure = \"speed_m_s\"\ndirection = [0, 0, -1]\n");
  SceneRun run(file.request({{"prelude.steps", "10"},
                             {"prelude.step_s", "1e-3"},
                             {"bodies.balls.position_m", "[0, 0, 5]"},
                             {"materials.soft.damping_1_s", "0"}}));
  while (run.prelude_left() > 0) run.advance_prelude();
  const StepStatistics step = run.advance([](const std::string&) { return true; }, [](const Frame&) {});
  const StepTable table = run.statistics_table();
  const std::vector<double> row = statistics_row(step);
  const auto column = [&](std::string_view name) {
    return std::ranges::find(table.columns, name) - table.columns.begin();
  };
  const double g = 9.81;
  EXPECT_EQ(step.step, 1);
  EXPECT_EQ(step.steps, 200) << "0.1 s of 0.5 ms, the prelude not counted";
  EXPECT_NEAR(step.time, 10.5e-3, 1e-15);
  // Rounding of 11 steps in positions of 5 m: some ulps of 9e-16 m.
  EXPECT_NEAR(row[column("fallen")], g * (1e-6 * 55 + 0.5e-3 * 10.5e-3), 1e-13);
  EXPECT_NEAR(row[column("speed")], g * 10.5e-3, 1e-12);
}

TEST(Scene, APreludeHasSettingsOfItsOwn) {
  const SceneFile file(
      "[prelude]\nsteps = 3\nstep_s = 1e-3\n[prelude.contact]\nfriction = 0.1\n[prelude.solver]\nname = "
      "\"ica\"\noptions.judge = \"own\"\n");
  const auto text_with = [&](const OptionMap& overrides) { return effective_scene(file.request(overrides)); };
  const std::string text = text_with({});
  EXPECT_EQ(value_in(text, "prelude", "steps"), "3");
  EXPECT_EQ(value_in(text, "prelude.contact", "friction"), "0.1");
  EXPECT_EQ(value_in(text, "contact", "friction"), "0.4");
  EXPECT_EQ(value_in(text, "prelude.contact", "tolerance_m"), value_in(text, "contact", "tolerance_m"));
  const auto rest_speed = [&](const char* table) {
    return std::stod(value_in(text, table, "rest_speed_m_s"));
  };
  EXPECT_DOUBLE_EQ(rest_speed("prelude.contact"), 2.0 * 1e-3 * 9.81);
  EXPECT_DOUBLE_EQ(rest_speed("contact"), 2.0 * 5e-4 * 9.81);
  EXPECT_EQ(value_in(text, "prelude.solver", "name"), "\"ica\"");
  EXPECT_EQ(value_in(text, "solver", "name"), "\"pgs\"");
  EXPECT_NE(text.find("\n[prelude.solver.options]\njudge = \"own\"\n"), std::string::npos);
  const auto is_its_own = [](const std::string& of) {
    return below_title(effective_scene(SceneFile("", "", of).request())) == below_title(of);
  };
  EXPECT_TRUE(is_its_own(text));
  EXPECT_TRUE(is_its_own(text_with({{"contact.edges", "true"}, {"prelude.contact.edges", "false"}})))
      << "a key that is left out at its default is the scene's in the prelude";
  EXPECT_TRUE(is_its_own(text_with({{"prelude.contact.edges", "true"}})));
  EXPECT_EQ(text_with({{"prelude.solver.name", "pgs"}}).find("judge"), std::string::npos)
      << "options are those of the file's solver";
  EXPECT_EQ(value_in(text_with({{"scale", "0.5"}, {"prelude.step_s", "2e-4"}, {"time.step_s", "2e-4"}}),
                     "prelude.contact", "tolerance_m"),
            "0.0005");
  const std::string none = text_with({{"prelude.steps", "0"}});
  EXPECT_EQ(none.find("prelude"), std::string::npos)
      << "scenes without one are known by the text that they had before";
  const SceneFile plain;
  EXPECT_EQ(value_in(effective_scene(plain.request({{"prelude.steps", "1"}, {"solver.name", "nncg"}})),
                     "prelude.solver", "name"),
            "\"nncg\"")
      << "without a table of its own, the scene's solver";
}

TEST(Scene, PinsAndMotionsMoveWhatTheyHold) {
  // The sheet hangs by one edge that rises; a box far away turns.
  const SceneFile file(
      "[pins.edge]\nbody = \"sheet\"\nmin_m = [-1, -1, -1]\nmax_m = [-0.14, 1, 1]\nvelocity_m_s = [0, 0, "
      "0.5]\n",
      "", kOneOfEach);
  std::unique_ptr<FrameGeometry> last;
  double time = 0.0;
  run_scene(
      file.request({{"time.record_every", "1"}, {"time.duration_s", "0.06"}}),
      [](const std::string&) { return true; },
      [&](const Frame& frame) {
        last = std::make_unique<FrameGeometry>(*frame.geometry);
        time = frame.problem.time;
      },
      [](const StepStatistics&) { return true; });
  ASSERT_NE(last, nullptr) << "no contacts";
  // The sheet's vertices in the scene are the only ones at z = 0.107 at the start.
  int pinned = 0;
  for (Index i = 0; i < last->rest.rows(); ++i) {
    const bool held = last->rest(i, 2) == 0.107 && last->rest(i, 0) < 0.075 - 0.14;
    if (!held) continue;
    ++pinned;
    EXPECT_NEAR(last->vertices(i, 2), 0.107 + 0.5 * time, 1e-12);
  }
  EXPECT_EQ(pinned, 6);
}

TEST(Scene, ScaleMultipliesLengthsAndSpeedsAndNothingElse) {
  const SceneFile file(
      "velocity_m_s = [0.0, 0.0, -2.0]\n[probes.low]\nbody = \"balls\"\nmin_m = [-1.0, -1.0, 0.0]\n"
      "max_m = [1.0, 1.0, 0.1]\n");
  RecordRequest request = file.request();
  const SceneConfig plain = read_scene(request);
  request.overrides["scale"] = "0.5";
  const SceneConfig half = read_scene(request);
  const std::string text = scene_text(half, SceneSize::quick);
  EXPECT_EQ(value_in(text, "bodies.balls", "radius_m"), "0.05");
  EXPECT_EQ(value_in(text, "bodies.balls", "velocity_m_s"), "[0, 0, -1]");
  EXPECT_EQ(value_in(text, "bodies.balls", "position_m"), "[0, 0, 0.05025]");
  EXPECT_EQ(value_in(text, "bodies.balls", "layer_height_m"), "0.10025");
  EXPECT_EQ(value_in(text, "probes.low", "max_m"), "[0.5, 0.5, 0.05]");
  EXPECT_EQ(value_in(text, "contact", "tolerance_m"), "0.0005") << "a default";
  EXPECT_EQ(text.find("\nscale = "), std::string::npos) << "reading the text again must not scale again";
  const SceneFile again("", "", text);
  const auto tables = [](const std::string& all) {
    return all.substr(all.find('\n'));
  };  // the first line names the file
  EXPECT_EQ(tables(scene_text(read_scene(again.request()), SceneSize::quick)), tables(text));
  for (const char* key : {"young_modulus_pa", "density_kg_m3", "poisson_ratio", "damping_1_s"})
    EXPECT_EQ(value_in(text, "materials.soft", key),
              value_in(scene_text(plain, SceneSize::quick), "materials.soft", key));
  EXPECT_EQ(half.time.step_s, plain.time.step_s);
  EXPECT_EQ(half.time.gravity_m_s2, plain.time.gravity_m_s2);
  request.overrides["scale"] = "0";
  EXPECT_THROW(read_scene(request), UsageError);
}

TEST(Scene, UnitsOfKeysSayWhatScales) {
  for (const char* key : {"radius_m", "velocity_m_s", "key_displacement_m", "safety_m"})
    EXPECT_TRUE(is_length_or_speed(key)) << key;
  for (const char* key :
       {"slope_n_m_s", "torque_n_m", "stiffness_n_m", "gravity_m_s2", "density_kg_m3", "rotation_deg", "arm"})
    EXPECT_FALSE(is_length_or_speed(key)) << key;
}

TEST(Scene, GravityTiltsAboutY) {
  const SceneFile file;
  const auto start_energy = [&](const std::string& tilt) {
    double potential = 0.0;
    run_scene(
        file.request({{"time.gravity_tilt_deg", tilt}}), [](const std::string&) { return false; },
        [](const Frame&) {},
        [&](const StepStatistics& s) {
          potential = s.report.potential_energy;
          return false;
        });
    return potential;
  };
  // −m g · x with x on the z axis: cos of the tilt is what is left, up to the fall of one step of 0.5 ms.
  const double level = start_energy("0");
  EXPECT_NEAR(start_energy("60") / level, 0.5, 1e-4);
}

TEST(Scene, EveryShapeOfBodiesAndObstaclesCanBeBuiltAndStepped) {
  std::string text = R"(seed = 7
[time]
integrator = "implicit"
step_s = 2e-3
steps = 3
record_every = 1
[materials.soft]
young_modulus_pa = 1e5
[materials.wood]
model = "rigid"
[materials.linen]
model = "cloth"
[materials.wire]
model = "springs"
hinge_n_m = 0.1
)";
  auto add = [&text, x = 0](const std::string& table, const std::string& keys) mutable {
    text += fmt::format("[{}]\nposition_m = [{}, 0, 0]\n{}\n", table, x += 3, keys);
  };
  for (const char* shape : {"ball", "block", "ring"})
    add(fmt::format("bodies.soft_{}", shape), fmt::format("material = \"soft\"\nshape = \"{}\"", shape));
  for (const char* shape : {"box", "sphere", "cylinder", "ring"})
    add(fmt::format("bodies.rigid_{}", shape), fmt::format("material = \"wood\"\nshape = \"{}\"", shape));
  add("bodies.sheet", "material = \"linen\"\ncolumns = 5\nrows = 4");
  add("bodies.chain", "material = \"wire\"\nnodes = 4\nbend_deg = 30");
  add("bodies.flag", "material = \"linen\"\nsurface = \"quad.obj\"\nsurface_scale = 0.5");
  add("bodies.dice", "material = \"wood\"\nsurface = \"tet.obj\"");
  add("bodies.mesh", "material = \"soft\"\nmesh = \"tet.vtk\"");
  add("bodies.skinned",
      "material = \"soft\"\nshape = \"block\"\nsize_m = [1, 1, 1]\nskin = \"tet.obj\"\nskin_scale = 0.4");
  for (const char* shape : {"ground", "bucket", "bin", "box", "wall", "sphere", "cylinder", "capsule"})
    add(fmt::format("obstacles.{}", shape),
        fmt::format("shape = \"{}\"\nrotation_deg = 30\nspin_rad_s = 1", shape));
  add("obstacles.tet", "surface = \"tet.obj\"");
  const SceneFile file("", "", text);
  file.add("quad.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
  file.add("tet.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n");
  file.add(
      "tet.vtk",
      "# vtk DataFile Version 3.0\ntet\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0 0 1 0 "
      "0 0 1\nCELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\n");
  SceneRun run(file.request());
  for (int step = 1; step <= 3; ++step) {
    const StepStatistics s = run.advance([](const std::string&) { return true; }, [](const Frame&) {});
    EXPECT_EQ(s.step, step);
    EXPECT_TRUE(std::isfinite(energy(s)));
    EXPECT_GT(s.report.kinetic_energy, 0.0);
  }
}

TEST(Scene, GridsFillPlacesInOrderAndCountLimitsThem) {
  const std::string grid =
      "arrangement = \"grid\"\ngrid = [2, 2, 2]\npitch_m = [0.3, 0.4, 0.5]\nrandom_orientation = true\n";
  std::string text = kTwoBalls;
  for (const char* key : {"count = 2\n", "per_layer = 1\n", "layer_height_m = 0.2005\n"})
    text.erase(text.find(key), std::string(key).size());
  const SceneFile file(grid, "", text);
  // Centres of mass by body from the first frame: a ball's surface is symmetric about its centre.
  const auto centres = [&](const OptionMap& overrides) {
    OptionMap all = overrides;
    all["bodies.balls.position_m"] = "[0.0, 0.0, 0.1]";
    all["time.record_every"] = "1";
    std::map<Index, std::pair<Vector3, int>> sums;
    run_scene(
        file.request(all), [](const std::string& id) { return id == "000001"; },
        [&](const Frame& frame) {
          const FrameGeometry& g = *frame.geometry;
          for (Index t = 0; t < count(g.triangle_body); ++t) {
            for (Index k = 0; k < 3 && g.triangle_body[t] >= 0; ++k) {
              auto& [sum, n] = sums.try_emplace(g.triangle_body[t], Vector3::Zero(), 0).first->second;
              sum += g.rest.row(g.triangles(t, k)).transpose();
              ++n;
            }
          }
        },
        [](const StepStatistics&) { return false; });
    std::vector<Vector3> found;
    for (const auto& [body, sum] : sums) found.push_back(sum.first / sum.second);
    return found;
  };
  const std::vector<Vector3> eight = centres({});
  ASSERT_EQ(eight.size(), 8U) << "the lowest balls touch the floor within the tolerance";
  for (int i = 0; i < 8; ++i) {
    const Vector3 wanted(i % 2 == 0 ? -0.15 : 0.15, i / 2 % 2 == 0 ? -0.2 : 0.2, 0.1 + 0.5 * (i / 4));
    // Vertices are counted once per triangle: 5 or 6 times, the same for opposite ones.
    EXPECT_LT((eight[i] - wanted).norm(), 1e-14);
  }
  EXPECT_EQ(centres({{"bodies.balls.count", "3"}}).size(), 3U);
}

}  // namespace
}  // namespace signorini::scene_test
