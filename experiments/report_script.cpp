#include "report_script.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "commands.h"
#include "harness/text_file.h"
#include "python_script.h"

namespace signorini {

namespace {

/// scripts/report with these arguments. Replays are made by this program.
int report_with(const Program& program, std::vector<std::string> arguments, bool replays) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!replays) arguments.emplace_back("--no-replay");
  if (replays && !error) arguments.insert(arguments.end(), {"--program", self.string()});
  return run_python_script(program, "report", arguments,
                           program.json ? ChildOutput::standard_error : ChildOutput::standard_output);
}

}  // namespace

int run_report(const Program& program, const std::string& out, const std::vector<std::string>& ids,
               bool replays) {
  std::vector<std::string> arguments{"--out", out};
  arguments.insert(arguments.end(), ids.begin(), ids.end());
  return report_with(program, std::move(arguments), replays);
}

void report_runs(const Program& program, const std::vector<std::filesystem::path>& tables,
                 const std::filesystem::path& folder, bool replays) {
  std::vector<std::string> arguments{"--output", folder.string()};
  for (const std::filesystem::path& table : tables) {
    arguments.push_back("--runs");
    arguments.push_back(table.string());
  }
  const int status = report_with(program, std::move(arguments), replays);
  if (status != 0)
    throw_input("scripts/report ended with status {}; the rows in {} are complete, see the message above",
                status, folder.string());
}

Json read_claims(const std::string& out) {
  const std::string text = text_or_nothing(std::filesystem::path(out) / "claims.json");
  Json claims = text.empty() ? Json() : Json::parse(text, nullptr, false);
  return claims.is_discarded() ? Json() : claims;
}

}  // namespace signorini
