#include "python/array_views.h"

#include <algorithm>

#include "base/check.h"

namespace signorini::python {

py::tuple bsr_copy(Index block_rows, Index block_columns, const Index* row_begin, const Index* column,
                   const double* values) {
  const auto blocks = static_cast<py::ssize_t>(block_rows > 0 ? row_begin[block_rows] : 0);
  py::array_t<double> data({blocks, py::ssize_t{3}, py::ssize_t{3}});
  double* out = data.mutable_data();
  for (py::ssize_t b = 0; b < blocks; ++b) {
    for (int row = 0; row < 3; ++row) {
      for (int col = 0; col < 3; ++col) out[9 * b + 3 * row + col] = values[9 * b + 3 * col + row];
    }
  }
  py::array_t<Index> begin(py::ssize_t{block_rows} + 1);
  begin.mutable_data()[0] = 0;
  if (block_rows > 0) std::copy_n(row_begin, block_rows + 1, begin.mutable_data());
  return py::make_tuple(data, copy_of(column, static_cast<std::size_t>(blocks)), begin,
                        py::make_tuple(3 * block_rows, 3 * block_columns));
}

Vector vector_from(const py::array& array, Eigen::Index size, const char* name, const char* meaning) {
  const bool is_plain = array.ndim() == 1 && py::isinstance<py::array_t<double>>(array);
  if (!is_plain || array.size() != size)
    throw_usage("{}: has shape {}; it must have {} numbers, {}", name,
                std::string(py::str(array.attr("shape"))), size, meaning);
  const auto numbers = py::array_t<double, py::array::c_style | py::array::forcecast>(array);
  return Eigen::Map<const Vector>(numbers.data(), size);
}

}  // namespace signorini::python
