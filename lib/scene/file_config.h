#pragma once

#include <filesystem>
#include <string>

#include "geometry/tet_mesh.h"
#include "scene/scene_keys.h"

namespace signorini {

/// A file beside the scene file. The digest makes the scene's text say what the file held.
struct FileConfig {
  std::string path;    ///< relative to the scene file
  std::string digest;  ///< XXH3 of its bytes, 16 hexadecimal digits; filled in when empty
  double scale = 1.0;

  template <class Visitor>
  void visit(Visitor& v, const std::string& key) {
    if constexpr (requires { v.files; }) v.files.push_back(this);
    v(key, path, "file, relative to the scene file");
    v(key + "_xxh3", digest, "checksum of the file; not checked when empty");
    v(key + "_scale", scale, Range::positive, "factor from the file's unit to metres");
  }
  void validate(const std::string& key) const {
    if (path.empty()) throw KeyError(key, "is missing: the name of a file");
  }
  /// `folder`: of the scene file. Errors as in geometry/mesh_file.h.
  TriangleMesh read_surface(const std::filesystem::path& folder) const;
  TetMesh read_tets(const std::filesystem::path& folder) const;
};

}  // namespace signorini
