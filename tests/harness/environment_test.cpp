#include "harness/environment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/check.h"
#include "base/digest.h"

namespace signorini::environment_test {
namespace {

TEST(Environment, ProvenanceNamesProgramMachineInputsAndCommand) {
  const auto file = std::filesystem::temp_directory_path() / fmt::format("signorini_env_{}", ::getpid());
  std::ofstream(file) << "some bytes";
  Provenance provenance({"signorini", "solve", "a \"b\"\n\xff.h5"});
  provenance.add_input(file);
  provenance.set("size", "quick");
  const std::string json = provenance.json();
  std::filesystem::remove(file);
  for (const char* key : {"command_line",
                          "git",
                          "compiler",
                          "flags",
                          "build_type",
                          "oneTBB",
                          "HDF5",
                          "cpu",
                          "caches",
                          "blas",
                          "affinity",
                          "load_at_start",
                          "load_at_end",
                          "instruction_sets",
                          "host_digest",
                          "started",
                          "finished",
                          "use",
                          "wall_seconds",
                          "cpu_seconds",
                          "children_cpu_seconds",
                          "waited_seconds",
                          "voluntary_switches",
                          "involuntary_switches",
                          "usable_cpus"}) {
    EXPECT_NE(json.find(fmt::format("\"{}\"", key)), std::string::npos) << key;
  }
  EXPECT_NE(json.find(digest_text(digest_of("some bytes"))), std::string::npos);
  EXPECT_EQ(json.find(file.string()), std::string::npos);  // published: no folder of this machine
  EXPECT_NE(json.find("/" + file.filename().string() + "\""), std::string::npos);
  EXPECT_NE(json.find("\"size\": \"quick\""), std::string::npos);
  EXPECT_THROW(provenance.add_input(file), InputError);
}

/// The memory of a process is a file whose first byte nobody can read.
TEST(Environment, AFileThatCannotBeReadToItsEndHasNoDigest) {
  EXPECT_THROW(digest_file("/proc/self/mem"), InputError);
  EXPECT_THROW(digest_file("/nonexistent"), InputError);
  EXPECT_EQ(digest_file("/dev/null").bytes, 0U);
}

TEST(Environment, HostNameIsNotWritten) {
  std::string host(256, '\0');
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  host.resize(host.find('\0'));
  if (host.size() < 4) GTEST_SKIP() << "the host's name is too short to search for";
  EXPECT_EQ(Provenance({}).json().find("\"" + host + "\""), std::string::npos);
}

TEST(Environment, BuildTextHasVersionCompilerAndLibraries) {
  for (const char* word : {"signorini ", "git", "compiler", "flags", "oneTBB 20", "HDF5 1.", "Eigen 3."}) {
    EXPECT_NE(build_text().find(word), std::string::npos) << word << "\n" << build_text();
  }
}

}  // namespace
}  // namespace signorini::environment_test
