#define H5_USE_110_API
#include "record/h5.h"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>

#include "base/check.h"

namespace signorini::h5 {

static_assert(sizeof(hid_t) == sizeof(std::int64_t) && sizeof(herr_t) == sizeof(int));

namespace {

constexpr int kMaxDepth = 6;
constexpr std::size_t kMaxText = std::size_t{1} << 26;

std::mutex& library_mutex() {
  static std::mutex mutex;
  return mutex;
}

thread_local int lock_depth = 0;

/// Holds the lock, silences the library's own error printing in this thread, and forbids dynamic filter
/// plugins.
class Session {
 public:
  Session() {
    static const bool initialised = [] { return H5open() >= 0 && H5PLset_loading_state(0) >= 0; }();
    SIGNORINI_CHECK(initialised);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }

 private:
  LibraryLock lock_;
};

Handle group_handle(hid_t id) { return {id, H5Gclose}; }
Handle dataset_handle(hid_t id) { return {id, H5Dclose}; }
Handle space_handle(hid_t id) { return {id, H5Sclose}; }
Handle type_handle(hid_t id) { return {id, H5Tclose}; }
Handle list_handle(hid_t id) { return {id, H5Pclose}; }
Handle attribute_handle(hid_t id) { return {id, H5Aclose}; }

/// The innermost description of the library's error stack, for the end of a message.
std::string library_reason() {
  std::string reason;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* data) -> herr_t {
        auto& text = *static_cast<std::string*>(data);
        if (text.empty() && error->desc != nullptr) text = error->desc;
        return 0;
      },
      &reason);
  for (char& c : reason) {
    if (static_cast<unsigned char>(c) < 32) c = ' ';
  }
  return reason.empty() ? std::string("no reason given") : reason.substr(0, 200);
}

Handle access_list(bool in_memory, Format format) {
  Handle list = list_handle(H5Pcreate(H5P_FILE_ACCESS));
  const H5F_libver_t low = format == Format::earliest ? H5F_LIBVER_EARLIEST : H5F_LIBVER_V18;
  H5Pset_libver_bounds(list.get(), low, H5F_LIBVER_V18);
  H5Pset_fclose_degree(list.get(), H5F_CLOSE_STRONG);
  H5Pset_file_locking(list.get(), false, true);
  if (in_memory) H5Pset_fapl_core(list.get(), std::size_t{1} << 16U, false);
  return list;
}

/// Catches the buffer of an in-memory file as the library gives it up on closing. (H5Fget_file_image cannot
/// serve: it clears the flags of the superblock behind the back of its checksum.)
struct Catcher {
  void* buffer = nullptr;
  ~Catcher() { std::free(buffer); }
};

H5FD_file_image_callbacks_t catching_callbacks(Catcher& catcher) {
  H5FD_file_image_callbacks_t callbacks{};
  callbacks.image_malloc = [](std::size_t size, H5FD_file_image_op_t, void*) { return std::malloc(size); };
  callbacks.image_memcpy = [](void* to, const void* from, std::size_t size, H5FD_file_image_op_t, void*) {
    return std::memcpy(to, from, size);
  };
  callbacks.image_realloc = [](void* old, std::size_t size, H5FD_file_image_op_t, void*) {
    return std::realloc(old, size);
  };
  callbacks.image_free = [](void* buffer, H5FD_file_image_op_t operation, void* data) -> herr_t {
    if (operation == H5FD_FILE_IMAGE_OP_FILE_CLOSE) {
      static_cast<Catcher*>(data)->buffer = buffer;
    } else {
      std::free(buffer);
    }
    return 0;
  };
  // Property lists copy the user data; every copy means the same catcher.
  callbacks.udata_copy = [](void* data) { return data; };
  callbacks.udata_free = [](void*) -> herr_t { return 0; };
  callbacks.udata = &catcher;
  return callbacks;
}

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

std::string join(const std::string& group, const std::string& name) {
  return group == "/" ? "/" + name : group + "/" + name;
}

Handle fixed_text_type(std::size_t size) {
  Handle type = type_handle(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(size, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLTERM);
  return type;
}

}  // namespace

LibraryLock::LibraryLock() {
  if (lock_depth++ == 0) library_mutex().lock();
}

LibraryLock::~LibraryLock() {
  if (--lock_depth == 0) library_mutex().unlock();
}

Handle& Handle::operator=(Handle&& other) noexcept {
  if (this != &other) {
    reset();
    id_ = other.id_;
    close_ = other.close_;
    other.id_ = -1;
  }
  return *this;
}

bool Handle::reset() {
  if (id_ < 0) return true;
  const Session session;
  const bool closed = close_(id_) >= 0;
  id_ = -1;
  return closed;
}

// ----------------------------------------------------------------------------------------------------------
// reading

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
                           const std::string& where) const {
  const Session session;
  const Handle id = group_handle(H5Gopen2(file_.get(), group.c_str(), H5P_DEFAULT));
  if (!id.valid()) throw_input("{}: group '{}': {}", where, group, library_reason());
  std::set<std::uint64_t> groups;
  Visit visit;
  visit.where = where;
  visit.prefix = group == "/" ? "/" : group + "/";
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

// ----------------------------------------------------------------------------------------------------------
// writing

namespace {

Handle create_list(hid_t kind) {
  Handle list = list_handle(H5Pcreate(kind));
  H5Pset_obj_track_times(list.get(), false);
  return list;
}

Handle create_group_list() {
  Handle list = create_list(H5P_GROUP_CREATE);
  // Up to 64 links stay in the (checksummed) object header instead of a fractal heap.
  H5Pset_link_phase_change(list.get(), 64, 32);
  return list;
}

/// On disk, or in memory when there is a catcher for the bytes.
Handle create_file(const char* name, Catcher* catcher, Format format) {
  const Handle creation = create_list(H5P_FILE_CREATE);
  const Handle access = access_list(catcher != nullptr, format);
  if (catcher != nullptr) {
    auto callbacks = catching_callbacks(*catcher);
    H5Pset_file_image_callbacks(access.get(), &callbacks);
  }
  return {H5Fcreate(name, H5F_ACC_EXCL, creation.get(), access.get()), H5Fclose};
}

bool write_attribute(hid_t object, const std::string& name, hid_t type, const void* value) {
  const Handle space = space_handle(H5Screate(H5S_SCALAR));
  Handle attribute =
      attribute_handle(H5Acreate2(object, name.c_str(), type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
  return attribute.valid() && H5Awrite(attribute.get(), type, value) >= 0 && attribute.reset();
}

bool write_scalar(hid_t object, const std::string& name, const RawScalar& scalar) {
  if (const auto* count = std::get_if<std::uint64_t>(&scalar)) {
    return write_attribute(object, name, H5T_STD_U64LE, count);
  }
  if (const auto* real = std::get_if<double>(&scalar))
    return write_attribute(object, name, H5T_IEEE_F64LE, real);
  const auto& text = std::get<std::string>(scalar);
  const Handle type = fixed_text_type(text.size() + 1);
  H5Tset_cset(type.get(), H5T_CSET_UTF8);
  return write_attribute(object, name, type.get(), text.c_str());
}

}  // namespace

struct WriteFile::Memory {
  Catcher catcher;
};

WriteFile::WriteFile(Format format)
    : name_("file image"), memory_(std::make_unique<Memory>()), file_(-1, H5Fclose) {
  const Session session;
  file_ = create_file("signorini-image", &memory_->catcher, format);
  if (!file_.valid()) fail("cannot be created");
}

WriteFile::~WriteFile() = default;

WriteFile::WriteFile(const std::filesystem::path& path, Format format)
    : name_(path.string()), file_(-1, H5Fclose) {
  const Session session;
  file_ = create_file(path.c_str(), nullptr, format);
  if (!file_.valid()) fail("cannot be created");
}

void WriteFile::fail(const std::string& what) const {
  throw_input("{}: {} ({})", name_, what, library_reason());
}

void WriteFile::put_array(std::int64_t group, const std::string& path, const RawArray& array) {
  const auto* text = std::get_if<std::string>(&array.values);
  const Handle text_type = fixed_text_type(text != nullptr ? text->size() + 1 : 1);
  hid_t type = text_type.get();
  const void* data = text != nullptr ? text->c_str() : nullptr;
  if (const auto* integers = std::get_if<std::vector<Index>>(&array.values)) {
    type = H5T_STD_I32LE;
    data = integers->data();
  } else if (const auto* reals = std::get_if<std::vector<double>>(&array.values)) {
    type = H5T_IEEE_F64LE;
    data = reals->data();
  }
  const std::vector<hsize_t> dims(array.shape.begin(), array.shape.end());
  const Handle space =
      space_handle(dims.empty() ? H5Screate(H5S_SCALAR)
                                : H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr));
  const Handle list = create_list(H5P_DATASET_CREATE);
  H5Pset_layout(list.get(), H5D_CONTIGUOUS);
  H5Pset_fill_time(list.get(), H5D_FILL_TIME_NEVER);
  Handle dataset = dataset_handle(
      H5Dcreate2(group, path.c_str(), type, space.get(), H5P_DEFAULT, list.get(), H5P_DEFAULT));
  const bool written =
      dataset.valid() &&
      (array.size() == 0 || H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0) &&
      dataset.reset();
  if (!written) fail(fmt::format("dataset '{}' cannot be written", path));
}

namespace {

/// Opens or makes every group on the way to the absolute `path`.
Handle require_group(hid_t file, const std::string& path) {
  Handle current = group_handle(H5Gopen2(file, "/", H5P_DEFAULT));
  const Handle creation = create_group_list();
  for (std::size_t begin = 1; begin < path.size() && current.valid();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string name = path.substr(begin, end - begin);
    const bool exists = H5Lexists(current.get(), name.c_str(), H5P_DEFAULT) > 0;
    current = group_handle(
        exists ? H5Gopen2(current.get(), name.c_str(), H5P_DEFAULT)
               : H5Gcreate2(current.get(), name.c_str(), H5P_DEFAULT, creation.get(), H5P_DEFAULT));
    begin = end + 1;
  }
  return current;
}

std::pair<std::string, std::string> split_last(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

void WriteFile::put(const std::string& group, const RawTree& tree) {
  const Session session;
  Handle base = require_group(file_.get(), group);
  if (!base.valid()) fail(fmt::format("group '{}' cannot be made", group));
  for (const auto& [name, scalar] : tree.attributes) {
    if (!write_scalar(base.get(), name, scalar)) fail(fmt::format("attribute '{}' cannot be written", name));
  }
  for (const auto& [path, array] : tree.arrays) {
    const auto [parent, name] = split_last(path);
    Handle child = require_group(file_.get(), parent.empty() ? group : join(group, parent));
    if (!child.valid()) fail(fmt::format("group '{}' cannot be made", join(group, parent)));
    put_array(child.get(), name, array);
  }
}

void WriteFile::put_shared(const std::string& group, const RawTree& tree) {
  const Session session;
  RawTree attributes;
  attributes.attributes = tree.attributes;
  put(group, attributes);
  for (const auto& [path, array] : tree.arrays) {
    const auto [parent, name] = split_last(path);
    Handle child = require_group(file_.get(), parent.empty() ? group : join(group, parent));
    if (!child.valid()) fail(fmt::format("group '{}' cannot be made", join(group, parent)));
    const auto [first, is_new] = shared_.try_emplace(digest_of(array), join(group, path));
    if (is_new) {
      put_array(child.get(), name, array);
    } else if (H5Lcreate_hard(file_.get(), first->second.c_str(), child.get(), name.c_str(), H5P_DEFAULT,
                              H5P_DEFAULT) < 0) {
      fail(fmt::format("dataset '{}' cannot be linked", path));
    }
  }
}

std::vector<std::byte> WriteFile::image() {
  const Session session;
  if (H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) < 0) fail("cannot be flushed");
  const ssize_t size = H5Fget_file_image(file_.get(), nullptr, 0);
  if (!file_.reset() || memory_->catcher.buffer == nullptr || size <= 0) fail("cannot be closed");
  const auto* bytes = static_cast<const std::byte*>(memory_->catcher.buffer);
  return {bytes, bytes + size};
}

void WriteFile::close() {
  const Session session;
  const bool flushed = H5Fflush(file_.get(), H5F_SCOPE_GLOBAL) >= 0;
  const bool closed = file_.reset();
  if (!flushed || !closed) fail("cannot be closed");
}

}  // namespace signorini::h5
