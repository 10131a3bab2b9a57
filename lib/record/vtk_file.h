#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// VTK's XML files, as ParaView, VTK and meshio read them: unstructured grids of triangles or points (.vtu)
/// and series of them in time (.pvd). https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html
///
/// Numbers are stored inline as base64 of [byte count as UInt64][little-endian values], uncompressed and
/// lossless, so that a file stays well-formed XML. Equal content gives equal bytes.
namespace signorini {

struct VtkArray {
  std::string name;
  int components = 1;
  std::variant<std::vector<double>, std::vector<std::int32_t>> values;  ///< components × points or cells
};

enum class VtkCell : std::uint8_t { vertex = 1, triangle = 3 };  ///< the value: points per cell

struct VtkGrid {
  std::vector<double> points;  ///< 3 × points
  VtkCell cell = VtkCell::vertex;
  std::vector<std::int64_t> cells;  ///< (1 or 3) × cells, indices of points
  std::vector<VtkArray> point_data, cell_data;
};

/// The text of a .vtu file. Throws `InternalError` when an array's length does not fit the points or cells.
std::string vtk_grid_text(const VtkGrid& grid);

/// The text of a .pvd file: (time in s, file name relative to the .pvd) in ascending time.
std::string vtk_series_text(const std::vector<std::pair<double, std::string>>& files);

/// `text` with & < > " as entities, for an attribute in double quotes.
std::string xml_escaped(std::string_view text);

}  // namespace signorini
