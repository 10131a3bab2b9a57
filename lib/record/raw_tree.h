#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "linalg/types.h"

/// A group of named arrays as it stands in a file: nothing is known yet about what the numbers mean, and
/// nothing is trusted. The HDF5 layer (h5.h) turns files into such trees and back; the codecs (raw_problem.h, raw_npz.h and
/// what they use) turn trees into problems and back, without HDF5, so that they can be fuzzed at full speed.
namespace signorini {

struct RawArray {
  std::variant<std::vector<Index>, std::vector<double>, std::string> values;
  std::vector<std::uint64_t> shape;  ///< row-major; empty = a scalar
  bool written = true;               ///< false: the file declares it, but no number was ever stored

  std::size_t size() const;
};

using RawScalar = std::variant<std::uint64_t, double, std::string>;

struct RawTree {
  std::map<std::string, RawScalar> attributes;  ///< of the group itself
  std::map<std::string, RawArray> arrays;       ///< by path below the group: "M/column"

  bool has(const std::string& path) const { return arrays.contains(path); }
  /// Any array at "name" or below "name/".
  bool has_group(const std::string& name) const;

  void put(const std::string& path, std::vector<Index> values);
  void put(const std::string& path, std::vector<double> values);
  void put(const std::string& path, std::span<const double> values);
  void put_matrix(const std::string& path, std::vector<Index> values, std::size_t columns);
  void put_matrix(const std::string& path, std::vector<double> values, std::size_t columns);
  void put_text(const std::string& path, std::string text);
};

/// XXH3 over names, types, shapes and bytes of all arrays and attributes in the order of their names.
std::uint64_t digest_of(const RawTree& tree);
/// XXH3 over type, shape and bytes of one array.
std::uint64_t digest_of(const RawArray& array);

/// Typed access to a tree with the place in every message: "FILE: frame 000120: dataset 'H/row': missing".
class RawReader {
 public:
  /// `noun`: what the format calls an array.
  RawReader(const RawTree& tree, std::string where, const char* noun = "dataset")
      : tree_(tree), where_(std::move(where)), noun_(noun) {}

  const RawTree& tree() const { return tree_; }
  bool has(const std::string& path) const { return tree_.has(path); }

  /// Any length, rank 1 (or scalar).
  std::span<const Index> integers(const std::string& path) const;
  std::span<const double> reals(const std::string& path) const;
  /// With a required length.
  std::span<const Index> integers(const std::string& path, std::size_t length) const;
  std::span<const double> reals(const std::string& path, std::size_t length) const;
  /// Rank 2 with the required number of columns; any number of rows.
  std::span<const Index> integer_rows(const std::string& path, std::size_t columns) const;
  std::span<const double> real_rows(const std::string& path, std::size_t columns) const;
  /// A single number stored as a dataset of length 1.
  Index integer(const std::string& path) const;
  /// "" when absent.
  std::string text(const std::string& path) const;

  std::uint64_t count_attribute(const std::string& name) const;
  double real_attribute(const std::string& name) const;
  std::string text_attribute(const std::string& name) const;

  /// Throws `InputError` "<where>: <noun> '<path>': <reason>".
  [[noreturn]] void fail(const std::string& path, const std::string& reason) const;
  [[noreturn]] void fail(const std::string& reason) const;

 private:
  const RawArray& array(const std::string& path) const;
  template <class T>
  std::span<const T> typed(const std::string& path, std::size_t rank) const;

  const RawTree& tree_;
  std::string where_;
  const char* noun_;
};

}  // namespace signorini
