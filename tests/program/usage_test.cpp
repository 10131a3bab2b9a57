#include <fmt/ranges.h>

#include <pty.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/text.h"
#include "program/program_fixture.h"
#include "scene/shapes/registry.h"

namespace signorini::usage_test {
namespace {

class UsageTest : public ProgramTest {
 protected:
  /// What the program says to a terminal so wide, without colours.
  static std::string at_terminal(const std::vector<std::string>& arguments, unsigned short columns) {
    const winsize size{24, columns, 0, 0};
    int terminal = -1;
    const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (child == 0) {
      ::setenv("NO_COLOR", "1", 1);
      std::vector<std::string> words{SIGNORINI_PROGRAM};
      words.insert(words.end(), arguments.begin(), arguments.end());
      std::vector<char*> argv;
      for (std::string& word : words) argv.push_back(word.data());
      argv.push_back(nullptr);
      ::execv(SIGNORINI_PROGRAM, argv.data());
      ::_exit(127);
    }
    EXPECT_GT(child, 0);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t n = 0; (n = ::read(terminal, buffer.data(), buffer.size())) > 0;)
      text.append(buffer.data(), n);
    ::close(terminal);
    ::waitpid(child, nullptr, 0);
    std::erase(text, '\r');  // a terminal ends lines with both
    return text;
  }
};

const std::array<const char*, 14> kCommands{"list",  "record", "info",       "solve",     "compare",
                                            "run",   "replay", "export",     "reproduce", "plan",
                                            "merge", "status", "completion", "man"};

TEST_F(UsageTest, AWrongChoiceInTheEnvironmentIsRefusedBeforeAnythingIsBegun) {
  for (const auto& [variable, wrong, known] :
       {std::array{"SIGNORINI_ISA", "sse9", "portable"}, {"SIGNORINI_FACTOR", "mumps", "eigen"}}) {
    const Outcome o = finish(start({"record", "table", "--size", "quick", "-o", path("t.h5")},
                                   {fmt::format("{}={}", variable, wrong)}));
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.err.find(fmt::format("environment variable {}", variable)), std::string::npos) << o.err;
    EXPECT_NE(o.err.find(known), std::string::npos) << "the known ones: " << o.err;
    EXPECT_FALSE(fs::exists(path("t.h5")));
  }
}

TEST_F(UsageTest, HelpOfEveryCommandTeachesWithExamples) {
  for (const char* command : kCommands) {
    const Outcome o = run({command, "--help"});
    EXPECT_EQ(o.code, 0) << command;
    EXPECT_NE(o.out.find("Examples:\n  signorini " + std::string(command)), std::string::npos) << o.out;
    EXPECT_TRUE(o.err.empty()) << o.err;
  }
  const Outcome all = run({"--help"});
  EXPECT_EQ(all.code, 0);
  for (const char* command : kCommands)
    EXPECT_NE(all.out.find(fmt::format("\n  {} ", command)), std::string::npos) << command;
}

TEST_F(UsageTest, ThePageOfTheCommandLineHasEveryHelpText) {
  if (run({"--json", "--version"}).out.find(R"("CLI11": "2.1.2")") == std::string::npos)
    GTEST_SKIP() << "the page was written with CLI11 2.1.2; other versions lay help out in other ways";
  const std::string page = file_text(fs::path(SIGNORINI_SOURCE_DIR) / "docs/command-line.md");
  EXPECT_NE(page.find("```text\n" + run({"--help"}).out + "```\n"), std::string::npos)
      << "run scripts/command_line_page";
  for (const char* command : kCommands) {
    EXPECT_NE(page.find("```text\n" + run({command, "--help"}).out + "```\n"), std::string::npos)
        << command << ": run scripts/command_line_page";
    EXPECT_NE(page.find(fmt::format("| `{}", command)), std::string::npos)
        << command << ": no row about JSON";
  }
}

TEST_F(UsageTest, HelpTellsTheExitCodesAndTheJsonOfEveryCommand) {
  for (const char* command : kCommands) {
    const std::string text = run({command, "--help"}).out;
    for (const char* part : {"Exit codes: 0", "With --json: ", "--json ", "--configs DIR"})
      EXPECT_NE(text.find(part), std::string::npos) << command << ": " << part;
  }
}

TEST_F(UsageTest, NoLineOfHelpIsWiderThanAPage) {
  for (const char* command : kCommands) {
    std::istringstream lines(run({command, "--help"}).out);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(line.size(), 102U) << command << ": " << line;
  }
}

TEST_F(UsageTest, VersionTellsHowTheProgramWasBuilt) {
  const Outcome text = run({"--version"});
  EXPECT_EQ(text.code, 0);
  for (const char* word : {"signorini ", "git", "compiler", "flags", "oneTBB"}) {
    EXPECT_NE(text.out.find(word), std::string::npos) << text.out;
  }
  const Outcome json = run({"--version", "--json"});
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(json.out.front(), '{');
  EXPECT_NE(json.out.find("\"libraries\""), std::string::npos);
}

TEST_F(UsageTest, ListNamesSolversScenesExperimentsAndMeasures) {
  const Outcome solvers = run({"list", "solvers"});
  for (const char* name : {"pgs", "pcg", "pcg-pgs", "ca", "reference", "Lazarevych 2010", "warm_start"}) {
    EXPECT_NE(solvers.out.find(name), std::string::npos) << name;
  }
  EXPECT_NE(run({"list", "scenes"}).out.find("bucket"), std::string::npos);
  EXPECT_NE(run({"list", "experiments"}).out.find("signorini_all"), std::string::npos);
  EXPECT_NE(run({"list", "measures"}).out.find("residual"), std::string::npos);
  EXPECT_EQ(run({"list", "solvers", "--json"}).out.front(), '[');
  EXPECT_EQ(run({"list"}).code, 0);
}

TEST_F(UsageTest, ListNamesEveryShapeOfTheRegistry) {
  const Outcome all = run({"list"});
  const Outcome shapes = run({"list", "shapes"}, {"COLUMNS=1000"});
  ASSERT_EQ(shapes.code, 0) << shapes.err;
  const auto json = nlohmann::json::parse(run({"list", "shapes", "--json"}).out);
  ASSERT_EQ(json.size(), shape_registry().size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const ShapeEntry& entry = shape_registry()[i];
    EXPECT_EQ(json[i]["name"], entry.name);
    EXPECT_EQ(json[i]["body"], enum_name(entry.kind));
    EXPECT_EQ(json[i]["summary"], entry.summary);
    EXPECT_NE(shapes.out.find(entry.name), std::string::npos) << entry.name;
    EXPECT_NE(shapes.out.find(entry.summary), std::string::npos) << entry.name;
    EXPECT_NE(all.out.find(entry.name), std::string::npos) << entry.name;
  }
}

TEST_F(UsageTest, ScreensFitEightyColumnsUnlessToldOtherwise) {
  const std::string file = planted("net.hdf5", {.contacts = 12, .regions = 3});
  const std::vector<std::string> record{"record",  "rings", "--size", "quick",
                                        "--steps", "60",    "-o",     path("rings.h5")};
  const Outcome recorded = run(record, {"COLUMNS=80"});
  ASSERT_EQ(recorded.code, 0);
  const auto expect_to_fit = [this](const std::string& text, const std::vector<std::string>& screen,
                                    std::ptrdiff_t most = 80) {
    EXPECT_FALSE(text.empty()) << fmt::format("{}", fmt::join(screen, " "));
    for (const std::string& line : split(text, '\n')) {
      if (line.find(folder_.string()) != std::string::npos) continue;  // a path is not broken
      const auto columns = std::ranges::count_if(
          line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
      EXPECT_LE(columns, most) << fmt::format("{}: {}", fmt::join(screen, " "), line);
    }
  };
  expect_to_fit(recorded.err, record);
  std::vector<std::vector<std::string>> screens{
      {"--help"},
      {"--version"},
      {"record", "rings", "--check"},
      {"solve", file, path("rings.h5"), "--solver", "all", "--regions", "none,points", "--max-iterations",
       "3"},
      {"compare", file, "--solver", "pgs,cr-full", "-o", path("cmp"), "--no-report", "--repetitions", "1"},
      {"run", "signorini_split", "--solver", "pgs", "--size", "quick", "--out", path("out")},
      {"list"},
      {"info", file, path("rings.h5")},
      {"info", "--steps", path("rings.h5")},
      {"info", "--facts", path("rings.h5")},
      {"solve", file, "--solver", "pgs,newton", "--verbose"},
      {"solve", file, "--regions", "none,points", "--threads", "1,1000"}};
  for (const char* what : {"solvers", "scenes", "shapes", "experiments", "measures", "columns"})
    screens.push_back({"list", what});
  for (const char* command : kCommands) screens.push_back({command, "--help"});
  for (const auto& screen : screens) expect_to_fit(run(screen, {"COLUMNS=80"}).out, screen);
  // A table of which each text is wider than the screen.
  const std::vector<std::string> facts{"info", "--facts", path("rings.h5")};
  expect_to_fit(run(facts, {"COLUMNS=60"}).out, facts, 60);
  // What was cut is whole where there is room.
  const auto lines_at = [&](const char* columns) {
    return std::ranges::count(run({"info", path("rings.h5")}, {columns}).out, '\n');
  };
  EXPECT_EQ(lines_at("COLUMNS=300"), 7)
      << "two tables of a title and a line, a line about starts, two empty lines";
  EXPECT_GT(lines_at("COLUMNS=80"), 7);
}

TEST_F(UsageTest, MessagesAreBrokenBetweenWordsOnATerminalAndOneLineElsewhere) {
  int ends[2] = {-1, -1};
  if (::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) != 0)
    GTEST_SKIP() << "this system gives no pseudo-terminal (mount -t devpts devpts /dev/pts)";
  ::close(ends[0]);
  ::close(ends[1]);
  const std::vector<std::vector<std::string>> mistakes{{"list", "problems"},
                                                       {"nonsense"},
                                                       {"solve"},
                                                       {"info", "usage_test.cpp"},
                                                       {"record", "rings", "--size", "huge"}};
  for (const std::vector<std::string>& mistake : mistakes) {
    const std::string line = run(mistake).err;
    EXPECT_EQ(std::ranges::count(line, '\n'), 1) << line;
    std::string joined;
    for (const std::string& part : split(at_terminal(mistake, 80), '\n')) {
      EXPECT_LE(part.size(), 80U) << part;
      joined += (joined.empty() || part.empty() ? "" : " ") + std::string(trim(part));
    }
    EXPECT_EQ(joined + "\n", line);
  }
  EXPECT_GT(std::ranges::count(at_terminal({"list", "problems"}, 80), '\n'), 1);
  EXPECT_EQ(std::ranges::count(at_terminal({"list", "problems"}, 200), '\n'), 1);
}

TEST_F(UsageTest, NothingAskedShowsTheHelpAndIsAUsageError) {
  const Outcome o = run({});
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.err.find("Examples:"), std::string::npos);
}

TEST_F(UsageTest, MistakesOnTheCommandLineEndWithTwoAndOneLine) {
  const std::string file = planted("problem.hdf5");
  expect_error({"slove"}, 2, "did you mean 'solve'?");
  expect_error({"list", "solver"}, 2, "did you mean 'solvers'?");
  expect_error({"solve", "--solver", "pgs"}, 2, "FILE");
  expect_error({"solve", file, "--solver", "pg"}, 2, "did you mean 'pgs'?");
  expect_error({"solve", file, "--solver", "pgs,,ca"}, 2, "empty entry");
  expect_error({"solve", file, "--solver", "pgs", "--set", "pgs.omgea=1"}, 2, "omgea");
  expect_error({"solve", file, "--solver", "pgs", "--set", "pgs.law"}, 2, "SOLVER.option=value");
  expect_error({"solve", file, "--solver", "pgs", "--set", "ca.law=cone"}, 2, "not among those asked for");
  expect_error({"solve", file, "--solver", "pgs", "--set", "pgs.law=square"}, 2, "square");
  expect_error({"solve", file, "--solver", "pgs", "--regions", "point"}, 2, "point");
  expect_error({"solve", file, "--solver", "pgs", "--threads", "0"}, 2, "--threads");
  expect_error({"solve", file, "--solver", "pgs", "--threads", "two"}, 2, "two");
  expect_error({"solve", file, "--solver", "pgs", "--tolerance=-1e-6"}, 2, "--tolerance");
  expect_error({"solve", file, "--solver", "pgs", "--tolerance", "nan"}, 2, "--tolerance");
  expect_error({"solve", file, "--solver", "pgs", "--tolerance", "small"}, 2, "tolerance");
  expect_error({"solve", file, "--solver", "pgs", "--max-iterations", "0"}, 2, "--max-iterations");
  expect_error({"solve", file, "--solver", "pgs", "--repetitions", "0"}, 2, "--repetitions");
  expect_error({"solve", file, "--solver", "pgs", "--step", "7"}, 2, "no step '7'");
  expect_error({"solve", file, "--solver", "pgs", "--treads", "2"}, 2, "--treads");
  expect_error({"solve", file, "--solver", "pgs,ca", "--solution", path("s.hdf5")}, 2, "--solution");
  expect_error({"record", "buckt", "-o", path("x.h5")}, 2, "did you mean 'bucket'?");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--size", "huge"}, 2, "huge");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--set", "friction"}, 2, "key=value");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--set", "frictoin=1"}, 2, "frictoin");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--steps", "-5"}, 2, "--steps");
  expect_error({"record", "bucket", "-o", path("x.h5"), "--threads", "0"}, 2, "--threads");
  expect_error({"record", "bucket", "-o", path("")}, 2, "folder");
  expect_error({"run", "signorini_al"}, 2, "did you mean 'signorini_all'?");
  expect_error({"reproduce", "signorini_al"}, 2, "did you mean 'signorini_all'?");
  expect_error({"export", file, "--step", "3", "-o", path("e.hdf5")}, 2, "3");
  expect_error({"--configs", path("nowhere"), "list", "scenes"}, 2, "nowhere");
}

TEST_F(UsageTest, BadFilesEndWithThreeAndOneLine) {
  const std::string good = planted("good.hdf5", {.contacts = 6});
  const std::string bytes = file_text(good);
  std::ofstream(folder_ / "truncated.hdf5", std::ios::binary) << bytes.substr(0, bytes.size() / 2);
  std::ofstream(folder_ / "text.hdf5") << "this is no HDF5\n";
  std::ofstream(folder_ / "empty.hdf5").flush();
  fs::create_directory(folder_ / "folder.hdf5");
  for (const char* name : {"absent.hdf5", "truncated.hdf5", "text.hdf5", "empty.hdf5", "folder.hdf5"}) {
    expect_error({"solve", path(name), "--solver", "pgs"}, 3, name);
    expect_error({"info", path(name)}, 3, name);
    expect_error({"export", path(name), "-o", path("e.hdf5")}, 3, name);
  }
  std::ofstream(folder_ / "broken.toml") << "artefact = = 1\n";
  expect_error({"run", path("broken.toml"), "--out", path("out")}, 3, "broken.toml:1");
  expect_error({"run", path("absent.toml"), "--out", path("out")}, 3, "absent.toml");
  expect_error({"record", path("absent.toml"), "-o", path("x.h5")}, 3, "absent.toml");
  expect_error({"record", "bucket", "-o", path("absent/x.h5")}, 3, "absent");
  expect_error({"solve", good, "--solver", "pgs", "--csv", path("absent/x.csv")}, 3, "x.csv");
  expect_error({"solve", good, "--solver", "pgs", "--csv", path("folder.hdf5")}, 2, "is a folder");
}

/// Replaces the one place in a file where `before` stands, byte for byte.
void patch(const fs::path& path, double before, double after) {
  std::string bytes = file_text(path);
  const std::string pattern(reinterpret_cast<const char*>(&before), sizeof before);
  const std::size_t at = bytes.find(pattern);
  ASSERT_NE(at, std::string::npos);
  ASSERT_EQ(bytes.find(pattern, at + 1), std::string::npos) << "the number is not unique in the file";
  bytes.replace(at, sizeof after, reinterpret_cast<const char*>(&after), sizeof after);
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(UsageTest, NegativeFrictionOrMassAndNonFiniteNumbersNameTheObject) {
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 4}).problem;
  file.problem.mu[2] = 0.71234;
  file.problem.f[1] = 3.14159;
  file.problem.M.coeffRef(4, 4) = 2.71828;
  for (const char* name : {"mu.hdf5", "nan.hdf5", "mass.hdf5"}) write_fclib(folder_ / name, file);
  patch(folder_ / "mu.hdf5", 0.71234, -0.25);
  patch(folder_ / "nan.hdf5", 3.14159, std::numeric_limits<double>::quiet_NaN());
  patch(folder_ / "mass.hdf5", 2.71828, -2.0);
  expect_error({"solve", path("mu.hdf5"), "--solver", "pgs"}, 3, "mu[2] = -0.25");
  expect_error({"solve", path("nan.hdf5"), "--solver", "pgs"}, 3, "f[1]");
  expect_error({"solve", path("mass.hdf5"), "--solver", "pgs"}, 3, "M");
}

TEST_F(UsageTest, OutputWithoutATerminalHasNoEscapeCodes) {
  const std::string file = planted("problem.hdf5");
  const Outcome o = run({"solve", file, "--solver", "pgs"});
  EXPECT_EQ(o.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(o.err.find('\x1b'), std::string::npos);
  EXPECT_EQ(o.err.find('\r'), std::string::npos);
}

TEST_F(UsageTest, TalkThatCannotBeWrittenChangesNothing) {
  const std::string command =
      fmt::format("'{}' solve '{}' --solver pgs 2>/dev/full", SIGNORINI_PROGRAM, path("absent.h5"));
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

}  // namespace
}  // namespace signorini::usage_test
