#include "experiment_json.h"

namespace signorini {

Json to_json(const std::string& id, const ExperimentResult& result,
             const std::vector<RunSummaryLine>& summary) {
  return {{"id", id},
          {"folder", result.folder.string()},
          {"rows", result.rows},
          {"resumed", result.resumed},
          {"failed", result.failed},
          {"seconds", result.seconds},
          {"summary", to_json(summary)}};
}

}  // namespace signorini
