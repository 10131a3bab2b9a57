#include "solvers/registry.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"
#include "solvers/accelerated/anderson.h"
#include "solvers/accelerated/nncg.h"
#include "solvers/active_set/cr.h"
#include "solvers/active_set/minres.h"
#include "solvers/anticipation/ca.h"
#include "solvers/anticipation/ica.h"
#include "solvers/anticipation/ica_cr.h"
#include "solvers/cg/pcg.h"
#include "solvers/cg/pcg_pgs.h"
#include "solvers/first_order/admm.h"
#include "solvers/first_order/admm_global.h"
#include "solvers/first_order/apgd.h"
#include "solvers/first_order/fbf.h"
#include "solvers/first_order/spg.h"
#include "solvers/global_newton/body_newton.h"
#include "solvers/global_newton/sap.h"
#include "solvers/newton/ipm.h"
#include "solvers/newton/newton.h"
#include "solvers/newton/prox_newton.h"
#include "solvers/portfolio/auto.h"
#include "solvers/portfolio/reference.h"
#include "solvers/relaxation/nsgs.h"
#include "solvers/relaxation/pgs.h"
#include "solvers/retired_options.h"
#include "solvers/schwarz/schwarz.h"
#include "solvers/splitting/mass_splitting.h"
#include "solvers/staggered/staggered_projections.h"
#include "solvers/turned_frame.h"

namespace signorini {

namespace {

template <class S>
std::unique_ptr<Solver> create(const OptionMap& options) {
  typename S::Options parsed;
  apply_options(parsed, options, "solver '" + std::string(S::kName) + "'");
  return std::make_unique<S>(parsed);
}

template <class S>
std::vector<OptionDescription> describe() {
  return describe_options(typename S::Options{});
}

template <class S>
SolverEntry entry(std::string_view summary, std::string_view source) {
  return {S::kName, summary, source, S::kTraits, &create<S>, &describe<S>};
}

/// In the order of `signorini list`. Made at the first use: tests ask for it before `main`.
std::vector<SolverEntry>& table() {
  static std::vector<SolverEntry> solvers{
      entry<Pgs>("projected Gauss-Seidel: solves one contact after the other and sweeps until all agree",
                 "Lazarevych 2010, eqs. 6, 7, 14, 15 (projection inside the sweep)"),
      entry<Pcg>("projected conjugate gradients: conjugate gradients on the impulses, projected onto the "
                 "friction cones",
                 "Lazarevych 2010, eqs. 16-19, Algorithm 2 (corrected; the printed form is an option)"),
      entry<PcgPgs>("pcg to a coarse residual, then pgs from its best iterate; returns the best iterate",
                    "Lazarevych 2010, section 4"),
      entry<Ca>("full constraint anticipation: builds the dense Delassus operator W of every island, then "
                "pgs on it",
                "Otaduy 2009, section 5.1, eq. 8 (Baraff 1996)"),
      entry<Ica>("iterative constraint anticipation: alternates sweeps over velocities and over contacts and "
                 "never builds W",
                 "Otaduy 2009, sections 5.2-5.5, eqs. 9-14"),
      entry<IcaCr>(
          "ica to identify the active set, then conjugate residuals on the equality-constrained system, "
          "in turn",
          "ours, after Lazarevych 2010 section 4, from Otaduy 2009 and Verschoor and Jalba 2019"),
      entry<CrDiag>(
          "conjugate residuals on velocities and impulses together, with active-set changes during the "
          "iteration; diagonal preconditioner",
          "Verschoor and Jalba 2019, section 3, Algorithms 1-3"),
      entry<CrFull>(
          "as cr-diag, with a preconditioner that includes the contact constraints and a scaling for "
          "redundant contacts",
          "Verschoor and Jalba 2019, section 3, Algorithms 1-3"),
      entry<Minres>("as cr-diag, with the MINRES recurrence in place of conjugate residuals",
                    "Verschoor and Jalba 2019, section 7; Paige and Saunders 1975"),
      entry<SpActiveSet>(
          "staggered projections: solves the normal problem and the friction problem in turn, each "
          "by an active-set method with conjugate residuals for the linear systems",
          "Kaufman et al. 2008, as run by Verschoor and Jalba 2019, section 6.2.3"),
      entry<SpCr>("staggered projections: as sp-active-set, with active-set changes during the conjugate "
                  "residual iteration",
                  "Verschoor and Jalba 2019, section 6.2.3 (2xCR)"),
      entry<Newton>(
          "semi-smooth Newton: full steps on the Alart-Curnier equations with a regularised matrix; fast "
          "near a solution",
          "Alart and Curnier 1991; regularisation: ours"),
      entry<ProxNewton>(
          "proximal point steps, each by semi-smooth Newton with a line search: the robust one, to "
          "any accuracy",
          "Rockafellar 1976 and Alart and Curnier 1991"),
      entry<Ipm>("interior point method on the friction cones, then Newton steps from 1e-5 on",
                 "Acary, Armand, Nguyen and Shpakovych 2023; crossover: ours"),
      entry<Nsgs>("nonsmooth Gauss-Seidel: as pgs, with each contact solved exactly",
                  "Jourdan, Alart and Jean 1998 (local problem solved exactly)"),
      entry<Nncg>(
          "nonsmooth nonlinear conjugate gradients: the sweeps of pgs as gradient steps of a conjugate "
          "gradient method",
          "Silcowitz, Niebe and Erleben 2010 (guarded; the printed form is an option)"),
      entry<Anderson>("the sweeps of pgs, accelerated by a combination of the last ones",
                      "Anderson 1965; Walker and Ni 2011; guard after Zhang, O'Donoghue and Boyd 2020"),
      entry<MassSplitting>(
          "all contacts at once, each with its share of the masses that it touches; accelerated",
          "Tonge, Benevolenski and Voroshilov 2012; Nesterov 1983, O'Donoghue and Candes 2015"),
      entry<Schwarz>(
          "subdomains of an island, each solved as a task by another solver, until they agree",
          "Schwarz 1870; Cai and Sarkis 1999 (restricted); Alart, Barboteu and Renouf 2005 for contacts"),
      entry<Auto>("sweeps while they promise to arrive, Newton steps where these are cheaper: the choice "
                  "where no solver is "
                  "named",
                  "ours"),
      entry<BodyNewton>(
          "semi-smooth Newton on velocities and impulses together, a sparse factorisation per step; never "
          "builds W; a proximal point method where full steps fail",
          "Alart and Curnier 1991 for the equations; Rockafellar 1976 for the proximal point method"),
      entry<Sap>("Newton with a line search on a convex function of the velocities; an outer loop removes "
                 "its compliance "
                 "and regularised friction",
                 "Castro, Permenter and Han 2022 (SAP); the outer loop to Coulomb's law is ours"),
      entry<Apgd>(
          "accelerated projected gradients on the friction cones, with the exact law by a shift of the "
          "velocities",
          "Mazhar, Heyn, Negrut and Tasora 2015; O'Donoghue and Candes 2015"),
      entry<Spg>("spectral projected gradients: Barzilai-Borwein steps with a nonmonotone line search",
                 "Birgin, Martinez and Raydan 2000, Algorithm SPG2; Heyn et al. 2013"),
      entry<Fbf>("forward-backward-forward steps on the variational inequality of the exact law",
                 "Tseng 2000; He 1997; He and Liao 2002"),
      entry<Admm>("alternating directions: one factor of the shifted Delassus operator, then only solves and "
                  "projections; dual form",
                  "Carpentier, Le Lidec and Montaut 2024"),
      entry<AdmmGlobal>(
          "as admm in global form: one sparse factor of M and the contacts together, W is never formed",
          "Carpentier, Le Lidec and Montaut 2024"),
      entry<Reference>("accurate, whatever it costs, for checking the others: prox-newton, auto, body-newton "
                       "and sap in turn, "
                       "until one meets the residual",
                       "ours; the sources are those of its four solvers"),
  };
  return solvers;
}

}  // namespace

std::span<const SolverEntry> solver_registry() { return table(); }

std::vector<std::string> solver_names() {
  std::vector<std::string> names;
  for (const SolverEntry& entry : table()) names.emplace_back(entry.name);
  return names;
}

const SolverEntry* find_solver(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &SolverEntry::name);
  return found == table().end() ? nullptr : &*found;
}

void add_solver(SolverEntry entry) {
  SIGNORINI_CHECK(find_solver(entry.name) == nullptr);
  table().push_back(std::move(entry));
}

void remove_solver(std::string_view name) {
  SIGNORINI_CHECK(find_solver(name) != nullptr);
  std::erase_if(table(), [name](const SolverEntry& entry) { return entry.name == name; });
}

std::unique_ptr<Solver> make_solver(std::string_view name, const OptionMap& options) {
  const SolverEntry* solver = find_solver(name);
  if (solver == nullptr) throw_usage("unknown solver '{}'{}", name, suggestion(name, solver_names()));
  refuse_retired_options(name, options);
  std::unique_ptr<Solver> made = solver->create(options);
  const LawSpec law = made->common().spec();
  const bool served = with_law(law.law, [&](auto type) {
    return decltype(type)::kParts == 1 ? solver->traits.cone : solver->traits.pyramid;
  });
  if (!served) throw_usage("solver '{}' does not serve law = {}", name, enum_name(law.law));
  if (is_turned(law)) return std::make_unique<TurnedFrame>(std::move(made));
  return made;
}

}  // namespace signorini
