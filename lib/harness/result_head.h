#pragma once

#include <string>
#include <vector>

#include "harness/experiment.h"

namespace signorini {

/// Of everything in an experiment's file that rows depend on: comments, their order and the title are not among it.
std::string experiment_digest(const Experiment& experiment);

/// What the rows of a result depend on, as comments at the head of OUT/<id>/run.toml:
///
///     # size: quick
///     # program: 2a78e0d
///     # experiment: 93f0c1d2a4b5e6f7
///     # input: bucket-quick.h5 0123456789abcdef        a line per problem file
struct ResultHead {
  std::string size, program, experiment;
  std::vector<std::string> inputs;  ///< label and digest of each

  std::string text() const;
  /// Of a run.toml, or of nothing.
  static ResultHead of(const std::string& text);
  bool operator==(const ResultHead&) const = default;
  /// Inputs are known only once the recordings are there.
  bool equals_but_for_inputs(const ResultHead& other) const;
  /// What `now` has another of than this, for people; the two differ.
  std::string difference(const ResultHead& now) const;
};

}  // namespace signorini
