#define H5_USE_110_API
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <stdexcept>

#include "base/check.h"
#include "record/h5.h"
#include "record/h5_library.h"

namespace signorini::h5 {

namespace {

constexpr int kMaxDepth = 6;
constexpr std::size_t kMaxText = std::size_t{1} << 26;

struct Link {
  std::string name;
  bool hard = false;
};

std::vector<Link> links_of(hid_t group) {
  std::vector<Link> links;
  const herr_t status = H5Literate(
      group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr,
      [](hid_t, const char* name, const H5L_info_t* info, void* data) -> herr_t {
        static_cast<std::vector<Link>*>(data)->push_back({name, info->type == H5L_TYPE_HARD});
        return 0;
      },
      &links);
  if (status < 0) throw std::runtime_error(library_reason());
  std::sort(links.begin(), links.end(), [](const Link& a, const Link& b) { return a.name < b.name; });
  return links;
}

enum class Kind { integer, real, text, variable_text };

bool equals_any(hid_t type, std::initializer_list<hid_t> known) {
  return std::any_of(known.begin(), known.end(), [&](hid_t k) { return H5Tequal(type, k) > 0; });
}

/// Plain little- or big-endian numbers and text; false for everything else (compound, reference, odd bit
/// fields …).
bool classify(hid_t type, Kind& kind) {
  if (equals_any(
          type, {H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U64LE, H5T_STD_U32LE, H5T_STD_I32BE, H5T_STD_I64BE})) {
    kind = Kind::integer;
  } else if (equals_any(type, {H5T_IEEE_F64LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE, H5T_IEEE_F32BE})) {
    kind = Kind::real;
  } else if (H5Tget_class(type) == H5T_STRING) {
    const htri_t variable = H5Tis_variable_str(type);
    if (variable < 0) return false;
    kind = variable > 0 ? Kind::variable_text : Kind::text;
  } else {
    return false;
  }
  return true;
}

/// Fixed-length text up to its first NUL; padding blanks of Fortran writers are kept.
std::string until_nul(const std::string& text) { return text.substr(0, text.find('\0')); }

}  // namespace

ReadFile::ReadFile(const std::filesystem::path& path) : name_(path.string()), file_(-1, H5Fclose) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw_input("{}: no such file", name_);
  if (!std::filesystem::is_regular_file(status)) throw_input("{}: not a regular file", name_);
  bytes_ = std::filesystem::file_size(path, error);
  if (error) throw_input("{}: {}", name_, error.message());
  if (bytes_ == 0) throw_input("{}: the file is empty", name_);
  const Session session;
  const Handle list = access_list(false, Format::earliest);
  file_ = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose);
  if (!file_.valid())
    throw_input("{}: cannot be opened as HDF5 (damaged or foreign file: {})", name_, library_reason());
}

ReadFile::ReadFile(std::vector<std::byte>& image, std::string name)
    : name_(std::move(name)), bytes_(image.size()), file_(-1, H5Fclose) {
  const Session session;
  const Handle list = access_list(true, Format::earliest);
  if (H5Pset_file_image(list.get(), image.data(), image.size()) >= 0) {
    file_ = Handle(H5Fopen(name_.c_str(), H5F_ACC_RDONLY, list.get()), H5Fclose);
  }
  if (!file_.valid())
    throw_input("{}: cannot be opened as HDF5 (damaged or foreign file: {})", name_, library_reason());
}

bool ReadFile::has_root_attribute(const std::string& attribute) const {
  const Session session;
  return H5Aexists_by_name(file_.get(), "/", attribute.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> ReadFile::children(const std::string& group) const {
  const Session session;
  const Handle id = group_handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT));
  if (!id.valid()) throw_input("{}: group '{}': {}", name_, group, library_reason());
  std::vector<std::string> names;
  try {
    for (const Link& link : links_of(id.get())) {
      if (!link.hard)
        throw_input("{}: '{}': soft and external links are refused", name_, join(group, link.name));
      names.push_back(link.name);
    }
  } catch (const InputError&) {
    throw;
  } catch (const std::runtime_error& e) {
    throw_input("{}: group '{}': {}", name_, group, e.what());
  }
  return names;
}

bool ReadFile::has(const std::string& path) const {
  const Session session;
  for (std::size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string prefix = path.substr(0, slash);
    if (H5Lexists(file_.get(), prefix.c_str(), H5P_DEFAULT) <= 0) return false;
    H5L_info_t info;
    if (H5Lget_info(file_.get(), prefix.c_str(), &info, H5P_DEFAULT) < 0 || info.type != H5L_TYPE_HARD)
      return false;
    if (slash == std::string::npos) return true;
  }
}

struct ReadFile::Visit {
  std::string where;   ///< for messages
  std::string prefix;  ///< cut from the path of a dataset in messages
  Depth depth = Depth::payload;
  bool all_attributes = false;
  std::set<std::uint64_t>* groups = nullptr;    ///< addresses seen: no cycles
  std::set<std::uint64_t>* datasets = nullptr;  ///< headers checked already (shared arrays)
  std::function<void(const std::string& path, RawArray)> take;
};

RawTree ReadFile::read_attributes(const std::string& group, const std::string& where) const {
  const Session session;
  RawTree tree;
  const Handle id = group_handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT));
  if (!id.valid()) throw_input("{}: group '{}': {}", where, group, library_reason());
  std::vector<std::string> names;
  hsize_t position = 0;
  const herr_t status = H5Aiterate2(
      id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, &position,
      [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
        static_cast<std::vector<std::string>*>(data)->emplace_back(name);
        return 0;
      },
      &names);
  if (status < 0) throw_input("{}: attributes: {}", where, library_reason());
  for (const std::string& name : names) {
    const auto fail = [&](const std::string& reason) {
      throw_input("{}: attribute '{}': {}", where, name, reason);
    };
    const Handle attribute = attribute_handle(H5Aopen(id.get(), name.c_str(), H5P_DEFAULT));
    if (!attribute.valid()) fail(library_reason());
    const Handle type = type_handle(H5Aget_type(attribute.get()));
    const Handle space = space_handle(H5Aget_space(attribute.get()));
    Kind kind{};
    if (!type.valid() || !space.valid() || H5Sget_simple_extent_npoints(space.get()) != 1 ||
        !classify(type.get(), kind) || kind == Kind::variable_text) {
      fail("neither a single number nor a fixed-length text");
    }
    if (kind == Kind::text) {
      const std::size_t size = H5Tget_size(type.get());
      if (size == 0 || size > kMaxText || size > bytes_) fail("length does not fit the file");
      std::string text(size, '\0');
      if (H5Aread(attribute.get(), type.get(), text.data()) < 0) fail(library_reason());
      tree.attributes[name] = until_nul(text);
    } else if (kind == Kind::integer) {
      std::uint64_t value = 0;
      if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value) < 0) fail(library_reason());
      tree.attributes[name] = value;
    } else {
      double value = 0.0;
      if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0) fail(library_reason());
      tree.attributes[name] = value;
    }
  }
  return tree;
}

RawArray ReadFile::read_array(std::int64_t dataset, const std::string& where, const std::string& path,
                              Depth depth) const {
  const auto fail = [&](const std::string& reason) {
    throw_input("{}: dataset '{}': {}", where, path, reason);
  };
  const Handle list = list_handle(H5Dget_create_plist(dataset));
  const Handle type = type_handle(H5Dget_type(dataset));
  const Handle space = space_handle(H5Dget_space(dataset));
  if (!list.valid() || !type.valid() || !space.valid()) fail(library_reason());
  if (H5Pget_layout(list.get()) != H5D_CONTIGUOUS || H5Pget_nfilters(list.get()) != 0) {
    fail(
        "is compact, chunked, compressed or virtual; rewrite the file with 'h5repack -l CONTI -f NONE IN "
        "OUT'");
  }
  if (H5Pget_external_count(list.get()) != 0) fail("keeps its numbers in another file, which is refused");
  Kind kind{};
  if (!classify(type.get(), kind)) fail("holds neither plain numbers nor text");

  RawArray array;
  const H5S_class_t extent = H5Sget_simple_extent_type(space.get());
  if (extent != H5S_SCALAR && extent != H5S_SIMPLE) fail("has no extent");
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 0 || rank > 2) fail(fmt::format("has {} dimensions", rank));
  hsize_t dims[2] = {1, 1};
  if (rank > 0 && H5Sget_simple_extent_dims(space.get(), dims, nullptr) < 0) fail(library_reason());
  array.shape.assign(dims, dims + rank);
  const std::uint64_t element = H5Tget_size(type.get());
  if (element == 0 || dims[0] > bytes_ || dims[1] > bytes_) fail("is larger than the file");
  // Both factors are at most the file size (< 2^63): the products below cannot wrap unnoticed.
  const long double total = static_cast<long double>(dims[0]) * static_cast<long double>(dims[1]) *
                            static_cast<long double>(element);
  if (total > static_cast<long double>(bytes_)) fail("is larger than the file");
  const std::uint64_t count = dims[0] * dims[1];
  // What a variable-length text keeps in place is a reference into a heap of the file.
  const std::uint64_t size = kind == Kind::variable_text
                                 ? std::min<std::uint64_t>(H5Dget_storage_size(dataset), 64)
                                 : count * element;
  if (size > 0) {
    const haddr_t offset = H5Dget_offset(dataset);
    if (offset == HADDR_UNDEF && H5Dget_storage_size(dataset) == 0) {
      array.written = false;
      return array;
    }
    if (offset == HADDR_UNDEF || H5Dget_storage_size(dataset) != size || offset > bytes_ ||
        size > bytes_ - offset) {
      fail("its numbers do not lie inside the file");
    }
  }
  if ((kind == Kind::text || kind == Kind::variable_text) && count != 1) fail("is a list of texts");

  const auto read = [&](hid_t memory_type, void* out) {
    if (count > 0 && H5Dread(dataset, memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, out) < 0)
      fail(library_reason());
  };
  if (depth == Depth::headers) return array;
  if (kind == Kind::real) {
    std::vector<double> values(count);
    read(H5T_NATIVE_DOUBLE, values.data());
    array.values = std::move(values);
  } else if (kind == Kind::integer && element == 4 && H5Tequal(type.get(), H5T_STD_U32LE) <= 0) {
    std::vector<Index> values(count);
    read(H5T_NATIVE_INT32, values.data());
    array.values = std::move(values);
  } else if (kind == Kind::integer) {
    std::vector<std::int64_t> wide(count);
    read(H5T_NATIVE_INT64, wide.data());
    std::vector<Index> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      if (wide[i] < std::numeric_limits<Index>::min() || wide[i] > std::numeric_limits<Index>::max()) {
        fail(fmt::format("entry {} = {} does not fit 32 bits", i, wide[i]));
      }
      values[i] = static_cast<Index>(wide[i]);
    }
    array.values = std::move(values);
  } else if (kind == Kind::text) {
    std::string text(element, '\0');
    read(type.get(), text.data());
    array.values = until_nul(text);
  } else {
    char* text = nullptr;
    const Handle memory_type = type_handle(H5Tcopy(type.get()));
    read(memory_type.get(), &text);
    array.values = text != nullptr ? std::string(text, ::strnlen(text, kMaxText)) : std::string();
    if (text != nullptr) H5Dvlen_reclaim(memory_type.get(), space.get(), H5P_DEFAULT, &text);
  }
  return array;
}

void ReadFile::walk(std::int64_t group, const std::string& path, int depth, const Visit& visit) const {
  const auto fail = [&](const std::string& object, const std::string& reason) {
    throw_input("{}: '{}': {}", visit.where, object, reason);
  };
  if (depth > kMaxDepth) fail(path, "groups are nested too deeply");
  if (visit.all_attributes || path == "/signorini") read_attributes(path, visit.where);
  std::vector<Link> links;
  try {
    links = links_of(group);
  } catch (const std::runtime_error& e) {
    fail(path, e.what());
  }
  for (const Link& link : links) {
    const std::string object = join(path, link.name);
    if (!link.hard) fail(object, "soft and external links are refused");
    H5O_info_t info;
    if (H5Oget_info_by_name2(group, link.name.c_str(), &info, H5O_INFO_BASIC, H5P_DEFAULT) < 0) {
      fail(object, library_reason());
    }
    if (info.type == H5O_TYPE_GROUP) {
      if (!visit.groups->insert(info.addr).second) fail(object, "the same group has two names");
      const Handle child = group_handle(H5Gopen2(group, link.name.c_str(), H5P_DEFAULT));
      if (!child.valid()) fail(object, library_reason());
      walk(child.get(), object, depth + 1, visit);
    } else if (info.type == H5O_TYPE_DATASET) {
      if (visit.datasets != nullptr && !visit.datasets->insert(info.addr).second) continue;
      const Handle dataset = dataset_handle(H5Dopen2(group, link.name.c_str(), H5P_DEFAULT));
      if (!dataset.valid()) fail(object, library_reason());
      const std::string shown =
          object.starts_with(visit.prefix) ? object.substr(visit.prefix.size()) : object;
      RawArray array = read_array(dataset.get(), visit.where, shown, visit.depth);
      if (visit.take) visit.take(shown, std::move(array));
    } else {
      fail(object, "neither a group nor a dataset");
    }
  }
}

void ReadFile::read_arrays(const std::string& group, const std::string& prefix, RawTree& tree,
                           const std::string& where, Depth depth) const {
  const Session session;
  const Handle id = group_handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT));
  if (!id.valid()) throw_input("{}: group '{}': {}", where, group, library_reason());
  std::set<std::uint64_t> groups;
  Visit visit;
  visit.where = where;
  visit.prefix = group == "/" ? "/" : group + "/";
  visit.depth = depth;
  visit.groups = &groups;
  visit.take = [&](const std::string& path, RawArray array) {
    tree.arrays[prefix + path] = std::move(array);
  };
  walk(id.get(), group, 0, visit);
}

RawTree ReadFile::read(const std::string& group, const std::string& where) const {
  RawTree tree = read_attributes(group, where);
  read_arrays(group, "", tree, where);
  return tree;
}

void ReadFile::visit_everything(Depth depth) const {
  const Session session;
  const Handle root = group_handle(H5Gopen2(file_.get(), "/", H5P_DEFAULT));
  if (!root.valid()) throw_input("{}: root group: {}", name_, library_reason());
  std::set<std::uint64_t> groups, datasets;
  Visit visit;
  visit.where = name_;
  visit.prefix = "/";
  visit.depth = depth;
  visit.all_attributes = has_root_attribute("signorini_schema");
  visit.groups = &groups;
  visit.datasets = &datasets;
  walk(root.get(), "/", 0, visit);
}

}  // namespace signorini::h5
