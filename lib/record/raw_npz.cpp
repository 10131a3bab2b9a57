#include "record/raw_npz.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "record/npy_array.h"
#include "record/numpy_matrix.h"
#include "record/raw_problem.h"
#include "record/stored_triangle.h"

namespace signorini {

namespace {

constexpr std::uint64_t kFreeBytes = std::uint64_t{1} << 30U;  // unpacked, whatever the size of the archive
constexpr std::uint64_t kMostGrowth = 4;

struct KnownArray {
  std::string_view name;
  NpyContent content;
};
constexpr std::array kKnownArrays{
    KnownArray{"mu", NpyContent::real},          KnownArray{"f", NpyContent::real},
    KnownArray{"w", NpyContent::real},           KnownArray{"q", NpyContent::real},
    KnownArray{"spacedim", NpyContent::whole},   KnownArray{"warm_start", NpyContent::real},
    KnownArray{"r", NpyContent::real},           KnownArray{"u", NpyContent::real},
    KnownArray{"v", NpyContent::real},           KnownArray{"title", NpyContent::text},
    KnownArray{"description", NpyContent::text}, KnownArray{"math_info", NpyContent::text},
    KnownArray{"dt", NpyContent::real},          KnownArray{"time", NpyContent::real},
    KnownArray{"kind", NpyContent::text}};
/// What `put_extras` gives.
constexpr std::array kExtraArrays{
    KnownArray{"gap", NpyContent::real},           KnownArray{"frame", NpyContent::real},
    KnownArray{"position", NpyContent::real},      KnownArray{"points", NpyContent::whole},
    KnownArray{"weights", NpyContent::real},       KnownArray{"bodies", NpyContent::whole},
    KnownArray{"features", NpyContent::whole},     KnownArray{"node_numbers", NpyContent::whole},
    KnownArray{"body_dofs", NpyContent::whole},    KnownArray{"v_minus", NpyContent::real},
    KnownArray{"start_states", NpyContent::whole}, KnownArray{"start_bounds", NpyContent::real}};
constexpr std::array kMatrices{"M", "H", "W"};
/// Behind the name of a matrix.
constexpr std::array kMatrixForms{
    KnownArray{"", NpyContent::real},         KnownArray{"_diagonal", NpyContent::real},
    KnownArray{"_data", NpyContent::real},    KnownArray{"_indices", NpyContent::whole},
    KnownArray{"_indptr", NpyContent::whole}, KnownArray{"_shape", NpyContent::whole},
    KnownArray{"_format", NpyContent::text}};

/// visit(name, content) of every array that has a meaning.
template <class Visit>
void visit_known_arrays(Visit&& visit) {
  for (const KnownArray& known : kKnownArrays) visit(std::string(known.name), known.content);
  for (const KnownArray& known : kExtraArrays) visit(std::string(known.name), known.content);
  for (const char* matrix : kMatrices) {
    for (const KnownArray& form : kMatrixForms) visit(std::string(matrix).append(form.name), form.content);
  }
}

std::string entry_of(const std::string& array) { return array + ".npy"; }

RawArray read_entry(const ZipArchive& archive, const std::string& name, NpyContent content,
                    const std::string& where) {
  return read_npy(archive.read(entry_of(name)), content, fmt::format("{}: array '{}'", where, name));
}

Vector vector_of(const RawReader& raw, const std::string& name, std::size_t length) {
  const auto values = raw.reals(name, length);
  return Eigen::Map<const Vector>(values.data(), count(values));
}

Vector vector_of(const RawReader& raw, const std::string& name) {
  return vector_of(raw, name, raw.reals(name).size());
}

Vector finite_vector_of(const RawReader& raw, const std::string& name, std::size_t length) {
  Vector vector = vector_of(raw, name, length);
  if (!vector.allFinite()) raw.fail(name, "holds a number that is not finite");
  return vector;
}

void decode_primal(const RawReader& raw, MatrixReading reading, std::size_t rows, ContactProblem& problem) {
  problem.f = vector_of(raw, "f");
  const std::size_t n = problem.f.size();
  check_counts(raw, problem.mu.size(), n);
  problem.w = vector_of(raw, "w", rows);
  problem.M = read_numpy_rows(raw, "M", n, n);
  if (reading == MatrixReading::symmetric) {
    problem.M_stored = stored_triangle(problem.M);
    problem.M = complete_triangle(std::move(problem.M), problem.M_stored);
  }
  problem.H = read_numpy_columns(raw, "H", n, rows);
}

std::optional<FclibSolution> decode_solution(const RawReader& raw, std::size_t rows, std::size_t dofs) {
  if (!raw.has("r") && !raw.has("u")) return {};
  FclibSolution solution;
  solution.r = finite_vector_of(raw, "r", rows);
  solution.u = finite_vector_of(raw, "u", rows);
  if (raw.has("v")) solution.v = finite_vector_of(raw, "v", dofs);
  return solution;
}

/// As the group "signorini" of an FCLib file has it.
RawTree extras_of(const RawReader& raw) {
  RawTree extras;
  extras.attributes["dt"] = raw.has("dt") ? raw.reals("dt", 1)[0] : 0.0;
  extras.attributes["time"] = raw.has("time") ? raw.reals("time", 1)[0] : 0.0;
  extras.attributes["kind"] = raw.has("kind") ? raw.text("kind") : std::string("unknown");
  for (const KnownArray& known : kExtraArrays) {
    const auto found = raw.tree().arrays.find(std::string(known.name));
    if (found != raw.tree().arrays.end()) extras.arrays.insert(*found);
  }
  return extras;
}

void put_number(RawTree& tree, const std::string& name, double number) {
  tree.arrays[name] = RawArray{std::vector<double>{number}, {}};
}

void put_text_if_any(RawTree& tree, const std::string& name, const std::string& text) {
  if (!text.empty()) tree.put_text(name, text);
}

void put_starts_and_extras(RawTree& tree, const ContactProblem& problem) {
  RawTree extras;
  put_extras(extras, problem);
  for (auto& [name, array] : extras.arrays) tree.arrays[name] = std::move(array);
  if (problem.dt != 0.0) put_number(tree, "dt", problem.dt);
  if (problem.time != 0.0) put_number(tree, "time", problem.time);
  if (problem.kind != ProblemKind::unknown)
    tree.put_text("kind", std::get<std::string>(extras.attributes.at("kind")));
}

}  // namespace

std::uint64_t npz_unpacked_bytes(const ZipArchive& archive, const std::string& where) {
  const std::uint64_t most = kFreeBytes + kMostGrowth * archive.archive_size();
  std::uint64_t total = 0;
  visit_known_arrays([&](const std::string& name, NpyContent) {
    const std::uint64_t size = archive.declared_size(entry_of(name));
    if (size > most - total)
      throw_input(
          "{}: array '{}': unpacks to {} bytes, too many for an archive of {}; save large matrices as "
          "scipy's "
          "CSR (docs/npz.md)",
          where, name, size, archive.archive_size());
    total += size;
  });
  return total;
}

RawTree npz_tree(const ZipArchive& archive, const std::string& where) {
  npz_unpacked_bytes(archive, where);
  RawTree tree;
  visit_known_arrays([&](const std::string& name, NpyContent content) {
    if (archive.has(entry_of(name))) tree.arrays[name] = read_entry(archive, name, content, where);
  });
  return tree;
}

int npz_contacts(const ZipArchive& archive, const std::string& where) {
  npz_unpacked_bytes(archive, where);
  if (!archive.has(entry_of("mu"))) throw_input("{}: array 'mu': missing", where);
  const std::size_t contacts = read_entry(archive, "mu", NpyContent::real, where).size();
  if (contacts > std::numeric_limits<Index>::max())
    throw_input("{}: {} contacts are too many", where, contacts);
  return static_cast<int>(contacts);
}

FclibFile decode_npz(const RawTree& tree, const std::string& where, MatrixReading reading) {
  const RawReader raw(tree, where, "array");
  const auto has_any = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return raw.has(name); });
  };
  const bool is_primal = has_any({"f", "w", "M", "M_diagonal", "M_data"});
  const bool is_dual = has_any({"q", "W", "W_diagonal", "W_data"});
  if (!is_primal && !is_dual) raw.fail("holds no contact problem: neither M, H, f, w, mu nor W, q, mu");
  FclibFile file;
  ContactProblem& problem = file.problem;
  if (raw.has("spacedim"))
    problem.spacedim = check_spacedim(raw, raw.integer("spacedim"), "array 'spacedim'");
  problem.mu = vector_of(raw, "mu");
  check_counts(raw, problem.mu.size(), 0);
  const std::size_t rows = static_cast<std::size_t>(problem.spacedim) * problem.mu.size();
  if (is_primal) decode_primal(raw, reading, rows, problem);
  if (is_dual) {
    problem.q = vector_of(raw, "q", rows);
    problem.W = read_numpy_rows(raw, "W", rows, rows);
  }
  file.info = {raw.text("title"), raw.text("description"), raw.text("math_info")};
  if (raw.has("warm_start")) problem.warm_start = finite_vector_of(raw, "warm_start", rows);
  file.solution = decode_solution(raw, rows, problem.f.size());
  const RawTree extras = extras_of(raw);
  return complete_file(raw, std::move(file), RawReader(extras, where, "array"), where);
}

RawTree encode_npz(const FclibFile& given) {
  RawTree tree;
  put_starts_and_extras(tree, given.problem);
  const FclibFile file = file_as_written(given);
  const ContactProblem& problem = file.problem;
  const auto put = [&](const char* name, const Vector& vector) { tree.put(name, span_of(vector)); };
  tree.arrays["spacedim"] = RawArray{std::vector<Index>{problem.spacedim}, {}};
  put("mu", problem.mu);
  const bool is_primal = problem.has_primal() || problem.w.size() > 0;
  if (is_primal) {
    put_numpy_matrix(tree, "M", triangle_of(problem.M, written_triangle(problem)));
    put_numpy_matrix(tree, "H", SparseRows(problem.H));
    put("f", problem.f);
    put("w", problem.w);
  }
  if (problem.has_dual() || !is_primal) {
    put_numpy_matrix(tree, "W", problem.W);
    put("q", problem.q);
  }
  put_text_if_any(tree, "title", file.info.title);
  put_text_if_any(tree, "description", file.info.description);
  put_text_if_any(tree, "math_info", file.info.math_info);
  if (problem.warm_start.size() > 0) put("warm_start", problem.warm_start);
  if (file.solution) {
    put("r", file.solution->r);
    put("u", file.solution->u);
    if (is_primal && file.solution->v.size() > 0) put("v", file.solution->v);
  }
  return tree;
}

std::vector<std::byte> npz_bytes(const RawTree& tree, const std::string& where) {
  std::vector<ZipMember> members;
  for (const auto& [name, array] : tree.arrays) members.push_back({entry_of(name), npy_image(array)});
  return zip_image(members, where);
}

}  // namespace signorini
