#include "linalg/sparse_factor.h"

#ifdef SIGNORINI_HAVE_CHOLMOD
#include <cholmod.h>
#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "base/memory_error.h"
#include "linalg/nested_dissection.h"
#include "linalg/supernodal_solve.h"

namespace signorini {
namespace {

/// The supernodal kernels start threads of their own: OpenBLAS in its products (slower under our tasks, and
/// sums in another order), OpenMP in CHOLMOD's loops (threads that go on spinning beside our timed solves).
/// OpenMP keeps this setting for each calling thread.
void stay_on_this_thread() {
  using SetNumber = void (*)(int);
  static std::once_flag once;
  std::call_once(once, [] {
    if (const auto set = reinterpret_cast<SetNumber>(dlsym(RTLD_DEFAULT, "openblas_set_num_threads"))) set(1);
  });
  static const auto levels = reinterpret_cast<SetNumber>(dlsym(RTLD_DEFAULT, "omp_set_max_active_levels"));
  if (levels != nullptr) levels(0);  // no level of nesting, not even the first, may be parallel
}

cholmod_dense view(const double* data, std::size_t rows, std::size_t columns) {
  cholmod_dense dense{};
  dense.nrow = rows;
  dense.ncol = columns;
  dense.d = rows;
  dense.nzmax = rows * columns;
  dense.x = const_cast<double*>(data);  // the C interface has no const; a right-hand side is never written
  dense.xtype = CHOLMOD_REAL;
  dense.dtype = CHOLMOD_DOUBLE;
  return dense;
}

/// The upper triangle of M for CHOLMOD.
class UpperTriangle {
 public:
  /// The rows of M read as columns: the upper triangle of columns is the lower triangle of rows.
  explicit UpperTriangle(const SparseRows& M) : begin_(M.rows() + 1, 0) {
    const std::size_t n = M.rows();
    index_.reserve(M.nonZeros() / 2 + n);
    value_.reserve(index_.capacity());
    for (Index i = 0; i < M.rows(); ++i) {
      for (SparseRows::InnerIterator entry(M, i); entry && entry.col() <= i; ++entry) {
        index_.push_back(entry.index());
        value_.push_back(entry.value());
      }
      begin_[i + 1] = count(index_);
    }
    matrix_.nrow = n;
    matrix_.ncol = n;
    matrix_.nzmax = index_.size();
    matrix_.p = begin_.data();
    matrix_.i = index_.data();
    matrix_.x = value_.data();
    matrix_.stype = 1;
    matrix_.itype = CHOLMOD_INT;
    matrix_.xtype = CHOLMOD_REAL;
    matrix_.dtype = CHOLMOD_DOUBLE;
    matrix_.sorted = 1;
    matrix_.packed = 1;
  }
  UpperTriangle(const UpperTriangle&) = delete;
  UpperTriangle& operator=(const UpperTriangle&) = delete;
  cholmod_sparse* get() { return &matrix_; }
  std::span<const Index> begin() const { return begin_; }
  std::span<const Index> index() const { return index_; }

 private:
  std::vector<Index> begin_;
  std::vector<Index> index_;
  std::vector<double> value_;
  cholmod_sparse matrix_{};
};

void start(cholmod_common& common) {
  stay_on_this_thread();
  cholmod_start(&common);
  common.print = 0;
  common.final_ll = 1;
  common.nmethods = 1;
  common.method[0].ordering = CHOLMOD_AMD;
  common.postorder = 1;
  common.quick_return_if_not_posdef = 1;
}

/// Operations of a factor by minimum degree from which nested dissection is tried beside it.
constexpr double dissection_from = 1e9;

/// Ordering and structure of L, from the pattern alone: by minimum degree, or by nested dissection where L is large and takes
/// fewer operations so. Null where it failed.
cholmod_factor* analyse(UpperTriangle& upper, cholmod_common& common) {
  cholmod_factor* L = cholmod_analyze(upper.get(), &common);
  if (L == nullptr || common.fl < dissection_from) return L;
  const double operations = common.fl;
  std::vector<Index> order = nested_dissection(upper.begin(), upper.index());
  if (order.empty()) return L;
  common.method[0].ordering = CHOLMOD_GIVEN;
  cholmod_factor* dissected = cholmod_analyze_p(upper.get(), order.data(), nullptr, 0, &common);
  if (dissected != nullptr && common.fl < operations) std::swap(L, dissected);
  cholmod_free_factor(&dissected, &common);
  common.status = CHOLMOD_OK;  // where there was no memory for it, the first one is there
  return L;
}

/// The symbolic factor of a pattern.
class CholmodAnalysis final : public SparseAnalysis {
 public:
  explicit CholmodAnalysis(const SparseRows& M) {
    start(common_);
    UpperTriangle upper(M);
    L_ = analyse(upper, common_);
  }
  ~CholmodAnalysis() override {
    cholmod_free_factor(&L_, &common_);
    cholmod_finish(&common_);
  }
  /// Null where the analysis failed.
  cholmod_factor* get() const { return L_; }
  int status() const { return common_.status; }

 private:
  cholmod_common common_;
  cholmod_factor* L_ = nullptr;
};

/// Throws `MemoryError` where the numbers of L are more than what this process can have. L: of an analysis.
void check_memory(const cholmod_factor& L) {
  const std::span<const int> columns(static_cast<const int*>(L.ColCount), L.n);
  const double numbers =
      L.is_super != 0 ? static_cast<double>(L.xsize) : std::accumulate(columns.begin(), columns.end(), 0.0);
  check_memory_for(sizeof(double) * numbers, fmt::format("the Cholesky factor of {} dofs", L.n));
}

/// Of a factorisation that failed, but not because of a pivot.
[[noreturn]] void throw_failed(std::size_t dofs, int status) {
  if (status == CHOLMOD_OUT_OF_MEMORY) throw std::bad_alloc();
  const std::string why = status == CHOLMOD_TOO_LARGE
                              ? "the factor has more than 2³¹ numbers; take a coarser mesh"
                              : fmt::format("CHOLMOD failed with status {}", status);
  throw_input("mass matrix of {} dofs: {}", dofs, why);
}

class CholmodFactor final : public SparseFactor {
 public:
  CholmodFactor(const SparseRows& M, const CholmodAnalysis* analysis);
  ~CholmodFactor() override;
  void solve(const double* b, double* x) override;
  Matrix solve_columns(const Matrix& B) override;
  void half_solve(Matrix& B, std::vector<double>& panel) override;
  long long fill() const override;
  std::span<const Index> panel_rows() const override { return panel_rows_; }
  std::vector<char> needed_for(std::span<const Index> dofs) const override;
  void solve_panel(std::span<double> X, std::size_t width, std::span<const char> needed) const override;

 private:
  SupernodalFactor supernodes() const;
  Matrix run(int system, const cholmod_dense& B);
  std::size_t copy_to_panel(const Matrix& B, std::vector<double>& panel) const;

  cholmod_common common_;
  cholmod_factor* L_ = nullptr;
  cholmod_dense* workspace_y_ = nullptr;
  cholmod_dense* workspace_e_ = nullptr;
  std::vector<Index> panel_rows_;  // the inverse of the permutation, where the factor is supernodal
};

CholmodFactor::CholmodFactor(const SparseRows& M, const CholmodAnalysis* analysis) {
  const std::size_t n = M.rows();
  std::optional<CholmodAnalysis> own;
  if (analysis == nullptr || analysis->get() == nullptr || analysis->get()->n != n)
    analysis = &own.emplace(M);
  if (analysis->get() == nullptr) throw_failed(n, analysis->status());
  check_memory(*analysis->get());
  start(common_);
  UpperTriangle upper(M);
  L_ = cholmod_copy_factor(analysis->get(), &common_);
  own.reset();
  if (L_ != nullptr) cholmod_factorize(upper.get(), L_, &common_);
  const bool not_definite = L_ != nullptr && common_.status == CHOLMOD_NOT_POSDEF;
  const bool factored = L_ != nullptr && common_.status >= CHOLMOD_OK && L_->minor >= n;
  if (factored) {
    Vector warm_up = Vector::Zero(M.rows());  // a first solve makes the workspaces
    solve(warm_up.data(), warm_up.data());
    if (L_->is_super == 0) return;
    panel_rows_.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      panel_rows_[static_cast<const Index*>(L_->Perm)[i]] = static_cast<Index>(i);
    return;
  }

  Index dof = -1;
  if (not_definite && L_->minor < n) dof = static_cast<const Index*>(L_->Perm)[L_->minor];
  const int status = common_.status;
  cholmod_free_factor(&L_, &common_);
  cholmod_finish(&common_);
  if (dof >= 0) throw_not_definite(dof);
  throw_failed(n, status);
}

CholmodFactor::~CholmodFactor() {
  cholmod_free_dense(&workspace_y_, &common_);
  cholmod_free_dense(&workspace_e_, &common_);
  cholmod_free_factor(&L_, &common_);
  cholmod_finish(&common_);
}

void CholmodFactor::solve(const double* b, double* x) {
  cholmod_dense rhs = view(b, L_->n, 1);
  cholmod_dense answer = view(x, L_->n, 1);
  cholmod_dense* handle = &answer;
  if (workspace_y_ != nullptr && L_->is_super == 0) {
    // A simplicial solve asks for a 4×n workspace and leaves it reshaped to the right-hand sides it had;
    // given back in another shape it would be allocated again.
    workspace_y_->nrow = workspace_y_->d = workspace_y_->nzmax / L_->n;
    workspace_y_->ncol = L_->n;
  }
  const int done =
      cholmod_solve2(CHOLMOD_A, L_, &rhs, nullptr, &handle, nullptr, &workspace_y_, &workspace_e_, &common_);
  SIGNORINI_CHECK(done == 1 && handle == &answer);
  // The simplicial solve asks for 4 x n and leaves the shape of what it used (1 x n), which the next call
  // would take for too small and allocate again.
  if (L_->is_super == 0 && workspace_y_->nzmax >= 4 * L_->n) {
    workspace_y_->nrow = workspace_y_->d = 4;
    workspace_y_->ncol = L_->n;
  }
}

long long CholmodFactor::fill() const {
  if (L_->is_super != 0) return static_cast<long long>(L_->xsize);
  const std::span<const int> numbers(static_cast<const int*>(L_->nz), L_->n);
  return std::accumulate(numbers.begin(), numbers.end(), 0LL);
}

SupernodalFactor CholmodFactor::supernodes() const {
  const auto numbers = [](const void* begin, std::size_t count) {
    return std::span<const Index>(static_cast<const Index*>(begin), count);
  };
  const std::size_t ends = L_->nsuper + 1;
  return {static_cast<Index>(L_->n), numbers(L_->super, ends),         numbers(L_->pi, ends),
          numbers(L_->px, ends),     static_cast<const Index*>(L_->s), static_cast<const double*>(L_->x)};
}

/// Its width; columns are filled up with zeros.
std::size_t CholmodFactor::copy_to_panel(const Matrix& B, std::vector<double>& panel) const {
  const std::size_t rows = B.rows(), columns = B.cols(), width = supernodal_width(columns);
  const auto* const order = static_cast<const Index*>(L_->Perm);
  panel.resize(rows * width);
  for (std::size_t i = 0; i < rows; ++i) {
    const double* from = B.data() + order[i];
    double* to = panel.data() + i * width;
    for (std::size_t k = 0; k < columns; ++k) to[k] = from[k * rows];
    std::fill(to + columns, to + width, 0.0);
  }
  return width;
}

/// Row i of X is row order[i] of the panel; without an order, row i.
void copy_from_panel(std::span<const double> panel, std::size_t width, std::span<const Index> order,
                     Matrix& X) {
  const std::size_t rows = X.rows(), columns = X.cols();
  for (std::size_t i = 0; i < rows; ++i) {
    const double* from = panel.data() + width * (order.empty() ? i : order[i]);
    for (std::size_t k = 0; k < columns; ++k) X.data()[k * rows + i] = from[k];
  }
}

void CholmodFactor::solve_panel(std::span<double> X, std::size_t width, std::span<const char> needed) const {
  solve_lower(supernodes(), X.data(), width, isa());
  solve_upper(supernodes(), X.data(), width, needed, isa());
}

std::vector<char> CholmodFactor::needed_for(std::span<const Index> dofs) const {
  const SupernodalFactor factor = supernodes();
  std::vector<char> needed(L_->nsuper, 0);
  for (const Index dof : dofs) needed[supernode_of(factor, panel_rows_[dof])] = 1;
  need_ancestors(factor, needed);
  return needed;
}

Matrix CholmodFactor::run(int system, const cholmod_dense& B) {
  stay_on_this_thread();  // not always the one that made the factor
  Matrix X(B.nrow, B.ncol);
  cholmod_dense answer = view(X.data(), B.nrow, B.ncol);
  cholmod_dense* handle = &answer;
  cholmod_dense rhs = B;
  cholmod_dense* y = nullptr;
  cholmod_dense* e = nullptr;
  const int done = cholmod_solve2(system, L_, &rhs, nullptr, &handle, nullptr, &y, &e, &common_);
  cholmod_free_dense(&y, &common_);
  cholmod_free_dense(&e, &common_);
  SIGNORINI_CHECK(done == 1 && handle == &answer);
  return X;
}

Matrix CholmodFactor::solve_columns(const Matrix& B) {
  if (L_->is_super == 0) return run(CHOLMOD_A, view(B.data(), L_->n, B.cols()));
  std::vector<double> panel;
  const std::size_t width = copy_to_panel(B, panel);
  solve_panel(panel, width, {});
  Matrix X(B.rows(), B.cols());
  copy_from_panel(panel, width, panel_rows_, X);
  return X;
}

void CholmodFactor::half_solve(Matrix& B, std::vector<double>& panel) {
  if (L_->is_super == 0) {
    const Matrix permuted = run(CHOLMOD_P, view(B.data(), L_->n, B.cols()));
    B = run(CHOLMOD_L, view(permuted.data(), L_->n, B.cols()));
    return;
  }
  const std::size_t width = copy_to_panel(B, panel);
  solve_lower(supernodes(), panel.data(), width, isa());
  copy_from_panel(panel, width, {}, B);
}

}  // namespace

std::unique_ptr<SparseAnalysis> analyse_by_cholmod(const SparseRows& M) {
  return std::make_unique<CholmodAnalysis>(M);
}

std::unique_ptr<SparseFactor> factor_by_cholmod(const SparseRows& M, const SparseAnalysis* analysis) {
  return std::make_unique<CholmodFactor>(M, static_cast<const CholmodAnalysis*>(analysis));
}

}  // namespace signorini

#else
#include "base/check.h"

namespace signorini {

std::unique_ptr<SparseAnalysis> analyse_by_cholmod(const SparseRows&) {
  SIGNORINI_CHECK(false);
  return nullptr;
}

std::unique_ptr<SparseFactor> factor_by_cholmod(const SparseRows&, const SparseAnalysis*) {
  SIGNORINI_CHECK(false);
  return nullptr;
}

}  // namespace signorini

#endif
