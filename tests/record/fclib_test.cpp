#include "record/fclib_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/check.h"
#include "contact/planted_problem.h"
#include "record/problem_file.h"
#include "record/record_test_tools.h"

namespace signorini {
namespace {

namespace fs = std::filesystem;

/// Every file below SIGNORINI_DATA_DIR/<folder>; empty where the data is absent.
std::vector<fs::path> data_files(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(SIGNORINI_DATA_DIR) / folder, error)) {
    if (entry.path().extension() == ".hdf5") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

TEST(FclibFile, EveryFileOfTheCollectionLoadsAndSurvivesTheWayOutAndBack) {
  const TemporaryFolder folder;
  int loaded = 0;
  for (const char* part : {"fclib/local", "fclib/global", "fem", "reference"}) {
    for (const fs::path& path : data_files(part)) {
      SCOPED_TRACE(path.string());
      const FclibFile file = read_fclib(path);
      EXPECT_GT(file.problem.contacts(), 0);
      const fs::path copy = folder.path() / "copy.hdf5";
      write_fclib(copy, file);
      const FclibFile again = read_fclib(copy);
      expect_same_problem(again.problem, file.problem);
      EXPECT_EQ(again.info.title, file.info.title);
      EXPECT_EQ(again.info.description, file.info.description);
      ASSERT_EQ(again.solution.has_value(), file.solution.has_value());
      if (file.solution) {
        EXPECT_TRUE(same_bits(again.solution->r, file.solution->r));
      }
      ++loaded;
    }
  }
  if (loaded == 0) GTEST_SKIP() << "no data in " << SIGNORINI_DATA_DIR;
  EXPECT_EQ(loaded, 44);
}

}  // namespace
}  // namespace signorini
