#include "solvers/first_order/contact_cones.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "solvers/first_order/cone_projection.h"

namespace signorini {

namespace {

double weight_of(const InverseMass& inverse_mass, bool rubs) {
  return rubs ? (inverse_mass.normal + 2.0 * inverse_mass.tangent) / 3.0 : inverse_mass.normal;
}

}  // namespace

void ContactCones::prepare(FrictionLaw law, const Vector& mu, std::vector<InverseMass> inverse_mass) {
  SIGNORINI_CHECK(count(inverse_mass) == mu.size());
  law_ = law;
  inverse_mass_ = std::move(inverse_mass);
  given_mu_.assign(mu.begin(), mu.end());
  mu_ = given_mu_;
  weight_.assign(3 * mu_.size(), 1.0);
  step_.assign(3 * mu_.size(), 0.0);
  largest_friction_ = 0.0;
  for (std::size_t k = 0; k < mu_.size(); ++k) {
    const InverseMass& own = inverse_mass_[k];
    if (!(own.tangent > 0.0)) mu_[k] = 0.0;
    if (!(own.normal > 0.0)) continue;
    const bool rubs = mu_[k] > 0.0;
    const double s = weight_of(own, rubs);
    std::fill_n(weight_.begin() + 3 * static_cast<std::ptrdiff_t>(k), 3, s);
    std::fill_n(step_.begin() + 3 * static_cast<std::ptrdiff_t>(k), rubs ? 3 : 1, 1.0 / s);
    largest_friction_ = std::max(largest_friction_, mu_[k]);
  }
}

void ContactCones::descend(std::span<const double> r, double t, std::span<const double> u,
                           std::span<const double> shift, std::span<double> next, TaskArena* arena) const {
  constexpr std::size_t kGrain = 1024;  // contacts
  with_law(law_, [&](auto law) {
    for_each_chunk(arena, mu_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
      for (std::size_t k = begin; k < end; ++k) {
        const std::size_t i = 3 * k;
        if (step_[i] == 0.0) {
          std::fill_n(next.begin() + static_cast<std::ptrdiff_t>(i), 3, 0.0);
          continue;
        }
        const double length = t * step_[i];
        const Vector3 goal(r[i] - length * (u[i] + shift[k]), r[i + 1] - length * u[i + 1],
                           r[i + 2] - length * u[i + 2]);
        const Vector3 nearest = project_on_cone<decltype(law)>(mu_[k], goal);
        for (std::size_t j = 0; j < 3; ++j) next[i + j] = nearest[static_cast<Eigen::Index>(j)];
      }
    });
  });
}

bool ContactCones::make_admissible(std::span<double> r) const {
  bool changed = false;
  with_law(law_, [&](auto law) {
    for (std::size_t k = 0; k < mu_.size(); ++k) {
      Eigen::Map<Vector3> r_k(r.data() + 3 * k);
      Vector3 nearest = Vector3::Zero();
      if (step_[3 * k] > 0.0) nearest = project_on_cone<decltype(law)>(mu_[k], r_k);
      changed = changed || nearest != r_k;
      r_k = nearest;
    }
  });
  return changed;
}

void ContactCones::project_velocity(std::span<double> u) const {
  with_law(
      law_,
      [&](auto law) {  // Moreau: P_K*(u) = u + P_K(−u); one weight per contact, so its metric is Euclidean
        for (std::size_t k = 0; k < mu_.size(); ++k) {
          Eigen::Map<Vector3> u_k(u.data() + 3 * k);
          u_k += project_on_cone<decltype(law)>(mu_[k], Vector3(-u_k));
        }
      });
}

void ContactCones::measure_shift(std::span<const double> u, std::span<double> shift) const {
  with_law(law_, [&](auto law) {
    for (std::size_t k = 0; k < mu_.size(); ++k)
      shift[k] = mu_[k] > 0.0 ? mu_[k] * sliding_speed<decltype(law)>(u.data() + 3 * k) : 0.0;
  });
}

double ContactCones::product(std::span<const double> a, std::span<const double> b, std::span<const double> c,
                             std::span<const double> d) const {
  return sum_in_order(rows(), [&](std::size_t i) { return weight_[i] * (a[i] - b[i]) * (c[i] - d[i]); });
}

double ContactCones::squared_shift_distance(std::span<const double> a, std::span<const double> b) const {
  return sum_in_order(contacts(), [&](std::size_t k) {
    const double difference = a[k] - b[k];
    return step_[3 * k] * difference * difference;
  });
}

double ContactCones::largest_distance(std::span<const double> a, std::span<const double> b) const {
  double largest = 0.0, poison = 0.0;
  for (std::size_t i = 0; i < rows(); i += 3) {
    const double d0 = a[i] - b[i], d1 = a[i + 1] - b[i + 1], d2 = a[i + 2] - b[i + 2];
    const double distance = weight_[i] * std::sqrt(d0 * d0 + d1 * d1 + d2 * d2);
    poison += 0.0 * distance;
    largest = std::max(largest, distance);
  }
  return largest + poison;
}

double ContactCones::error(std::span<const double> r, std::span<const double> u) const {
  double largest = 0.0, poison = 0.0;
  for (std::size_t k = 0; k < mu_.size(); ++k) {
    const double e = contact_error(law_, inverse_mass_[k], given_mu_[k], r.data() + 3 * k, u.data() + 3 * k);
    poison += 0.0 * e;
    largest = std::max(largest, e);
  }
  return largest + poison;
}

double ContactCones::largest_curvature(const BlockSparseMatrix& W) const {
  Vector sum = Vector::Zero(static_cast<Eigen::Index>(rows()));
  const auto root = [&](Index k) -> Vector3 {
    return Eigen::Map<const Vector3>(step_.data() + 3 * static_cast<std::size_t>(k)).cwiseSqrt();
  };
  for (Index k = 0; k < W.block_rows; ++k) {
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) {
      const Index l = W.column[b];
      const Matrix3 scaled =
          root(k).asDiagonal() * Eigen::Map<const Matrix3>(W.block(b)).cwiseAbs() * root(l).asDiagonal();
      sum.segment<3>(3 * k) += 0.5 * scaled.rowwise().sum();
      sum.segment<3>(3 * l) += 0.5 * scaled.colwise().sum().transpose();
    }
  }
  return sum.size() > 0 ? std::max(1.0, sum.maxCoeff()) : 1.0;
}

}  // namespace signorini
