#include "record/raw_tree.h"

#include <fmt/format.h>

#include "base/check.h"
#include "base/digest.h"

namespace signorini {

namespace {

void update(Digest& digest, std::uint64_t number) { digest.update(&number, sizeof number); }

void update(Digest& digest, const std::string& text) {
  update(digest, text.size());
  digest.update(text);
}

void update(Digest& digest, const RawArray& array) {
  update(digest, array.values.index());
  update(digest, array.shape.size());
  digest.update(std::span<const std::uint64_t>(array.shape));
  std::visit(
      [&](const auto& values) { digest.update(values.data(), values.size() * sizeof(*values.data())); },
      array.values);
}

void update(Digest& digest, const RawScalar& scalar) {
  update(digest, scalar.index());
  if (const auto* text = std::get_if<std::string>(&scalar)) {
    update(digest, *text);
  } else {
    std::visit([&](const auto& value) { digest.update(&value, sizeof value); }, scalar);
  }
}

template <class T>
constexpr const char* kTypeName = "real numbers";
template <>
constexpr const char* kTypeName<Index> = "integers";

}  // namespace

std::size_t RawArray::size() const {
  return std::visit([](const auto& v) { return v.size(); }, values);
}

bool RawTree::has_group(const std::string& name) const {
  const auto found = arrays.lower_bound(name);
  if (found == arrays.end()) return false;
  if (found->first == name) return true;
  const auto below = arrays.lower_bound(name + "/");
  return below != arrays.end() && below->first.starts_with(name + "/");
}

void RawTree::put(const std::string& path, std::vector<Index> values) {
  const std::uint64_t length = values.size();
  arrays[path] = RawArray{std::move(values), {length}};
}

void RawTree::put(const std::string& path, std::vector<double> values) {
  const std::uint64_t length = values.size();
  arrays[path] = RawArray{std::move(values), {length}};
}

void RawTree::put(const std::string& path, std::span<const double> values) {
  put(path, std::vector<double>(values.begin(), values.end()));
}

void RawTree::put_matrix(const std::string& path, std::vector<Index> values, std::size_t columns) {
  const std::uint64_t rows = values.size() / columns;
  arrays[path] = RawArray{std::move(values), {rows, columns}};
}

void RawTree::put_matrix(const std::string& path, std::vector<double> values, std::size_t columns) {
  const std::uint64_t rows = values.size() / columns;
  arrays[path] = RawArray{std::move(values), {rows, columns}};
}

void RawTree::put_text(const std::string& path, std::string text) {
  arrays[path] = RawArray{std::move(text), {}};
}

std::uint64_t digest_of(const RawArray& array) {
  Digest digest;
  update(digest, array);
  return digest.value();
}

std::uint64_t digest_of(const RawTree& tree) {
  Digest digest;
  for (const auto& [name, scalar] : tree.attributes) {
    update(digest, name);
    update(digest, scalar);
  }
  for (const auto& [path, array] : tree.arrays) {
    update(digest, path);
    update(digest, array);
  }
  return digest.value();
}

void RawReader::fail(const std::string& path, const std::string& reason) const {
  throw_input("{}: {} '{}': {}", where_, noun_, path, reason);
}

void RawReader::fail(const std::string& reason) const { throw_input("{}: {}", where_, reason); }

const RawArray& RawReader::array(const std::string& path) const {
  const auto found = tree_.arrays.find(path);
  if (found == tree_.arrays.end()) fail(path, "missing");
  if (!found->second.written) fail(path, "was declared, but its numbers were never written");
  return found->second;
}

template <class T>
std::span<const T> RawReader::typed(const std::string& path, std::size_t rank) const {
  const RawArray& found = array(path);
  const auto* values = std::get_if<std::vector<T>>(&found.values);
  if (values == nullptr) fail(path, fmt::format("does not hold {}", kTypeName<T>));
  if (rank == 1 ? found.shape.size() > 1 : found.shape.size() != rank) {
    fail(path, fmt::format("has {} dimensions instead of {}", found.shape.size(), rank));
  }
  return *values;
}

std::span<const Index> RawReader::integers(const std::string& path) const { return typed<Index>(path, 1); }
std::span<const double> RawReader::reals(const std::string& path) const { return typed<double>(path, 1); }

std::span<const Index> RawReader::integers(const std::string& path, std::size_t length) const {
  const auto values = integers(path);
  if (values.size() != length) fail(path, fmt::format("has {} entries instead of {}", values.size(), length));
  return values;
}

std::span<const double> RawReader::reals(const std::string& path, std::size_t length) const {
  const auto values = reals(path);
  if (values.size() != length) fail(path, fmt::format("has {} entries instead of {}", values.size(), length));
  return values;
}

std::span<const Index> RawReader::integer_rows(const std::string& path, std::size_t columns) const {
  const auto values = typed<Index>(path, 2);
  if (array(path).shape[1] != columns) {
    fail(path, fmt::format("has {} columns instead of {}", array(path).shape[1], columns));
  }
  return values;
}

std::span<const double> RawReader::real_rows(const std::string& path, std::size_t columns) const {
  const auto values = typed<double>(path, 2);
  if (array(path).shape[1] != columns) {
    fail(path, fmt::format("has {} columns instead of {}", array(path).shape[1], columns));
  }
  return values;
}

Index RawReader::integer(const std::string& path) const { return integers(path, 1)[0]; }

std::string RawReader::text(const std::string& path) const {
  const auto found = tree_.arrays.find(path);
  if (found == tree_.arrays.end()) return {};
  const auto* text = std::get_if<std::string>(&found->second.values);
  return text != nullptr ? *text : std::string();
}

std::uint64_t RawReader::count_attribute(const std::string& name) const {
  const auto found = tree_.attributes.find(name);
  if (found == tree_.attributes.end()) fail(fmt::format("attribute '{}': missing", name));
  const auto* value = std::get_if<std::uint64_t>(&found->second);
  if (value == nullptr) fail(fmt::format("attribute '{}': not a whole number", name));
  return *value;
}

double RawReader::real_attribute(const std::string& name) const {
  const auto found = tree_.attributes.find(name);
  if (found == tree_.attributes.end()) fail(fmt::format("attribute '{}': missing", name));
  const auto* value = std::get_if<double>(&found->second);
  if (value == nullptr) fail(fmt::format("attribute '{}': not a real number", name));
  return *value;
}

std::string RawReader::text_attribute(const std::string& name) const {
  const auto found = tree_.attributes.find(name);
  if (found == tree_.attributes.end()) fail(fmt::format("attribute '{}': missing", name));
  const auto* value = std::get_if<std::string>(&found->second);
  if (value == nullptr) fail(fmt::format("attribute '{}': not a text", name));
  return *value;
}

}  // namespace signorini
