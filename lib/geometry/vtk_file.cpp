#include <limits>
#include <utility>

#include "geometry/mesh_scanner.h"

/// VTK legacy files with an unstructured grid, ASCII and binary (big endian), versions 1 to 5.
namespace signorini {

namespace {

constexpr long long kMost = std::numeric_limits<Index>::max() / 4;

enum class Number { float32, float64, int8, uint8, int16, uint16, int32, uint32, int64, uint64 };

struct NumberName {
  std::string_view name;
  Number type;
};
constexpr NumberName kNumbers[]{{"float", Number::float32},      {"double", Number::float64},
                                {"char", Number::int8},          {"unsigned_char", Number::uint8},
                                {"short", Number::int16},        {"unsigned_short", Number::uint16},
                                {"int", Number::int32},          {"unsigned_int", Number::uint32},
                                {"long", Number::int64},         {"unsigned_long", Number::uint64},
                                {"vtktypeint64", Number::int64}, {"vtkIdType", Number::int64},
                                {"vtktypeint32", Number::int32}};

std::size_t size_of(Number type) {
  switch (type) {
    case Number::int8:
    case Number::uint8:
      return 1;
    case Number::int16:
    case Number::uint16:
      return 2;
    case Number::float32:
    case Number::int32:
    case Number::uint32:
      return 4;
    default:
      return 8;
  }
}

class VtkReader {
 public:
  explicit VtkReader(MeshScanner& file) : file_(file) {}

  RawTets read() {
    read_header();
    while (file_.skip_space()) {
      const std::string_view keyword = file_.token("a keyword");
      if (equal_words(keyword, "POINTS")) {
        read_points();
      } else if (equal_words(keyword, "CELLS")) {
        read_cells();
      } else if (equal_words(keyword, "CELL_TYPES")) {
        read_types();
      } else if (equal_words(keyword, "FIELD")) {
        skip_field();
      } else if (equal_words(keyword, "METADATA")) {
        skip_metadata();
      } else if (equal_words(keyword, "POINT_DATA") || equal_words(keyword, "CELL_DATA")) {
        break;  // the mesh is complete
      } else {
        file_.fail("keyword '{}' is not known in an unstructured grid", shown(keyword));
      }
    }
    return tetrahedra();
  }

 private:
  void read_header() {
    MeshScanner line = file_.line_scanner();
    const std::string_view first = line.rest_of_line();
    if (!equal_words(first.substr(0, 22), "# vtk DataFile Version")) {
      line.fail("'{}' is not the first line of a VTK legacy file", shown(first));
    }
    file_.rest_of_line();  // title
    const std::string_view kind = file_.token("ASCII or BINARY");
    binary_ = equal_words(kind, "BINARY");
    if (!binary_ && !equal_words(kind, "ASCII")) file_.fail("'{}' is neither ASCII nor BINARY", shown(kind));
    file_.expect("DATASET", "the kind of data set");
    const std::string_view set = file_.token("the kind of data set");
    if (!equal_words(set, "UNSTRUCTURED_GRID")) {
      file_.fail("data set '{}' is not read, only UNSTRUCTURED_GRID", shown(set));
    }
  }

  Number number_type() {
    const std::string_view name = file_.token("a data type");
    for (const NumberName& n : kNumbers) {
      if (equal_words(name, n.name)) return n.type;
    }
    file_.fail("data type '{}' is not known", shown(name));
  }

  /// Before numbers: in a binary file they begin after the line.
  void begin_numbers() {
    if (binary_) {
      file_.rest_of_line();
      file_.begin_binary();
    }
  }
  void end_numbers() { file_.begin_text(); }

  double next_number(Number type, const char* what) {
    if (!binary_) return file_.number(what);
    const double value = type == Number::float32
                             ? static_cast<double>(file_.binary<float>(what, std::endian::big))
                             : file_.binary<double>(what, std::endian::big);
    return file_.checked(value, what);
  }

  long long next_integer(Number type, const char* what, long long low, long long high) {
    if (!binary_) return file_.integer(what, low, high);
    const long long value = type == Number::int64 ? file_.binary<std::int64_t>(what, std::endian::big)
                                                  : file_.binary<std::int32_t>(what, std::endian::big);
    if (value < low || value > high) file_.fail("{} {} is outside [{}, {}]", what, value, low, high);
    return value;
  }

  /// Least size of one number in the file: a digit and a space.
  std::size_t least(Number type) const { return binary_ ? size_of(type) : 2; }

  /// `n` numbers must fit into the rest; the last one of an ASCII file may do without the space.
  void check_fits(long long n, Number type, const char* what) const {
    if (std::cmp_greater(n, (file_.remaining() + 1) / least(type))) {
      file_.fail("{} {} are more than the rest of the file can hold", n, what);
    }
  }

  void read_points() {
    if (have_points_) file_.fail("POINTS occurs twice");
    have_points_ = true;
    const long long n = file_.integer("number of points", 0, kMost);
    const Number type = number_type();
    if (type != Number::float32 && type != Number::float64) file_.fail("points must be float or double");
    check_fits(3 * n, type, "coordinates");
    begin_numbers();
    for (long long i = 0; i < n; ++i) {
      Vector3 x;
      for (Index d = 0; d < 3; ++d) x[d] = next_number(type, "coordinate");
      mesh_.vertices.push_back(x);
    }
    end_numbers();
  }

  /// Versions 1 to 4: every cell as its number of points and the points; version 5: offsets and points apart.
  void read_cells() {
    if (have_cells_) file_.fail("CELLS occurs twice");
    have_cells_ = true;
    const long long first = file_.integer("number of cells", 0, kMost);
    const long long second = file_.integer("size of the cell list", 0, kMost);
    // Binary numbers may look like white space: only the bytes behind the line end decide.
    file_.rest_of_line();
    if (!binary_) file_.skip_space();
    if (file_.begins_with("OFFSETS")) {
      read_offsets(first, second);
    } else {
      read_counted_cells(first, second);
    }
  }

  void read_counted_cells(long long cells, long long size) {
    check_fits(size, Number::int32, "cell numbers");
    if (cells > size) file_.fail("{} cells in {} numbers", cells, size);
    if (binary_) file_.begin_binary();
    offset_.push_back(0);
    long long left = size;
    for (long long c = 0; c < cells; ++c) {
      const long long n = next_integer(Number::int32, "number of points of a cell", 0, left - 1);
      for (long long i = 0; i < n; ++i) {
        point_.push_back(next_integer(Number::int32, "point of a cell", 0, kMost));
      }
      left -= n + 1;
      offset_.push_back(static_cast<long long>(point_.size()));
    }
    if (left != 0) file_.fail("the cell list is {} numbers longer than its cells", left);
    end_numbers();
  }

  void read_offsets(long long offsets, long long points) {
    file_.expect("OFFSETS", "the cells");
    const Number offset_type = integer_type();
    check_fits(offsets, offset_type, "offsets");
    begin_numbers();
    for (long long i = 0; i < offsets; ++i) {
      const long long low = offset_.empty() ? 0 : offset_.back();
      offset_.push_back(next_integer(offset_type, "offset", low, points));
    }
    end_numbers();
    file_.expect("CONNECTIVITY", "the cells");
    const Number type = integer_type();
    check_fits(points, type, "cell points");
    begin_numbers();
    for (long long i = 0; i < points; ++i) point_.push_back(next_integer(type, "point of a cell", 0, kMost));
    end_numbers();
    if (offset_.empty()) offset_.push_back(0);
  }

  Number integer_type() {
    const Number type = number_type();
    if (type != Number::int32 && type != Number::int64) file_.fail("cells need 32 or 64 bit integers");
    return type;
  }

  void read_types() {
    if (have_types_) file_.fail("CELL_TYPES occurs twice");
    have_types_ = true;
    const long long n = file_.integer("number of cell types", 0, kMost);
    check_fits(n, Number::int32, "cell types");
    begin_numbers();
    for (long long i = 0; i < n; ++i) type_.push_back(next_integer(Number::int32, "cell type", 0, 255));
    end_numbers();
  }

  /// FIELD name n, then n times: array, components, tuples, type and the values.
  void skip_field() {
    file_.token("the name of the field");
    const Index arrays = file_.count("number of arrays", 1);
    for (Index a = 0; a < arrays; ++a) {
      file_.token("the name of an array");
      const long long components = file_.integer("number of components", 0, kMost);
      const long long tuples = file_.integer("number of tuples", 0, kMost);
      const std::string_view name = file_.peek();
      if (equal_words(name, "string"))
        file_.fail("fields of strings are not read; remove them from the file");
      const Number type = number_type();
      check_fits(components * tuples, type, "field values");
      begin_numbers();
      if (binary_) {
        file_.skip(components * tuples * size_of(type), "a field");
      } else {
        for (long long i = 0; i < components * tuples; ++i) file_.token("a value of a field");
      }
      end_numbers();
      if (equal_words(file_.peek(), "METADATA")) {
        file_.token("METADATA");
        skip_metadata();
      }
    }
  }

  /// Up to the next empty line.
  void skip_metadata() {
    file_.rest_of_line();
    while (file_.remaining() > 0 && !file_.rest_of_line().empty()) {
    }
  }

  RawTets tetrahedra() {
    if (!have_points_ || !have_cells_ || !have_types_) {
      file_.fail("the file ends without {}",
                 !have_points_ ? "POINTS" : (!have_cells_ ? "CELLS" : "CELL_TYPES"));
    }
    if (type_.size() + 1 != offset_.size()) {
      file_.fail("{} cell types for {} cells", type_.size(), offset_.size() - 1);
    }
    constexpr long long kLastFlat = 9, kTetrahedron = 10;
    for (Index c = 0; c < count(type_); ++c) {
      const long long type = type_[c];
      if (type <= kLastFlat || (type >= 21 && type <= 23) || type == 28 || (type >= 30 && type <= 32) ||
          (type >= 34 && type <= 36)) {
        ++mesh_.passed_over;
        continue;
      }
      if (type != kTetrahedron) {
        file_.fail("cell {} has type {}; only linear tetrahedra (type 10) are read", c + 1, type);
      }
      if (offset_[c + 1] - offset_[c] != 4) file_.fail("cell {} is a tetrahedron without four points", c + 1);
      std::array<Index, 4> tet;
      for (std::size_t i = 0; i < 4; ++i) {
        const long long p = point_[offset_[c] + i];
        if (p >= static_cast<long long>(mesh_.vertices.size())) {
          file_.fail("cell {} uses point {}, there are {}", c + 1, p, mesh_.vertices.size());
        }
        tet[i] = static_cast<Index>(p);
      }
      mesh_.elements.push_back(tet);
      mesh_.number.push_back(c + 1);
    }
    return std::move(mesh_);
  }

  MeshScanner& file_;
  bool binary_ = false;
  bool have_points_ = false, have_cells_ = false, have_types_ = false;
  RawTets mesh_;
  std::vector<long long> offset_, point_, type_;
};

}  // namespace

RawTets parse_vtk(MeshScanner& file) { return VtkReader(file).read(); }

}  // namespace signorini
