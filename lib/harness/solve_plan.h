#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/output_file.h"
#include "harness/experiment.h"
#include "harness/protocols.h"
#include "record/problem_file.h"

/// What `signorini solve` is asked for, and what that means: file × step × solver × regions × threads ×
/// repetition.
namespace signorini {

/// As it stands on a command line. In lists "a,b" and two entries mean the same.
struct SolveRequest {
  std::vector<std::string> files;
  std::vector<std::string> solvers{"auto"};
  std::vector<std::string> plugins;   ///< shared libraries that bring solvers
  std::vector<std::string> settings;  ///< SOLVER.option=value
  std::vector<std::string> regions{"none"}, threads{"1"};
  std::vector<std::string> steps;    ///< empty = all
  std::string matrix = "symmetric";  ///< a name of `MatrixReading`
  double tolerance = 1e-6;
  int max_iterations = 10000;
  double time_limit = 0.0;  ///< s; 0 = none
  int repetitions = 1;
  std::string csv, solution, trace;  ///< outputs; "" = none
  bool replace = false;              ///< outputs that exist
  const CancelFlag* cancelled = nullptr;
};

struct SolvePlan {
  std::vector<SolverVariant> variants;
  std::vector<RegionMode> modes;
  std::vector<int> threads;
  RunLimits limits;
  MatrixReading matrix = MatrixReading::symmetric;
};

/// Loads the plugins; reads no other file. Throws `UsageError` for names, options and numbers that do not exist or
/// make no sense.
SolvePlan plan_solves(const SolveRequest& request);

/// The entries of repeated comma lists, without white space; `option` names the list in errors.
std::vector<std::string> list_entries(const std::vector<std::string>& given, std::string_view option);

/// The steps of `file` asked for by `SolveRequest::steps`, with or without leading zeros, in that order.
std::vector<std::string> choose_steps(const ProblemFile& file, const std::vector<std::string>& wanted);

/// Files of the command for `claim_outputs`, each with those that come beside it.
OutputPlan outputs_of(const SolveRequest& request);

/// Where the program, machine and inputs behind an output are written.
std::filesystem::path provenance_of(const std::filesystem::path& output);
/// Where rows and curves are until all runs are done.
std::filesystem::path partial_of(const std::filesystem::path& output);

}  // namespace signorini
