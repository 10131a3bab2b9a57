#include "record/fclib_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "record/problem_file.h"
#include "record/raw_sparse.h"
#include "record/record_test_tools.h"

namespace signorini::fclib_test {
namespace {

namespace fs = std::filesystem;

/// Every problem file below a folder; empty where it is absent.
std::vector<fs::path> problem_files(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

void expect_survives_the_way_out_and_back(const fs::path& path, const fs::path& copy) {
  SCOPED_TRACE(path.string());
  const FclibFile file = read_fclib(path);
  EXPECT_GT(file.problem.contacts(), 0);
  write_fclib(copy, file);
  const FclibFile again = read_fclib(copy);
  expect_same_problem(again.problem, file.problem);
  EXPECT_EQ(again.info.title, file.info.title);
  EXPECT_EQ(again.info.description, file.info.description);
  ASSERT_EQ(again.solution.has_value(), file.solution.has_value());
  if (file.solution) {
    EXPECT_TRUE(same_bits(again.solution->r, file.solution->r));
  }
}

TEST(FclibFile, EveryProblemOfTheTreeLoadsAndSurvivesTheWayOutAndBack) {
  const TemporaryFolder folder;
  const std::vector<fs::path> files = problem_files(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems");
  EXPECT_EQ(files.size(), 10U);
  for (const fs::path& path : files) expect_survives_the_way_out_and_back(path, folder.path() / "copy.hdf5");
}

TEST(FclibFile, EveryFileOfTheCollectionLoadsAndSurvivesTheWayOutAndBack) {
  const TemporaryFolder folder;
  std::vector<fs::path> files = problem_files(fs::path(SIGNORINI_DATA_DIR) / "fclib" / "local");
  const std::vector<fs::path> global = problem_files(fs::path(SIGNORINI_DATA_DIR) / "fclib" / "global");
  files.insert(files.end(), global.begin(), global.end());
  if (files.empty()) GTEST_SKIP() << "no FCLib collection in " << SIGNORINI_DATA_DIR << " (SIGNORINI_DATA)";
  EXPECT_EQ(files.size(), 34U);
  for (const fs::path& path : files) expect_survives_the_way_out_and_back(path, folder.path() / "copy.hdf5");
}

TEST(FclibFile, ASnapshotOfARecordingSurvivesTheWayOutAndBack) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "copy.hdf5";
  for (const double stiffness : {0.0, 100.0}) {
    FclibFile file;
    file.problem = rich_frame("000001", 3, stiffness).problem;
    write_fclib(copy, file);
    expect_same_problem(read_fclib(copy).problem, file.problem);
  }
  FclibFile bare;
  bare.problem.W.resize(3, 3);
  bare.problem.W.setIdentity();
  bare.problem.q = Vector::Constant(3, -1.0);
  bare.problem.mu = Vector::Constant(1, 0.5);
  bare.problem.start_states = {FrictionState::sliding};
  bare.problem.start_bounds = Vector::Constant(1, 0.25);
  write_fclib(copy, bare);
  expect_same_problem(read_fclib(copy).problem, bare.problem);
}

/// The matrix data of a global file: triplets sorted by row and column.
std::vector<std::tuple<Index, Index, double>> triplets(const SparseRows& M) {
  std::vector<std::tuple<Index, Index, double>> all;
  for (Index i = 0; i < M.rows(); ++i) {
    for (SparseRows::InnerIterator entry(M, i); entry; ++entry)
      all.emplace_back(i, entry.index(), entry.value());
  }
  return all;
}

TEST(FclibFile, OneTriangleOfMIsFilledUpToldAndWrittenAsItCame) {
  const TemporaryFolder folder;
  const fs::path first = folder.path() / "first.hdf5", second = folder.path() / "second.hdf5";
  for (const StoredTriangle triangle : {StoredTriangle::upper, StoredTriangle::lower}) {
    FclibFile file;
    file.problem = make_planted_problem({.contacts = 6, .stiffness = 2.0}).problem;
    SparseRows& M = file.problem.M;
    M = SparseRows(0.5 * (M + SparseRows(M.transpose())));  // to the last bit
    M.makeCompressed();
    const SparseRows whole = M;
    file.problem.M_stored = triangle;
    write_fclib(first, file);
    const SparseRows stored = read_fclib(first, MatrixReading::as_stored).problem.M;
    EXPECT_EQ(2 * stored.nonZeros() - stored.rows(), whole.nonZeros());
    EXPECT_EQ(stored_triangle(stored), triangle);
    const FclibFile read = read_fclib(first);
    EXPECT_EQ(read.problem.M_stored, triangle);
    EXPECT_TRUE(same_sparse(read.problem.M, whole));
    write_fclib(second, read);
    EXPECT_EQ(file_bytes(second), file_bytes(first));
    // as it stands: an unsymmetric M, written as it stands
    const FclibFile literal = read_fclib(first, MatrixReading::as_stored);
    EXPECT_EQ(literal.problem.M_stored, StoredTriangle::both);
    write_fclib(second, literal);
    EXPECT_EQ(file_bytes(second), file_bytes(first));
  }
}

TEST(FclibFile, AMatrixThatIsNotSymmetricIsWrittenWholeWhateverWasRead) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.hdf5";
  FclibFile file;
  file.problem = make_planted_problem({.contacts = 6, .stiffness = 2.0}).problem;
  file.problem.M_stored = StoredTriangle::upper;
  SparseRows& M = file.problem.M;
  M.valuePtr()[M.outerIndexPtr()[1] - 1] *= 1.5;
  write_fclib(path, file);
  EXPECT_TRUE(same_sparse(read_fclib(path).problem.M, M));
}

TEST(FclibFile, AFullMatrixIsTheSameInBothReadings) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "full.hdf5";
  for (const double stiffness : {0.0, 2.0}) {  // diagonal, and coupled with a value that is not symmetric
    FclibFile file;
    file.problem = make_planted_problem({.contacts = 6, .stiffness = stiffness}).problem;
    file.problem.M.coeffRef(0, 0) *= 1.5;
    SparseRows& M = file.problem.M;
    if (stiffness > 0.0) M.valuePtr()[M.outerIndexPtr()[1] - 1] *= 1.5;  // the last entry of row 0
    write_fclib(path, file);
    for (const MatrixReading reading : {MatrixReading::symmetric, MatrixReading::as_stored}) {
      const FclibFile read = read_fclib(path, reading);
      EXPECT_TRUE(same_sparse(read.problem.M, file.problem.M));
      EXPECT_EQ(read.problem.M_stored, StoredTriangle::both);
    }
  }
}

/// Duplicates aside, which are summed, the export of every file holds the triplets that it read.
TEST(FclibFile, GlobalFilesOfTheCollectionKeepTheirTriplets) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "copy.hdf5";
  const std::vector<fs::path> files = problem_files(fs::path(SIGNORINI_DATA_DIR) / "fclib" / "global");
  if (files.empty()) GTEST_SKIP() << "no FCLib collection in " << SIGNORINI_DATA_DIR << " (SIGNORINI_DATA)";
  std::size_t triangles = 0;
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.string());
    const FclibFile file = read_fclib(path);
    triangles += file.problem.M_stored == StoredTriangle::both ? 0U : 1U;
    write_fclib(copy, file);
    EXPECT_EQ(triplets(read_fclib(copy, MatrixReading::as_stored).problem.M),
              triplets(read_fclib(path, MatrixReading::as_stored).problem.M));
  }
  EXPECT_EQ(triangles, 1U) << "CubeH8";
}

}  // namespace
}  // namespace signorini::fclib_test
