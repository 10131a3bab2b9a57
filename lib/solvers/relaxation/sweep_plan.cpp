#include "solvers/relaxation/sweep_plan.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace signorini {
namespace {

/// Block columns of Wᵀ: W of a file need not have a symmetric pattern.
struct Pattern {
  std::vector<Index> begin, column;

  std::span<const Index> row(Index k) const {
    return std::span<const Index>(column).subspan(begin[k], begin[k + 1] - begin[k]);
  }
};

Pattern transposed_pattern(const BlockSparseMatrix& W) {
  Pattern result;
  result.begin.assign(W.row_begin.size(), 0);
  result.column.resize(W.column.size());
  for (const Index l : W.column) ++result.begin[l + 1];
  std::partial_sum(result.begin.begin(), result.begin.end(), result.begin.begin());
  std::vector<Index> next(result.begin.begin(), result.begin.end() - 1);
  for (Index k = 0; k < W.block_rows; ++k)
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) result.column[next[W.column[b]]++] = k;
  return result;
}

/// Colour of every contact, first fit.
std::vector<Index> first_fit_colours(const BlockSparseMatrix& W) {
  const Pattern into = transposed_pattern(W);
  std::vector<Index> colour(W.block_rows, 0);
  std::vector<Index> used_by;  // by colour: the last contact that may not take it
  for (Index k = 0; k < W.block_rows; ++k) {
    const auto forbid = [&](Index l) {
      if (l < k) used_by[colour[l]] = k;
    };
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) forbid(W.column[b]);
    for (const Index l : into.row(k)) forbid(l);
    const auto free = std::find_if(used_by.begin(), used_by.end(), [&](Index last) { return last != k; });
    colour[k] = static_cast<Index>(free - used_by.begin());
    if (free == used_by.end()) used_by.push_back(-1);
  }
  return colour;
}

/// The same where contacts that share a slot are neighbours.
std::vector<Index> first_fit_colours(const BodyRows& bodies) {
  const BlockSparseMatrix& J = bodies.J;
  std::vector<Index> begin(static_cast<std::size_t>(J.block_columns) + 1, 0);
  for (const Index slot : J.column) ++begin[slot + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Index> end(begin.begin(), begin.end() - 1), taken(J.column.size());  // colours by slot
  std::vector<Index> colour(J.block_rows, 0);
  std::vector<Index> used_by;  // by colour: the last contact that may not take it
  for (Index k = 0; k < J.block_rows; ++k) {
    const std::span<const Index> slots =
        std::span(J.column).subspan(J.row_begin[k], J.row_begin[k + 1] - J.row_begin[k]);
    for (const Index slot : slots) {
      for (Index t = begin[slot]; t < end[slot]; ++t) used_by[taken[t]] = k;
    }
    const auto free = std::find_if(used_by.begin(), used_by.end(), [&](Index last) { return last != k; });
    colour[k] = static_cast<Index>(free - used_by.begin());
    if (free == used_by.end()) used_by.push_back(-1);
    for (const Index slot : slots) taken[end[slot]++] = colour[k];
  }
  return colour;
}

/// Contacts by colour, those of one colour in ascending order.
SweepPlan sort_by_colour(const std::vector<Index>& colour) {
  SweepPlan plan;
  const Index colours = colour.empty() ? 0 : 1 + *std::max_element(colour.begin(), colour.end());
  plan.colour_begin.assign(colours + 1, 0);
  for (const Index c : colour) ++plan.colour_begin[c + 1];
  std::partial_sum(plan.colour_begin.begin(), plan.colour_begin.end(), plan.colour_begin.begin());
  std::vector<Index> next = plan.colour_begin;
  plan.contact.resize(colour.size());
  for (Index k = 0; k < count(colour); ++k) plan.contact[next[colour[k]]++] = k;
  return plan;
}

std::vector<Index> places_of(const SweepPlan& plan) {
  std::vector<Index> place(plan.contact.size());
  for (Index p = 0; p < count(plan.contact); ++p) place[plan.contact[p]] = p;
  return place;
}

BlockSparseMatrix moved(const BlockSparseMatrix& W, const SweepPlan& plan) {
  const std::vector<Index> place = places_of(plan);
  BlockSparseMatrix result;
  result.block_rows = result.block_columns = W.block_rows;
  result.row_begin.reserve(W.row_begin.size());
  result.row_begin.push_back(0);
  result.column.reserve(W.column.size());
  result.values.resize(W.values.size());
  std::vector<std::pair<Index, Index>> row;  // new column, old block
  for (const Index k : plan.contact) {
    row.clear();
    for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) row.emplace_back(place[W.column[b]], b);
    std::sort(row.begin(), row.end());
    for (const auto& [column, block] : row) {
      std::copy_n(W.block(block), 9, result.block(count(result.column)));
      result.column.push_back(column);
    }
    result.row_begin.push_back(count(result.column));
  }
  return result;
}

}  // namespace

namespace {

template <class Rows>
SweepPlan plan_by(const Rows& rows, Index contacts, SweepOrder order) {
  SweepPlan plan;
  plan.symmetric = order == SweepOrder::symmetric;
  const bool large = contacts >= kColouredContacts;
  if (order != SweepOrder::coloured && !(order == SweepOrder::automatic && large)) return plan;
  SweepPlan coloured = sort_by_colour(first_fit_colours(rows));
  const bool worth = contacts >= kContactsPerColour * static_cast<std::ptrdiff_t>(coloured.colours());
  return order == SweepOrder::coloured || worth ? coloured : plan;
}

}  // namespace

SweepPlan plan_sweeps(const BlockSparseMatrix& W, SweepOrder order) {
  return plan_by(W, W.block_rows, order);
}

SweepPlan plan_sweeps(const BodyRows& bodies, SweepOrder order) {
  return plan_by(bodies, bodies.J.block_rows, order);
}

ReducedProblem in_order(ReducedProblem problem, const SweepPlan& plan) {
  if (plan.contact.empty()) return problem;
  SIGNORINI_CHECK(count(plan.contact) == problem.W.block_rows);
  ReducedProblem result{moved(problem.W, plan), Vector(problem.q.size())};
  to_places(plan, span_of(problem.q), span_of(result.q));
  return result;
}

Vector in_order(Vector mu, const SweepPlan& plan) {
  if (plan.contact.empty()) return mu;
  Vector result(mu.size());
  for (Index p = 0; p < count(plan.contact); ++p) result[p] = mu[plan.contact[p]];
  return result;
}

void to_places(const SweepPlan& plan, std::span<const double> r, std::span<double> placed) {
  SIGNORINI_CHECK(r.size() == 3 * plan.contact.size() && placed.size() == r.size());
  for (std::size_t p = 0; p < plan.contact.size(); ++p)
    std::copy_n(r.data() + 3 * static_cast<std::ptrdiff_t>(plan.contact[p]), 3, placed.data() + 3 * p);
}

void from_places(const SweepPlan& plan, std::span<const double> placed, std::span<double> r) {
  SIGNORINI_CHECK(r.size() == 3 * plan.contact.size() && placed.size() == r.size());
  for (std::size_t p = 0; p < plan.contact.size(); ++p)
    std::copy_n(placed.data() + 3 * p, 3, r.data() + 3 * static_cast<std::ptrdiff_t>(plan.contact[p]));
}

}  // namespace signorini
