#pragma once

#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/options.h"
#include "base/parallel.h"
#include "contact/delassus_operator.h"
#include "solvers/relaxation/body_rows.h"

/// In which order a sweep of Gauss–Seidel visits the contacts.
///
///     natural     0, 1, …, m − 1, as the problem numbers them
///     coloured    colour by colour. Contacts k and l of one colour have W_kl = W_lk = 0, so that they can be updated
///                 side by side: the sweep is the same for any number of threads
///     symmetric   0, …, m − 1 and back, which is one iteration of two sweeps
///     auto        coloured where colours are large enough for several threads, else natural; decided by counts,
///                 so that the bits do not depend on the number of threads
///
/// Colours are first fit over the graph of contacts (regions/contact_neighbours.h). Rows of W are moved to the new order, which
/// keeps a sweep in memory order.
namespace signorini {

enum class SweepOrder { natural, coloured, symmetric, automatic };
template <>
struct EnumNames<SweepOrder> {
  static constexpr std::array<std::pair<SweepOrder, std::string_view>, 4> value{
      {{SweepOrder::natural, "natural"},
       {SweepOrder::coloured, "coloured"},
       {SweepOrder::symmetric, "symmetric"},
       {SweepOrder::automatic, "auto"}}};
};
inline constexpr std::string_view kSweepOrderHelp =
    "order of the contacts in a sweep: natural; coloured: groups without a common body, updated side by side "
    "by all "
    "threads; symmetric: natural and back, two sweeps per iteration; auto: coloured on islands that are "
    "large enough "
    "for it, else natural";

/// Contacts of one problem in the order of a sweep.
struct SweepPlan {
  std::vector<Index> contact;       ///< m: the contact at every place; empty where the order is natural
  std::vector<Index> colour_begin;  ///< colours + 1 places; empty where contacts are not coloured
  bool symmetric = false;

  Index colours() const { return colour_begin.empty() ? 0 : count(colour_begin) - 1; }
};

/// `automatic` takes colours from this many contacts on …
inline constexpr Index kColouredContacts = 5000;
/// … where a colour has at least this many on average.
inline constexpr Index kContactsPerColour = 256;

SweepPlan plan_sweeps(const BlockSparseMatrix& W, SweepOrder order);
/// With the rows of bodies in the place of W: contacts are neighbours that share a slot. The same plan.
SweepPlan plan_sweeps(const BodyRows& bodies, SweepOrder order);

/// W, q and μ in the order of the plan. The threads of the arena share the rows of W; null: one thread.
ReducedProblem in_order(ReducedProblem problem, const SweepPlan& plan, TaskArena* arena = nullptr);
Vector in_order(Vector mu, const SweepPlan& plan);

/// Impulses (3m) of contacts 0, 1, … to those of places 0, 1, …, and back.
void to_places(const SweepPlan& plan, std::span<const double> r, std::span<double> placed);
void from_places(const SweepPlan& plan, std::span<const double> placed, std::span<double> r);

}  // namespace signorini
