#include "record/recording_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/check.h"
#include "contact/delassus_operator.h"
#include "record/problem_file.h"
#include "record/record_test_tools.h"
#include "record/recording_format.h"

namespace signorini::recording_test {
namespace {

namespace fs = std::filesystem;

void record(const fs::path& path, const std::vector<std::string>& ids, bool resume = false) {
  RecordingWriter writer(path, test_header(), resume);
  for (const std::string& id : ids) {
    const auto& done = writer.frames();
    if (std::find(done.begin(), done.end(), id) == done.end())
      writer.append(rich_frame(id, std::stoul(id), 100.0));
  }
  writer.finish();
}

/// The frame after one trip through a file.
Frame round_trip(Frame frame) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "one.h5";
  frame.id = "000007";
  RecordingWriter writer(path, test_header(), false);
  writer.append(frame);
  writer.finish();
  return RecordingReader(path).read("7");
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

TEST(Recording, GivesEveryBitOfAnExplicitAndAnImplicitProblemBack) {
  for (const double stiffness : {0.0, 100.0}) {
    const Frame frame = rich_frame("000007", 3, stiffness);
    const Frame again = round_trip(rich_frame("000007", 3, stiffness));
    expect_same_problem(again.problem, frame.problem);
    ASSERT_TRUE(again.geometry);
    EXPECT_TRUE(same_bits(again.geometry->vertices, frame.geometry->vertices));
    EXPECT_TRUE(same_bits(again.geometry->triangles, frame.geometry->triangles));
    EXPECT_EQ(again.geometry->triangle_body, frame.geometry->triangle_body);
    EXPECT_TRUE(same_bits(again.geometry->rest, frame.geometry->rest));
    EXPECT_TRUE(same_bits(again.impulse, frame.impulse));
  }
}

TEST(Recording, KeepsMatricesThatAreNeitherSymmetricToTheBitNorInBlocks) {
  Frame frame = rich_frame("000007", 3, 100.0);
  // A mass matrix that rounds differently above and below the diagonal, within the tolerance of the check.
  SparseRows& M = frame.problem.M;
  for (Eigen::Index r = 0; r < M.rows(); ++r) {
    for (SparseRows::InnerIterator entry(M, r); entry; ++entry) {
      if (entry.col() > r) entry.valueRef() *= 1.0 + 1e-15;
    }
  }
  expect_same_problem(round_trip(std::move(frame)).problem, [] {
    Frame same = rich_frame("000007", 3, 100.0);
    SparseRows& N = same.problem.M;
    for (Eigen::Index r = 0; r < N.rows(); ++r) {
      for (SparseRows::InnerIterator entry(N, r); entry; ++entry) {
        if (entry.col() > r) entry.valueRef() *= 1.0 + 1e-15;
      }
    }
    return same.problem;
  }());

  // Scalar sparsity: 7 dofs, one contact that touches three of them, an explicit zero.
  ContactProblem p;
  p.M.resize(7, 7);
  p.H.resize(7, 3);
  std::vector<Eigen::Triplet<double>> mass, rows;
  for (int i = 0; i < 7; ++i) mass.emplace_back(i, i, 2.0 + i);
  mass.emplace_back(1, 4, 0.5);
  mass.emplace_back(4, 1, 0.5);
  mass.emplace_back(2, 3, 0.0);
  for (int k = 0; k < 3; ++k) rows.emplace_back(2 * k, k, 1.0 / 3.0);
  p.M.setFromTriplets(mass.begin(), mass.end());
  p.H.setFromTriplets(rows.begin(), rows.end());
  p.f = Vector::LinSpaced(7, -1.0, 0.1);
  p.w = Vector::Constant(3, -0.1);
  p.mu = Vector::Constant(1, 0.0);
  Frame scalar;
  scalar.problem = p;
  expect_same_problem(round_trip(std::move(scalar)).problem, p);
}

TEST(Recording, KeepsProblemsWithoutContactsWithoutDofsAndWithTheDualPart) {
  Frame empty = rich_frame("000007", 1, 0.0);
  ContactProblem& p = empty.problem;
  p = ContactProblem{};
  empty.impulse.resize(0);
  p.f = Vector::Ones(3);
  p.M.resize(3, 3);
  p.M.setIdentity();
  p.H.resize(3, 0);
  ContactProblem wanted = p;
  expect_same_problem(round_trip(std::move(empty)).problem, wanted);

  // Contacts between fixed bodies only: u = w.
  Frame fixed;
  fixed.problem.w = Vector::Constant(3, -0.5);
  fixed.problem.mu = Vector::Constant(1, 0.5);
  wanted = fixed.problem;
  expect_same_problem(round_trip(std::move(fixed)).problem, wanted);

  // Primal and dual together, W not symmetric.
  Frame both = rich_frame("000007", 5, 100.0);
  const Eigen::Index rows = 3 * both.problem.contacts();
  both.problem.q = Vector::LinSpaced(rows, -1.0, 1.0);
  Matrix dense = Matrix::Identity(rows, rows);
  dense(0, 4) = 0.25;
  both.problem.W = dense.sparseView();
  wanted = both.problem;
  EXPECT_GT(wanted.v_minus.size(), 0);
  expect_same_problem(round_trip(std::move(both)).problem, wanted);

  Frame dual;
  dual.problem.q = wanted.q;
  dual.problem.W = wanted.W;
  dual.problem.mu = wanted.mu;
  dual.problem.start_states = wanted.start_states;
  dual.problem.start_bounds = wanted.start_bounds;
  wanted = dual.problem;
  expect_same_problem(round_trip(std::move(dual)).problem, wanted);
}

TEST(Recording, EqualContentIsEqualBytesWithAndWithoutAResume) {
  const TemporaryFolder folder;
  const std::vector<std::string> ids = {"000001", "000002", "000002.2", "000010", "000002.10"};
  record(folder.path() / "a.h5", ids);
  record(folder.path() / "b.h5", ids);
  {
    RecordingWriter interrupted(folder.path() / "c.h5", test_header(), false);
    interrupted.append(rich_frame("000002", 2, 100.0));
    interrupted.append(rich_frame("000001", 1, 100.0));
  }
  // A reader in between packs what is there; the recording still goes on afterwards.
  fs::copy(folder.path() / "c.h5.parts", folder.path() / "d.h5.parts");
  EXPECT_EQ(RecordingReader(folder.path() / "d.h5").frames().size(), 2U);
  EXPECT_FALSE(fs::exists(folder.path() / "d.h5.parts"));
  record(folder.path() / "c.h5", ids, true);
  record(folder.path() / "d.h5", ids, true);
  const std::string a = file_bytes(folder.path() / "a.h5");
  EXPECT_GT(a.size(), 1000U);
  for (const char* other : {"b.h5", "c.h5", "d.h5"}) {
    EXPECT_TRUE(a == file_bytes(folder.path() / other)) << other;
    EXPECT_FALSE(fs::exists(folder.path() / (std::string(other) + ".parts")));
    EXPECT_FALSE(fs::exists(folder.path() / (std::string(other) + ".lock")));
  }
  const RecordingReader reader(folder.path() / "a.h5");
  EXPECT_EQ(reader.frames(),
            (std::vector<std::string>{"000001", "000002", "000002.2", "000002.10", "000010"}));
  EXPECT_EQ(reader.header().config, test_header().config);
  EXPECT_EQ(reader.header().seed, 42U);
}

/// The last bits depend on the kernels; whoever reads the file must be able to tell.
TEST(Recording, AResumeWithOtherKernelsIsToldInTheHeader) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  const auto headed = [](const char* kernels) {
    RecordingHeader header = test_header();
    header.kernels = kernels;
    return header;
  };
  const auto header_after = [&](const char* kernels, int frame) {
    RecordingWriter writer(path, headed(kernels), true);
    writer.append(small_frame(frame));
    return writer.header().kernels;  // killed: the parts stay
  };
  EXPECT_EQ(header_after("avx2", 1), "avx2");
  EXPECT_EQ(header_after("avx2", 2), "avx2");
  EXPECT_EQ(header_after("portable", 3), "avx2, portable");
  EXPECT_EQ(header_after("portable", 4), "avx2, portable");
  EXPECT_EQ(RecordingReader(path).header().kernels, "avx2, portable");  // packed now
  EXPECT_EQ(header_after("avx2", 5), "avx2, portable, avx2");
}

TEST(Recording, StoresArraysThatRepeatOnce) {
  const TemporaryFolder folder;
  const auto size_with = [&](int frames) {
    const fs::path path = folder.path() / (std::to_string(frames) + ".h5");
    RecordingWriter writer(path, test_header(), false);
    for (int k = 0; k < frames; ++k) {
      // Nothing but the time differs.
      Frame frame = rich_frame(fmt::format("{:06}", k), 1, 100.0, 200);
      frame.problem.time = k;
      writer.append(frame);
    }
    writer.finish();
    return fs::file_size(path);
  };
  const auto one = size_with(1), two = size_with(2), three = size_with(3);
  // What is left per frame are the headers of four groups.
  EXPECT_LT(three - two, 6000U);
  EXPECT_GT(one, 100'000U);
}

TEST(Recording, GivesTheStatisticsOfAllStepsBack) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  for (const std::size_t rows : {std::size_t{0}, std::size_t{1}, std::size_t{500}}) {
    fs::remove(path);
    const StepTable table = rich_table(rows);
    {
      RecordingWriter writer(path, test_header(), false);
      writer.append(rich_frame("000001", 1, 100.0));
      writer.finish(&table);
    }
    const RecordingReader reader(path);
    EXPECT_TRUE(reader.has_statistics());
    const std::optional<StepTable> again = reader.statistics();
    ASSERT_TRUE(again);
    EXPECT_EQ(again->columns, table.columns);
    EXPECT_EQ(again->units, table.units);
    ASSERT_EQ(again->rows.size(), rows);
    for (std::size_t i = 0; i < rows; ++i) {
      EXPECT_EQ(std::memcmp(again->rows[i].data(), table.rows[i].data(), 4 * sizeof(double)), 0) << i;
    }
    EXPECT_EQ(reader.frames().size(), 1U);
  }
}

TEST(Recording, StatisticsAddedToPackedFramesGiveTheSameBytes) {
  const TemporaryFolder folder;
  const StepTable table = rich_table(7);
  const auto whole = [&](const fs::path& path, bool packed_in_between) {
    {
      RecordingWriter writer(path, test_header(), false);
      writer.append(rich_frame("000001", 1, 100.0));
      writer.append(rich_frame("000002", 2, 100.0));
      if (!packed_in_between) return writer.finish(&table);
    }
    {
      const RecordingReader unfinished(path);
      EXPECT_FALSE(unfinished.has_statistics());
      EXPECT_FALSE(unfinished.statistics());
    }
    RecordingWriter(path, test_header(), true).finish(&table);
  };
  whole(folder.path() / "a.h5", false);
  whole(folder.path() / "b.h5", true);
  EXPECT_EQ(RecordingReader(folder.path() / "b.h5").statistics()->rows.size(), 7U);
  EXPECT_TRUE(file_bytes(folder.path() / "a.h5") == file_bytes(folder.path() / "b.h5"));

  // A late part packed by a reader keeps them.
  fs::create_directories(folder.path() / "a.h5.parts");
  { RecordingWriter(folder.path() / "c.h5", test_header(), false).append(rich_frame("000003", 3, 100.0)); }
  fs::copy(folder.path() / "c.h5.parts/000003.h5", folder.path() / "a.h5.parts/000003.h5");
  const RecordingReader reader(folder.path() / "a.h5");
  EXPECT_EQ(reader.frames().size(), 3U);
  ASSERT_TRUE(reader.has_statistics());
  EXPECT_EQ(reader.statistics()->rows.size(), 7U);
}

void forget_starts(ContactProblem& problem) {
  problem.v_minus.resize(0);
  problem.start_states.clear();
  problem.start_bounds.resize(0);
}

TEST(Recording, ReadsRecordingsOfSchema1) {
  // Written by the last program of schema 1: two frames of `rich_frame` and three rows of `rich_table`.
  const fs::path path = fs::path(SIGNORINI_SOURCE_DIR) / "tests/record/schema1_last.h5";
  const RecordingReader reader(path);
  EXPECT_EQ(reader.header().config, test_header().config);
  ASSERT_EQ(reader.frames(), (std::vector<std::string>{"000001", "000001.2"}));
  EXPECT_EQ(reader.statistics()->rows.size(), 3U);
  for (std::uint64_t k = 1; k <= 2; ++k) {
    const Frame frame = reader.read(reader.frames()[k - 1]);
    Frame wanted = rich_frame(frame.id, k, k == 1 ? 0.0 : 100.0, 2);
    forget_starts(wanted.problem);
    expect_same_problem(frame.problem, wanted.problem);
    EXPECT_TRUE(same_bits(frame.impulse, wanted.impulse));
    EXPECT_TRUE(same_bits(frame.geometry->rest, wanted.geometry->rest));
  }
}

TEST(Recording, ReadsRecordingsFromBeforeRestImpulsesStatisticsAndFeatures) {
  // Written by the first program of schema 1: two frames of `rich_frame`, without what came later.
  const RecordingReader reader(fs::path(SIGNORINI_SOURCE_DIR) / "tests/record/schema1.h5");
  ASSERT_EQ(reader.frames(), (std::vector<std::string>{"000001", "000001.2"}));
  EXPECT_FALSE(reader.has_statistics());
  for (std::uint64_t k = 1; k <= 2; ++k) {
    const Frame frame = reader.read(reader.frames()[k - 1]);
    Frame wanted = rich_frame(frame.id, k, 0.0, 2);
    wanted.problem.features.resize(0, 2);
    wanted.problem.node_numbers.clear();
    forget_starts(wanted.problem);
    expect_same_problem(frame.problem, wanted.problem);
    ASSERT_TRUE(frame.geometry);
    EXPECT_TRUE(same_bits(frame.geometry->vertices, wanted.geometry->vertices));
    EXPECT_EQ(frame.geometry->rest.size(), 0);
    EXPECT_EQ(frame.impulse.size(), 0);
  }
}

TEST(Recording, TablesThatTheFormatCannotHoldAreRefused) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder.path() / "a.h5", test_header(), false);
  writer.append(rich_frame("000001", 1, 100.0));
  const auto refused = [&](const std::function<void(StepTable&)>& spoil, const char* part) {
    StepTable table = rich_table(3);
    spoil(table);
    EXPECT_NE(message_of([&] { writer.finish(&table); }).find(part), std::string::npos) << part;
  };
  refused([](StepTable& t) { t.columns[1] = "a,b"; }, "'a,b' is not the name of a column");
  refused([](StepTable& t) { t.columns[1] = "step"; }, "a column twice");
  refused([](StepTable& t) { t.units[0] = ""; }, "'' is not a unit");
  refused([](StepTable& t) { t.units.pop_back(); }, "4 columns and 3 units");
  refused([](StepTable& t) { t.rows[1].pop_back(); }, "row 2");
  refused([](StepTable& t) { t = StepTable{}; }, "no columns");
  writer.finish();
  EXPECT_EQ(RecordingReader(folder.path() / "a.h5").frames().size(), 1U);
}

TEST(Recording, FindsStepsWithoutLeadingZeros) {
  const TemporaryFolder folder;
  record(folder.path() / "a.h5", {"000012", "000012.2"});
  const ProblemFile file(folder.path() / "a.h5");
  EXPECT_EQ(file.kind(), ProblemFileKind::recording);
  EXPECT_EQ(file.title(), "test_scene");
  EXPECT_EQ(file.steps(), (std::vector<std::string>{"000012", "000012.2"}));
  expect_same_problem(file.read("12"), rich_frame("000012", 12, 100.0).problem);
  EXPECT_THROW(file.read("13"), UsageError);
  EXPECT_THROW(file.read("x"), UsageError);
}

TEST(Recording, RefusesASecondWriterAndTakesOverTheLockOfADeadOne) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  {
    const RecordingWriter first(path, test_header(), false);
    EXPECT_NE(
        message_of([&] { RecordingWriter(path, test_header(), true); }).find("is being recorded by process"),
        std::string::npos);
    EXPECT_NE(message_of([&] { RecordingReader reader(path); }).find("is being recorded by process"),
              std::string::npos);
  }
  put_bytes(folder.path() / "a.h5.lock", "1\n");
  record(path, {"000001"});
  EXPECT_EQ(RecordingReader(path).frames().size(), 1U);
}

TEST(Recording, FramesThatAreGoneAtTheEndAreAnErrorAndReplaceNothing) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  RecordingWriter writer(path, test_header(), false);
  for (const char* id : {"000001", "000002", "000003"}) writer.append(rich_frame(id, 2, 0.0));
  fs::remove(RecordingPaths(path).part("000002"));
  try {
    writer.finish();
    FAIL() << "two of three frames were taken for a recording";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("1 of 3 recorded frames are gone"), std::string::npos)
        << error.what();
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(fs::exists(path.string() + ".tmp"));
}

TEST(Recording, FramesThatReplaceAFileAreNotPackedIntoIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  {
    RecordingWriter writer(path, test_header(), false);
    writer.append(rich_frame("000001", 2, 0.0));
    writer.finish();
  }
  RecordingHeader other = test_header();
  other.seed = 43;
  {
    RecordingWriter(lock_recording(path), path, other, ExistingRecording::replace)
        .append(rich_frame("000007", 2, 0.0));
  }
  EXPECT_EQ(RecordingReader(path).frames(), (std::vector<std::string>{"000001"}));
  RecordingWriter writer(lock_recording(path), path, other, ExistingRecording::resume);
  EXPECT_EQ(writer.frames(), (std::vector<std::string>{"000007"}));
  writer.append(rich_frame("000008", 2, 0.0));
  writer.finish();
  EXPECT_EQ(RecordingReader(path).frames(), (std::vector<std::string>{"000007", "000008"}));
  EXPECT_EQ(RecordingReader(path).header().seed, 43U);
  EXPECT_FALSE(fs::exists(path.string() + ".parts"));
}

TEST(Recording, NeverMixesTwoRecordings) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  record(path, {"000001"});
  EXPECT_THROW(RecordingWriter(path, test_header(), false), UsageError);
  RecordingHeader other = test_header();
  other.seed = 43;
  EXPECT_NE(message_of([&] { RecordingWriter(path, other, true); }).find("another seed (42 there, 43 now)"),
            std::string::npos);
  { RecordingWriter(folder.path() / "b.h5", test_header(), false).append(rich_frame("000001", 1, 0.0)); }
  EXPECT_THROW(RecordingWriter(folder.path() / "b.h5", test_header(), false), UsageError);
  EXPECT_THROW(RecordingWriter(folder.path() / "b.h5", other, true), InputError);
  RecordingWriter writer(folder.path() / "b.h5", test_header(), true);
  EXPECT_THROW(writer.append(rich_frame("1", 1, 0.0)), UsageError);
}

TEST(Recording, AFullDiskIsOneErrorAndLeavesTheEarlierFrames) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    int caught = 0;
    try {
      RecordingWriter writer(path, test_header(), false);
      writer.append(rich_frame("000001", 1, 100.0));
      writer.append(rich_frame("000002", 2, 100.0));
      // Two small frames fit one by one, but neither a large one nor their pack.
      const rlimit limit{fs::file_size(folder.path() / "a.h5.parts/000002.h5") + 1000, RLIM_INFINITY};
      ::setrlimit(RLIMIT_FSIZE, &limit);
      try {
        writer.append(rich_frame("000003", 3, 100.0, 300));
      } catch (const InputError&) {
        ++caught;
      }
      try {
        writer.finish();
      } catch (const InputError&) {
        ++caught;
      }
    } catch (...) {
      caught = 9;
    }
    ::_exit(caught);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 2);
  EXPECT_FALSE(fs::exists(folder.path() / "a.h5"));
  EXPECT_EQ(RecordingReader(path).frames(), (std::vector<std::string>{"000001", "000002"}));
}

}  // namespace
}  // namespace signorini::recording_test
