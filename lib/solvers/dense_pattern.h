#pragma once

#include <span>
#include <string>

#include "contact/contact_problem.h"
#include "linalg/block_sparse_matrix.h"

/// W with every block stored, so that a sweep costs O(n²) as in Lazarevych 2010 section 5 and Otaduy 2009
/// section 5.1.
///
/// The full matrix is a block-sparse matrix whose pattern is full: the same kernel runs on it, and a
/// comparison of both compares patterns, not implementations.
namespace signorini {

/// Adds a zero block for every pair of contacts with equal `label`; with no labels, for every pair.
BlockSparseMatrix fill_pattern(const BlockSparseMatrix& W, std::span<const Index> label = {});

/// The island of every contact: contacts coupled through W (spec section 4).
std::vector<Index> island_labels(const ContactProblem& problem);

/// "" when the full pattern fits into `limit_gib`, else one line that says how much it would need.
std::string dense_refusal(Index contacts, std::span<const Index> label, double limit_gib);

}  // namespace signorini
