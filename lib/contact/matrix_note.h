#pragma once

#include <string>

#include "contact/contact_problem.h"

/// What a reader of a row must know of M and W: whether one triangle was filled up by symmetry, and whether a matrix
/// that is taken as it stands is not symmetric (linalg/asymmetry.h).
namespace signorini {

/// "M: upper triangle stored, read as symmetric", "W: not symmetric (asymmetry 0.002), taken as it stands", both with a
/// semicolon between, or "" where M and W are full and symmetric.
std::string matrix_note(const ContactProblem& problem);

/// "" when M is symmetric, else why a solver that relies on it cannot take the problem: "needs a symmetric M; ...".
std::string symmetry_refusal(const ContactProblem& problem);

}  // namespace signorini
