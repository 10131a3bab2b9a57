#include "contact/matrix_note.h"

#include <fmt/format.h>

#include "linalg/asymmetry.h"

namespace signorini {

namespace {

std::string asymmetry_note(const char* name, const SparseRows& matrix) {
  const double found = asymmetry(matrix);
  if (found <= kSymmetric) return "";
  return fmt::format("{}: not symmetric (asymmetry {:.2g}), taken as it stands", name, found);
}

}  // namespace

std::string matrix_note(const ContactProblem& problem) {
  std::string note;
  if (problem.M_stored != StoredTriangle::both) {
    note = fmt::format("M: {} triangle stored, read as symmetric",
                       problem.M_stored == StoredTriangle::upper ? "upper" : "lower");
  } else if (problem.has_primal()) {
    note = asymmetry_note("M", problem.M);
  }
  if (!problem.has_dual()) return note;
  const std::string dual = asymmetry_note("W", problem.W);
  return note.empty() || dual.empty() ? note + dual : note + "; " + dual;
}

std::string symmetry_refusal(const ContactProblem& problem) {
  if (!problem.has_primal()) return "";
  const double found = asymmetry(problem.M);
  if (found <= kSymmetric) return "";
  return fmt::format("needs a symmetric M; max |M_ij - M_ji| / sqrt(M_ii M_jj) is {:.2g}", found);
}

}  // namespace signorini
