#include "contact/direction_rows.h"

#include <algorithm>
#include <array>

namespace signorini {

namespace {

/// Contacts and dofs that make a task worth its start.
constexpr std::size_t kContactGrain = 256;
constexpr std::size_t kDofGrain = 2048;

}  // namespace

namespace {

/// Appends what contact k touches.
void append_rows(const SparseColumns& H, Index k, DirectionRows& rows) {
  std::array<SparseColumns::InnerIterator, 3> column{SparseColumns::InnerIterator(H, 3 * k),
                                                     SparseColumns::InnerIterator(H, 3 * k + 1),
                                                     SparseColumns::InnerIterator(H, 3 * k + 2)};
  while (column[0] || column[1] || column[2]) {
    Index dof = static_cast<Index>(H.rows());
    for (const auto& entry : column) {
      if (entry) dof = std::min(dof, entry.index());
    }
    std::array<double, 3> value{};
    for (std::size_t j = 0; j < 3; ++j) {
      if (column[j] && column[j].index() == dof) {
        value[j] = column[j].value();
        ++column[j];
      }
    }
    if (value[0] == 0.0 && value[1] == 0.0 && value[2] == 0.0) continue;
    rows.dof.push_back(dof);
    rows.coefficient.insert(rows.coefficient.end(), value.begin(), value.end());
  }
}

/// Those of contact(0), contact(1), …
template <class Contact>
DirectionRows rows_of(const SparseColumns& H, Index contacts, const Contact& contact) {
  DirectionRows rows;
  if (H.cols() == 0) {
    rows.begin.assign(contacts + 1, 0);
    return rows;
  }
  rows.begin.reserve(contacts + 1);
  rows.begin.push_back(0);
  rows.dof.reserve(H.nonZeros() / 3);
  rows.coefficient.reserve(H.nonZeros());
  for (Index i = 0; i < contacts; ++i) {
    append_rows(H, contact(i), rows);
    rows.begin.push_back(count(rows.dof));
  }
  return rows;
}

}  // namespace

DirectionRows make_direction_rows(const SparseColumns& H, Index contacts) {
  return rows_of(H, contacts, [](Index i) { return i; });
}

DirectionRows make_direction_rows(const SparseColumns& H, std::span<const Index> contacts) {
  return rows_of(H, count(contacts), [&](Index i) { return contacts[i]; });
}

void add_impulses(const DirectionRows& H, std::span<const double> r, std::span<double> b) {
  const std::size_t contacts = H.begin.size() - 1;
  for (std::size_t k = 0; k < contacts; ++k) {
    const double* r_k = r.data() + 3 * k;
    const std::size_t end = H.begin[k + 1];
    for (std::size_t e = H.begin[k]; e < end; ++e) {
      const double* h = H.coefficient.data() + 3 * e;
      b[H.dof[e]] += h[0] * r_k[0] + h[1] * r_k[1] + h[2] * r_k[2];
    }
  }
}

void contact_velocities(const DirectionRows& H, std::span<const double> v, std::span<double> u,
                        TaskArena* arena) {
  for_each_chunk(arena, H.begin.size() - 1, kContactGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t k = first; k < last; ++k) {
      double u_N = 0.0;
      double u_T1 = 0.0;
      double u_T2 = 0.0;
      const std::size_t end = H.begin[k + 1];
      for (std::size_t e = H.begin[k]; e < end; ++e) {
        const double* h = H.coefficient.data() + 3 * e;
        const double v_e = v[H.dof[e]];
        u_N += h[0] * v_e;
        u_T1 += h[1] * v_e;
        u_T2 += h[2] * v_e;
      }
      u[3 * k] = u_N;
      u[3 * k + 1] = u_T1;
      u[3 * k + 2] = u_T2;
    }
  });
}

DirectionColumns make_direction_columns(const DirectionRows& H, Index dofs) {
  std::vector<Index> entries_of(dofs, 0);
  for (const Index dof : H.dof) ++entries_of[dof];
  DirectionColumns columns;
  std::vector<Index> place(dofs);
  Index entries = 0;
  for (Index dof = 0; dof < dofs; ++dof) {
    place[dof] = entries;
    if (entries_of[dof] == 0) continue;
    columns.dof.push_back(dof);
    columns.begin.push_back(entries);
    entries += entries_of[dof];
  }
  columns.begin.push_back(entries);
  columns.contact.resize(H.dof.size());
  columns.coefficient.resize(H.coefficient.size());
  for (Index k = 0; k < H.contacts(); ++k) {
    const std::size_t end = H.begin[k + 1];
    for (std::size_t e = H.begin[k]; e < end; ++e) {
      const std::size_t to = place[H.dof[e]]++;
      columns.contact[to] = k;
      std::copy_n(H.coefficient.data() + 3 * e, 3, columns.coefficient.data() + 3 * to);
    }
  }
  return columns;
}

void gather_impulses(const DirectionColumns& H, std::span<const double> r, std::span<double> b,
                     TaskArena* arena) {
  for_each_chunk(arena, H.dof.size(), kDofGrain, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      double sum = 0.0;
      const std::size_t end = H.begin[i + 1];
      for (std::size_t e = H.begin[i]; e < end; ++e) {
        const double* h = H.coefficient.data() + 3 * e;
        const std::size_t k = H.contact[e];
        const double* r_k = r.data() + 3 * k;
        sum += h[0] * r_k[0] + h[1] * r_k[1] + h[2] * r_k[2];
      }
      b[H.dof[i]] = sum;
    }
  });
}

}  // namespace signorini
