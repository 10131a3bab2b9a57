#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "contact/contact_problem.h"
#include "contact/pile_problem.h"
#include "contact/planted_problem.h"

/// Problems that an experiment brings along, so that anyone can run it: planted ones and piles by their options, and hand-made
/// ones by their matrices.
///
///     [[problems]]
///     name = "net20"                                # the `file` column
///     planted = { contacts = 20, stiffness = 5.0 }  # contact/planted_problem.h: the same keys
///
///     [[problems]]                                  # a family: net_000, net_001, …, seeds 1, 2, …
///     name = "net"
///     planted = { contacts = 3 }
///     count = 100
///     most_contacts = 45                            # of the last one; those between grow evenly
///     sizes = ["medium", "paper"]                   # made at these sizes only; any problem may say so
///
///     [[problems]]                                  # a pile of rigid bodies; `count` and `most_contacts` likewise
///     name = "spheres"
///     pile = { of = "spheres", contacts = 10000 }   # contact/pile_problem.h: the same keys
///
///     [[problems]]                                  # dual: u = W r + q
///     name = "anisotropic"
///     W = [[1, 0, 0], [0, 1, 0], [0, 0, 4]]         # 3m × 3m, 1/kg
///     q = [-1, 3, 4]                                # 3m, m/s
///     mu = [0.5]                                    # m
///
///     [[problems]]                                  # a net of nodes: M = A ⊗ 1₃, f = 0,
///                                                   # u_k = Σ_i d_ki v_i + w_k
///     name = "spd-divergent"
///     A = [[1, -0.8], [-0.8, 1]]                    # nodes × nodes, kg
///     directions = [[1, 1]]                         # contacts × nodes
///     w = [-1, 0.1, 0.1]                            # 3m, m/s
///     mu = [0.0]
namespace signorini {

class StrictTable;

struct ConfigProblem {
  std::string name;
  std::function<ContactProblem()>
      make;  ///< a large one takes seconds and gigabytes: only those that are run are made
};

/// Appends what the key `problems` of an experiment lists for this size. Wrong keys, sizes and values are `UsageError`s
/// that name file, line and key.
void read_config_problems(StrictTable& table, std::string_view size, std::vector<ConfigProblem>& out);

}  // namespace signorini
