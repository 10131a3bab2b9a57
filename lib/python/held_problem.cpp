#include "python/held_problem.h"

#include <pybind11/stl.h>

#include "contact/delassus_operator.h"
#include "python/interpreter_lock.h"
#include "record/raw_npz.h"
#include "regions/region_partition.h"

namespace signorini::python {

namespace {

template <class T>
RawArray numbers_of(const py::array& array) {
  const auto numbers = py::array_t<T, py::array::c_style | py::array::forcecast>(array);
  RawArray raw;
  raw.values = std::vector<T>(numbers.data(), numbers.data() + numbers.size());
  for (py::ssize_t axis = 0; axis < numbers.ndim(); ++axis)
    raw.shape.push_back(static_cast<std::uint64_t>(numbers.shape(axis)));
  return raw;
}

RawArray raw_array(const std::string& name, const py::handle& value, const std::string& where) {
  if (py::isinstance<py::str>(value)) return {value.cast<std::string>(), {}};
  if (py::isinstance<py::array_t<double>>(value)) return numbers_of<double>(value.cast<py::array>());
  if (py::isinstance<py::array_t<Index>>(value)) return numbers_of<Index>(value.cast<py::array>());
  throw_input("{}: array '{}': is neither float64, int32 nor text", where, name);
}

const char* kind_text(ProblemKind kind) {
  if (kind == ProblemKind::explicit_step) return "explicit";
  return kind == ProblemKind::implicit_step ? "implicit" : "unknown";
}

py::dict facts_of(const HeldProblem& held) {
  const ContactProblem& p = held.get();
  py::dict facts;
  facts["contacts"] = p.contacts();
  facts["dofs"] = p.dofs();
  facts["own_dofs"] = p.own_dofs();
  facts["spacedim"] = p.spacedim;
  facts["dt"] = p.dt;
  facts["time"] = p.time;
  facts["kind"] = kind_text(p.kind);
  facts["has_primal"] = p.has_primal();
  facts["has_dual"] = p.has_dual();
  return facts;
}

py::object sparse_of(const HeldProblem& held, const std::string& name) {
  const ContactProblem& p = held.get();
  if (name == "M" && p.has_primal()) return sparse_view(held.pointer(), p.M);
  if (name == "H" && p.has_primal()) return sparse_view(held.pointer(), p.H);
  if (name == "W" && p.has_dual()) return sparse_view(held.pointer(), p.W);
  return py::none();
}

template <class Numbers>
py::object vector_view(const ProblemPointer& owner, const Numbers& numbers) {
  if (numbers.size() == 0) return py::none();
  return view_of(owner, numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

template <class Dense>
py::object dense_view(const ProblemPointer& owner, const Dense& matrix) {
  if (matrix.size() == 0) return py::none();
  return matrix_view(owner, matrix);
}

/// None: the problem has no such array.
py::object array_of(const HeldProblem& held, const std::string& name) {
  const ProblemPointer& owner = held.pointer();
  const ContactProblem& p = held.get();
  if (name == "mu") return view_of(owner, p.mu.data(), p.mu.size());
  if (name == "f") return vector_view(owner, p.f);
  if (name == "w") return vector_view(owner, p.w);
  if (name == "q") return vector_view(owner, p.q);
  if (name == "warm_start") return vector_view(owner, p.warm_start);
  if (name == "gap") return vector_view(owner, p.gap);
  if (name == "frame") return dense_view(owner, p.frame);
  if (name == "position") return dense_view(owner, p.position);
  if (name == "points") return dense_view(owner, p.points);
  if (name == "weights") return dense_view(owner, p.weights);
  if (name == "bodies") return dense_view(owner, p.bodies);
  if (name == "features") return dense_view(owner, p.features);
  if (name == "node_numbers") return vector_view(owner, p.node_numbers);
  if (name == "body_dofs") return vector_view(owner, p.body_dofs);
  if (name == "v_minus") return vector_view(owner, p.v_minus);
  if (name == "start_bounds") return vector_view(owner, p.start_bounds);
  if (name == "start_states") {
    if (p.start_states.empty()) return py::none();
    return view_of(owner, reinterpret_cast<const Index*>(p.start_states.data()),
                   static_cast<Eigen::Index>(p.start_states.size()));
  }
  throw_usage("a problem has no array '{}'", name);
}

py::tuple reduced_of(const HeldProblem& held) {
  ReducedProblem reduced;
  {
    const Unlocked unlocked;
    reduced = assemble_reduced(held.get());
  }
  const BlockSparseMatrix& W = reduced.W;
  return py::make_tuple(
      bsr_copy(W.block_rows, W.block_columns, W.row_begin.data(), W.column.data(), W.values.data()),
      copy_of(reduced.q));
}

py::array_t<Index> labels_of(const HeldProblem& held, const std::string& mode) {
  RegionPartition partition;
  {
    const Unlocked unlocked;
    partition = partition_regions(held.get(), parse_enum<RegionMode>(mode, "regions"));
  }
  return copy_of(partition.label.data(), partition.label.size());
}

std::shared_ptr<HeldProblem> region_of(const HeldProblem& held, const std::string& mode, Index region) {
  const RegionPartition partition = partition_regions(held.get(), parse_enum<RegionMode>(mode, "regions"));
  if (region < 0 || region >= partition.regions())
    throw_usage("region {}: the problem has {} by '{}', numbered from 0", region, partition.regions(), mode);
  const Unlocked unlocked;
  return std::make_shared<HeldProblem>(extract_region(held.get(), partition, region));
}

}  // namespace

std::shared_ptr<HeldProblem> problem_from(const py::dict& arrays, const std::string& where,
                                          const std::string& reading) {
  RawTree tree;
  for (const auto& [name, value] : arrays) {
    const auto key = name.cast<std::string>();
    tree.arrays[key] = raw_array(key, value, where);
  }
  const auto parsed = parse_enum<MatrixReading>(reading, "matrix");
  const Unlocked unlocked;
  return std::make_shared<HeldProblem>(decode_npz(tree, where, parsed).problem);
}

void bind_problem(py::module_& module) {
  py::class_<HeldProblem, std::shared_ptr<HeldProblem>>(module, "Problem", "A checked contact problem.")
      .def("facts", &facts_of, "Sizes, time and kind.")
      .def("sparse", &sparse_of, py::arg("name"),
           "(data, indices, indptr, shape) of M (CSR), H (CSC) or W (CSR), or None.")
      .def("array", &array_of, py::arg("name"), "A read-only view of an array, or None.")
      .def("reduced", &reduced_of, "W as BSR and q, assembled.")
      .def("labels", &labels_of, py::arg("mode"), "The region of every contact.")
      .def("region", &region_of, py::arg("mode"), py::arg("region"), "The problem of one region.");
  module.def("problem_from", &problem_from, py::arg("arrays"), py::arg("where"), py::arg("reading"),
             "A problem from the arrays of an npz archive, checked.");
}

}  // namespace signorini::python
