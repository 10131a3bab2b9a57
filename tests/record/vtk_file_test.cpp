// VTK's XML files, byte by byte.

#include "record/vtk_file.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace signorini::vtk_file_test {
namespace {

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(VtkFile, PointsAndArraysAreBase64OfTheirBytes) {
  VtkGrid grid;
  grid.points = {0.0, 0.0, 0.0};
  grid.cells = {0};
  grid.point_data.push_back({"body \"a\"", 1, std::vector<std::int32_t>{-1}});
  const std::string text = vtk_grid_text(grid);
  EXPECT_TRUE(holds(text, "NumberOfPoints=\"1\" NumberOfCells=\"1\"")) << text;
  // 24 as UInt64, then 24 bytes of zero
  EXPECT_TRUE(holds(text, ">GAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</DataArray>")) << text;
  // 4 as UInt64, then -1 as Int32: ff ff ff ff
  EXPECT_TRUE(holds(text,
                    "type=\"Int32\" Name=\"body &quot;a&quot;\" NumberOfComponents=\"1\" "
                    "format=\"binary\">BAAAAAAAAAD/////</DataArray>"))
      << text;
  // 1 as UInt64, then the type of a vertex
  EXPECT_TRUE(
      holds(text, "Name=\"types\" NumberOfComponents=\"1\" format=\"binary\">AQAAAAAAAAAB</DataArray>"))
      << text;
}

TEST(VtkFile, AnArrayThatDoesNotFitIsOurBug) {
  VtkGrid grid;
  grid.points = {0.0, 0.0, 0.0};
  grid.cells = {0};
  grid.point_data.push_back({"x", 3, std::vector<double>{1.0}});
  EXPECT_THROW(vtk_grid_text(grid), InternalError);
}

TEST(VtkFile, SeriesNamesFilesInTime) {
  const std::string text = vtk_series_text({{0.5, "a.vtu"}, {1.0, "b&c.vtu"}});
  EXPECT_TRUE(holds(text,
                    "<DataSet timestep=\"0.5\" part=\"0\" file=\"a.vtu\"/>\n"
                    "    <DataSet timestep=\"1\" part=\"0\" file=\"b&amp;c.vtu\"/>\n"))
      << text;
}

}  // namespace
}  // namespace signorini::vtk_file_test
