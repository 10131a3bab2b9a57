#pragma once

#include <signorini/solver_plugin.h>

#include <filesystem>
#include <string>
#include <vector>

#include "solvers/registry.h"

/// Shared libraries that bring solvers (include/signorini/solver_plugin.h).
///
/// A library is code that runs with the rights of the user from the moment it is loaded; nothing guards against
/// what it does. Once loaded it stays until the program ends.
namespace signorini {

/// Adds the solvers of a library to the registry; before anything is solved, from one thread. Throws `InputError`
/// "<file>: …" where it is no library, is made for another version, or brings a solver of a name that exists. The same file again
/// adds nothing.
void load_solver_plugin(const std::filesystem::path& file);

/// What `load_solver_plugin` adds, checked. `library`: file name and digest, as rows name it.
std::vector<SolverEntry> solvers_of(const plugin::Library* brought, const std::string& file,
                                    const std::string& library);

}  // namespace signorini
