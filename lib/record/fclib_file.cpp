#include "record/fclib_file.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "base/check.h"
#include "base/durable_file.h"
#include "record/guarded.h"
#include "record/h5.h"
#include "record/raw_problem.h"

namespace signorini {

namespace {

constexpr const char* kExtras = "signorini";

}  // namespace

FclibFile read_fclib(const std::filesystem::path& path, MatrixReading reading) {
  check_hdf5_in_child(path);
  return read_checked_fclib(path, reading);
}

FclibFile read_checked_fclib(const std::filesystem::path& path, MatrixReading reading) {
  const h5::ReadFile file(path);
  const std::string where = path.string();
  RawTree tree, extras;
  for (const char* group : {"fclib_local", "fclib_global", "fclib_global_rolling", "solution", "guesses"}) {
    const std::string absolute = std::string("/") + group;
    if (file.has(absolute)) file.read_arrays(absolute, std::string(group) + "/", tree, where);
  }
  if (file.has(std::string("/") + kExtras)) extras = file.read(std::string("/") + kExtras, where);
  return decode_fclib(tree, extras, where, reading);
}

int checked_fclib_contacts(const std::filesystem::path& path) {
  const h5::ReadFile file(path);
  const std::string where = path.string();
  const bool is_global = file.has("/fclib_global");
  if (file.has("/fclib_global_rolling") || (!is_global && !file.has("/fclib_local")))
    return read_checked_fclib(path).problem.contacts();  // refused, with the reason
  const std::string vectors = is_global ? "fclib_global/vectors" : "fclib_local/vectors";
  RawTree tree;
  if (file.has("/" + vectors))
    file.read_arrays("/" + vectors, vectors + "/", tree, where, h5::ReadFile::Depth::headers);
  const RawReader raw(tree, where);
  const auto mu = tree.arrays.find(vectors + "/mu");
  if (mu == tree.arrays.end()) raw.fail(vectors + "/mu", "missing");
  std::uint64_t contacts = 1;
  for (const std::uint64_t extent : mu->second.shape) contacts *= extent;
  if (contacts > std::numeric_limits<Index>::max())
    raw.fail(fmt::format("{} contacts are too many", contacts));
  return static_cast<int>(contacts);
}

std::vector<std::byte> fclib_image(const FclibFile& file, const std::string& name) {
  check_problem(file.problem, name);
  h5::WriteFile out(h5::Format::earliest);
  out.put("/", encode_fclib(file));
  const RawTree extras = encode_fclib_extras(file.problem);
  if (!extras.attributes.empty()) out.put(std::string("/") + kExtras, extras);
  return out.image();
}

void write_fclib(const std::filesystem::path& path, const FclibFile& file) {
  write_durable(path, fclib_image(file, path.string()));
}

}  // namespace signorini
