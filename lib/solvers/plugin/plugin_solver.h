#pragma once

#include <signorini/solver_plugin.h>

#include <string>

#include "solvers/registry.h"

/// A solver of a shared library in the place of one of the tree: the loop of iterative_solver.h around its
/// iterations, its options checked as all others are.
///
/// One more option, `plugin`, is set by the program: the library's file name and digest, so that every row says
/// which code it is from.
namespace signorini {

/// The entry of the registry. `file` opens the message of the `InputError` that a description without sense gives;
/// `library`: file name and digest. The texts of `entry` have to stay until the program ends.
SolverEntry plugin_solver_entry(const plugin::Entry& entry, const std::string& file,
                                const std::string& library);

}  // namespace signorini
