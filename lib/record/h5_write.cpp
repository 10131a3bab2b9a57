#define H5_USE_110_API
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "base/check.h"
#include "record/h5.h"
#include "record/h5_library.h"

namespace signorini::h5 {

namespace {

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

Handle fixed_text_type(std::size_t size) {
  Handle type = type_handle(H5Tcopy(H5T_C_S1));
  H5Tset_size(type.get(), std::max<std::size_t>(size, 1));
  H5Tset_strpad(type.get(), H5T_STR_NULLTERM);
  return type;
}

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
