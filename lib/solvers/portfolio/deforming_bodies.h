#pragma once

#include <algorithm>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/mass_factor.h"
#include "linalg/connected_components.h"
#include "solvers/primal_system.h"

/// What `auto` knows of the M of a problem: its mechanical bodies (contact/mass_factor.h), by which it counts what methods cost.
/// Where only contacts change it stays.
namespace signorini {

struct DeformingBodies {
  explicit DeformingBodies(const ContactProblem& problem)
      : node_size(problem.node_size()), parts(connected_components(problem.M, node_size)) {
    entries.assign(static_cast<std::size_t>(parts.count), 0.0);
    dofs = entries;
    for (Index row = 0; row < problem.dofs(); ++row) {
      const Index body = body_of(row);
      entries[body] += static_cast<double>(problem.M.row(row).nonZeros());
      dofs[body] += 1.0;
    }
    rigid = std::all_of(dofs.begin(), dofs.end(), [](double n) { return n <= MassFactor::kDenseBody; });
    refused = !rigid && !PrimalSystem::refusal(problem).empty();
  }
  Index body_of(Index dof) const { return parts.label[dof / node_size]; }
  /// Contacts that touch them.
  std::vector<double> touches(const ContactProblem& problem) const {
    std::vector<double> touching(entries.size(), 0.0);
    std::vector<Index> last(entries.size(), -1);  // the contact that was counted last
    for (Index column = 0; column < 3 * problem.contacts(); ++column) {
      for (SparseColumns::InnerIterator entry(problem.H, column); entry; ++entry) {
        const Index body = body_of(static_cast<Index>(entry.row())), contact = column / 3;
        if (last[body] != contact) touching[body] += 1.0;
        last[body] = contact;
      }
    }
    return touching;
  }

  Index node_size;
  Components parts;
  std::vector<double> entries, dofs;
  bool rigid = true;     ///< none has more dofs than a rigid one
  bool refused = false;  ///< by solvers on velocities
};

}  // namespace signorini
