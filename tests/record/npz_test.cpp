#include <gtest/gtest.h>

#include "base/check.h"
#include "contact/planar_problem.h"
#include "contact/problem_zoo.h"
#include "record/npy_array.h"
#include "record/npz_file.h"
#include "record/problem_file.h"
#include "record/raw_npz.h"
#include "record/record_test_tools.h"

namespace signorini::npz_test {
namespace {

namespace fs = std::filesystem;

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Everything that a file can hold; with W and q beside M when asked.
FclibFile rich_file(double stiffness, bool with_dual) {
  FclibFile file;
  file.problem = rich_frame("000001", 1, stiffness).problem;
  const Eigen::Index rows = 3 * file.problem.contacts();
  if (with_dual) {
    file.problem.q = Vector::LinSpaced(rows, -1.0, 1.0);
    file.problem.W.resize(rows, rows);
    file.problem.W.setIdentity();
    file.problem.W.coeffRef(0, 4) = -0.0;  // a stored zero with a sign stays one
    file.problem.W.makeCompressed();
  }
  file.info = {"title", "two\nlines", "math µ"};
  file.solution =
      FclibSolution{Vector::LinSpaced(rows, 0.0, 1.0), Vector::LinSpaced(rows, 2.0, 3.0), file.problem.f};
  return file;
}

FclibFile dual_file() {
  FclibFile file;
  file.problem = rich_frame("000001", 3, 100.0).problem;
  const Eigen::Index rows = 3 * file.problem.contacts();
  ContactProblem dual;
  dual.mu = file.problem.mu;
  dual.q = Vector::LinSpaced(rows, -1.0, 1.0);
  dual.W.resize(rows, rows);
  dual.W.setIdentity();
  dual.warm_start = file.problem.warm_start;
  dual.gap = file.problem.gap;
  file.problem = dual;
  return file;
}

FclibFile planar_file() {
  FclibFile file;
  file.problem = zoo::specimen("planar_wedge_moving").problem;
  file.problem.warm_start = rows_to_space(Vector::LinSpaced(2 * file.problem.contacts(), 0.25, 1.5));
  return file;
}

std::vector<FclibFile> all_kinds() {
  std::vector<FclibFile> files;
  for (const double stiffness : {0.0, 100.0}) {
    for (const bool with_dual : {false, true}) files.push_back(rich_file(stiffness, with_dual));
  }
  files.push_back(dual_file());
  files.push_back(planar_file());
  return files;
}

void expect_same_file(const FclibFile& a, const FclibFile& b) {
  expect_same_problem(a.problem, b.problem);
  EXPECT_EQ(a.info.title, b.info.title);
  EXPECT_EQ(a.info.description, b.info.description);
  EXPECT_EQ(a.info.math_info, b.info.math_info);
  ASSERT_EQ(a.solution.has_value(), b.solution.has_value());
  if (!a.solution) return;
  EXPECT_TRUE(same_bits(a.solution->r, b.solution->r));
  EXPECT_TRUE(same_bits(a.solution->u, b.solution->u));
  EXPECT_TRUE(same_bits(a.solution->v, b.solution->v));
}

TEST(NpzFile, ComesBackToTheLastBitAndGivesTheSameBytesAgain) {
  const TemporaryFolder folder;
  const fs::path first = folder.path() / "a.npz", second = folder.path() / "b.npz";
  for (const FclibFile& file : all_kinds()) {
    write_npz(first, file);
    const FclibFile read = read_npz(first);
    expect_same_file(read, file);
    write_npz(second, read);
    EXPECT_EQ(file_bytes(second), file_bytes(first));
  }
}

TEST(NpzFile, FclibAndNpzTurnIntoEachOtherWithoutLoss) {
  const TemporaryFolder folder;
  const fs::path npz = folder.path() / "a.npz", fclib = folder.path() / "a.hdf5",
                 again = folder.path() / "b.npz";
  for (const FclibFile& file : all_kinds()) {
    write_npz(npz, file);
    write_fclib(fclib, read_npz(npz));
    const FclibFile read = read_fclib(fclib);
    expect_same_file(read, file);
    write_npz(again, read);
    EXPECT_EQ(file_bytes(again), file_bytes(npz));
  }
}

TEST(NpzFile, EveryProblemOfTheTreeTurnsIntoItAndBack) {
  const TemporaryFolder folder;
  int files = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(SIGNORINI_SOURCE_DIR) / "configs" / "problems")) {
    if (entry.path().extension() != ".hdf5") continue;
    SCOPED_TRACE(entry.path().string());
    const FclibFile file = read_fclib(entry.path());
    write_npz(folder.path() / "x.npz", file);
    expect_same_file(read_npz(folder.path() / "x.npz"), file);
    ++files;
  }
  EXPECT_EQ(files, 10);
}

TEST(NpzFile, IsAProblemFileWithOneStep) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npz";
  const FclibFile file = rich_file(100.0, false);
  write_problem(path, file);
  const ProblemFile read(path);
  EXPECT_EQ(read.kind(), ProblemFileKind::npz);
  EXPECT_EQ(read.steps(), std::vector<std::string>{"0"});
  EXPECT_EQ(read.title(), "title");
  expect_same_problem(read.read("0"), file.problem);
  ASSERT_EQ(snapshot_sizes(path).size(), 1U);
  EXPECT_EQ(snapshot_sizes(path)[0].contacts, 6);
  EXPECT_THROW(static_cast<void>(read.read("1")), UsageError);
}

TEST(NpzFile, OneTriangleOfMMeansAllOfIt) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.npz";
  FclibFile file;
  file.problem = small_frame(1).problem;
  SparseRows upper(3, 3);
  const std::vector<Eigen::Triplet<double, Index>> entries{
      {0, 0, 2.0}, {0, 1, 0.5}, {1, 1, 2.0}, {2, 2, 2.0}};
  upper.setFromTriplets(entries.begin(), entries.end());
  file.problem.M = upper;
  write_npz(path, file);
  const FclibFile read = read_npz(path);
  EXPECT_EQ(read.problem.M_stored, StoredTriangle::upper);
  EXPECT_EQ(read.problem.M.coeff(1, 0), 0.5);
  write_npz(folder.path() / "b.npz", read);
  EXPECT_EQ(file_bytes(folder.path() / "b.npz"), file_bytes(path)) << "it is written as that triangle again";
  EXPECT_TRUE(same_sparse(read_npz(path, MatrixReading::as_stored).problem.M, upper));
}

TEST(NpzFile, TheNameDecidesUnlessTheFormatIsAskedFor) {
  EXPECT_EQ(format_of("a.npz", ProblemFormat::by_name), ProblemFormat::npz);
  EXPECT_EQ(format_of("a.hdf5", ProblemFormat::by_name), ProblemFormat::fclib);
  EXPECT_EQ(format_of("npz", ProblemFormat::by_name), ProblemFormat::fclib);
  EXPECT_EQ(format_of("a.npz", ProblemFormat::fclib), ProblemFormat::fclib);
}

/// What reading a file says, without its name; "" when all is well. It must be one line that starts with the path.
std::string complaint(const fs::path& path) {
  try {
    static_cast<void>(ProblemFile(path));
    return "";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.rfind(path.string(), 0), 0U) << text;
    return text.substr(path.string().size());
  }
}

class HostileNpz : public testing::Test {
 protected:
  HostileNpz() { tree_ = encode_npz(rich_file(100.0, false)); }

  /// What reading says when `array` takes the place of `name`.
  std::string with(const std::string& name, RawArray array) const {
    RawTree changed = tree_;
    changed.arrays[name] = std::move(array);
    return said(npz_bytes(changed, "x"));
  }
  std::string without(const std::string& name) const {
    RawTree changed = tree_;
    changed.arrays.erase(name);
    return said(npz_bytes(changed, "x"));
  }
  std::string said(const std::vector<std::byte>& bytes) const {
    put_bytes(path_, text_of(bytes));
    return complaint(path_);
  }
  static RawArray reals(std::vector<double> values) {
    const std::uint64_t length = values.size();
    return {std::move(values), {length}};
  }
  static RawArray whole(std::vector<Index> values) {
    const std::uint64_t length = values.size();
    return {std::move(values), {length}};
  }

  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "x.npz";
  RawTree tree_;
};

TEST_F(HostileNpz, WrongNumbersNameTheArrayAndTheReason) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with("mu", reals({0.5, 0.5, 0.5, -0.5, 0.5, 0.5})), ": mu[3] = -0.5 is negative");
  EXPECT_EQ(with("mu", reals(std::vector<double>(5, 0.5))), ": array 'w': has 18 entries instead of 15");
  EXPECT_EQ(with("mu", reals({nan, 0.5, 0.5, 0.5, 0.5, 0.5})), ": mu[0] is not finite");
  EXPECT_EQ(with("M_indices", whole({0, 1})).substr(0, 18), ": array 'M_data': ");
  EXPECT_EQ(with("M_shape", whole({3, 3})).substr(0, 22), ": array 'M_shape': 3x3");
  EXPECT_EQ(with("spacedim", whole({4})),
            ": array 'spacedim': 4 dimensions; only contact problems in 2 or 3 can be read");
  EXPECT_EQ(with("M", reals({1.0})).substr(0, 34), ": array 'M': is there in two forms");
  RawTree vector = tree_;
  for (const char* part : {"M_data", "M_indices", "M_indptr", "M_shape"}) vector.arrays.erase(part);
  vector.arrays["M"] = reals({1.0, 2.0});
  EXPECT_EQ(said(npz_bytes(vector, "x")),
            ": array 'M': is a vector instead of a matrix; the diagonal of one is named M_diagonal");
  EXPECT_EQ(without("mu"), ": array 'mu': missing");
  EXPECT_EQ(without("H_data").substr(0, 21), ": array 'H': missing ");
  EXPECT_EQ(with("r", reals({nan})), ": array 'r': has 1 entries instead of 18");
  EXPECT_EQ(with("start_states", whole({7, 0, 0, 0, 0, 0})), ": start_states[0] = 7 but must be -1 to 2");
  EXPECT_EQ(with("spacedim", whole({3})), "") << "a vector of one number is a number";
}

TEST_F(HostileNpz, AFileThatIsCutOffAnywhereIsOneLine) {
  const std::vector<std::byte> whole_file = npz_bytes(tree_, "x");
  for (std::size_t length = 2; length < whole_file.size(); length += 37) {
    const std::vector<std::byte> cut(whole_file.begin(),
                                     whole_file.begin() + static_cast<std::ptrdiff_t>(length));
    EXPECT_THROW(ZipArchive(cut, "FILE"), InputError) << length;
  }
  EXPECT_EQ(said({whole_file.begin(), whole_file.end() - 1}),
            ": damaged zip archive (no directory at its end: the file is cut off)");
}

/// A flip of one bit is refused or gives the same problem (bits of dates and padding mean nothing).
TEST_F(HostileNpz, NoFlippedBitReadsAsOtherNumbers) {
  const FclibFile file = rich_file(100.0, false);
  const std::vector<std::byte> whole_file = npz_bytes(tree_, "x");
  int read = 0, refused = 0;
  for (std::size_t place = 0; place < whole_file.size(); place += 5) {
    std::vector<std::byte> changed = whole_file;
    changed[place] ^= static_cast<std::byte>(1U << (place % 8));
    try {
      const FclibFile found = decode_npz(npz_tree(ZipArchive(changed, "FILE"), "FILE"), "FILE");
      ASSERT_TRUE(same_sparse(found.problem.M, file.problem.M)) << place;
      ASSERT_TRUE(same_bits(found.problem.mu, file.problem.mu)) << place;
      ++read;
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, read);
}

TEST_F(HostileNpz, SizesThatLieTakeNoMemory) {
  const std::vector<std::byte> mu = npy_image(tree_.arrays.at("mu"));
  std::string text = text_of(mu);
  const std::size_t at = text.find("(6,)");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, 18, "(99999999999999,)}");
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  EXPECT_THROW(read_npy(bytes, NpyContent::real, "FILE"), InputError);

  std::string archive = text_of(npz_bytes(tree_, "x"));
  const std::size_t entry = archive.find(std::string("PK\x01\x02", 4));
  ASSERT_NE(entry, std::string::npos);
  const std::uint32_t lie = 0xfffffff0U;
  archive.replace(entry + 24, 4, std::string(reinterpret_cast<const char*>(&lie), 4));
  put_bytes(path_, archive);
  EXPECT_NE(complaint(path_), "");
}

TEST(Npy, HeadersOfOtherDtypesAreRefusedWithTheWayOut) {
  const auto said = [](const std::string& header, const std::string& payload,
                       NpyContent wanted) -> std::string {
    std::string text = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0');
    text += {static_cast<char>(header.size()), '\0'};
    text += header + payload;
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    try {
      read_npy(bytes, wanted, "FILE");
      return "";
    } catch (const InputError& e) {
      return e.what();
    }
  };
  const std::string eight(8, '\0');
  const auto header = [](const char* dtype, const char* shape) {
    return fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}}}", dtype, shape);
  };
  EXPECT_EQ(said(header("<f8", "(1,)"), eight, NpyContent::real), "");
  EXPECT_EQ(said(header("<f8", "()"), eight, NpyContent::real), "");
  EXPECT_EQ(said(header(">f8", "(1,)"), eight, NpyContent::real),
            "FILE: is big-endian (dtype '>f8'); save it with .astype('<f8')");
  EXPECT_NE(said(header("<c8", "(1,)"), eight, NpyContent::real).find("dtype '<c8' cannot be read"),
            std::string::npos);
  EXPECT_NE(said(header("|O", "(1,)"), eight, NpyContent::real).find("Python objects"), std::string::npos);
  EXPECT_NE(said(header("<f8", "(1,)"), eight, NpyContent::whole).find("no whole numbers"),
            std::string::npos);
  EXPECT_NE(said(header("<f8", "(2,)"), eight, NpyContent::real).find("shape asks for"), std::string::npos);
  EXPECT_NE(said(header("<f8", "(0,)"), eight, NpyContent::real).find("asks for 0 bytes, but 8"),
            std::string::npos);
  EXPECT_NE(said(header("<f8", "(1, 1, 1)"), eight, NpyContent::real).find("3 dimensions"),
            std::string::npos);
  EXPECT_NE(said("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", eight, NpyContent::real)
                .find("structured"),
            std::string::npos);
  EXPECT_NE(said("{'descr': '<f8'", eight, NpyContent::real), "");
  EXPECT_NE(said("", "", NpyContent::real), "");
}

}  // namespace
}  // namespace signorini::npz_test
