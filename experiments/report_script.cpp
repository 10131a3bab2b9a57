#include "report_script.h"

#include <filesystem>
#include <fstream>

#include "commands.h"
#include "python_script.h"

namespace signorini {

int run_report(const Program& program, const std::string& out, const std::vector<std::string>& ids) {
  std::vector<std::string> arguments{"--out", out};
  arguments.insert(arguments.end(), ids.begin(), ids.end());
  return run_python_script(program, "report", arguments,
                           program.json ? ChildOutput::standard_error : ChildOutput::standard_output);
}

Json read_claims(const std::string& out) {
  std::ifstream in(std::filesystem::path(out) / "claims.json");
  Json claims = in ? Json::parse(in, nullptr, false) : Json();
  return claims.is_discarded() ? Json() : claims;
}

}  // namespace signorini
