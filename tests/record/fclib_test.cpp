#include "record/fclib_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <tuple>

#include "base/check.h"
#include "contact/planar_problem.h"
#include "contact/planar_problems.h"
#include "contact/planted_problem.h"
#include "record/problem_file.h"
#include "record/raw_problem.h"
#include "record/record_test_tools.h"
#include "record/stored_triangle.h"

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

TEST(FclibFile, ProblemsOfTheCollectionInThePlaneLoadAndSurviveTheWayOutAndBack) {
  const TemporaryFolder folder;
  const fs::path copy = folder.path() / "copy.hdf5", second = folder.path() / "second.hdf5";
  const std::vector<fs::path> files = problem_files(fs::path(SIGNORINI_DATA_DIR) / "fclib" / "2d");
  if (files.empty())
    GTEST_SKIP() << "no problems in the plane in " << SIGNORINI_DATA_DIR << " (SIGNORINI_DATA)";
  EXPECT_EQ(files.size(), 5U);
  for (const fs::path& path : files) {
    SCOPED_TRACE(path.string());
    const FclibFile file = read_fclib(path);
    EXPECT_EQ(file.problem.spacedim, 2);
    write_fclib(copy, file);
    const FclibFile again = read_fclib(copy);
    expect_same_problem(again.problem, file.problem);
    write_fclib(second, again);
    EXPECT_EQ(file_bytes(second), file_bytes(copy));
  }
}

/// A file in the plane with all that such a file can hold.
FclibFile planar_file(bool dual) {
  FclibFile file;
  ContactProblem planar = plane::random_chain(3, 0.3, 2.0, 7);
  if (dual) {
    const plane::Reduced reduced = plane::reduce(planar);
    planar = zoo::make_dual(reduced.W, reduced.q, reduced.mu);
  }
  planar.warm_start = Vector::LinSpaced(6, 0.25, 1.5);
  file.problem = to_space(std::move(planar));
  file.info = {"title", "description", "math"};
  file.solution = FclibSolution{rows_to_space(Vector::LinSpaced(6, 1.0, 6.0)),
                                rows_to_space(Vector::LinSpaced(6, -1.0, 4.0)),
                                dual ? Vector() : dofs_to_space(Vector::LinSpaced(9, 2.0, 3.0), 3)};
  return file;
}

TEST(FclibFile, AProblemInThePlaneIsWrittenWithTwoRowsPerContact) {
  for (const bool dual : {false, true}) {
    const FclibFile file = planar_file(dual);
    const RawTree tree = encode_fclib(file);
    const RawReader raw(tree, "FILE");
    const std::string root = dual ? "fclib_local/" : "fclib_global/";
    EXPECT_EQ(raw.integer(root + "spacedim"), 2);
    EXPECT_EQ(raw.reals(root + "vectors/mu").size(), 3U);
    EXPECT_EQ(raw.reals(root + (dual ? "vectors/q" : "vectors/w")).size(), 6U);
    EXPECT_EQ(raw.integer(root + (dual ? "W/n" : "H/n")), 6);
    const std::span<const double> r = raw.reals("solution/r"), guess = raw.reals("guesses/1/r");
    EXPECT_EQ(std::vector<double>(r.begin(), r.end()), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(std::vector<double>(guess.begin(), guess.end()),
              (std::vector<double>{0.25, 0.5, 0.75, 1, 1.25, 1.5}));
    EXPECT_EQ(raw.reals("solution/u").size(), 6U);
    EXPECT_EQ(raw.reals("guesses/1/u").size(), 6U);
    if (!dual) {
      EXPECT_EQ(raw.integer(root + "M/n"), 9);
      EXPECT_EQ(raw.reals(root + "vectors/f").size(), 9U);
      EXPECT_EQ(raw.reals("solution/v").size(), 9U);
      EXPECT_EQ(raw.reals("guesses/1/v").size(), 9U);
    }
  }
}

TEST(FclibFile, AProblemInThePlaneComesBackToTheLastBit) {
  const TemporaryFolder folder;
  const fs::path first = folder.path() / "first.hdf5", second = folder.path() / "second.hdf5";
  for (const bool dual : {false, true}) {
    FclibFile file = planar_file(dual);
    // in the group of ours
    file.problem.gap = Vector::LinSpaced(3, 0.0, 1.0);
    file.problem.start_bounds = Vector::Ones(3);
    if (!dual) file.problem.v_minus = dofs_to_space(Vector::LinSpaced(9, 0.5, 1.0), 3);
    write_fclib(first, file);
    const FclibFile read = read_fclib(first);
    expect_same_problem(read.problem, file.problem);
    ASSERT_TRUE(read.solution.has_value());
    EXPECT_TRUE(same_bits(read.solution->r, file.solution->r));
    EXPECT_TRUE(same_bits(read.solution->u, file.solution->u));
    EXPECT_TRUE(same_bits(read.solution->v, file.solution->v));
    write_fclib(second, read);
    EXPECT_EQ(file_bytes(second), file_bytes(first));
  }
}

/// W beside M, one triangle of M, and n = 0.
TEST(FclibFile, RareFormsOfAProblemInThePlaneComeBackToo) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x.hdf5";
  FclibFile both = planar_file(false), triangle = both, fixed;
  const FclibFile dual = planar_file(true);
  both.problem.W = dual.problem.W;
  both.problem.q = dual.problem.q;
  triangle.problem.M_stored = StoredTriangle::upper;
  fixed.problem.spacedim = 2;
  fixed.problem.H.resize(0, 6);
  fixed.problem.w = rows_to_space(Vector::Ones(4));
  fixed.problem.mu = Vector::Ones(2);
  for (const FclibFile& file : {both, triangle, fixed}) {
    write_fclib(path, file);
    const FclibFile read = read_fclib(path);
    expect_same_problem(read.problem, file.problem);
    EXPECT_EQ(read.problem.M_stored, file.problem.M_stored);
  }
}

TEST(FclibFile, AFrameOfARecordingKeepsThatItIsInThePlane) {
  Frame frame;
  frame.id = "000001";
  frame.problem = planar_file(false).problem;
  const RawTree tree = encode_frame(frame);
  EXPECT_EQ(std::get<std::uint64_t>(tree.attributes.at("spacedim")), 2U);
  expect_same_problem(decode_frame(tree, "000001", "FILE").problem, frame.problem);
  EXPECT_FALSE(encode_frame(rich_frame("000001", 1, 0.0)).attributes.contains("spacedim"));
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
