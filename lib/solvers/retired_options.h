#pragma once

#include <array>
#include <span>
#include <string_view>

#include "base/options.h"

/// Options that solvers no longer have. They are refused with a line that says what to write instead, so that
/// an old configuration or command fails with a remedy.
namespace signorini {

struct RetiredOption {
  static constexpr std::size_t kMostSolvers = 5;

  std::string_view key;
  std::array<std::string_view, kMostSolvers> solvers;  ///< "" where there are fewer
  std::string_view instead;
};

std::span<const RetiredOption> retired_options();

/// Throws `UsageError` for the first of `options` that this solver no longer has.
void refuse_retired_options(std::string_view solver, const OptionMap& options);

}  // namespace signorini
