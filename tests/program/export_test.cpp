#include "program/program_fixture.h"
#include "record/recording_file.h"

namespace signorini {
namespace {

class ExportTest : public ProgramTest {
 protected:
  /// Frames of one planted problem at the given times: ids and times as in a recording with several solves
  /// per step.
  std::string recording(const std::string& name, const std::vector<std::pair<std::string, double>>& frames,
                        bool geometry = true) const {
    PlantedOptions options;
    options.contacts = 6;
    options.regions = 2;
    ContactProblem p = make_planted_problem(options).problem;
    p.dt = 0.25;
    p.frame = Matrix::Zero(6, 9);
    for (const Index i : {0, 4, 8}) p.frame.col(i).setOnes();
    p.position = Matrix::Random(6, 3);
    RecordingHeader header;
    header.scene = "a <scene> & \"more\"";
    header.config = "title = 'x'\n";
    RecordingWriter writer(folder_ / name, header, false);
    for (const auto& [id, time] : frames) {
      Frame frame;
      frame.id = id;
      frame.problem = p;
      frame.problem.time = time;
      if (geometry) {
        frame.geometry = std::make_unique<FrameGeometry>();
        frame.geometry->vertices.setIdentity(3, 3);
        frame.geometry->triangles.resize(1, 3);
        frame.geometry->triangles << 0, 1, 2;
        frame.geometry->triangle_body = {-1};
      }
      writer.append(frame);
    }
    writer.finish();
    return path(name);
  }
};

TEST_F(ExportTest, SolvesOfOneStepFollowEachOtherInTheSeries) {
  const std::string file =
      recording("a.h5", {{"000001", 0.5}, {"000002", 1.0}, {"000002.2", 1.0}, {"000003", 1.25}});
  const Outcome o = run({"export", file, "--vtk", path("vtk")});
  ASSERT_EQ(o.code, 0) << o.err;
  const std::string series = file_text(folder_ / "vtk" / "contacts.pvd");
  std::size_t at = 0;
  for (const char* line :
       {R"(timestep="0.5" part="0" file="contacts_000001.vtu")",
        R"(timestep="1" part="0" file="contacts_000002.vtu")",
        R"(timestep="1.125" part="0" file="contacts_000002.2.vtu")",  // half of dt = 0.25 s later: second of
                                                                      // two
        R"(timestep="1.25" part="0" file="contacts_000003.vtu")"}) {
    const std::size_t found = series.find(line, at);
    ASSERT_NE(found, std::string::npos) << line << "\n" << series;
    at = found;
  }
  for (const char* id : {"000001", "000002", "000002.2", "000003"}) {
    EXPECT_TRUE(fs::exists(folder_ / "vtk" / fmt::format("contacts_{}.vtu", id)));
    EXPECT_TRUE(fs::exists(folder_ / "vtk" / fmt::format("surface_{}.vtu", id)));
  }
  for (const auto& entry : fs::directory_iterator(folder_ / "vtk"))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
}

TEST_F(ExportTest, EarlierExportsAreReplacedOnlyWhenAskedAndForeignFilesStay) {
  const std::string file = recording("a.h5", {{"000001", 0.5}, {"000002", 1.0}});
  ASSERT_EQ(run({"export", file, "--vtk", path("vtk")}).code, 0);
  const std::string first = file_text(folder_ / "vtk" / "contacts_000002.vtu");
  std::ofstream(folder_ / "vtk" / "notes.txt") << "mine";
  expect_error({"export", file, "--vtk", path("vtk"), "--step", "2"}, 2, "--force");
  ASSERT_EQ(run({"export", file, "--vtk", path("vtk"), "--step", "2", "--force"}).code, 0);
  EXPECT_FALSE(fs::exists(folder_ / "vtk" / "contacts_000001.vtu"))
      << "a frame of the earlier series is left";
  EXPECT_EQ(file_text(folder_ / "vtk" / "contacts_000002.vtu"), first) << "the same frame gave other bytes";
  EXPECT_EQ(file_text(folder_ / "vtk" / "notes.txt"), "mine");
}

TEST_F(ExportTest, WhatCannotBeExportedIsOneLine) {
  const std::string file = recording("a.h5", {{"000001", 0.5}});
  expect_error({"export", file}, 2, "--vtk DIR");
  expect_error({"export", file, "--vtk", path("vtk"), "-o", path("x.hdf5")}, 2, "either");
  expect_error({"export", file, "--vtk", path("vtk"), "--step", "7"}, 2, "no frame '7'");
  EXPECT_FALSE(fs::exists(folder_ / "vtk")) << "a refused export made a folder";
  expect_error({"export", file, "--vtk", file}, 2, "is a file");
  expect_error({"export", file, "--vtk", "/proc/vtk"}, 3, "cannot make the folder");
  expect_error({"export", planted("p.hdf5"), "--vtk", path("vtk")}, 3, "p.hdf5");
  expect_error({"export", path("absent.h5"), "--vtk", path("vtk")}, 3, "absent.h5");
  expect_error({"export", recording("bare.h5", {{"000001", 0.5}}, false), "--vtk", path("vtk")}, 3,
               "--set geometry=true");
}

TEST_F(ExportTest, AFullDiskIsOneLineAndLeavesNoTornFile) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "this system has no /dev/full";
  const std::string file = recording("a.h5", {{"000001", 0.5}});
  // a file that cannot be created: its temporary name leads to a device that is always full
  fs::create_directory(folder_ / "vtk");
  fs::create_symlink("/dev/full", folder_ / "vtk" / "surface_000001.vtu.tmp");
  expect_error({"export", file, "--vtk", path("vtk"), "--force"}, 3, "surface_000001.vtu");
  EXPECT_FALSE(fs::exists(folder_ / "vtk" / "surface_000001.vtu"));
  EXPECT_FALSE(fs::exists(folder_ / "vtk" / "surface.pvd"));
}

}  // namespace
}  // namespace signorini
