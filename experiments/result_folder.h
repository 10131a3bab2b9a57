#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "harness/experiment.h"

/// OUT/<id>, held by one process for the run of an experiment: the policy of outputs (base/output_file.h) for
/// a folder of results.
///
///   OUT/<id>.lock       keeps a second process away
///   OUT/<id>/replaced   rows, curves and tables that --force replaces, until the new ones are complete
///
/// Results that are there are refused without --resume or --force. --resume keeps rows of the same program,
/// configuration and recordings and refuses others; with --force beside it those others are replaced.
namespace signorini {

struct ExperimentRequest;

class ResultFolder {
 public:
  /// Takes the lock and looks at what is there; changes nothing in it. Throws `UsageError`, `InputError`,
  /// `BusyError`.
  ResultFolder(const ExperimentRequest& request, const Experiment& experiment);

  const std::filesystem::path& path() const { return path_; }
  /// Makes the folder; results that are to be replaced go to `replaced`.
  void begin() const;
  /// Writes config.toml: `head` names what the rows depend on, the experiment's text follows. True when the
  /// rows that are there were made from the same.
  bool open(const std::string& head);
  /// The new results are complete: those that they replace go.
  void finish() const;
  bool keeps_results() const { return keeps_results_; }
  bool replaces() const { return force_; }

 private:
  void set_aside() const;
  [[noreturn]] void refuse(const std::string& difference) const;

  std::filesystem::path path_;
  LockFile lock_;
  std::string text_;  ///< of the experiment
  bool force_ = false, there_ = false, keeps_results_ = false;
};

/// For all experiments of a command, before the first one runs. Two that write the same folder are a
/// `UsageError`.
std::vector<ResultFolder> claim_results(const std::vector<ExperimentRequest>& requests);

/// The line that opens config.toml: size and program. Lines for the inputs follow.
std::string settings_head(const ExperimentRequest& request);

}  // namespace signorini
