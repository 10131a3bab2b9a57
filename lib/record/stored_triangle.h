#pragma once

#include "contact/contact_problem.h"
#include "linalg/types.h"

/// Symmetric matrices of which a file holds one triangle.
namespace signorini {

/// Which side of the diagonal has entries; `both` also where none has.
StoredTriangle stored_triangle(const SparseRows& matrix);
/// A matrix of which one triangle is stored, filled up to a symmetric one; `both`: returned as it is.
SparseRows complete_triangle(SparseRows matrix, StoredTriangle stored);
/// The entries of one triangle and the diagonal; `both`: a copy.
SparseRows triangle_of(const SparseRows& matrix, StoredTriangle stored);

}  // namespace signorini
