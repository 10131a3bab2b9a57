#include <algorithm>
#include <limits>

#include "geometry/mesh_scanner.h"

/// Gmsh ASCII files, versions 2.x and 4.1 (Gmsh reference manual, "MSH file format").
namespace signorini {

namespace {

constexpr long long kLargest = std::numeric_limits<long long>::max();
constexpr int kTetrahedron = 4;

/// Node tags → vertex numbers.
class NodeTags {
 public:
  void add(long long tag) { tags_.push_back({tag, count(tags_)}); }

  void finish(const MeshScanner& file) {
    std::sort(tags_.begin(), tags_.end());
    for (std::size_t i = 1; i < tags_.size(); ++i) {
      if (tags_[i].first == tags_[i - 1].first) file.fail("node {} occurs twice", tags_[i].first);
    }
  }

  Index vertex(long long tag, const MeshScanner& file) const {
    const auto entry = std::lower_bound(tags_.begin(), tags_.end(), std::pair<long long, Index>{tag, 0});
    if (entry == tags_.end() || entry->first != tag) file.fail("node {} is not in $Nodes", tag);
    return entry->second;
  }

 private:
  std::vector<std::pair<long long, Index>> tags_;
};

/// Points, lines, triangles and quadrangles of any order.
bool is_lower_dimensional(long long type) {
  return (type >= 1 && type <= 3) || (type >= 8 && type <= 10) || type == 15 || type == 16 ||
         (type >= 20 && type <= 28);
}

[[noreturn]] void refuse_type(const MeshScanner& file, long long type) {
  switch (type) {
    case 5:
    case 12:
    case 17:
      file.fail("element type {} is a hexahedron; only tetrahedra are read", type);
    case 6:
    case 13:
    case 18:
      file.fail("element type {} is a prism; only tetrahedra are read", type);
    case 7:
    case 14:
    case 19:
      file.fail("element type {} is a pyramid; only tetrahedra are read", type);
    case 11:
      file.fail("element type 11 is a tetrahedron of second order; save the mesh with Mesh.ElementOrder = 1");
    default:
      file.fail("element type {} is not supported; only tetrahedra (type 4) are read", type);
  }
}

/// One element on its own line behind its tags.
void read_element(MeshScanner line, long long type, const NodeTags& tags, Index number, RawTets& mesh) {
  if (is_lower_dimensional(type)) {
    ++mesh.passed_over;
    return;
  }
  if (type != kTetrahedron) refuse_type(line, type);
  std::array<Index, 4> tet;
  for (Index& corner : tet) corner = tags.vertex(line.integer("node of a tetrahedron", 1, kLargest), line);
  if (line.skip_space()) line.fail("a tetrahedron has more than four nodes");
  mesh.elements.push_back(tet);
  mesh.number.push_back(number);
}

void read_nodes_2(MeshScanner& file, RawTets& mesh, NodeTags& tags) {
  const Index n = file.count("number of nodes", 8);
  for (Index i = 0; i < n; ++i) {
    tags.add(file.integer("node number", 1, kLargest));
    mesh.vertices.push_back(file.point());
  }
}

void read_elements_2(MeshScanner& file, const NodeTags& tags, RawTets& mesh) {
  const Index n = file.count("number of elements", 6);
  for (Index i = 0; i < n; ++i) {
    file.skip_space();
    MeshScanner line = file.line_scanner();
    line.integer("element number", 0, kLargest);
    const long long type = line.integer("element type", 0, 1000);
    const long long skipped = line.integer("number of tags", 0, 1000);
    for (long long t = 0; t < skipped; ++t) line.token("tag");
    read_element(std::move(line), type, tags, i + 1, mesh);
  }
}

void read_nodes_4(MeshScanner& file, RawTets& mesh, NodeTags& tags) {
  const Index blocks = file.count("number of node blocks", 8);
  const Index total = file.count("number of nodes", 8);
  file.integer("smallest node tag", 0, kLargest);
  file.integer("largest node tag", 0, kLargest);
  for (Index b = 0; b < blocks; ++b) {
    file.integer("entity dimension", 0, 3);
    file.token("entity tag");
    file.integer("parametric flag", 0, 1);
    const Index n = file.count("number of nodes in a block", 8);
    for (Index i = 0; i < n; ++i) tags.add(file.integer("node tag", 1, kLargest));
    for (Index i = 0; i < n; ++i) {
      file.skip_space();
      MeshScanner line = file.line_scanner();  // parametric coordinates may follow
      mesh.vertices.push_back(line.point());
    }
  }
  if (count(mesh.vertices) != total) {
    file.fail("{} nodes announced, {} found", total, mesh.vertices.size());
  }
}

void read_elements_4(MeshScanner& file, const NodeTags& tags, RawTets& mesh) {
  const Index blocks = file.count("number of element blocks", 8);
  const Index total = file.count("number of elements", 4);
  file.integer("smallest element tag", 0, kLargest);
  file.integer("largest element tag", 0, kLargest);
  Index number = 0;
  for (Index b = 0; b < blocks; ++b) {
    file.integer("entity dimension", 0, 3);
    file.token("entity tag");
    const long long type = file.integer("element type", 0, 1000);
    const Index n = file.count("number of elements in a block", 4);
    for (Index i = 0; i < n; ++i) {
      file.skip_space();
      MeshScanner line = file.line_scanner();
      line.integer("element tag", 0, kLargest);
      read_element(std::move(line), type, tags, ++number, mesh);
    }
  }
  if (number != total) file.fail("{} elements announced, {} found", total, number);
}

/// 2 or 4.
int read_format(MeshScanner& file) {
  file.expect("$MeshFormat", "a Gmsh file");
  const std::string_view version = file.token("the version of the format");
  const bool two = version == "2" || version.substr(0, 2) == "2.";
  if (!two && version != "4.1") {
    file.fail("Gmsh format '{}' is not read; save the mesh as 4.1 or 2.2 (gmsh -format msh41)",
              shown(version));
  }
  if (file.integer("file type", 0, 1) == 1) {
    file.fail("binary Gmsh files are not read; save the mesh as ASCII (without -bin, Mesh.Binary = 0)");
  }
  file.token("data size");
  file.expect("$EndMeshFormat", "the mesh format");
  return two ? 2 : 4;
}

/// Passes over a section of no interest.
void skip_section(MeshScanner& file, std::string_view name) {
  const std::string end = "$End" + std::string(name.substr(1));
  while (file.skip_space()) {
    if (file.rest_of_line() == end) return;
  }
  file.fail("section {} has no end", shown(name));
}

}  // namespace

RawTets parse_msh(MeshScanner& file) {
  const int version = read_format(file);
  RawTets mesh;
  NodeTags tags;
  bool nodes = false, elements = false;
  while (file.skip_space()) {
    const std::string_view section = file.token("a section");
    if (section.size() < 2 || section[0] != '$') file.fail("'{}' where a section must begin", shown(section));
    if (section == "$Nodes") {
      if (nodes) file.fail("a second section $Nodes");
      nodes = true;
      if (version == 2) {
        read_nodes_2(file, mesh, tags);
      } else {
        read_nodes_4(file, mesh, tags);
      }
      tags.finish(file);
      file.expect("$EndNodes", "the end of the nodes");
    } else if (section == "$Elements") {
      if (!nodes) file.fail("section $Elements comes before $Nodes");
      if (elements) file.fail("a second section $Elements");
      elements = true;
      if (version == 2) {
        read_elements_2(file, tags, mesh);
      } else {
        read_elements_4(file, tags, mesh);
      }
      file.expect("$EndElements", "the end of the elements");
    } else {
      skip_section(file, section);
    }
  }
  if (!nodes || !elements) file.fail("the file ends without section {}", nodes ? "$Elements" : "$Nodes");
  return mesh;
}

}  // namespace signorini
