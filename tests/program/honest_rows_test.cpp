// Rows that could say more than was done: threads that there are not, regions that are coupled, an M of which the file
// holds one triangle.
#include <sched.h>

#include <map>

#include "base/available_cpus.h"
#include "contact/coupled_regions.h"
#include "program/program_fixture.h"

namespace signorini::honest_rows_test {
namespace {

/// What `taskset -c CPU` does to the programs that are started meanwhile.
class OnOneCpu {
 public:
  OnOneCpu() {
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  }
  ~OnOneCpu() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCpu(const OnOneCpu&) = delete;
  OnOneCpu& operator=(const OnOneCpu&) = delete;

 private:
  cpu_set_t before_{};
};

class HonestRowsTest : public ProgramTest {
 protected:
  /// A global file with one triangle of a coupled M.
  std::string one_triangle(const std::string& name, StoredTriangle triangle) const {
    FclibFile file;
    file.problem = make_planted_problem({.contacts = 8, .stiffness = 5.0}).problem;
    SparseRows& M = file.problem.M;
    M = SparseRows(0.5 * (M + SparseRows(M.transpose())));  // to the last bit
    M.makeCompressed();
    file.problem.M_stored = triangle;
    file.info.title = name;
    write_fclib(folder_ / name, file);
    return path(name);
  }
};

TEST_F(HonestRowsTest, MoreThreadsThanCpusAreUnsupportedAndTheLibraryIsSilent) {
  const std::string a = planted("a.hdf5", {.contacts = 60, .regions = 12});
  const OnOneCpu pinned;
  const Outcome o = run({"solve", a, "--solver", "pgs,ica", "--regions", "none,points,points-inner",
                         "--threads", "1,2", "--csv", path("x.csv")});
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_EQ(o.err.find("TBB"), std::string::npos) << o.err;
  int refused = 0;
  for (const RunRecord& row : read_run_table(folder_ / "x.csv")) {
    if (row.threads == 1) continue;
    EXPECT_EQ(row.status, SolveStatus::unsupported) << run_record_row(row);
    EXPECT_EQ(row.message, "asks for 2 threads, this process may use 1 CPU (affinity)");
    ++refused;
  }
  EXPECT_EQ(refused, 6);
  EXPECT_NE(file_text(folder_ / "x.csv.env.json").find("\"available_cpus\": 1"), std::string::npos);
}

/// Arenas of one and of two threads at the same time: this is where oneTBB wrote its warning.
TEST_F(HonestRowsTest, AnExperimentHasUnsupportedRowsForThreadsThatThereAreNot) {
  planted("a.hdf5", {.contacts = 60, .regions = 12, .stiffness = 5.0});
  for (const char* threads : {"1, 2", "2, 1"}) {
    std::ofstream(folder_ / "trial.toml")
        << "artefact = \"x\"\nfiles = [\"a.hdf5\"]\nprotocols = [\"converge\", \"time\"]\n"
        << "regions = [\"islands\", \"points-inner\"]\nthreads = [" << threads
        << "]\nrepetitions = 2\nminimum_time = 1e-5\n[[solvers]]\nname = \"ica\"\n";
    const std::string out = path(threads);
    {
      const OnOneCpu pinned;
      const Outcome o = run({"run", path("trial.toml"), "--out", out});
      EXPECT_EQ(o.code, 0) << o.err;
      EXPECT_EQ(o.err.find("TBB"), std::string::npos) << o.err;
    }
    std::map<std::string, int> found;
    for (const RunRecord& row : read_run_table(fs::path(out) / "trial" / "runs.csv"))
      ++found[fmt::format("{} {} {}", row.protocol, row.threads, enum_name(row.status))];
    // of every region mode; the first number of threads that can run is traced
    std::map<std::string, int> wanted{{"converge 1 converged", 2},
                                      {"time 1 converged", 4},
                                      {"self-stopped 1 converged", 2},
                                      {"time 2 unsupported", 2},
                                      {"self-stopped 2 unsupported", 2}};
    if (threads[0] == '2') wanted["converge 2 unsupported"] = 2;
    EXPECT_EQ(found, wanted) << threads;
  }
}

TEST_F(HonestRowsTest, RecordingOnMoreThreadsThanCpusIsSilentToo) {
  const OnOneCpu pinned;
  const Outcome o =
      run({"record", "bucket", "-o", path("b.h5"), "--size", "quick", "--steps", "3", "--threads", "2"});
  EXPECT_EQ(o.err.find("TBB"), std::string::npos) << o.err;
}

TEST_F(HonestRowsTest, CoupledRegionsAreNotConverged) {
  FclibFile file;
  file.problem = zoo::coupled_regions();
  const std::string a = path("a.hdf5");
  write_fclib(a, file);
  const std::vector<std::string> command{
      "solve", a, "--solver", "pgs", "--regions", "points-approx,islands", "--csv", path("x.csv")};
  const Outcome o = run(command);
  EXPECT_EQ(o.code, 0);
  EXPECT_NE(o.out.find("regions are coupled: residual"), std::string::npos) << o.out;
  const std::vector<RunRecord> rows = read_run_table(folder_ / "x.csv");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].status, SolveStatus::stalled);
  EXPECT_NE(rows[0].message.find("regions are coupled: residual"), std::string::npos) << rows[0].message;
  EXPECT_EQ(rows[1].status, SolveStatus::converged);
}

TEST_F(HonestRowsTest, OneTriangleIsToldEverywhereAndWrittenAsItCame) {
  for (const StoredTriangle triangle : {StoredTriangle::upper, StoredTriangle::lower}) {
    const std::string a = one_triangle(triangle == StoredTriangle::upper ? "u.hdf5" : "l.hdf5", triangle);
    const std::string note = fmt::format("M: {} triangle stored, read as symmetric",
                                         triangle == StoredTriangle::upper ? "upper" : "lower");
    const Outcome info = run({"info", a});
    EXPECT_NE(info.out.find(note), std::string::npos) << info.out;
    EXPECT_NE(run({"info", a, "--json"}).out.find(note), std::string::npos);
    const Outcome solve = run({"solve", a, "--solver", "pgs,cr-full", "--csv", a + ".csv"});
    EXPECT_EQ(solve.code, 0);
    EXPECT_NE(solve.err.find(note), std::string::npos) << solve.err;
    for (const RunRecord& row : read_run_table(a + ".csv")) {
      EXPECT_EQ(row.status, SolveStatus::converged) << row.message;
      EXPECT_EQ(row.message, note);
    }
    const SparseRows stored = read_fclib(a, MatrixReading::as_stored).problem.M;
    for (const char* reading : {"symmetric", "as-stored"}) {
      const std::string b = a + fmt::format("-{}.hdf5", reading);
      EXPECT_EQ(run({"export", a, "-o", b, "--matrix", reading}).code, 0);
      const SparseRows again = read_fclib(b, MatrixReading::as_stored).problem.M;
      EXPECT_EQ(again.nonZeros(), stored.nonZeros());
      EXPECT_EQ(Matrix(again), Matrix(stored)) << reading;
    }
  }
}

TEST_F(HonestRowsTest, AsStoredIsAnUnsymmetricMatrixForSolversAndReferee) {
  const std::string a = one_triangle("a.hdf5", StoredTriangle::upper);
  const Outcome all =
      run({"solve", a, "--solver", "pgs,cr-full,ica", "--matrix", "as-stored", "--csv", path("x.csv")});
  EXPECT_EQ(all.code, 0) << all.err;
  const std::vector<RunRecord> rows = read_run_table(folder_ / "x.csv");
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].status, SolveStatus::converged) << rows[0].message;
  EXPECT_EQ(rows[0].message.find("M: not symmetric (asymmetry"), 0U) << rows[0].message;
  for (const std::size_t i : {1U, 2U}) {
    EXPECT_EQ(rows[i].status, SolveStatus::unsupported);
    EXPECT_NE(rows[i].message.find("needs a symmetric M"), std::string::npos) << rows[i].message;
  }
  // the answer for one reading is none for the other: M v = H r + f with M as stored, by the equations themselves
  for (const char* reading : {"symmetric", "as-stored"}) {
    const std::string answer = path(fmt::format("s-{}.hdf5", reading));
    EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--tolerance", "1e-10", "--matrix", reading, "--solution",
                   answer})
                  .code,
              0);
    const FclibFile s = read_fclib(answer, MatrixReading::as_stored);
    const FclibSolution& x = *s.solution;
    const Vector force = s.problem.H * x.r + s.problem.f;
    const double wrong = (s.problem.M * x.v - force).cwiseAbs().maxCoeff() / force.cwiseAbs().maxCoeff();
    if (std::string_view(reading) == "symmetric") {
      EXPECT_GT(wrong, 1e-2);
    } else {
      EXPECT_LT(wrong, 1e-12);
    }
  }
  EXPECT_EQ(run({"solve", a, "--solver", "pgs", "--matrix", "half"}).code, 2);
}

}  // namespace
}  // namespace signorini::honest_rows_test
