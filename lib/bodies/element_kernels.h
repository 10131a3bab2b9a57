#pragma once

#include <array>

#include "bodies/material.h"
#include "linalg/types.h"

/// One linear tetrahedron at one deformation gradient: energy, stress, and the factors from which the block
/// rows of its stiffness are built.
///
///     K_ij = Σ_kl b_i[k] ∂P_ak/∂F_bl b_j[l] V,   b_i the rows of D_m⁻¹, b_0 = −b_1 − b_2 − b_3
///
/// Factors carry a weight w (the step's dt (dt + β)); everything here is w K. They are kept instead of K
/// because a row is needed four times, by the four tasks that own the rows of the matrix.
///
///     co-rotational (9 doubles)   d_i = √(μ V w) R b_i, i = 1, 2, 3:  K_ij = (λ/μ) O + Oᵀ + tr(O) I,  O =
///     d_i d_jᵀ neo-Hookean (54 doubles)    the blocks (1,1) (1,2) (1,3) (2,2) (2,3) (3,3), column-major
///
/// Blocks (i, j) and (j, i) come out as transposes to the last bit.
namespace signorini {

struct ElementMaterial {
  ElasticModel model = ElasticModel::corotational;
  double mu = 0.0, lambda = 0.0;  ///< Pa
  double compression_limit = 0.7;
};

std::size_t stiffness_factors(ElasticModel model);

struct ElementResponse {
  double density = 0.0;         ///< Ψ, J/m³
  Matrix3 P = Matrix3::Zero();  ///< ∂Ψ/∂F, Pa
};
/// `factors`: stiffness_factors(model) doubles to fill, or nullptr; `scale` = V w.
ElementResponse element_response(const ElementMaterial& material, const Matrix3& F,
                                 const Matrix3& rest_inverse, double scale, double* factors);

using BlockRow = std::array<Matrix3, 4>;
/// Blocks (corner, 0) … (corner, 3) of w K.
void stiffness_row(const ElementMaterial& material, const double* factors, int corner, BlockRow& row);

}  // namespace signorini
