#include <gtest/gtest.h>

#include <functional>

#include "base/check.h"
#include "record/record_test_tools.h"
#include "record/recording_checkpoint.h"

namespace signorini::checkpoint_test {
namespace {

namespace fs = std::filesystem;

RecordingCheckpoint rich_checkpoint() {
  RecordingCheckpoint checkpoint;
  checkpoint.steps = 12;
  checkpoint.frames = {"000005", "000010", "000010.2"};
  checkpoint.statistics = rich_table(12);
  checkpoint.clocks.columns = {"solve_seconds"};
  checkpoint.clocks.units = {"s"};
  for (int i = 0; i < 12; ++i) checkpoint.clocks.rows.push_back({0.1 * i});
  checkpoint.state = std::string("state \0 with any bytes \xff", 23);
  return checkpoint;
}

void expect_same(const RecordingCheckpoint& a, const RecordingCheckpoint& b) {
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.frames, b.frames);
  EXPECT_EQ(a.state, b.state);
  for (const auto table : {&RecordingCheckpoint::statistics, &RecordingCheckpoint::clocks}) {
    EXPECT_EQ((a.*table).columns, (b.*table).columns);
    EXPECT_EQ((a.*table).units, (b.*table).units);
    ASSERT_EQ((a.*table).rows.size(), (b.*table).rows.size());
    for (std::size_t i = 0; i < (a.*table).rows.size(); ++i) {
      const auto& x = (a.*table).rows[i];
      const auto& y = (b.*table).rows[i];
      ASSERT_EQ(x.size(), y.size());
      EXPECT_EQ(std::memcmp(x.data(), y.data(), x.size() * sizeof(double)), 0) << i;
    }
  }
}

std::string complaint_of(std::string_view bytes, const RecordingHeader& header) {
  try {
    decode_checkpoint(bytes, header, "FILE");
  } catch (const InputError& e) {
    const std::string text = e.what();
    EXPECT_EQ(text.rfind("FILE: ", 0), 0U) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  }
  return "";
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "no error";
}

TEST(Checkpoint, GivesEveryBitBack) {
  const RecordingHeader header = test_header();
  const RecordingCheckpoint checkpoint = rich_checkpoint();
  const std::string bytes = encode_checkpoint(checkpoint, header);
  EXPECT_EQ(bytes, encode_checkpoint(checkpoint, header));
  expect_same(decode_checkpoint(bytes, header, "FILE"), checkpoint);
}

TEST(Checkpoint, TellsTheKernelsAndFitsOthers) {
  RecordingHeader header = test_header();
  header.kernels = "avx2";
  const std::string bytes = encode_checkpoint(rich_checkpoint(), header);
  header.kernels = "portable";
  EXPECT_EQ(decode_checkpoint(bytes, header, "FILE").kernels, "avx2");
}

/// Only a checkpoint is there: its steps were computed by what it names.
TEST(Checkpoint, TellsTheKernelsOfItsStepsToAResume) {
  const TemporaryFolder folder;
  RecordingHeader header = test_header();
  header.kernels = "portable";
  RecordingCheckpoint checkpoint = rich_checkpoint();
  checkpoint.frames.clear();
  RecordingWriter(folder.path() / "a.h5", header, false).keep(checkpoint);
  header.kernels = "avx2";
  RecordingWriter writer(folder.path() / "a.h5", header, true);
  EXPECT_EQ(writer.header().kernels, "avx2");
  ASSERT_TRUE(writer.checkpoint());
  EXPECT_EQ(writer.header().kernels, "portable, avx2");
}

TEST(Checkpoint, AnyDamageAndAnyOtherSceneIsRefused) {
  const RecordingHeader header = test_header();
  const std::string bytes = encode_checkpoint(rich_checkpoint(), header);
  ASSERT_EQ(complaint_of(bytes, header), "");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_NE(complaint_of(std::string_view(bytes).substr(0, length), header), "") << length;
  }
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
    EXPECT_NE(complaint_of(flipped, header), "") << "bit flip in byte " << at;
  }
  EXPECT_NE(complaint_of(bytes + "x", header), "");
  RecordingHeader other = test_header();
  other.config += "# another";
  EXPECT_NE(complaint_of(bytes, other).find("another scene, configuration or program"), std::string::npos);
  RecordingCheckpoint short_table = rich_checkpoint();
  short_table.steps = 13;
  EXPECT_NE(complaint_of(encode_checkpoint(short_table, header), header), "");
}

TEST(Checkpoint, StaysBesideAnUnfinishedRecordingAndGoesWithAFinishedOne) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5", parts = path.string() + ".parts";
  {
    RecordingWriter writer(path, test_header(), false);
    EXPECT_FALSE(writer.checkpoint());
    for (const std::string& id : rich_checkpoint().frames) writer.append(rich_frame(id, 1, 100.0));
    writer.keep(rich_checkpoint());
  }
  // A reader packs the frames; the checkpoint waits for a resume.
  EXPECT_EQ(RecordingReader(path).frames().size(), 3U);
  EXPECT_TRUE(fs::exists(parts / "checkpoint"));
  EXPECT_FALSE(fs::exists(parts / "000005.h5"));
  EXPECT_EQ(RecordingReader(path).frames().size(), 3U) << "a second reader finds the same";
  EXPECT_TRUE(fs::exists(parts / "checkpoint"));
  {
    RecordingWriter writer(path, test_header(), true);
    const std::optional<RecordingCheckpoint> found = writer.checkpoint();
    ASSERT_TRUE(found);
    expect_same(*found, rich_checkpoint());
    writer.finish(&found->statistics);
  }
  EXPECT_FALSE(fs::exists(parts));
  EXPECT_TRUE(RecordingReader(path).has_statistics());

  // Killed after the finished file was published, before the parts were removed.
  fs::create_directories(parts);
  put_bytes(parts / "checkpoint", "left over");
  EXPECT_EQ(RecordingReader(path).frames().size(), 3U);
  EXPECT_FALSE(fs::exists(parts));
}

TEST(Checkpoint, ThatCountsFramesWhichAreNotThereIsRefused) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  {
    RecordingWriter writer(path, test_header(), false);
    writer.append(rich_frame("000005", 1, 100.0));
    writer.keep(rich_checkpoint());
  }
  RecordingWriter resumed(path, test_header(), true);
  EXPECT_EQ(resumed.frames().size(), 1U);
  EXPECT_NE(message_of([&] { resumed.checkpoint(); }).find("counts frame 000010, which is not on disk"),
            std::string::npos);
  put_bytes(path.string() + ".parts/checkpoint", "rubbish");
  EXPECT_NE(message_of([&] { resumed.checkpoint(); }).find("not a checkpoint of this version"),
            std::string::npos);
}

TEST(Checkpoint, OfAnEarlierRecordingIsNotTakenForANewOne) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "a.h5";
  { RecordingWriter(path, test_header(), false).keep(rich_checkpoint()); }
  EXPECT_TRUE(fs::exists(path.string() + ".parts/checkpoint"));
  RecordingWriter fresh(path, test_header(), false);
  EXPECT_FALSE(fresh.checkpoint());
}

}  // namespace
}  // namespace signorini::checkpoint_test
