#include "harness/result_head.h"

#include <gtest/gtest.h>

namespace signorini::result_head_test {
namespace {

TEST(ResultHead, DigestIsOfTheContentAlone) {
  Experiment one;
  one.content = "{\"stride\":2}";
  Experiment other = one;
  other.text = "# a comment\nstride = 2\n";
  other.artefact = "another title";
  EXPECT_EQ(experiment_digest(one).size(), 16U);
  EXPECT_EQ(experiment_digest(one), experiment_digest(other));
  other.content = "{\"stride\":3}";
  EXPECT_NE(experiment_digest(one), experiment_digest(other));
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
