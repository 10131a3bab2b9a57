#pragma once

#include <vector>

#include "linalg/types.h"
#include "regions/contact_neighbours.h"

/// An island cut into blocks of contacts that lie close together in the graph of contacts: the subdomains of Schwarz methods.
///
/// Blocks grow one after the other. A block begins at a contact beside the blocks before it and takes, again and again, the
/// contact with most links into the block, the oldest first, until it is full. O(links), and the same on every machine. In
/// piles the blocks cut a tenth more links than those of METIS, which takes forty times as long (docs/notes/schwarz.md).
namespace signorini {

struct ContactBlocks {
  std::vector<Index> block_of;  ///< per contact
  Index blocks = 0;
};

/// Blocks of at most `size` contacts (1 or more). What is left between blocks makes small ones.
ContactBlocks grow_blocks(const ContactNeighbours& contacts, Index size);

/// Blocks of fewer than `least` contacts join the neighbour that they share most links with, unless that would hold more than
/// `most` then. Blocks without such a neighbour stay.
ContactBlocks join_small_blocks(const ContactNeighbours& contacts, ContactBlocks blocks, Index least,
                                Index most);

/// Links between contacts of different blocks, each counted once.
long long cut_links(const ContactNeighbours& contacts, const ContactBlocks& blocks);

}  // namespace signorini
