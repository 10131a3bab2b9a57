#include "solvers/splitting/split_sweep.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "solvers/local_contact.h"

namespace signorini {
namespace {

constexpr std::size_t kSlots = 256;  ///< that a thread takes at a time

/// All contacts have one colour.
SweepPlan side_by_side(Index contacts) {
  SweepPlan plan;
  plan.colour_begin = {0, contacts};
  return plan;
}

}  // namespace

void SplitSweep::prepare(const GaussSeidelData& data) {
  data_ = &data;
  split_.assign(data.contact.size(), Matrix3::Zero());
  if (data.bodies) {
    find_touches();
    split_masses();
  } else {
    split_rows();
  }
  inverse_mass_.resize(split_.size());
  std::transform(split_.begin(), split_.end(), inverse_mass_.begin(), inverse_mass_of);
  stages_.prepare(data.contacts(), side_by_side(data.contacts()));
  partial_.resize(stages_.pieces());
  v_.assign(data.bodies ? data.bodies->free.size() : 0, 0.0);
  u_.assign(3 * data.contact.size(), 0.0);
}

void SplitSweep::find_touches() {
  const BlockSparseMatrix& J = data_->bodies->J;
  touch_begin_.assign(J.block_columns + 1, 0);
  for (const Index slot : J.column) ++touch_begin_[slot + 1];
  std::partial_sum(touch_begin_.begin(), touch_begin_.end(), touch_begin_.begin());
  std::vector<Index> next = touch_begin_;
  touch_.resize(J.column.size());
  touch_block_.resize(J.column.size());
  for (Index k = 0; k < J.block_rows; ++k) {
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b) {
      const Index place = next[J.column[b]]++;
      touch_[place] = k;
      touch_block_[place] = b;
    }
  }
}

void SplitSweep::split_masses() {
  const BodyRows& bodies = *data_->bodies;
  const BlockSparseMatrix& J = bodies.J;
  for (Index k = 0; k < J.block_rows; ++k) {
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b) {
      const Index slot = J.column[b];
      const double parts = touch_begin_[slot + 1] - touch_begin_[slot];
      const double* P = bodies.response.data() + 9 * static_cast<std::size_t>(b);
      split_[k] += parts * Eigen::Map<const Matrix3>(J.block(b)) * Eigen::Map<const Matrix3>(P);
    }
  }
}

void SplitSweep::split_rows() {
  const std::vector<Index>& begin = data_->W.row_begin;
  for (std::size_t k = 0; k < split_.size(); ++k)
    split_[k] = static_cast<double>(begin[k + 1] - begin[k]) * data_->diagonal[k];
}

/// Slot by slot, contacts in ascending order: the bits do not depend on the threads.
void SplitSweep::find_velocities(std::span<const double> r, TaskArena* arena) {
  const BodyRows& bodies = *data_->bodies;
  for_each_chunk(arena, v_.size() / 3, kSlots, [&](std::size_t begin, std::size_t end) {
    for (std::size_t slot = begin; slot < end; ++slot) {
      double v[3] = {bodies.free[3 * slot], bodies.free[3 * slot + 1], bodies.free[3 * slot + 2]};
      for (Index t = touch_begin_[slot]; t < touch_begin_[slot + 1]; ++t) {
        const double* p = bodies.response.data() + 9 * static_cast<std::size_t>(touch_block_[t]);
        const double* rk = r.data() + 3 * static_cast<std::size_t>(touch_[t]);
        for (std::size_t i = 0; i < 3; ++i) v[i] += p[i] * rk[0] + p[3 + i] * rk[1] + p[6 + i] * rk[2];
      }
      std::copy_n(v, 3, v_.data() + 3 * slot);
    }
  });
}

template <class Law>
SweepStep SplitSweep::update(SweepRange range, std::span<const double> along, std::span<double> r,
                             std::span<double> change) const {
  SweepStep step;
  for (Index k = range.begin; k < range.end; ++k) {
    const std::size_t at = 3 * static_cast<std::size_t>(k);
    const Vector3 p =
        Eigen::Map<const Vector3>(along.data() + at);  // may be the entries that are written next
    Eigen::Map<Vector3> rk(r.data() + at), d(change.data() + at);
    d.setZero();
    if (!(inverse_mass_[k].normal > 0.0)) continue;
    const Vector3 u =
        Eigen::Map<const Vector3>(u_.data() + at) + Eigen::Map<const Vector3>(data_->contact[k].q);
    LocalContact contact{rk, u, split_[k], inverse_mass_[k], data_->mu[k]};
    contact.normal();
    contact.template tangents<Law>();
    d = contact.r - rk;
    rk = contact.r;
    const auto& [normal, tangent] = inverse_mass_[k];
    const double correction = hypotenuse(normal * d[0], tangent * d.tail<2>().norm());
    step.correction = std::max(step.correction, correction) + 0.0 * correction;
    step.square += normal * d[0] * d[0] + tangent * d.tail<2>().squaredNorm();
    step.along += normal * d[0] * p[0] + tangent * d.tail<2>().dot(p.tail<2>());
  }
  return step;
}

SweepStep SplitSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                           TaskArena* arena) {
  release_fixed(*data_, r);
  if (data_->bodies) {
    find_velocities(r, arena);
    multiply(arena, data_->bodies->J, v_, u_);
  } else {
    multiply(arena, data_->W, r, u_);
  }
  return with_law(data_->law, [&](auto law) {
    return stages_.run(
        arena, partial_, [&](SweepRange range) { return update<decltype(law)>(range, along, r, change); },
        joined_steps);
  });
}

}  // namespace signorini
