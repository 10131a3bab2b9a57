#pragma once

#include <span>
#include <vector>

#include "contact/delassus_blocks.h"
#include "contact/delassus_operator.h"

/// u = W r + q of parts of a problem that W does not couple (detached regions), one after the other: M is factored once,
/// nothing of the problem is copied, and no block of W is moved after it was written. A part has the bits that it has in
/// the whole W and q.
namespace signorini {

class DelassusParts {
 public:
  /// Of a problem without a dual part. `contacts`: those of part 0, 1, …, ascending within a part; `begin`: parts + 1
  /// offsets into them. Parts of a problem that must give the bits of the whole one take its `node_size`.
  DelassusParts(const ContactProblem& problem, Index node_size, std::span<const Index> begin,
                std::span<const Index> contacts);
  DelassusParts(const DelassusParts&) = delete;

  ReducedProblem assemble(Index part);

 private:
  DelassusParts(const ContactProblem& problem, Index node_size, std::span<const Index> begin,
                std::span<const Index> contacts, const DirectionRows& H);

  std::vector<Index> begin_;
  MassFactor mass_;
  BodyTouches touches_;  ///< contacts in the order of the parts
  Vector q_;             ///< likewise; m/s
  BlockParts blocks_;
};

}  // namespace signorini
