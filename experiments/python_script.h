#pragma once

#include <string>
#include <vector>

namespace signorini {

struct Program;

enum class ChildOutput { standard_output, standard_error, nowhere };

/// scripts/NAME, as it is typed in the present folder.
std::string script_command(const Program& program, const std::string& name);

/// Exit status of scripts/NAME with these arguments, by Debian's Python. `output`: where its standard output goes.
int run_python_script(const Program& program, const std::string& name,
                      const std::vector<std::string>& arguments, ChildOutput output);

}  // namespace signorini
