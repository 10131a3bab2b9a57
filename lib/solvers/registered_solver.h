#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "solvers/solver.h"

/// What every entry of the registry has in common: its name, its traits and its options.
namespace signorini {

/// `Self` brings `kName` (registry name), `kTraits` (SolverTraits) and is made from `SolverOptions`, which hold
/// `common` and name each option in `visit` (base/options.h). `Base` is the kind of solver.
template <class Self, class SolverOptions, class Base>
class RegisteredSolver : public Base {
 public:
  using Options = SolverOptions;
  /// `of_base`: what `Base` is made from.
  template <class... OfBase>
  explicit RegisteredSolver(const Options& options, OfBase&&... of_base)
      : Base(std::forward<OfBase>(of_base)...), options_(options) {}

  std::string_view name() const override { return Self::kName; }
  std::string options() const override { return options_text(options_); }
  const CommonOptions& common() const override { return options_.common; }
  const SolverTraits& traits() const override { return Self::kTraits; }
  std::unique_ptr<Solver> fresh() const override { return std::make_unique<Self>(options_); }

 protected:
  Options options_;
};

}  // namespace signorini
