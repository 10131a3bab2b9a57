#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "geometry/triangle_mesh.h"

/// What the readers of mesh files share (geometry/mesh_file.h): walking through untrusted bytes, and what
/// they hand on.
namespace signorini {

/// Elements as the file has them: indices are in range, nothing else is checked.
template <std::size_t corners>
struct RawMesh {
  std::vector<Vector3> vertices;
  std::vector<std::array<Index, corners>> elements;
  std::vector<Index> number;    ///< of each element in the file, from 1
  std::size_t passed_over = 0;  ///< elements of lower dimension
};
using RawTets = RawMesh<4>;
using RawTriangles = RawMesh<3>;

/// Bytes of a mesh file, read front to back as tokens, lines or binary numbers. Everything that fails throws
/// `InputError` with the place.
class MeshScanner {
 public:
  MeshScanner(std::string_view bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {}

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) const {
    throw_input("{}: {}", place(), fmt::format(text, std::forward<Args>(args)...));
  }
  std::size_t remaining() const { return bytes_.size() - at_; }
  std::size_t line() const { return line_; }

  // --- text ---

  /// Goes to the next token; false at the end.
  bool skip_space();
  /// The next token, the same without taking it, and what it must be.
  std::string_view token(const char* what);
  std::string_view peek();
  /// The very next bytes are these; nothing is skipped.
  bool begins_with(std::string_view bytes) const { return bytes_.substr(at_, bytes.size()) == bytes; }
  void expect(std::string_view word, const char* where);
  /// Finite, at most 10³⁰.
  double number(const char* what);
  Vector3 point() {
    const double x = number("x coordinate");
    const double y = number("y coordinate");
    return {x, y, number("z coordinate")};
  }
  long long integer(const char* what, long long low, long long high);
  /// A number of items, each of which takes `bytes` or more of what follows.
  Index count(const char* what, std::size_t bytes);
  /// What is left of the line, trimmed; goes to the next line. Empty at the end of the bytes.
  std::string_view rest_of_line();
  /// Another scanner on what is left of the line, for lines of unknown length; goes to the next line.
  MeshScanner line_scanner();
  /// Another scanner on `part` at the place of this one.
  MeshScanner sub_scanner(std::string_view part) const;

  // --- binary ---

  /// From here on places are bytes, not lines.
  void begin_binary() { binary_ = true; }
  void begin_text() { binary_ = false; }
  template <class T>
  T binary(const char* what, std::endian order) {
    if (remaining() < sizeof(T)) fail("the file or line ends where {} is expected", what);
    unsigned char raw[sizeof(T)];
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      raw[order == std::endian::native ? i : sizeof(T) - 1 - i] = static_cast<unsigned char>(bytes_[at_ + i]);
    }
    at_ += sizeof(T);
    T value;
    std::memcpy(&value, raw, sizeof(T));
    return value;
  }
  void skip(std::size_t bytes, const char* what);

  /// Checks a coordinate.
  double checked(double value, const char* what) const;
  /// Checks the number of items so far: indices have 32 bits.
  void check_size(std::size_t items, const char* what) const;

 private:
  std::string place() const;

  std::string_view bytes_;
  std::string name_;
  std::size_t at_ = 0;
  std::size_t line_ = 1;
  bool binary_ = false;
};

/// Text of a file inside an error line: printable, at most 40 characters.
std::string shown(std::string_view text);
/// Equal apart from the case of ASCII letters.
bool equal_words(std::string_view a, std::string_view b);

/// Adds the fan of a polygon, which needs three corners or more.
void add_polygon(const MeshScanner& file, const std::vector<Index>& polygon, Index number,
                 RawTriangles& mesh);

RawTets parse_msh(MeshScanner& file);
RawTets parse_vtk(MeshScanner& file);
RawTriangles parse_obj(MeshScanner& file);
RawTriangles parse_ply(MeshScanner& file);
RawTriangles parse_stl(MeshScanner& file);

}  // namespace signorini
