#include "record/fclib_file.h"

#include "base/check.h"
#include "record/durable_file.h"
#include "record/guarded.h"
#include "record/h5.h"
#include "record/raw_problem.h"
#include "record/raw_sparse.h"

namespace signorini {

namespace {

constexpr const char* kExtras = "signorini";

}  // namespace

FclibFile read_fclib(const std::filesystem::path& path) {
  check_hdf5_in_child(path);
  return read_checked_fclib(path);
}

FclibFile read_checked_fclib(const std::filesystem::path& path) {
  const h5::ReadFile file(path);
  const std::string where = path.string();
  RawTree tree, extras;
  for (const char* group : {"fclib_local", "fclib_global", "fclib_global_rolling", "solution", "guesses"}) {
    const std::string absolute = std::string("/") + group;
    if (file.has(absolute)) file.read_arrays(absolute, std::string(group) + "/", tree, where);
  }
  if (file.has(std::string("/") + kExtras)) extras = file.read(std::string("/") + kExtras, where);
  return decode_fclib(tree, extras, where);
}

void write_fclib(const std::filesystem::path& path, const FclibFile& file) {
  check_problem(file.problem, path.string());
  h5::WriteFile out(h5::Format::earliest);
  out.put("/", encode_fclib(file));
  const RawTree extras = encode_fclib_extras(file.problem);
  if (!extras.attributes.empty()) out.put(std::string("/") + kExtras, extras);
  write_durable(path, out.image());
}

}  // namespace signorini
