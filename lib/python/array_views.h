#pragma once

#include <pybind11/numpy.h>

#include <memory>
#include <vector>

#include "contact/contact_problem.h"
#include "linalg/block_sparse_matrix.h"
#include "python/bindings.h"

/// Numbers of C++ as numpy arrays.
///
/// Views share the memory of a problem, keep it alive, and can never be made writeable: a problem that has been checked
/// stays as it is. A sparse matrix is the tuple (data, indices, indptr, (rows, columns)) of scipy's constructors.
namespace signorini::python {

using ProblemPointer = std::shared_ptr<const ContactProblem>;

/// Strides count elements.
template <class T>
py::array view_of(const ProblemPointer& owner, const T* data, std::vector<py::ssize_t> shape,
                  std::vector<py::ssize_t> strides) {
  for (py::ssize_t& stride : strides) stride *= static_cast<py::ssize_t>(sizeof(T));
  const py::capsule keeper(new ProblemPointer(owner),
                           [](void* held) { delete static_cast<ProblemPointer*>(held); });
  py::array_t<T> array(std::move(shape), std::move(strides), data, keeper);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

template <class T>
py::array view_of(const ProblemPointer& owner, const T* data, Eigen::Index size) {
  return view_of(owner, data, {size}, {1});
}

/// Of a dense Eigen matrix, row- or column-major.
template <class Dense>
py::array matrix_view(const ProblemPointer& owner, const Dense& matrix) {
  return view_of(owner, matrix.data(), {matrix.rows(), matrix.cols()},
                 {matrix.rowStride(), matrix.colStride()});
}

/// Of a compressed matrix: CSR of rows, CSC of columns.
template <class Sparse>
py::tuple sparse_view(const ProblemPointer& owner, const Sparse& matrix) {
  const Eigen::Index entries = matrix.nonZeros();
  return py::make_tuple(view_of(owner, matrix.valuePtr(), entries),
                        view_of(owner, matrix.innerIndexPtr(), entries),
                        view_of(owner, matrix.outerIndexPtr(), matrix.outerSize() + 1),
                        py::make_tuple(matrix.rows(), matrix.cols()));
}

template <class T>
py::array_t<T> copy_of(const T* data, std::size_t size) {
  return py::array_t<T>(static_cast<py::ssize_t>(size), data);
}
inline py::array_t<double> copy_of(const Vector& x) {
  return copy_of(x.data(), static_cast<std::size_t>(x.size()));
}

/// Scipy's BSR: blocks of the library stand column by column, scipy's row by row.
py::tuple bsr_copy(Index block_rows, Index block_columns, const Index* row_begin, const Index* column,
                   const double* values);

/// 3m (n) numbers. Throws `UsageError` that names `name`, its shape and what it must be.
Vector vector_from(const py::array& array, Eigen::Index size, const char* name, const char* meaning);

}  // namespace signorini::python
