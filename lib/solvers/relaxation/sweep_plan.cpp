#include "solvers/relaxation/sweep_plan.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "regions/contact_neighbours.h"

namespace signorini {
namespace {

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

/// Every row of the result is written by the task that has its chunk: the bits do not depend on the number of threads.
BlockSparseMatrix moved(const BlockSparseMatrix& W, const SweepPlan& plan, TaskArena* arena) {
  const std::vector<Index> place = places_of(plan);
  BlockSparseMatrix result;
  result.block_rows = result.block_columns = W.block_rows;
  result.row_begin = rows_begin_in_order(W.row_begin, plan.contact);
  result.column.resize(W.column.size());
  result.values.resize(W.values.size());
  for_each_chunk(arena, plan.contact.size(), kRowsOfATask, [&](std::size_t begin, std::size_t end) {
    std::vector<std::pair<Index, Index>> row;  // new column, old block
    for (std::size_t p = begin; p < end; ++p) {
      const Index k = plan.contact[p];
      row.clear();
      for (Index b = W.row_begin[k]; b < W.row_begin[k + 1]; ++b) row.emplace_back(place[W.column[b]], b);
      std::sort(row.begin(), row.end());
      Index to = result.row_begin[p];
      for (const auto& [column, block] : row) {
        std::copy_n(W.block(block), 9, result.block(to));
        result.column[to++] = column;
      }
    }
  });
  return result;
}

/// `neighbours()` is asked where colours may be wanted.
template <class Neighbours>
SweepPlan plan_by(const Neighbours& neighbours, Index contacts, SweepOrder order) {
  SweepPlan plan;
  plan.symmetric = order == SweepOrder::symmetric;
  const bool large = contacts >= kColouredContacts;
  if (order != SweepOrder::coloured && !(order == SweepOrder::automatic && large)) return plan;
  SweepPlan coloured = sort_by_colour(first_fit_colours(neighbours()));
  const bool worth = contacts >= kContactsPerColour * static_cast<std::ptrdiff_t>(coloured.colours());
  return order == SweepOrder::coloured || worth ? coloured : plan;
}

}  // namespace

SweepPlan plan_sweeps(const BlockSparseMatrix& W, SweepOrder order) {
  return plan_by([&] { return neighbours_by_delassus(W); }, W.block_rows, order);
}

SweepPlan plan_sweeps(const BodyRows& bodies, SweepOrder order) {
  return plan_by([&] { return neighbours_by_slots(bodies.J); }, bodies.J.block_rows, order);
}

ReducedProblem in_order(ReducedProblem problem, const SweepPlan& plan, TaskArena* arena) {
  if (plan.contact.empty()) return problem;
  SIGNORINI_CHECK(count(plan.contact) == problem.W.block_rows);
  ReducedProblem result{moved(problem.W, plan, arena), Vector(problem.q.size())};
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
