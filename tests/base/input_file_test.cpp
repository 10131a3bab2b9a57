#include "base/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "base/check.h"

namespace signorini::input_file_test {
namespace {

namespace fs = std::filesystem;

class InputFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("signorini_input_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }
  static std::string refusal(const fs::path& path, std::uintmax_t most = UINTMAX_MAX) {
    try {
      read_input_file(path, "scene file", most);
    } catch (const InputError& error) {
      return error.what();
    }
    return "read";
  }
  fs::path folder_;
};

TEST_F(InputFile, ReadsAllBytes) {
  const std::string text("a\0b\n", 4);
  EXPECT_EQ(read_input_file(write("a", text), "scene file", 4), text);
  EXPECT_EQ(read_input_file(write("empty", ""), "scene file"), "");
  std::string large(300'000, 'x');
  EXPECT_EQ(read_input_file(write("large", large), "scene file"), large);
}

TEST_F(InputFile, RefusesWhatIsNoRegularFile) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe.string() + ": is a pipe, no scene file; name a regular file");
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero: is a device, no scene file; name a regular file");
  EXPECT_EQ(refusal(folder_), folder_.string() + ": is a folder, no scene file; name a regular file");
  EXPECT_EQ(refusal(folder_ / "none"), (folder_ / "none").string() + ": no such scene file");
}

TEST_F(InputFile, RefusesMoreThanItsBound) {
  const fs::path path = write("a", "12345");
  EXPECT_EQ(refusal(path, 5), "read");
  EXPECT_EQ(refusal(path, 4), path.string() + ": has 5 bytes, scene files may have 4; is it the right file?");
}

}  // namespace
}  // namespace signorini::input_file_test
