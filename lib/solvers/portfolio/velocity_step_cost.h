#pragma once

#include "contact/contact_problem.h"

/// What Newton steps on velocities cost, from the pattern of their matrix.
namespace signorini {

/// Products of 3×3 blocks in a factor of K = M + H C Hᵀ (global_newton/contact_matrix.h) that takes its node blocks by minimum
/// degree: Σ_j c_j², c_j the blocks below the diagonal of column j. K joins node blocks that M couples and those that one
/// contact touches. The problem has M and H, in node blocks of three dofs.
double velocity_factor_products(const ContactProblem& problem);

}  // namespace signorini
