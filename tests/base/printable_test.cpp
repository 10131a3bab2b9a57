#include "base/printable.h"

#include <gtest/gtest.h>

namespace signorini::printable_test {
namespace {

TEST(Printable, LeavesOrdinaryTextAlone) {
  for (const char* text : {"", "bucket.h5", "Signorini–Coulomb, µ = 0.3, 接触", "it's 'quoted'", "\\n"})
    EXPECT_EQ(printable(text), text);
}

TEST(Printable, EscapesWhatATerminalWouldObey) {
  EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
  EXPECT_EQ(printable("two\nlines\r\tand\a"), "two\\nlines\\r\\tand\\x07");
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(printable("\x7f"), "\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "\\u{9b}31m");  // C1: as ESC [ in one character
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "h5"),
            "\\u{202e}h5");  // writes right to left
}

TEST(Printable, EscapesBytesThatAreNoUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut in the middle
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(Printable, KeepsLineFeedsWhereAsked) { EXPECT_EQ(printable("a\nb\tc", LineFeeds::keep), "a\nb\\tc"); }

TEST(Shortened, KeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(shortened("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shortened("abcdefghijk", 10), "abcdef…ijk");
  EXPECT_EQ(shortened("µµµµµµµµµµµ", 10), "µµµµµµ…µµµ");
}

TEST(ErrorLine, CutsValuesAndLeavesTheSentence) {
  const std::string value(5000, 'x');
  const std::string line = error_line("scene.toml:3: 'title' = " + value + " is not a number");
  EXPECT_EQ(line.rfind("scene.toml:3: 'title' = xxx", 0), 0U) << line;
  EXPECT_NE(line.find("… "), 0U);
  EXPECT_NE(line.find(" is not a number"), std::string::npos) << line;
  EXPECT_LT(line.size(), 260U);
}

TEST(ErrorLine, CutsQuotedValuesWithSpaces) {
  std::string value;
  for (int i = 0; i < 300; ++i) value += "word ";
  for (const char quote : {'\'', '"'}) {
    const std::string line = error_line("--set x: " + (quote + value + quote) + ": unknown");
    EXPECT_LT(line.size(), 240U) << line;
    EXPECT_NE(line.find(": unknown"), std::string::npos) << line;
  }
}

TEST(ErrorLine, ApostrophesOpenNoValue) {
  std::string text = "the solver's list: ";
  for (int i = 0; i < 60; ++i) text += "name, ";
  text += "and the user's";
  EXPECT_EQ(error_line(text), text);
}

TEST(ErrorLine, IsNeverLongerThanItsBound) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "word ";
  const std::string line = error_line(text);
  EXPECT_LE(line.size(), kMostLine + 2);  // the ellipsis has three bytes
}

}  // namespace
}  // namespace signorini::printable_test
