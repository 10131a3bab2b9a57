#include "solvers/splitting/split_sweep.h"

#include <algorithm>
#include <numeric>

namespace signorini {
namespace {

constexpr std::size_t kGrain = 4096;  ///< numbers that a thread takes at a time

/// All contacts have one colour.
SweepPlan side_by_side(Index contacts) {
  SweepPlan plan;
  plan.colour_begin = {0, contacts};
  return plan;
}

/// Contacts of every slot.
std::vector<Index> count_touches(const BlockSparseMatrix& J) {
  std::vector<Index> touches(J.block_columns, 0);
  for (const Index slot : J.column) ++touches[slot];
  return touches;
}

/// S_k = n_k W_kk.
std::vector<Matrix3> split_rows(const GaussSeidelData& data) {
  std::vector<Matrix3> split = data.diagonal;
  const std::vector<Index>& begin = data.W.row_begin;
  for (std::size_t k = 0; k < split.size(); ++k) split[k] *= static_cast<double>(begin[k + 1] - begin[k]);
  return split;
}

}  // namespace

void SplitSweep::prepare(const GaussSeidelData& data) {
  data_ = &data;
  contacts_ = contacts_with(data, data.bodies ? split_masses() : split_rows(data));
  if (data.bodies) turn_responses();
  stages_.prepare(data.contacts(), side_by_side(data.contacts()), SweepStages::kWorthSharingOnBodies);
  partial_.resize(stages_.pieces());
  start_.assign(data.bodies ? data.bodies->free.size() : 3 * data.contact.size(), 0.0);
}

std::vector<Matrix3> SplitSweep::split_masses() const {
  const BodyRows& bodies = *data_->bodies;
  const BlockSparseMatrix& J = bodies.J;
  const std::vector<Index> parts = count_touches(J);
  std::vector<Matrix3> split(J.block_rows, Matrix3::Zero());
  for (Index k = 0; k < J.block_rows; ++k) {
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b) {
      const double* P = bodies.response.data() + 9 * static_cast<std::size_t>(b);
      split[k] += static_cast<double>(parts[J.column[b]]) * Eigen::Map<const Matrix3>(J.block(b)) *
                  Eigen::Map<const Matrix3>(P);
    }
  }
  return split;
}

/// The blocks of `BodyRows::response`, slot by slot, contacts in ascending order.
void SplitSweep::turn_responses() {
  const BlockSparseMatrix& J = data_->bodies->J;
  const std::vector<Index> touches = count_touches(J);
  responses_.block_rows = J.block_columns;
  responses_.block_columns = J.block_rows;
  responses_.row_begin.assign(J.block_columns + 1, 0);
  std::partial_sum(touches.begin(), touches.end(), responses_.row_begin.begin() + 1);
  responses_.column.resize(J.column.size());
  responses_.values.assign(J.values.size(), 0.0);
  std::vector<Index> next(responses_.row_begin.begin(), responses_.row_begin.end() - 1);
  for (Index k = 0; k < J.block_rows; ++k) {
    for (Index b = J.row_begin[k]; b < J.row_begin[k + 1]; ++b) {
      const Index place = next[J.column[b]]++;
      responses_.column[place] = k;
      std::copy_n(data_->bodies->response.data() + 9 * static_cast<std::size_t>(b), 9,
                  responses_.block(place));
    }
  }
}

/// v = M⁻¹ f + P r, or r as it is.
void SplitSweep::find_start(std::span<const double> r, TaskArena* arena) {
  const bool bodies = data_->bodies.has_value();
  if (bodies) multiply(arena, responses_, r, start_);
  for_each_chunk(arena, start_.size(), kGrain, [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) start_[i] = bodies ? start_[i] + data_->bodies->free[i] : r[i];
  });
}

SweepStep SplitSweep::step(std::span<const double> along, std::span<double> r, std::span<double> change,
                           TaskArena* arena) {
  release_fixed(*data_, r);
  find_start(r, arena);
  return stages_.run(
      arena, partial_,
      [&](SweepRange range) { return side_by_side_step(*data_, contacts_, range, start_, along, r, change); },
      joined_steps);
}

}  // namespace signorini
