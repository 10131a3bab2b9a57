#include "bodies/element_kernels.h"

#include <cmath>

#include "bodies/neo_hookean.h"
#include "bodies/polar_rotation.h"
#include "bodies/signed_svd.h"

namespace signorini {

namespace {

// Places of the blocks (i, j), 1 ≤ i ≤ j ≤ 3, among the neo-Hookean factors.
constexpr std::array<std::array<int, 3>, 3> kPlace{{{0, 1, 2}, {1, 3, 4}, {2, 4, 5}}};

/// P = 2μ (F − R) + λ tr(Rᵀ F − I) R; ‖S − I‖ = ‖R (S − I)‖ = ‖F − R‖.
ElementResponse corotational(const ElementMaterial& material, const Matrix3& F, const Matrix3& rest_inverse,
                             double scale, double* factors) {
  const Matrix3 R = polar_rotation(F);
  const double trace = R.cwiseProduct(F).sum() - 3.0;
  const Matrix3 difference = F - R;
  if (factors != nullptr) {
    Eigen::Map<Matrix3> d(factors);
    d.noalias() = R * (std::sqrt(material.mu * scale) * rest_inverse.transpose());
  }
  return {material.mu * difference.squaredNorm() + 0.5 * material.lambda * trace * trace,
          2.0 * material.mu * difference + (material.lambda * trace) * R};
}

void corotational_row(double ratio, const double* factors, int corner, BlockRow& row) {
  const Eigen::Map<const Matrix3> given(factors);
  Eigen::Matrix<double, 3, 4> d;
  d.col(0) = -(given.col(0) + given.col(1) + given.col(2));
  d.rightCols<3>() = given;
  const Vector3 own = d.col(corner);
  for (int j = 0; j < 4; ++j) {
    const Matrix3 O = own * d.col(j).transpose();
    Matrix3& block = row[j];
    block = ratio * O + O.transpose();
    block.diagonal().array() += O.trace();
  }
}

/// Uᵀ K_ij U / scale for b = Vᵀ b_i, c = Vᵀ b_j:
///     (a, a)  H_aa b_a c_a + Σ_{k≠a} D_ak b_k c_k,    (a, b)  H_ab b_a c_b + O_ab b_b c_a
Matrix3 block_in_principal_axes(const PrincipalStiffness& s, const Vector3& b, const Vector3& c) {
  Matrix3 K = s.diagonal.cwiseProduct(b * c.transpose());
  int pair = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i + 1; j < 3; ++j, ++pair) {
      const double D = 0.5 * (s.alpha[pair] + s.beta[pair]);
      const double O = 0.5 * (s.alpha[pair] - s.beta[pair]);
      K(i, i) += D * (b[j] * c[j]);
      K(j, j) += D * (b[i] * c[i]);
      K(i, j) += O * (b[j] * c[i]);
      K(j, i) += O * (b[i] * c[j]);
    }
  }
  return K;
}

ElementResponse neo_hookean(const ElementMaterial& material, const Matrix3& F, const Matrix3& rest_inverse,
                            double scale, double* factors) {
  const NeoHookean law{material.mu, material.lambda, material.compression_limit};
  const SignedSvd svd = signed_svd(F);
  PrincipalStress stress;
  if (factors == nullptr) {
    stress = principal_stress(law, svd.sigma);
  } else {
    const PrincipalResponse response = principal_response(law, svd.sigma);
    const PrincipalStiffness stiffness = clamped(response.stiffness);
    stress = response.stress;
    const Matrix3 b = svd.V.transpose() * rest_inverse.transpose();  // columns Vᵀ b_i
    for (int i = 0; i < 3; ++i) {
      for (int j = i; j < 3; ++j) {
        const Matrix3 K =
            svd.U * block_in_principal_axes(stiffness, b.col(i), scale * b.col(j)) * svd.U.transpose();
        const int place = kPlace[i][j];
        Eigen::Map<Matrix3>(factors + 9 * place) = i == j ? Matrix3(0.5 * (K + K.transpose())) : K;
      }
    }
  }
  return {stress.energy, svd.U * stress.P.asDiagonal() * svd.V.transpose()};
}

/// Columns sum to zero: K_i0 = −Σ_j K_ij, K_00 = Σ_ij K_ij in an order that keeps it symmetric to the bit.
void neo_hookean_row(const double* factors, int corner, BlockRow& row) {
  const auto block = [factors](int i, int j) -> Matrix3 {  // i, j in 1 … 3
    const int place = kPlace[i - 1][j - 1];
    const Eigen::Map<const Matrix3> stored(factors + 9 * place);
    return i <= j ? Matrix3(stored) : Matrix3(stored.transpose());
  };
  if (corner > 0) {
    for (int j = 1; j < 4; ++j) row[j] = block(corner, j);
    row[0] = -((row[1] + row[2]) + row[3]);
    return;
  }
  for (int j = 1; j < 4; ++j) row[j] = -((block(1, j) + block(2, j)) + block(3, j));
  const Matrix3 mixed = (block(1, 2) + block(1, 3)) + block(2, 3);
  row[0] = ((block(1, 1) + block(2, 2)) + block(3, 3)) + (mixed + mixed.transpose());
}

}  // namespace

std::size_t stiffness_factors(ElasticModel model) { return model == ElasticModel::corotational ? 9 : 54; }

ElementResponse element_response(const ElementMaterial& material, const Matrix3& F,
                                 const Matrix3& rest_inverse, double scale, double* factors) {
  return material.model == ElasticModel::corotational
             ? corotational(material, F, rest_inverse, scale, factors)
             : neo_hookean(material, F, rest_inverse, scale, factors);
}

void stiffness_row(const ElementMaterial& material, const double* factors, int corner, BlockRow& row) {
  if (material.model == ElasticModel::corotational) {
    corotational_row(material.lambda / material.mu, factors, corner, row);
  } else {
    neo_hookean_row(factors, corner, row);
  }
}

}  // namespace signorini
