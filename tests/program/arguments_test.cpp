// Mistakes on the command line: one line that names option and value and says what to do.

#include "program/program_fixture.h"

namespace signorini::arguments_test {
namespace {

class ArgumentsTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    file_ = planted("problem.hdf5");
  }
  /// `solve FILE --solver pgs` and more.
  void expect_solve_error(std::vector<std::string> more, const std::string& part) const {
    more.insert(more.begin(), {"solve", file_, "--solver", "pgs"});
    expect_error(more, 2, part);
    const std::string text = run(more).err;
    for (const char* raw : {"Could not convert", "required but received", "was not expected", "1 required",
                            "is required", "filesystem error", "what()"})
      EXPECT_EQ(text.find(raw), std::string::npos) << text;
  }
  std::string file_;
};

TEST_F(ArgumentsTest, WrongNumbersNameOptionValueAndAnExample) {
  expect_solve_error({"--tolerance", "abc"}, "--tolerance abc: not a number, e.g. --tolerance 1e-6");
  expect_solve_error({"--tolerance", "1e-6x"}, "--tolerance 1e-6x: not a number");
  expect_solve_error({"--tolerance", "0x1"}, "--tolerance 0x1: not a number");
  expect_solve_error({"--tolerance", "-1e-6"}, "--tolerance -1e-6: must be above 0");
  expect_solve_error({"--tolerance=-1e-6"}, "--tolerance -1e-6: must be above 0");
  expect_solve_error({"--tolerance", "0"}, "--tolerance 0: must be above 0");
  expect_solve_error({"--tolerance", "nan"}, "--tolerance nan: must be finite");
  expect_solve_error({"--tolerance", "inf"}, "--tolerance inf: must be finite");
  expect_solve_error({"--tolerance", "1e999"}, "--tolerance 1e999: not a number");
  expect_solve_error({"--max-iterations", "1e4"}, "--max-iterations 1e4: not a whole number");
  expect_solve_error({"--max-iterations", "1.5"}, "--max-iterations 1.5: not a whole number");
  expect_solve_error({"--max-iterations", "many"}, "--max-iterations many: not a number");
  expect_solve_error({"--max-iterations", "0"}, "--max-iterations 0: must be at least 1");
  expect_solve_error({"--max-iterations", "99999999999"}, "must be at most 2147483647");
  expect_solve_error({"--max-iterations", "99999999999999999999999"}, "must be at most 2147483647");
  expect_solve_error({"--repetitions", "0x10"}, "--repetitions 0x10: not a number");
  expect_solve_error({"--time-limit", "-1"}, "--time-limit -1: must be above 0");
  expect_solve_error({"--threads", "0"}, "--threads 0: must be at least 1");
  expect_solve_error({"--threads", "1,two"}, "--threads two: not a number");
  expect_solve_error({"--threads", "1025"}, "--threads 1025: must be at most 1024");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--steps", "-5"}, 2,
               "--steps -5: must be at least 1");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--threads", "two"}, 2,
               "--threads two: not a number, e.g. --threads 2");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--checkpoint-seconds", "-1"}, 2,
               "--checkpoint-seconds -1: must be at least 0");
}

TEST_F(ArgumentsTest, UnknownOptionsGetTheNearestName) {
  expect_solve_error({"--treads", "2"}, "--treads: unknown option of 'solve' (did you mean '--threads'?)");
  expect_solve_error({"--treads=2"}, "--treads: unknown option of 'solve' (did you mean '--threads'?)");
  expect_solve_error({"--tol", "1e-3"}, "did you mean '--tolerance'?");
  expect_solve_error({"-threads", "2"}, "did you mean '--threads'?");
  expect_solve_error({"--jsn"}, "did you mean '--json'?");
  expect_solve_error({"--xyzzy"}, "--xyzzy: unknown option of 'solve' (see 'signorini solve --help')");
  expect_error({"solve", file_, "--slover", "pgs"}, 2, "did you mean '--solver'?");
  expect_error({"--solver", "pgs", "solve", file_}, 2, "--solver: stands before the command");
  expect_error({"--versoin"}, 2, "did you mean '--version'?");
  for (const char* command : {"list", "record", "info", "run", "export", "reproduce"})
    expect_error({command, "--jsno"}, 2,
                 fmt::format("--jsno: unknown option of '{}' (did you mean", command));
}

TEST_F(ArgumentsTest, MissingEmptyAndRepeatedValuesAreTold) {
  expect_solve_error({"--tolerance"}, "--tolerance: the value is missing");
  expect_solve_error({"--tolerance", "--verbose"}, "--tolerance: the value is missing before --verbose");
  expect_solve_error({"--csv", "--trace", path("t.h5")}, "--csv: the value is missing before --trace");
  expect_solve_error({"--csv="}, "--csv: the value is missing");
  expect_solve_error({"--csv", ""}, "--csv: the value is empty");
  expect_solve_error({"--tolerance", ""}, "--tolerance: the value is empty");
  expect_solve_error({"--tolerance", "1e-3", "--tolerance", "1e-4"},
                     "--tolerance: given 2 times (1e-3, 1e-4); give it once");
  expect_solve_error({"--require-converged=maybe"}, "--require-converged: takes no value");
  expect_error({"solve", "--solver", "pgs"}, 2, "solve: FILE is missing");
  expect_error({"info", ""}, 2, "FILE: the value is empty");
  expect_error({"record", "-o", path("x.h5")}, 2, "record: SCENE is missing");
  expect_error({"export", file_, "one", "two"}, 2, "export: unexpected argument '");
  expect_error({"list", "solvers", "scenes"}, 2, "list: unexpected argument 'scenes'");
}

TEST_F(ArgumentsTest, RepeatedSetOfOneKeyNamesBothValues) {
  expect_solve_error({"--set", "pgs.law=cone", "--set", "pgs.law=pyramid"},
                     "--set: pgs.law is given twice (cone, pyramid); give it once");
  expect_solve_error({"--set", "pgs.law=cone", "--set", "pgs.law=cone"},
                     "pgs.law is given twice (cone, cone)");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--set", "contact.friction=0.3", "--set",
                "contact.friction=0.4"},
               2, "--set: contact.friction is given twice (0.3, 0.4); give it once");
}

TEST_F(ArgumentsTest, ExportTakesOneOfItsTwoOutputs) {
  expect_error({"export", file_}, 2, "export: no output is named; give -o FILE.hdf5");
  expect_error({"export", file_, "-o", path("e.hdf5"), "--vtk", path("vtk")}, 2,
               "export: takes -o or --vtk, not both");
  EXPECT_EQ(run({"export", file_, "-o", path("e.hdf5")}).code, 0);
}

TEST_F(ArgumentsTest, FilesThatCannotBeUsedAreToldInOneLine) {
  fs::create_directory(folder_ / "folder.toml");
  std::ofstream(folder_ / "empty.toml").flush();
  std::ofstream(folder_ / "binary.toml", std::ios::binary) << std::string("\x89HDF\r\n\x1a\n\0\xff", 10);
  std::ofstream(folder_ / "plain") << "";
  expect_error({"run", path("folder.toml"), "--out", path("out")}, 3, "folder.toml");
  expect_error({"run", path("empty.toml"), "--out", path("out")}, 2, "empty.toml:1");
  expect_error({"run", path("binary.toml"), "--out", path("out")}, 3, "binary.toml:1");
  expect_error({"record", path("folder.toml"), "-o", path("x.h5")}, 3, "folder.toml");
  expect_error({"record", path("empty.toml"), "-o", path("x.h5")}, 2, "empty.toml");
  expect_error({"record", path("binary.toml"), "-o", path("x.h5")}, 3, "binary.toml:1");
  expect_error({"run", "signorini_all", "--out", path("plain")}, 3, "plain");
  expect_error({"run", "signorini_all", "--out", "/proc/signorini"}, 3, "/proc/signorini");
  expect_error({"run", "signorini_all", "--size", "huge"}, 2,
               "--size: unknown value 'huge' (known: quick, medium, paper)");
  expect_error({"run", "signorini_all", "--size", "quik"}, 2,
               "unknown value 'quik' (known: quick, medium, paper)");
  expect_error({"reproduce", "all", "--size", "quik"}, 2,
               "unknown value 'quik' (known: quick, medium, paper)");
  expect_error({"solve", file_, "--solver", "pgs", "--step", "x"}, 2, "--step x: ");
  expect_error({"export", file_, "--step", "x", "-o", path("e.hdf5")}, 2, "--step x: ");
  expect_error({"solve", path("folder.toml"), "--solver", "pgs"}, 3, "folder.toml");
}

}  // namespace
}  // namespace signorini::arguments_test
