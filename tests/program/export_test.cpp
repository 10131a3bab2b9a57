#include <cstdlib>

#include "program/program_fixture.h"
#include "record/recording_file.h"

namespace signorini::export_test {
namespace {

class ExportTest : public ProgramTest {
 protected:
  /// Frames of one planted problem at the given times: ids and times as in a recording with several solves
  /// per step.
  std::string recording(const std::string& name, const std::vector<std::pair<std::string, double>>& frames,
                        bool geometry = true, bool pictures_data = false) const {
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
        if (pictures_data) frame.geometry->rest.setConstant(3, 3, 0.25);
      }
      if (pictures_data) {
        // the axes of contact 1: n = y, t1 = z, t2 = x
        frame.problem.frame.row(1) << 0, 1, 0, 0, 0, 1, 1, 0, 0;
        frame.impulse = Vector::LinSpaced(18, 1.0, 18.0);
        frame.problem.warm_start = 2.0 * frame.impulse;
      }
      writer.append(frame);
    }
    writer.finish();
    return path(name);
  }
};

/// The numbers of a Float64 DataArray: base64 of a byte count and the values.
std::vector<double> array_of(const std::string& text, const std::string& name) {
  const std::size_t at = text.find(fmt::format("Name=\"{}\"", name));
  if (at == std::string::npos) return {};
  const std::size_t begin = text.find('>', at) + 1, end = text.find('<', begin);
  static const std::string kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  unsigned bits = 0, held = 0;
  for (std::size_t i = begin; i < end && text[i] != '='; ++i) {
    bits = bits << 6U | static_cast<unsigned>(kDigits.find(text[i]));
    held += 6;
    if (held >= 8) bytes += static_cast<char>(bits >> (held -= 8) & 255U);
  }
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  EXPECT_EQ(bytes.size(), size + sizeof size) << name;
  std::vector<double> values(size / sizeof(double));
  std::memcpy(values.data(), bytes.data() + sizeof size, values.size() * sizeof(double));
  return values;
}

TEST_F(ExportTest, DisplacementsAreFromRestAndImpulsesInWorldAxes) {
  ASSERT_EQ(run({"export", recording("a.h5", {{"000001", 0.5}}, true, true), "--vtk", path("vtk")}).code, 0);
  const std::string surface = file_text(folder_ / "vtk" / "surface_000001.vtu");
  EXPECT_EQ(array_of(surface, "displacement"),
            (std::vector<double>{0.75, -0.25, -0.25, -0.25, 0.75, -0.25, -0.25, -0.25, 0.75}));
  const std::string contacts = file_text(folder_ / "vtk" / "contacts_000001.vtu");
  const std::vector<double> impulse = array_of(contacts, "impulse");
  ASSERT_EQ(impulse.size(), 18U);
  EXPECT_EQ(std::vector<double>(impulse.begin(), impulse.begin() + 6),
            (std::vector<double>{1, 2, 3, 6, 4, 5}));
  const std::vector<double> before = array_of(contacts, "warm_start");
  ASSERT_EQ(before.size(), 18U);
  for (std::size_t i = 0; i < 18; ++i) EXPECT_EQ(before[i], 2.0 * impulse[i]);

  const Outcome o = run({"export", recording("b.h5", {{"000001", 0.5}}), "--vtk", path("bare")});
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.err.find("rest positions were not recorded"), std::string::npos) << o.err;
  EXPECT_TRUE(array_of(file_text(folder_ / "bare" / "surface_000001.vtu"), "displacement").empty());
  EXPECT_TRUE(array_of(file_text(folder_ / "bare" / "contacts_000001.vtu"), "impulse").empty());
}

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

TEST_F(ExportTest, ALocalExportHasTheAnswersOfTheWholeProblem) {
  const std::string whole = planted("p.hdf5", {.contacts = 30, .stiffness = 1.0, .sharing = 0.3});
  for (const char* name : {"local.hdf5", "local.npz"})
    ASSERT_EQ(run({"export", whole, "--local", "-o", path(name)}).code, 0);
  const auto solve = [&](const std::string& file, const std::string& solver) {
    const Outcome o = run({"solve", file, "--solver", solver, "--tolerance", "1e-8", "--solution",
                           path("r.hdf5"), "--csv", path("rows.csv"), "--force", "--require-converged"});
    EXPECT_EQ(o.code, 0) << o.err;
    return std::pair{read_fclib(path("r.hdf5")), read_run_table(path("rows.csv")).at(0)};
  };
  for (const std::string solver : {"pgs", "pcg", "newton"}) {
    SCOPED_TRACE(solver);
    const auto [p, row] = solve(whole, solver);
    for (const char* name : {"local.hdf5", "local.npz"}) {
      const auto [l, local_row] = solve(path(name), solver);
      // these solvers see W and q alone, and the file has the bits that they assemble
      EXPECT_EQ(l.solution->r, p.solution->r);
      EXPECT_EQ(local_row.iterations, row.iterations);
      // The referee forms u by a solve with M there and by W here: both lose some hundred roundings of the largest
      // velocity, and the residual is relative to that.
      EXPECT_NEAR(local_row.errors.residual, row.errors.residual, 1e-13);
      EXPECT_LE((l.solution->u - p.solution->u).cwiseAbs().maxCoeff(),
                1e-13 * (1.0 + p.solution->u.cwiseAbs().maxCoeff()));
    }
  }
}

TEST_F(ExportTest, WhatCannotBeExportedIsOneLine) {
  const std::string file = recording("a.h5", {{"000001", 0.5}});
  expect_error({"export", file}, 2, "--vtk DIR");
  expect_error({"export", file, "--vtk", path("vtk"), "-o", path("x.hdf5")}, 2, "not both");
  expect_error({"export", file, "--vtk", path("vtk"), "--local"}, 2, "--local condenses one snapshot");
  expect_error({"export", file, "--vtk", path("vtk"), "--step", "7"}, 2, "no frame '7'");
  EXPECT_FALSE(fs::exists(folder_ / "vtk")) << "a refused export made a folder";
  expect_error({"export", file, "--vtk", file}, 2, "is a file");
  expect_error({"export", file, "--vtk", "/proc/vtk"}, 3, "/proc/vtk: the folder cannot be made");
  expect_error({"export", planted("p.hdf5"), "--vtk", path("vtk")}, 3, "p.hdf5");
  expect_error({"export", path("absent.h5"), "--vtk", path("vtk")}, 3, "absent.h5");
  expect_error({"export", recording("bare.h5", {{"000001", 0.5}}, false), "--vtk", path("vtk")}, 3,
               "--set geometry=true");
}

TEST_F(ExportTest, AFullDiskIsOneLineAndLeavesTheEarlierExport) {
  const std::string file = recording("a.h5", {{"000001", 0.5}, {"000002", 1.0}});
  ASSERT_EQ(run({"export", file, "--vtk", path("vtk"), "--step", "1"}).code, 0);
  const auto listing = [&] {
    std::map<std::string, std::string> files;
    for (const auto& entry : fs::directory_iterator(folder_ / "vtk"))
      files[entry.path().filename().string()] = entry.is_regular_file() ? file_text(entry.path()) : "folder";
    return files;
  };
  const auto before = listing();
  ASSERT_EQ(before.size(), 4U);
  // one block of 512 bytes: no file of contacts fits
  const std::string command =
      fmt::format("(trap '' XFSZ; ulimit -f 1; exec '{}' export '{}' --vtk '{}' --force) 2>'{}'",
                  SIGNORINI_PROGRAM, file, path("vtk"), path("said"));
  const int status = std::system(command.c_str());
  ASSERT_TRUE(WIFEXITED(status));
  const std::string said = file_text(folder_ / "said");
  EXPECT_EQ(WEXITSTATUS(status), 3) << said;
  EXPECT_NE(said.find("contacts_000001.vtu"), std::string::npos) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
  EXPECT_EQ(listing(), before);
}

}  // namespace
}  // namespace signorini::export_test
