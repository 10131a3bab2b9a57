#include <limits>
#include <optional>
#include <utility>

#include "geometry/mesh_scanner.h"

/// PLY, the polygon format of Stanford: a header that describes elements and their properties, then the
/// elements as lines of numbers or in binary of either byte order.
namespace signorini {

namespace {

constexpr long long kMost = std::numeric_limits<Index>::max() / 4;

enum class Type { int8, uint8, int16, uint16, int32, uint32, float32, float64 };

struct TypeName {
  std::string_view name, other;
  Type type;
  std::size_t size;
};
constexpr TypeName kTypes[]{{"char", "int8", Type::int8, 1},        {"uchar", "uint8", Type::uint8, 1},
                            {"short", "int16", Type::int16, 2},     {"ushort", "uint16", Type::uint16, 2},
                            {"int", "int32", Type::int32, 4},       {"uint", "uint32", Type::uint32, 4},
                            {"float", "float32", Type::float32, 4}, {"double", "float64", Type::float64, 8}};

std::size_t size_of(Type type) { return kTypes[static_cast<std::size_t>(type)].size; }
bool is_integer(Type type) { return type != Type::float32 && type != Type::float64; }

struct Property {
  std::string_view name;
  Type type = Type::float32;
  std::optional<Type> count;  // of a list
};
struct Element {
  std::string_view name;
  long long count = 0;
  std::vector<Property> properties;
};

class PlyReader {
 public:
  explicit PlyReader(MeshScanner& file) : file_(file) {}

  RawTriangles read() {
    read_header();
    if (!ascii_) file_.begin_binary();
    for (const Element& element : elements_) {
      check_count(element);
      if (element.name == "vertex") {
        read_vertices(element);
      } else if (element.name == "face") {
        read_faces(element);
      } else {
        for (long long i = 0; i < element.count; ++i) {
          for (const Property& property : element.properties) skip(property);
        }
      }
    }
    return std::move(mesh_);
  }

 private:
  // --- header ---

  void read_header() {
    MeshScanner first = file_.line_scanner();
    if (first.rest_of_line() != "ply") first.fail("the first line of a PLY file must be 'ply'");
    bool have_format = false;
    for (;;) {
      MeshScanner line = file_.line_scanner();
      if (!line.skip_space()) {
        if (file_.remaining() == 0) file_.fail("the header has no end_header");
        continue;
      }
      const std::string_view keyword = line.token("a keyword");
      if (keyword == "end_header") break;
      if (keyword == "comment" || keyword == "obj_info") continue;
      if (keyword == "format") {
        read_format(line);
        have_format = true;
      } else if (keyword == "element") {
        Element element;
        element.name = line.token("the name of an element");
        element.count = line.integer("number of elements", 0, kMost);
        elements_.push_back(element);
      } else if (keyword == "property") {
        if (elements_.empty()) line.fail("a property before the first element");
        elements_.back().properties.push_back(read_property(line));
      } else {
        line.fail("'{}' is not known in a PLY header", shown(keyword));
      }
    }
    if (!have_format) file_.fail("the header has no format line");
  }

  void read_format(MeshScanner& line) {
    const std::string_view format = line.token("the format");
    ascii_ = format == "ascii";
    if (format == "binary_big_endian") {
      order_ = std::endian::big;
    } else if (format == "binary_little_endian") {
      order_ = std::endian::little;
    } else if (!ascii_) {
      line.fail("format '{}' is not ascii, binary_little_endian or binary_big_endian", shown(format));
    }
  }

  static Type read_type(MeshScanner& line) {
    const std::string_view name = line.token("a type");
    for (const TypeName& type : kTypes) {
      if (name == type.name || name == type.other) return type.type;
    }
    line.fail("type '{}' is not known", shown(name));
  }

  static Property read_property(MeshScanner& line) {
    Property property;
    if (line.peek() == "list") {
      line.token("list");
      property.count = read_type(line);
      if (!is_integer(*property.count)) line.fail("the length of a list must be an integer");
    }
    property.type = read_type(line);
    property.name = line.token("the name of a property");
    return property;
  }

  // --- data ---

  /// Believes a count only if its elements fit into the rest of the file.
  void check_count(const Element& element) const {
    std::size_t least = 0;
    for (const Property& property : element.properties) {
      least += ascii_ ? 2 : size_of(property.count.value_or(property.type));
    }
    if (element.count > 0 && least == 0) file_.fail("element '{}' has no properties", shown(element.name));
    if (element.count > 0 && std::cmp_greater(element.count, (file_.remaining() + 1) / least)) {
      file_.fail("{} elements '{}' are more than the rest of the file can hold", element.count,
                 shown(element.name));
    }
  }

  template <class Result>
  Result binary_value(Type type, const char* what) {
    switch (type) {
      case Type::int8:
        return static_cast<Result>(file_.binary<std::int8_t>(what, order_));
      case Type::uint8:
        return static_cast<Result>(file_.binary<std::uint8_t>(what, order_));
      case Type::int16:
        return static_cast<Result>(file_.binary<std::int16_t>(what, order_));
      case Type::uint16:
        return static_cast<Result>(file_.binary<std::uint16_t>(what, order_));
      case Type::int32:
        return static_cast<Result>(file_.binary<std::int32_t>(what, order_));
      case Type::uint32:
        return static_cast<Result>(file_.binary<std::uint32_t>(what, order_));
      case Type::float32:
        return static_cast<Result>(file_.binary<float>(what, order_));
      default:
        return static_cast<Result>(file_.binary<double>(what, order_));
    }
  }

  double coordinate(Type type) {
    if (ascii_) return file_.number("coordinate");
    return file_.checked(binary_value<double>(type, "a coordinate"), "coordinate");
  }

  long long integer(Type type, const char* what, long long low, long long high) {
    if (ascii_) return file_.integer(what, low, high);
    const auto value = binary_value<long long>(type, what);
    if (value < low || value > high) file_.fail("{} {} is outside [{}, {}]", what, value, low, high);
    return value;
  }

  /// Length of a list whose items fit into the rest of the file.
  long long length(const Property& list) {
    const long long n = integer(*list.count, "length of a list", 0, kMost);
    if (std::cmp_greater(n, (file_.remaining() + 1) / (ascii_ ? 2 : size_of(list.type)))) {
      file_.fail("a list of {} items is longer than the rest of the file", n);
    }
    return n;
  }

  void skip(const Property& property) {
    const long long n = property.count ? length(property) : 1;
    if (!ascii_) {
      file_.skip(n * size_of(property.type), "an element");
    } else {
      for (long long i = 0; i < n; ++i) file_.token("a value");
    }
  }

  void read_vertices(const Element& element) {
    if (!mesh_.vertices.empty()) file_.fail("a second element 'vertex'");
    std::array<std::size_t, 3> where;
    for (std::size_t d = 0; d < 3; ++d) {
      const char name = static_cast<char>('x' + d);
      where[d] = element.properties.size();
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        const Property& property = element.properties[p];
        if (property.name.size() == 1 && property.name[0] == name && !property.count) where[d] = p;
      }
      if (where[d] == element.properties.size()) file_.fail("vertices have no coordinate '{}'", name);
    }
    for (long long i = 0; i < element.count; ++i) {
      Vector3 x = Vector3::Zero();
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        const std::size_t d = p == where[0] ? 0 : p == where[1] ? 1 : p == where[2] ? 2 : 3;
        if (d == 3) {
          skip(element.properties[p]);
        } else {
          x[d] = coordinate(element.properties[p].type);
        }
      }
      mesh_.vertices.push_back(x);
    }
  }

  void read_faces(const Element& element) {
    if (faces_ > 0) file_.fail("a second element 'face'");
    std::size_t list = element.properties.size();
    for (std::size_t p = 0; p < element.properties.size(); ++p) {
      const Property& property = element.properties[p];
      if (property.name != "vertex_indices" && property.name != "vertex_index") continue;
      if (!property.count || !is_integer(property.type))
        file_.fail("the vertices of faces must be integer lists");
      list = p;
    }
    if (list == element.properties.size()) file_.fail("faces have no list 'vertex_indices'");
    std::vector<Index> polygon;
    for (long long f = 0; f < element.count; ++f) {
      for (std::size_t p = 0; p < element.properties.size(); ++p) {
        const Property& property = element.properties[p];
        if (p != list) {
          skip(property);
          continue;
        }
        const long long n = length(property);
        const auto last = static_cast<long long>(mesh_.vertices.size()) - 1;
        polygon.clear();
        for (long long i = 0; i < n; ++i) {
          polygon.push_back(static_cast<Index>(integer(property.type, "vertex of a face", 0, last)));
        }
        add_polygon(file_, polygon, ++faces_, mesh_);
      }
    }
  }

  MeshScanner& file_;
  bool ascii_ = false;
  std::endian order_ = std::endian::little;
  std::vector<Element> elements_;
  Index faces_ = 0;
  RawTriangles mesh_;
};

}  // namespace

RawTriangles parse_ply(MeshScanner& file) { return PlyReader(file).read(); }

}  // namespace signorini
