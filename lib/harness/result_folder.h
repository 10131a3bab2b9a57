#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/run_monitor.h"
#include "harness/experiment_request.h"
#include "harness/result_head.h"

/// OUT/<id>, held by one process for the run of an experiment: the policy of outputs (base/output_file.h) for
/// a folder of results.
///
///   OUT/<id>.lock       keeps a second process away
///   OUT/<id>/run.toml   what the rows depend on (harness/result_head.h), then the experiment's file
///   OUT/<id>/replaced   rows, curves and tables that --force replaces, until the new ones are complete; with them
///                       siconos.csv and problems.csv, which scripts made for these rows
///
/// Results that are there are refused without --resume or --force. --resume keeps rows of the same program,
/// experiment and recordings and refuses others; with --force beside it those others are replaced.
namespace signorini {

class ResultFolder {
 public:
  /// Takes the lock and looks at what is there; changes nothing in it. Throws `UsageError`, `InputError`,
  /// `BusyError`.
  explicit ResultFolder(const ExperimentRequest& request);

  const std::filesystem::path& path() const { return path_; }
  /// Makes the folder; results that are to be replaced go to `replaced`.
  void begin(RunMonitor& monitor) const;
  /// Writes run.toml. `inputs`: label and digest of every problem file. True when the rows that are there were
  /// made from the same.
  bool open(const std::vector<std::string>& inputs, RunMonitor& monitor);
  /// The new results are complete: those that they replace go.
  void finish() const;
  bool keeps_results() const { return keeps_results_; }
  bool replaces() const { return force_; }

 private:
  void set_aside(RunMonitor& monitor) const;
  [[noreturn]] void refuse(const std::string& difference) const;

  std::filesystem::path path_;
  LockFile lock_;
  ResultHead head_;   ///< as it is now
  std::string text_;  ///< of the experiment
  bool force_ = false, there_ = false, keeps_results_ = false;
};

/// For all experiments of a command, before the first one runs. Two that write the same folder are a
/// `UsageError`.
std::vector<ResultFolder> claim_results(const std::vector<ExperimentRequest>& requests);

}  // namespace signorini
