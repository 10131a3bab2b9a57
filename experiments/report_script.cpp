#include "report_script.h"

#include <filesystem>
#include <fstream>

#include "commands.h"
#include "python_script.h"

namespace signorini {

namespace {

/// scripts/report with these arguments.
int report_with(const Program& program, const std::vector<std::string>& arguments) {
  return run_python_script(program, "report", arguments,
                           program.json ? ChildOutput::standard_error : ChildOutput::standard_output);
}

}  // namespace

int run_report(const Program& program, const std::string& out, const std::vector<std::string>& ids) {
  std::vector<std::string> arguments{"--out", out};
  arguments.insert(arguments.end(), ids.begin(), ids.end());
  return report_with(program, arguments);
}

void report_runs(const Program& program, const std::vector<std::filesystem::path>& tables,
                 const std::filesystem::path& folder) {
  std::vector<std::string> arguments{"--output", folder.string()};
  for (const std::filesystem::path& table : tables) {
    arguments.push_back("--runs");
    arguments.push_back(table.string());
  }
  const int status = report_with(program, arguments);
  if (status != 0)
    throw_input("scripts/report ended with status {}; the rows in {} are complete, see the message above",
                status, folder.string());
}

Json read_claims(const std::string& out) {
  std::ifstream in(std::filesystem::path(out) / "claims.json");
  Json claims = in ? Json::parse(in, nullptr, false) : Json();
  return claims.is_discarded() ? Json() : claims;
}

}  // namespace signorini
