// What is too large, no file, or full of control characters ends in one clear line.

#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>

#include "program/program_fixture.h"

namespace signorini::limits_test {
namespace {

class LimitsTest : public ProgramTest {
 protected:
  /// A block of so many cells along each edge.
  std::string scene(int cells) const {
    std::ofstream(folder_ / "block.toml")
        << "[time]\nintegrator = \"implicit\"\nstep_s = 4e-3\nduration_s = 0.04\n[materials.soft]\n"
           "young_modulus_pa = 2e5\ndensity_kg_m3 = 1000.0\n[obstacles.floor]\nshape = "
           "\"ground\"\n[bodies.block]\n"
           "shape = \"block\"\nmaterial = \"soft\"\nposition_m = [0.0, 0.0, 0.2]\ncells = "
        << fmt::format("[{0}, {0}, {0}]\n", cells);
    return path("block.toml");
  }
};

/// Limits of this process, which those that it starts inherit.
class AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    ::getrlimit(RLIMIT_AS, &before_);
    rlimit now = before_;
    now.rlim_cur = bytes;
    ::setrlimit(RLIMIT_AS, &now);
  }
  ~AddressSpace() { ::setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

TEST_F(LimitsTest, ConfigurationsAreRegularFiles) {
  ASSERT_EQ(::mkfifo(path("pipe.toml").c_str(), 0600), 0);
  fs::create_directories(folder_ / "folder.toml");
  expect_error({"record", path("pipe.toml"), "--check"}, 3, "pipe.toml: is a pipe, no scene file");
  expect_error({"run", path("pipe.toml"), "--out", path("out")}, 3,
               "pipe.toml: is a pipe, no experiment file");
  expect_error({"record", path("folder.toml"), "--check"}, 3, "folder.toml: is a folder, no scene file");
  expect_error({"record", "/dev/zero", "--check"}, 3,
               "/dev/zero: is a device, no scene file; name a regular file");
  expect_error({"run", "/dev/zero", "--out", path("out")}, 3, "/dev/zero: is a device, no experiment file");
}

TEST_F(LimitsTest, ConfigurationsAreBoundedInSize) {
  std::ofstream(folder_ / "large.toml") << std::string(17U << 20U, '#');
  expect_error({"record", path("large.toml"), "--check"}, 3,
               "large.toml: has 17825792 bytes, scene files may have 16777216");
}

TEST_F(LimitsTest, ScenesAboveTheMemoryAreRefusedBeforeTheyAreBuilt) {
  const std::string block = scene(2);
  const auto refused = [&](const std::string& setting, const std::string& part) {
    expect_error({"record", block, "--check", "--set", setting}, 2, part);
  };
  refused("bodies.block.cells=[100000, 100000, 100000]",
          "[bodies.block]: a body of 1e+15 vertices needs at least 2.0e+09 GB; ");
  refused("bodies.block.cells=[100000, 100000, 100000]", "lower 'bodies.block.cells'");
  refused("bodies.block.count=100000000", "'bodies.block.count' = 100000000 is above 1000000");
  refused("bodies.block.refinements=1e9", "'bodies.block.refinements' = 1000000000 is above 3");
  const AddressSpace little(rlim_t{2} << 30U);
  refused("bodies.block.count=1000000", "of memory may be used here: lower 'bodies.block.count' or ");
}

TEST_F(LimitsTest, AWThatDoesNotFitIsRefusedBeforeItIsFormed) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than there is here";
#endif
  // contacts of one mass point: every two of them are coupled
  constexpr Index kContacts = 4000;
  FclibFile file;
  ContactProblem& p = file.problem;
  p.M = Matrix(Matrix::Identity(3, 3)).sparseView();
  p.H = Matrix(Matrix::Identity(3, 3).replicate<1, kContacts>()).sparseView();
  p.M.makeCompressed();
  p.H.makeCompressed();
  p.f = Vector::Ones(3);
  p.w = Vector::Zero(3 * kContacts);
  p.mu = Vector::Ones(kContacts);
  write_fclib(path("heap.hdf5"), file);
  const AddressSpace little(rlim_t{4} << 30U);
  expect_error({"export", path("heap.hdf5"), "--local", "-o", path("W.hdf5")}, 2,
               "heap.hdf5: step 0: W has 16000000 blocks of 3x3 and needs 7200000000 bytes to be formed and "
               "written, but 4294967296 bytes of memory may be used here; export without --local");
  EXPECT_FALSE(fs::exists(path("W.hdf5")));
}

TEST_F(LimitsTest, ASignalEndsTheSetUpOfAScene) {
  const std::string block = scene(60);
  for (const bool check : {true, false}) {
    const pid_t child =
        check ? start({"record", block, "--check"}) : start({"record", block, "-o", path("b.h5")});
    ::usleep(700'000);  // reading the scene takes milliseconds, building it seconds
    ::kill(child, SIGTERM);
    const auto asked = std::chrono::steady_clock::now();
    const Outcome o = finish(child);
    EXPECT_EQ(o.code, 130) << o.err;
    EXPECT_NE(o.err.find("interrupted"), std::string::npos) << o.err;
    EXPECT_LT(std::chrono::steady_clock::now() - asked,
              std::chrono::seconds(20));  // a busy machine; 1 s on a quiet one
    EXPECT_FALSE(fs::exists(folder_ / "b.h5"));
  }
}

TEST_F(LimitsTest, OutOfMemorySaysSo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer needs more address space than there is here";
#endif
  const std::string block = scene(45);  // its estimate, 195 MB, is below the limit; what it takes is above
  const AddressSpace little(rlim_t{300'000} << 10U);
  const Outcome o = run({"record", block, "-o", path("b.h5")});
  EXPECT_EQ(o.code, 5) << o.err;
  EXPECT_NE(o.err.find("signorini: error: out of memory while setting up the scene block"), std::string::npos)
      << o.err;
}

TEST_F(LimitsTest, ControlCharactersReachNoTerminal) {
  const std::string name = path("evil\x1b[2J\nname.toml");
  for (const std::vector<std::string>& words : {std::vector<std::string>{"record", name, "--check"},
                                                {"info", name},
                                                {"solve", name},
                                                {"run", name},
                                                {"\x1b[2J\n"}}) {
    const Outcome o = run(words);
    EXPECT_GT(o.code, 0);
    EXPECT_EQ(o.err.find('\x1b'), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
    EXPECT_NE(o.err.find("\\x1b[2J\\n"), std::string::npos) << o.err;
  }
  std::ofstream(folder_ / "key.toml") << "\"bo\\u001b[31mdies\" = 1\n";
  expect_error({"record", path("key.toml"), "--check"}, 2, "bo\\x1b[31mdies");
}

TEST_F(LimitsTest, ControlCharactersInNamesOfFilesReachNoTable) {
  const std::string problem = planted("good.hdf5");
  fs::rename(problem, folder_ / "go\x1b[2J\nod.hdf5");
  for (const char* command : {"info", "solve"}) {
    const Outcome o = run({command, path("go\x1b[2J\nod.hdf5")});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_NE(o.out.find("go\\x1b[2J\\nod.hdf5"), std::string::npos) << o.out;
    EXPECT_EQ((o.out + o.err).find('\x1b'), std::string::npos) << o.out << o.err;
  }
  const Outcome json = run({"--json", "info", path("go\x1b[2J\nod.hdf5")});
  EXPECT_NE(json.out.find("go\\u001b[2J\\nod.hdf5"), std::string::npos) << json.out;
}

TEST_F(LimitsTest, LongValuesAreCut) {
  const std::string value(3000, 'x');
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"record", "bucket", "--check", "--set", "contact.friction=" + value},
        {"record", "bucket", "--check", "--set", value + "=1"},
        {"solve", value},
        {value},
        {"list", "--" + value},
        {"record", "bucket", "--check", "--set", "solver.name=" + value}}) {
    const Outcome o = run(words);
    EXPECT_GT(o.code, 0);
    EXPECT_LT(o.err.size(), 700U) << o.err;
    EXPECT_NE(o.err.find("x…x"), std::string::npos) << o.err;
  }
}

}  // namespace
}  // namespace signorini::limits_test
