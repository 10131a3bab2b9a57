#include "bodies/rigid_body.h"

#include <Eigen/Geometry>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace signorini {

namespace {

/// Volume, first and second moments over the inside of a surface, about some point.
struct Moments {
  double volume = 0.0;               // ∫ dV, m³
  Vector3 first = Vector3::Zero();   // ∫ x dV, m⁴
  Matrix3 second = Matrix3::Zero();  // ∫ x xᵀ dV, m⁵
};

/// Adds the signed tetrahedron (0, a, b, c).
void add_tetrahedron(Moments& moments, const Vector3& a, const Vector3& b, const Vector3& c) {
  const double volume = a.dot(b.cross(c)) / 6.0;
  const Vector3 sum = a + b + c;
  moments.volume += volume;
  moments.first += volume / 4.0 * sum;
  // ∫ x xᵀ = V/20 (Σ_i Σ_j x_i x_jᵀ + Σ_i x_i x_iᵀ)
  moments.second +=
      volume / 20.0 * (sum * sum.transpose() + a * a.transpose() + b * b.transpose() + c * c.transpose());
}

void check_surface(const TriangleMesh& surface, std::string_view context) {
  if (surface.triangles.empty())
    throw_usage("{}: a rigid body needs a surface, this one has no triangles", context);
  const Index vertices = count(surface.vertices);
  for (std::size_t t = 0; t < surface.triangles.size(); ++t) {
    for (const Index v : surface.triangles[t]) {
      if (v < 0 || v >= vertices) {
        throw_usage("{}: triangle {} uses vertex {}, the surface has {}", context, t, v, vertices);
      }
      if (!surface.vertices[v].allFinite()) {
        throw_usage("{}: vertex {} of the surface is not finite", context, v);
      }
    }
  }
  if (!is_closed_and_oriented(surface)) {
    throw_usage("{}: the surface of a rigid body must be closed and consistently oriented", context);
  }
}

}  // namespace

MassProperties mass_properties(const TriangleMesh& surface, double density, std::string_view context) {
  if (!(density > 0.0) || !std::isfinite(density)) {
    throw_usage("{}: density {} kg/m³ is not positive", context, density);
  }
  check_surface(surface, context);

  // Moments about the middle of the bounding box, so that a body far from the origin loses no digits.
  Vector3 low = Vector3::Constant(std::numeric_limits<double>::infinity());
  Vector3 high = -low;
  for (const Triangle& t : surface.triangles) {
    for (const Index v : t) {
      low = low.cwiseMin(surface.vertices[v]);
      high = high.cwiseMax(surface.vertices[v]);
    }
  }
  const Vector3 middle = 0.5 * (low + high);
  Moments moments;
  for (const Triangle& t : surface.triangles) {
    add_tetrahedron(moments, surface.vertices[t[0]] - middle, surface.vertices[t[1]] - middle,
                    surface.vertices[t[2]] - middle);
  }
  // Each triangle adds a rounding of a few ε of the box; a smaller volume is none.
  const double rounding = 8.0 * std::numeric_limits<double>::epsilon() *
                          static_cast<double>(surface.triangles.size()) * std::pow((high - low).norm(), 3);
  if (moments.volume < -rounding) {
    throw_usage("{}: the surface is inside out (volume {:.3g} m³); turn its triangles round", context,
                moments.volume);
  }
  if (!(moments.volume > rounding)) throw_usage("{}: the surface encloses no volume", context);

  const Vector3 centre = moments.first / moments.volume;
  const Matrix3 second = moments.second - moments.volume * centre * centre.transpose();
  MassProperties result;
  result.mass = density * moments.volume;
  result.centre = middle + centre;
  // I = ∫ ρ (‖x‖² 1 − x xᵀ) dV
  result.inertia = density * (second.trace() * Matrix3::Identity() - second);
  return result;
}

Vector3 gyroscopic_torque(const Matrix3& world_inertia, const Vector3& angular_velocity) {
  return -angular_velocity.cross(world_inertia * angular_velocity);
}

RigidPose advanced(const RigidPose& pose, const Vector3& velocity, const Vector3& angular_velocity,
                   double dt) {
  const Vector3 half = 0.5 * dt * angular_velocity;
  const double angle = half.norm();
  // sin(a)/a, whose series needs one term below the fourth root of ε
  const double sinc = angle > 1e-4 ? std::sin(angle) / angle : 1.0 - angle * angle / 6.0;
  Eigen::Quaterniond turn;
  turn.w() = std::cos(angle);
  turn.vec() = sinc * half;
  return {pose.centre + dt * velocity, (turn * pose.rotation).normalized()};
}

}  // namespace signorini
