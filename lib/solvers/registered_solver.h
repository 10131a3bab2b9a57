#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "solvers/solver.h"

/// What all entries of the registry have in common: a name, traits and options.
namespace signorini {

/// `Self` defines `kName` (registry name) and `kTraits` (SolverTraits) and is constructed from
/// `SolverOptions`, which hold `common` and name each option in `visit` (base/options.h). `Base`: the base
/// class of its family.
template <class Self, class SolverOptions, class Base>
class RegisteredSolver : public Base {
 public:
  using Options = SolverOptions;
  /// `of_base`: constructor arguments of `Base`.
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
