#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/parallel.h"
#include "linalg/block_sparse_matrix.h"

/// Additive Schwarz on subdomains of contacts without overlap, as a linear preconditioner (Toselli and Widlund 2005,
/// section 2.2):
///
///     P⁻¹ = Σ_E R_Eᵀ A_E⁻¹ R_E,    A_E = R_E W R_Eᵀ + σ diag(R_E W R_Eᵀ) + diag(c_E)
///
///     W: 3m×3m [1/kg], symmetric     R_E: the rows of the contacts of subdomain E that take part [–]
///     c: added to a row [1/kg]       σ: shift [–]
///
/// A row is a direction in the space of a contact's impulse: a component that is free, the direction across sliding. A contact
/// has up to three, orthogonal to one another. Every A_E is dense, its Cholesky factor made anew where the rows of a
/// contact of E change. Where W is not positive definite enough for the factor (a W of a file need not be symmetric), the diagonal
/// of A_E takes its place, so that P is symmetric and positive definite in any case.
///
/// The shift is what makes it work: contacts that repeat one another leave W_EE nearly singular, and steps along its
/// smallest eigenvectors carry impulses far out of the admissible set (docs/notes/schwarz.md).
///
/// Subdomains write their own contacts only and are tasks; the bits do not depend on the number of threads.
namespace signorini {

/// The rows of one contact.
struct ContactRows {
  std::array<Vector3, 3> direction;  ///< the first `size` of them, unit vectors
  std::array<double, 3> added;       ///< c, 1/kg
  int size = 0;

  void add(const Vector3& d, double c) {
    direction[size] = d;
    added[size++] = c;
  }
  bool operator==(const ContactRows& other) const;
};

/// Options of solvers with this preconditioner.
struct ContactBlockOptions {
  static constexpr int kMost = 1000;
  int blocks = 0;
  double shift = 0.1;

  template <class Visitor>
  void visit(Visitor& v) {
    v("blocks", blocks,
      "contacts of a subdomain whose block of the preconditioner is inverted whole (additive Schwarz), "
      "about; "
      "0: every contact by itself. 10 to 30 are good sizes");
    v("shift", shift, "blocks > 0: the diagonal of a block counts 1 + shift times");
  }
  void validate(std::string_view solver) const;
};

class BlockInverse {
 public:
  /// `W` must outlive the use. Subdomains of about `options.blocks` contacts (1 or more), with at most `most_rows` rows per
  /// contact.
  void prepare(const BlockSparseMatrix& W, const ContactBlockOptions& options, int most_rows);
  /// The rows of all contacts (m). Factors the subdomains in which some have changed and returns how many. Rows in which
  /// W vanishes take no part.
  int set_rows(std::span<const ContactRows> rows, TaskArena* arena = nullptr);
  /// The same as if it were the first call: everything is factored at the next one.
  void forget();
  /// y = P⁻¹ x (3m); 0 where there are no rows. x and y may be the same memory. Allocates nothing.
  void apply(std::span<const double> x, std::span<double> y, TaskArena* arena = nullptr);

 private:
  struct Part {
    std::vector<Index> contacts;    ///< E, ascending
    BlockSparseMatrix W;            ///< W_EE
    std::vector<ContactRows> rows;  ///< that take part; of the contacts of E
    std::vector<ContactRows> seen;  ///< that were asked for
    std::vector<Index> begin;       ///< |E| + 1: first row of A_E of a contact
    std::vector<double> factor;     ///< n×n, column-major, lower triangle
    std::vector<double> x;          ///< n
    bool factored = false;
  };
  bool take_rows(Part& part, std::span<const ContactRows> rows) const;
  void assemble(Part& part) const;
  void factor(Part& part) const;
  static void solve(Part& part);

  double shift_ = 0.0;
  std::vector<Part> parts_;
  std::vector<char> changed_;  ///< per part
};

}  // namespace signorini
