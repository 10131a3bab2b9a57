#pragma once

#include "contact/contact_problem.h"
#include "contact/planted_problem.h"
#include "linked_rings.h"

/// Two kinds of problems for methods that factor matrices of three rows per contact.
namespace signorini::bench {

using MakeProblem = ContactProblem (*)(Index contacts);

/// Mass points in a net, M diagonal: W is sparse everywhere.
inline ContactProblem net(Index contacts) {
  PlantedOptions options;
  options.contacts = contacts;
  options.sharing = 0.3;
  return make_planted_problem(options).problem;
}

/// A chain of elastic rings: W couples all contacts of a ring. A multiple of 20 contacts.
inline ContactProblem rings(Index contacts) {
  constexpr Index kPerLink = 20;
  return linked_rings(contacts / kPerLink + 1, kPerLink, 20.0);
}

}  // namespace signorini::bench
