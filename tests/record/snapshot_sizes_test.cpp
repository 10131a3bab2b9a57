#include "base/check.h"
#include "record/fclib_file.h"
#include "record/problem_file.h"
#include "record/record_test_tools.h"

namespace signorini::snapshot_sizes_test {
namespace {

namespace fs = std::filesystem;

/// The sizes are those of the problems, and none of these is decoded for them.
void expect_sizes(const fs::path& path, const std::vector<int>& contacts) {
  const std::uint64_t decoded = problems_decoded();
  const std::vector<SnapshotSize> sizes = snapshot_sizes(path);
  EXPECT_EQ(problems_decoded(), decoded);
  const ProblemFile file(path);
  ASSERT_EQ(sizes.size(), file.steps().size());
  ASSERT_EQ(sizes.size(), contacts.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(sizes[i].step, file.steps()[i]);
    EXPECT_EQ(sizes[i].contacts, contacts[i]);
    EXPECT_EQ(file.read(sizes[i].step).contacts(), contacts[i]);
  }
}

TEST(SnapshotSizes, AreThoseOfTheProblems) {
  const TemporaryFolder folder;
  RecordingWriter writer(folder.path() / "a.h5", {"planted", "", "test", 1}, false);
  writer.append({"000007", make_planted_problem({.contacts = 3}).problem, nullptr});
  writer.append({"000007.2", make_planted_problem({.contacts = 0}).problem, nullptr});
  writer.append({"000012", make_planted_problem({.contacts = 11}).problem, nullptr});
  writer.finish();
  expect_sizes(folder.path() / "a.h5", {3, 0, 11});

  FclibFile file;
  file.problem = make_planted_problem({.contacts = 8}).problem;
  write_fclib(folder.path() / "global.hdf5", file);
  expect_sizes(folder.path() / "global.hdf5", {8});

  file.problem = ContactProblem();
  file.problem.W = SparseRows(3, 3);
  file.problem.W.setIdentity();
  file.problem.q = Vector::Ones(3);
  file.problem.mu = Vector::Ones(1);
  write_fclib(folder.path() / "local.hdf5", file);
  expect_sizes(folder.path() / "local.hdf5", {1});
}

TEST(SnapshotSizes, RefusesWhatIsNoProblemFile) {
  const TemporaryFolder folder;
  EXPECT_THROW(snapshot_sizes(folder.path() / "absent.h5"), InputError);
  put_bytes(folder.path() / "text.h5", "no HDF5");
  EXPECT_THROW(snapshot_sizes(folder.path() / "text.h5"), InputError);
}

}  // namespace
}  // namespace signorini::snapshot_sizes_test
