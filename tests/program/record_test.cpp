#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "base/text.h"
#include "linalg/factor_library.h"
#include "linalg/simd.h"
#include "program/program_fixture.h"
#include "record/recording_file.h"

namespace signorini::record_test {
namespace {

class RecordTest : public ProgramTest {
 protected:
  /// A shortened bucket: the balls touch the floor after some 160 steps.
  std::vector<std::string> command(const std::string& file, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"record",  "bucket",
                                   "-o",      path(file),
                                   "--steps", "240",
                                   "--set",   "time.record_every=20",
                                   "--set",   "bodies.balls.level=1"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  /// --force over a recording, killed at write call 1, 1 + stride, … and gone on with.
  void replace_killed_at_every(int stride) const;
};

/// With finer balls and more steps: there is a second between the first frame and the end.
class InterruptedRecordTest : public RecordTest {
 protected:
  std::vector<std::string> command(const std::string& file, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"record",  "bucket", "-o",    path(file),
                                   "--steps", "600",    "--set", "time.record_every=20"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

TEST_F(RecordTest, RecordsSolvesAndDescribesABuiltInScene) {
  const Outcome o = run(command("b.h5"));
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "b.steps.csv"));
  EXPECT_TRUE(fs::exists(folder_ / "b.env.json"));
  EXPECT_FALSE(fs::exists(folder_ / "b.h5.parts"));
  const std::string steps = file_text(folder_ / "b.steps.csv");
  EXPECT_EQ(std::count(steps.begin(), steps.end(), '\n'), 1 + 240);
  const RecordingReader reader(folder_ / "b.h5");
  ASSERT_FALSE(reader.frames().empty());
  const Frame last = reader.read(reader.frames().back());
  EXPECT_GT(last.problem.contacts(), 0) << "the balls never met the floor: the test needs more steps";

  EXPECT_EQ(run({"info", path("b.h5"), "--steps"}).code, 0);
  const Outcome solved = run({"solve", path("b.h5"), "--solver", "pgs", "--regions", "none,points,islands",
                              "--csv", path("x.csv"), "--require-converged"});
  EXPECT_EQ(solved.code, 0) << solved.out << solved.err;
  EXPECT_EQ(read_run_table(folder_ / "x.csv").size(), 3U * reader.frames().size());
}

TEST_F(RecordTest, ExportedStepSolvedAgainGivesTheSameBits) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const std::string step = RecordingReader(folder_ / "b.h5").frames().back();
  ASSERT_EQ(run({"export", path("b.h5"), "--step", step, "-o", path("e.hdf5")}).code, 0);
  ASSERT_EQ(
      run({"solve", path("b.h5"), "--step", step, "--solver", "pgs", "--solution", path("s1.hdf5")}).code, 0);
  ASSERT_EQ(run({"solve", path("e.hdf5"), "--solver", "pgs", "--solution", path("s2.hdf5")}).code, 0);
  const Vector a = read_fclib(folder_ / "s1.hdf5").solution->r,
               b = read_fclib(folder_ / "s2.hdf5").solution->r;
  ASSERT_EQ(a.size(), b.size());
  for (Index i = 0; i < count(a); ++i) EXPECT_EQ(a[i], b[i]) << i;
}

TEST_F(RecordTest, FactsAreCheckedAtTheEndAndLater) {
  const std::vector<std::string> incline{"record", "incline", "-o", path("i.h5")};
  const Outcome o = run(incline);
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("fact       sticks: holds"), std::string::npos) << o.err;
  const Outcome good = run({"info", path("i.h5"), "--facts"});
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_NE(good.out.find("holds   downhill min = -0.019"), std::string::npos) << good.out;

  // With less friction the block slides further: the fact must differ.
  const Outcome slick = run({"record", "incline", "-o", path("s.h5"), "--set", "contact.friction=0.2"});
  ASSERT_EQ(slick.code, 0) << slick.err;
  EXPECT_NE(slick.err.find("fact       sticks: differs"), std::string::npos) << slick.err;
  const Outcome bad = run({"info", path("i.h5"), path("s.h5"), "--facts", "--json"});
  EXPECT_EQ(bad.code, 1) << bad.err;
  const auto json = nlohmann::json::parse(bad.out);
  int holding = 0, differing = 0;
  for (const auto& fact : json) (fact["holds"] ? holding : differing) += 1;
  EXPECT_EQ(differing, 1) << bad.out;
  const auto facts_of_one = static_cast<int>(json.size()) / 2;
  EXPECT_GE(facts_of_one, 4);
  EXPECT_EQ(holding, 2 * facts_of_one - 1) << bad.out;

  expect_error({"info", planted("p.hdf5"), "--facts"}, 2, "only recordings have facts");
}

TEST_F(RecordTest, ExistingRecordingIsNotOverwrittenUnasked) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const std::string bytes = file_text(folder_ / "b.h5");
  expect_error(command("b.h5"), 2, "--force");
  EXPECT_EQ(file_text(folder_ / "b.h5"), bytes);
  EXPECT_EQ(run(command("b.h5", {"--force"})).code, 0);
  EXPECT_EQ(file_text(folder_ / "b.h5"), bytes) << "the same scene gave other bytes";
  EXPECT_EQ(run(command("b.h5", {"--resume"})).code, 0);
  EXPECT_EQ(run(command("c.h5", {"--threads", "2"})).code, 0);
  EXPECT_EQ(file_text(folder_ / "c.h5"), bytes) << "the bytes depend on the number of threads";
}

/// Frames that a recording under way has put on disk; all when they are packed.
int frames_on_disk(const fs::path& file, int all) {
  if (fs::exists(file)) return all;
  std::error_code none;
  int frames = 0;
  for (const auto& entry : fs::directory_iterator(file.string() + ".parts", none)) {
    frames += entry.path().extension() == ".h5" ? 1 : 0;
  }
  return frames;
}

/// The lines of FILE.steps.csv without what a clock measured.
std::string timeless_steps(const fs::path& csv) {
  std::ifstream in(csv);
  std::string text, line;
  std::size_t columns = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line, ',');
    if (columns == 0) {
      const auto clock = std::find(cells.begin(), cells.end(), "detection_seconds");
      EXPECT_NE(clock, cells.end());
      columns = clock - cells.begin();
    }
    for (std::size_t c = 0; c < columns && c < cells.size(); ++c) text += cells[c] + ",";
    text += "\n";
  }
  return text;
}

TEST_F(RecordTest, QuantitiesWithoutValueAreEmptyCells) {
  // The toy flies for some steps before it meets the wall, and leaves it again.
  ASSERT_EQ(run({"record", "springtoy", "-o", path("t.h5")}).code, 0);
  const std::string steps = file_text(folder_ / "t.steps.csv");
  EXPECT_EQ(steps.find("nan"), std::string::npos) << steps;
  std::ifstream in(folder_ / "t.steps.csv");
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> names = split(line, ',');
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  };
  int empty = 0, full = 0;
  while (std::getline(in, line)) {
    const std::vector<std::string> cells = split(line, ',');
    ASSERT_EQ(cells.size(), names.size()) << line;
    EXPECT_EQ(cells[column("contacts")] == "0", cells[column("smallest_gap")].empty()) << line;
    ++(cells[column("smallest_gap")].empty() ? empty : full);
  }
  EXPECT_GT(empty, 0);
  EXPECT_GT(full, 0);
  const Outcome facts = run({"info", path("t.h5"), "--json"});
  ASSERT_EQ(facts.code, 0) << facts.err;
  EXPECT_EQ(facts.out.find("nan"), std::string::npos);
}

class KilledRecordTest : public RecordTest, public testing::WithParamInterface<const char*> {
 protected:
  /// One ball 0.5 mm above the floor, recorded at every second step: contacts from the start.
  std::vector<std::string> small_scene(const std::string& file, const std::string& how) const {
    return {"record",
            "bucket",
            "-o",
            path(file),
            how,
            "--steps",
            "8",
            "--checkpoint-seconds",
            GetParam(),
            "--set",
            "time.record_every=2",
            "--set",
            "bodies.balls.level=1",
            "--set",
            "bodies.balls.count=1",
            "--set",
            "bodies.balls.position_m=[0.0, 0.0, 0.0405]",
            "--set",
            "bodies.balls.jitter_m=0",
            "--set",
            "contact.tolerance_m=2e-3"};
  }
  /// Runs that are killed at write call 1, 1 + stride, … and gone on with, up to the first that ends by itself.
  void kill_at_every(int stride) const;
};

void KilledRecordTest::kill_at_every(int stride) const {
  constexpr int kFrames = 4;
  ASSERT_EQ(run(small_scene("whole.h5", "--force")).code, 0);
  const std::string bytes = file_text(folder_ / "whole.h5");
  {
    const RecordingReader reader(folder_ / "whole.h5");
    ASSERT_EQ(count(reader.frames()), kFrames);
    ASSERT_GT(reader.read(reader.frames().front()).problem.contacts(), 0);
    ASSERT_EQ(reader.statistics()->rows.size(), 8U);
  }
  const bool checkpoints = std::string(GetParam()) == "0";
  int before = 0, resumed_late = 0;
  for (int at = 1;; at += stride) {
    SCOPED_TRACE(fmt::format("killed at write call {}", at));
    for (const char* name : {"b.h5", "b.h5.parts", "b.h5.tmp", "b.steps.csv", "b.env.json"})
      fs::remove_all(folder_ / name);
    const Outcome o = run(small_scene("b.h5", "--force"), killed_at(at));
    if (o.code == 0) {
      EXPECT_GT(at, checkpoints ? 45 : 20) << "the shim does not see the writes";
      EXPECT_GE(before, kFrames - stride + 1);
      break;
    }
    ASSERT_EQ(o.code, 137) << o.err;
    // frames come in order, one at a time, and none that was on disk one write earlier is missing
    const int kept = frames_on_disk(folder_ / "b.h5", kFrames);
    EXPECT_GE(kept, before);
    EXPECT_LE(kept, before + stride);
    before = kept;
    const bool packed = fs::exists(folder_ / "b.h5");
    if (at % 3 == 0 && kept > 0) {
      // somebody looks at it, which packs the frames: no reason to think that it is complete
      ASSERT_EQ(run({"info", path("b.h5")}).code, 0);
    }
    const Outcome resumed = run(small_scene("b.h5", "--resume"));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_EQ(resumed.err.find("warning"), std::string::npos) << resumed.err;
    if (!packed && kept > 0) {
      EXPECT_NE(resumed.err.find(fmt::format("({} kept from before)", kept)), std::string::npos)
          << resumed.err;
    }
    if (resumed.err.find("resumed after step") != std::string::npos) ++resumed_late;
    ASSERT_TRUE(file_text(folder_ / "b.h5") == bytes);
    ASSERT_FALSE(fs::exists(folder_ / "b.h5.parts"));
    ASSERT_FALSE(fs::exists(folder_ / "b.h5.tmp"));
    EXPECT_TRUE(timeless_steps(folder_ / "b.steps.csv") == timeless_steps(folder_ / "whole.steps.csv"));
    EXPECT_TRUE(fs::exists(folder_ / "b.env.json"));
    if (HasFailure()) break;
  }
  // Seven steps leave a checkpoint; a kill at every write finds each of them at least once.
  EXPECT_GE(resumed_late, checkpoints ? (7 + stride - 1) / stride : 0);
}

// Five shares no factor with two (torn writes) and three (looked at in between).
TEST_P(KilledRecordTest, AtAnyFifthWriteLosesAtMostTheStepInFlight) { kill_at_every(5); }
TEST_P(KilledRecordTest, SlowAtAnyWriteLosesAtMostTheStepInFlight) { kill_at_every(1); }

INSTANTIATE_TEST_SUITE_P(Checkpoints, KilledRecordTest, testing::Values("0", "1000"),
                         [](const auto& seconds) {
                           return std::string(seconds.param) == "0" ? "AfterEveryStep" : "Never";
                         });

TEST_F(RecordTest, KillsAtAnyMomentOfAnImplicitSceneChangeNoByte) {
  const auto command = [this](const std::string& file) {
    return std::vector<std::string>{"record",   "rings",    "-o",
                                    path(file), "--resume", "--checkpoint-seconds",
                                    "0",        "--set",    "time.record_every=1",
                                    "--steps",  "60"};
  };
  ASSERT_EQ(run(command("whole.h5")).code, 0);
  const std::string bytes = file_text(folder_ / "whole.h5");
  ASSERT_GT(RecordingReader(folder_ / "whole.h5").frames().size(), 10U);
  Rng rng(5);
  int kills = 0, resumed = 0;
  for (bool complete = false; !complete && kills < 200; ++kills) {
    const pid_t child = start(command("b.h5"));
    // Longer and longer, so that also the packing at the end gets its time on a busy machine.
    ::usleep(static_cast<useconds_t>(30'000 + rng.below(100'000) + 40'000 * static_cast<unsigned>(kills)));
    ::kill(child, SIGKILL);
    const Outcome o = finish(child);
    EXPECT_EQ(o.err.find("warning"), std::string::npos) << o.err;
    // Said before the first step, so also by runs that are killed.
    resumed += o.err.find("going on after step") != std::string::npos ? 1 : 0;
    // A child process of the one killed last may need a moment to die; its lock holds until then.
    if (o.code == 3 && o.err.find("is being recorded by process") != std::string::npos) continue;
    complete = o.code == 0;
    ASSERT_TRUE(complete || o.code == 128 + SIGKILL) << o.code << o.err;
  }
  EXPECT_GT(kills, 1) << "too fast to be killed";
  EXPECT_GT(resumed, 1) << "no checkpoint was ever gone back to";
  EXPECT_TRUE(file_text(folder_ / "b.h5") == bytes);
  EXPECT_TRUE(timeless_steps(folder_ / "b.steps.csv") == timeless_steps(folder_ / "whole.steps.csv"));
}

TEST_F(InterruptedRecordTest, ADamagedCheckpointCostsOneWarningAndNoByte) {
  ASSERT_EQ(run(command("whole.h5")).code, 0);
  const pid_t child = start(command("b.h5", {"--checkpoint-seconds", "0"}));
  const fs::path parts = folder_ / "b.h5.parts", checkpoint = parts / "checkpoint";
  const auto frames = [&] { return frames_on_disk(folder_ / "b.h5", 99); };
  for (int i = 0; i < 4000 && frames() < 1; ++i) ::usleep(2000);
  ::kill(child, SIGTERM);
  const Outcome killed = finish(child);
  ASSERT_EQ(killed.code, 130) << "it ended before the signal came: " << killed.err;
  ASSERT_TRUE(fs::exists(checkpoint));
  std::string bytes = file_text(checkpoint);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  std::ofstream(checkpoint, std::ios::binary) << bytes;
  const int kept = frames();
  const Outcome resumed = run(command("b.h5", {"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(resumed.err.rfind("warning: ", 0), 0U) << resumed.err;
  EXPECT_NE(resumed.err.find("damaged checkpoint; simulating again from step 1"), std::string::npos)
      << resumed.err;
  EXPECT_NE(resumed.err.find(fmt::format("({} kept from before)", kept)), std::string::npos) << resumed.err;
  EXPECT_TRUE(file_text(folder_ / "b.h5") == file_text(folder_ / "whole.h5"));
}

TEST_F(InterruptedRecordTest, TerminationKeepsACheckpointOfTheLastStepAndGoesOnFromThere) {
  ASSERT_EQ(run(command("whole.h5")).code, 0);
  // No checkpoint is due by time within this run: the one that is found comes from the signal.
  const pid_t child = start(command("b.h5", {"--checkpoint-seconds", "1000"}));
  for (int i = 0; i < 4000 && frames_on_disk(folder_ / "b.h5", 99) < 1; ++i) ::usleep(2000);
  ::kill(child, SIGTERM);
  ASSERT_EQ(finish(child).code, 130);
  const std::string steps = file_text(folder_ / "b.h5.parts" / "steps.csv");
  const auto last = std::count(steps.begin(), steps.end(), '\n') - 1;
  const Outcome resumed = run(command("b.h5", {"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find(fmt::format("resumed after step {}", last)), std::string::npos) << resumed.err;
  EXPECT_TRUE(file_text(folder_ / "b.h5") == file_text(folder_ / "whole.h5"));
  EXPECT_TRUE(timeless_steps(folder_ / "b.steps.csv") == timeless_steps(folder_ / "whole.steps.csv"));
}

/// What arm64 does, on this processor. `ica` sweeps over M, `pgs` over W.
TEST_F(RecordTest, KernelsInPlainCppGiveTheBytesOfThoseForThisProcessor) {
  if (best_isa() != Isa::avx2) GTEST_SKIP() << "this processor has no AVX2 to compare with";
  for (const std::string scene : {"rings", "forced"}) {
    for (const std::string level : {"avx2", "fused"}) {
      const Outcome o = run({"record", scene, "--size", "quick", "-o", path(level + ".h5"), "--force"},
                            {"SIGNORINI_ISA=" + level});
      ASSERT_EQ(o.code, 0) << o.err;
    }
    EXPECT_TRUE(file_text(folder_ / "avx2.h5") == file_text(folder_ / "fused.h5")) << scene;
  }
}

TEST_F(RecordTest, KernelsInPlainCppGiveTheRowsOfThoseForThisProcessor) {
  if (best_isa() != Isa::avx2) GTEST_SKIP() << "this processor has no AVX2 to compare with";
  ASSERT_EQ(run({"record", "rings", "--size", "quick", "-o", path("rings.h5")}).code, 0);
  std::vector<std::vector<std::string>> rows;
  for (const std::string level : {"avx2", "fused"}) {
    const Outcome o = run({"solve", path("rings.h5"), "--solver", "all", "--tolerance", "1e-6",
                           "--max-iterations", "300", "--csv", path(level + ".csv")},
                          {"SIGNORINI_ISA=" + level});
    ASSERT_TRUE(fs::exists(folder_ / (level + ".csv"))) << o.err;
    rows.push_back(timeless_rows(folder_ / (level + ".csv")));
  }
  EXPECT_GT(rows[0].size(), 27U);
  EXPECT_EQ(rows[0], rows[1]);
}

TEST_F(InterruptedRecordTest, AResumeWithOtherKernelsIsToldAndStandsInTheFile) {
  if (best_isa() == Isa::portable) GTEST_SKIP() << "this processor has the portable kernels only";
  const pid_t child = start(command("b.h5", {"--checkpoint-seconds", "1000"}), {"SIGNORINI_ISA=portable"});
  for (int i = 0; i < 4000 && frames_on_disk(folder_ / "b.h5", 99) < 1; ++i) ::usleep(2000);
  ::kill(child, SIGTERM);
  ASSERT_EQ(finish(child).code, 130);
  const Outcome resumed =
      run(command("b.h5", {"--resume"}), {fmt::format("SIGNORINI_ISA={}", enum_name(best_isa()))});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("begun with portable kernels, goes on with avx2"), std::string::npos)
      << resumed.err;
  EXPECT_EQ(RecordingReader(folder_ / "b.h5").header().kernels, "portable, avx2");
}

TEST_F(InterruptedRecordTest, AResumeWithAnotherFactorLibraryIsToldAndStandsInTheFile) {
  if (default_factor_library() == FactorLibrary::eigen)
    GTEST_SKIP() << "this program was built without CHOLMOD";
  const pid_t child = start(command("b.h5", {"--checkpoint-seconds", "1000"}), {"SIGNORINI_FACTOR=eigen"});
  for (int i = 0; i < 4000 && frames_on_disk(folder_ / "b.h5", 99) < 1; ++i) ::usleep(2000);
  ::kill(child, SIGTERM);
  ASSERT_EQ(finish(child).code, 130);
  const Outcome resumed = run(command("b.h5", {"--resume"}));
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string own = rounding_name();
  EXPECT_NE(resumed.err.find(fmt::format("begun with {}+eigen kernels, goes on with {}:", own, own)),
            std::string::npos)
      << resumed.err;
  EXPECT_NE(resumed.err.find(fmt::format("SIGNORINI_ISA={} SIGNORINI_FACTOR=eigen goes on", own)),
            std::string::npos)
      << resumed.err;
  EXPECT_EQ(RecordingReader(folder_ / "b.h5").header().kernels, fmt::format("{}+eigen, {}", own, own));
}

TEST_F(RecordTest, TerminationInsideALongSolveLosesThatStepOnly) {
  // Cloth on the floor, asked for all digits: from its first contacts on, a step takes seconds and more.
  const std::vector<std::string> slow{"record",
                                      "cloth",
                                      "--set",
                                      "solver.name=pgs",
                                      "--set",
                                      "solver.tolerance=1e-14",
                                      "--set",
                                      "solver.max_iterations=2000000000",
                                      "--set",
                                      "time.record_every=1",
                                      "--checkpoint-seconds",
                                      "1000"};
  const auto with = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> words = slow;
    words.insert(words.end(), {"-o", path(file)});
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const auto rows = [&](const std::string& text) { return std::count(text.begin(), text.end(), '\n') - 1; };
  const pid_t child = start(with("b.h5", {}));
  for (int i = 0; i < 20000 && frames_on_disk(folder_ / "b.h5", 99) < 1; ++i) ::usleep(2000);
  ::usleep(200000);
  ::kill(child, SIGTERM);
  ASSERT_EQ(finish(child).code, 130) << "2·10⁹ iterations would not end by themselves";
  const std::string taken = timeless_steps(folder_ / "b.h5.parts" / "steps.csv");
  ASSERT_GT(rows(taken), 0);
  const pid_t second = start(with("b.h5", {"--resume"}));
  ::usleep(1000000);
  ::kill(second, SIGTERM);
  const Outcome resumed = finish(second);
  EXPECT_EQ(resumed.code, 130);
  EXPECT_NE(resumed.err.find(fmt::format("going on after step {} of", rows(taken))), std::string::npos)
      << resumed.err;
  EXPECT_TRUE(timeless_steps(folder_ / "b.h5.parts" / "steps.csv").starts_with(taken));
  ASSERT_EQ(run(with("same.h5", {"--steps", std::to_string(rows(taken))})).code, 0);
  EXPECT_TRUE(timeless_steps(folder_ / "same.steps.csv") == taken);
}

TEST_F(RecordTest, ARunCutShortSaysWhichFactsItDidNotReach) {
  const Outcome o = run({"record", "incline", "-o", path("i.h5"), "--steps", "5"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("not reached downhill min"), std::string::npos) << o.err;
  EXPECT_EQ(o.err.find("differs"), std::string::npos) << o.err;
  const Outcome checked = run({"info", path("i.h5"), "--facts"});
  EXPECT_EQ(checked.code, 0) << checked.out;
  EXPECT_NE(checked.out.find("not reached"), std::string::npos) << checked.out;
}

TEST_F(RecordTest, InfoShowsTheStatisticsOfTheSimulation) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const Outcome text = run({"info", path("b.h5")});
  EXPECT_NE(text.out.find("energy"), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("240"), std::string::npos) << text.out;
  const auto json = nlohmann::json::parse(run({"info", path("b.h5"), "--json"}).out);
  const auto& statistics = json[0]["statistics"];
  EXPECT_EQ(statistics["rows"], 240);
  EXPECT_EQ(statistics["columns"]["step"]["last"], 240.0);
  EXPECT_EQ(statistics["columns"]["kinetic_energy"]["unit"], "J");
  EXPECT_GT(statistics["columns"]["contacts"]["most"], 0.0);
}

TEST_F(RecordTest, InfoNamesWhatSolversMayStartFrom) {
  ASSERT_EQ(run(command("b.h5")).code, 0);
  const std::string line =
      "b.h5: starts: impulses [N s], velocities [m/s], contact states, friction bounds [N s]\n";
  const std::vector<std::string> wide{"COLUMNS=100"};
  const Outcome with = run({"info", path("b.h5")}, wide);
  EXPECT_NE(with.out.find(line), std::string::npos) << with.out;
  EXPECT_NE(run({"info", path("b.h5"), "--steps"}, wide).out.find(line), std::string::npos);
  const Outcome without = run({"info", planted("p.hdf5")});
  EXPECT_EQ(without.out.find("starts"), std::string::npos) << without.out;
}

TEST_F(RecordTest, CheckPrintsTheWholeSceneAndRecordsNothing) {
  const Outcome o = run({"record", "rings", "--check", "--set", "contact.friction=0.25"});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err, "");
  EXPECT_NE(o.out.find("friction = 0.25  # Coulomb's mu"), std::string::npos) << o.out;
  // What it prints is a scene itself, with the same meaning.
  std::ofstream(folder_ / "printed.toml") << o.out;
  const Outcome again = run({"record", path("printed.toml"), "--check"});
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out.substr(again.out.find('\n')), o.out.substr(o.out.find('\n')));
  expect_error({"record", "rings", "--check", "--set", "bodies.rings.pitch_m=[0.05, 0.05, 0.05]"}, 2,
               "bodies overlap");
  expect_error({"record", "rings"}, 2, "-o FILE.h5 is missing");
}

TEST_F(RecordTest, AMistakeInTheSceneLeavesNothingBehind) {
  expect_error(command("b.h5", {"--set", "bodies.balls.layer_height_m=0.05"}), 2, "bodies overlap: 'balls[");
  for (const char* name : {"b.h5", "b.h5.parts", "b.h5.lock", "b.steps.csv", "b.env.json"})
    EXPECT_FALSE(fs::exists(folder_ / name)) << name;
}

TEST_F(RecordTest, TerminationKeepsThePartsAndSaysHowToGoOn) {
  const pid_t child = start({"record", "bucket", "-o", path("b.h5"), "--set", "time.record_every=5"});
  const auto parts = [this] {
    std::error_code error;
    return std::distance(fs::directory_iterator(folder_ / "b.h5.parts", error), {});
  };
  for (int i = 0; i < 4000 && parts() < 3; ++i) ::usleep(5000);
  ::kill(child, SIGTERM);
  const Outcome o = finish(child);
  EXPECT_EQ(o.code, 130) << o.err;
  EXPECT_NE(o.err.find("--resume"), std::string::npos) << o.err;
  EXPECT_TRUE(fs::exists(folder_ / "b.h5.parts"));
  EXPECT_FALSE(fs::exists(folder_ / "b.h5"));
}

/// One ball on the floor, three snapshots, of a friction that tells one recording from another.
std::vector<std::string> short_scene(const std::string& file, const std::string& friction) {
  return {"record",
          "bucket",
          "-o",
          file,
          "--steps",
          "6",
          "--checkpoint-seconds",
          "0",
          "--set",
          "time.record_every=2",
          "--set",
          "bodies.balls.level=1",
          "--set",
          "bodies.balls.count=1",
          "--set",
          "bodies.balls.position_m=[0.0, 0.0, 0.0405]",
          "--set",
          "bodies.balls.jitter_m=0",
          "--set",
          "contact.tolerance_m=2e-3",
          "--set",
          "contact.friction=" + friction};
}
std::vector<std::string> with(std::vector<std::string> words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST_F(InterruptedRecordTest, ForceBesideARunningRecordingTouchesNothing) {
  ASSERT_EQ(run(command("whole.h5")).code, 0);
  const pid_t child = start(command("b.h5"));
  ASSERT_TRUE(wait_until([&] { return frames_on_disk(folder_ / "b.h5", 99) >= 1; }));
  for (const char* how : {"--force", "--resume"}) {
    const Outcome second = run(command("b.h5", {how}));
    EXPECT_EQ(second.code, 3) << second.err;
    EXPECT_NE(second.err.find(fmt::format("b.h5: is being recorded by process {} on ", child)),
              std::string::npos)
        << second.err;
  }
  const Outcome first = finish(child);
  ASSERT_EQ(first.code, 0) << first.err;
  EXPECT_TRUE(file_text(folder_ / "b.h5") == file_text(folder_ / "whole.h5"));
}

void RecordTest::replace_killed_at_every(int stride) const {
  ASSERT_EQ(run(short_scene(path("old.h5"), "0.3")).code, 0);
  ASSERT_EQ(run(short_scene(path("new.h5"), "0.6")).code, 0);
  const std::string before = file_text(folder_ / "old.h5"), after = file_text(folder_ / "new.h5");
  ASSERT_NE(before, after);
  const std::vector<std::string> names{"h5", "steps.csv", "env.json"};
  int kept = 0, replaced = 0;
  for (int at = 1;; at += stride) {
    SCOPED_TRACE(fmt::format("killed at write call {}", at));
    fs::remove_all(folder_ / "b.h5.parts");
    for (const std::string& name : names)
      fs::copy_file(folder_ / ("old." + name), folder_ / ("b." + name), fs::copy_options::overwrite_existing);
    const Outcome o = run(with(short_scene(path("b.h5"), "0.6"), {"--force"}), killed_at(at));
    if (o.code == 0) break;
    ASSERT_EQ(o.code, 137) << o.err;
    const std::string there = file_text(folder_ / "b.h5");
    ASSERT_TRUE(there == before || there == after);
    ++(there == before ? kept : replaced);
    if (there == before) {  // what lies beside the old one is its own still
      for (const std::string& name : names)
        EXPECT_EQ(file_text(folder_ / ("b." + name)), file_text(folder_ / ("old." + name))) << name;
    }
    // looking at it does not mix the two
    const Outcome info = run({"info", path("b.h5")});
    EXPECT_EQ(info.code, 0) << info.err;
    EXPECT_TRUE(file_text(folder_ / "b.h5") == there);
    const bool begun = fs::exists(folder_ / "b.h5.parts" / "replaces");
    if (there == before && !begun) continue;
    if (at % 3 == 0 && begun) {
      const Outcome unasked = run(short_scene(path("b.h5"), "0.6"));
      EXPECT_EQ(unasked.code, 2);
      for (const char* word : {"--resume goes on", "--force"})
        EXPECT_NE(unasked.err.find(word), std::string::npos) << unasked.err;
    }
    const Outcome resumed = run(with(short_scene(path("b.h5"), "0.6"), {"--resume"}));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    ASSERT_TRUE(file_text(folder_ / "b.h5") == after);
    EXPECT_EQ(timeless_steps(folder_ / "b.steps.csv"), timeless_steps(folder_ / "new.steps.csv"));
    EXPECT_NE(file_text(folder_ / "b.env.json").find("b.h5"), std::string::npos);
    EXPECT_FALSE(fs::exists(folder_ / "b.h5.parts"));
    if (HasFailure()) break;
  }
  EXPECT_GT(kept, 20 / stride);
  EXPECT_GE(replaced, stride > 2 ? 0 : 1)
      << "between the new recording in its place and the end are few writes";
}

TEST_F(RecordTest, AReplacedRecordingStaysUntilTheNewOneIsComplete) { replace_killed_at_every(7); }
TEST_F(RecordTest, SlowAReplacedRecordingStaysAtAnyWrite) { replace_killed_at_every(1); }

TEST_F(RecordTest, AFullDiskLeavesTheRecordingThatWasToBeReplaced) {
  ASSERT_EQ(run(short_scene(path("b.h5"), "0.3")).code, 0);
  ASSERT_EQ(run(short_scene(path("new.h5"), "0.6")).code, 0);
  const std::string before = file_text(folder_ / "b.h5"), steps = file_text(folder_ / "b.steps.csv");
  // Room for every frame, none for the packed file (blocks of 512 bytes): a write that is too long fails.
  const std::uintmax_t blocks = fs::file_size(folder_ / "new.h5") / 512 - 1;
  std::string command = fmt::format("trap '' XFSZ; ulimit -f {}; exec '{}'", blocks, SIGNORINI_PROGRAM);
  for (const std::string& word : with(short_scene(path("b.h5"), "0.6"), {"--force"}))
    command += " '" + word + "'";
  ASSERT_EQ(::setenv("SIGNORINI_CONFIGS", fmt::format("{}/configs", SIGNORINI_SOURCE_DIR).c_str(), 1), 0);
  const int status = std::system(fmt::format("({}) 2>'{}'", command, path("said")).c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3) << file_text(folder_ / "said");
  EXPECT_TRUE(file_text(folder_ / "b.h5") == before);
  EXPECT_EQ(file_text(folder_ / "b.steps.csv"), steps);
  EXPECT_FALSE(fs::exists(folder_ / "b.h5.tmp"));
  EXPECT_FALSE(fs::exists(folder_ / "b.h5.lock"));
  // with room again it goes on and ends
  EXPECT_EQ(run(with(short_scene(path("b.h5"), "0.6"), {"--resume"})).code, 0);
  EXPECT_TRUE(file_text(folder_ / "b.h5") == file_text(folder_ / "new.h5"));
}

TEST_F(RecordTest, OutputsAreNoInputsNoDevicesAndNobodyElsesFiles) {
  fs::copy_file(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "scenes" / "incline.toml", folder_ / "my.toml");
  const std::string scene = file_text(folder_ / "my.toml");
  expect_error({"record", path("my.toml"), "-o", path("my.toml"), "--force"}, 2,
               "is an input of this command");
  EXPECT_EQ(file_text(folder_ / "my.toml"), scene);
  expect_error({"record", "incline", "-o", "/dev/null", "--force"}, 2, "/dev/null: is a device");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  // two recordings must not share what lies beside them
  std::ofstream(folder_ / "a.steps.csv") << "mine";
  for (const char* how : {"--resume", "--steps=5"})
    expect_error({"record", "incline", "-o", path("a.h5"), how}, 2, "a.steps.csv: exists already");
  EXPECT_EQ(file_text(folder_ / "a.steps.csv"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "a.h5.lock"));
  expect_error({"record", "incline", "-o", "/proc/a.h5"}, 3, "/proc/a.h5");
}

TEST_F(RecordTest, FramesThatSomebodyRemovesAreAnError) {
  const pid_t child =
      start({"record", "bucket", "-o", path("b.h5"), "--steps", "600", "--set", "time.record_every=20"});
  ASSERT_TRUE(wait_until([&] { return frames_on_disk(folder_ / "b.h5", 99) >= 1; }));
  std::string gone;
  for (const auto& entry : fs::directory_iterator(folder_ / "b.h5.parts")) {
    if (entry.path().extension() == ".h5" && gone.empty()) gone = entry.path().stem().string();
  }
  fs::remove(folder_ / "b.h5.parts" / (gone + ".h5"));
  const Outcome o = finish(child);
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_NE(o.err.find(fmt::format("(the first is {})", gone)), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(folder_ / "b.h5"));
}

TEST_F(RecordTest, ARecordingWithoutSnapshotsSaysWhy) {
  const Outcome fall = run({"record", "bucket", "-o", path("a.h5"), "--steps", "5"});
  EXPECT_EQ(fall.code, 0) << fall.err;
  const std::string start = "no snapshots: no contact within the 5 steps; nearest at the end are '";
  const std::size_t at = fall.err.find(start);
  ASSERT_NE(at, std::string::npos) << fall.err;
  const std::size_t number = fall.err.find("', ", fall.err.find("' and '", at)) + 3;
  const double distance = std::atof(fall.err.c_str() + number);
  EXPECT_GT(distance, 0.0) << fall.err;
  EXPECT_LT(distance, 1.0) << fall.err;
  EXPECT_EQ(run({"info", path("a.h5")}).code, 0);

  const Outcome skipped = run(with(short_scene(path("b.h5"), "0.3"), {"--set", "time.record_from=100"}));
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_NE(skipped.err.find("6 of 6 steps had contacts, but none of them is recorded"), std::string::npos)
      << skipped.err;
}

/// The example of docs/scenes.md, run in an empty folder as it is printed there.
TEST_F(RecordTest, TheSceneOfTheDocumentationRecordsSnapshots) {
  const std::string page = file_text(fs::path(SIGNORINI_SOURCE_DIR) / "docs" / "scenes.md");
  const std::size_t begin = page.find("```sh\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string script = page.substr(begin + 6, page.find("\n```", begin + 6) - begin - 5);
  ASSERT_NE(script.find("signorini record bin.toml -o bin.h5"), std::string::npos) << script;
  fs::create_directory(folder_ / "path");
  fs::create_symlink(SIGNORINI_PROGRAM, folder_ / "path" / "signorini");
  std::ofstream(folder_ / "example.sh") << script;
  const std::string command =
      fmt::format("cd '{0}' && PATH='{0}/path':\"$PATH\" sh -e example.sh >said 2>&1", folder_.string());
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0) << file_text(folder_ / "said");
  const RecordingReader reader(folder_ / "bin.h5");
  EXPECT_GE(reader.frames().size(), 5U);
  EXPECT_GE(reader.read(reader.frames().back()).problem.contacts(), 10);
}

}  // namespace
}  // namespace signorini::record_test
