#include "harness/result_head.h"

#include <gtest/gtest.h>

namespace signorini::result_head_test {
namespace {

std::string digest(const std::string& text) {
  Experiment experiment;
  experiment.text = text;
  return experiment_digest(experiment);
}

TEST(ResultHead, DigestIsOfWhatMakesRows) {
  const std::string one = digest("artefact = \"A\"\nthreads = [1, 2]\nstride = 2\n");
  EXPECT_EQ(one.size(), 16U);
  EXPECT_EQ(one, digest("# why\nartefact = \"A\"\nthreads = [1, 2]\nstride = 2\n"));
  EXPECT_EQ(one, digest("artefact = \"B\"\nstride = 2  # every second\nthreads = [ 1, 2 ]\n"));
  EXPECT_NE(one, digest("artefact = \"A\"\nthreads = [2, 1]\nstride = 2\n"));
  EXPECT_NE(one, digest("artefact = \"A\"\nthreads = [1, 2]\nstride = 3\n"));
  EXPECT_NE(one, digest("artefact = \"A\"\nthreads = [1, 2]\n"));
}

TEST(ResultHead, IsReadAsItIsWritten) {
  const ResultHead head{"quick", "abc123-dirty", "0123456789abcdef", {"a 01", "b with blanks 02"}};
  EXPECT_EQ(head.text(),
            "# size: quick\n# program: abc123-dirty\n# experiment: 0123456789abcdef\n# input: a 01\n"
            "# input: b with blanks 02\n");
  EXPECT_EQ(ResultHead::of(head.text() + "# a comment\nartefact = \"x\"\n"), head);
  EXPECT_EQ(ResultHead::of(""), ResultHead());
  EXPECT_EQ(ResultHead::of("artefact = \"x\"\n" + head.text()), ResultHead());
  // a copy of a run.toml as an experiment of its own
  ResultHead copied = head;
  EXPECT_EQ(ResultHead::of(head.text() + ResultHead{"paper", "old", "f", {"z 1"}}.text()), copied);
}

TEST(ResultHead, SaysWhatDiffers) {
  const ResultHead head{"quick", "abc", "1", {"a 1"}};
  ResultHead other = head;
  other.inputs = {"a 2"};
  EXPECT_TRUE(head.equals_but_for_inputs(other));
  EXPECT_EQ(head.difference(other), "other recordings or problem files");
  other.experiment = "2";
  EXPECT_FALSE(head.equals_but_for_inputs(other));
  EXPECT_EQ(head.difference(other), "another version of the experiment file");
  other.program = "def";
  EXPECT_EQ(head.difference(other), "another program (abc there, def now)");
  other.size = "paper";
  EXPECT_EQ(head.difference(other), "another size (quick there, paper now)");
}

}  // namespace
}  // namespace signorini::result_head_test
