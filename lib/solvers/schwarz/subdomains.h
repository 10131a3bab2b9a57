#pragma once

#include <span>
#include <vector>

#include "contact/delassus_operator.h"
#include "linalg/block_sparse_matrix.h"

/// The subdomains of a Schwarz method: blocks of contacts of one island, each with some rings of contacts around it.
///
///     u_E = W_EE r_E + q_E + W_Eo r_o          E: contacts of a subdomain, o: all others
///
/// A subdomain writes the impulses of its own contacts alone (restricted Schwarz: Cai and Sarkis 1999); those of the overlap
/// are solved for and dropped.
///
/// Colours: no two subdomains of one colour have contacts of which one is the other's own or is linked to it strongly. W of an
/// elastic body couples all of its contacts, most of them weakly; a subdomain takes impulses behind weak links as they were
/// before its colour began.
namespace signorini {

struct Subdomain {
  std::vector<Index> contacts;       ///< E, ascending
  std::vector<Index> own;            ///< places in `contacts` of what it writes
  std::vector<Index> outside_begin;  ///< |E| + 1 offsets into `outside`
  std::vector<Index> outside;        ///< blocks of W in W_Eo, row by row
};

struct SubdomainOptions {
  Index size = 100;       ///< own contacts of a subdomain, about
  int overlap = 0;        ///< rings of strongly linked contacts around them
  double strength = 0.0;  ///< links up to this are weak (regions/contact_neighbours.h)
};

struct Subdomains {
  std::vector<Subdomain> parts;           ///< by colour
  std::vector<std::size_t> colour_begin;  ///< colours + 1 offsets into `parts`

  std::size_t colours() const { return colour_begin.size() - 1; }
};

Subdomains make_subdomains(const BlockSparseMatrix& W, const SubdomainOptions& options);

/// W_EE with q_E.
ReducedProblem cut_subdomain(const BlockSparseMatrix& W, const Vector& q, const Subdomain& part);
/// q_E + W_Eo r_o (3|E|, m/s) from r (3m, N·s). Allocates nothing.
void outside_velocity(const BlockSparseMatrix& W, const Vector& q_all, const Subdomain& part,
                      std::span<const double> r, std::span<double> q);

}  // namespace signorini
