#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <limits>
#include <thread>

#include "base/cancellation.h"
#include "base/check.h"
#include "base/digest.h"
#include "contact/problem_zoo.h"
#include "record/fclib_file.h"
#include "record/guarded.h"
#include "record/problem_file.h"
#include "record/raw_problem.h"
#include "record/record_test_tools.h"
#include "record/recording_format.h"
#include "record/recording_statistics.h"

namespace signorini::hostile_test {
namespace {

namespace fs = std::filesystem;

/// What reading every step of a file says; "" when all is well. The text must be one line that starts with
/// the path.
std::string complaint(const fs::path& path) {
  try {
    const ProblemFile file(path);
    for (const std::string& step : file.steps()) static_cast<void>(file.read(step));
    return "";
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.rfind(path.string(), 0), 0U) << text;
    return text.substr(std::min(text.size(), path.string().size()));
  }
}

testing::AssertionResult complains(const fs::path& path, const std::string& wanted) {
  const std::string text = complaint(path);
  if (text.find(wanted) != std::string::npos) return testing::AssertionSuccess() << text;
  return testing::AssertionFailure() << "'" << text << "' does not contain '" << wanted << "'";
}

class HostileFile : public testing::Test {
 protected:
  HostileFile() {
    FclibFile file;
    file.problem = rich_frame("000001", 1, 100.0).problem;
    write_fclib(fclib_, file);
    RecordingWriter writer(recording_, test_header(), false);
    for (int k = 1; k <= 3; ++k)
      writer.append(rich_frame(fmt::format("{:06}", k), static_cast<std::uint64_t>(k), 100.0));
    const StepTable table = rich_table(20);
    writer.finish(&table);
  }

  hid_t open_fclib() const { return H5Fopen(fclib_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT); }

  /// Replaces a dataset by another one of the given layout.
  template <class T>
  void replace(const fs::path& path, const char* name, hid_t type, const std::vector<T>& values,
               hid_t list = H5P_DEFAULT) const {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    H5Ldelete(file, name, H5P_DEFAULT);
    const hsize_t length = values.size();
    const hid_t space = H5Screate_simple(1, &length, nullptr);
    const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    if (!values.empty()) H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
    H5Dclose(dataset);
    H5Sclose(space);
    H5Fclose(file);
  }

  TemporaryFolder folder_;
  fs::path fclib_ = folder_.path() / "problem.hdf5";
  fs::path recording_ = folder_.path() / "scene.h5";
};

TEST_F(HostileFile, ForeignAndMissingFilesGiveOneLine) {
  EXPECT_EQ(complaint(fclib_), "");
  EXPECT_EQ(complaint(recording_), "");
  EXPECT_TRUE(complains(folder_.path() / "missing.h5", "no such file"));
  EXPECT_TRUE(complains(folder_.path(), "not a regular file"));
  const fs::path other = folder_.path() / "other.h5";
  put_bytes(other, "");
  EXPECT_TRUE(complains(other, "cannot be opened as HDF5") || complains(other, "empty"));
  put_bytes(other, "a text file");
  EXPECT_TRUE(complains(other, "cannot be opened as HDF5"));
  fs::remove(other);
  ASSERT_EQ(::mkfifo(other.c_str(), 0600), 0);
  EXPECT_TRUE(complains(other, "not a regular file"));
  fs::remove(other);
  H5Fclose(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_TRUE(complains(other, "neither a recording nor an FCLib problem"));
}

TEST_F(HostileFile, LinksThatLeaveTheFileAreRefused) {
  hid_t file = open_fclib();
  H5Lcreate_soft("/fclib_global/vectors/mu", file, "/fclib_global/vectors/soft", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_TRUE(complains(fclib_, "soft and external links are refused"));
  file = open_fclib();
  H5Ldelete(file, "/fclib_global/vectors/soft", H5P_DEFAULT);
  H5Ldelete(file, "/fclib_global/vectors/f", H5P_DEFAULT);
  H5Lcreate_external(recording_.c_str(), "/steps/000001/f", file, "/fclib_global/vectors/f", H5P_DEFAULT,
                     H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_TRUE(complains(fclib_, "soft and external links are refused"));
}

TEST_F(HostileFile, AGroupInsideItselfIsRefused) {
  const hid_t file = open_fclib();
  H5Lcreate_hard(file, "/fclib_global", file, "/fclib_global/vectors/again", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
  EXPECT_TRUE(complains(fclib_, "the same group has two names"));
}

TEST_F(HostileFile, NumbersOutsideTheFileAreRefused) {
  const fs::path secret = folder_.path() / "secret";
  put_bytes(secret, std::string(4096, 'S'));
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(list, secret.c_str(), 0, 48);
  replace<double>(fclib_, "/fclib_global/vectors/mu", H5T_IEEE_F64LE, {}, H5P_DEFAULT);
  {
    const hid_t file = open_fclib();
    H5Ldelete(file, "/fclib_global/vectors/mu", H5P_DEFAULT);
    const hsize_t length = 6;
    const hid_t space = H5Screate_simple(1, &length, nullptr);
    H5Dclose(
        H5Dcreate2(file, "/fclib_global/vectors/mu", H5T_IEEE_F64LE, space, H5P_DEFAULT, list, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(file);
  }
  H5Pclose(list);
  EXPECT_TRUE(complains(fclib_, "keeps its numbers in another file"));
}

TEST_F(HostileFile, ADeclaredGiantAllocatesNothing) {
  const hid_t file = open_fclib();
  H5Ldelete(file, "/fclib_global/vectors/f", H5P_DEFAULT);
  const hsize_t length = hsize_t{1} << 36U;  // 512 GiB in a file of a few kB
  const hid_t space = H5Screate_simple(1, &length, nullptr);
  H5Dclose(H5Dcreate2(file, "/fclib_global/vectors/f", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT,
                      H5P_DEFAULT));
  H5Sclose(space);
  H5Fclose(file);
  EXPECT_TRUE(complains(fclib_, "is larger than the file"));
}

TEST_F(HostileFile, ChunkedAndCompactLayoutsAreRefusedWithTheWayOut) {
  hid_t list = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk = 2;
  H5Pset_chunk(list, 1, &chunk);
  H5Pset_deflate(list, 1);
  replace<double>(fclib_, "/fclib_global/vectors/mu", H5T_IEEE_F64LE, std::vector<double>(6, 0.5), list);
  H5Pclose(list);
  EXPECT_TRUE(complains(fclib_, "h5repack"));
  list = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_layout(list, H5D_COMPACT);
  replace<double>(fclib_, "/fclib_global/vectors/mu", H5T_IEEE_F64LE, std::vector<double>(6, 0.5), list);
  H5Pclose(list);
  EXPECT_TRUE(complains(fclib_, "h5repack"));
}

TEST_F(HostileFile, WrongNumbersNameTheDatasetAndTheReason) {
  const auto with = [&](const char* name, auto values) {
    using T = typename decltype(values)::value_type;
    const fs::path copy = folder_.path() / "copy.hdf5";
    fs::copy_file(fclib_, copy, fs::copy_options::overwrite_existing);
    replace<T>(copy, name, std::is_same_v<T, double> ? H5T_IEEE_F64LE : H5T_STD_I32LE, values);
    return copy;
  };
  const std::vector<double> six(6, 0.5);
  std::vector<double> negative = six, infinite = six;
  negative[3] = -0.1;
  infinite[2] = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(complains(with("/fclib_global/vectors/mu", negative), "mu[3] = -0.1"));
  EXPECT_TRUE(complains(with("/fclib_global/vectors/mu", infinite), "mu[2]"));
  EXPECT_TRUE(complains(with("/fclib_global/vectors/mu", std::vector<double>(5, 0.5)),
                        "'fclib_global/vectors/w': has 18 entries instead of 15"));
  EXPECT_TRUE(complains(with("/fclib_global/vectors/mu", std::vector<int>(6, 1)),
                        "'fclib_global/vectors/mu': does not hold real numbers"));
  for (const int wrong : {0, 1, 4, 5, -2}) {
    EXPECT_TRUE(complains(with("/fclib_global/spacedim", std::vector<int>{wrong}),
                          fmt::format("dataset 'fclib_global/spacedim': {} dimensions", wrong)));
  }
  EXPECT_TRUE(complains(with("/fclib_global/spacedim", std::vector<int>{2, 2}),
                        "'fclib_global/spacedim': has 2 entries instead of 1"));
  EXPECT_TRUE(complains(with("/fclib_global/spacedim", std::vector<double>{2}),
                        "'fclib_global/spacedim': does not hold integers"));
  EXPECT_TRUE(complains(with("/fclib_global/spacedim", std::vector<int>{2}),
                        "'fclib_global/vectors/w': has 18 entries instead of 12"));
  EXPECT_TRUE(
      complains(with("/fclib_global/M/nz", std::vector<int>{-7}), "'fclib_global/M/nz': -7 is no storage"));
  EXPECT_TRUE(complains(with("/fclib_global/M/nz", std::vector<int>{1 << 30}), "but nz is 1073741824"));
  EXPECT_TRUE(complains(with("/fclib_global/M/m", std::vector<int>{2'000'000'000}),
                        "'fclib_global/M/m': 2000000000 rows instead of"));
  EXPECT_TRUE(complains(with("/fclib_global/H/i", std::vector<int>{0}), "'fclib_global/H/"));
  // The same through CSR pointers.
  const Index n = rich_frame("000001", 1, 100.0).problem.dofs();
  const fs::path csr = with("/fclib_global/M/nz", std::vector<int>{-2});
  replace<int>(csr, "/fclib_global/M/p", H5T_STD_I32LE, std::vector<int>(n + 1, 3));
  EXPECT_TRUE(complains(csr, "'fclib_global/M/p': starts with 3 instead of 0"));
  std::vector<int> backwards(n + 1, 0);
  backwards[1] = 5;
  replace<int>(csr, "/fclib_global/M/p", H5T_STD_I32LE, backwards);
  EXPECT_TRUE(complains(csr, "runs backwards"));
}

/// What a decoder says about a tree; "" when it takes it.
std::string complaint_of(FunctionRef<void()> decode) {
  try {
    decode();
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_EQ(text.rfind("FILE: ", 0), 0U) << text;
    return text;
  }
  return "";
}

TEST(HostileTree, ImpulsesRestAndBodiesOfAFrameAreChecked) {
  const RawTree good = encode_frame(rich_frame("000001", 1, 100.0));
  const auto with = [&](const char* path, std::vector<double> values, std::size_t columns) {
    RawTree tree = good;
    columns == 1 ? tree.put(path, std::move(values)) : tree.put_matrix(path, std::move(values), columns);
    return complaint_of([&] { decode_frame(tree, "000001", "FILE"); });
  };
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(complaint_of([&] { decode_frame(good, "000001", "FILE"); }), "");
  EXPECT_NE(with("impulse", std::vector<double>(17, 0.0), 1).find("17 entries instead of 18"),
            std::string::npos);
  EXPECT_NE(with("impulse", std::vector<double>(18, infinity), 1).find("not finite"), std::string::npos);
  EXPECT_NE(with("impulse", std::vector<double>(18, 0.0), 3).find("dimensions"), std::string::npos);
  EXPECT_NE(with("geometry/rest", std::vector<double>(9, 0.0), 3).find("3 rows for 4 vertices"),
            std::string::npos);
  EXPECT_NE(with("geometry/rest", std::vector<double>(12, -infinity), 3).find("not finite"),
            std::string::npos);
  EXPECT_NE(with("geometry/rest", std::vector<double>(8, 0.0), 2).find("2 columns instead of 3"),
            std::string::npos);
  RawTree tree = good;
  tree.put("geometry/triangle_body", std::vector<Index>{0, -2});
  EXPECT_NE(complaint_of([&] { decode_frame(tree, "000001", "FILE"); }).find("body -2 is below -1"),
            std::string::npos);
}

TEST(HostileTree, FeaturesAndNodeNumbersOfAFrameAreChecked) {
  const RawTree good = encode_frame(rich_frame("000001", 1, 0.0));
  const auto with = [&](const char* path, std::vector<Index> values, std::size_t columns) {
    RawTree tree = good;
    columns == 1 ? tree.put(path, std::move(values)) : tree.put_matrix(path, std::move(values), columns);
    return complaint_of([&] { decode_frame(tree, "000001", "FILE"); });
  };
  EXPECT_NE(with("features", {1, 2, 3, 4}, 2).find("features is 2x2 but must be 6x2"), std::string::npos);
  EXPECT_NE(with("features", std::vector<Index>(18, 0), 3).find("3 columns instead of 2"), std::string::npos);
  EXPECT_NE(
      with("features", {0, 1, 0, 2, 0, 3, 0, 4, 0, 1, 0, 5}, 2).find("features[4] = (0, 1) names contact 0"),
      std::string::npos);
  EXPECT_NE(with("features", {0, 1, 0, -2, 0, 3, 0, 4, 0, 5, 0, 6}, 2).find("features[1] = (0, -2)"),
            std::string::npos);
  EXPECT_NE(with("node_numbers", {4, 7}, 1).find("node_numbers has 2 numbers"), std::string::npos);
  std::vector<Index> numbers = std::get<std::vector<Index>>(good.arrays.at("node_numbers").values);
  std::swap(numbers[0], numbers[1]);
  EXPECT_NE(with("node_numbers", numbers, 1).find("must be 0 or more and ascend"), std::string::npos);
  numbers[0] = -1;
  EXPECT_NE(with("node_numbers", numbers, 1).find("node_numbers[0] = -1"), std::string::npos);
  RawTree tree = good;
  tree.put("features", std::vector<double>(12, 0.0));
  EXPECT_NE(complaint_of([&] { decode_frame(tree, "000001", "FILE"); }).find("does not hold integers"),
            std::string::npos);
}

TEST(HostileTree, StartsOfAFrameAreChecked) {
  const RawTree good = encode_frame(rich_frame("000001", 1, 100.0));
  const auto dofs = std::get<std::vector<double>>(good.arrays.at("v_minus").values).size();
  const auto with = [&](const char* path, auto values, std::size_t columns = 1) {
    RawTree tree = good;
    columns == 1 ? tree.put(path, std::move(values)) : tree.put_matrix(path, std::move(values), columns);
    return complaint_of([&] { decode_frame(tree, "000001", "FILE: frame 000001"); });
  };
  const auto expect = [](const std::string& said, const std::string& part) {
    EXPECT_NE(said.find("FILE: frame 000001: " + part), std::string::npos) << said;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> speeds(dofs, 0.5), bounds(6, 0.25);
  EXPECT_EQ(with("v_minus", speeds), "");
  speeds[4] = nan;
  expect(with("v_minus", speeds), "v_minus[4] is not finite");
  expect(with("v_minus", std::vector<double>(dofs + 1, 0.0)),
         fmt::format("v_minus has {} numbers but must have {}", dofs + 1, dofs));
  expect(with("v_minus", std::vector<Index>(dofs, 0)), "dataset 'v_minus': does not hold real numbers");
  expect(with("v_minus", std::vector<double>(dofs, 0.0), 3), "dataset 'v_minus': ");
  EXPECT_EQ(with("start_states", std::vector<Index>{-1, 0, 1, 2, 2, 1}), "");
  expect(with("start_states", std::vector<Index>{-1, 0, 1, 2, 3, 1}),
         "start_states[4] = 3 but must be -1 to 2");
  expect(with("start_states", std::vector<Index>{-2, 0, 1, 2, 2, 1}), "start_states[0] = -2");
  expect(with("start_states", std::vector<Index>(5, 0)), "start_states has 5 numbers but must have 6");
  expect(with("start_states", std::vector<double>(6, 0.0)), "dataset 'start_states': does not hold integers");
  EXPECT_EQ(with("start_bounds", bounds), "");
  bounds[5] = -0.25;
  expect(with("start_bounds", bounds), "start_bounds[5] = -0.25 is negative");
  bounds[5] = std::numeric_limits<double>::infinity();
  expect(with("start_bounds", bounds), "start_bounds[5] is not finite");
  expect(with("start_bounds", std::vector<double>(18, 0.0)), "start_bounds has 18 numbers but must have 6");
}

TEST(HostileTree, ProblemsInThePlaneAreChecked) {
  FclibFile file;
  file.problem = zoo::specimen("planar_wedge_dual").problem;
  const RawTree good = encode_fclib(file);
  const auto with = [&](const char* path, auto values) {
    RawTree tree = good;
    tree.put(std::string("fclib_local/") + path, std::move(values));
    return complaint_of([&] { decode_fclib(tree, {}, "FILE"); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(with("spacedim", std::vector<Index>{2}), "");
  EXPECT_EQ(
      with("spacedim", std::vector<Index>{5}),
      "FILE: dataset 'fclib_local/spacedim': 5 dimensions; only contact problems in 2 or 3 can be read");
  EXPECT_EQ(with("spacedim", std::vector<Index>{3}),
            "FILE: dataset 'fclib_local/vectors/q': has 4 entries instead of 6");
  EXPECT_EQ(with("vectors/mu", std::vector<double>(3, 0.5)),
            "FILE: dataset 'fclib_local/vectors/q': has 4 entries instead of 6");
  EXPECT_EQ(with("vectors/q", std::vector<double>{-1, 0, 0, nan}), "FILE: q[3] is not finite");
  EXPECT_EQ(with("W/m", std::vector<Index>{6}), "FILE: dataset 'fclib_local/W/m': 6 rows instead of 4");
  EXPECT_EQ(with("W/n", std::vector<Index>{6}), "FILE: dataset 'fclib_local/W/n': 6 columns instead of 4");
  // the frame of a recording
  Frame frame;
  frame.problem = file.problem;
  const auto with_attribute = [&](const Frame& of, RawScalar value) {
    RawTree tree = encode_frame(of);
    tree.attributes["spacedim"] = std::move(value);
    return complaint_of([&] { decode_frame(tree, "000001", "FILE"); });
  };
  EXPECT_EQ(with_attribute(frame, std::uint64_t{2}), "");
  EXPECT_EQ(with_attribute(frame, std::uint64_t{3}), "") << "a problem in space it is, too";
  for (const std::uint64_t wrong : {std::uint64_t{0}, (std::uint64_t{1} << 32U) + 2})
    EXPECT_NE(with_attribute(frame, wrong).find("FILE: attribute 'spacedim': "), std::string::npos);
  EXPECT_EQ(with_attribute(frame, 2.0), "FILE: attribute 'spacedim': not a whole number");
  EXPECT_NE(with_attribute(rich_frame("000001", 1, 0.0), std::uint64_t{2}).find("FILE: spacedim is 2, but "),
            std::string::npos);
}

TEST(HostileTree, StatisticsAreCheckedBeyondTheirChecksum) {
  const auto with = [](const std::function<void(RawTree&)>& spoil) {
    RawTree tree = statistics_tree(rich_table(3));
    tree.attributes.erase("xxh3");
    spoil(tree);
    if (!tree.attributes.contains("xxh3")) tree.attributes["xxh3"] = digest_text(digest_of(tree));
    return complaint_of([&] { decode_statistics(tree, "FILE"); });
  };
  const auto expect = [&](const std::function<void(RawTree&)>& spoil, const char* part) {
    EXPECT_NE(with(spoil).find(part), std::string::npos) << "'" << with(spoil) << "' lacks '" << part << "'";
  };
  EXPECT_EQ(with([](RawTree&) {}), "");
  expect([](RawTree& t) { t.attributes["xxh3"] = std::string("0123456789abcdef"); }, "checksum");
  expect([](RawTree& t) { t.attributes["xxh3"] = 1.0; }, "attribute 'xxh3': not a text");
  expect([](RawTree& t) { t.attributes.erase("columns"); }, "attribute 'columns': missing");
  expect([](RawTree& t) { t.attributes["columns"] = std::string(); }, "has no columns");
  expect([](RawTree& t) { t.attributes["columns"] = std::string("step,contacts"); }, "2 columns and 4 units");
  expect([](RawTree& t) { t.attributes["columns"] = std::string("a,b,c,../x"); }, "'../x' is not the name");
  expect([](RawTree& t) { t.attributes["columns"] = std::string("step,step,contacts,smallest_gap"); },
         "a column twice");
  expect([](RawTree& t) { t.attributes["units"] = std::string("1,,J,m"); }, "'' is not a unit");
  expect([](RawTree& t) { t.arrays.erase("contacts"); }, "3 datasets for 4 columns");
  expect([](RawTree& t) { t.put("more", std::vector<double>(3)); }, "5 datasets for 4 columns");
  expect([](RawTree& t) { t.attributes["rows"] = std::uint64_t{1} << 60U; },
         "instead of 1152921504606846976");
  expect([](RawTree& t) { t.put("contacts", std::vector<double>(2)); }, "2 entries instead of 3");
  expect([](RawTree& t) { t.put("contacts", std::vector<Index>(3)); }, "does not hold real numbers");
}

TEST_F(HostileFile, ConstraintsAndRollingFrictionAreRefusedClearly) {
  hid_t file = open_fclib();
  H5Gclose(H5Gcreate2(file, "/fclib_global/G", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  H5Fclose(file);
  replace<int>(fclib_, "/fclib_global/G/n", H5T_STD_I32LE, std::vector<int>{2});
  EXPECT_TRUE(complains(fclib_, "equality constraints"));
  replace<int>(fclib_, "/fclib_global/G/n", H5T_STD_I32LE, std::vector<int>{0});
  EXPECT_EQ(complaint(fclib_), "");
}

TEST_F(HostileFile, ANewerSchemaIsRefused) {
  const hid_t file = H5Fopen(recording_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "signorini_schema", H5P_DEFAULT);
  const std::uint64_t newer = kRecordingSchema + 1;
  H5Awrite(attribute, H5T_NATIVE_UINT64, &newer);
  H5Aclose(attribute);
  H5Fclose(file);
  EXPECT_TRUE(complains(recording_, "written by a newer version (schema 3, this program reads up to 2)"));
}

TEST_F(HostileFile, NoDamageToARecordingEverReadsAsOtherNumbers) {
  std::vector<Frame> truth;
  for (int k = 1; k <= 3; ++k)
    truth.push_back(rich_frame(fmt::format("{:06}", k), static_cast<std::uint64_t>(k), 100.0));
  const std::uint64_t table = digest_of(statistics_tree(rich_table(20)));
  const std::string whole = file_bytes(recording_);
  const fs::path damaged = folder_.path() / "damaged.h5";
  Rng rng(11);
  int refused = 0, unharmed = 0;
  // Bits all over the file: most of them lie in the numbers.
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes = whole;
    const std::size_t at = rng.below(bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
    put_bytes(damaged, bytes);
    try {
      const RecordingReader file(damaged);
      ASSERT_EQ(file.frames().size(), 3U);
      for (std::size_t k = 0; k < 3; ++k) {
        const Frame frame = file.read(file.frames()[k]);
        expect_same_problem(frame.problem, truth[k].problem);
        EXPECT_TRUE(same_bits(frame.impulse, truth[k].impulse));
        EXPECT_TRUE(same_bits(frame.geometry->rest, truth[k].geometry->rest));
      }
      ASSERT_TRUE(file.statistics());
      EXPECT_EQ(digest_of(statistics_tree(*file.statistics())), table);
      ++unharmed;
    } catch (const InputError&) {
      ++refused;
    }
    ASSERT_FALSE(HasFailure()) << "bit flip in byte " << at << " was not noticed";
  }
  EXPECT_GT(refused, 200) << unharmed;
}

TEST(RunInChild, TurnsCrashesIntoOneLine) {
  const auto message = [](FunctionRef<void()> work) -> std::string {
    try {
      run_in_child("FILE", 0, work);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([] {}), "");
  EXPECT_EQ(message([] { throw InputError("FILE: a reason"); }), "FILE: a reason");
  EXPECT_NE(message([] {
              ::raise(SIGSEGV);
            }).find("FILE: damaged file (the library that reads it crashed on it: signal 11"),
            std::string::npos);
  EXPECT_NE(message([] { ::raise(SIGFPE); }).find("signal 8"), std::string::npos);
  EXPECT_NE(message([] { ::_exit(7); }).find("ended without an answer"), std::string::npos);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_NE(message([] {
              std::vector<char> giant(std::size_t{1} << 40U);
            }).find("more memory than its size allows"),
            std::string::npos);
#endif
}

/// Exit code of a child that hears `end` out for a second and, once it listens, is stopped for twice as long.
int heard_by_a_stopped_child(int end, int other_end, bool answer) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(other_end);
    std::string reply;
    const bool heard = hear_out(end, std::chrono::seconds(1), reply);
    ::_exit(heard && reply == "+" ? 0 : 1);
  }
  ::close(end);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  ::kill(child, SIGSTOP);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  if (answer) {
    EXPECT_EQ(::write(other_end, "+", 1), 1);
    ::close(other_end);
  }
  ::kill(child, SIGCONT);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  if (!answer) ::close(other_end);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// A recording that is stopped with Ctrl-Z while it checks a file and goes on a minute later.
TEST(RunInChild, TimeWhileTheProcessIsStoppedDoesNotCount) {
  for (const bool answer : {true, false}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    EXPECT_EQ(heard_by_a_stopped_child(ends[0], ends[1], answer), answer ? 0 : 1);
  }
}

TEST(RunInChild, ASignalToTheWholeGroupIsNoDamage) {
  for (const int signal : {SIGINT, SIGTERM}) {
    EXPECT_THROW(run_in_child("FILE", 0, [&] { ::raise(signal); }), Cancelled) << signal;
  }
}

}  // namespace
}  // namespace signorini::hostile_test
