#include "record/vtk_file.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <span>

#include "base/check.h"

namespace signorini {
namespace {

static_assert(std::endian::native == std::endian::little, "the arrays are written as they lie in memory");

void append_base64(std::string& text, std::span<const unsigned char> bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const unsigned group = (static_cast<unsigned>(bytes[i]) << 16U) |
                           (left > 1 ? static_cast<unsigned>(bytes[i + 1]) << 8U : 0U) |
                           (left > 2 ? static_cast<unsigned>(bytes[i + 2]) : 0U);
    text += kDigits[group >> 18U];
    text += kDigits[(group >> 12U) & 63U];
    text += left > 1 ? kDigits[(group >> 6U) & 63U] : '=';
    text += left > 2 ? kDigits[group & 63U] : '=';
  }
}

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, double>) return "Float64";
  if constexpr (std::is_same_v<T, std::int64_t>) return "Int64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "Int32";
  if constexpr (std::is_same_v<T, std::uint8_t>) return "UInt8";
}

template <class T>
void append_array(std::string& text, std::string_view name, int components, const std::vector<T>& values) {
  text += fmt::format(R"(        <DataArray type="{}" Name="{}" NumberOfComponents="{}" format="binary">)",
                      type_name<T>(), xml_escaped(name), components);
  const std::uint64_t size = values.size() * sizeof(T);
  std::vector<unsigned char> bytes(sizeof size + size);
  std::memcpy(bytes.data(), &size, sizeof size);
  if (size > 0) std::memcpy(bytes.data() + sizeof size, values.data(), size);
  text.reserve(text.size() + bytes.size() / 3 * 4 + 64);
  append_base64(text, bytes);
  text += "</DataArray>\n";
}

void append_data(std::string& text, std::string_view section, const std::vector<VtkArray>& arrays,
                 std::size_t count) {
  text += fmt::format("      <{}>\n", section);
  for (const VtkArray& array : arrays) {
    std::visit(
        [&](const auto& values) {
          SIGNORINI_CHECK(values.size() == array.components * count);
          append_array(text, array.name, array.components, values);
        },
        array.values);
  }
  text += fmt::format("      </{}>\n", section);
}

constexpr const char* kHead =
    "<?xml version=\"1.0\"?>\n<VTKFile type=\"{}\" version=\"1.0\" byte_order=\"LittleEndian\" "
    "header_type=\"UInt64\">\n";

}  // namespace

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string vtk_grid_text(const VtkGrid& grid) {
  constexpr std::uint8_t kVertexType = 1, kTriangleType = 5;
  const auto per_cell = static_cast<std::size_t>(grid.cell);
  SIGNORINI_CHECK(grid.points.size() % 3 == 0 && grid.cells.size() % per_cell == 0);
  const std::size_t points = grid.points.size() / 3, cells = grid.cells.size() / per_cell;
  std::vector<std::int64_t> offsets(cells);
  for (std::size_t i = 0; i < cells; ++i) offsets[i] = (i + 1) * per_cell;

  std::string text = fmt::format(fmt::runtime(kHead), "UnstructuredGrid");
  text += fmt::format("  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n",
                      points, cells);
  text += "      <Points>\n";
  append_array(text, "Points", 3, grid.points);
  text += "      </Points>\n      <Cells>\n";
  append_array(text, "connectivity", 1, grid.cells);
  append_array(text, "offsets", 1, offsets);
  append_array(text, "types", 1,
               std::vector<std::uint8_t>(cells, grid.cell == VtkCell::vertex ? kVertexType : kTriangleType));
  text += "      </Cells>\n";
  append_data(text, "PointData", grid.point_data, points);
  append_data(text, "CellData", grid.cell_data, cells);
  text += "    </Piece>\n  </UnstructuredGrid>\n</VTKFile>\n";
  return text;
}

std::string vtk_series_text(const std::vector<std::pair<double, std::string>>& files) {
  std::string text = fmt::format(fmt::runtime(kHead), "Collection") + "  <Collection>\n";
  for (const auto& [time, name] : files) {
    text += fmt::format("    <DataSet timestep=\"{}\" part=\"0\" file=\"{}\"/>\n", time, xml_escaped(name));
  }
  return text + "  </Collection>\n</VTKFile>\n";
}

}  // namespace signorini
