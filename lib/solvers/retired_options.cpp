#include "solvers/retired_options.h"

#include <algorithm>

namespace signorini {

namespace {

constexpr std::string_view kOneForm = "leave it out, and take pcg where its form or direction matters";
constexpr std::string_view kTwoNorms = "take the thresholds on 2-norms (eps and delta, by phase in pcg-pgs)";
constexpr std::string_view kInnerSweeps = "leave it out, or take ica, which has it";
constexpr std::string_view kOfCr = "leave it out, or take cr-diag, which has it";

constexpr std::array kRetired{
    RetiredOption{"max_gib", {"pgs", "pcg", "pcg-pgs", "ca"}, "leave it out; a dense W may take 4 GiB"},
    RetiredOption{"eps_inf", {"pgs", "pcg"}, kTwoNorms},
    RetiredOption{"delta_inf", {"pgs", "pcg"}, kTwoNorms},
    RetiredOption{"powell", {"pcg"}, "take beta = pr, which restarts by itself"},
    RetiredOption{"beta", {"pcg-pgs"}, kOneForm},
    RetiredOption{"form", {"pcg-pgs"}, kOneForm},
    RetiredOption{"eps_inf_cg", {"pcg-pgs"}, kTwoNorms},
    RetiredOption{"delta_inf_cg", {"pcg-pgs"}, kTwoNorms},
    RetiredOption{"eps_inf_gs", {"pcg-pgs"}, kTwoNorms},
    RetiredOption{"delta_inf_gs", {"pcg-pgs"}, kTwoNorms},
    RetiredOption{"repetitions", {"ica", "ica-cr"}, "leave it out; a contact repeats N, T1, T2 three times"},
    RetiredOption{
        "reduction", {"ica-cr"}, "take length, the most iterations of conjugate residuals per cycle"},
    RetiredOption{"inner_reduction", {"ica-cr"}, kInnerSweeps},
    RetiredOption{"inner_max", {"ica-cr"}, kInnerSweeps},
    RetiredOption{"inner",
                  {"cr-diag", "cr-full", "minres", "sp-active-set", "sp-cr"},
                  "leave it out; the inner tolerance is a fixed share of the asked residual"},
    RetiredOption{"duplicates", {"cr-diag"}, "leave it out, or take cr-full; it had no effect on cr-diag"},
    RetiredOption{"interval", {"minres"}, "take switching = converged or on-the-way"},
    RetiredOption{"direction", {"minres"}, kOfCr},
    RetiredOption{"average", {"minres"}, kOfCr},
    RetiredOption{"angle", {"minres"}, kOfCr},
    RetiredOption{"turn", {"minres"}, kOfCr},
    RetiredOption{"gates", {"minres"}, kOfCr},
    RetiredOption{"slip_test", {"minres"}, kOfCr},
    RetiredOption{"postpone", {"minres"}, kOfCr},
    RetiredOption{"bounds", {"minres"}, kOfCr},
    RetiredOption{"postpone", {"sp-active-set", "sp-cr"}, "leave it out; changes wait as with 1"},
    RetiredOption{"passes", {"sp-active-set", "sp-cr"}, "take the limit on iterations (--max-iterations)"},
    RetiredOption{"patience", {"sp-active-set", "sp-cr"}, "leave it out; staggering is given 40 passes"},
    RetiredOption{"newton_contacts", {"reference"}, "leave it out; factors are sparse now"},
};

}  // namespace

std::span<const RetiredOption> retired_options() { return kRetired; }

void refuse_retired_options(std::string_view solver, const OptionMap& options) {
  for (const auto& [key, value] : options) {
    for (const RetiredOption& retired : kRetired) {
      if (retired.key != key || std::ranges::find(retired.solvers, solver) == retired.solvers.end()) continue;
      throw_usage("solver '{}': option '{}' = {} no longer exists: {}", solver, key, value, retired.instead);
    }
  }
}

}  // namespace signorini
