// Snapshots as FCLib files, recordings as VTK series: what the library does of `export`.

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "base/check.h"
#include "contact/delassus_operator.h"
#include "contact/planted_problem.h"
#include "contact/problem_zoo.h"
#include "harness/fclib_export.h"
#include "harness/listening_monitor.h"
#include "harness/vtk_export.h"
#include "record/fclib_file.h"
#include "record/npz_file.h"
#include "record/problem_file.h"
#include "record/record_test_tools.h"

namespace signorini::file_export_test {
namespace {

namespace fs = std::filesystem;

Frame frame(const std::string& id, double time) {
  Frame made;
  made.id = id;
  made.problem = make_planted_problem({.contacts = 2}).problem;
  made.problem.time = time;
  made.problem.dt = 0.5;
  made.problem.position = Matrix::Random(2, 3);
  made.problem.frame = Matrix::Zero(2, 9);
  made.problem.frame.row(0) << 1, 0, 0, 0, 1, 0, 0, 0, 1;
  made.problem.frame.row(1) << 0, 1, 0, 0, 0, 1, 1, 0, 0;  // n = y, t1 = z, t2 = x
  made.geometry = std::make_unique<FrameGeometry>();
  made.geometry->vertices.setIdentity(3, 3);
  made.geometry->triangles.resize(1, 3);
  made.geometry->triangles << 0, 1, 2;
  made.geometry->triangle_body = {-1};
  return made;
}

class FileExportTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_.path() / name).string(); }
  std::string recording(const std::vector<std::pair<std::string, double>>& frames) const {
    RecordingWriter writer(path("a.h5"), {.scene = "net", .config = "title = 'x'\n", .git = "", .seed = 0},
                           false);
    for (const auto& [id, time] : frames) writer.append(frame(id, time));
    writer.finish();
    return path("a.h5");
  }
  TemporaryFolder folder_;
};

/// The values of an array by its name; empty without one.
std::vector<double> doubles(const std::vector<VtkArray>& arrays, const std::string& name) {
  for (const VtkArray& array : arrays) {
    if (array.name == name) return std::get<std::vector<double>>(array.values);
  }
  return {};
}

TEST_F(FileExportTest, ASnapshotKeepsItsBits) {
  const std::string file = recording({{"000001", 0.5}, {"000002", 1.0}});
  const FclibExport done = export_fclib({.file = file, .step = "2", .output = path("x.hdf5")});
  EXPECT_EQ(done.step, "2");
  EXPECT_EQ(done.kind, "fclib_global");
  EXPECT_EQ(done.contacts, 2);
  EXPECT_EQ(done.bytes, fs::file_size(path("x.hdf5")));
  EXPECT_EQ(done.note, "");
  const FclibFile read = read_fclib(path("x.hdf5"));
  const ContactProblem& problem = RecordingReader(file).read("000002").problem;
  expect_same_problem(read.problem, problem);
  EXPECT_EQ(read.info.title, "net");
  EXPECT_EQ(read.info.description, "step 2 of a.h5, exported by signorini");
  EXPECT_THROW(export_fclib({.file = file, .step = "2", .output = path("x.hdf5")}), UsageError)
      << "it exists";
  EXPECT_EQ(export_fclib({.file = path("x.hdf5"), .output = path("y.hdf5")}).step, "0") << "the only one";
}

TEST_F(FileExportTest, AProblemInThePlaneStaysOne) {
  FclibFile file;
  file.problem = zoo::specimen("planar_wedge_moving").problem;
  write_fclib(path("a.hdf5"), file);
  const FclibExport done = export_fclib({.file = path("a.hdf5"), .output = path("b.hdf5")});
  EXPECT_EQ(done.contacts, 2);
  EXPECT_EQ(done.dofs, 4);
  const FclibFile read = read_fclib(path("b.hdf5"));
  EXPECT_EQ(read.problem.spacedim, 2);
  expect_same_problem(read.problem, file.problem);
}

TEST_F(FileExportTest, ALocalProblemKeepsItsBitsItsSolutionAndItsStarts) {
  FclibFile file;
  PlantedProblem planted = make_planted_problem({.contacts = 4, .stiffness = 1.0});
  file.problem = planted.problem;
  file.problem.warm_start = 0.5 * planted.r;
  file.problem.time = 1.5;
  file.solution = {planted.r, planted.u, Vector::Ones(planted.problem.dofs())};
  write_fclib(path("a.hdf5"), file);
  const ReducedProblem reduced = assemble_reduced(planted.problem);
  for (const char* name : {"local.hdf5", "local.npz"}) {
    const FclibExport done =
        export_fclib({.file = path("a.hdf5"), .output = path(name), .without_bodies = true});
    EXPECT_EQ(done.kind, name == std::string("local.npz") ? "npz" : "fclib_local");
    EXPECT_EQ(done.contacts, 4);
    EXPECT_EQ(done.dofs, 0);
    EXPECT_EQ(done.entries, 9 * reduced.W.blocks());
    const FclibFile read = done.kind == "npz" ? read_npz(path(name)) : read_fclib(path(name));
    EXPECT_FALSE(read.problem.has_primal());
    EXPECT_EQ(to_blocks(read.problem.W).values, reduced.W.values);
    EXPECT_EQ(read.problem.q, reduced.q);
    EXPECT_EQ(read.problem.mu, planted.problem.mu);
    EXPECT_EQ(read.problem.warm_start, file.problem.warm_start);
    EXPECT_EQ(read.problem.time, 1.5);
    ASSERT_TRUE(read.solution);
    EXPECT_EQ(read.solution->r, planted.r);
    EXPECT_EQ(read.solution->u, planted.u);
    EXPECT_EQ(read.solution->v.size(), 0);
    EXPECT_EQ(read.info.description, "step 0 of a.hdf5, condensed to its contacts, exported by signorini");
  }
  // once more: the same problem
  export_fclib({.file = path("local.hdf5"), .output = path("again.hdf5"), .without_bodies = true});
  expect_same_problem(read_fclib(path("again.hdf5")).problem, read_fclib(path("local.hdf5")).problem);
}

TEST_F(FileExportTest, ALocalProblemInThePlaneHasTwoRows) {
  FclibFile file;
  file.problem = zoo::specimen("planar_wedge_moving").problem;
  write_fclib(path("a.hdf5"), file);
  export_fclib({.file = path("a.hdf5"), .output = path("b.hdf5"), .without_bodies = true});
  const ContactProblem local = read_fclib(path("b.hdf5")).problem;
  EXPECT_EQ(local.spacedim, 2);
  EXPECT_EQ(local.contacts(), 2);
  const Matrix W(to_scalar(assemble_delassus(file.problem)));
  for (const Index i : {0, 1, 3, 4}) {
    for (const Index j : {0, 1, 3, 4}) EXPECT_EQ(local.W.coeff(i, j), W(i, j)) << i << " " << j;
  }
}

TEST_F(FileExportTest, WithoutContactsALocalFileIsEmptyAndReadable) {
  FclibFile file;
  file.problem = zoo::make_primal(Matrix::Identity(3, 3), Matrix::Zero(3, 0), Vector::Ones(3),
                                  Vector::Zero(0), Vector::Zero(0));
  write_fclib(path("a.hdf5"), file);
  for (const char* name : {"b.hdf5", "b.npz"}) {
    const FclibExport done =
        export_fclib({.file = path("a.hdf5"), .output = path(name), .without_bodies = true});
    EXPECT_EQ(done.contacts, 0);
    const ContactProblem read = ProblemFile(path(name)).read("0");
    EXPECT_EQ(read.contacts(), 0);
    EXPECT_EQ(read.dofs(), 0);
  }
}

TEST_F(FileExportTest, AWThatDoesNotFitIsRefusedWithItsBytes) {
  EXPECT_NO_THROW(check_local_size(1000, 1e6, "a.h5: step 3"));
  const auto said = [](std::uint64_t blocks, double usable) {
    try {
      check_local_size(blocks, usable, "a.h5: step 3");
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(
      said(1000000, 1e8),
      "a.h5: step 3: W has 1000000 blocks of 3x3 and needs 450000000 bytes to be formed and written, but "
      "100000000 bytes of memory may be used here; export without --local (M and H are sparse) or a step "
      "with fewer contacts");
  EXPECT_NE(said(300000000, 1e15).find("2^31 - 1 entries"), std::string::npos);
}

TEST_F(FileExportTest, AMassWithoutInverseHasNoLocalForm) {
  FclibFile file;
  Matrix M = Matrix::Identity(3, 3);
  M(0, 1) = M(1, 0) = 1.0;
  file.problem =
      zoo::make_primal(M, Matrix::Identity(3, 3), Vector::Ones(3), Vector::Zero(3), Vector::Ones(1));
  write_fclib(path("a.hdf5"), file);
  try {
    export_fclib({.file = path("a.hdf5"), .output = path("b.hdf5"), .without_bodies = true});
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        fmt::format("{}: step 0: body of dof 0 (3 dofs): M is not positive definite: W = H^T M^-1 H does "
                    "not exist; export without --local",
                    path("a.hdf5")));
  }
  EXPECT_FALSE(fs::exists(path("b.hdf5")));
}

TEST_F(FileExportTest, ARecordingOfSeveralStepsNeedsOne) {
  const std::string file = recording({{"000001", 0.5}, {"000002", 1.0}});
  try {
    export_fclib({.file = file, .output = path("x.hdf5")});
    FAIL() << "no error";
  } catch (const UsageError& error) {
    EXPECT_EQ(
        std::string(error.what()),
        fmt::format("{}: holds 2 snapshots; pick one with --step ('signorini info {} --steps' lists them)",
                    file, file));
  }
  EXPECT_FALSE(fs::exists(path("x.hdf5")));
}

TEST_F(FileExportTest, SolvesOfOneStepAreSpreadOverIt) {
  EXPECT_EQ(series_times({0.5, 1.0, 1.0, 2.0}, {0.5, 0.5, 0.5, 0.5}),
            (std::vector<double>{0.5, 1.0, 1.25, 2.0}));
  EXPECT_EQ(series_times({3.0, 3.0}, {0.0, 0.0}), (std::vector<double>{3.0, 3.5})) << "a step of 1 s";
}

TEST_F(FileExportTest, ImpulsesStandInWorldAxesAndDisplacementsFromRest) {
  Frame f = frame("000001", 0.5);
  EXPECT_TRUE(doubles(contact_grid(f, "here").point_data, "impulse").empty());
  EXPECT_TRUE(surface_grid(*f.geometry).point_data.empty());
  f.impulse = Vector::LinSpaced(6, 1.0, 6.0);
  EXPECT_EQ(doubles(contact_grid(f, "here").point_data, "impulse"), (std::vector<double>{1, 2, 3, 6, 4, 5}));
  f.geometry->rest.setConstant(3, 3, 0.25);
  EXPECT_EQ(doubles(surface_grid(*f.geometry).point_data, "displacement"),
            (std::vector<double>{0.75, -0.25, -0.25, -0.25, 0.75, -0.25, -0.25, -0.25, 0.75}));
  f.problem.position.resize(0, 3);
  try {
    contact_grid(f, "here");
    FAIL() << "no error";
  } catch (const InputError& error) {
    EXPECT_EQ(std::string(error.what()),
              "here: contact positions were not recorded, so the contacts cannot be drawn");
  }
}

TEST_F(FileExportTest, StartsStandAtTheContactsWhereTheyWereRecorded) {
  Frame f = frame("000001", 0.5);
  const auto names = [&f] {
    std::vector<std::string> all;
    for (const VtkArray& array : contact_grid(f, "here").point_data)
      if (array.name.find("start") != std::string::npos) all.push_back(array.name);
    return all;
  };
  EXPECT_TRUE(names().empty());
  ContactProblem& p = f.problem;
  p.v_minus = Vector::LinSpaced(p.dofs(), 1.0, p.dofs());
  p.start_states = {FrictionState::sliding, FrictionState::unknown};
  p.start_bounds = (Vector(2) << 0.25, 0.0).finished();
  EXPECT_EQ(names(), (std::vector<std::string>{"start_velocity", "start_state", "start_bound"}));
  const VtkGrid grid = contact_grid(f, "here");
  const Vector u = p.H.transpose() * p.v_minus;
  EXPECT_EQ(doubles(grid.point_data, "start_velocity"),
            (std::vector<double>{u[0], u[1], u[2], u[5], u[3], u[4]}))
      << "the axes of contact 1: n = y, t1 = z, t2 = x";
  EXPECT_EQ(doubles(grid.point_data, "start_bound"), (std::vector<double>{0.25, 0.0}));
  for (const VtkArray& array : grid.point_data) {
    if (array.name != "start_state") continue;
    EXPECT_EQ(std::get<std::vector<std::int32_t>>(array.values), (std::vector<std::int32_t>{2, -1}));
  }
}

TEST_F(FileExportTest, ASeriesAppearsAtOnceAndTellsHowFarItIs) {
  const std::string file = recording({{"000001", 0.5}, {"000002", 1.0}});
  const fs::path folder = folder_.path() / "vtk";
  ListeningMonitor listener;
  listener.on_progress = [&](long long) { EXPECT_FALSE(fs::exists(folder / "contacts.pvd")); };
  const VtkExport done = export_vtk(file, {}, folder, ExistingFolder::refuse, &listener);
  EXPECT_EQ(listener.told, (std::vector<std::string>{"1/2 step 000001", "2/2 step 000002"}));
  EXPECT_EQ(done.frames, 2);
  EXPECT_EQ(done.surfaces, 2);
  EXPECT_EQ(done.displacements, 0);
  EXPECT_EQ(done.impulses, 0);
  for (const char* name : {"contacts.pvd", "surface.pvd", "contacts_000002.vtu", "surface_000001.vtu"})
    EXPECT_TRUE(fs::exists(folder / name)) << name;
}

TEST_F(FileExportTest, ACancelledSeriesLeavesTheEarlierOne) {
  const std::string file = recording({{"000001", 0.5}, {"000002", 1.0}});
  const fs::path folder = folder_.path() / "vtk";
  export_vtk(file, {"000001"}, folder, ExistingFolder::refuse);
  const std::string before = file_bytes(folder / "contacts.pvd");
  ListeningMonitor listener;
  listener.on_progress = [&](long long done) { listener.flag = done == 1; };
  EXPECT_THROW(export_vtk(file, {}, folder, ExistingFolder::replace, &listener), Cancelled);
  EXPECT_EQ(file_bytes(folder / "contacts.pvd"), before);
  EXPECT_FALSE(fs::exists(folder / "contacts_000002.vtu") || fs::exists(folder / "export.tmp"));
}

}  // namespace
}  // namespace signorini::file_export_test
